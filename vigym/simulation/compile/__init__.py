"""A mechanism as the constant tables that the compiled core works on."""

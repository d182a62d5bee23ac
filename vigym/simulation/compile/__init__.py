"""Compilation of a mechanism to the constant tables that the core works on."""

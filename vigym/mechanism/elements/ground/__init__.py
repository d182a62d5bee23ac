"""Ground that is not flat."""

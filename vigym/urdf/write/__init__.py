"""A Mechanism as a URDF file."""

"""Export of a Mechanism as a URDF file."""

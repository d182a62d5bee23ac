"""Export of a Mechanism as an MJCF file."""

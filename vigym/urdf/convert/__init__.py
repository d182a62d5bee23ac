"""Conversion of the records of a URDF file to a Mechanism: tree, merged links, loops, collisions."""

"""Conversion of a URDF file's records to a Mechanism: tree, merged links, loops, collisions."""

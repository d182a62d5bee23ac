"""Joints: geometry, coordinates, forces on their degrees of freedom."""

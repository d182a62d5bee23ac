"""Solver: elimination along the tree, Newton's method, steps, velocities at knots."""

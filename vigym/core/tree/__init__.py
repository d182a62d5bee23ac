"""Sweeps along the tree: joints closed, blocks factorised, increments solved for."""

"""Terrain: heights on a grid, and the planes of it that contacts are on."""

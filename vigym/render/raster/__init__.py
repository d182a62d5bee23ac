"""Rasteriser of triangles: compiled, the same on every machine, without graphics driver."""

"""Rendering of mechanisms from the poses of their bodies. Imported with the first picture."""

"""Render backends: software and OpenGL pictures, a window, a page for web browsers."""

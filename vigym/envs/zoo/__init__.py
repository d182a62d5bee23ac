"""Robots with closed loops from industry, kinetic art and robotics: a task each."""

"""Robots of the zoo that walk, or balance, on legs with closed loops."""

"""Constraint rows of joints in maximal coordinates: their gaps, derivatives and drift."""

"""Algebra of vectors, matrices and unit quaternions, held as tuples of lane values."""

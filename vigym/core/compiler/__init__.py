"""Compiler of the kernels: lane values, rows as objects, decorators. Only here numba is used."""

"""Factors of a symmetric matrix whose blocks make a tree, compiled (BAR 7 and appendix A)."""

from typing import NamedTuple

import numpy as np

from vigym.baselines.screws import apply, inverse, mul, tapply, tmul
from vigym.core.compiler.kernel import entry


class Blocks(NamedTuple):
    """Upper triangle of H, or of its factors, by rows of blocks: a diagonal one and one beside.

    Attributes:
        parent: node of the block beside the diagonal (N,), of a higher number; -1: none.
        size: of each block row (N,), at most 6.
        diagonal: H_ii, or D_ii^-1 (N, 6, 6).
        beside: H_ij, or L'_ij (N, 6, 6).
    """

    parent: np.ndarray
    size: np.ndarray
    diagonal: np.ndarray
    beside: np.ndarray


@entry
def sparse_factor(H):
    """Return the factors of H: D^-1 and L' (BAR, `sparsefactor`)."""
    D, L = H.diagonal.copy(), H.beside.copy()
    for i in range(len(H.parent)):
        n, k = H.size[i], H.parent[i]
        D[i, :n, :n] = inverse(D[i, :n, :n].copy())
        if k >= 0:
            L[i] = mul(D[i], H.beside[i])
            D[k] -= tmul(H.beside[i], L[i])
    return Blocks(H.parent, H.size, D, L)


@entry
def sparse_solve(factors, z):
    """Return the solution (N, 6) of H x = z (BAR, `sparsesolve`)."""
    x = z.copy()
    for i in range(len(z)):
        if factors.parent[i] >= 0:
            x[factors.parent[i]] -= tapply(factors.beside[i], x[i])
    for i in range(len(z) - 1, -1, -1):
        x[i] = apply(factors.diagonal[i], x[i].copy())
        if factors.parent[i] >= 0:
            x[i] -= apply(factors.beside[i], x[factors.parent[i]])
    return x

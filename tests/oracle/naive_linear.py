"""Linear systems of the slow twin: dense, consistent, and singular where constraints depend on each other."""

from __future__ import annotations

import numpy as np

DEPENDENT = (
    1e-9  # directions of constraint rows this much weaker than the strongest count as dependent
)


def scaled(M, G):
    """(inverse of the root of M, G over scaled velocities with rows of length one, their lengths)."""
    back = np.linalg.inv(np.linalg.cholesky(M)).T
    rows = G @ back
    lengths = np.linalg.norm(rows, axis=1)
    return back, rows / lengths[:, None], lengths


def least_motion(M, V, G, g):
    """The velocities with G V = g that are nearest to V in the metric of M."""
    back, rows, lengths = scaled(M, G)
    return V + back @ np.linalg.lstsq(rows, (g - G @ V) / lengths, rcond=DEPENDENT)[0]


def newton_direction(M, D, G, ahead, balance, gap, h):
    """(dV, lam) of D dV - h G^T lam = balance, ahead dV = gap: the least of them where they are not unique."""
    y, lengths = _direction(M, D, G, ahead, balance, gap)
    return y[: len(D)], y[len(D) :] / lengths / h


def newton_directions(M, D, G, ahead, balances, gaps):
    """The dV (n, k) alone, of several right-hand sides balances (n, k) and gaps (m, k)."""
    return _direction(M, D, G, ahead, balances, gaps)[0][: len(D)]


def _direction(M, D, G, ahead, balance, gap):
    """Velocities and scaled multipliers, and the lengths of the constraints' rows.

    Velocities are scaled by the root of the mass M and every constraint to length one. Exact
    dependence leaves singular values at rounding; a true one of 1e-6, which enters the system
    squared, stays.
    """
    n = len(D)
    back, rows, lengths = scaled(M, ahead)
    forces = (G @ back) / lengths[:, None]
    K = np.block([[back.T @ D @ back, -forces.T], [rows, np.zeros((len(G), len(G)))]])
    right = np.concatenate([back.T @ balance, (gap.T / lengths).T])
    y = np.linalg.lstsq(K, right, rcond=1e-13)[0]
    return np.concatenate([back @ y[:n], y[n:]]), lengths

"""Damping of vibrations that a step does not resolve, in the slow twin.

A spring of stiffness k that moves a mass m in steps of h gets, with x = h^2 k / (4 m), the damping
h k x^3 / (1 + x^3) / 10 beside its own. Masses are those at the assembly, with all joints closed and
no other force.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import null_space

from oracle.naive_joints import conj, cross, rotate

PART = 0.1
FASTEST = 1e3


def damping(stiffness, masses, h):
    """Damping (springs,) of springs over a step of size h."""
    x = np.minimum(h * h * stiffness / (4.0 * masses), FASTEST)
    return PART * h * stiffness * x**3 / (1.0 + x**3)


def masses(rows, mobility):
    """Masses that forces move along directions, each the lightest of its rows (springs, rows, 6 n)."""
    fastest = np.array([np.linalg.eigvalsh(row @ mobility @ row.T)[-1] for row in rows])
    return np.where(fastest > 0.0, 1.0 / np.where(fastest > 0.0, fastest, 1.0), 1.0)


def mobility(M, G):
    """Velocities (6 n, 6 n) that impulses make; M, G: inertia and constraints at the assembly."""
    free = null_space(G, rcond=1e-9) if len(G) else np.eye(len(M))
    return free @ np.linalg.solve(free.T @ M @ free, free.T)


def end_rates(springs, x, q):
    """Velocities of the ends b of springs against their ends a (springs, 3, 6 n) at poses x, q."""
    wide = np.zeros((len(springs.ends), 3, len(x), 6))
    for found, (end, points) in zip(
        wide, zip(springs.ends, springs.points, strict=True), strict=True
    ):
        for body, point, sign in zip(end, points, (-1.0, 1.0), strict=True):
            for k, n in enumerate(sign * np.eye(3)):
                found[k, body] += np.append(n, cross(point, rotate(conj(q[body]), n)))
    return wide[:, :, 1:].reshape(len(wide), 3, 6 * (len(x) - 1))

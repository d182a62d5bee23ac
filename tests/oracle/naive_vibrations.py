"""Damping of vibrations that a step does not resolve, in the slow twin.

A spring of stiffness k that moves a mass m in steps of h gets, with x = h^2 k / (4 m), a damper of
0.3 h k x^3 / (1 + x^3) beside its own, which takes the rate less the slow rate: half the last rate, a
quarter of that before, and so on. Half of each step's damper acts at each of its ends. Masses are those
at the assembly, with all joints closed and no other force.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import null_space

from oracle.naive_joints import conj, cross, rotate

PART = 0.3
FASTEST = 1e3


def damping(stiffness, masses, h):
    """Damping (springs,) of springs over a step of size h."""
    x = np.minimum(h * h * stiffness / (4.0 * masses), FASTEST)
    return PART * h * stiffness * x**3 / (1.0 + x**3)


class Dampers:
    """Own dampers and those of vibrations of many springs."""

    def __init__(self, own, stiffness, masses):
        self.own = own
        self.stiffness, self.masses = stiffness, masses
        self.slow = np.zeros(len(own))
        self.now = np.zeros(len(own))

    def start(self, h, h1):
        """Find the dampers at the knot between a step of size h1 and one of size h."""
        last, self.now = self.now, damping(self.stiffness, self.masses, h)
        factor, rest = (
            0.5 * (self.now + h1 / h * last),
            np.minimum(abs(h1 * last), abs(h * self.now)),
        )
        self.at_knot = 0.5 * (1.0 + h1 / h) * self.own + factor
        self.slow_force = 0.5 * (h1 * last + rest) / h * self.slow

    def force(self, rate):
        """Force (..., springs) at that knot, for rates over the step that begins there."""
        return self.at_knot * rate - self.slow_force

    def end(self, rate):
        """Add the rates of a step that was made to the slow rates."""
        self.slow = 0.5 * (self.slow + rate)

    def half(self, h1):
        """(impulse for each rate, impulse by the slow rate) at a knot, of half the step before."""
        return 0.5 * h1 * (self.own + self.now), 0.5 * h1 * self.now * self.slow


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

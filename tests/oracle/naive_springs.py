"""Springs between points in the slow twin: lengths, their gradients, the forces along them.

The discrete potential of a step is V((l2 + l3)/2), l the distance of a spring's ends at a knot:
implicit, symplectic.
"""

from __future__ import annotations

import numpy as np

from oracle.naive_joints import conj, cross, rotate


class TwinSprings:
    """All springs of one mechanism; arrays of poses start with the world."""

    def __init__(self, springs, index):
        springs = list(springs)
        self.ends = np.array([[index[s.a], index[s.b]] for s in springs], int).reshape(-1, 2)
        self.points = np.array([[s.point_a, s.point_b] for s in springs]).reshape(-1, 2, 3)
        self.stiffness, self.rest, self.damping = (
            np.array([getattr(s, name) for s in springs])
            for name in ("stiffness", "rest_length", "damping")
        )

    def line(self, x, q):
        """Vectors from a to b at poses (..., n + 1, 3) and (..., n + 1, 4), shape (..., springs, 3)."""
        ends = x[..., self.ends, :] + rotate(q[..., self.ends, :], self.points)
        return ends[..., 1, :] - ends[..., 0, :]

    def lengths(self, x, q):
        return np.linalg.norm(self.line(x, q), axis=-1)

    def rows(self, x, q):
        """Gradients of the lengths (springs, 6 n) over (x, th) of all bodies without the world."""
        line = self.line(x, q)
        wide = np.zeros((len(line), len(x), 6))
        for row, (end, points, d) in enumerate(zip(self.ends, self.points, line, strict=True)):
            for body, point, sign in zip(end, points, (-1.0, 1.0), strict=True):
                n = sign * d / np.linalg.norm(d)
                wide[row, body] = np.concatenate([n, cross(point, rotate(conj(q[body]), n))])
        return wide[:, 1:].reshape(len(line), 6 * (len(x) - 1))

    def pull(self, first, second):
        """Force of the potential of a step between knots of these lengths, (..., springs)."""
        return self.stiffness * (0.5 * (first + second) - self.rest)

    def force(self, l1, l2, l3, rho):
        """Force at knot 2 without dampers; the last step is rho times as long as this one."""
        return 0.5 * (rho * self.pull(l1, l2) + self.pull(l2, l3))

    def energy(self, x, q):
        return 0.5 * self.stiffness @ (self.lengths(x, q) - self.rest) ** 2

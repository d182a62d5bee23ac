"""The softness of contacts for changes of force: redundant contacts then have one solution, and keep it at rest.

Rows of a contact yield by a part PROX of what a change of force since the last step does to the
mass it moves. Where that would let a body sink by more than SINKS the force counts anew, from what
it has become.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import null_space

from oracle.naive_joints import cross, matrix

PROX = 1e-5
SINKS = 5e-8  # [m]


def lightest(point, radius, mobility):
    """Least mass [kg] that a force moves at a distance from a point; `mobility` (6, 6) of the body in its own axes."""
    found = []
    for place in point + radius * np.vstack([np.zeros(3), np.eye(3), -np.eye(3)]):
        rows = np.hstack([np.eye(3), cross(place[None], np.eye(3))])
        found.append(1.0 / np.linalg.eigvalsh(rows @ mobility @ rows.T)[-1])
    return min(found)


def masses(contacts, M, G, q):
    """Masses (contacts,) that scale forces by velocities; M, G: inertia and constraints at the assembly."""
    free = null_space(G, rcond=1e-9) if len(G) else np.eye(len(M))
    mobility = free @ np.linalg.solve(free.T @ M @ free, free.T)

    def lightest_of(body, point, radius):
        turn, own = np.eye(6), slice(6 * body - 6, 6 * body)
        turn[:3, :3] = matrix(q[body]).T
        return lightest(point, radius, turn @ mobility[own, own] @ turn.T)

    count = len(M) // 6
    joined = np.eye(count, dtype=bool)
    for row in G.reshape(len(G), count, 6) if len(G) else []:
        ends = np.flatnonzero(np.abs(row).max(axis=1) > 0.0)
        joined[np.ix_(ends, ends)] = True
    joined = np.linalg.matrix_power(joined.astype(float), count) > 0.0

    def joined_to(body):
        return joined[body - 1] @ np.diag(M)[::6]

    return np.array([contact.mass(lightest_of, joined_to) for contact in contacts])


class Softness:
    """Compliance of the rows of the laws, those of contacts first, and the forces it counts from."""

    def __init__(self, touching, hefts, scale, anchor, prox):
        """Scale: a change of force over mass, times this, is a velocity."""
        self.starts = touching.starts
        self.anchor = anchor.copy()
        self.soft = np.zeros(len(anchor))
        for start, contact, mass in zip(touching.starts, touching.contacts, hefts, strict=True):
            mu = contact.friction
            part = np.append(
                1.0, mu.max() ** 2 / np.array([mu[0] ** 2 or np.inf, mu[1] ** 2 or np.inf])
            )
            self.soft[start : start + 3] = prox * scale / mass * part

    def add_to(self, W, b):
        """Soften u = b + W f in place."""
        W[: len(self.soft)] += np.diag(self.soft)
        b[: len(self.soft)] -= self.soft * self.anchor

    def yielding(self, f):
        return self.soft * (f - self.anchor)

    def count_anew(self, f, h):
        """Whether contacts sink too far; they count from the forces f from now on."""
        change = np.abs(f - self.anchor)[self.starts]
        late = self.starts[self.soft[self.starts] * change * h > SINKS]
        for start in late:
            self.anchor[start : start + 4] = f[start : start + 4]
        return len(late) > 0

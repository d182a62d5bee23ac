"""Velocities at a knot of the slow twin with contact: the left momentum, and impulses of half a step by the laws."""

from __future__ import annotations

import numpy as np

from oracle.naive_drives import Drives
from oracle.naive_laws import solve
from oracle.naive_linear import least_motion
from oracle.naive_soft import Softness
from oracle.naive_touching import Touching

SHUT, STOPPED = (
    1e-6,
    1e-7,
)  # gap [m] and distance from a limit [m, rad] below which they hold the velocity of a knot


def momentum(twin, J, S, half):
    """(momentum from the left of the knot, its inertia) with what dampers, springs and torques do in half a step."""
    p = np.hstack(
        [twin.mass[:, None] * (twin.v + half * twin.gravity), twin.spin(twin.w, twin.h1, -1.0)]
    ).ravel()
    p = p + (half * (twin.u - twin.stiffness * twin.mean_stretch) + twin.armature * twin.p12) @ J
    p = p - half * twin.springs.pull(*twin.lengths) @ S
    return twin.damped(p, twin.inertia_matrix(J), J, S)


def closed(twin):
    """Which contacts hold at the knot (contacts,): their gap is shut, or outweighed by the force of the last step."""
    gaps = np.array([c.gap(twin.x, twin.q) for c in twin.contacts])
    pressed = twin.h1**2 * twin.forces[twin.touching.starts] / twin.weight > twin.hefts * gaps
    return ((gaps < SHUT) | pressed) & (twin.h1 > 0.0)


def knot_velocities(twin):
    """(V (n, 6), joint rates (n_free,)) of a `TouchingTwin`."""
    G, J = twin.rows()
    half = 0.5 * twin.h1
    p, M = momentum(twin, J, twin.springs.rows(twin.x, twin.q), half)
    shut = closed(twin)
    touching = Touching(
        [c for c, on in zip(twin.contacts, shut, strict=True) if on], twin.x, twin.q
    )
    met = twin.drives.stops(twin.now) < (STOPPED if twin.h1 > 0.0 else -np.inf)
    drives = Drives(
        twin.freedoms, [stop for stop, on in zip(twin.drives.limits, met, strict=True) if on]
    )
    laws, B = (
        touching.laws() + drives.laws(touching.size, half),
        np.vstack([touching.rows(), drives.rows(J)]),
    )

    def quantities(V):
        stops, rate = B[touching.size : touching.size + len(drives.limits)] @ V, J @ V
        drive = drives.quantities(stops, twin.now, rate, half, twin.torques, twin.targets)
        return np.append(B[: touching.size] @ V, drive)

    tied = np.vstack([G, twin.rolling.rows(twin.q, twin.n)])
    along = np.column_stack([np.linalg.solve(M, p), np.linalg.solve(M, B.T)])
    along = np.column_stack([least_motion(M, V, tied, np.zeros(len(tied))) for V in along.T])
    rest, anchor = quantities(np.zeros(len(M))), np.zeros(len(B))
    for start, old in zip(touching.starts, twin.touching.starts[shut], strict=True):
        anchor[start : start + 3] = half / twin.weight * twin.forces[old : old + 3]
    slopes = np.array([quantities(V) - rest for V in np.eye(len(M))]).T
    W, b = slopes @ along[:, 1:], rest + slopes @ along[:, 0]
    Softness(touching, twin.hefts[shut], 1.0, anchor, twin.prox).add_to(W, b)
    V = along[:, 0] + along[:, 1:] @ solve(laws, W, b, anchor)
    return V.reshape(twin.n, 6), J @ V

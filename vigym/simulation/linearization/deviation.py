"""Displacement of a mechanism from a reference, along its dofs."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from vigym.mechanism.elements.checks import Array
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.linearization.motion import rotation_vector
from vigym.spatial import batch_quaternion_product, conjugate


def deviation(mechanism: Mechanism, positions: ArrayLike, reference: ArrayLike) -> Array:
    """Return the displacement from a reference to positions, as in `Simulator.linearize`.

    Args:
        mechanism: mechanism that they are joint coordinates of.
        positions: (..., n_positions) joint coordinates [m, rad].
        reference: (n_positions,) or an array with the same leading axes.

    Returns:
        (..., n_velocities) as `mechanism.velocity_names` [m, rad]; angles the shorter way round, of
        quaternions the rotation vector in the child's axes.
    """
    q, q0 = np.broadcast_arrays(
        np.asarray(positions, np.float64), np.asarray(reference, np.float64)
    )
    parts, start = [np.zeros((*q.shape[:-1], 0))], 0
    for joint in mechanism.ordered_joints:
        kind = joint.joint_type
        stop = start + len(kind.positions)
        middle = start + len(kind.translations)
        parts.append(q[..., start:middle] - q0[..., start:middle])
        if kind.has_quaternion:
            back = conjugate(q0[..., middle:stop]).reshape(-1, 4)
            turn = batch_quaternion_product(back, q[..., middle:stop].reshape(-1, 4))
            parts.append(rotation_vector(turn).reshape(*q.shape[:-1], 3))
        else:
            angles = q[..., middle:stop] - q0[..., middle:stop]
            parts.append((angles + np.pi) % (2.0 * np.pi) - np.pi)
        start = stop
    return np.concatenate(parts, axis=-1)

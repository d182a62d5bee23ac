"""How far a mechanism is from a reference, along its freedoms."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from vigym.mechanism.elements.checks import Array
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.linearization.motion import rotation_vector
from vigym.spatial import conjugate, product


def deviation(mechanism: Mechanism, positions: ArrayLike, reference: ArrayLike) -> Array:
    """Displacement along the freedoms that leads from a reference to positions, as in `Simulator.linearize`.

    Args:
        mechanism: whose joints they are of.
        positions: (..., n_positions) joint coordinates [m, rad].
        reference: (n_positions,) or the like with the same leading axes.

    Returns:
        (..., n_velocities) as `mechanism.velocity_names` [m, rad]; angles the shorter way round, of quaternions the
        rotation vector in the child's axes.
    """
    found, wanted = np.broadcast_arrays(np.asarray(positions, np.float64), np.asarray(reference, np.float64))
    parts, start = [np.zeros((*found.shape[:-1], 0))], 0
    for joint in mechanism.ordered_joints:
        kind = joint.prototype
        stop, slides = start + len(kind.positions), start + len(kind.translations)
        parts.append(found[..., start:slides] - wanted[..., start:slides])
        if kind.has_quaternion:
            back = conjugate(wanted[..., slides:stop]).reshape(-1, 4)
            turn = product(back, found[..., slides:stop].reshape(-1, 4))
            parts.append(rotation_vector(turn).reshape(*found.shape[:-1], 3))
        else:
            parts.append((found[..., slides:stop] - wanted[..., slides:stop] + np.pi) % (2.0 * np.pi) - np.pi)
        start = stop
    return np.concatenate(parts, axis=-1)

"""Joint forces where loops leave them undetermined."""

from collections.abc import Sequence

import numpy as np

from vigym.mechanism.check import Array
from vigym.mechanism.closures import constraint_rows
from vigym.mechanism.halves import split
from vigym.mechanism.listing import Listing
from vigym.mechanism.quaternions import matrix


def least_norm(mechanisms: Sequence[Listing], forces: Array, poses: Array) -> Array:
    """The least forces that hold the bodies as given ones do.

    Joints hold a body with G^T lam; joints that depend on each other can share that in many ways. Among these lam has
    the least norm.

    Args:
        mechanisms: with loops, one for each row.
        forces: (count, n_joints, 6) force on the child [N] and moment about the joint's anchor on it [N m].
        poses: (count, n_bodies, 7) centre of mass and orientation of each body.

    Returns:
        (count, n_joints, 6) as ``forces``.
    """
    # one memory layout, so that an environment of a batch rounds as it would alone
    rows = zip(mechanisms, np.ascontiguousarray(forces), np.ascontiguousarray(poses), strict=True)
    return np.array([_least(mechanism, wrenches, placed) for mechanism, wrenches, placed in rows])


def _least(mechanism: Listing, forces: Array, poses: Array) -> Array:
    names = list(mechanism.bodies)
    rows, starts = constraint_rows(mechanism, {name: (p[:3], p[3:]) for name, p in zip(names, poses, strict=True)})
    held, arms = np.zeros((len(names) + 1, 6)), []
    halves = [split(mechanism, joint) for joint in mechanism.ordered_joints]
    for half, wrench in zip(halves, forces, strict=True):
        x, R = poses[half.b - 1, :3], matrix(poses[half.b - 1, 3:][None])[0]
        arms.append(R @ half.anchor_b)
        for body, sign in ((half.b, 1.0), (half.a, -1.0)):
            arm = x + arms[-1] - (poses[body - 1, :3] if body else np.zeros(3))
            held[body] += sign * np.append(wrench[:3], wrench[3:] + np.cross(arm, wrench[:3]))
    multipliers = np.linalg.lstsq(rows.T, held[1:].ravel(), rcond=1e-9)[0]
    found = np.zeros_like(forces)
    for j, (half, arm) in enumerate(zip(halves, arms, strict=True)):
        span = slice(starts[j], starts[j + 1])
        wrench = multipliers[span] @ rows[span].reshape(-1, len(names), 6)[:, half.b - 1]
        found[j] = np.append(wrench[:3], wrench[3:] - np.cross(arm, wrench[:3]))
    return found

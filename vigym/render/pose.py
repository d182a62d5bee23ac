"""Poses of many pieces at once; quaternions are (w, x, y, z)."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def matrix(quaternion: Array) -> Array:
    """Return the rotation matrices (..., 3, 3) of unit quaternions (..., 4)."""
    w, x, y, z = np.moveaxis(quaternion, -1, 0)
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def product(a: Array, b: Array) -> Array:
    """Return the quaternion products a * b (..., 4): first b, then a."""
    scalar = a[..., :1] * b[..., :1] - (a[..., 1:] * b[..., 1:]).sum(axis=-1, keepdims=True)
    vector = a[..., :1] * b[..., 1:] + b[..., :1] * a[..., 1:] + np.cross(a[..., 1:], b[..., 1:])
    return np.concatenate((scalar, vector), axis=-1)


def turning_z_to(direction: Array) -> Array:
    """Return the smallest rotation (4,) that takes z along `direction` (3,); none for a zero vector."""
    length = float(np.linalg.norm(direction))
    if length == 0.0:
        return np.array([1.0, 0.0, 0.0, 0.0])
    x, y, z = np.asarray(direction) / length
    if z < -1.0 + 1e-12:
        return np.array([0.0, 1.0, 0.0, 0.0])
    quaternion = np.array([1.0 + z, -y, x, 0.0])
    return quaternion / float(np.linalg.norm(quaternion))

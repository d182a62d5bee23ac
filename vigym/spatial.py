"""Rotations and poses in numpy; quaternions are (w, x, y, z) unless a name says otherwise.

Three products and two matrices of quaternions differ in the order of their sums, hence in the last bit: `product` and
`matrix` go through tables, for many poses at once; `quaternion_product`, `broadcast_product` and `rotation_matrix` go
component by component.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def _left_products() -> Array:
    """Tensor (4, 16) that turns a quaternion p into the matrix of q -> p q, by rows."""
    units = np.zeros((4, 4, 4))
    for j in range(4):
        units[0, j, j] = 1.0
        units[j, 0, j], units[j, j, 0] = (1.0, -1.0) if j else (1.0, 1.0)
    for i, j, k in ((1, 2, 3), (2, 3, 1), (3, 1, 2)):
        units[i, j, k], units[j, i, k] = 1.0, -1.0
    table: Array = units.transpose(0, 2, 1).reshape(4, 16)
    return table


def _rotations() -> Array:
    """Table (16, 9) from the products of a quaternion's components to its rotation matrix, by rows."""
    left = _left_products().reshape(4, 4, 4)  # left[i] is the matrix of q -> e_i q
    right = left.transpose(2, 1, 0)  # right[j] that of q -> q e_j
    signs = np.array([1.0, -1.0, -1.0, -1.0])
    turns = np.einsum("iab,jbc,j->ijac", left, right, signs)[:, :, 1:, 1:]
    return np.ascontiguousarray(turns.reshape(16, 9))


_LEFT, _ROTATION = _left_products(), _rotations()
_NEXT, _AFTER = np.array([1, 2, 0]), np.array([2, 0, 1])


def product(p: Array, q: Array) -> Array:
    """Quaternion products p q, (..., 4)."""
    result: Array = ((p @ _LEFT).reshape(*p.shape[:-1], 4, 4) @ q[..., None])[..., 0]
    return result


def conjugate(q: Array) -> Array:
    """The opposite rotation (..., 4)."""
    result: Array = q * np.array([1.0, -1.0, -1.0, -1.0])
    return result


def matrix(q: Array) -> Array:
    """Rotation matrices (..., 3, 3) of unit quaternions (..., 4)."""
    squares = (q[..., :, None] * q[..., None, :]).reshape(*q.shape[:-1], 16)
    result: Array = (squares @ _ROTATION).reshape(*q.shape[:-1], 3, 3)
    return result


def cross(a: Array, b: Array) -> Array:
    """Cross products of vectors (..., 3); `numpy.cross` is seven times slower."""
    return a.take(_NEXT, -1) * b.take(_AFTER, -1) - a.take(_AFTER, -1) * b.take(_NEXT, -1)


def turned(R: Array, vectors: Array) -> Array:
    """Vectors (n, 3) turned by matrices (S, n, 3, 3)."""
    result: Array = (R @ vectors[..., None])[..., 0]
    return result


def quaternion_product(a: Array, b: Array) -> Array:
    """Return the product a * b of two quaternions (4,)."""
    w = a[0] * b[0] - a[1:] @ b[1:]
    return np.concatenate([[w], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])])


def broadcast_product(a: Array, b: Array) -> Array:
    """Return the quaternion products a * b (..., 4): first b, then a."""
    scalar = a[..., :1] * b[..., :1] - (a[..., 1:] * b[..., 1:]).sum(axis=-1, keepdims=True)
    vector = a[..., :1] * b[..., 1:] + b[..., :1] * a[..., 1:] + np.cross(a[..., 1:], b[..., 1:])
    return np.concatenate((scalar, vector), axis=-1)


def rotation_matrix(quaternion: Array) -> Array:
    """Return the rotation matrices (..., 3, 3) of unit quaternions (..., 4)."""
    w, x, y, z = np.moveaxis(quaternion, -1, 0)
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def rotation_from_xyzw(xyzw: Array) -> Array:
    """Return the rotation matrix of a unit quaternion in the order (x, y, z, w)."""
    x, y, z, w = xyzw
    return rotation_matrix(np.array([w, x, y, z]))


def quaternion(rotation: Array) -> Array:
    """Return the unit quaternion (w, x, y, z) of a rotation matrix, w >= 0 unless it vanishes."""
    m = rotation
    # four times the squares; the largest is at least one, so that the division keeps its digits
    squares = np.array(
        [
            1 + m[0, 0] + m[1, 1] + m[2, 2],
            1 + m[0, 0] - m[1, 1] - m[2, 2],
            1 - m[0, 0] + m[1, 1] - m[2, 2],
            1 - m[0, 0] - m[1, 1] + m[2, 2],
        ]
    )
    products = np.array(
        [
            [squares[0], m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]],
            [m[2, 1] - m[1, 2], squares[1], m[0, 1] + m[1, 0], m[0, 2] + m[2, 0]],
            [m[0, 2] - m[2, 0], m[0, 1] + m[1, 0], squares[2], m[1, 2] + m[2, 1]],
            [m[1, 0] - m[0, 1], m[0, 2] + m[2, 0], m[1, 2] + m[2, 1], squares[3]],
        ]
    )
    row = products[int(np.argmax(squares))]
    result: Array = row / math.sqrt(float(row @ row))
    return -result if result[0] < 0.0 else result


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


@dataclass(frozen=True, eq=False)
class Pose:
    """Where a frame is in another one: origin (3,) [m] and rotation matrix (3, 3)."""

    position: Array
    rotation: Array

    def __matmul__(self, other: Pose) -> Pose:
        """Return the pose of a frame given in this one, seen from outside."""
        return Pose(self.position + self.rotation @ other.position, self.rotation @ other.rotation)

    @property
    def inverse(self) -> Pose:
        """The outside seen from this frame."""
        return Pose(-self.rotation.T @ self.position, self.rotation.T)

    @property
    def orientation(self) -> Array:
        """Unit quaternion (w, x, y, z) of the rotation (4,)."""
        return quaternion(self.rotation)


@dataclass(frozen=True, eq=False)
class Origin(Pose):
    """Pose of an <origin> element, with the roll, pitch and yaw (3,) [rad] as written."""

    rpy: Array


_NOISE = 1e-14
IDENTITY = Origin(np.zeros(3), np.eye(3), np.zeros(3))


def direction(pose: Pose, vector: Array) -> Array:
    """Return a unit vector of a frame, seen from outside; components that are rounding alone are zero.

    Joint frames are made from the axis in the world, and next to -z they turn with its last digits.
    """
    seen: Array = pose.rotation @ vector
    return np.where(np.abs(seen) < _NOISE, 0.0, seen)


def rotation_from_rpy(rpy: Array) -> Array:
    """Return the rotation matrix of fixed-axis roll, pitch, yaw (3,) [rad]: about x first, then y, then z."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def smallest_turn(before: Array, after: Array) -> Array:
    """Return the rotation matrix by the smallest angle that takes one unit vector to another (3,).

    For opposite vectors that is half a turn about a perpendicular of `before`: the one nearest to a coordinate axis.
    """
    middle = before + after
    if middle @ middle < 1e-24:
        least = np.eye(3)[int(np.argmin(np.abs(before)))]
        return _half_turn(least - float(least @ before) * before)
    return _half_turn(middle) @ _half_turn(before)


def _half_turn(axis: Array) -> Array:
    turn: Array = 2.0 * np.outer(axis, axis) / float(axis @ axis) - np.eye(3)
    return turn

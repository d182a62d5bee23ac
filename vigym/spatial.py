"""Rotations and poses in NumPy. Quaternions are (w, x, y, z), Hamilton's product.

`batch_quaternion_product` and `batch_rotation_matrix` multiply arrays (..., 4) by constant tables:
fast for many poses at once. `quaternion_product` and `rotation_matrix` take one quaternion (4,) and
write the components out. The two forms sum in another order and differ in the last bit; the
constants of compiled models come from the second form.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def _product_table() -> Array:
    """Return the tensor (4, 16) that maps a quaternion p to the matrix of q -> p q, by rows."""
    units = np.zeros((4, 4, 4))
    for j in range(4):
        units[0, j, j] = 1.0
        units[j, 0, j] = 1.0
        units[j, j, 0] = -1.0 if j else 1.0
    for i, j, k in ((1, 2, 3), (2, 3, 1), (3, 1, 2)):
        units[i, j, k] = 1.0
        units[j, i, k] = -1.0
    table: Array = units.transpose(0, 2, 1).reshape(4, 16)
    return table


def _rotation_table() -> Array:
    """Return the table (16, 9) from products of quaternion components to the rotation matrix."""
    left = _product_table().reshape(4, 4, 4)  # left[i]: matrix of q -> e_i q
    right = left.transpose(2, 1, 0)  # right[j]: matrix of q -> q e_j
    signs = np.array([1.0, -1.0, -1.0, -1.0])
    matrices = np.einsum("iab,jbc,j->ijac", left, right, signs)[:, :, 1:, 1:]
    return np.ascontiguousarray(matrices.reshape(16, 9))


_PRODUCT_TABLE = _product_table()
_ROTATION_TABLE = _rotation_table()
_NEXT = np.array([1, 2, 0])
_AFTER_NEXT = np.array([2, 0, 1])
_ROUNDING = 1e-14  # components of unit vectors below this are zero
_ROUNDING_OF_ANGLES = 1e-15  # angles below this are zero [rad]
_Z = np.array([0.0, 0.0, 1.0])


def batch_quaternion_product(p: Array, q: Array) -> Array:
    """Return the quaternion products p q (..., 4) of arrays (..., 4)."""
    matrices = (p @ _PRODUCT_TABLE).reshape(*p.shape[:-1], 4, 4)
    result: Array = (matrices @ q[..., None])[..., 0]
    return result


def batch_rotation_matrix(q: Array) -> Array:
    """Return the rotation matrices (..., 3, 3) of unit quaternions (..., 4)."""
    squares = (q[..., :, None] * q[..., None, :]).reshape(*q.shape[:-1], 16)
    result: Array = (squares @ _ROTATION_TABLE).reshape(*q.shape[:-1], 3, 3)
    return result


def conjugate(q: Array) -> Array:
    """Return the inverse rotations (..., 4) of unit quaternions (..., 4)."""
    result: Array = q * np.array([1.0, -1.0, -1.0, -1.0])
    return result


def cross(a: Array, b: Array) -> Array:
    """Return cross products of vectors (..., 3), seven times as fast as `numpy.cross`."""
    first = a.take(_NEXT, -1) * b.take(_AFTER_NEXT, -1)
    return first - a.take(_AFTER_NEXT, -1) * b.take(_NEXT, -1)


def rotate(R: Array, vectors: Array) -> Array:
    """Return the vectors (n, 3) rotated by the matrices (S, n, 3, 3): (S, n, 3)."""
    result: Array = (R @ vectors[..., None])[..., 0]
    return result


def quaternion_product(a: Array, b: Array) -> Array:
    """Return the product a b of two quaternions (4,)."""
    w = a[0] * b[0] - a[1:] @ b[1:]
    return np.concatenate([[w], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])])


def rotation_matrix(quaternion: Array) -> Array:
    """Return the rotation matrix (3, 3) of a unit quaternion (4,)."""
    w, x, y, z = quaternion
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def quaternion_from_matrix(rotation: Array) -> Array:
    """Return the unit quaternion (4,) of a rotation matrix (3, 3), w >= 0."""
    m = rotation
    # four times the squares of w, x, y, z; dividing by the largest one keeps all digits
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


def rotation_from_rpy(rpy: Array) -> Array:
    """Return the rotation matrix of roll, pitch, yaw (3,) [rad]: about fixed x, then y, then z."""
    cr, cp, cy = np.cos(rpy)
    sr, sp, sy = np.sin(rpy)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def roll_pitch_yaw(rotation: Array) -> Array:
    """Return fixed-axis roll, pitch and yaw (3,) [rad] of a rotation matrix, exact at any pitch.

    Each angle follows from the rotation that remains after the earlier ones. At a pitch of +-90
    degrees, where roll and yaw have one axis, their errors therefore cancel.
    """
    yaw = np.arctan2(rotation[1, 0], rotation[0, 0])
    c, s = np.cos(yaw), np.sin(yaw)
    remaining = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]) @ rotation
    pitch = np.arctan2(-remaining[2, 0], remaining[0, 0])
    roll = np.arctan2(-remaining[1, 2], remaining[1, 1])
    angles = np.array([roll, pitch, yaw])
    return np.where(np.abs(angles) < _ROUNDING_OF_ANGLES, 0.0, angles)


def rotation_between(start: Array, end: Array) -> Array:
    """Return the rotation matrix of smallest angle that takes one unit vector (3,) to another.

    Opposite vectors: half a turn about the perpendicular of `start` nearest to a coordinate axis.
    """
    middle = start + end
    if middle @ middle < 1e-24:
        axis = np.eye(3)[int(np.argmin(np.abs(start)))]
        return _half_turn(axis - float(axis @ start) * start)
    return _half_turn(middle) @ _half_turn(start)


def _half_turn(axis: Array) -> Array:
    """Return the rotation matrix by pi about `axis` (3,) of any length."""
    rotation: Array = 2.0 * np.outer(axis, axis) / float(axis @ axis) - np.eye(3)
    return rotation


def quaternion_from_z(direction: Array) -> Array:
    """Return the smallest rotation (4,) from z to `direction` (3,), the identity for zero."""
    length = float(np.linalg.norm(direction))
    if length == 0.0:
        return np.array([1.0, 0.0, 0.0, 0.0])
    return quaternion_from_matrix(rotation_between(_Z, direction / length))


@dataclass(frozen=True, eq=False)
class Pose:
    """Pose of a frame in its parent frame: origin (3,) [m] and rotation matrix (3, 3)."""

    position: Array
    rotation: Array

    def __matmul__(self, other: Pose) -> Pose:
        """Return the pose, in the parent frame, of a frame given in this one."""
        position = self.position + self.rotation @ other.position
        return Pose(position, self.rotation @ other.rotation)

    @property
    def inverse(self) -> Pose:
        """Pose of the parent frame in this one."""
        return Pose(-self.rotation.T @ self.position, self.rotation.T)

    @property
    def orientation(self) -> Array:
        """Unit quaternion (w, x, y, z) of the rotation (4,)."""
        return quaternion_from_matrix(self.rotation)

    def rotate_axis(self, axis: Array) -> Array:
        """Return a unit vector (3,) of this frame in the parent frame, rounding errors set to zero.

        Joint frames follow from the axis; next to -z its last digits would rotate them.
        """
        rotated: Array = self.rotation @ axis
        return np.where(np.abs(rotated) < _ROUNDING, 0.0, rotated)


@dataclass(frozen=True, eq=False)
class Origin(Pose):
    """Pose of an <origin> element, with its roll, pitch and yaw (3,) [rad] as written."""

    rpy: Array


IDENTITY = Origin(np.zeros(3), np.eye(3), np.zeros(3))

"""Poses (position, rotation matrix) and their composition."""

import math
from dataclasses import dataclass

import numpy as np

from vigym.mechanism.check import Array


@dataclass(frozen=True, eq=False)
class Pose:
    """Where a frame is in another one: origin (3,) [m] and rotation matrix (3, 3)."""

    position: Array
    rotation: Array

    def __matmul__(self, other: "Pose") -> "Pose":
        """Return the pose of a frame given in this one, seen from outside."""
        return Pose(self.position + self.rotation @ other.position, self.rotation @ other.rotation)

    @property
    def inverse(self) -> "Pose":
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


def rotation_from_xyzw(xyzw: Array) -> Array:
    """Return the rotation matrix of a unit quaternion in the order (x, y, z, w)."""
    x, y, z, w = xyzw
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


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

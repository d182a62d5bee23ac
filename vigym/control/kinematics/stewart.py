"""Inverse kinematics of the Stewart platform of `assets/stewart`, in closed form."""

import numpy as np

from vigym.control.actuators import Array

LEVEL = 1.25  # height of the platform's balls at zero [m]


def _around(radius: float, off: float, height: float) -> Array:
    """Return points (6, 3) [m] of the legs, in pairs some degrees off three corners."""
    angles = np.radians([120.0 * corner + side * off for corner in range(3) for side in (-1, 1)])
    return np.stack((radius * np.cos(angles), radius * np.sin(angles), 0.0 * angles + height), -1)


FEET = _around(1.0, 12.0, 0.12)  # of the legs on the base [m]
BALLS = _around(0.65, 48.0, 0.0)  # of the legs on the platform, from their middle [m]
LENGTH = float(np.linalg.norm(BALLS[0] + (0.0, 0.0, LEVEL) - FEET[0]))  # at zero [m]


def stewart_strokes(pose: Array) -> Array:
    """Return how far the legs are out (..., 6) [m] at a pose of the platform.

    Args:
        pose: (..., 6) surge, sway and heave from zero [m], roll, pitch and yaw [rad].
    """
    rotation = _rotation(pose[..., 3:])
    balls = BALLS @ np.swapaxes(rotation, -1, -2) + pose[..., None, :3] + (0.0, 0.0, LEVEL)
    lengths: Array = np.sqrt(np.add.reduce((balls - FEET) ** 2, axis=-1))
    return lengths - LENGTH


def _rotation(angles: Array) -> Array:
    """Return the matrices (..., 3, 3) of roll, pitch and yaw (..., 3) [rad] about fixed axes."""
    a, b, c = np.moveaxis(np.cos(angles), -1, 0)
    p, q, r = np.moveaxis(np.sin(angles), -1, 0)
    rows = (
        (b * c, p * q * c - a * r, a * q * c + p * r),
        (b * r, p * q * r + a * c, a * q * r - p * c),
        (-q, p * b, a * b),
    )
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)

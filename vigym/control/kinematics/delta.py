"""Inverse kinematics of the delta robot of `assets/delta`, in closed form."""

import numpy as np

from vigym.control.actuators import Array

SHOULDER, BALLS = 0.164, 0.044  # distances from the middle: of a motor, of the balls [m]
ARM, ROD = 0.524, 1.244  # lengths [m]
TOOL = 0.07  # of the gripper's end below the balls [m]
TURNS = 2.0 * np.pi / 3.0 * np.arange(3)  # of the arms about the vertical [rad]


def delta_angles(place: Array) -> Array:
    """Return the motors' angles (..., 3) [rad] that bring the gripper's end to a place.

    Args:
        place: (..., 3) [m] from the middle of the motors, z upwards; nan beyond the reach.
    """
    x, y, z = (place[..., column, None] for column in range(3))
    # In the plane of an arm the rod's ball is at (out, up) from the shoulder, and aside of it.
    out = x * np.cos(TURNS) + y * np.sin(TURNS) + BALLS - SHOULDER
    aside = y * np.cos(TURNS) - x * np.sin(TURNS)
    up = z + TOOL
    reach = np.hypot(out, up)
    cosine = (ARM**2 + reach**2 + aside**2 - ROD**2) / (2.0 * ARM * reach)
    angles: Array = np.arctan2(-up, out) - np.arccos(cosine)
    return angles

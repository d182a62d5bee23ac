"""Kinematics of the gripper of `assets/gripper` in closed form."""

import numpy as np

from vigym.control.actuators import Array

CRANK, MIDDLE = 0.1, 0.05  # length of a crank, distance of its pivot from the middle [m]
BALL = 0.06  # diameter [m]
SQUEEZE = 0.2  # angle by which motors that hold the ball are to close further [rad]


def finger_angle(opening: Array) -> Array:
    """Return the angle of the fingers (...,) [rad] at an opening of the pads (...,) [m]."""
    angle: Array = np.arcsin((0.5 * opening - MIDDLE) / CRANK)
    return angle


def holding_positions(place: Array) -> Array:
    """Return positions of the slide [m] and of the fingers [rad] (..., 2) that hold the ball.

    Args:
        place: (..., 2) y of the ball and its height above the ground where it lies [m]; the
            gripper brings the ball to the middle, so y has no effect.
    """
    closed = finger_angle(np.full(place.shape[:-1], BALL)) - SQUEEZE
    return np.stack((place[..., 1], closed), axis=-1)

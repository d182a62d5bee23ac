"""Kinematics of the Minitaur's five-bar leg: hip angles of swing and extension, foot position.

Motor angles follow the robot's own model: both bars of a leg point up at 0, are level at a quarter
turn and point down at half a turn. Their mean is the extension; the swing turns the leg forwards. A
hip angle is the motor angle less a quarter turn. The last axis of arrays runs over legs.
"""

import numpy as np

from vigym.control.actuators import Array

UPPER, LOWER = 0.115, 0.2  # lengths of the bars [m]
FOOT = 0.014  # radius of the foot [m]
UNIT = 0.25 * np.pi  # swing or extension per action [rad]
OFFSET = 1.5  # of the extension, which keeps off straight legs: 67.5 to 157.5 degrees


def hip_angles(swing: Array, extension: Array) -> Array:
    """Return hip angles (..., 2 n) [rad], front and rear, of swings and extensions (..., n)."""
    angles = np.empty((*swing.shape[:-1], 2 * swing.shape[-1]))
    angles[..., 0::2] = extension - 0.5 * np.pi - swing
    angles[..., 1::2] = extension - 0.5 * np.pi + swing
    return angles


def commanded(action: Array) -> tuple[Array, Array]:
    """Return swings and extensions (..., n) [rad] of an action (..., 2 n), swings first.

    Swing is pi/4 a, extension pi - pi/4 (a + 1.5): a positive action shortens the leg.
    """
    legs = action.shape[-1] // 2
    return UNIT * action[..., :legs], np.pi - UNIT * (action[..., legs:] + OFFSET)


def action_of(swing: Array, extension: Array) -> Array:
    """Return the action (..., 2 n) of swings and extensions (..., n) [rad]."""
    return np.concatenate((swing / UNIT, (np.pi - extension) / UNIT - OFFSET), axis=-1)


def foot_distance(extension: Array) -> Array:
    """Return the distance of the foot from the hip (...,) [m] of an extension [rad]."""
    level = UPPER * np.sin(extension)
    return np.sqrt(LOWER * LOWER - level * level) - UPPER * np.cos(extension)

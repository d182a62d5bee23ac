"""The Minitaur's five-bar leg: hip angles of a swing and an extension, and where they put the foot.

Motor angles follow the robot's own model: both bars of a leg point up at 0, are level at a quarter turn and point down
at half a turn. Their mean is the extension; the swing turns the leg forwards. A hip angle is the motor angle less a
quarter turn. Numbers of several legs lie side by side in the last axis.
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

UPPER, LOWER = 0.115, 0.2  # lengths of the bars [m]
FOOT = 0.014  # radius of the foot [m]
UNIT = 0.25 * np.pi  # of an action: swing, and extension up to its offset [rad]
OFFSET = 1.5  # keeps the leg off its poses without bend: 67.5 to 157.5 degrees of extension


def hip_angles(swing: Array, extension: Array) -> Array:
    """Return the hip angles (..., 2 n) [rad], front and rear bar of each leg, of swings and extensions (..., n)."""
    angles = np.empty((*swing.shape[:-1], 2 * swing.shape[-1]))
    angles[..., 0::2] = extension - 0.5 * np.pi - swing
    angles[..., 1::2] = extension - 0.5 * np.pi + swing
    return angles


def commanded(action: Array) -> tuple[Array, Array]:
    """Return swings and extensions (..., n) [rad] that an action (..., 2 n) means: n swings, then n extensions.

    Swing is pi/4 a, extension pi - pi/4 (a + 1.5): a positive number shortens the leg.
    """
    legs = action.shape[-1] // 2
    return UNIT * action[..., :legs], np.pi - UNIT * (action[..., legs:] + OFFSET)


def action_of(swing: Array, extension: Array) -> Array:
    """Return the action (..., 2 n) that commands swings and extensions (..., n) [rad]."""
    return np.concatenate((swing / UNIT, (np.pi - extension) / UNIT - OFFSET), axis=-1)


def reach(extension: Array) -> Array:
    """Return the distance of the foot from the hip (...,) [m] by the extension [rad]."""
    level = UPPER * np.sin(extension)
    return np.sqrt(LOWER * LOWER - level * level) - UPPER * np.cos(extension)

"""Array expressions that tasks share.

Leading dimensions `...` are () for one environment and (n,) for a batch.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
_TURN = 2.0 * np.pi


def wrap_angle(angle: Array) -> Array:
    """Return the angle [rad] shifted by full turns into [-pi, pi)."""
    turned = angle + np.pi
    turned %= _TURN
    turned -= np.pi
    return turned


def sine(angle: Any) -> Any:
    """Return the sine of an angle [rad] (...,), of one environment as a Python number."""
    return float(np.sin(angle)) if type(angle) is float else np.sin(angle)


def cosine(angle: Any) -> Any:
    """Return the cosine of an angle [rad] (...,), of one environment as a Python number."""
    return float(np.cos(angle)) if type(angle) is float else np.cos(angle)


def unstack(values: Array) -> Sequence[Array]:
    """Return the components (...,) along the last axis of values (..., n).

    Those of one environment, values (n,), are Python numbers, with which arithmetic is many times
    faster.
    """
    if values.ndim == 1:
        numbers: list[Array] = values.tolist()
        return numbers
    return [values[..., column] for column in range(values.shape[-1])]


def stack(*values: Array) -> Array:
    """Return components (...,) as one array (..., len(values)), faster than `numpy.stack`."""
    first: Any = values[0]
    if isinstance(first, float):  # one environment
        return np.array(values)
    table = np.empty((*values[0].shape, len(values)))
    table.T[:] = [value.T for value in values] if first.ndim > 1 else values
    return table


def cost_of_transport(power: Array, weight: Any, speed: Array, min_speed: float = 0.01) -> Array:
    """Return power [W] over weight [N] and speed [m/s], which is at least `min_speed` (...,)."""
    cost: Array = power / (weight * np.maximum(abs(speed), min_speed))
    return cost


def rotate_to_body(orientation: Array, vector: Array) -> Array:
    """Return world vectors (..., 3) in the axes of bodies.

    Args:
        orientation: quaternions (w, x, y, z) of the bodies (..., 4).
        vector: in world axes (..., 3).
    """
    w, x, y, z = unstack(orientation)
    a, b, c = unstack(vector)
    s = 2.0 * (y * c - z * b)
    t = 2.0 * (z * a - x * c)
    u = 2.0 * (x * b - y * a)
    return stack(a - w * s + y * u - z * t, b - w * t + z * s - x * u, c - w * u + x * t - y * s)


def world_up_in_body(orientation: Array) -> Array:
    """Return the world's z axis (..., 3) in the axes of bodies.

    Args:
        orientation: quaternions (w, x, y, z) of the bodies (..., 4).
    """
    w, x, y, z = unstack(orientation)
    return stack(2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y))

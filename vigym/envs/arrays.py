"""Array expressions that tasks share; leading dimensions `...` are () for one environment, (n,) for a batch."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def wrapped(angle: Array) -> Array:
    """Return the angle [rad] moved by full turns into [-pi, pi)."""
    return (angle + np.pi) % (2.0 * np.pi) - np.pi


def parts(values: Array) -> Sequence[Array]:
    """Return the columns (...,) of values (..., n); of one environment as Python numbers, many times quicker there."""
    if values.ndim == 1:
        numbers: list[Array] = values.tolist()
        return numbers
    return [values[..., column] for column in range(values.shape[-1])]


def columns(*values: Array) -> Array:
    """Return values (...,) side by side as (..., len(values)); `numpy.stack` is several times slower."""
    first: Any = values[0]
    if isinstance(first, float):  # of one environment
        return np.array(values)
    table = np.empty((*values[0].shape, len(values)))
    for column, value in enumerate(values):
        table[..., column] = value
    return table


def cost_of_transport(power: Array, weight: float, speed: Array, slowest: float = 0.01) -> Array:
    """Return power [W] per weight [N] and speed [m/s] (...,); a speed below `slowest` counts as that."""
    return power / (weight * np.maximum(abs(speed), slowest))


def into_body(orientation: Array, vector: Array) -> Array:
    """Return vectors of the world (..., 3) in the axes of bodies turned by quaternions (w, x, y, z) (..., 4)."""
    (w, x, y, z), (a, b, c) = parts(orientation), parts(vector)
    s, t, u = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
    return columns(a - w * s + y * u - z * t, b - w * t + z * s - x * u, c - w * u + x * t - y * s)


def upwards(orientation: Array) -> Array:
    """Return the world's z axis (..., 3) in the axes of bodies turned by quaternions (w, x, y, z) (..., 4)."""
    w, x, y, z = parts(orientation)
    return columns(2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y))

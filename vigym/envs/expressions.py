"""Array expressions that tasks share; leading dimensions `...` are () for one environment, (n,) for a batch."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def wrapped(angle: Array) -> Array:
    """Return the angle [rad] moved by full turns into [-pi, pi)."""
    return np.remainder(angle + np.pi, 2.0 * np.pi) - np.pi


def columns(*values: Array) -> Array:
    """Return values (...,) side by side as (..., len(values)); `numpy.stack` is several times slower."""
    table = np.empty((*values[0].shape, len(values)))
    for column, value in enumerate(values):
        table[..., column] = value
    return table

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


def heading_of(orientation: Array) -> Array:
    """Return the angle from the world's x axis to that of bodies, about the vertical (...,) [rad].

    Args:
        orientation: quaternions (w, x, y, z) of the bodies (..., 4).
    """
    w, x, y, z = unstack(orientation)
    heading: Array = np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    return heading


def within_unit(values: Array) -> bool:
    """Return whether all values are numbers in [-1, 1]; a few are compared fastest one by one."""
    if values.ndim > 1:
        sizes = np.abs(values)
        return bool(sizes.item(sizes.argmax()) <= 1.0)  # the first NaN counts as the largest
    within = True
    for value in values.tolist():
        within = within and -1.0 <= value <= 1.0
    return within


def name_history(names: list[str], length: int) -> list[str]:
    """Return the names of all entries, oldest first; those of earlier steps end in "[-steps]"."""
    before = [f"{name}[-{age}]" for age in range(length - 1, 0, -1) for name in names]
    return before + names


class History:
    """Observations of the last control steps, of every environment.

    Args:
        length: number of control steps.
        lanes: number of environments.
        size: of an observation.
    """

    def __init__(self, length: int, lanes: int, size: int) -> None:
        self._kept = np.zeros((lanes, length, size))
        self._starts = np.ones(lanes, dtype=np.bool_)

    def start(self, mask: Flags) -> None:
        """Let episodes start in a mask (lanes,): their first observation stands for all before."""
        self._starts |= mask

    def add(self, observed: Array, mask: Flags | None) -> Array:
        """Return observations (..., length * size), oldest first.

        Args:
            observed: now (..., size).
            mask: (lanes,) environments that are observed, all by default; the others are as before.
        """
        latest = observed.reshape(len(self._kept), -1)
        seen = np.ones_like(self._starts) if mask is None else mask
        first, later = seen & self._starts, seen & ~self._starts
        self._kept[first] = latest[first, None]
        self._kept[later, :-1] = self._kept[later, 1:]
        self._kept[later, -1] = latest[later]
        self._starts &= ~seen
        return self._kept.reshape(*observed.shape[:-1], -1).copy()

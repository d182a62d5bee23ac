"""Checks of the arguments of a simulator's methods; errors name found and expected values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.mechanism.elements.checks import LARGEST, Array

MOST = 2**31 - 1  # of any whole number


def environment_mask(mask: ArrayLike | None, count: int) -> NDArray[np.bool_]:
    """Return the mask (count,) of the environments to work on; None means all.

    Raises:
        ValueError: the mask is not bool of that shape.
    """
    if mask is None:
        return np.ones(count, bool)
    try:
        found = np.asarray(mask)
    except ValueError as error:  # rows of different lengths
        raise ValueError(f"mask: found {mask!r}, expected bool of shape ({count},)") from error
    if found.shape != (count,) or found.dtype != np.bool_:
        raise ValueError(
            f"mask: found {found.dtype} of shape {found.shape}, expected bool of shape ({count},)"
        )
    return found


def real_number(value: Any, name: str) -> float:
    """Convert an argument to a float; ValueError names the argument that is not a number."""
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name}: found {value!r}, expected a number") from error
    if isinstance(value, bool | np.bool_ | str | bytes):  # float() takes True as 1 and "2" as 2
        raise ValueError(f"{name}: found {value!r}, expected a number")
    return found


def positive_integer(value: Any, name: str) -> int:
    """Convert an argument to an int of 1 to MOST; ValueError names the argument that is not."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ValueError(f"{name}: found {value!r}, expected a whole number of at least 1")
    if value > MOST:
        raise ValueError(f"{name}: found {value!r}, expected a whole number of at most {MOST}")
    return int(value)


def real_array(values: ArrayLike, name: str) -> Array:
    """Copy an argument to a float64 array; ValueError names the one that is not of real numbers."""
    try:
        array = np.asarray(values)
    except ValueError as error:  # rows of different lengths
        raise ValueError(f"{name}: found {values!r}, expected real numbers in rows") from error
    if array.dtype.kind not in "fiu":
        raise ValueError(f"{name}: found {array.dtype} values, expected real numbers")
    return array.astype(np.float64, order="C")


def torque_rows(torques: ArrayLike | None, count: int, actuators: int, single: bool) -> Array:
    """Return torques (count, actuators) [N, N m]; None means zero.

    Args:
        torques: (actuators,) of a single environment, else (count, actuators).
        count: number of environments.
        actuators: number of actuators.
        single: whether there is one environment without a leading axis.

    Raises:
        ValueError: wrong shape, or a value that is not finite.
    """
    if torques is None:
        return np.zeros((count, actuators))
    given = real_array(torques, "torques")
    _check_rows(given, count, actuators, single, ("torques", "an actuator"))
    return given.reshape(count, actuators)


def target_rows(targets: ArrayLike | None, count: int, motors: int, single: bool) -> Array:
    """Return motor targets (count, motors) [rad, m or their rates]; NaN, for None, means idle.

    Arguments and errors as of `torque_rows`.
    """
    if targets is None:
        return np.full((count, motors), np.nan)
    given = real_array(targets, "targets")
    _check_rows(given, count, motors, single, ("targets", "a motor"))
    return given.reshape(count, motors)


def acceleration_rows(accelerations: ArrayLike, count: int, dofs: int, single: bool) -> Array:
    """Return accelerations (count, dofs) of the tree's joints.

    Arguments and errors are those of `torque_rows`, with the number of velocities of the tree.
    """
    given = real_array(accelerations, "accelerations")
    _check_rows(given, count, dofs, single, ("accelerations", "a joint"))
    return given.reshape(count, dofs)


def point_rows(point: ArrayLike, count: int, single: bool) -> Array:
    """Return points (count, 3) [m]; arguments and errors are those of `vector_rows`."""
    return vector_rows(point, count, single, "point")


def vector_rows(vector: ArrayLike, count: int, single: bool, name: str) -> Array:
    """Return vectors (count, 3), given as one (3,) or one of each environment.

    Raises:
        ValueError: wrong shape, or a value that is not finite.
    """
    given = real_array(vector, name)
    if given.shape != (3,):
        _check_rows(given, count, 3, single, (name, "a coordinate"))
    if not np.isfinite(given).all():
        raise ValueError(f"{name}: found {given.tolist()}, expected finite numbers")
    return np.broadcast_to(given, (count, 3))


def _check_rows(given: Array, count: int, width: int, single: bool, names: tuple[str, str]) -> None:
    """Raise ValueError for a wrong shape or a value that is not finite.

    Args:
        given: values to check.
        count: number of environments.
        width: number of values of an environment.
        single: whether there is one environment without a leading axis.
        names: name of the argument, and of the element that a value belongs to.
    """
    name, element = names
    expected = (width,) if single else (count, width)
    if given.shape != expected:
        raise ValueError(f"{name}: found shape {given.shape}, expected {expected}")
    finite = np.isfinite(given)
    if np.count_nonzero(finite) < given.size:
        raise ValueError(
            f"{name}: found {given[~finite][0]} for {element}, expected finite numbers"
        )


def impulse_rows(impulses: ArrayLike, count: int, bodies: int, single: bool) -> Array:
    """Return impulses (count, bodies, 3) [N s], given without the leading axis if single.

    Raises:
        ValueError: wrong shape, or a value that is not finite.
    """
    given = real_array(impulses, "impulses")
    expected = (bodies, 3) if single else (count, bodies, 3)
    if given.shape != expected or not (np.abs(given) <= LARGEST).all():
        raise ValueError(
            f"impulses: found {given.tolist()}, expected finite numbers of shape {expected}, "
            f"up to {LARGEST:g} N s"
        )
    return given.reshape(count, bodies, 3)


def state_rows(state: ArrayLike, count: int, widths: tuple[int, int], single: bool) -> Array:
    """Return states as rows (count or 1, n_state); one row serves all environments.

    Args:
        state: (n_state,) or (count, n_state), of one of the widths.
        count: number of environments.
        widths: number of columns without and with parameter factors.
        single: whether there is one environment without a leading axis.

    Raises:
        ValueError: wrong shape, or a value that is not finite.
    """
    given = real_array(state, "state")
    if given.shape not in {shape for n in widths for shape in ((count, n), (n,))}:
        n = widths[given.ndim > 0 and given.shape[-1] == widths[1]]
        raise ValueError(
            f"state: found shape {given.shape}, expected {(n,) if single else (count, n)}"
        )
    if not np.isfinite(given).all():
        raise ValueError(f"state: found {given[~np.isfinite(given)][0]}, expected finite numbers")
    return given.reshape(-1, given.shape[-1])

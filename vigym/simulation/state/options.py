"""Checks of what a simulator is given: options, torques, masks, states. Errors name what was found and expected."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.mechanism.elements.checks import one_of
from vigym.mechanism.mechanism import Mechanism

Array = NDArray[np.float64]
MOST_THREADS = 256


def chosen_of(mask: ArrayLike | None, count: int) -> NDArray[np.bool_]:
    """(count,) environments that a mask names; None names all."""
    if mask is None:
        return np.ones(count, bool)
    chosen = np.asarray(mask)
    if chosen.shape != (count,) or chosen.dtype != np.bool_:
        raise ValueError(f"mask: found {chosen.dtype} of shape {chosen.shape}, expected bool of shape ({count},)")
    return chosen


def number(value: Any, name: str) -> float:
    """One float; ValueError names the argument that is none."""
    try:
        found = float(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: found {value!r}, expected a number") from error
    if isinstance(value, bool | np.bool_ | str | bytes):  # float() takes True as 1 and "2" as 2
        raise ValueError(f"{name}: found {value!r}, expected a number")
    return found


def whole(value: Any, name: str) -> int:
    """A whole number of at least 1; ValueError names the argument that is none."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ValueError(f"{name}: found {value!r}, expected a whole number of at least 1")
    return int(value)


def floats(values: ArrayLike, name: str) -> Array:
    """A copy of real numbers; ValueError names the argument that has others."""
    array = np.asarray(values)
    if array.dtype.kind not in "fiu":
        raise ValueError(f"{name}: found {array.dtype} values, expected real numbers")
    return array.astype(np.float64, order="C")


def torques_of(torques: ArrayLike | None, count: int, actuators: int, single: bool) -> Array:
    """(count, actuators) torques [N, N m]; None is zero. One environment's (``single``) have no leading axis."""
    if torques is None:
        return np.zeros((count, actuators))
    u = floats(torques, "torques")
    expected = (actuators,) if single else (count, actuators)
    if u.shape != expected:
        raise ValueError(f"torques: found shape {u.shape}, expected {expected}")
    if not np.isfinite(u).all():
        raise ValueError(f"torques: found {u[~np.isfinite(u)][0]} for an actuator, expected finite numbers")
    return u.reshape(count, actuators)


def targets_of(targets: ArrayLike | None, count: int, motors: int, single: bool) -> Array:
    """(count, motors) targets [rad, m or their rates]; NaN where a motor idles, all of them for None."""
    if targets is None:
        return np.full((count, motors), np.nan)
    wanted = floats(targets, "targets")
    expected = (motors,) if single else (count, motors)
    if wanted.shape != expected:
        raise ValueError(f"targets: found shape {wanted.shape}, expected {expected}")
    if not np.isfinite(wanted).all():
        raise ValueError(f"targets: found {wanted[~np.isfinite(wanted)][0]} for a motor, expected finite numbers")
    return wanted.reshape(count, motors)


def rows_of(state: ArrayLike, count: int, widths: tuple[int, int], single: bool) -> Array:
    """(count or 1, n_state) rows of states given for ``count`` environments, of one of the widths; one row serves all.

    Args:
        state: what was given.
        count: number of environments.
        widths: number of columns without and with factors.
        single: whether there is one environment without a leading axis.
    """
    given = floats(state, "state")
    if given.shape not in {shape for n in widths for shape in ((count, n), (n,))}:
        found, n = given.shape, widths[given.ndim > 0 and given.shape[-1] == widths[1]]
        raise ValueError(f"state: found shape {found}, expected {(n,) if single else (count, n)}")
    if not np.isfinite(given).all():
        raise ValueError(f"state: found {given[~np.isfinite(given)][0]}, expected finite numbers")
    return given.reshape(-1, given.shape[-1])


def cone_of(friction_cone: str, contact_solver: str) -> tuple[str, str]:
    """Cone of friction and solver of contacts, which fit together."""
    cone = one_of(friction_cone, ["cone", "pyramid"], "friction_cone")
    solver = one_of(contact_solver, ["newton", "interior_point"], "contact_solver")
    if (cone, solver) == ("pyramid", "interior_point"):
        raise ValueError('contact_solver: found "interior_point" with friction_cone="pyramid", expected "newton"')
    return cone, solver


def check_options(
    mechanism: Mechanism, timestep: float, order: int, tolerance: float, batch: int | None, threads: int
) -> None:
    """Raise ValueError naming the first option of ``Simulator`` that is out of range."""
    if not (0.0 < timestep < np.inf):
        raise ValueError(f"timestep: found {timestep!r}, expected a positive finite number [s]")
    if order not in (2, 4):
        raise ValueError(f"order: found {order!r}, expected 2 or 4")
    irreversible = _irreversible(mechanism) if order == 4 else []
    if irreversible:
        raise ValueError(
            f"order=4: found {irreversible[0]}; a composition with a negative step needs a system without dissipation, "
            "motors, limits and contact"
        )
    if not (1e-14 <= tolerance < 1.0):
        raise ValueError(f"tolerance: found {tolerance!r}, expected a number from 1e-14 to 1")
    if batch is not None:
        whole(batch, "batch")
    _check_threads(threads, batch)


def _check_threads(threads: int, batch: int | None) -> None:
    whole(threads, "threads")
    if threads > MOST_THREADS:
        raise ValueError(f"threads: found {threads!r}, expected at most {MOST_THREADS}")
    if threads > 1 and batch is None:
        raise ValueError(f"threads: found {threads!r} for one environment, expected 1; a batch is shared by threads")


def _irreversible(mechanism: Mechanism) -> list[str]:
    """What does not run backwards in time."""
    joints = mechanism.joints.values()
    found = [f"joint {joint.name!r}, damped" for joint in joints if joint.damping > 0]
    found += [f"joint {joint.name!r} with limits" for joint in joints if joint.limits is not None]
    found += [f"joint {joint.name!r} with friction" for joint in joints if joint.friction > 0]
    found += [f"spring {spring.name!r}, damped" for spring in mechanism.springs.values() if spring.damping > 0]
    found += [f"the motor of joint {name!r}" for name in mechanism.motors]
    return found + [f"contact {name!r}" for name in mechanism.contact_names]

"""Actuators of a mechanism: their coordinates in `info`, and torques as actions.

Checks of parameters that controllers share are here, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.mechanism.elements.checks import has_bools_or_strings, require_number
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.mechanism import Mechanism

Array = NDArray[np.float64]
Info = Mapping[str, Any]


def require_finite_fields(controller: Any) -> None:
    """Raise MechanismError, a ValueError, unless float fields of a dataclass are finite numbers."""
    for field in fields(controller):
        if field.type in (float, "float") and field.init:
            require_number(getattr(controller, field.name), field.name)


class Actuators:
    """Actuated degrees of freedom of a mechanism whose actions are torques.

    Args:
        mechanism: without motors, whose actions are targets.

    Attributes:
        names: of the degrees of freedom (n_actuated).
        efforts: (n_actuated,) largest torques [N, N m].

    Raises:
        MechanismError: motors, or an actuator without a largest torque.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        self._mechanism = mechanism
        self.names = mechanism.actuator_names
        joints = mechanism.actuated_joints
        efforts = [joint.effort for joint in joints for _ in range(joint.dofs)]
        self.efforts = np.array(efforts, np.float64)
        if mechanism.motors:
            name = mechanism.motor_names[0]
            raise MechanismError(
                f"joint {name!r}: found a motor, expected actions that are torques"
            )
        if not np.isfinite(self.efforts).all():
            name = self.names[int(np.argmin(np.isfinite(self.efforts)))]
            raise MechanismError(f"actuator {name!r}: found no largest torque, expected one")

    def positions(self) -> NDArray[np.int64]:
        """Return the columns of `joint_positions` (n_actuated,).

        Raises:
            MechanismError: an actuator of a free orientation, which has no coordinate of its own.
        """
        names = self._mechanism.position_names
        missing = [name for name in self.names if name not in names]
        if missing:
            expected = "a distance or an angle"
            raise MechanismError(
                f"actuator {missing[0]!r}: found a free orientation, expected {expected}"
            )
        return np.array([names.index(name) for name in self.names], np.int64)

    def velocities(self) -> NDArray[np.int64]:
        """Return the columns of `joint_velocities` (n_actuated,)."""
        names = self._mechanism.velocity_names
        return np.array([names.index(name) for name in self.names], np.int64)

    def action(self, torques: Array) -> NDArray[np.float32]:
        """Return the action (..., n_actuated) of torques, clipped to [-1, 1], the efforts."""
        return np.clip(torques / self.efforts, -1.0, 1.0).astype(np.float32)


def joint_state(info: Info) -> tuple[Array, Array]:
    """Return joint positions (..., n_positions) and velocities (..., n_velocities) in `info`."""
    return (
        np.asarray(info["joint_positions"], dtype=np.float64),
        np.asarray(info["joint_velocities"], dtype=np.float64),
    )


def broadcast_parameter(name: str, value: ArrayLike, count: int, low: float = -np.inf) -> Array:
    """Return a parameter, one number for all or one for each, as an array (count,).

    Raises:
        ValueError: another shape, no finite numbers, or a number below `low`.
    """
    try:
        found = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: found {value!r}, expected numbers") from error
    if has_bools_or_strings(value):  # numpy takes True as 1 and "2" as 2
        raise ValueError(f"{name}: found {value!r}, expected numbers")
    if found.shape not in ((), (count,)):
        expected = f"one number or ({count},)"
        raise ValueError(f"{name}: found shape {found.shape}, expected {expected}")
    if not (np.isfinite(found) & (found >= low)).all():
        least = "" if low == -np.inf else f" of at least {low:g}"
        raise ValueError(f"{name}: found {value!r}, expected finite numbers{least}")
    return np.broadcast_to(found, (count,))

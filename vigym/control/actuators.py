"""What a mechanism's actuators act on: where their joints are in `info`, and torques as actions.

`check_numbers` is the check of parameters that gaits and other controllers share.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.mechanism.elements.checks import no_numbers, number
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.mechanism import Mechanism

Array = NDArray[np.float64]
Info = Mapping[str, Any]


def check_numbers(controller: Any) -> None:
    """Raise MechanismError, a ValueError, where a field of type float of a dataclass is no finite number."""
    for field in fields(controller):
        if field.type in (float, "float") and field.init:
            number(getattr(controller, field.name), field.name)


class Actuators:
    """The actuated freedoms of a mechanism whose actions are torques.

    Args:
        mechanism: without motors: theirs are told targets.

    Attributes:
        names: of the freedoms (n_actuated).
        efforts: (n_actuated,) largest torques [N, N m].

    Raises:
        MechanismError: motors, or an actuator without a largest torque.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        self._mechanism, self.names = mechanism, mechanism.actuator_names
        joints = [joint for joint in mechanism.tree_joints if joint.actuated]
        self.efforts = np.array([joint.effort for joint in joints for _ in range(joint.dofs)], np.float64)
        if mechanism.motors:
            raise MechanismError(
                f"joint {mechanism.motor_names[0]!r}: found a motor, expected actions that are torques"
            )
        if not np.isfinite(self.efforts).all():
            name = self.names[int(np.argmin(np.isfinite(self.efforts)))]
            raise MechanismError(f"actuator {name!r}: found no largest torque, expected one")

    def positions(self) -> NDArray[np.int64]:
        """Return the columns of `joint_positions` (n_actuated,).

        Raises:
            MechanismError: an actuator of a free orientation, which has no coordinate of its own.
        """
        homeless = [name for name in self.names if name not in self._mechanism.position_names]
        if homeless:
            raise MechanismError(f"actuator {homeless[0]!r}: found a free orientation, expected a distance or an angle")
        return np.array([self._mechanism.position_names.index(name) for name in self.names], np.int64)

    def velocities(self) -> NDArray[np.int64]:
        """Return the columns of `joint_velocities` (n_actuated,)."""
        return np.array([self._mechanism.velocity_names.index(name) for name in self.names], np.int64)

    def action(self, torques: Array) -> NDArray[np.float32]:
        """Return the action (..., n_actuated) in [-1, 1] that means torques, as far as the efforts reach."""
        return np.clip(torques / self.efforts, -1.0, 1.0).astype(np.float32)


def coordinates(info: Info) -> tuple[Array, Array]:
    """Return the joint positions (..., n_positions) and velocities (..., n_velocities) that `info` tells."""
    return (
        np.asarray(info["joint_positions"], dtype=np.float64),
        np.asarray(info["joint_velocities"], dtype=np.float64),
    )


def each(name: str, value: ArrayLike, count: int, low: float = -np.inf) -> Array:
    """Return the parameter `name`, one number for all or one of each, as an array (count,).

    Raises:
        ValueError: another shape, no finite numbers, or one below `low`.
    """
    try:
        found = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: found {value!r}, expected numbers") from error
    if no_numbers(value):  # numpy takes True as 1 and "2" as 2
        raise ValueError(f"{name}: found {value!r}, expected numbers")
    if found.shape not in ((), (count,)):
        raise ValueError(f"{name}: found shape {found.shape}, expected one number or ({count},)")
    if not (np.isfinite(found) & (found >= low)).all():
        least = "" if low == -np.inf else f" of at least {low:g}"
        raise ValueError(f"{name}: found {value!r}, expected finite numbers{least}")
    return np.broadcast_to(found, (count,))

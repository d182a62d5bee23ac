"""What a mechanism's actuators act on: where their joints are in `info`, and torques as actions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vigym.mechanism.errors import MechanismError
from vigym.mechanism.mechanism import Mechanism

Array = NDArray[np.float64]
Info = Mapping[str, Any]


class Actuators:
    """The actuated freedoms of a mechanism.

    Args:
        mechanism: of an environment whose actions are torques.

    Attributes:
        positions, velocities: columns of `joint_positions` and `joint_velocities`, a freedom each.
        efforts: (n_actuated,) largest torques [N, N m].

    Raises:
        MechanismError: an actuator without an effort, or of a freedom without a coordinate of its own.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        names = mechanism.actuator_names
        homeless = [name for name in names if name not in mechanism.position_names]
        if homeless:
            raise MechanismError(f"actuator {homeless[0]!r}: found a free orientation, expected a distance or an angle")
        self.positions = np.array([mechanism.position_names.index(name) for name in names], np.int64)
        self.velocities = np.array([mechanism.velocity_names.index(name) for name in names], np.int64)
        joints = [joint for joint in mechanism.tree_joints if joint.actuated]
        self.efforts = np.array([joint.effort for joint in joints for _ in joint.prototype.velocities], np.float64)
        if not np.isfinite(self.efforts).all():
            raise MechanismError(
                f"actuator {names[int(np.argmin(np.isfinite(self.efforts)))]!r}: found no largest torque, expected one"
            )

    def action(self, torques: Array) -> NDArray[np.float32]:
        """Return the action (..., n_actuated) in [-1, 1] that means torques, as far as the efforts reach."""
        return np.clip(torques / self.efforts, -1.0, 1.0).astype(np.float32)


def coordinates(info: Info) -> tuple[Array, Array]:
    """Return the joint positions (..., n_positions) and velocities (..., n_velocities) that `info` tells."""
    return (
        np.asarray(info["joint_positions"], dtype=np.float64),
        np.asarray(info["joint_velocities"], dtype=np.float64),
    )

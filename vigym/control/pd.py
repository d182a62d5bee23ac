"""Proportional-derivative control of the actuated joints.

With the torques that hold the mechanism at the target this is the regulator of M. Takegaki and
S. Arimoto, A new feedback method for dynamic control of manipulators, Journal of Dynamic Systems,
Measurement, and Control 103 (1981).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.control.actuators import Actuators, Info, broadcast_parameter, joint_state
from vigym.mechanism.mechanism import Mechanism


class Pd:
    """Controller with torque = kp (target - position) - kd velocity + torques of every actuator.

    Angles are not wrapped: a target one full turn ahead has an error of one full turn.

    Args:
        mechanism: of an environment whose actions are torques.
        target: positions (n_actuated,), or one for all [rad, m].
        kp: gains of the positions, likewise [N m/rad, N/m].
        kd: gains of the velocities, likewise [N m s/rad, N s/m].
        torques: (n_actuated,) added, such as those that balance gravity at the target [N m, N].

    Raises:
        MechanismError: motors, or actuators without a coordinate or a largest torque.
        ValueError: values of the wrong shape, or not finite.
    """

    batched = True

    def __init__(
        self,
        mechanism: Mechanism,
        *,
        target: ArrayLike = 0.0,
        kp: ArrayLike = 10.0,
        kd: ArrayLike = 1.0,
        torques: ArrayLike = 0.0,
    ) -> None:
        self._actuators = Actuators(mechanism)
        self._positions = self._actuators.positions()
        self._velocities = self._actuators.velocities()
        count = len(self._actuators.names)
        self.target = broadcast_parameter("target", target, count)
        self.kp = broadcast_parameter("kp", kp, count)
        self.kd = broadcast_parameter("kd", kd, count)
        self.torques = broadcast_parameter("torques", torques, count)

    def __call__(self, observation: Any, info: Info) -> NDArray[np.float32]:
        """Return the action (..., n_actuated) for the joint state in `info`."""
        positions, velocities = joint_state(info)
        error = self.target - positions[..., self._positions]
        torques = self.kp * error - self.kd * velocities[..., self._velocities] + self.torques
        return self._actuators.action(torques)


def pd(mechanism: Mechanism, **parameters: Any) -> Pd:
    """Return a proportional-derivative controller; `parameters` are the fields of `Pd`."""
    return Pd(mechanism, **parameters)

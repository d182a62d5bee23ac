"""Proportional-derivative control of the actuated joints.

With the torques that hold the mechanism at the target this is the regulator of M. Takegaki and S. Arimoto, A new
feedback method for dynamic control of manipulators, Journal of Dynamic Systems, Measurement, and Control 103 (1981).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.control.actuators import Actuators, Info, coordinates, each
from vigym.mechanism.mechanism import Mechanism


class Pd:
    """Torque = kp (target - position) - kd velocity + torques, of every actuated freedom; as an action.

    Angles are not wrapped: a target a full turn ahead is a full turn away.

    Args:
        mechanism: of an environment whose actions are torques.
        target: positions (n_actuated,), or one for all [rad, m].
        kp: gains of the positions, likewise [N m/rad, N/m].
        kd: gains of the velocities, likewise [N m s/rad, N s/m].
        torques: (n_actuated,) added to that, such as those that carry the weight at the target [N m, N].

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
        self._actuators = actuators = Actuators(mechanism)
        self._positions, self._velocities = actuators.positions(), actuators.velocities()
        given = {"target": target, "kp": kp, "kd": kd, "torques": torques}
        values = {name: each(name, value, len(actuators.names)) for name, value in given.items()}
        self.target, self.kp, self.kd, self.torques = values.values()

    def __call__(self, observation: Any, info: Info) -> NDArray[np.float32]:
        """Return the action (..., n_actuated) by the joint positions and velocities of `info`."""
        positions, velocities = coordinates(info)
        error = self.target - positions[..., self._positions]
        torques = self.kp * error - self.kd * velocities[..., self._velocities] + self.torques
        return self._actuators.action(torques)


def pd(mechanism: Mechanism, **parameters: Any) -> Pd:
    """Return the controller; `parameters` as of `Pd`."""
    return Pd(mechanism, **parameters)

"""Swing-up by energy control: torque along the motion to add energy, against it to remove energy.

K. J. Åström and K. Furuta, Swinging up a pendulum by energy control, Automatica 36 (2000). There
the motor turns the swinging part. A motor beyond the swinging part, such as the acrobot's elbow,
drives it by its reaction: its torque acts against the swing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.control.actuators import Actuators, Array, Info, joint_state
from vigym.control.lqr import Lqr
from vigym.mechanism.elements.checks import require_number, require_numbers
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator


class EnergySwingUp:
    """Controller with torque = push sign(rate) clip(pump (target - energy)) of one actuator.

    The clip is to [-1, 1]; a rate of zero counts as positive. Near a pose the controller `balance`
    takes over. In a batch each environment may have its own energy, push and pump.

    Args:
        mechanism: of an environment with one action, a torque.
        energy: target of `info["energy_total"]`: `resting_energy` upright, or slightly more [J].
        swing: name of the swinging joint; None: the actuated one.
        push: largest torque [N m]; negative: its reaction drives the swing; None: the effort.
        pump: fraction of the push per energy error [1/J].
        balance: controller that takes over near a pose; None: none.
        catch: cost to go, of `balance`, below which it takes over.

    Raises:
        MechanismError: motors, or an actuator without a largest torque.
        ValueError: more than one actuator, an unknown joint, a `balance` without cost, or a `catch`
            that is no number; an energy, push or pump that is not finite.
    """

    batched = True

    def __init__(
        self,
        mechanism: Mechanism,
        *,
        energy: ArrayLike,
        swing: str | None = None,
        push: ArrayLike | None = None,
        pump: ArrayLike = 1.0,
        balance: Lqr | None = None,
        catch: float = 10.0,
    ) -> None:
        self._actuators = Actuators(mechanism)
        names = self._actuators.names
        if len(names) != 1:
            raise ValueError(f"energy_swing_up: found {len(names)} actuators, expected one")
        swing = names[0] if swing is None else swing
        if swing not in mechanism.velocity_names:
            expected = f"one of {', '.join(mechanism.velocity_names)}"
            raise ValueError(f"swing: found {swing!r}, expected {expected}")
        self._swing = mechanism.velocity_names.index(swing)
        if balance is not None and not callable(getattr(balance, "cost", None)):
            expected = "a controller with a method `cost`, such as lqr"
            raise ValueError(f"balance: found {balance!r}, expected {expected}")
        self.balance = balance
        self.catch = require_number(catch, "catch", infinite=True)
        self.energy = _require_finite("energy", energy)
        self.pump = _require_finite("pump", pump)
        self.push = _require_finite("push", self._actuators.efforts[0] if push is None else push)

    def torque(self, info: Info) -> Array:
        """Return the torque (...,) [N m] for the energy and joint velocities in `info`."""
        _, velocities = joint_state(info)
        part = np.clip(self.pump * (self.energy - np.asarray(info["energy_total"])), -1.0, 1.0)
        return np.asarray(self.push * np.where(velocities[..., self._swing] < 0.0, -part, part))

    def __call__(self, observation: Any, info: Info) -> NDArray[np.float32]:
        """Return the action (..., 1) for the energy and joint state in `info`."""
        action = self._actuators.action(self.torque(info)[..., None])
        if self.balance is None:
            return action
        caught = (self.balance.cost(info) < self.catch)[..., None]
        return np.where(caught, self.balance(observation, info), action)


def _require_finite(name: str, value: ArrayLike) -> Array:
    """Return a parameter, one number or one for each environment, that has to be finite."""
    expected = "a finite number"
    found = require_numbers(value, name, expected)
    if not np.isfinite(found).all():
        raise MechanismError(f"{name}: found {value!r}, expected {expected}")
    return found


def energy_swing_up(mechanism: Mechanism, **parameters: Any) -> EnergySwingUp:
    """Return the controller; `parameters` are the fields of `EnergySwingUp`."""
    return EnergySwingUp(mechanism, **parameters)


def resting_energy(mechanism: Mechanism, positions: Mapping[str, ArrayLike]) -> float:
    """Return the energy [J] of a mechanism at rest in a pose.

    Args:
        mechanism: any.
        positions: joint or coordinate name -> value.
    """
    sim = Simulator(mechanism)
    sim.reset(positions)
    return float(sim.energy().total)

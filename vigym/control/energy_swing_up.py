"""Swing up by energy: push along the motion while energy is missing, against it where there is too much.

K. J. Åström and K. Furuta, Swinging up a pendulum by energy control, Automatica 36 (2000). There the motor turns what
swings. A motor behind the swinging part, such as the acrobot's elbow, drives it by its reaction: its torque goes
against the swing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.control.actuators import Actuators, Array, Info, coordinates
from vigym.control.lqr import Lqr
from vigym.mechanism.elements.checks import number
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator


class EnergySwingUp:
    """Torque = push sign(rate) clip(pump (wanted - energy)) of one actuator, until `balance` takes over.

    The clip is to [-1, 1]; at rest the swing counts as forwards. Of a batch, each environment may have its own energy,
    push and pump.

    Args:
        mechanism: of an environment with one action, a torque.
        energy: wanted, as `energy_total` tells it: that of `resting_energy` upright, or some more [J].
        swing: name of the joint that swings; None: the actuated one.
        push: largest torque of the pump [N m]; negative: its reaction drives the swing; None: the effort.
        pump: part of the push per energy that is missing [1/J].
        balance: what takes over near a pose; None: nothing does.
        catch: cost to come, as `balance` tells it, below which it takes over.

    Raises:
        MechanismError: motors, or an actuator without a largest torque.
        ValueError: more than one actuator, an unknown joint, a `balance` without cost, or a `catch` that is no number.
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
            raise ValueError(f"swing: found {swing!r}, expected one of {', '.join(mechanism.velocity_names)}")
        self._swing = mechanism.velocity_names.index(swing)
        if balance is not None and not callable(getattr(balance, "cost", None)):
            raise ValueError(f"balance: found {balance!r}, expected a controller that tells its cost, as lqr does")
        self.balance, self.catch = balance, number(catch, "catch", infinite=True)
        self.energy, self.pump = np.asarray(energy, np.float64), np.asarray(pump, np.float64)
        self.push = np.asarray(self._actuators.efforts[0] if push is None else push, np.float64)

    def torque(self, info: Info) -> Array:
        """Return the torque (...,) of the pump [N m] by energy and joint velocities of `info`."""
        _, velocities = coordinates(info)
        part = np.clip(self.pump * (self.energy - np.asarray(info["energy_total"])), -1.0, 1.0)
        return np.asarray(self.push * np.where(velocities[..., self._swing] < 0.0, -part, part))

    def __call__(self, observation: Any, info: Info) -> NDArray[np.float32]:
        """Return the action (..., 1) by energy, joint positions and velocities of `info`."""
        pumped = self._actuators.action(self.torque(info)[..., None])
        if self.balance is None:
            return pumped
        caught = (self.balance.cost(info) < self.catch)[..., None]
        return np.where(caught, self.balance(observation, info), pumped)


def energy_swing_up(mechanism: Mechanism, **parameters: Any) -> EnergySwingUp:
    """Return the controller; `parameters` as of `EnergySwingUp`."""
    return EnergySwingUp(mechanism, **parameters)


def resting_energy(mechanism: Mechanism, positions: Mapping[str, ArrayLike]) -> float:
    """Return the energy [J] of a mechanism at rest at a pose, joint or coordinate name -> value."""
    sim = Simulator(mechanism)
    sim.reset(positions)
    return float(sim.energy().total)

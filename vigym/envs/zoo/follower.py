"""Following of a moving place by a closed mechanism, whose motors take positions."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from vigym import assets
from vigym.envs.rewards import tolerance
from vigym.envs.robots.joint_observation import joint_columns
from vigym.envs.task import Array, Quantities, Task
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator
from vigym.urdf.convert.load import load_urdf


@dataclass(frozen=True, kw_only=True)
class Follower(Task):
    """Mechanism of which some coordinates, its place, are to follow a command.

    Motors take positions: an action of -1 is the lower limit of their joint, 1 the upper one.

    Attributes:
        robot: name of its file in `assets`; property of the task, no option, as all of these.
        place_bounds: names of the followed coordinates, and bounds that are observed [m, rad].
        margins: errors of them at which the reward is a tenth, one for each [m, rad].
        most_rates: bounds of the motors' rates and of the command's that are observed [1/s].
        on_floor: whether pictures have a floor at height 0.
    """

    robot: ClassVar[str]
    place_bounds: ClassVar[Mapping[str, float]]
    margins: ClassVar[tuple[float, ...]]
    most_rates: ClassVar[tuple[float, float]]
    on_floor: ClassVar[bool] = True

    tracking_weight: float = 1.0
    power_weight: float

    @abstractmethod
    def place(self, sim: Simulator) -> Array:
        """Return the followed coordinates (..., n) [m, rad]."""

    @abstractmethod
    def command(self, sim: Simulator) -> tuple[Array, Array]:
        """Return what they are to be, and its rate of change (..., n)."""

    def mechanism(self) -> Mechanism:
        """Return the robot."""
        return load_urdf(assets.path(self.robot), ground=self.on_floor)

    @cached_property
    def motor_range(self) -> tuple[Array, Array]:
        """Lower and upper limits of the motors' joints (n_motors,) [m, rad]."""
        mechanism = self.built
        limits = [mechanism.joints[name].limits for name in mechanism.motor_names]
        low, high = np.array(limits, dtype=np.float64).reshape(-1, 2).T
        return low, high

    @cached_property
    def _motor_columns(self) -> tuple[list[int], list[int]]:
        mechanism = self.built
        return joint_columns(mechanism, mechanism.motor_names)

    def targets(self, action: Array) -> Array:
        """Return positions of the motors (..., n_motors), from limit to limit."""
        low, high = self.motor_range
        return low + 0.5 * (action + 1.0) * (high - low)

    def observation(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return motors, place and command."""
        motors, bounds = mechanism.motor_names, self.place_bounds
        largest = np.abs(self.motor_range).max(axis=0)
        fastest, changing = self.most_rates
        positions = dict(zip(motors, largest.tolist(), strict=True))
        rates = {f"velocity({name})": fastest for name in motors}
        commands = {f"{name}_command": bound for name, bound in bounds.items()}
        changes = {f"{name}_command_rate": changing for name in bounds}
        return {**positions, **rates, **bounds, **commands, **changes}

    def quantities(self, sim: Simulator) -> Quantities:
        """Return place and command, their difference over the margins, and the power."""
        place = self.place(sim)
        command, rate = self.command(sim)
        difference = (place - command) / np.array(self.margins)
        return {
            "place": place,
            "command": command,
            "command_rate": rate,
            "error": np.sqrt(np.add.reduce(difference * difference, axis=-1)),
            "power": sim.readings.power,
        }

    def observe(self, quantities: Quantities) -> Array:
        """Return motors, place and command."""
        positions, velocities = self._motor_columns
        motors = quantities["joint_positions"][..., positions]
        rates = quantities["joint_velocities"][..., velocities]
        names = ("place", "command", "command_rate")
        return np.concatenate((motors, rates, *(quantities[name] for name in names)), axis=-1)

    def rewards(self, quantities: Quantities, action: Array) -> Quantities:
        """Return the terms of tracking and power."""
        return {"tracking": tolerance(quantities["error"]), "power": -quantities["power"]}

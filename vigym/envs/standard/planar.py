"""Runners in a vertical plane: coordinates, rewards and falls that they share."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vigym.envs.options import require_bool
from vigym.envs.standard.base import (
    Range,
    StandardTask,
    as_numbers,
    require_range,
    squared_action,
)
from vigym.envs.task import Array, Flags, Quantities
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator

ROOT_SIGNS = 1.0, 1.0, -1.0  # the file's angle of the trunk is counted the other way
MAX_RATE = 10.0  # of observed velocities of robots that can fall [m/s, rad/s]


@dataclass(frozen=True, kw_only=True)
class PlanarRunner(StandardTask):
    """Robot in a vertical plane that is rewarded for its speed along x."""

    weight_names: ClassVar[Mapping[str, str]] = {
        "forward": "forward_reward_weight",
        "ctrl": "ctrl_cost_weight",
    }

    forward_reward_weight: float = 1.0
    ctrl_cost_weight: float = 0.1
    exclude_current_positions_from_observation: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        option = "exclude_current_positions_from_observation"
        require_bool(option, self.exclude_current_positions_from_observation)

    def travelled(self, sim: Simulator) -> Quantities:
        """Return the place along x [m], whose mean rate is rewarded."""
        return {"x_velocity": sim.joint_positions[..., 0]}

    def observation(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return positions, all or but for the first, and velocities."""
        found = dict(super().observation(mechanism))
        if self.exclude_current_positions_from_observation:
            del found[mechanism.position_names[0]]
        return found

    def quantities(self, sim: Simulator) -> Quantities:
        """Return the coordinates, and the place along x and above the file's zero [m]."""
        x, lift, *_ = np.moveaxis(sim.joint_positions, -1, 0)
        return {**self.coordinates(sim), "x_position": x, "z_distance_from_origin": lift}

    def observe(self, quantities: Quantities) -> Array:
        """Return positions, all or but for the first, and velocities."""
        first = int(self.exclude_current_positions_from_observation)
        positions = quantities["_positions"][..., first:]
        return np.concatenate((positions, quantities["_velocities"]), axis=-1)

    def rewards(self, quantities: Quantities, action: Array) -> Quantities:
        """Return the terms of speed and control."""
        return {"forward": quantities["x_velocity"], "ctrl": -squared_action(action)}


@dataclass(frozen=True, kw_only=True)
class PlanarWalker(PlanarRunner):
    """Robot in a vertical plane that can fall; observed velocities are clipped."""

    weight_names: ClassVar[Mapping[str, str]] = {
        **PlanarRunner.weight_names,
        "survive": "healthy_reward",
    }
    zero: ClassVar[tuple[float, ...]]

    ctrl_cost_weight: float = 1e-3
    healthy_reward: float = 1.0
    terminate_when_unhealthy: bool = True
    healthy_z_range: Range
    healthy_angle_range: Range

    def __post_init__(self) -> None:
        super().__post_init__()
        require_bool("terminate_when_unhealthy", self.terminate_when_unhealthy)
        require_range("healthy_z_range", self.healthy_z_range)
        require_range("healthy_angle_range", self.healthy_angle_range)

    def observe(self, quantities: Quantities) -> Array:
        """Return positions, all or but for the first, and clipped velocities."""
        clipped = np.clip(quantities["_velocities"], -MAX_RATE, MAX_RATE)
        return super().observe({**quantities, "_velocities": clipped})

    def healthy(self, quantities: Quantities) -> Flags:
        """Return whether the robot is up (...,): height and angle of the trunk are in range."""
        _, z, angle, *_ = np.moveaxis(quantities["_positions"], -1, 0)
        found: Flags = within(z, self.healthy_z_range) & within(angle, self.healthy_angle_range)
        return found

    def rewards(self, quantities: Quantities, action: Array) -> Quantities:
        """Return the terms of speed, control and being up."""
        up = as_numbers(self.healthy(quantities))
        return {**super().rewards(quantities, action), "survive": up}

    def terminated(self, quantities: Quantities) -> Flags:
        """Return whether the robot has fallen, if that ends episodes."""
        fallen: Flags = np.logical_not(self.healthy(quantities))
        return fallen & self.terminate_when_unhealthy


def within(value: Array, limits: Range) -> Flags:
    """Return whether values (...,) are between two limits, which are outside."""
    found: Flags = (value > limits[0]) & (value < limits[1])
    return found

"""Runners in a vertical plane."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vigym.envs.standard.base import Range, Runner, Walker, within
from vigym.envs.task import Array, Flags, Quantities
from vigym.simulation.simulator import Simulator

ROOT_SIGNS = 1.0, 1.0, -1.0  # the file's angle of the trunk is counted the other way
MAX_RATE = 10.0  # of observed velocities of robots that can fall [m/s, rad/s]


@dataclass(frozen=True, kw_only=True)
class PlanarRunner(Runner):
    """Runner in a vertical plane."""

    def travelled(self, sim: Simulator) -> Quantities:
        """Return the place along x [m], whose mean rate is rewarded."""
        return {"x_velocity": sim.joint_positions[..., 0]}

    def quantities(self, sim: Simulator) -> Quantities:
        """Return the coordinates, and the place along x and above the file's zero [m]."""
        x, lift, *_ = np.moveaxis(sim.joint_positions, -1, 0)
        return {**self.coordinates(sim), "x_position": x, "z_distance_from_origin": lift}


@dataclass(frozen=True, kw_only=True)
class PlanarWalker(PlanarRunner, Walker):
    """Runner in a vertical plane that can fall; observed velocities are clipped."""

    zero: ClassVar[tuple[float, ...]]

    ctrl_cost_weight: float = 1e-3
    healthy_angle_range: Range

    def observe(self, quantities: Quantities) -> Array:
        """Return positions, all or but for the place, then clipped velocities."""
        clipped = np.clip(quantities["_velocities"], -MAX_RATE, MAX_RATE)
        return super().observe({**quantities, "_velocities": clipped})

    def healthy(self, quantities: Quantities) -> Flags:
        """Return whether the robot is up (...,): height and angle of the trunk are in range."""
        angle = quantities["_positions"][..., 2]
        found: Flags = super().healthy(quantities) & within(angle, self.healthy_angle_range)
        return found

"""Start, coordinates and options that the standard tasks share."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from vigym import assets
from vigym.envs.arrays import Array, Flags
from vigym.envs.options import require
from vigym.envs.task import Quantities, Task
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator
from vigym.urdf.convert.load import load_urdf

UNBOUNDED = float("inf")
Range = tuple[float, float]


def require_range(option: str, found: Range) -> None:
    """Raise ValueError unless an option is a pair of numbers, the lower one first."""
    pair = isinstance(found, tuple | list) and len(found) == 2
    real = pair and all(isinstance(value, int | float) for value in found)
    require(real and found[0] < found[1], option, found, "two numbers (low, high), low < high")


@dataclass(frozen=True, kw_only=True)
class StandardTask(Task):
    """Start and coordinates of a standard task; its spaces have no bounds.

    Attributes:
        robot: name of its file in `assets`; property of the task, no option, as all of these.
        signs: of the file's coordinates in those that are observed, one for each or one for all.
        zero: observed position at the file's zero, a number for each or one for all [m, rad].
        normal_rates: whether the noise on velocities is normal, not uniform.
    """

    robot: ClassVar[str]
    signs: ClassVar[tuple[float, ...]] = (1.0,)
    zero: ClassVar[tuple[float, ...]] = (0.0,)
    normal_rates: ClassVar[bool] = False

    def mechanism(self) -> Mechanism:
        """Return the robot on the ground, which no shape of some robots touches."""
        mechanism = load_urdf(assets.path(self.robot))
        if mechanism.collisions:
            mechanism.ground = True
        return mechanism

    def initial(self, mechanism: Mechanism, rng: np.random.Generator) -> tuple[Array, Array]:
        """Return the file's zero with noise on all coordinates, within the limits of joints."""
        signs, _ = self._map
        positions, velocities = self.noise(mechanism, rng)
        return self.within_limits(signs * positions), signs * velocities

    def noise(self, mechanism: Mechanism, rng: np.random.Generator) -> tuple[Array, Array]:
        """Return the noise on observed positions and velocities, drawn as Gymnasium does."""
        scale = self.reset_noise_scale
        positions = rng.uniform(-scale, scale, len(mechanism.position_names))
        count = len(mechanism.velocity_names)
        if self.normal_rates:
            return positions, scale * rng.standard_normal(count)
        return positions, rng.uniform(-scale, scale, count)

    def within_limits(self, positions: Array) -> Array:
        """Return positions of the file (n,), those beyond limits at these."""
        return np.clip(positions, *self._limits)

    @cached_property
    def _limits(self) -> tuple[Array, Array]:
        """Least and largest positions (n,), without limits infinite."""
        limits: list[tuple[float, float]] = []
        for joint in self.mechanism().ordered_joints:
            free = [(-UNBOUNDED, UNBOUNDED)] * len(joint.joint_type.positions)
            limits += free if joint.limits is None else [(low, high) for low, high in joint.limits]
        low, high = np.array(limits).T
        return low, high

    @cached_property
    def _map(self) -> tuple[Array, Array]:
        return np.array(self.signs), np.array(self.zero)

    def coordinates(self, sim: Simulator) -> Quantities:
        """Return the positions (..., n) and velocities (..., m) that are observed."""
        signs, zero = self._map
        positions, velocities, _ = sim.readings.coordinates
        return {"_positions": signs * positions + zero, "_velocities": signs * velocities}

    def observation(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return all positions, then all velocities."""
        velocities = [f"velocity({name})" for name in mechanism.velocity_names]
        return dict.fromkeys([*mechanism.position_names, *velocities], UNBOUNDED)

    def observe(self, quantities: Quantities) -> Array:
        """Return all positions, then all velocities (..., n + m)."""
        return np.concatenate((quantities["_positions"], quantities["_velocities"]), axis=-1)


def as_numbers(flags: Flags) -> Array:
    """Return 1 where a flag is set, else 0 (...,)."""
    numbers: Array = flags * 1.0  # type: ignore[assignment]
    return numbers


def squared_action(action: Array) -> Array:
    """Return the sum of the squares of an action (..., n)."""
    total: Array = np.add.reduce(action * action, axis=-1)
    return total

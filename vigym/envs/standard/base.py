"""Start, coordinates and options that the standard tasks share."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import ClassVar

import numpy as np

from vigym import assets
from vigym.envs.arrays import Array, Flags
from vigym.envs.options import require, require_bool
from vigym.envs.task import Quantities, Task
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator
from vigym.urdf.convert.load import load_urdf

UNBOUNDED = float("inf")
Range = tuple[float, float]


def require_range(option: str, found: Range) -> None:
    """Raise ValueError unless an option is a pair of numbers, the lower one first."""
    real = int | float | np.integer | np.floating
    pair = isinstance(found, tuple | list | np.ndarray)
    pair = pair and len(found) == 2 and all(isinstance(value, real) for value in found)
    pair = pair and bool not in map(type, found)
    require(pair and found[0] < found[1], option, found, "two numbers (low, high), low < high")


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
        """Return the robot, on the ground if anything of it can touch."""
        mechanism = load_urdf(assets.path(self.robot))
        if mechanism.collisions:
            mechanism.ground = True
        return mechanism

    def initial(self, mechanism: Mechanism, rng: np.random.Generator) -> tuple[Array, Array]:
        """Return the file's zero with noise on all coordinates, within the limits of joints."""
        positions, velocities = self.noise(mechanism, rng)
        signs = np.array(self.signs)
        return np.clip(signs * positions, *self._limits), signs * velocities

    def noise(self, mechanism: Mechanism, rng: np.random.Generator) -> tuple[Array, Array]:
        """Return the noise on observed positions and velocities, drawn as Gymnasium does."""
        scale, count = self.reset_noise_scale, len(mechanism.velocity_names)
        positions = rng.uniform(-scale, scale, len(mechanism.position_names))
        normal = self.normal_rates
        rates = rng.standard_normal(count) if normal else rng.uniform(-1.0, 1.0, count)
        return positions, scale * rates

    @cached_property
    def _limits(self) -> tuple[Array, Array]:
        """Least and largest positions (n,), without limits infinite."""
        limits: list[tuple[float, float]] = []
        for joint in self.built.ordered_joints:
            free = [(-UNBOUNDED, UNBOUNDED)] * len(joint.joint_type.positions)
            limits += free if joint.limits is None else [(low, high) for low, high in joint.limits]
        low, high = np.array(limits).T
        return low, high

    def coordinates(self, sim: Simulator) -> Quantities:
        """Return the positions (..., n) and velocities (..., m) that are observed."""
        positions, velocities, _ = sim.readings.coordinates
        signs, zero = np.array(self.signs), np.array(self.zero)
        return {"_positions": signs * positions + zero, "_velocities": signs * velocities}

    def observation(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return all positions, then all velocities."""
        velocities = [f"velocity({name})" for name in mechanism.velocity_names]
        return dict.fromkeys([*mechanism.position_names, *velocities], UNBOUNDED)

    def observe(self, quantities: Quantities) -> Array:
        """Return all positions, then all velocities (..., n + m)."""
        return np.concatenate((quantities["_positions"], quantities["_velocities"]), axis=-1)


@dataclass(frozen=True, kw_only=True)
class Runner(StandardTask):
    """Robot that is rewarded for its speed along x; its place is not observed by default.

    Attributes:
        places: number of the first positions, those of the place; the next one is the height.
    """

    weight_names: ClassVar[Mapping[str, str]] = {
        "forward": "forward_reward_weight",
        "ctrl": "ctrl_cost_weight",
    }
    places: ClassVar[int] = 1

    forward_reward_weight: float = 1.0
    ctrl_cost_weight: float = 0.1
    exclude_current_positions_from_observation: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for each in fields(self):
            if each.type in (bool, "bool"):
                require_bool(each.name, getattr(self, each.name))
            elif each.name.endswith("_range"):
                require_range(each.name, getattr(self, each.name))

    @property
    def _first(self) -> int:
        """Number of positions that are not observed."""
        return self.places * self.exclude_current_positions_from_observation

    def observation(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return positions, all or but for the place, then all velocities."""
        names = list(super().observation(mechanism))
        return dict.fromkeys(names[self._first :], UNBOUNDED)

    def observe(self, quantities: Quantities) -> Array:
        """Return positions, all or but for the place, then all velocities."""
        return super().observe(quantities)[..., self._first :]

    def rewards(self, quantities: Quantities, action: Array) -> Quantities:
        """Return the terms of speed and control."""
        return {"forward": quantities["x_velocity"], "ctrl": -sum_of_squares(action)}


@dataclass(frozen=True, kw_only=True)
class Walker(Runner):
    """Runner that can fall."""

    weight_names: ClassVar[Mapping[str, str]] = {
        **Runner.weight_names,
        "survive": "healthy_reward",
    }

    healthy_reward: float = 1.0
    terminate_when_unhealthy: bool = True
    healthy_z_range: Range

    def healthy(self, quantities: Quantities) -> Flags:
        """Return whether the robot is up (...,): its height is in range."""
        return within(quantities["_positions"][..., self.places], self.healthy_z_range)

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


def as_numbers(flags: Flags) -> Array:
    """Return 1 where a flag is set, else 0 (...,)."""
    numbers: Array = flags * 1.0  # type: ignore[assignment]
    return numbers


def sum_of_squares(values: Array) -> Array:
    """Return the sums (...,) of the squares of values (..., n)."""
    total: Array = np.add.reduce(values * values, axis=-1)
    return total

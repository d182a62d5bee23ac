"""What an environment is: constants and hooks. How it is run (episodes, spaces, seeds, pictures) is in base."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from vigym.mechanism.mechanism import Mechanism
    from vigym.simulation.simulator import Simulator

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Quantities = dict[str, Array]
Start = Array | Mapping[str, ArrayLike]  # all joint coordinates, or some by joint name: loops close with the others

_WEIGHT = "_weight"


@dataclass(frozen=True, kw_only=True)
class Task(ABC):
    """Constants and hooks of one environment.

    The fields are the options a user may give to `gymnasium.make`; a field `<term>_weight` is the weight of the
    reward term `<term>`. Hooks are array expressions over leading dimensions `...`: () for one environment,
    (n,) for a batch (`vigym.envs.arrays.parts` makes those of one quick); `initial` alone serves one environment,
    since each has its own random stream.

    Attributes:
        timestep: step of the integrator [s].
        frame_skip: integrator steps per control step.
        reset_noise_scale: size of the random part of the initial state; 0 starts always the same.
        grounded: no option but a property of the task: floating bodies start where they just touch the ground.
        aims_to_end: another one: `terminated` tells that the aim is reached; else that the episode has failed.

    Raises:
        ValueError: an option out of range.
    """

    grounded: ClassVar[bool] = False
    aims_to_end: ClassVar[bool] = False

    timestep: float = 0.01
    frame_skip: int = 5
    reset_noise_scale: float = 0.1

    def __post_init__(self) -> None:
        require_positive("timestep", self.timestep, "seconds")
        whole = isinstance(self.frame_skip, int | np.integer) and not isinstance(self.frame_skip, bool)
        require(whole and self.frame_skip >= 1, "frame_skip", self.frame_skip, "a whole number >= 1")
        noise = self.reset_noise_scale
        require(is_number(noise) and noise >= 0.0, "reset_noise_scale", noise, "a number >= 0")
        for term, weight in self.weights.items():
            require(is_number(weight), term + _WEIGHT, weight, "a finite number")

    @cached_property
    def weights(self) -> dict[str, float]:
        """Weight of every reward term."""
        names = [field.name for field in fields(self) if field.name.endswith(_WEIGHT)]
        return {name.removesuffix(_WEIGHT): getattr(self, name) for name in names}

    @abstractmethod
    def mechanism(self) -> "Mechanism":
        """Return the mechanism the task is about."""

    @abstractmethod
    def initial(self, mechanism: "Mechanism", rng: np.random.Generator) -> tuple[Start, Start]:
        """Return joint positions (n_positions,) and velocities (n_velocities,) [rad, m, s] of a new episode.

        With loops: those of independent joints, by name; the others follow.
        """

    def targets(self, action: Array) -> Array | None:
        """Return the motors' targets (..., n_motors) [rad, m, per s] that `action` (..., n_actuated) in [-1, 1] means.

        By default None: actions are torques, scaled by the efforts.
        """
        return None

    @abstractmethod
    def observation(self, mechanism: "Mechanism") -> Mapping[str, float]:
        """Return name and bound of every entry of the observation: entries lie in [-bound, bound]."""

    @abstractmethod
    def quantities(self, sim: "Simulator") -> Quantities:
        """Return what a person would plot, each (...,) or (..., n): the other hooks and `info` read it."""

    @abstractmethod
    def observe(self, now: Quantities) -> Array:
        """Return the observation (..., n_observations) of the quantities `now`; the base clips it to its bounds."""

    @abstractmethod
    def rewards(self, now: Quantities, action: Array) -> Quantities:
        """Return the unweighted reward terms, each (...,), after `action` (..., n_actuated) in [-1, 1] led to `now`."""

    def terminated(self, now: Quantities) -> Flags:
        """Return whether the episode is over before its time (...,): failed, or done where that is the aim."""
        return np.zeros(now["joint_positions"].shape[:-1], dtype=np.bool_)


def require_positive(option: str, found: object, unit: str) -> None:
    """Raise ValueError unless an option is a finite number above zero."""
    require(is_number(found) and found > 0.0, option, found, f"{unit} > 0")  # type: ignore[operator]


def is_number(value: object) -> bool:
    """Whether an option is a finite real number."""
    return isinstance(value, int | float | np.number) and bool(np.isfinite(value))


def require(fine: bool, option: str, found: object, expected: str) -> None:
    """Raise ValueError where an option is not fine: what was found, and what was expected in words."""
    if not fine:
        raise ValueError(f"option {option}: found {found!r}, expected {expected}")

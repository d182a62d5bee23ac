"""What the wrappers make of the physics in `info`: one definition for one environment and for a vector of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

# Physics that costs something, by the name it has in terms: key of `info`.
QUANTITIES = {
    "mechanical_power": "power_mech",  # sum of |torque x rate| over the actuators, mean of a step [W]
    "torque_squared": "torque_squared",  # sum of torque^2 over the actuators [N^2, N^2 m^2]
    "drift": "energy_balance",  # E - E0 - work + dissipated: energy made or lost by the integrator [J]
    "constraint": "constraint_residual_max",  # largest gap of a joint [m or rad]
    "cost_of_transport": "cost_of_transport",  # power over weight and speed, of what moves along a way
    "penetration": "penetration",  # deepest contact below the ground [m]
    "slip": "slip",  # fastest sliding of a contact that carries a force [m/s]
}
ENERGY_KINDS = ("mechanical_power", "torque_squared", "drift")


class Term(Protocol):
    """What a wrapper adds to a step."""

    def __call__(self, info: Mapping[str, Any]) -> Any:
        """Return the value of a step that led to `info`, over its leading dimensions `...`."""

    def noted(self, value: Any) -> dict[str, Any]:
        """Return what `info` has of it, by key; it is added to what is there under the same key."""

    def rewarded(self, reward: Any, value: Any) -> Any:
        """Return the reward of the step."""


@dataclass(frozen=True)
class PhysicsTerm:
    """The reward term -weight |quantity|, added to `info` as `reward_<kind>`.

    Attributes:
        kind: one of `QUANTITIES`.
        weight: per unit of the quantity, >= 0.

    Raises:
        ValueError: an unknown kind, or a weight that is not a finite number >= 0.
    """

    kind: str
    weight: float

    def __post_init__(self) -> None:
        require_kind(self.kind, QUANTITIES)
        require_number(f"weight of reward_{self.kind}", self.weight)

    def __call__(self, info: Mapping[str, Any]) -> Any:
        """Return the term (...,).

        Raises:
            KeyError: the environment does not report the quantity.
        """
        return -self.weight * magnitude(info, self.kind, f"reward_{self.kind}")

    def noted(self, value: Any) -> dict[str, Any]:
        """Return the term as `reward_<kind>`."""
        return {f"reward_{self.kind}": value}

    def rewarded(self, reward: Any, value: Any) -> Any:
        """Return the sum of both."""
        return reward + value


@dataclass(frozen=True)
class CostTerm:
    """What a step costs, in `info` as `cost` and `cost_<kind>`; the reward stays as it is.

    Attributes:
        kind: one of `QUANTITIES`.
        limit: the cost is 1 where |quantity| is beyond it and else 0; None: it is |quantity| itself.

    Raises:
        ValueError: an unknown kind, or a limit that is not a finite number >= 0.
    """

    kind: str
    limit: float | None

    def __post_init__(self) -> None:
        require_kind(self.kind, QUANTITIES)
        if self.limit is not None:
            require_number("limit", self.limit)

    def __call__(self, info: Mapping[str, Any]) -> Any:
        """Return the cost (...,).

        Raises:
            KeyError: the environment does not report the quantity.
        """
        size = magnitude(info, self.kind, f"cost_{self.kind}")
        return size if self.limit is None else np.asarray(size > self.limit, dtype=np.float64)[()]

    def noted(self, value: Any) -> dict[str, Any]:
        """Return the cost under both keys."""
        return {"cost": value, f"cost_{self.kind}": value}

    def rewarded(self, reward: Any, value: Any) -> Any:
        """Return the reward."""
        return reward


@dataclass(frozen=True)
class Objectives:
    """A reward for each of several objectives, in place of their sum.

    Attributes:
        names: terms of the reward, `reward_<name>` in `info`, or physics, -|quantity| of one of `QUANTITIES`.
    """

    names: tuple[str, ...]

    def __call__(self, info: Mapping[str, Any]) -> NDArray[np.float32]:
        """Return the rewards (..., n_objectives).

        Raises:
            KeyError: the environment does not report one of them.
        """
        values = [
            info[f"reward_{name}"] if f"reward_{name}" in info else -magnitude(info, name, f"objective {name!r}")
            for name in self.names
        ]
        return np.stack(values, axis=-1).astype(np.float32)

    def noted(self, value: Any) -> dict[str, Any]:
        """Return nothing: `info` has all of it."""
        return {}

    def rewarded(self, reward: Any, value: Any) -> Any:
        """Return the rewards of the objectives."""
        return value


def objectives_of(env: Any, names: Sequence[str] | None) -> Objectives:
    """Return the named objectives of a wrapped environment, or of a vector of them; None: all terms of its reward.

    Raises:
        TypeError: names that are no sequence, or not an environment of vigym.
        ValueError: no name, one twice, or one that is neither a term of its reward nor of `QUANTITIES`.
    """
    task = getattr(env.unwrapped, "task", None)
    if task is None:
        raise TypeError(f"env: found {env}, expected a vigym environment, whose reward has terms")
    terms = [*task.weights, *added_terms(env)]
    if isinstance(names, str):
        raise TypeError(f"objectives: found {names!r}, expected a sequence of names")
    chosen = tuple(dict.fromkeys(terms)) if names is None else tuple(names)
    for name in chosen:
        if name not in terms and name not in QUANTITIES:
            raise ValueError(f"objectives: found {name!r}, expected names among {sorted({*terms, *QUANTITIES})}")
    if not chosen or len(set(chosen)) < len(chosen):
        raise ValueError(f"objectives: found {list(chosen)}, expected at least one name, each once")
    return Objectives(chosen)


def added_terms(env: Any) -> list[str]:
    """Return the names of the reward terms that wrappers add."""
    names = []
    while hasattr(env, "env"):
        if isinstance(getattr(env, "term", None), PhysicsTerm):
            names.append(env.term.kind)
        env = env.env
    return names[::-1]


def reward_space(objectives: Objectives) -> gym.spaces.Box:
    """Return the space of the rewards of one environment (n_objectives,)."""
    return gym.spaces.Box(-np.inf, np.inf, (len(objectives.names),), dtype=np.float32)


def magnitude(info: Mapping[str, Any], kind: str, wanted_by: str) -> Any:
    """Return |quantity| of a kind (...,).

    Raises:
        KeyError: the environment does not report it.
    """
    key = QUANTITIES[kind]
    if key not in info:
        raise KeyError(f"{wanted_by} needs info[{key!r}]: found no such key, expected a vigym environment that has it")
    return np.abs(info[key])


def require_kind(kind: str, known: Sequence[str] | Mapping[str, str]) -> None:
    """Raise ValueError unless the kind is known."""
    if kind not in known:
        raise ValueError(f"kind: found {kind!r}, expected one of {list(known)}")


def require_number(name: str, value: object) -> None:
    """Raise ValueError unless a value is a finite number >= 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value < np.inf:
        raise ValueError(f"{name}: found {value!r}, expected a finite number >= 0")

"""Terms that wrappers compute from the physics in `info`, of one environment or of a vector."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from vigym.envs.options import is_number

# Key of `info` by the name of the quantity in terms.
QUANTITIES = {
    "mechanical_power": "power_mech",  # sum of |torque x rate|, mean over the step [W]
    "torque_squared": "torque_squared",  # sum of torque^2 over the actuators [N^2, N^2 m^2]
    "drift": "energy_balance",  # E - E0 - work + dissipated: integrator error [J]
    "constraint": "constraint_residual_max",  # largest position residual of a joint [m or rad]
    "cost_of_transport": "cost_of_transport",  # power over weight and speed
    "penetration": "penetration",  # deepest contact below the ground [m]
    "slip": "slip",  # fastest sliding of a loaded contact [m/s]
}
ENERGY_KINDS = ("mechanical_power", "torque_squared", "drift")


class Term(Protocol):
    """Addition of a wrapper to a step."""

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of `info` that it reads."""

    def __call__(self, info: Mapping[str, Any]) -> Any:
        """Return the value of a step that led to `info`, over its leading dimensions `...`."""

    def info_entries(self, value: Any) -> dict[str, Any]:
        """Return the entries of `info`; each is added to the value already there."""

    def reward(self, reward: Any, value: Any) -> Any:
        """Return the reward of the step with the term."""


@dataclass(frozen=True)
class PenaltyTerm:
    """Reward term -weight |quantity|, added to `info` as `reward_<kind>`.

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

    @property
    def keys(self) -> tuple[str, ...]:
        """Key of the quantity."""
        return (QUANTITIES[self.kind],)

    def __call__(self, info: Mapping[str, Any]) -> Any:
        """Return the term (...,).

        Raises:
            KeyError: the environment does not report the quantity.
        """
        return -self.weight * magnitude(info, self.kind, f"reward_{self.kind}")

    def info_entries(self, value: Any) -> dict[str, Any]:
        """Return the term as `reward_<kind>`."""
        return {f"reward_{self.kind}": value}

    def reward(self, reward: Any, value: Any) -> Any:
        """Return the sum of both."""
        return reward + value


@dataclass(frozen=True)
class CostTerm:
    """Cost of a step, in `info` as `cost` and `cost_<kind>`; the reward is unchanged.

    Attributes:
        kind: one of `QUANTITIES`.
        limit: the cost is 1 where |quantity| exceeds it and else 0; None: it is |quantity|.

    Raises:
        ValueError: an unknown kind, or a limit that is not a finite number >= 0.
    """

    kind: str
    limit: float | None

    def __post_init__(self) -> None:
        require_kind(self.kind, QUANTITIES)
        if self.limit is not None:
            require_number("limit", self.limit)

    @property
    def keys(self) -> tuple[str, ...]:
        """Key of the quantity."""
        return (QUANTITIES[self.kind],)

    def __call__(self, info: Mapping[str, Any]) -> Any:
        """Return the cost (...,).

        Raises:
            KeyError: the environment does not report the quantity.
        """
        size = magnitude(info, self.kind, f"cost_{self.kind}")
        return size if self.limit is None else np.asarray(size > self.limit, dtype=np.float64)[()]

    def info_entries(self, value: Any) -> dict[str, Any]:
        """Return the cost under both keys."""
        return {"cost": value, f"cost_{self.kind}": value}

    def reward(self, reward: Any, value: Any) -> Any:
        """Return the reward."""
        return reward


@dataclass(frozen=True)
class Objectives:
    """Reward for each of several objectives, in place of their sum.

    Attributes:
        names: terms of the reward, `reward_<name>` in `info`, or names of `QUANTITIES`, which give
            -|quantity|.
        keys: keys of `info` that are read.
    """

    names: tuple[str, ...]
    keys: tuple[str, ...]

    def __call__(self, info: Mapping[str, Any]) -> NDArray[np.float32]:
        """Return the rewards (..., n_objectives).

        Raises:
            KeyError: the environment does not report one of them.
        """
        return np.stack([self._value(info, name) for name in self.names], axis=-1).astype(
            np.float32
        )

    def _value(self, info: Mapping[str, Any], name: str) -> Any:
        term = f"reward_{name}"
        return info[term] if term in info else -magnitude(info, name, f"objective {name!r}")

    def info_entries(self, value: Any) -> dict[str, Any]:
        """Return nothing: `info` has all of it."""
        return {}

    def reward(self, reward: Any, value: Any) -> Any:
        """Return the rewards of the objectives."""
        return value


def energy_penalty(kind: str, weight: float) -> PenaltyTerm:
    """Return the penalty on a kind of energy.

    Raises:
        ValueError: a kind that is not in `ENERGY_KINDS`, or a weight out of range.
    """
    require_kind(kind, ENERGY_KINDS)
    return PenaltyTerm(kind, weight)


def objectives_of(env: Any, names: Sequence[str] | None) -> Objectives:
    """Return the named objectives of an environment or a vector of them; None: all reward terms.

    Raises:
        TypeError: names that are no sequence, or not an environment of vigym.
        ValueError: no name, one twice, or one that is neither a reward term nor in `QUANTITIES`.
    """
    task = getattr(env.unwrapped, "task", None)
    if task is None:
        raise TypeError(f"env: found {env}, expected a vigym environment, whose reward has terms")
    terms = [*task.weights, *added_terms(env)]
    if isinstance(names, str):
        raise TypeError(f"objectives: found {names!r}, expected a sequence of names")
    objectives = tuple(dict.fromkeys(terms)) if names is None else tuple(names)
    for name in objectives:
        if name not in terms and name not in QUANTITIES:
            expected = sorted({*terms, *QUANTITIES})
            raise ValueError(f"objectives: found {name!r}, expected names among {expected}")
    if not objectives or len(set(objectives)) < len(objectives):
        found = list(objectives)
        raise ValueError(f"objectives: found {found}, expected at least one name, each once")
    keys = [f"reward_{name}" if name in terms else QUANTITIES[name] for name in objectives]
    return Objectives(objectives, tuple(keys))


def require_reported(env: Any, term: Term) -> None:
    """Raise ValueError if the `info_keys` of a vector leave out entries that a term reads."""
    reported = getattr(env.unwrapped, "info_keys", None)
    if reported is None:
        return
    added = [f"reward_{name}" for name in added_terms(env)]
    missing = [key for key in term.keys if key not in (*reported, *added)]
    if missing:
        expected = f"{missing} in the option info_keys of gymnasium.make_vec, or no such option"
        raise ValueError(f"info_keys: found {list(reported)}, expected {expected}")


def added_terms(env: Any) -> list[str]:
    """Return the names of the reward terms that wrappers add."""
    names = []
    while hasattr(env, "env"):
        if isinstance(getattr(env, "term", None), PenaltyTerm):
            names.append(env.term.kind)
        env = env.env
    return names[::-1]


def reward_space(objectives: Objectives) -> gym.spaces.Box:
    """Return the space of the rewards of one environment (n_objectives,)."""
    return gym.spaces.Box(-np.inf, np.inf, (len(objectives.names),), dtype=np.float32)


def magnitude(info: Mapping[str, Any], kind: str, needed_by: str) -> Any:
    """Return the absolute value (...,) of a physics quantity.

    Raises:
        KeyError: the environment does not report it.
    """
    key = QUANTITIES[kind]
    if key not in info:
        expected = "a vigym environment that has it"
        raise KeyError(f"{needed_by} needs info[{key!r}]: found no such key, expected {expected}")
    return np.abs(info[key])


def require_kind(kind: str, known: Sequence[str] | Mapping[str, str]) -> None:
    """Raise ValueError unless the kind is known."""
    if kind not in known:
        raise ValueError(f"kind: found {kind!r}, expected one of {list(known)}")


def require_number(name: str, value: object) -> None:
    """Raise ValueError unless a value is a finite number >= 0."""
    if isinstance(value, bool) or not is_number(value) or value < 0.0:  # type: ignore[operator]
        raise ValueError(f"{name}: found {value!r}, expected a finite number >= 0")

"""Terms that wrappers compute from the physics in `info`, of one environment or of a vector."""

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

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


@dataclass(frozen=True)
class Term:
    """Addition of a wrapper to a step.

    Attributes:
        name: of the function of `vigym.wrappers` that adds it.
        keys: of the entries of `info` that it reads.
        value: function of these entries, each (...,), that returns the value of the term.
        reward: function of the reward of a step and the value that returns the new reward.
        entries: keys of `info` that report the value; it is added to a value already there.
    """

    name: str
    keys: tuple[str, ...]
    value: Callable[..., Any]
    reward: Callable[[Any, Any], Any]
    entries: tuple[str, ...]

    def __call__(self, info: Mapping[str, Any]) -> Any:
        """Return the value of a step that led to `info`, over its leading dimensions `...`.

        Raises:
            KeyError: the environment does not report a quantity.
        """
        for key in self.keys:
            if key not in info:
                expected = "a vigym environment that has it"
                raise KeyError(
                    f"{self.name} needs info[{key!r}]: found no such key, expected {expected}"
                )
        return self.value(*(info[key] for key in self.keys))


def penalty(name: str, kind: str, weight: float) -> Term:
    """Return the reward term -weight |quantity|, added to `info` as `reward_<kind>`.

    Raises:
        ValueError: a weight that is not a finite number >= 0.
    """
    entry = f"reward_{kind}"
    require_number(f"weight of {entry}", weight)
    return Term(name, (QUANTITIES[kind],), partial(_penalty, weight), operator.add, (entry,))


def _penalty(weight: float, quantity: Any) -> Any:
    return -weight * np.abs(quantity)


def cost(name: str, kind: str, limit: float | None) -> Term:
    """Return the cost of a step, in `info` as `cost` and `cost_<kind>`; the reward is unchanged.

    Args:
        name: of the wrapper.
        kind: one of `QUANTITIES`.
        limit: the cost is 1 where |quantity| exceeds it and else 0; None: it is |quantity|.

    Raises:
        ValueError: an unknown kind, or a limit that is not a finite number >= 0.
    """
    require_kind(kind, QUANTITIES)
    if limit is not None:
        require_number("limit", limit)
    entries = ("cost", f"cost_{kind}")
    return Term(name, (QUANTITIES[kind],), partial(_cost, limit), _unchanged, entries)


def _cost(limit: float | None, quantity: Any) -> Any:
    size = np.abs(quantity)
    return size if limit is None else 1.0 * (size > limit)


def _unchanged(reward: Any, value: Any) -> Any:
    return reward


def objectives_of(name: str, env: Any, names: Sequence[str] | None) -> Term:
    """Return rewards (..., n_objectives), one for each objective, in place of their sum.

    Args:
        name: of the wrapper.
        env: an environment or a vector of them.
        names: of terms of its reward, or of `QUANTITIES`, which give -|quantity|; None: all terms.

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
    for each in objectives:
        if each not in terms and each not in QUANTITIES:
            expected = sorted({*terms, *QUANTITIES})
            raise ValueError(f"objectives: found {each!r}, expected names among {expected}")
    if not objectives or len(set(objectives)) < len(objectives):
        found = list(objectives)
        raise ValueError(f"objectives: found {found}, expected at least one name, each once")
    keys = tuple(f"reward_{each}" if each in terms else QUANTITIES[each] for each in objectives)
    return Term(name, keys, partial(_objectives, keys), _replaced, ())


def _objectives(keys: tuple[str, ...], *entries: Any) -> NDArray[np.float32]:
    pairs = zip(keys, entries, strict=True)
    values = [entry if key.startswith("reward_") else -np.abs(entry) for key, entry in pairs]
    return np.stack(values, axis=-1).astype(np.float32)


def _replaced(reward: Any, value: Any) -> Any:
    return value


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
    """Return the names of the reward terms that wrappers add, those of inner wrappers first."""
    names: list[str] = []
    while hasattr(env, "env"):
        if isinstance(term := getattr(env, "term", None), Term):
            keys = [key for key in term.entries if key.startswith("reward_")]
            names += [key.removeprefix("reward_") for key in keys]
        env = env.env
    return names[::-1]


def require_kind(kind: str, known: Sequence[str] | Mapping[str, str]) -> None:
    """Raise ValueError unless the kind is known."""
    if kind not in known:
        raise ValueError(f"kind: found {kind!r}, expected one of {list(known)}")


def require_number(name: str, value: object) -> None:
    """Raise ValueError unless a value is a finite number >= 0."""
    if isinstance(value, bool) or not is_number(value) or value < 0.0:  # type: ignore[operator]
        raise ValueError(f"{name}: found {value!r}, expected a finite number >= 0")

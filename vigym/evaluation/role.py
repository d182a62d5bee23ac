"""What a controller is made for, and the two ways in which one plays episodes side by side."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np

from vigym.evaluation.episodes import Array, Flags

Controller = Callable[[Any, Mapping[str, Any]], Any]
EXPECTED = (
    "a callable of observation, info that returns an action, or a class or function that makes one, of the environment "
    "or of nothing"
)


@dataclass(frozen=True, eq=False)
class Role:
    """What a controller is made for: the id, one environment of it, and the seeds of the episodes side by side."""

    id: str
    env: gymnasium.Env[Any, Any]
    seeds: list[int]

    @property
    def actions(self) -> int:
        """Number of actions."""
        assert self.env.action_space.shape is not None
        return self.env.action_space.shape[0]


class Together:
    """A controller that is called once for all episodes."""

    def __init__(self, controller: Controller, role: Role, name: str) -> None:
        self.controller, self.name, self.shape = controller, name, (len(role.seeds), role.actions)

    def __call__(self, observations: Array, infos: Mapping[str, Any], playing: Flags) -> Array:
        """Return the actions of all episodes."""
        return _checked(_asked(self.controller, observations, infos, self.name), self.shape, self.name)


class Each:
    """Controllers that are called for one episode each, with `observation` and `info` as of a single environment."""

    def __init__(self, controllers: list[Controller], role: Role, name: str) -> None:
        self.controllers, self.name, self.shape = controllers, name, (len(role.seeds), role.actions)

    def __call__(self, observations: Array, infos: Mapping[str, Any], playing: Flags) -> Array:
        """Return the actions of the episodes that are on, and zeros for the others."""
        actions = np.zeros(self.shape)
        for row in np.flatnonzero(playing):
            info = {key: _plain(value[row]) for key, value in infos.items() if not key.startswith("_")}
            found = _asked(self.controllers[row], observations[row].copy(), info, self.name)
            actions[row] = _checked(found, self.shape[1:], self.name)
        return actions


def misses(error: TypeError) -> bool:
    """Whether the call failed where `error` was caught: wrong arguments, or a function not written in Python."""
    return error.__traceback__ is not None and error.__traceback__.tb_next is None


def _asked(controller: Controller, observation: Any, info: Mapping[str, Any], name: str) -> Any:
    try:
        return controller(observation, info)
    except TypeError as error:
        if misses(error):
            raise ValueError(f"controller {name!r}: {error}; expected {EXPECTED}") from error
        raise


def _checked(found: Any, shape: tuple[int, ...], name: str) -> Array:
    actions: Array = np.asarray(found)
    if actions.shape != shape or actions.dtype.kind not in "fiu":
        what = f"shape {actions.shape}" if actions.dtype.kind in "fiu" else type(found).__name__
        raise ValueError(f"controller {name!r}: returned {what}, expected actions of shape {shape}")
    return actions


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value

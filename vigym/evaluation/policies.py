"""Policies that play episodes side by side: scripted controllers, and models that stable-baselines3 has saved.

`Role` is what a controller is made for; `needed` and `free` read from a callable which arguments it takes.
"""

import inspect
import json
import pickle
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from vigym.evaluation.episodes import Array, Flags

Controller = Callable[[Any, Mapping[str, Any]], Any]
EXPECTED = (
    "a callable of observation, info that returns an action, or a class or function that makes one, of the environment "
    "or of nothing"
)
NORMALISATION = "normalisation.pkl"  # of `VecNormalize`, beside the model
# A key of the saved data that an algorithm has and those above it have not.
_ALGORITHMS = (("clip_range", "PPO"), ("gae_lambda", "A2C"), ("target_policy_noise", "TD3"), ("ent_coef", "SAC"))


def needed(found: Callable[..., Any]) -> list[str]:
    """Return the names of the positional parameters without default.

    Raises:
        ValueError: a callable without signature, as some that are not written in Python.
    """
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(found).parameters.values()
    return [one.name for one in parameters if one.kind in plain and one.default is one.empty]


def free(found: Callable[..., Any], but: str = "") -> list[str] | None:
    """Return the names of the parameters that may be set by name, `but` one; None: any name."""
    parameters = inspect.signature(found).parameters.values()
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        return None
    named = [one for one in parameters if one.kind in (one.KEYWORD_ONLY, one.POSITIONAL_OR_KEYWORD)]
    settable = [one for one in named if one.kind is one.KEYWORD_ONLY or one.default is not one.empty]
    return [one.name for one in settable if one.name != but]


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


class Model:
    """A saved policy without its noise, for a batch of observations."""

    batched = True

    def __init__(self, model: Any, normalisation: Any) -> None:
        self._model, self._normalisation = model, normalisation

    def __call__(self, observation: Array, info: Mapping[str, Any]) -> Array:
        """Return the actions (n, n_actions) of observations (n, n_observations)."""
        if self._normalisation is not None:
            observation = self._normalisation.normalize_obs(observation)
        actions: Array = self._model.predict(observation, deterministic=True)[0]
        return actions


def load_model(path: Path, env: gymnasium.Env[Any, Any]) -> Model:
    """Return the policy of a model.zip, with `normalisation.pkl` beside it if there is one.

    Both are pickles, programs in other words: load those of people you trust.

    Raises:
        ValueError: no such file, no model, or one of other observations or actions than those of `env`.
        ImportError: stable-baselines3 is not installed.
    """
    if not path.is_file():
        raise ValueError(f"controller {str(path)!r}: no such file")
    algorithm = _algorithm(path)
    try:
        import stable_baselines3
    except ImportError as error:
        raise ImportError(
            f"{path}: this needs torch and stable-baselines3: pip install torch stable-baselines3"
        ) from error
    model = getattr(stable_baselines3, algorithm).load(path, device="cpu")
    for what in ("observation_space", "action_space"):
        found, expected = getattr(model, what).shape, getattr(env, what).shape
        if found != expected:
            raise ValueError(f"model {path}: found {what.replace('_', ' ')} {found}, expected {expected}")
    beside = path.with_name(NORMALISATION)
    return Model(model, pickle.loads(beside.read_bytes()) if beside.is_file() else None)


def _algorithm(path: Path) -> str:
    try:
        with zipfile.ZipFile(path) as archive:
            data = json.loads(archive.read("data"))
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise ValueError(f"model {path}: {error}; expected what stable-baselines3 saves") from error
    for key, name in _ALGORITHMS:
        if key in data:
            return name
    raise ValueError(f"model {path}: expected one of {', '.join(name for _, name in _ALGORITHMS)}")

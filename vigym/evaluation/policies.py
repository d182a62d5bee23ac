"""Policies of episodes played side by side: controllers, trained policies, saved models.

`Context` describes the episodes to a controller; `required_arguments` and `settable_parameters`
read the signature of a callable.
"""

import inspect
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from io import BufferedReader
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from vigym.evaluation.episodes import Array, Flags
from vigym.files import FileName, open_archive, open_file, parse_object, read_member, read_pickle
from vigym.policies.network import Network
from vigym.policies.shipped import load_policy

Controller = Callable[[Any, Mapping[str, Any]], Any]
EXPECTED = (
    "a callable of observation, info that returns an action, or a class or function that makes "
    "one, of the environment or of nothing"
)
# files of `VecNormalize` beside the model: of rl_zoo3, and of earlier versions
NORMALISATIONS = ("vecnormalize.pkl", "normalisation.pkl")
PACKAGES = {"stable_baselines3": "stable-baselines3", "sbx": "sbx-rl"}
# a key of the saved data that an algorithm has and those above it have not
_ALGORITHMS = (
    ("clip_range", "PPO"),
    ("gae_lambda", "A2C"),
    ("target_policy_noise", "TD3"),
    ("ent_coef", "SAC"),
)


def required_arguments(found: Callable[..., Any]) -> list[str]:
    """Return the names of the positional parameters without default.

    Raises:
        ValueError: a callable without signature, as some that are not written in Python.
    """
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(found).parameters.values()
    return [one.name for one in parameters if one.kind in positional and one.default is one.empty]


def settable_parameters(found: Callable[..., Any], but: str = "") -> list[str] | None:
    """Return the names of the parameters settable by name, without `but`; None: any name."""
    parameters = inspect.signature(found).parameters.values()
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        return None
    return [
        one.name
        for one in parameters
        if one.name != but
        and (
            one.kind is one.KEYWORD_ONLY
            or (one.kind is one.POSITIONAL_OR_KEYWORD and one.default is not one.empty)
        )
    ]


@dataclass(frozen=True, eq=False)
class Context:
    """Environment and seeds for which a controller is built.

    Attributes:
        id: of the environment.
        env: one such environment.
        seeds: of the episodes side by side.
    """

    id: str
    env: gymnasium.Env[Any, Any]
    seeds: list[int]

    @property
    def action_count(self) -> int:
        """Number of actions."""
        assert self.env.action_space.shape is not None
        return self.env.action_space.shape[0]


class BatchedPolicy:
    """Policy of one controller that is called for all episodes at once."""

    def __init__(self, controller: Controller, context: Context, name: str) -> None:
        self.controller, self.name = controller, name
        self.shape = len(context.seeds), context.action_count

    def __call__(self, observations: Array, infos: Mapping[str, Any], playing: Flags) -> Array:
        """Return the actions of all episodes."""
        found = _call(self.controller, observations, infos, self.name)
        return _checked(found, self.shape, self.name)


class PerEpisodePolicy:
    """Policy of one controller per episode; `observation`, `info` as of a single environment."""

    def __init__(self, controllers: list[Controller], context: Context, name: str) -> None:
        self.controllers, self.name = controllers, name
        self.seeds = context.seeds
        self.shape = len(context.seeds), context.action_count

    def __call__(self, observations: Array, infos: Mapping[str, Any], playing: Flags) -> Array:
        """Return the actions of the episodes that are playing, zeros for the others."""
        actions = np.zeros(self.shape)
        values = {key: value for key, value in infos.items() if not key.startswith("_")}
        for row in np.flatnonzero(playing):
            info = {key: _plain(value[row]) for key, value in values.items()}
            try:
                found = _call(self.controllers[row], observations[row].copy(), info, self.name)
                actions[row] = _checked(found, self.shape[1:], self.name)
            except Exception as error:
                error.add_note(f"seed {self.seeds[row]}")
                raise
        return actions


def raised_by_call(error: TypeError) -> bool:
    """Return whether the call itself failed: wrong arguments, or a function not in Python."""
    return error.__traceback__ is not None and error.__traceback__.tb_next is None


def _call(controller: Controller, observation: Any, info: Mapping[str, Any], name: str) -> Any:
    try:
        return controller(observation, info)
    except TypeError as error:
        if raised_by_call(error):
            raise ValueError(f"controller {name!r}: {error}; expected {EXPECTED}") from error
        raise


def _checked(found: Any, shape: tuple[int, ...], name: str) -> Array:
    actions: Array = np.asarray(found)
    is_numeric = actions.dtype.kind in "fiu"
    if actions.shape != shape or not is_numeric:
        kind = f"shape {actions.shape}" if is_numeric else type(found).__name__
        raise ValueError(f"controller {name!r}: returned {kind}, expected actions of shape {shape}")
    return actions


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


class Model:
    """Deterministic policy of a saved model, for a batch of observations.

    Args:
        model: of stable-baselines3 or SBX.
        normalisation: its `VecNormalize`, or None.
    """

    batched = True

    def __init__(self, model: Any, normalisation: Any) -> None:
        self.model, self.normalisation = model, normalisation

    def __call__(self, observation: Array, info: Mapping[str, Any]) -> Array:
        """Return the actions (n, n_actions) of observations (n, n_observations)."""
        space = self.model.observation_space
        seen: Any = observation
        if is_asymmetric(space):  # actions depend on "policy" alone
            unseen = np.zeros((len(observation), *space["privileged"].shape))
            seen = {"policy": observation, "privileged": unseen}
        if self.normalisation is not None:
            seen = self.normalisation.normalize_obs(seen)
        actions: Array = self.model.predict(seen, deterministic=True)[0]
        return actions


def is_asymmetric(space: gymnasium.Space[Any]) -> bool:
    """Return whether observations are those of an `AsymmetricPolicy`."""
    return isinstance(space, gymnasium.spaces.Dict) and set(space) == {"policy", "privileged"}


def check_file(path: str | Path) -> None:
    """Raise ValueError unless there is a file of a model."""
    open_file(path, "a saved model", "controller").close()


def load_model(path: Path, env: gymnasium.Env[Any, Any], named: FileName | None = None) -> Model:
    """Return the policy of a model.zip, with `vecnormalize.pkl` beside it if there is one.

    Models of SBX are loaded with it. Both files are pickles, programs in other words: load only
    files that you trust.

    Args:
        path: of the model.
        env: that it is to control.
        named: what the user named to load it, such as the folder of a run; None: its path. Files
            that belong neither to the user, nor to root, nor to the owner of this are refused.

    Raises:
        ValueError: no such file, no model, or one of other observations or actions than `env`.
        ImportError: stable-baselines3 or SBX is not installed.
    """
    owner = path if named is None else named
    library, algorithm = _library_and_algorithm(path, owner)
    try:
        module = import_module(library)
    except ImportError as error:
        hint = f"pip install torch {PACKAGES[library]}"
        raise ImportError(f"{path}: a model needs {PACKAGES[library]}: {hint}") from error
    with _open_model(path, owner) as stream:
        model = getattr(module, algorithm).load(stream, device="cpu")
    seen = model.observation_space
    if is_asymmetric(seen) and not is_asymmetric(env.observation_space):
        seen = seen["policy"]
    shapes = seen.shape, model.action_space.shape
    _check_shapes(f"model {path}", shapes, env)
    beside = normalisation_file(path.parent)
    return Model(model, None if beside is None else read_pickle(beside, owner))


def load_trained(policy: str, env: gymnasium.Env[Any, Any]) -> Network:
    """Return the policy of an id, or of a .safetensors file, without running code of the file.

    Raises:
        ValueError: no such policy, or one of other observations or actions than `env`.
    """
    network = load_policy(policy)
    _check_shapes(f"policy {policy}", ((network.sizes[0],), (network.sizes[-1],)), env)
    return network


def _check_shapes(
    element: str, shapes: tuple[tuple[int, ...], tuple[int, ...]], env: gymnasium.Env[Any, Any]
) -> None:
    """Raise ValueError if the shapes of observations and actions do not fit `env`."""
    for space, found in zip(("observation_space", "action_space"), shapes, strict=True):
        expected = getattr(env, space).shape
        if found != expected:
            name = space.replace("_", " ")
            raise ValueError(f"{element}: found {name} {found}, expected {expected}")


def normalisation_file(folder: Path) -> Path | None:
    """Return the file with the normalisation of the model in a folder; None without."""
    files = [folder / name for name in NORMALISATIONS]
    return next((file for file in files if os.path.lexists(file)), None)


def _open_model(path: Path, owner: FileName) -> BufferedReader:
    return open_file(path, "a saved model", "controller", owner=owner)


def _library_and_algorithm(path: Path, owner: FileName) -> tuple[str, str]:
    """Return the names of the module and of the algorithm that saved a model."""
    place, expected = f"model {path}", "a file saved by stable-baselines3"
    with _open_model(path, owner) as stream:
        try:
            with open_archive(stream, place) as archive:
                packed = read_member(archive, "data")
        except Exception as error:  # each way to pack has errors of its own
            raise ValueError(f"{place}: {error}; expected {expected}") from error
    data = parse_object(packed, place, expected)
    saved = data.get("policy_class")
    module = str(saved.get("__module__", "")) if isinstance(saved, dict) else ""
    library = "sbx" if module.startswith("sbx.") else "stable_baselines3"
    for key, name in _ALGORITHMS:
        if key in data:
            return library, name
    names = ", ".join(name for _, name in _ALGORITHMS)
    raise ValueError(f"model {path}: expected one of {names}")

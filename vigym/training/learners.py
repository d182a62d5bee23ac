"""Algorithms by name, of stable-baselines3 or of SBX, its twin on JAX; their hyperparameters."""

import inspect
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from itertools import dropwhile
from pathlib import Path
from traceback import extract_tb
from typing import Any

from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm
from stable_baselines3.common.utils import LinearSchedule
from stable_baselines3.common.vec_env.base_vec_env import VecEnv

from vigym.envs.options import is_number, is_whole, suggest
from vigym.evaluation.policies import PACKAGES
from vigym.files import open_file
from vigym.training.checkpoints import MODEL, REPLAY, read_normalisation
from vigym.training.environments import normalised, policy_class
from vigym.training.recipes import HYPERPARAMETERS, RECIPES, Recipe

LEARNERS = {"sb3": "stable_baselines3", "sbx": "sbx"}  # and their modules
ALGORITHMS = tuple(RECIPES)
_LINEAR = "lin_"  # before a learning rate that decreases linearly, as in rl_zoo3
# small first actions, a default of stable-baselines3: others may be beyond what can be undone
_SBX_PPO = {"ortho_init": True}
# arguments of an algorithm that are no hyperparameters
_OTHERS = ("self", "policy", "env", "seed", "device", "verbose", "tensorboard_log")
_PACKAGE = str(Path(__file__).parents[1]) + os.sep
_WHOLE = ("n_timesteps", "n_envs", "n_steps", "batch_size", "n_epochs", "buffer_size")


def algorithm_class(algo: str, learner: str) -> type[BaseAlgorithm]:
    """Return the class of an algorithm.

    Args:
        algo: one of `ALGORITHMS`.
        learner: key of `LEARNERS`.

    Raises:
        ValueError: an unknown algorithm or learner.
        ImportError: the learner is not installed.
    """
    if algo not in ALGORITHMS:
        raise ValueError(f"algo: found {algo!r}, {suggest(algo, list(ALGORITHMS))}")
    if learner not in LEARNERS:
        raise ValueError(f"learner: found {learner!r}, {suggest(learner, list(LEARNERS))}")
    module_name = LEARNERS[learner]
    try:
        module = import_module(module_name)
    except ImportError as error:
        mend = f"pip install {PACKAGES[module_name]}"
        raise ImportError(f"learner {learner!r}: {error}; {mend}") from error
    found: type[BaseAlgorithm] = getattr(module, algo.upper())
    return found


def check_hyperparameters(algorithm: type[BaseAlgorithm], values: Mapping[str, Any]) -> None:
    """Raise ValueError for a name or a value that is no hyperparameter of a recipe or algorithm."""
    parameters = inspect.signature(algorithm).parameters
    own = [name for name in parameters if name not in _OTHERS and not name.startswith("_")]
    known = list(dict.fromkeys([*HYPERPARAMETERS, *own]))
    for name, value in values.items():
        if name not in known:
            raise ValueError(f"hyperparameter: found {name!r}, {suggest(name, known)}")
        default = parameters[name].default if name in own else None
        if name in _WHOLE:
            valid, expected = is_whole(value) and value >= 1, "a whole number >= 1"
        elif name == "normalize" or isinstance(default, bool):
            valid, expected = isinstance(value, bool), "True or False"
        elif name.endswith("_kwargs"):
            valid, expected = isinstance(value, Mapping), "a dictionary"
        elif isinstance(default, float) and name != "learning_rate":
            valid, expected = is_number(value) or callable(value), "a number"
        else:
            continue
        if not valid:
            raise ValueError(f"hyperparameter {name}: found {value!r}, expected {expected}")


def learning_rate(value: Any) -> float | LinearSchedule:
    """Return the learning rate of a recipe: a number, or a linear schedule for "lin_NUMBER".

    Raises:
        ValueError: neither.
    """
    text = str(value)
    try:
        if text.startswith(_LINEAR):
            return LinearSchedule(float(text.removeprefix(_LINEAR)), 0.0, 1.0)
        return float(text)
    except ValueError as error:
        expected = "a number, or lin_NUMBER for one that decreases to zero"
        raise ValueError(f"learning_rate: found {value!r}, expected {expected}") from error


@contextmanager
def refusals_named(
    algorithm: type[BaseAlgorithm], hyperparameters: Mapping[str, Any]
) -> Iterator[None]:
    """Name the hyperparameters in errors that their learner raises: it has no checks of most.

    Errors from code of this package, such as environments, are raised unchanged.

    Args:
        algorithm: class of the model that is made or trained.
        hyperparameters: that were given, in place of those of the recipe.

    Raises:
        ValueError: the learner failed with the hyperparameters, or does not support the spaces of
            the environment.
    """
    try:
        yield
    except (OSError, MemoryError, ImportError):  # of the machine, or of installed packages
        raise
    except Exception as error:  # a learner may raise any error
        # no learner refuses a number of steps
        given = {key: value for key, value in hyperparameters.items() if key != "n_timesteps"}
        if not _is_of_learner(error) or not (given or isinstance(error, AssertionError)):
            raise
        said = (str(error).splitlines() or ["no message"])[0].rstrip(" .:")  # no tensors
        kind = "" if isinstance(error, AssertionError) else f"found {type(error).__name__}: "
        words = ", ".join(f"{key}={value!r}" for key, value in given.items())
        expected = f"; expected other values among {words}" if given else ""
        raise ValueError(f"{algorithm.__name__}: {kind}{said}{expected}") from error


def _is_of_learner(error: Exception) -> bool:
    """Return whether an error was raised in a call of a library that called nothing of vigym."""
    inside = [frame.filename.startswith(_PACKAGE) for frame in extract_tb(error.__traceback__)]
    called = list(dropwhile(bool, inside))
    return bool(called) and not any(called)


def new_model(
    algorithm: type[BaseAlgorithm], recipe: Recipe, envs: VecEnv, seed: int, log: str | None
) -> BaseAlgorithm:
    """Return a model to train.

    Args:
        algorithm: its class.
        recipe: with the hyperparameters.
        envs: to train in.
        seed: of networks, actions and environments.
        log: folder of tensorboard's files, or None.

    Raises:
        ValueError: the text is no learning rate.
    """
    make: Any = algorithm  # its constructor has other arguments than the base class
    policy = (
        policy_class(envs.observation_space, algorithm)
        if recipe.policy == "auto"
        else recipe.policy
    )
    rate = learning_rate(recipe.learning_rate)
    gamma = recipe.algorithm.get("gamma", 0.99)
    settings = {"learning_rate": rate, "seed": seed, "device": "cpu", "tensorboard_log": log}
    settings |= recipe.algorithm
    if algorithm.__module__.startswith("sbx.ppo"):
        settings["policy_kwargs"] = _SBX_PPO | recipe.algorithm.get("policy_kwargs", {})
    model: BaseAlgorithm = make(policy, normalised(envs, gamma, recipe.normalize), **settings)
    return model


def saved_model(
    algorithm: type[BaseAlgorithm], folder: Path, envs: VecEnv, seed: int, log: str | None
) -> BaseAlgorithm:
    """Return the model of a checkpoint, to train on.

    Args:
        algorithm: its class.
        folder: of the checkpoint; the replay buffer is that of the run.
        envs: to train in.
        seed: of actions and environments from here on.
        log: folder of tensorboard's files, or None.

    Raises:
        ValueError: the replay buffer is missing or damaged.
    """
    out = folder.parents[1]
    normalised_envs = read_normalisation(folder, envs, out)
    with open_file(folder / MODEL, "a saved model", owner=out) as stream:
        model = algorithm.load(
            stream, normalised_envs, device="cpu", seed=seed, tensorboard_log=log
        )
    if isinstance(model, OffPolicyAlgorithm):
        _load_replay(model, out / REPLAY)
    return model


def _load_replay(model: OffPolicyAlgorithm, file: Path) -> None:
    """Read a replay buffer; raise ValueError for one that is missing or damaged."""
    expected = "the replay buffer of the run; train in another folder"
    with open_file(file, expected, most=None, owner=file.parent) as stream:
        try:
            model.load_replay_buffer(stream)
        except Exception as error:  # a damaged pickle may raise any error
            found = f"a damaged file ({type(error).__name__}: {error})"
            raise ValueError(f"{file}: found {found}, expected {expected}") from error

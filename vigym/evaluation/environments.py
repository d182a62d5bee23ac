"""Environments by id; errors suggest the nearest id or option."""

import warnings
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec
from numpy.typing import NDArray

from vigym.envs.env import TaskEnv
from vigym.envs.options import import_user_module, suggest
from vigym.envs.registry import ENVIRONMENTS

RESERVED = ("id", "task", "num_envs", "disable_env_checker")  # arguments that are no options


def make_env(env_id: str, options: Mapping[str, Any], **more: Any) -> gymnasium.Env[Any, Any]:
    """Return an environment; its id may start with the module that registers it ("module:id").

    Raises:
        ValueError: an unknown id, an environment that is no `TaskEnv`, an unknown option, or one
            that is not the user's.
    """
    check_env_id(env_id)
    for name in (*RESERVED, *more):
        if name in options:
            raise ValueError(
                f"option {name}: found {options[name]!r}, expected none: it is fixed here"
            )
    spec = spec_of(env_id)
    try:
        with warnings.catch_warnings():
            if "task" not in spec.kwargs:  # another package's are refused, in one line
                warnings.simplefilter("ignore")
            env = gymnasium.make(env_id, **options, **more)
    except (TypeError, gymnasium.error.Error) as error:
        if "task" not in spec.kwargs:
            raise _foreign(env_id, spec.entry_point) from error
        fault = str(error).partition(" was raised from the environment creator")[0]
        raise ValueError(f"environment {env_id!r}: {fault}") from error
    if not isinstance(env.unwrapped, TaskEnv):
        env.close()
        raise _foreign(env_id, type(env.unwrapped).__name__)
    return env


def spec_of(env_id: str) -> EnvSpec:
    """Return the spec of a registered environment; its id may start with a module ("module:id")."""
    return gymnasium.spec(env_id.rpartition(":")[2])


def _foreign(env_id: str, found: object) -> ValueError:
    """Return the error for an environment of another package."""
    return ValueError(f"environment {env_id!r}: found {found}, expected an environment of vigym")


def check_env_id(env_id: str) -> None:
    """Raise ValueError, with the nearest id, unless an environment of that id is registered."""
    module, colon, name = env_id.rpartition(":")
    if colon:
        try:
            import_user_module(module)
        except ImportError as error:
            expected = "expected a module that registers it, as module:id, no path"
            raise ValueError(f"environment {env_id!r}: {error}; {expected}") from error
    if name not in gymnasium.registry:
        hint = suggest(name, [entry.id for entry in ENVIRONMENTS])
        raise ValueError(f"environment: found {name!r}, {hint}")


def task_env(env: gymnasium.Env[Any, Any]) -> TaskEnv:
    """Return the environment without wrappers."""
    assert isinstance(env.unwrapped, TaskEnv)
    return env.unwrapped


def weights_of(envs: Any) -> NDArray[np.float64]:
    """Return the weight of all bodies [N] of each environment of a vector (num_envs,)."""
    weights = []
    for sim in dict.fromkeys(envs.get_attr("sim")):  # one for all, or one for each
        mass = sum(body.mass for body in sim.mechanism.bodies.values())
        built = np.linalg.norm(sim.mechanism.gravity) * mass
        weights.append(np.atleast_1d(built * sim.parameters.weight_factor))
    return np.concatenate(weights)

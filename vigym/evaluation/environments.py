"""Environments by id, with an error that helps where there is none."""

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np

from vigym.envs.base import TaskEnv
from vigym.envs.registry import ENVIRONMENTS
from vigym.evaluation.modules import module_from_here
from vigym.evaluation.nearest import nearest


def make_single(env_id: str, options: Mapping[str, Any], **more: Any) -> gymnasium.Env[Any, Any]:
    """Return an environment by its id, which may name the module that registers it: "module:namespace/Name-v0".

    Raises:
        ValueError: an unknown id, one that is no `TaskEnv`, or options that it does not take.
    """
    known_id(env_id)
    try:
        env = gymnasium.make(env_id, **options, **more)
    except TypeError as error:
        raise ValueError(f"environment {env_id!r}: {error}") from error
    if not isinstance(env.unwrapped, TaskEnv):
        env.close()
        raise ValueError(f"environment {env_id!r}: found {type(env.unwrapped).__name__}, expected one of vigym")
    return env


def known_id(env_id: str) -> None:
    """Raise ValueError, with the nearest id, unless an environment of that id is registered."""
    module, colon, name = env_id.rpartition(":")
    if colon:
        try:
            module_from_here(module)
        except ImportError as error:
            raise ValueError(f"environment {env_id!r}: {error}; expected a module that registers it") from error
    if name not in gymnasium.registry:
        raise ValueError(f"environment: found {name!r}, {nearest(name, [entry.id for entry in ENVIRONMENTS])}")


def weight_of(env: gymnasium.Env[Any, Any]) -> float:
    """Return the weight of what moves [N]."""
    assert isinstance(env.unwrapped, TaskEnv)
    mechanism = env.unwrapped.mechanism
    return float(np.linalg.norm(mechanism.gravity) * sum(body.mass for body in mechanism.bodies.values()))

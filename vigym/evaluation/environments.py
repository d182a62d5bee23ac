"""Environments by id, with an error that helps where there is none."""

import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import gymnasium
import numpy as np

from vigym.envs.env import TaskEnv, task_class
from vigym.envs.registry import ENVIRONMENTS
from vigym.evaluation.names import module_from_here, nearest


def make_single(env_id: str, options: Mapping[str, Any], **more: Any) -> gymnasium.Env[Any, Any]:
    """Return an environment by its id, which may name the module that registers it: "module:namespace/Name-v0".

    Raises:
        ValueError: an unknown id, one that is no `TaskEnv`, or options that it does not take.
    """
    known_id(env_id)
    try:
        env = gymnasium.make(env_id, **options, **more)
    except TypeError as error:
        raise ValueError(f"environment {env_id!r}: {_option_fault(env_id, str(error))}") from error
    if not isinstance(env.unwrapped, TaskEnv):
        env.close()
        raise ValueError(f"environment {env_id!r}: found {type(env.unwrapped).__name__}, expected one of vigym")
    return env


def _option_fault(env_id: str, message: str) -> str:
    """Say what is wrong with the options of an environment, from what Python says of the call that makes it."""
    missing = re.search(r"missing \d+ required .*?: (.*?)(?= was raised|$)", message)
    if missing is not None:
        return f"expected the option {missing[1]}"
    unknown = re.search(r"unexpected keyword argument '(\w+)'", message)
    task = gymnasium.spec(env_id).kwargs.get("task")
    if unknown is None or task is None:
        return message
    return f"found option {unknown[1]!r}, {nearest(unknown[1], [field.name for field in fields(task_class(task))])}"


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


def aims_to_end(env: gymnasium.Env[Any, Any]) -> bool:
    """Return whether an episode ends by reaching the aim."""
    assert isinstance(env.unwrapped, TaskEnv)
    return env.unwrapped.task.aims_to_end


def weight_of(env: gymnasium.Env[Any, Any]) -> float:
    """Return the weight of what moves [N]."""
    assert isinstance(env.unwrapped, TaskEnv)
    mechanism = env.unwrapped.mechanism
    return float(np.linalg.norm(mechanism.gravity) * sum(body.mass for body in mechanism.bodies.values()))

"""Environments by id; errors suggest the nearest id or option."""

import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import gymnasium
import numpy as np

from vigym.envs.env import TaskEnv, task_class
from vigym.envs.options import import_user_module
from vigym.envs.registry import ENVIRONMENTS
from vigym.evaluation.names import suggest


def make_env(env_id: str, options: Mapping[str, Any], **more: Any) -> gymnasium.Env[Any, Any]:
    """Return an environment; its id may start with the module that registers it ("module:id").

    Raises:
        ValueError: an unknown id, an environment that is no `TaskEnv`, or an unknown option.
    """
    check_env_id(env_id)
    try:
        env = gymnasium.make(env_id, **options, **more)
    except TypeError as error:
        fault = _option_fault(env_id, str(error))
        raise ValueError(f"environment {env_id!r}: {fault}") from error
    if not isinstance(env.unwrapped, TaskEnv):
        env.close()
        found = type(env.unwrapped).__name__
        raise ValueError(f"environment {env_id!r}: found {found}, expected one of vigym")
    return env


def _option_fault(env_id: str, message: str) -> str:
    """Return the fault of an environment's options from Python's message of the failed call."""
    missing = re.search(r"missing \d+ required .*?: (.*?)(?= was raised|$)", message)
    if missing is not None:
        return f"expected the option {missing[1]}"
    unknown = re.search(r"unexpected keyword argument '(\w+)'", message)
    task = gymnasium.spec(env_id).kwargs.get("task")
    if unknown is None or task is None:
        return message
    names = [field.name for field in fields(task_class(task))]
    return f"found option {unknown[1]!r}, {suggest(unknown[1], names)}"


def check_env_id(env_id: str) -> None:
    """Raise ValueError, with the nearest id, unless an environment of that id is registered."""
    module, colon, name = env_id.rpartition(":")
    if colon:
        try:
            import_user_module(module)
        except ImportError as error:
            expected = "expected a module that registers it"
            raise ValueError(f"environment {env_id!r}: {error}; {expected}") from error
    if name not in gymnasium.registry:
        hint = suggest(name, [entry.id for entry in ENVIRONMENTS])
        raise ValueError(f"environment: found {name!r}, {hint}")


def task_env(env: gymnasium.Env[Any, Any]) -> TaskEnv:
    """Return the environment without wrappers."""
    assert isinstance(env.unwrapped, TaskEnv)
    return env.unwrapped


def weight_of(env: gymnasium.Env[Any, Any]) -> float:
    """Return the weight of all bodies [N]."""
    mechanism = task_env(env).mechanism
    mass = sum(body.mass for body in mechanism.bodies.values())
    return float(np.linalg.norm(mechanism.gravity) * mass)

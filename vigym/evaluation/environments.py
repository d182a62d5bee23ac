"""Environments by id, with an error that helps where there is none."""

from collections.abc import Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import gymnasium
import numpy as np

from vigym.envs.registry import ENVIRONMENTS


def make_single(env_id: str, options: Mapping[str, Any], **more: Any) -> gymnasium.Env[Any, Any]:
    """Return an environment by its id, which may name the module that registers it: "module:namespace/Name-v0".

    Raises:
        ValueError: an unknown id, or options that it does not take.
    """
    known_id(env_id)
    try:
        return gymnasium.make(env_id, **options, **more)
    except TypeError as error:
        raise ValueError(f"environment {env_id!r}: {error}") from error


def known_id(env_id: str) -> None:
    """Raise ValueError, with the nearest id, unless an environment of that id is registered."""
    module, colon, name = env_id.rpartition(":")
    if colon:
        try:
            import_module(module)
        except ImportError as error:
            raise ValueError(f"environment {env_id!r}: {error}; expected a module that registers it") from error
    if name not in gymnasium.registry:
        raise ValueError(f"environment: found {name!r}, {nearest(name, [entry.id for entry in ENVIRONMENTS])}")


def nearest(found: str, names: list[str]) -> str:
    """Return "did you mean ...?" where something is near, else what is expected."""
    near = get_close_matches(found, names, n=1, cutoff=0.5)
    return f"did you mean {near[0]!r}?" if near else f"expected one of: {', '.join(names)}"


def weight_of(env: gymnasium.Env[Any, Any]) -> float:
    """Return the weight of what moves [N]."""
    mechanism = env.unwrapped.mechanism  # type: ignore[attr-defined]
    return float(np.linalg.norm(mechanism.gravity) * sum(body.mass for body in mechanism.bodies.values()))

"""Gymnasium wrappers that use the physics in `info`; those of vectors: `vigym.wrappers.vector`.

`SB3VecEnv` and `RslRlVecEnv` adapt a vector environment to stable-baselines3 and to rsl_rl. Their
imports happen on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

import gymnasium as gym

from vigym.wrappers import wrapper
from vigym.wrappers.wrapper import PhysicsWrapper

if TYPE_CHECKING:
    from vigym.wrappers.rsl_rl import RslRlVecEnv as RslRlVecEnv
    from vigym.wrappers.sb3 import SB3VecEnv as SB3VecEnv

__all__ = [
    "ConstraintReward",
    "CostOfTransportReward",
    "EnergyReward",
    "PhysicsCost",
    "PhysicsVectorReward",
]
_LATE = {"RslRlVecEnv": "vigym.wrappers.rsl_rl", "SB3VecEnv": "vigym.wrappers.sb3"}

Env = gym.Env[Any, Any]


class EnergyReward(wrapper.EnergyReward[Env], PhysicsWrapper):
    __doc__ = wrapper.EnergyReward.__doc__


class ConstraintReward(wrapper.ConstraintReward[Env], PhysicsWrapper):
    __doc__ = wrapper.ConstraintReward.__doc__


class CostOfTransportReward(wrapper.CostOfTransportReward[Env], PhysicsWrapper):
    __doc__ = wrapper.CostOfTransportReward.__doc__


class PhysicsCost(wrapper.PhysicsCost[Env], PhysicsWrapper):
    __doc__ = wrapper.PhysicsCost.__doc__


class PhysicsVectorReward(wrapper.PhysicsVectorReward[Env], PhysicsWrapper):
    __doc__ = wrapper.PhysicsVectorReward.__doc__


def __getattr__(name: str) -> Any:
    """Import an adapter, or the wrappers of vectors, on first use (PEP 562)."""
    if name == "vector":
        return import_module("vigym.wrappers.vector")
    if name not in _LATE:
        raise AttributeError(f"module 'vigym.wrappers' has no attribute {name!r}")
    return getattr(import_module(_LATE[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, *_LATE, "vector"])

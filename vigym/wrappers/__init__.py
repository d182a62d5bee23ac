"""Gymnasium wrappers that use the physics in `info`; those of vectors: `vigym.wrappers.vector`.

`SB3VecEnv` adapts a vector environment to stable-baselines3, which is imported on first use.
"""

from typing import TYPE_CHECKING, Any

import gymnasium as gym

from vigym.wrappers import wrapper
from vigym.wrappers.wrapper import PhysicsWrapper

if TYPE_CHECKING:
    from vigym.wrappers.sb3 import SB3VecEnv as SB3VecEnv

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
    """Import the stable-baselines3 adapter on first use (PEP 562)."""
    if name != "SB3VecEnv":
        raise AttributeError(f"module 'vigym.wrappers' has no attribute {name!r}")
    from vigym.wrappers.sb3 import SB3VecEnv

    return SB3VecEnv

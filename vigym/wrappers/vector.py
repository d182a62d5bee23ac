"""Wrappers of vector environments, with the same names as the wrappers of single environments."""

from typing import Any

from gymnasium.vector import VectorEnv

from vigym.wrappers import wrapper
from vigym.wrappers.wrapper import VectorPhysicsWrapper

Envs = VectorEnv[Any, Any, Any]


class EnergyReward(wrapper.EnergyReward[Envs], VectorPhysicsWrapper):
    __doc__ = wrapper.EnergyReward.__doc__


class ConstraintReward(wrapper.ConstraintReward[Envs], VectorPhysicsWrapper):
    __doc__ = wrapper.ConstraintReward.__doc__


class CostOfTransportReward(wrapper.CostOfTransportReward[Envs], VectorPhysicsWrapper):
    __doc__ = wrapper.CostOfTransportReward.__doc__


class PhysicsCost(wrapper.PhysicsCost[Envs], VectorPhysicsWrapper):
    __doc__ = wrapper.PhysicsCost.__doc__


class PhysicsVectorReward(wrapper.PhysicsVectorReward[Envs], VectorPhysicsWrapper):
    __doc__ = wrapper.PhysicsVectorReward.__doc__

"""Gymnasium wrappers that read the physics in `info`; those of vector environments are in `vigym.wrappers.vector`.

`SB3VecEnv` hands a vector environment to stable-baselines3, which is imported with it, on first use.
"""

from typing import TYPE_CHECKING, Any

from vigym.wrappers.single import ConstraintReward as ConstraintReward
from vigym.wrappers.single import CostOfTransportReward as CostOfTransportReward
from vigym.wrappers.single import EnergyReward as EnergyReward
from vigym.wrappers.single import PhysicsCost as PhysicsCost
from vigym.wrappers.single import PhysicsVectorReward as PhysicsVectorReward

if TYPE_CHECKING:
    from vigym.wrappers.sb3 import SB3VecEnv as SB3VecEnv


def __getattr__(name: str) -> Any:
    """Import the adapter on first use (PEP 562)."""
    if name != "SB3VecEnv":
        raise AttributeError(f"module 'vigym.wrappers' has no attribute {name!r}")
    from vigym.wrappers.sb3 import SB3VecEnv

    return SB3VecEnv

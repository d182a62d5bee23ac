"""Gymnasium wrappers that use the physics in `info`, of one environment or of a vector of them.

`SB3VecEnv` and `RslRlVecEnv` adapt a vector environment to stable-baselines3 and to rsl_rl;
`AsymmetricPolicy` is for critics of the former. Their imports happen on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from vigym.wrappers import vector as vector
from vigym.wrappers.wrapper import (
    ConstraintReward,
    CostOfTransportReward,
    EnergyReward,
    PhysicsCost,
    PhysicsVectorReward,
)

if TYPE_CHECKING:
    from vigym.wrappers.asymmetric import AsymmetricPolicy as AsymmetricPolicy
    from vigym.wrappers.rsl_rl import RslRlVecEnv as RslRlVecEnv
    from vigym.wrappers.sb3 import SB3VecEnv as SB3VecEnv

__all__ = [
    "ConstraintReward",
    "CostOfTransportReward",
    "EnergyReward",
    "PhysicsCost",
    "PhysicsVectorReward",
]
_LATE = {
    "AsymmetricPolicy": "vigym.wrappers.asymmetric",
    "RslRlVecEnv": "vigym.wrappers.rsl_rl",
    "SB3VecEnv": "vigym.wrappers.sb3",
}


def __getattr__(name: str) -> Any:
    """Import an adapter on first use (PEP 562)."""
    if name not in _LATE:
        raise AttributeError(f"module 'vigym.wrappers' has no attribute {name!r}")
    return getattr(import_module(_LATE[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, *_LATE, "vector"])

"""Wrappers of vector environments by their former names: those of `vigym.wrappers` wrap both."""

from vigym.wrappers.wrapper import (
    ConstraintReward,
    CostOfTransportReward,
    EnergyReward,
    PhysicsCost,
    PhysicsVectorReward,
)

__all__ = [
    "ConstraintReward",
    "CostOfTransportReward",
    "EnergyReward",
    "PhysicsCost",
    "PhysicsVectorReward",
]

"""Gymnasium wrappers that read the physics in `info`; those of vector environments are in `vigym.wrappers.vector`."""

from vigym.wrappers.single import ConstraintReward as ConstraintReward
from vigym.wrappers.single import EnergyReward as EnergyReward

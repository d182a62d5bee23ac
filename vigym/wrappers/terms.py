"""Reward terms that are functions of the physics in `info`: one definition for the single and the vector wrappers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

# What each kind of energy reward is proportional to: key of `info`.
ENERGY_KINDS = {
    "mechanical_power": "power_mech",  # sum of |torque x rate| over the actuators [W]
    "torque_squared": "torque_squared",  # sum of torque^2 over the actuators [N^2, N^2 m^2]
    "drift": "energy_balance",  # |E - E0 - work + dissipated|: energy made or lost by the integrator [J]
}
RESIDUAL = "constraint_residual_max"


@dataclass(frozen=True)
class PhysicsTerm:
    """The reward term -weight |info[source]|, added to `info` as `reward_<name>`.

    Attributes:
        name: of the term.
        source: key of `info`.
        weight: per unit of the source, >= 0.

    Raises:
        ValueError: a weight that is not a finite number >= 0.
    """

    name: str
    source: str
    weight: float

    def __post_init__(self) -> None:
        weight = self.weight
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0.0 <= weight < np.inf:
            raise ValueError(f"weight of reward_{self.name}: found {weight!r}, expected a finite number >= 0")

    @property
    def key(self) -> str:
        """Key of the term in `info`."""
        return f"reward_{self.name}"

    def __call__(self, info: Mapping[str, Any]) -> Any:
        """Return the term, of the shape of `info[source]`.

        Raises:
            KeyError: the environment does not report the quantity.
        """
        if self.source not in info:
            raise KeyError(
                f"reward_{self.name} needs info[{self.source!r}]: found no such key, expected a vigym environment"
            )
        return -self.weight * np.abs(info[self.source])


def energy_term(weight: float, kind: str) -> PhysicsTerm:
    """Return the term of an energy reward.

    Raises:
        ValueError: an unknown kind or a weight out of range.
    """
    if kind not in ENERGY_KINDS:
        raise ValueError(f"kind: found {kind!r}, expected one of {list(ENERGY_KINDS)}")
    return PhysicsTerm(kind, ENERGY_KINDS[kind], weight)


def constraint_term(weight: float) -> PhysicsTerm:
    """Return the term of a constraint reward.

    Raises:
        ValueError: a weight out of range.
    """
    return PhysicsTerm("constraint", RESIDUAL, weight)

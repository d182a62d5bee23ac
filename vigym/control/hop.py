"""Hopping of a leg by its extension: push while the hop is too low."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vigym.control.actuators import Array, require_finite_fields
from vigym.control.minitaur_legs import action_of


@dataclass(frozen=True, kw_only=True)
class Hop:
    """Controller that lands on a bent leg and stretches it while the predicted hop is too low.

    Attributes:
        apex: desired height of the hip at the top of a hop [m].
        reserve: added to the desired height, since retracting the leg takes up momentum [m].
        landing: extension of the leg in flight and landing [rad].
        push: target extension of the push [rad], limited by the effort of the motors.
        contact: height of the foot below which the leg is in stance [m].
    """

    batched: ClassVar[bool] = True  # works on arrays over leading dimensions

    apex: float = 0.45
    reserve: float = 0.04
    landing: float = 1.75
    push: float = 2.75
    contact: float = 0.004

    def __post_init__(self) -> None:
        require_finite_fields(self)

    def __call__(self, observation: Array, info: Mapping[str, Any]) -> NDArray[np.float32]:
        """Return the action (..., 2) for `foot_height` and `apex` (...,) in `info`."""
        stance = np.asarray(info["foot_height"]) < self.contact
        too_low = np.asarray(info["apex"]) < self.apex + self.reserve
        extension = np.where(stance & too_low, self.push, self.landing)[..., None]
        return action_of(np.zeros_like(extension), extension).clip(-1.0, 1.0).astype(np.float32)

"""Hopping of a leg in swing and extension: push while the hop lacks height."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vigym.control.actuators import check_numbers
from vigym.control.minitaur_legs import Array, action_of


@dataclass(frozen=True, kw_only=True)
class Hop:
    """Land on a bent leg; stretch it while the hop it has momentum for is too low.

    Args:
        apex: asked height of the hip at the top of a hop [m].
        reserve: more height to ask for, since the leg takes some along when it is drawn up [m].
        landing: extension with which the leg flies and lands [rad].
        push: extension that is asked for to push [rad]; the motors' effort limits what comes of it.
        contact: height of the foot below which the leg stands [m].
    """

    batched: ClassVar[bool] = True  # works on arrays over leading dimensions

    apex: float = 0.45
    reserve: float = 0.04
    landing: float = 1.75
    push: float = 2.75
    contact: float = 0.004

    def __post_init__(self) -> None:
        check_numbers(self)

    def __call__(self, observation: Array, info: Mapping[str, Any]) -> NDArray[np.float32]:
        """Return the action (..., 2) by `foot_height` and `apex` (...,) of `info`."""
        stands = np.asarray(info["foot_height"]) < self.contact
        pushes = stands & (np.asarray(info["apex"]) < self.apex + self.reserve)
        extension = np.where(pushes, self.push, self.landing)[..., None]
        return action_of(np.zeros_like(extension), extension).clip(-1.0, 1.0).astype(np.float32)

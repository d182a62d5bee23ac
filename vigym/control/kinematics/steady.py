"""Turning of a crank at a steady rate."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vigym.control.actuators import Array, require_finite_fields


@dataclass(frozen=True, kw_only=True)
class Steady:
    """Controller whose torque is proportional to what the crank's rate lacks.

    Attributes:
        rate: of the crank [rad/s].
        gain: share of the largest torque for what it lacks [s/rad].
    """

    batched: ClassVar[bool] = True  # works on arrays over leading dimensions

    rate: float = -2.7
    gain: float = 0.5

    def __post_init__(self) -> None:
        require_finite_fields(self)

    def __call__(self, observation: Array, info: Mapping[str, Any]) -> NDArray[np.float32]:
        """Return the action (..., 1) for `crank_rate` (...,) in `info`."""
        missing = self.rate - np.asarray(info["crank_rate"])
        return (self.gain * missing)[..., None].clip(-1.0, 1.0).astype(np.float32)

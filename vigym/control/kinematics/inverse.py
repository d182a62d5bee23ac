"""Following of a command by inverse kinematics, for motors that take positions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vigym.control.actuators import Array, require_finite_fields


@dataclass(frozen=True, kw_only=True)
class Inverse:
    """Controller that sends motors where the place is that is commanded, a little ahead.

    Attributes:
        kinematics: motor positions (..., n_motors) [m, rad] of a place (..., n) [m, rad].
        low: motor positions of the action -1 (n_motors,) [m, rad].
        high: those of the action 1 (n_motors,) [m, rad].
        lead: time by which motors are late [s].
    """

    batched: ClassVar[bool] = True  # works on arrays over leading dimensions

    kinematics: Callable[[Array], Array]
    low: Array
    high: Array
    lead: float

    def __post_init__(self) -> None:
        require_finite_fields(self)

    def __call__(self, observation: Array, info: Mapping[str, Any]) -> NDArray[np.float32]:
        """Return the action (..., n_motors) for `command` and `command_rate` (..., n) in `info`."""
        place = np.asarray(info["command"]) + self.lead * np.asarray(info["command_rate"])
        motors = self.kinematics(place)
        action = (2.0 * motors - self.low - self.high) / (self.high - self.low)
        return np.nan_to_num(action).clip(-1.0, 1.0).astype(np.float32)

"""Kinematics of the piston engine of `assets/engine` in closed form, and its governor.

Angles of the crank count from level upwards, the axis of the cylinder is vertical.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vigym.control.actuators import Array, require_finite_fields

CRANK, ROD = 0.1, 0.35  # lengths [m]


def piston_height(crank: Array) -> Array:
    """Return the height (...,) [m] of the rod's upper end above the shaft.

    Args:
        crank: angle of the crank (...,) [rad].
    """
    height: Array = CRANK * np.sin(crank) + np.sqrt(ROD**2 - (CRANK * np.cos(crank)) ** 2)
    return height


def lever(crank: Array) -> Array:
    """Return the derivative (...,) [m/rad] of the height by the crank's angle.

    Args:
        crank: angle of the crank (...,) [rad].
    """
    aside = CRANK * np.cos(crank)
    arm: Array = aside * (1.0 + CRANK * np.sin(crank) / np.sqrt(ROD**2 - aside**2))
    return arm


@dataclass(frozen=True, kw_only=True)
class Governor:
    """Controller whose force is proportional to the lever and to the torque that is asked for.

    Of all forces that give the crank some work, these have the least mean square.

    Attributes:
        load: torque of the load over the crank's rate [N m s/rad].
        inertia: of the flywheel [kg m^2].
        gain: torque for what the rate lacks [N m s/rad].
        effort: force of the action 1 [N].
    """

    batched: ClassVar[bool] = True  # works on arrays over leading dimensions

    load: float = 4.0
    inertia: float = 6.4
    gain: float = 200.0
    effort: float = 2400.0

    def __post_init__(self) -> None:
        require_finite_fields(self)

    def __call__(self, observation: Array, info: Mapping[str, Any]) -> NDArray[np.float32]:
        """Return the action (..., 1) for crank and command (...,) in `info`."""
        angle, rate, command, change = (
            np.asarray(info[name])
            for name in ("crank_angle", "crank_rate", "command", "command_rate")
        )
        torque = self.load * command + self.inertia * change + self.gain * (command - rate)
        # The mean square of the lever is half that of the crank's length.
        action: Array = 2.0 * torque * lever(angle) / (CRANK**2 * self.effort)
        return action[..., None].clip(-1.0, 1.0).astype(np.float32)

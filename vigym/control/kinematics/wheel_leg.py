"""Kinematics of the robot of `assets/wheel_leg` in closed form, and its balance."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vigym.control.actuators import Array, require_finite_fields

UPPER, LOWER = 0.15, 0.25  # lengths of the bars [m]
RADIUS = 0.1  # of the wheels [m]
MIDDLE, HALF = 0.4, 0.8  # of the targets of the hips [rad]
LARGEST_RATE = 30.0  # target of the wheels [rad/s]


def hip_angle(height: Array) -> Array:
    """Return the angle (...,) [rad] of both hips at which the wheels stand under them.

    Args:
        height: of the hips above the ground (...,) [m]; nan beyond the reach.
    """
    leg = height - RADIUS
    angle: Array = np.arcsin((leg**2 + UPPER**2 - LOWER**2) / (2.0 * UPPER * leg))
    return angle


@dataclass(frozen=True, kw_only=True)
class Balance:
    """Controller that holds the height by the hips, and speed and pitch by the wheels.

    A body that is to gain speed leans forwards. Wheels run after a body that leans too far, so they
    first roll back from a speed that is too low. Gains are those of the linear-quadratic regulator
    about rest at a height of 0.38 m.

    Attributes:
        lean: pitch for the commanded acceleration [rad s^2/m].
        pitch: rate of the wheels for the pitch [1/s].
        pitch_rate: rate of the wheels for the rate of the pitch.
        speed: rate of the wheels for a speed that is too high [rad/m].
    """

    batched: ClassVar[bool] = True  # works on arrays over leading dimensions

    lean: float = 0.12
    pitch: float = 52.0
    pitch_rate: float = 3.5
    speed: float = 36.0

    def __post_init__(self) -> None:
        require_finite_fields(self)

    def __call__(self, observation: Array, info: Mapping[str, Any]) -> NDArray[np.float32]:
        """Return the action (..., 3) for commands and body (...,) in `info`."""
        names = ("command_speed", "command_acceleration", "command_height")
        speed, acceleration, height = (np.asarray(info[name]) for name in names)
        names = ("x_velocity", "pitch", "pitch_rate")
        velocity, pitch, turning = (np.asarray(info[name]) for name in names)
        wheel = speed / RADIUS + self.speed * (velocity - speed)
        wheel = wheel + self.pitch * (pitch - self.lean * acceleration) + self.pitch_rate * turning
        hip = (hip_angle(height) - MIDDLE) / HALF
        action = np.stack((hip, hip, wheel / LARGEST_RATE), axis=-1)
        return action.clip(-1.0, 1.0).astype(np.float32)

"""Inverse kinematics of the legs of `assets/cassie` in closed form, and its balance.

The achilles rod keeps the tarsus parallel to the thigh, within 0.01 rad. So the leg is a triangle:
thigh and tarsus together are one side, the shin is the second, hip to ankle the third. Vectors in
its plane are complex numbers, downwards and forwards [m].
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vigym.control.actuators import Array, require_finite_fields

PARALLEL = np.radians(58.0 - 45.0) - 0.008  # angle of the tarsus from the thigh, a mean [rad]
THIGH = 0.12 + np.exp(1j * PARALLEL) * (0.408 - 0.04j)  # hip to knee, and tarsus to ankle
SHIN = np.exp(-0.25j * np.pi) * (0.49544 + 0.06741j)  # knee to tarsus, at a knee angle of 0
CENTER = -0.11841 + 0.09966j  # from the hip to the centre of mass of the pelvis
SOLE = np.arctan2(0.102846, -0.122567)  # of the foot's capsule in the foot [rad]
FOOT = 0.057 + 0.02j  # from the ankle, level: to the ground, to the middle of the foot
FEET = -0.0706  # their middles from that centre, for which all mass is above them [m]
MIDDLE = np.array((0.0, 0.0, 0.65, -0.75, -1.75))  # of the targets of a leg [rad]
HALF = np.array((0.25, 0.25, 0.4, 0.7, 0.6))


def leg_angles(height: Array, forward: Array | float = FEET) -> tuple[Array, Array, Array]:
    """Return hip-pitch, knee and foot (...,) [rad] of a level foot under an upright pelvis.

    Args:
        height: of the pelvis's centre of mass above the ground (...,) [m]; nan beyond the reach.
        forward: from it to the middle of the foot (...,) [m].
    """
    ankle = np.asarray(height) + 1j * np.asarray(forward) + CENTER - FOOT
    cosine = (abs(ankle) ** 2 - abs(THIGH) ** 2 - abs(SHIN) ** 2) / abs(2.0 * THIGH * SHIN)
    knee = np.angle(THIGH / SHIN) - np.arccos(cosine)
    hip = np.angle(ankle / (THIGH + SHIN * np.exp(1j * knee)))
    return hip, knee, 0.5 * np.pi - SOLE - PARALLEL - hip


@dataclass(frozen=True, kw_only=True)
class Stand:
    """Controller that holds a height by inverse kinematics, and balances.

    The springs are too soft to stand on without feedback: the leg that the robot leans to sinks.
    Against the roll the knee of that leg stretches and the other one bends. Against the pitch the
    feet turn.

    Attributes:
        lead: the command is that of so much later, as the motors lag [s].
        sag: of the pelvis on the springs, by which the targets are higher [m].
        shift: of the feet on the springs, by which they are forwards of `FEET` [m].
        foot: angle of the feet for the pitch.
        foot_rate: for its rate [s].
        knee: angle of the knees for the roll.
        knee_rate: for its rate [s].
    """

    batched: ClassVar[bool] = True  # works on arrays over leading dimensions

    lead: float = 0.06
    sag: float = 0.034
    shift: float = 0.034
    foot: float = 3.0
    foot_rate: float = 0.3
    knee: float = 0.9
    knee_rate: float = 0.1

    def __post_init__(self) -> None:
        require_finite_fields(self)

    def __call__(self, observation: Array, info: Mapping[str, Any]) -> NDArray[np.float32]:
        """Return the action (..., 10) for command and pelvis (...,) in `info`."""
        height, rate = (np.asarray(info[f"command_{name}"]) for name in ("height", "rate"))
        hip, knee, foot = leg_angles(height + self.lead * rate + self.sag, FEET + self.shift)
        stretch = self.knee * info["roll"] + self.knee_rate * info["roll_rate"]  # of the right leg
        foot = foot - self.foot * info["pitch"] - self.foot_rate * info["pitch_rate"]
        zero = np.zeros_like(hip)
        legs = [(zero, zero, hip, knee + side * stretch, foot) for side in (-1.0, 1.0)]
        angles = [(np.stack(leg, axis=-1) - MIDDLE) / HALF for leg in legs]
        return np.concatenate(angles, axis=-1).clip(-1.0, 1.0).astype(np.float32)

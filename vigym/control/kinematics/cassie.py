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

CYCLE = 0.7  # time of two steps [s]
LAGS = np.array((0.0, 0.5))  # of the left leg, which swings first, and of the right one [cycles]
STEP_HEIGHT, LIFT = 0.96, 0.16  # of the pelvis above the ground, of the swinging foot [m]
RAMP = 0.35  # time in which steps grow to their full size [s]


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


def clock(time: Array) -> tuple[Array, Array]:
    """Return sine and cosine (...,) of the phase of the steps at a time (...,) [s].

    The left leg swings while the sine is positive, the right one while it is negative.
    """
    phase = 2.0 * np.pi / CYCLE * np.asarray(time)
    return np.sin(phase), np.cos(phase)


def walking_angles(time: Array, speed: Array) -> Array:
    """Return the angles (..., 10) [rad] of steps with a speed, for a pelvis that stays upright.

    A foot on the ground moves against the pelvis, the other one swings forwards.

    Args:
        time: since the start (...,) [s]; steps grow in the first 0.35 s.
        speed: forwards (...,) [m/s].
    """
    time, speed = np.asarray(time)[..., None], np.asarray(speed)[..., None]
    growth = np.minimum(time / RAMP, 1.0)
    phase = (time / CYCLE - LAGS) % 1.0  # of the legs, which swing in the first half
    swing = np.minimum(2.0 * phase, 1.0)  # finished part of the swing
    place = np.where(phase < 0.5, -0.5 * np.cos(np.pi * swing), 1.5 - 2.0 * phase)
    lift = LIFT * 0.5 * (1.0 - np.cos(2.0 * np.pi * swing))
    forward = FEET + growth * speed * (CYCLE / len(LAGS)) * place
    hip, knee, foot = leg_angles(STEP_HEIGHT - growth * lift, forward)
    zero = np.zeros_like(hip)
    angles = np.stack((zero, zero, hip, knee, foot), axis=-1)
    return angles.reshape(*angles.shape[:-2], -1)


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

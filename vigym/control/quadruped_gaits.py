"""Gaits of the quadruped: hips and knees that follow sines, and a trot with a given velocity.

`SineGait` has six parameters. Targets of a leg: hip 0.8 + hip_lean + hip_swing sin(phase), knee
-1.6 + knee_lean + knee_swing sin(phase + knee_lag); abductions stay. Diagonal legs are in phase.
Joints are in the order abduction, hip, knee; legs in the order front left, back left, front right,
back right.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vigym.control.actuators import Array, require_finite_fields

LEGS, MOTORS_OF_LEG = 4, 3
STAND = np.tile((0.0, 0.8, -1.6), LEGS)  # joint angles with the feet below the hips [rad]
UNIT = np.tile((0.4, 0.8, 0.65), LEGS)  # joint angle per action [rad]; all are within the limits
TROT = np.array((0.0, 0.5, 0.5, 0.0))  # phases of the legs [turns]
TURN = 2.0 * np.pi

# Geometry of the legs, and the trot with a given velocity.
SIDE = np.array((1.0, 1.0, -1.0, -1.0))  # of the legs: 1 left, -1 right
ALONG = np.array((0.1805, -0.1805, 0.1805, -0.1805))  # x of the legs in the trunk [m]
ACROSS, OFFSET = 0.047, 0.0838  # y of the abductions, and from these to the hips [m]
THIGH = 0.2  # length, and that of the calf [m]
REACH = 0.355  # greatest distance of a foot from its hip [m]
STAND_HEIGHT = 2.0 * THIGH * np.cos(0.8)  # of the hips above the feet [m]
CROUCH = 0.035  # of the trot below the stand [m]
STEP_RATE = 2.5  # steps of a foot per second [Hz]
LIFT = 0.1  # of the targets of the feet, about twice that of the feet [m]
RAMP = 0.4  # time in which steps grow to their full size [s]


def clock(time: Array) -> tuple[Array, Array]:
    """Return sine and cosine (...,) of the trot's phase at a time (...,) [s]."""
    phase = TURN * STEP_RATE * np.asarray(time)
    return np.sin(phase), np.cos(phase)


def trot_angles(time: Array, forward: Array, left: Array, turn: Array) -> Array:
    """Return joint angles (..., 12) [rad] of a trot with a velocity, as of `trot_feet`."""
    return leg_angles(*trot_feet(time, forward, left, turn))


def trot_feet(
    time: Array, forward: Array, left: Array, turn: Array, offset: float = OFFSET
) -> tuple[Array, Array, Array]:
    """Return the places x, y, z (..., 4) [m] of feet from their abductions in a trot.

    Feet on the ground move against the velocity of the trunk above them; the others swing back.

    Args:
        time: since the start (...,) [s]; steps grow in the first 0.4 s.
        forward: velocity forwards (...,) [m/s].
        left: velocity to the left (...,) [m/s].
        turn: rate of turning anticlockwise (...,) [rad/s].
        offset: of standing feet outwards from the abductions [m].
    """
    time, forward, left, turn = (
        np.asarray(each)[..., None] for each in (time, forward, left, turn)
    )
    phase = (STEP_RATE * time + TROT) % 1.0
    swing = np.maximum(2.0 * phase - 1.0, 0.0)  # finished part of the swing
    growth = np.minimum(time / RAMP, 1.0)
    # places of a foot on its way, from 0.5 at touch-down to -0.5
    place = growth * np.where(phase < 0.5, 0.5 - 2.0 * phase, -0.5 * np.cos(np.pi * swing))
    place = place * (0.5 / STEP_RATE)
    x = place * (forward - turn * SIDE * (ACROSS + offset))
    y = place * (left + turn * ALONG) + SIDE * offset
    lift = LIFT * 0.5 * (1.0 - np.cos(TURN * swing))
    return x, y, growth * (CROUCH + lift) - STAND_HEIGHT


def leg_angles(x: Array, y: Array, z: Array) -> Array:
    """Return joint angles (..., 12) [rad] with feet at places from their abductions.

    Args:
        x: forwards (..., 4) [m].
        y: to the left (..., 4) [m].
        z: upwards (..., 4) [m]; feet that are out of reach are brought nearer.
    """
    down = np.sqrt(np.maximum(y * y + z * z - OFFSET * OFFSET, 1e-6))  # in the plane of the leg
    abduction = np.arctan2(z, y) - np.arctan2(-down, SIDE * OFFSET)
    half = np.arccos(np.minimum(np.sqrt(x * x + down * down), REACH) / (2.0 * THIGH))
    angles = np.empty((*x.shape, MOTORS_OF_LEG))
    angles[..., 0] = abduction
    angles[..., 1] = half - np.arctan2(x, down)
    angles[..., 2] = -2.0 * half
    return angles.reshape(*x.shape[:-1], LEGS * MOTORS_OF_LEG)


def joint_angles(action: Array) -> Array:
    """Return joint angles (..., 12) [rad] of an action (..., 12)."""
    return STAND + UNIT * action


@dataclass(frozen=True, kw_only=True)
class SineGait:
    """Gait whose hips and knees follow sines of `info["time"]`.

    Attributes:
        frequency: steps of a foot per second [Hz].
        hip_swing: amplitude of the hips [rad].
        hip_lean: mean of the hips, from the stand [rad]; positive: legs reach backwards.
        knee_swing: amplitude of the knees [rad].
        knee_lean: mean of the knees, from the stand [rad]; positive: legs are longer.
        knee_lag: phase of the knees before the hips [rad].
        ramp: time in which the amplitudes grow to their full size [s]; 0: no growth.
    """

    batched: ClassVar[bool] = True  # works on arrays over leading dimensions

    frequency: float = 2.5
    hip_swing: float = 0.15
    hip_lean: float = 0.0
    knee_swing: float = 0.25
    knee_lean: float = 0.0
    knee_lag: float = 1.57
    ramp: float = 0.5

    def __post_init__(self) -> None:
        require_finite_fields(self)

    def __call__(self, observation: Array, info: Mapping[str, Any]) -> NDArray[np.float32]:
        """Return the action (..., 12) at `info["time"]`; the observation is not used."""
        time = np.asarray(info["time"], dtype=np.float64)[..., None]
        phase = TURN * (self.frequency * time + TROT)
        growth = np.minimum(time / self.ramp, 1.0) if self.ramp > 0.0 else np.ones_like(time)
        change = np.zeros((*phase.shape, MOTORS_OF_LEG))
        change[..., 1] = growth * (self.hip_lean + self.hip_swing * np.sin(phase))
        change[..., 2] = growth * (self.knee_lean + self.knee_swing * np.sin(phase + self.knee_lag))
        action = change.reshape(*phase.shape[:-1], -1) / UNIT
        clipped: NDArray[np.float32] = action.clip(-1.0, 1.0).astype(np.float32)
        return clipped

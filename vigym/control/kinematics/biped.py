"""Kinematics of `assets/biped` in closed form, legs and parallel ankles, and a controller."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vigym.control.actuators import Array, require_finite_fields

SIDES = ("left", "right")
SEGMENT = 0.22  # length of thigh and shank [m]
STAND = 0.42  # from hip to ankle, where the robot stands [m]
CRANK, ROD = 0.045, 0.16  # their lengths [m]
LEVER = 0.05  # from the axis of the ankle's pitch to the rod's ball at the heel [m]
BESIDE = np.array(((0.03, -0.03), (-0.03, 0.03)))  # y of outer and inner rod, left, right [m]
# rates of the cranks, outer and inner, over those of pitch and roll of the left foot at zero
RATIOS = np.stack((np.full(2, LEVER), BESIDE[0]), axis=-1) / CRANK
PERIOD = 0.64  # of two steps [s]
LIFT = 0.05  # of a foot in its step [m]
BACK = -0.01  # from hip to ankle forwards, for which all mass is above the middle of the feet [m]
# change of a leg's targets by an action of 1: yaw, roll, pitch of the hip, knee, ankle [rad]
CORRECTION = np.array((0.2, 0.25, 0.5, 0.6, 0.5, 0.25))


def leg_angles(down: Array, forward: Array) -> tuple[Array, Array, Array]:
    """Return pitch of the hip, knee and pitch of the ankle (...,) [rad] of a level foot.

    Args:
        down: from hip to ankle (...,) [m].
        forward: the same (...,) [m].
    """
    length = np.sqrt(down * down + forward * forward)
    knee = 2.0 * np.arccos(np.minimum(length / (2.0 * SEGMENT), 1.0))
    hip = -0.5 * knee - np.arctan2(forward, down)
    return hip, knee, -hip - knee


def crank_angles(pitch: Array, roll: Array) -> Array:
    """Return the angles of the cranks at pitch and roll of both feet.

    Args:
        pitch: of the left and right foot (..., 2) [rad]; nan of the cranks beyond their reach.
        roll: the same (..., 2) [rad].

    Returns:
        Angles (..., 2, 2) [rad]: outer and inner crank of the left foot, then of the right one.
    """
    beside = BESIDE[:, 0] * np.sin(roll)  # height by roll of the outer ball, the inner one opposite
    shift = BESIDE[:, 0] * (np.cos(roll) - 1.0)
    x, z = LEVER * np.cos(pitch), LEVER * np.sin(pitch)
    across, up = beside * np.sin(pitch), beside * np.cos(pitch)
    # from the crank's axis to the ball of outer and inner rod, backwards and downwards
    back = np.stack((x - across, x + across), axis=-1) - (LEVER - CRANK)
    down = ROD - np.stack((z + up, z - up), axis=-1)
    # |ball - end of the crank| = ROD, the end at CRANK (cos, -sin) backwards and downwards
    square = back * back + down * down
    cosine = (square + CRANK**2 + shift[..., None] ** 2 - ROD**2) / (2.0 * CRANK * np.sqrt(square))
    angles: Array = np.arccos(cosine) - np.arctan2(down, back)
    return angles


def stepping(time: Array, speed: Array) -> tuple[Array, Array, Array]:
    """Return pitch of the hips, knees and pitch of the ankles (..., 2) [rad] of a steady walk.

    Feet stay level. On the ground they travel backwards, as fast as the robot is to walk, on a
    sine; the left one steps first.

    Args:
        time: (...,) [s].
        speed: (...,) [m/s].
    """
    phase = 2.0 * np.pi / PERIOD * np.asarray(time)[..., None] + np.array((0.0, np.pi))
    forward = -0.25 * PERIOD * np.asarray(speed)[..., None] * np.cos(phase)
    return leg_angles(STAND - LIFT * np.maximum(np.sin(phase), 0.0), forward)


@dataclass(frozen=True, kw_only=True)
class Squat:
    """Controller that keeps both feet on the ground and squats.

    Attributes:
        depth: of the squats [m].
        period: of them [s].
        foot: angle of the feet for the pitch of the pelvis.
        foot_rate: for its rate [s].
    """

    batched: ClassVar[bool] = True  # works on arrays over leading dimensions

    depth: float = 0.04
    period: float = 2.0
    foot: float = 0.5
    foot_rate: float = 0.05

    def __post_init__(self) -> None:
        require_finite_fields(self)

    def __call__(self, observation: Array, info: Mapping[str, Any]) -> NDArray[np.float32]:
        """Return the action (..., 12) for time, command and pitch (...,) in `info`."""
        time = np.asarray(info["time"])
        down = STAND - 0.5 * self.depth * (1.0 - np.cos(2.0 * np.pi * time / self.period))
        hip, knee, ankle = leg_angles(down, np.full_like(down, BACK))
        ankle = ankle + self.foot * info["pitch"] + self.foot_rate * info["pitch_rate"]
        stand = np.stack((hip, knee, ankle), axis=-1)[..., None, :]
        steps = np.stack(stepping(time, np.asarray(info["command_speed"])), axis=-1)
        legs = np.zeros((*steps.shape[:-1], CORRECTION.size))
        legs[..., 2:5] = (stand - steps) / CORRECTION[2:5]
        return legs.reshape(*time.shape, -1).clip(-1.0, 1.0).astype(np.float32)

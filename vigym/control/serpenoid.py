"""Compound serpenoid gaits: sine waves that travel along a snake's joints."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.control.actuators import Array, require_finite_fields


@dataclass(frozen=True, kw_only=True)
class Wave:
    """Wave of joint angles: offset + amplitude sin(2 pi frequency time - step k + phase).

    The index k = 0, 1, ... counts the joints from the head; a wave with a positive step travels
    from the head to the tail.

    Attributes:
        amplitude: of the angles [rad].
        frequency: of the wave [Hz].
        step: phase from one joint of the snake to the next [rad].
        phase: at the first joint and time 0 [rad].
        offset: mean of the angles [rad]; the path of the snake is curved unless it is 0.
    """

    amplitude: float = 0.0
    frequency: float = 1.0
    step: float = 0.0
    phase: float = 0.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        require_finite_fields(self)

    def __call__(self, time: ArrayLike, joints: Array) -> Array:
        """Return angles (..., n) [rad] of joints with indices (n,) at `time` (...,) [s]."""
        angle = 2.0 * np.pi * self.frequency * np.asarray(time, dtype=np.float64)[..., None]
        return self.offset + self.amplitude * np.sin(angle - self.step * joints + self.phase)


@dataclass(frozen=True, kw_only=True)
class Serpenoid:
    """Gait of snakes with one lateral and one dorsal wave.

    After the compound serpenoid curve of M. Tesch et al., Parameterized and scripted gaits for
    modular snake robots, Advanced Robotics 23 (2009). With alternating joint axes the first joint
    turns sideways, the second up and down and so on, and every joint follows the wave of its own
    plane; without a dorsal wave all joints turn sideways.

    Attributes:
        joints: number of joints.
        action_scale: target angle of an action of 1 [rad].
        lateral: wave of the joints that turn sideways.
        dorsal: wave of the joints that turn up and down; None: there are none.
        ramp: time in which the amplitudes grow from zero [s].
    """

    batched: ClassVar[bool] = True  # works on arrays over leading dimensions

    joints: int
    action_scale: float
    lateral: Wave
    dorsal: Wave | None = None
    ramp: float = 1.0

    def __post_init__(self) -> None:
        require_finite_fields(self)

    def angles(self, time: ArrayLike) -> Array:
        """Return the angles of all joints (..., joints) [rad] at `time` (...,) [s]."""
        times = np.asarray(time, dtype=np.float64)
        indices = np.arange(self.joints, dtype=np.float64)
        angles = self.lateral(times, indices)
        if self.dorsal is not None:
            angles = np.where(indices % 2 == 0, angles, self.dorsal(times, indices))
        growth = np.clip(times / self.ramp, 0.0, 1.0) if self.ramp > 0.0 else np.ones_like(times)
        return growth[..., None] * angles

    def __call__(self, observation: ArrayLike, info: Mapping[str, Any]) -> NDArray[np.float32]:
        """Return the action (..., joints) at `info["time"]`; the observation is not used."""
        return np.clip(self.angles(info["time"]) / self.action_scale, -1.0, 1.0).astype(np.float32)


def lateral_undulation(
    joints: int,
    action_scale: float,
    *,
    amplitude: float = 0.6,
    frequency: float = 1.0,
    step: float = 0.9,
    ramp: float = 1.0,
) -> Serpenoid:
    """Return the gait of a planar snake with anisotropic friction; it travels head first.

    Args:
        joints: number of joints, all turn sideways.
        action_scale: target angle of an action of 1 [rad].
        amplitude: of the angles [rad].
        frequency: of the wave [Hz].
        step: phase from joint to joint [rad]; negative: the snake travels tail first.
        ramp: time in which the amplitude grows from zero [s].
    """
    wave = Wave(amplitude=amplitude, frequency=frequency, step=step)
    return Serpenoid(joints=joints, action_scale=action_scale, lateral=wave, ramp=ramp)


def sidewinding(
    joints: int,
    action_scale: float,
    *,
    amplitude: float = 0.6,
    lift: float = 0.3,
    frequency: float = 0.5,
    step: float = 0.4,
    lag: float = np.pi / 2.0,
    ramp: float = 1.0,
) -> Serpenoid:
    """Return the gait of a snake with alternating axes that travels to its left.

    The snake lifts parts of itself and puts them down further to the left.

    Args:
        joints: number of joints; the first one turns sideways.
        action_scale: target angle of an action of 1 [rad].
        amplitude: of the angles sideways [rad].
        lift: of the angles up and down [rad].
        frequency: of both waves [Hz].
        step: phase from joint to joint [rad].
        lag: phase of the dorsal wave behind the lateral one [rad]; negative: to the right.
        ramp: time in which the amplitudes grow from zero [s].
    """
    lateral = Wave(amplitude=amplitude, frequency=frequency, step=step)
    dorsal = Wave(amplitude=lift, frequency=frequency, step=step, phase=-lag)
    return Serpenoid(
        joints=joints, action_scale=action_scale, lateral=lateral, dorsal=dorsal, ramp=ramp
    )


def rolling(
    joints: int,
    action_scale: float,
    *,
    amplitude: float = 0.2,
    frequency: float = 0.5,
    lag: float = -np.pi / 2.0,
    ramp: float = 1.0,
) -> Serpenoid:
    """Return the gait of a snake with alternating axes that bends into an arc and rolls sideways.

    Both waves have no step: the plane of the arc rotates about the snake, which rolls the opposite
    way, to its left, by its circumference in each period.

    Args:
        joints: number of joints; the first one turns sideways.
        action_scale: target angle of an action of 1 [rad].
        amplitude: of all angles [rad].
        frequency: of both waves [Hz].
        lag: phase of the dorsal wave behind the lateral one [rad]; positive: to the right.
        ramp: time in which the amplitudes grow from zero [s].
    """
    lateral = Wave(amplitude=amplitude, frequency=frequency)
    dorsal = Wave(amplitude=amplitude, frequency=frequency, phase=-lag)
    return Serpenoid(
        joints=joints, action_scale=action_scale, lateral=lateral, dorsal=dorsal, ramp=ramp
    )


def linear_progression(
    joints: int,
    action_scale: float,
    *,
    amplitude: float = 0.45,
    frequency: float = 1.0,
    step: float = -0.9,
    bend: float = 0.35,
    ramp: float = 1.0,
) -> Serpenoid:
    """Return the gait of a snake with alternating axes that goes straight on vertical waves.

    A round snake in a vertical plane falls over: its constant lateral S shape is a stable base.

    Args:
        joints: number of joints; the first one turns sideways.
        action_scale: target angle of an action of 1 [rad].
        amplitude: of the angles up and down [rad].
        frequency: of the wave [Hz].
        step: phase from joint to joint [rad]; the snake travels with the wave; negative: head
            first.
        bend: largest angle of the constant lateral S shape [rad].
        ramp: time in which the amplitudes grow from zero [s].
    """
    s_step = 2.0 * np.pi / joints
    lateral = Wave(amplitude=bend, frequency=0.0, step=s_step, phase=0.5 * (joints - 1) * s_step)
    dorsal = Wave(amplitude=amplitude, frequency=frequency, step=step)
    return Serpenoid(
        joints=joints, action_scale=action_scale, lateral=lateral, dorsal=dorsal, ramp=ramp
    )

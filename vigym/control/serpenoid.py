"""The compound serpenoid: sine waves that run along a snake's joints."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.control.actuators import check_numbers

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Wave:
    """Angles that joints follow: offset + amplitude sin(2 pi frequency time - step k + phase).

    k = 0, 1, ... counts the joints from the head; a positive step sends the wave from the head to the tail.

    Attributes:
        amplitude: of the angles [rad].
        frequency: turns of the phase per second [Hz].
        step: phase from one joint of the snake to the next [rad].
        phase: at the first joint and time 0 [rad].
        offset: mean of the angles [rad]; other than 0 it bends the way.
    """

    amplitude: float = 0.0
    frequency: float = 1.0
    step: float = 0.0
    phase: float = 0.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        check_numbers(self)

    def __call__(self, time: ArrayLike, joints: Array) -> Array:
        """Return the angles (..., n) [rad] of the joints numbered `joints` (n,) at `time` (...,) [s]."""
        turned = 2.0 * np.pi * self.frequency * np.asarray(time, dtype=np.float64)[..., None]
        return self.offset + self.amplitude * np.sin(turned - self.step * joints + self.phase)


@dataclass(frozen=True, kw_only=True)
class Serpenoid:
    """A gait of snakes: one wave sideways and one up and down.

    After the compound serpenoid curve of M. Tesch et al., Parameterized and scripted gaits for modular snake robots,
    Advanced Robotics 23 (2009). Where the axes of the joints alternate, the first joint turns sideways, the second
    up and down and so on, and every joint follows the wave of its own plane; a snake without a wave up and down has
    sideways joints only.

    Attributes:
        joints: number of joints.
        reach: angle that an action of 1 asks for [rad].
        lateral: wave of the joints that turn sideways.
        dorsal: wave of those that turn up and down, None: there are none.
        ramp: time in which the amplitudes grow from zero [s].
    """

    batched: ClassVar[bool] = True  # works on arrays over leading dimensions

    joints: int
    reach: float
    lateral: Wave
    dorsal: Wave | None = None
    ramp: float = 1.0

    def __post_init__(self) -> None:
        check_numbers(self)

    def angles(self, time: ArrayLike) -> Array:
        """Return the angles of all joints (..., joints) [rad] at `time` (...,) [s]."""
        now, numbers = np.asarray(time, dtype=np.float64), np.arange(self.joints, dtype=np.float64)
        angles = self.lateral(now, numbers)
        if self.dorsal is not None:
            angles = np.where(numbers % 2 == 0, angles, self.dorsal(now, numbers))
        grown = np.clip(now / self.ramp, 0.0, 1.0) if self.ramp > 0.0 else np.ones_like(now)
        return grown[..., None] * angles

    def __call__(self, observation: ArrayLike, info: Mapping[str, Any]) -> NDArray[np.float32]:
        """Return the action (..., joints) at `info["time"]`; the observation does not matter."""
        return np.clip(self.angles(info["time"]) / self.reach, -1.0, 1.0).astype(np.float32)


def lateral_undulation(
    joints: int, reach: float, *, amplitude: float = 0.6, frequency: float = 1.0, step: float = 0.9, ramp: float = 1.0
) -> Serpenoid:
    """Return the gait of a planar snake that slips along itself more easily than across: it goes where its head points.

    Args:
        joints: number of joints, all turn sideways.
        reach: angle that an action of 1 asks for [rad].
        amplitude: of the angles [rad].
        frequency: of the wave [Hz].
        step: phase from joint to joint [rad]; negative: tail first.
        ramp: time in which the amplitude grows from zero [s].
    """
    wave = Wave(amplitude=amplitude, frequency=frequency, step=step)
    return Serpenoid(joints=joints, reach=reach, lateral=wave, ramp=ramp)


def sidewinding(
    joints: int,
    reach: float,
    *,
    amplitude: float = 0.6,
    lift: float = 0.3,
    frequency: float = 0.5,
    step: float = 0.4,
    lag: float = np.pi / 2.0,
    ramp: float = 1.0,
) -> Serpenoid:
    """Return the gait of a snake of alternating axes that lifts a part of itself and puts it down further to its left.

    Args:
        joints: number of joints, the first of them turns sideways.
        reach: angle that an action of 1 asks for [rad].
        amplitude: of the angles sideways [rad].
        lift: of the angles up and down [rad].
        frequency: of both waves [Hz].
        step: phase from joint to joint [rad].
        lag: phase of the wave up and down behind the other [rad]; negative: to the right.
        ramp: time in which the amplitudes grow from zero [s].
    """
    lateral = Wave(amplitude=amplitude, frequency=frequency, step=step)
    dorsal = Wave(amplitude=lift, frequency=frequency, step=step, phase=-lag)
    return Serpenoid(joints=joints, reach=reach, lateral=lateral, dorsal=dorsal, ramp=ramp)


def rolling(
    joints: int,
    reach: float,
    *,
    amplitude: float = 0.2,
    frequency: float = 0.5,
    lag: float = -np.pi / 2.0,
    ramp: float = 1.0,
) -> Serpenoid:
    """Return the gait of a snake of alternating axes that bends into an arc and rolls on its side like a wheel.

    Both waves have no step: the plane of the arc turns about the snake, which rolls the other way, to its left, by its
    circumference in each period.

    Args:
        joints: number of joints, the first of them turns sideways.
        reach: angle that an action of 1 asks for [rad].
        amplitude: of all angles [rad].
        frequency: of both waves [Hz].
        lag: phase of the wave up and down behind the other [rad]; positive: to the right.
        ramp: time in which the amplitudes grow from zero [s].
    """
    lateral = Wave(amplitude=amplitude, frequency=frequency)
    dorsal = Wave(amplitude=amplitude, frequency=frequency, phase=-lag)
    return Serpenoid(joints=joints, reach=reach, lateral=lateral, dorsal=dorsal, ramp=ramp)


def linear_progression(
    joints: int,
    reach: float,
    *,
    amplitude: float = 0.45,
    frequency: float = 1.0,
    step: float = -0.9,
    bend: float = 0.35,
    ramp: float = 1.0,
) -> Serpenoid:
    """Return the gait of a snake of alternating axes that goes straight on waves up and down, as a caterpillar does.

    A round snake in one plane falls over: it lies in an S all the while, so that it stands on a base.

    Args:
        joints: number of joints, the first of them turns sideways.
        reach: angle that an action of 1 asks for [rad].
        amplitude: of the angles up and down [rad].
        frequency: of the wave [Hz].
        step: phase from joint to joint [rad]; the snake goes where the wave goes, negative: head first.
        bend: largest angle sideways, in an S that stays as it is [rad].
        ramp: time in which the amplitudes grow from zero [s].
    """
    bow = 2.0 * np.pi / joints
    lateral = Wave(amplitude=bend, frequency=0.0, step=bow, phase=0.5 * (joints - 1) * bow)
    dorsal = Wave(amplitude=amplitude, frequency=frequency, step=step)
    return Serpenoid(joints=joints, reach=reach, lateral=lateral, dorsal=dorsal, ramp=ramp)

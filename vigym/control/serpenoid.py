"""The compound serpenoid: sine waves that run along a snake's joints."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

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

    joints: int
    reach: float
    lateral: Wave
    dorsal: Wave | None = None
    ramp: float = 1.0

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

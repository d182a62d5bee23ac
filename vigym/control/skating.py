"""A snake on skates: the head leads along a wave, and every link follows the one before it."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.control.actuators import check_numbers

Array = NDArray[np.float64]

PARTS = 8  # of a control step, in which the angles are integrated
TRACK = 2.0  # rate at which the head comes back to its wave [1/s]
HEAD = slice(3, 7)  # of the coordinates: the head's orientation; those of the joints come after it


@dataclass
class Skating:
    """Angles of a planar chain whose links cannot slip sideways at their middles, as its head goes along a wave.

    A link of length l that goes ahead by v and turns by w leads the next one, which is turned by a against it, by

        v' = v cos a - l/2 w sin a,        w' = -2/l v sin a - w cos a

    (the joint has one velocity, the middle of the next link none sideways), so that speed and turning of the head tell
    the rates w' - w of all angles. Once bent the chain has no other motions: waves of angles that do not fit them jam.
    These are integrated from where the snake starts, and pulled to where it is: slowly, for a mistake in them travels
    down to the tail and out, while at once every tremor of the joints would be answered by another. With the heading
    ``turn`` sin(2 pi frequency time) of the head the snake goes along by ``speed`` J0(``turn``), J0 Bessel's function.

    It has the state of an episode for each snake; a time that runs back starts another one.

    Attributes:
        reach: angle that an action of 1 asks for [rad].
        link: length of a link [m].
        step: time an action is held [s].
        speed: of the head along itself [m/s].
        turn: largest heading of the head [rad].
        frequency: of its wave [Hz].
        ramp: time in which speed and wave grow from zero [s].
        pull: rate at which the angles are pulled to those of the snake [1/s].
    """

    batched: ClassVar[bool] = True  # works on arrays over leading dimensions

    reach: float
    link: float
    step: float
    _: KW_ONLY
    speed: float = 0.65
    turn: float = 0.6
    frequency: float = 1.0
    ramp: float = 3.0
    pull: float = 1.0
    _angles: Array | None = field(default=None, init=False, repr=False)
    _time: Array = field(default_factory=lambda: np.zeros(0), init=False, repr=False)

    def __post_init__(self) -> None:
        check_numbers(self)

    def __call__(self, observation: ArrayLike, info: Mapping[str, Any]) -> NDArray[np.float32]:
        """Return the action (..., joints) for what `info` tells; the observation does not matter."""
        seen, now = self._seen(np.asarray(info["joint_positions"])), np.asarray(info["time"], dtype=np.float64)
        if self._angles is None or self._angles.shape != seen.shape:
            self._angles = seen
        fresh = (now < self._time) if self._time.shape == now.shape else np.ones_like(now, dtype=np.bool_)
        ahead = seen - self._angles
        ahead[..., 0] = np.mod(ahead[..., 0] + np.pi, 2.0 * np.pi) - np.pi  # whole turns of the head do not count
        part = np.where(fresh, 1.0, min(1.0, self.pull * self.step))
        self._angles, self._time = self._angles + part[..., None] * ahead, now
        h = self.step / PARTS
        for time in (now + k * h for k in range(PARTS)):
            middle = self._angles + 0.5 * h * self.rates(time, self._angles)
            self._angles = self._angles + h * self.rates(time + 0.5 * h, middle)
        return np.clip(self._angles[..., 1:] / self.reach, -1.0, 1.0).astype(np.float32)

    def rates(self, time: ArrayLike, angles: Array) -> Array:
        """Return the rates (..., 1 + joints) of the head's heading and of the joints' angles [rad/s].

        Args:
            time: since the start (...,) [s].
            angles: heading and angles (..., 1 + joints) [rad].
        """
        now = np.asarray(time, dtype=np.float64)
        part = np.clip(now / self.ramp, 0.0, 1.0) if self.ramp > 0.0 else np.ones_like(now)
        grown = part * part * (3.0 - 2.0 * part)
        growing = np.where(part < 1.0, 6.0 * part * (1.0 - part) / (self.ramp or 1.0), 0.0)
        pulse = 2.0 * np.pi * self.frequency
        wave, slope = np.sin(pulse * now), pulse * np.cos(pulse * now)
        v = self.speed * grown
        w = self.turn * (growing * wave + grown * slope) - TRACK * grown * (angles[..., 0] - self.turn * grown * wave)
        rates, half = [w], 0.5 * self.link
        for angle in np.moveaxis(angles[..., 1:], -1, 0):
            sine, cosine = np.sin(angle), np.cos(angle)
            v, turning = v * cosine - half * w * sine, -v * sine / half - w * cosine
            rates.append(turning - w)
            w = turning
        return np.stack(rates, axis=-1)

    def _seen(self, positions: Array) -> Array:
        """Return the head's heading and the joints' angles (..., 1 + joints) [rad] of the snake's coordinates."""
        w, _, _, z = np.moveaxis(positions[..., HEAD], -1, 0)
        return np.concatenate((2.0 * np.arctan2(z, w)[..., None], positions[..., HEAD.stop :]), axis=-1)

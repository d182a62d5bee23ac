"""Gait of a snake on skates: the head follows a wave, every link follows the one before it."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.control.actuators import Array, require_finite_fields

INTEGRATION_STEPS = 8  # of the angles in a control step
HEADING_GAIN = 2.0  # rate at which the head returns to its wave [1/s]
HEAD = slice(3, 7)  # orientation of the head among the joint positions; joint angles follow


@dataclass
class Skating:
    """Controller of a planar chain whose links cannot slip sideways at their middles.

    A link of length l with forward velocity v and angular velocity w determines those of the next
    one, at a joint angle a, by

        v' = v cos a - l/2 w sin a,        w' = -2/l v sin a - w cos a

    (the joint has one velocity, the middle of the next link has no sideways velocity). Speed and
    turning of the head thus determine the rates w' - w of all joint angles. A bent chain has no
    other motion: waves of angles that violate these rates jam. The angles are integrated from those
    at the start, and slowly pulled to the measured ones: an error in them travels to the tail and
    leaves the snake, whereas fast feedback would amplify noise of the joints. With the heading
    ``turn`` sin(2 pi frequency time) of the head the mean velocity of the snake is ``speed``
    J0(``turn``), with Bessel's function J0.

    The controller has a state for each snake; a decreasing time starts a new episode.

    Attributes:
        action_scale: target angle of an action of 1 [rad].
        link: length of a link [m].
        step: duration of an action [s].
        speed: of the head along itself [m/s].
        turn: amplitude of the heading of the head [rad].
        frequency: of the heading [Hz].
        ramp: time in which speed and amplitude grow from zero [s].
        pull: rate at which the angles are pulled to the measured ones [1/s].
    """

    batched: ClassVar[bool] = True  # works on arrays over leading dimensions

    action_scale: float
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
        require_finite_fields(self)

    def __call__(self, observation: ArrayLike, info: Mapping[str, Any]) -> NDArray[np.float32]:
        """Return the action (..., joints) for the joint positions and the time in `info`."""
        measured = self._measured(np.asarray(info["joint_positions"]))
        start = np.asarray(info["time"], dtype=np.float64)
        if self._angles is None or self._angles.shape != measured.shape:
            self._angles = measured
        if self._time.shape == start.shape:
            restarted = start < self._time
        else:
            restarted = np.ones_like(start, dtype=np.bool_)
        error = measured - self._angles
        # full turns of the head are no error
        error[..., 0] = np.mod(error[..., 0] + np.pi, 2.0 * np.pi) - np.pi
        fraction = np.where(restarted, 1.0, min(1.0, self.pull * self.step))
        self._angles = self._angles + fraction[..., None] * error
        self._time = start
        h = self.step / INTEGRATION_STEPS
        for time in (start + k * h for k in range(INTEGRATION_STEPS)):
            middle = self._angles + 0.5 * h * self.rates(time, self._angles)
            self._angles = self._angles + h * self.rates(time + 0.5 * h, middle)
        return np.clip(self._angles[..., 1:] / self.action_scale, -1.0, 1.0).astype(np.float32)

    def rates(self, time: ArrayLike, angles: Array) -> Array:
        """Return the rates (..., 1 + joints) of heading and joint angles [rad/s].

        Args:
            time: since the start (...,) [s].
            angles: heading and joint angles (..., 1 + joints) [rad].
        """
        times = np.asarray(time, dtype=np.float64)
        part = np.clip(times / self.ramp, 0.0, 1.0) if self.ramp > 0.0 else np.ones_like(times)
        growth = part * part * (3.0 - 2.0 * part)
        growth_rate = np.where(part < 1.0, 6.0 * part * (1.0 - part) / (self.ramp or 1.0), 0.0)
        omega = 2.0 * np.pi * self.frequency
        wave = np.sin(omega * times)
        wave_rate = omega * np.cos(omega * times)
        heading_error = angles[..., 0] - self.turn * growth * wave
        v = self.speed * growth
        w = self.turn * (growth_rate * wave + growth * wave_rate)
        w = w - HEADING_GAIN * growth * heading_error
        rates = [w]
        half = 0.5 * self.link
        for angle in np.moveaxis(angles[..., 1:], -1, 0):
            sine, cosine = np.sin(angle), np.cos(angle)
            next_w = -v * sine / half - w * cosine
            v = v * cosine - half * w * sine
            rates.append(next_w - w)
            w = next_w
        return np.stack(rates, axis=-1)

    def _measured(self, positions: Array) -> Array:
        """Return heading and joint angles (..., 1 + joints) [rad] of joint positions."""
        w, _, _, z = np.moveaxis(positions[..., HEAD], -1, 0)
        heading = 2.0 * np.arctan2(z, w)
        return np.concatenate((heading[..., None], positions[..., HEAD.stop :]), axis=-1)

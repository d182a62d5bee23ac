"""Open-loop gaits of the Minitaur in leg extension and swing.

Extension e(t) = mean + lift cos(phase) and swing s(t) = lean - swing sin(phase), the robot's
published trotting signals (without lean): long while the leg swings back, short while it swings
forwards. The gaits differ in the phases of the legs and in their parameters.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vigym.control.actuators import Array, require_finite_fields
from vigym.control.minitaur_legs import action_of

TURN = 2.0 * np.pi

# Found by a search for speed and little cost of transport (bound) and by hand (pronk); with the
# parameters of the trot these gaits do not move forwards.
BOUND = {"frequency": 4.5, "extension": 2.05, "lift": 0.0, "swing": 0.55, "lean": 0.2}
PRONK = {"frequency": 4.0, "extension": 2.2, "lift": 0.2, "swing": 0.4}


@dataclass(frozen=True, kw_only=True)
class Gait:
    """Gait whose legs extend and swing periodically in `info["time"]`.

    Attributes:
        phases: of the legs, front left, back left, front right, back right [turns].
        frequency: steps of a foot per second [Hz].
        extension: mean of the leg's extension [rad].
        lift: amplitude of the extension [rad].
        swing: amplitude of the swing [rad].
        lean: mean of the swing [rad]; positive: legs reach forwards.
        ramp: time in which the amplitudes grow to their full size [s]; 0: no growth.
    """

    batched: ClassVar[bool] = True  # works on arrays over leading dimensions

    phases: tuple[float, ...]
    frequency: float = 2.0
    extension: float = 2.0
    lift: float = 0.25
    swing: float = 0.3
    lean: float = 0.0
    ramp: float = 0.5

    def __post_init__(self) -> None:
        require_finite_fields(self)

    def legs(self, time: Array | float) -> tuple[Array, Array]:
        """Return swings and extensions of the legs (..., 4) [rad] at times (...,) [s]."""
        times = np.asarray(time, dtype=np.float64)[..., None]
        phase = TURN * (self.frequency * times + np.array(self.phases))
        growth = np.minimum(times / self.ramp, 1.0) if self.ramp > 0.0 else np.ones_like(times)
        swing = growth * (self.lean - self.swing * np.sin(phase))
        return swing, self.extension + growth * self.lift * np.cos(phase)

    def __call__(self, observation: Array, info: Mapping[str, Any]) -> NDArray[np.float32]:
        """Return the action (..., 8) at `info["time"]`; the observation is not used."""
        return action_of(*self.legs(info["time"])).clip(-1.0, 1.0).astype(np.float32)


def trot(**parameters: float) -> Gait:
    """Return the gait with diagonal legs in phase; `parameters` as of `Gait`."""
    return Gait(phases=(0.0, 0.5, 0.5, 0.0), **parameters)


def bound(**parameters: float) -> Gait:
    """Return the gait with the front legs in phase and the back legs behind, with flight phases.

    Its speed is 1.07 m/s with 39 W, a cost of transport of 0.61; `parameters` as of `Gait`.
    """
    return Gait(phases=(0.0, 0.4, 0.0, 0.4), **{**BOUND, **parameters})


def pronk(**parameters: float) -> Gait:
    """Return the gait with all legs in phase; `parameters` as of `Gait`."""
    return Gait(phases=(0.0, 0.0, 0.0, 0.0), **{**PRONK, **parameters})

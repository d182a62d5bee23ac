"""Open-loop gait of the quadruped: hips and knees follow sines, six parameters in all.

Targets of a leg: hip 0.8 + hip_lean + hip_swing sin(phase), knee -1.6 + knee_lean + knee_swing
sin(phase + knee_lag); abductions stay. Diagonal legs are in phase. Joints are in the order
abduction, hip, knee; legs in the order front left, back left, front right, back right.
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

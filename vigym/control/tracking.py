"""Tracking of the exoskeleton's references by gains on angles and rates.

Torque of a motor = kp (reference - angle) + kd (its rate - rate). Shoulder and elbow flex by sines,
abduction and rotation of the shoulder stay at zero.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vigym.control.actuators import Array, require_finite_fields

EFFORTS = np.array((40.0, 40.0, 20.0, 20.0))  # flexion, abduction, rotation, elbow [N m]
ABDUCTION, ROTATION = (150.0, 5.0), (20.0, 0.5)  # gains [N m/rad, N m s/rad]


@dataclass(frozen=True, kw_only=True)
class Tracking:
    """Controller that follows the references of an exoskeleton.

    Attributes:
        shoulder_kp: stiffness of the shoulder's flexion [N m/rad].
        shoulder_kd: damping of it [N m s/rad].
        elbow_kp: stiffness of the elbow [N m/rad].
        elbow_kd: damping of it [N m s/rad].
    """

    batched: ClassVar[bool] = True  # works on arrays over leading dimensions

    shoulder_kp: float = 200.0
    shoulder_kd: float = 10.0
    elbow_kp: float = 60.0
    elbow_kd: float = 3.0

    def __post_init__(self) -> None:
        require_finite_fields(self)

    def __call__(self, observation: Array, info: Mapping[str, Any]) -> NDArray[np.float32]:
        """Return the action (..., 4) of the observed angles, rates and references (..., 12)."""
        kp, kd = np.array(
            (
                (self.shoulder_kp, self.shoulder_kd),
                ABDUCTION,
                ROTATION,
                (self.elbow_kp, self.elbow_kd),
            )
        ).T
        references = np.zeros((2, *observation.shape[:-1], len(EFFORTS)))
        references[..., 0] = observation[..., 8], observation[..., 10]
        references[..., 3] = observation[..., 9], observation[..., 11]
        angles, rates = observation[..., 0:4], observation[..., 4:8]
        torques = kp * (references[0] - angles) + kd * (references[1] - rates)
        action: NDArray[np.float32] = (torques / EFFORTS).clip(-1.0, 1.0).astype(np.float32)
        return action

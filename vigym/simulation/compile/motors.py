"""Constants of motors in the core's tables: of joints, and along curves and coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vigym.core.tables.constants import DOF_MODEL
from vigym.core.tables.plan import DC_MOTOR, NO_MOTOR, PD_MOTOR
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.motors import Motor

if TYPE_CHECKING:
    from vigym.mechanism.mechanism import Mechanism

CURVE = DOF_MODEL.fields["currents"].width  # points of a motor's saturation curve


def motor_kind(mechanism: Mechanism, name: str) -> int:
    """Return the kind of the motor of a joint or coordinate."""
    motor = mechanism.motors.get(name)
    if motor is None:
        return NO_MOTOR
    return PD_MOTOR if motor.model is None else DC_MOTOR


def set_motor(row: np.void, motor: Motor) -> None:
    """Write the constants of a motor to the row of the degree of freedom that it drives.

    Raises:
        MechanismError: a saturation of more points than the tables hold.
    """
    row["kp"], row["kd"] = motor.kp, motor.kd
    row["force_limit"] = motor.effort
    if motor.model is None:
        return
    model, count = motor.model, len(motor.model.currents)
    if count > CURVE:
        raise MechanismError(
            f"motor of joint {motor.joint!r}: found {count} points of its saturation, "
            f"expected at most {CURVE}"
        )
    row["voltage"], row["resistance"] = model.voltage, model.resistance
    row["back_emf"] = model.torque_constant + model.viscous
    row["currents"] = [*model.currents, *[model.currents[-1]] * (CURVE - count)]
    row["torques"] = [*model.torques, *[model.torques[-1]] * (CURVE - count)]

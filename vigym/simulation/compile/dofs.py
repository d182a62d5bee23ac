"""What the compiled core sees of the joints' freedoms and of springs: rows of its tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vigym.core import tables as T
from vigym.core.simd import LANES
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.joints import Joint
from vigym.mechanism.topology.effective_mass import Mobility
from vigym.mechanism.topology.joint_frames import relative_pose
from vigym.simulation.compile.layout import Rows, starts

if TYPE_CHECKING:
    from vigym.mechanism.mechanism import Mechanism


def _field(offset: int, width: int) -> slice:
    return slice(offset // LANES, offset // LANES + width)


def _freedom_rows(mechanism: Mechanism, joint: Joint) -> np.ndarray:
    count = len(joint.prototype.velocities)
    rows = np.zeros((count, T.FREEDOM))
    rests = tuple(joint.rest) or (0.0,) * count
    if joint.type == "floating":  # its coordinates are absolute, its spring is slack at the assembly
        rests = (*relative_pose(mechanism, joint.parent, joint.child)[:3], 0.0, 0.0, 0.0)
    for j in range(count):
        rows[j, _field(T.DAMPING, 1)] = joint.damping
        rows[j, _field(T.STIFFNESS, 1)] = joint.stiffness
        rows[j, _field(T.REST, 1)] = rests[j]
        rows[j, _field(T.ARMATURE, 1)] = joint.armature
        rows[j, _field(T.EFFORT, 1)] = joint.effort or 0.0
        low, up = (-np.inf, np.inf) if joint.limits is None else joint.limits[j]
        rows[j, _field(T.LOWER, 3)] = low, up, joint.friction
    if joint.name in mechanism.motors:
        rows[0, _field(T.KP, T.FREEDOM - T.KP // LANES)] = _motor_row(mechanism, joint)
    return rows


def _motor_row(mechanism: Mechanism, joint: Joint) -> np.ndarray:
    """Constants of a joint's motor."""
    motor, row = mechanism.motors[joint.name], np.zeros(T.FREEDOM - T.KP // LANES)
    row[:4] = motor.kp, motor.kd, motor.effort, np.inf if joint.velocity is None else joint.velocity
    if motor.model is not None:
        model, count = motor.model, len(motor.model.currents)
        if count > CURVE:
            raise MechanismError(
                f"motor of joint {joint.name!r}: found {count} points of its saturation, expected at most {CURVE}"
            )
        row[4:7] = model.voltage, model.resistance, model.torque_constant + model.viscous
        row[7 : 7 + CURVE] = [*model.currents, *[model.currents[-1]] * (CURVE - count)]
        row[7 + CURVE :] = [*model.torques, *[model.torques[-1]] * (CURVE - count)]
    return row


CURVE = 8  # points of a motor's saturation curve


def freedom_rows(mechanism: Mechanism, rows: Rows, mobility: Mobility | None) -> np.ndarray:
    """Constants of all freedoms, (freedoms, FREEDOM)."""
    springs = np.zeros((len(mechanism.springs), T.FREEDOM))
    for row, spring in zip(springs, mechanism.springs.values(), strict=True):
        row[_field(T.DAMPING, 1)], row[_field(T.STIFFNESS, 1)] = spring.damping, spring.stiffness
        row[_field(T.REST, 1)] = spring.rest_length
    joints = [*rows.order, *mechanism.closing_joints]
    tables = [_freedom_rows(mechanism, joint) for joint in joints]
    tree = mechanism.tree_joints
    first = starts([joint.name for joint in tree], [len(joint.prototype.velocities) for joint in tree])
    for joint, table in zip(rows.order, tables if mobility else [], strict=False):
        assert mobility is not None
        table[:, T.EASE // LANES] = [mobility.inertia_along(first[joint.name] + j) for j in range(len(table))]
    return np.concatenate([np.zeros((0, T.FREEDOM)), *tables, springs])

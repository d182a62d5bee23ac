"""Constants of the degrees of freedom of joints and of springs between points."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vigym.core.tables.constants import DOF_MODEL
from vigym.mechanism.elements.joints import Joint
from vigym.mechanism.topology.effective_mass import Mobility
from vigym.mechanism.topology.joint_frames import relative_pose
from vigym.simulation.compile.layout import Rows, starts
from vigym.simulation.compile.motors import set_motor

if TYPE_CHECKING:
    from vigym.mechanism.mechanism import Mechanism


def _joint_dofs(mechanism: Mechanism, joint: Joint) -> np.ndarray:
    """Return the rows of a joint's degrees of freedom."""
    count = joint.dofs
    rows = DOF_MODEL.rows(count)
    rests = tuple(joint.rest) or (0.0,) * count
    if (
        joint.type == "floating"
    ):  # its coordinates are absolute, its spring is slack at the assembly
        rests = (*relative_pose(mechanism, joint.parent, joint.child)[:3], 0.0, 0.0, 0.0)
    rows["damping"] = joint.dof_damping
    rows["stiffness"] = joint.dof_stiffness
    rows["rest"] = rests[:count]
    rows["armature"] = joint.armature
    rows["effort"] = joint.effort or 0.0
    rubbing = rows[-3:] if joint.joint_type.has_quaternion else rows
    rubbing["friction"] = joint.friction
    rows["lower"], rows["upper"] = -np.inf, np.inf
    if joint.limits is not None:
        given = rows[: len(joint.limits)]
        given["lower"], given["upper"] = joint.limits.T
    if joint.name in mechanism.motors:
        set_motor(rows[0], mechanism.motors[joint.name])
        rows["velocity_limit"] = np.inf if joint.velocity is None else joint.velocity
    return rows


def dof_rows(mechanism: Mechanism, rows: Rows, mobility: Mobility | None) -> np.ndarray:
    """Return the constants of all degrees of freedom, (n_dofs,) of DOF_MODEL.

    Args:
        mechanism: its joints and point springs.
        rows: their rows.
        mobility: of its bodies; None where nothing has limits, friction, motors or contacts.
    """
    springs = DOF_MODEL.rows(len(mechanism.springs))
    for row, spring in zip(springs, mechanism.springs.values(), strict=True):
        row["damping"], row["stiffness"] = spring.damping, spring.stiffness
        row["rest"] = spring.rest_length
    tables = [_joint_dofs(mechanism, joint) for joint in (*rows.order, *mechanism.closing_joints)]
    if mobility is not None:
        tree, inertias = mechanism.tree_joints, mobility.effective_inertias()
        first = starts([joint.name for joint in tree], [joint.dofs for joint in tree])
        for joint, table in zip(rows.order, tables, strict=False):
            start = first[joint.name]
            table["effective_mass"] = inertias[start : start + len(table)]
        ends = np.cumsum([len(table) for table in tables[len(rows.order) :]])
        closing = np.split(mobility.closing_inertias(), ends[:-1]) if len(ends) else []
        for table, own in zip(tables[len(rows.order) :], closing, strict=True):
            table["effective_mass"] = own
        springs["effective_mass"] = mobility.spring_masses()
    names = [joint.name for joint in (*rows.order, *mechanism.closing_joints)]
    by_joint = dict(zip(names, tables, strict=True))
    ordered = [by_joint[joint.name] for joint in rows.dof_order]
    return np.concatenate([DOF_MODEL.rows(0), *ordered, springs])

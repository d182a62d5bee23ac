"""Bodies and joints of a mechanism from a compiled model; starts from its keyframes."""

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vigym.mechanism.elements.checks import Array
from vigym.mjcf.actuators import Actuator, read_actuators
from vigym.mjcf.bodies import Robot
from vigym.mjcf.shapes import drawn_shapes
from vigym.spatial import rotation_matrix

KINDS = ("floating", "spherical", "prismatic", "revolute")  # numbers of mujoco's mjtJoint
NONE = (0.0, 0.0, 0.0)
ROUNDING = 1e-14  # components of axes below it are zero
SQUARE = 1e-9  # cosine of axes at right angles


def add_bodies(robot: Robot) -> None:
    """Add all bodies that move, with their joints and motors.

    Between several joints of one body are bodies without mass.
    """
    m, actuators = robot.model, read_actuators(robot)
    for root, group in robot.groups.items():
        pose, shapes = group.pose, drawn_shapes(robot, root)
        robot.mechanism.add_body(
            group.name, group.mass, group.inertia, pose.position, pose.orientation, shapes
        )
        before = robot.carrier(int(m.body_parentid[root]))
        joints = _joints_of(robot, root)
        if _floats(robot, joints, actuators):
            _add_floating(robot, joints, before, group.name)
            continue
        for joint in joints:
            child = group.name
            if joint < joints[-1]:
                child = robot.new_name("body", f"{group.name}:{robot.name('joint', joint)}")
                place = robot.data.xanchor[joint]
                robot.mechanism.add_body(child, 0.0, NONE, place, pose.orientation)
            _add_joint(robot, joint, (before, child), actuators.get(joint))
            before = child


def _joints_of(robot: Robot, body: int) -> list[int]:
    first = int(robot.model.body_jntadr[body])
    return list(range(first, first + int(robot.model.body_jntnum[body])))


def _floats(robot: Robot, joints: list[int], actuators: Collection[int] = ()) -> bool:
    """Return whether joints are three free slides at right angles and a ball, or one free joint."""
    m = robot.model
    kinds = [KINDS[int(m.jnt_type[joint])] for joint in joints]
    if kinds != ["prismatic"] * 3 + ["spherical"]:
        return kinds == ["floating"]
    dofs = np.arange(6) + int(m.jnt_dofadr[joints[0]])
    arrays = [m.jnt_limited[joints], m.jnt_stiffness[joints]]
    arrays += [each[dofs] for each in (m.dof_damping, m.dof_armature, m.dof_frictionloss)]
    axes = robot.data.xaxis[joints[:3]]
    square = np.abs(axes @ axes.T - np.eye(3)).max() < SQUARE
    return square and not any(each.any() for each in arrays) and not set(joints) & set(actuators)


def _add_floating(robot: Robot, joints: list[int], parent: str, child: str) -> None:
    """Add the joint of a body that floats, named as the last of its joints."""
    name = joint_name(robot, joints[-1])
    if len(joints) > 1:
        names = ", ".join(joint_name(robot, joint) for joint in joints)
        robot.note("changed", f"joints {names}", f"one floating joint, {name!r}")
        robot.mechanism.add_joint(name, "floating", parent, child, robot.data.xanchor[joints[-1]])
    else:
        _add_joint(robot, joints[0], (parent, child), None)


def joint_name(robot: Robot, joint: int) -> str:
    """Return the name of a joint; without one that of its body and a number."""
    m = robot.model
    body = int(m.jnt_bodyid[joint])
    several = m.body_jntnum[body] > 1
    number = f"{joint - m.body_jntadr[body] + 1}" if several else ""
    return robot.name("joint", joint, f"{robot.name('body', body)}_joint{number}")


def _add_joint(robot: Robot, joint: int, ends: tuple[str, str], actuator: Actuator | None) -> None:
    d, name = robot.data, joint_name(robot, joint)
    kind = KINDS[int(robot.model.jnt_type[joint])]
    parameters = _parameters(robot, joint, kind, f"joint {name!r}")
    if actuator is not None:
        spring = (parameters.get(key, 0.0) for key in ("stiffness", "damping", "rest"))
        parameters |= actuator.parameters(*spring)
    axis = np.array(d.xaxis[joint])
    axis = np.where(np.abs(axis) < ROUNDING, 0.0, axis)
    robot.mechanism.add_joint(name, kind, *ends, d.xanchor[joint], axis, **parameters)
    if actuator is not None:
        actuator.add_motor(robot.mechanism, name)


def _parameters(robot: Robot, joint: int, kind: str, place: str) -> dict[str, Any]:
    """Return limits and forces of a joint."""
    m = robot.model
    dof, q = int(m.jnt_dofadr[joint]), int(m.jnt_qposadr[joint])
    more: dict[str, Any] = {"damping": float(m.dof_damping[dof])}
    more["stiffness"] = float(m.jnt_stiffness[joint])
    if m.jnt_stiffnesspoly[joint].any() or m.dof_dampingpoly[dof].any():
        robot.note("dropped", place, "terms of its spring or damper above the linear ones")
    if robot.is_single(joint):
        zero = float(m.qpos0[q])
        more["armature"], more["friction"] = map(
            float, (m.dof_armature[dof], m.dof_frictionloss[dof])
        )
        if m.jnt_stiffness[joint]:
            more["rest"] = float(m.qpos_spring[q]) - zero
        if m.jnt_limited[joint]:
            more["limits"] = (m.jnt_range[joint] - zero).tolist()
        if zero:
            robot.note("changed", place, f"its coordinate is zero at the file's ref, {zero:g}")
        return more
    lost = {"armature": m.dof_armature[dof], "friction": m.dof_frictionloss[dof]}
    lost["limits"] = m.jnt_limited[joint]
    if kind == "floating":
        lost["stiffness"] = more.pop("stiffness")
    for quantity in (each for each, value in lost.items() if value):
        robot.note("dropped", place, f"{quantity} of a {kind} joint")
    return more


def add_starts(robot: Robot) -> None:
    """Add the keyframes as starts of the mechanism, but for nameless ones of the zero pose."""
    m = robot.model
    for key in range(m.nkey):
        qpos = np.array(m.key_qpos[key])
        named = bool(m.key(key).name)
        if named or not np.allclose(qpos, m.qpos0, rtol=0.0, atol=1e-12):
            robot.mechanism.starts[robot.name("key", key)] = positions_of(robot, qpos)
    if m.nkey and (m.key_qvel.any() or m.key_ctrl.any()):
        robot.note("ignored", f"{m.nkey} keyframes", "velocities and controls: starts are at rest")


def positions_of(robot: Robot, qpos: Array) -> dict[str, ArrayLike]:
    """Return joint -> position, as a simulator's `reset` takes it, from coordinates of mujoco."""
    import mujoco

    m = robot.model
    data = mujoco.MjData(m)
    data.qpos[:] = qpos
    mujoco.mj_kinematics(m, data)
    found: dict[str, ArrayLike] = {}
    for root, group in robot.groups.items():
        joints = _joints_of(robot, root)
        name = joint_name(robot, joints[-1])
        if name in robot.mechanism.joints and robot.mechanism.joints[name].type == "floating":
            turn = np.array(data.xquat[root])
            center = data.xpos[root] + rotation_matrix(turn) @ group.center
            found[name] = [*center.tolist(), *turn.tolist()]
            continue
        for joint in joints:
            q = int(m.jnt_qposadr[joint])
            value = float(qpos[q] - m.qpos0[q])
            ball = not robot.is_single(joint)
            found[joint_name(robot, joint)] = qpos[q : q + 4].tolist() if ball else value
    return found

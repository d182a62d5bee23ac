"""Bodies and joints of a mechanism from a compiled model; starts from its keyframes."""

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.errors import MechanismError
from vigym.mjcf.actuators import Actuator, read_actuators
from vigym.mjcf.bodies import Robot
from vigym.mjcf.shapes import drawn_shapes
from vigym.spatial import quaternion_product, rotation_matrix

KINDS = ("floating", "spherical", "prismatic", "revolute")  # numbers of mujoco's mjtJoint
NONE = (0.0, 0.0, 0.0)
ROUNDING = 1e-14  # components of axes below it are zero
SQUARE = 1e-9  # cosine of axes at right angles, distance of anchors [m]
EQUAL_JOINTS = 2  # mujoco's mjEQ_JOINT


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
        merged = _merged(robot, joints, actuators)
        for joint in joints:
            child = group.name
            if joint == joints[-1] - merged + 1 and merged:
                _add_merged(robot, joints[-merged:], before, child)
                break
            if joint < joints[-1]:
                child = robot.new_name("body", f"{group.name}:{robot.name('joint', joint)}")
                place = robot.data.xanchor[joint]
                robot.mechanism.add_body(child, 0.0, NONE, place, pose.orientation)
            _add_joint(robot, joint, (before, child), actuators.get(joint))
            before = child


def _joints_of(robot: Robot, body: int) -> list[int]:
    first = int(robot.model.body_jntadr[body])
    return list(range(first, first + int(robot.model.body_jntnum[body])))


def _merged(robot: Robot, joints: list[int], actuators: Collection[int]) -> int:
    """Return how many of the last joints of a body are one floating or spherical joint together.

    A ball, or three hinges at right angles through one point, is spherical; it floats with three
    slides at right angles. Nothing else may act on such joints, or tell their coordinates.
    """
    m, d = robot.model, robot.data
    kinds = [KINDS[int(m.jnt_type[joint])] for joint in joints]
    hinges = kinds[-3:] == ["revolute"] * 3
    if hinges:
        anchors = d.xanchor[joints[-3:]]
        hinges = _are_square(d.xaxis[joints[-3:]]) and np.ptp(anchors, axis=0).max() < SQUARE
    turning = 3 if hinges else int(kinds[-1] == "spherical")
    slides = joints[: -turning or None][-3:]
    floats = turning and kinds[: -turning or None][-3:] == ["prismatic"] * 3
    count = turning + 3 if floats and _are_square(d.xaxis[slides]) else turning
    if count < 2:
        return 0
    last = joints[-count:]
    coupled = m.eq_type == EQUAL_JOINTS
    read = {*actuators, *m.eq_obj1id[coupled].tolist(), *m.eq_obj2id[coupled].tolist()}
    dofs = np.isin(m.dof_jntid, last)
    acting = [m.jnt_limited[last], m.jnt_stiffness[last]]
    acting += [each[dofs] for each in (m.dof_damping, m.dof_armature, m.dof_frictionloss)]
    return 0 if any(each.any() for each in acting) or read.intersection(last) else count


def _are_square(axes: Array) -> bool:
    return bool(np.abs(axes @ axes.T - np.eye(3)).max() < SQUARE)


def _add_merged(robot: Robot, joints: list[int], parent: str, child: str) -> None:
    """Add one joint for several, named as the last of them."""
    names = [joint_name(robot, joint) for joint in joints]
    kind = "spherical" if len(joints) == 3 else "floating"
    robot.note("changed", f"joints {', '.join(names)}", f"one {kind} joint, {names[-1]!r}")
    robot.mechanism.add_joint(names[-1], kind, parent, child, robot.data.xanchor[joints[-1]])


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
    lost = {"armature": m.dof_armature[dof], "limits": m.jnt_limited[joint]}
    friction = float(m.dof_frictionloss[dof])
    if kind == "floating":
        lost |= {"friction": friction, "stiffness": more.pop("stiffness")}
    else:
        more["friction"] = friction
    for quantity in (each for each, value in lost.items() if value):
        robot.note("dropped", place, f"{quantity} of a {kind} joint")
    return more


def add_starts(robot: Robot) -> None:
    """Add the keyframes as starts of the mechanism, but for nameless ones of the zero pose."""
    m = robot.model
    for key in range(m.nkey):
        qpos = np.array(m.key_qpos[key])
        named = bool(m.key(key).name)
        _check_key(robot, key, qpos)
        if named or not np.allclose(qpos, m.qpos0, rtol=0.0, atol=1e-12):
            robot.mechanism.starts[robot.name("key", key)] = positions_of(robot, qpos)
    if m.nkey and (m.key_qvel.any() or m.key_ctrl.any()):
        names = [robot.name("key", key) for key in range(m.nkey)]
        reason = "velocities and controls: starts are at rest"
        robot.note_all("ignored", "keyframes", names, reason)


def _check_key(robot: Robot, key: int, qpos: Array) -> None:
    """Add a note on joints of a keyframe beyond their limits; raise for one that is not finite."""
    m, name = robot.model, robot.name("key", key)
    outside: list[str] = []
    joints = np.searchsorted(m.jnt_qposadr, np.arange(m.nq), side="right") - 1
    for joint, value in zip(joints.tolist(), qpos.tolist(), strict=True):
        if not np.isfinite(value):
            place = f"key {name!r}, joint {joint_name(robot, joint)!r}"
            raise MechanismError(f"{place}: found {value}, expected a finite number")
        low, high = m.jnt_range[joint]
        if m.jnt_limited[joint] and robot.is_single(joint) and not low <= value <= high:
            outside.append(joint_name(robot, joint))
    robot.note_all("changed", f"joints of key {name!r}", outside, "it starts beyond their limits")


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
        turn = np.array([1.0, 0.0, 0.0, 0.0])  # by joints that are one
        for joint in joints:
            name, q = joint_name(robot, joint), int(m.jnt_qposadr[joint])
            kind = robot.mechanism.joints[name].type if name in robot.mechanism.joints else ""
            if robot.is_single(joint) and KINDS[int(m.jnt_type[joint])] != kind:
                angle = 0.5 * (qpos[q] - m.qpos0[q])
                axis = np.sin(angle) * m.jnt_axis[joint]
                turn = quaternion_product(turn, np.array([np.cos(angle), *axis]))
            if kind == "floating":
                turn = np.array(data.xquat[root])
                center = data.xpos[root] + rotation_matrix(turn) @ group.center
                found[name] = [*center.tolist(), *turn.tolist()]
            elif kind == "spherical":
                found[name] = (turn if robot.is_single(joint) else qpos[q : q + 4]).tolist()
            elif kind:
                found[name] = float(qpos[q] - m.qpos0[q])
    return found

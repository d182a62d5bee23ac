"""Equalities of a compiled model as loop-closing joints and couplings."""

import numpy as np

from vigym.mechanism.elements.bodies import WORLD
from vigym.mechanism.elements.checks import Array
from vigym.mjcf.bodies import Robot, enum_name
from vigym.mjcf.chains import joint_name
from vigym.spatial import IDENTITY, Pose, quaternion_from_matrix, rotation_matrix

ROUNDING = 1e-12  # [m, rad] joint frames nearer than that coincide
TORQUE_SCALE = 10  # in the numbers of a weld; zero leaves turns free


def add_equalities(robot: Robot) -> None:
    """Add loops by <connect> and <weld>, and couplings by <joint>; notes tell of all others."""
    import mujoco

    m = robot.model
    lost: dict[str, list[str]] = {}
    for number in range(m.neq):
        name = robot.name("equality", number)
        kind = enum_name(mujoco.mjtEq, int(m.eq_type[number]))
        if not m.eq_active0[number]:
            fault = "not active at the start"
        elif kind in ("connect", "weld"):
            fault = _add_loop(robot, number, name, kind)
        elif kind == "joint":
            fault = _add_coupling(robot, number, name)
        else:
            fault = f"equalities of type {kind}"
        if fault:
            lost.setdefault(fault, []).append(name)
    for reason, names in lost.items():
        robot.note_all("dropped", "equalities", names, reason)


def _add_loop(robot: Robot, number: int, name: str, kind: str) -> str:
    """Add a loop-closing joint; return why it is left out, "" if it is not."""
    m = robot.model
    bodies = (int(m.eq_obj1id[number]), int(m.eq_obj2id[number]))
    first, second = _frames(robot, number, kind)
    if _is_site(robot, number):
        bodies = int(m.site_bodyid[bodies[0]]), int(m.site_bodyid[bodies[1]])
    parent, child = map(robot.carrier, bodies)
    if parent == child:
        return "both ends are on one body"
    if child == WORLD:
        parent, child = child, parent
        first, second = second, first
    ball = kind == "connect" or not m.eq_data[number, TORQUE_SCALE]
    if ball:  # a point has no axes
        first, second = _at(first.position), _at(second.position)
    turn = second.rotation @ first.rotation.T
    gap = float(np.abs(second.position - first.position).max())
    wide = bool(np.abs(turn - np.eye(3)).max() > ROUNDING)
    robot.mechanism.add_joint(
        name,
        "spherical" if ball else "fixed",
        parent,
        child,
        first.position,
        child_position=second.position if gap > ROUNDING or wide else None,
        child_rotation=quaternion_from_matrix(turn) if wide else None,
    )
    if gap > ROUNDING or wide:
        message = f"open by {gap:.2g} m at the file's zero; starts close it"
        robot.note("assembled", f"equality {name!r}", message)
    return ""


def _is_site(robot: Robot, number: int) -> bool:
    import mujoco

    return bool(robot.model.eq_objtype[number] == mujoco.mjtObj.mjOBJ_SITE)


def _frames(robot: Robot, number: int, kind: str) -> tuple[Pose, Pose]:
    """Return the frames on both bodies that the equality holds together, in the world."""
    m = robot.model
    data, ends = m.eq_data[number], (int(m.eq_obj1id[number]), int(m.eq_obj2id[number]))
    if _is_site(robot, number):
        first, second = (robot.pose("site", end) for end in ends)
    else:
        first, second = (robot.pose("body", end) for end in ends)
        if kind == "connect":
            first, second = first @ _at(data[:3]), second @ _at(data[3:6])
        else:
            first = first @ Pose(np.array(data[3:6]), rotation_matrix(np.array(data[6:10])))
            second = second @ _at(data[:3])
    return first, second


def _at(position: Array) -> Pose:
    return Pose(np.array(position, np.float64), IDENTITY.rotation)


def _add_coupling(robot: Robot, number: int, name: str) -> str:
    """Add a coupling of two joints; return why it is left out, "" if it is not."""
    m = robot.model
    joint, other = int(m.eq_obj1id[number]), int(m.eq_obj2id[number])
    offset, ratio, *higher = m.eq_data[number, :5].tolist()
    if other < 0:
        return "a joint that is held: give it no joint, or a motor"
    if any(higher) or not ratio:
        return "equations of joints that are not linear"
    names = joint_name(robot, joint), joint_name(robot, other)
    robot.mechanism.add_coupling(name, "mimic", *names, ratio, offset)
    return ""

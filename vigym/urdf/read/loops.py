"""Joints that close loops, in the three forms in circulation; URDF itself has none.

`<loop_joint name type>` with `<axis xyz>`, `<link1 link xyz rpy>`, `<link2 link xyz rpy>`, read by the loaders around
RigidBodyDynamics.jl, by ConstrainedDynamics.jl, Dojo.jl and Isaac Sim. link1 is the parent. `xyz` and `rpy` place the
two halves of the joint in their links' frames (as `<origin>` places a joint, not in the frame of the centre of mass);
`axis` is a vector in link1's half and, as the halves coincide at zero, in link2's. Without an axis it is x, as in a
`<joint>`. Both `rpy` count here, as around RigidBodyDynamics.jl. ConstrainedDynamics.jl and Dojo.jl ignore the one of
link2: there zero is how the links lie in the file. Isaac Sim reads no axis. Beyond that: `<axis2>` (universal: the
axis fixed in link2), `<limit lower upper velocity>` and `<dynamics>` of a `<joint>`.

`<constraint name type>`, proposed for ROS in https://github.com/ros/urdfdom/pull/264, with `<parent link>`,
`<parent_origin>`, `<parent_axis>` and the same of the child. Each axis is a vector in its own half, and what coincides
at zero are the halves and the axes (universal: the second axis is the child's).

`<drake:ball_constraint>` of https://drake.mit.edu/doxygen_cxx/group__multibody__parsing.html: two bodies and a point
in the frame of each.
"""

import numpy as np

from vigym.mechanism.elements.bodies import Note
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.joints import JOINT_TYPES
from vigym.spatial import Pose, rotation_between
from vigym.urdf.read.geometry import read_origin, read_pose
from vigym.urdf.read.joints import UNIT_TOLERANCE, Limit, read_axis, read_dynamics, read_limit
from vigym.urdf.read.records import Loop
from vigym.urdf.read.report import LOOPS, ignored
from vigym.urdf.read.xml import Node, local_name

TYPES = tuple(kind.name for kind in JOINT_TYPES.values() if kind.can_close_loop)


def find_loops(robot: Node) -> list[Node]:
    """Return the elements under <robot> that close loops, in the order of the file."""
    order = list(robot.element)
    tags = {child.tag for child in order if local_name(child) in LOOPS}
    found = [node for tag in tags for node in robot.children(tag)]
    return sorted(found, key=lambda node: order.index(node.element))


def read_loop(node: Node, number: int, report: list[Note]) -> Loop:
    """Return the loop in one element, the `number`-th of the file.

    Raises:
        UrdfError: a part that is missing, malformed or of no known type.
    """
    if node.tag == "ball_constraint":
        return _ball_constraint(node, number, report)
    type = node.text("type")
    if type not in TYPES:
        raise node.error(f"type {type!r}", f"one of: {', '.join(TYPES)}")
    return _constraint(node, type, report) if node.tag == "constraint" else _loop_joint(node, type, report)


def _loop_joint(node: Node, type: str, report: list[Note]) -> Loop:
    universal = JOINT_TYPES[type].needs_second_axis
    known = {"link1", "link2", "axis", "limit", "dynamics"} | ({"axis2"} if universal else set())
    report += ignored(node, known)
    first, second = node.need("link1"), node.need("link2")
    limits, effort, velocity = _limits(node, type, report)
    damping, friction, stiffness, rest = read_dynamics(node, type, report)
    axis = read_axis(node, report)
    return Loop(
        name=node.text("name"),
        type=type,
        place=node.place,
        links=(first.text("link"), second.text("link")),
        halves=(read_pose(first), read_pose(second)),
        axis=axis,
        axis2=_across(node.need("axis2"), axis, read_axis(node, report, tag="axis2")) if universal else None,
        limits=limits,
        effort=effort,
        velocity=velocity,
        damping=damping,
        friction=friction,
        stiffness=stiffness,
        rest=rest,
    )


def _limits(node: Node, type: str, report: list[Note]) -> Limit:
    """Return limits, effort and velocity; a closing joint has no limits unless they are written, and no actuator."""
    limit = node.only("limit")
    limits, effort, velocity = read_limit(node, type, report)
    if limit is None:
        return None, None, None
    if effort:
        raise limit.error(f'effort="{effort:g}"', "0: no actuator drives a joint that closes a loop; cut another one")
    return (limits if limit.has("lower") or limit.has("upper") else None), effort, velocity


def _across(node: Node, axis: Array, second: Array) -> Array:
    """Return the second axis without its rounding along the first."""
    cosine = float(axis @ second)
    if abs(cosine) > UNIT_TOLERANCE:
        raise node.error(f'xyz="{node.text("xyz")}"', f"a direction perpendicular to the first axis {axis.tolist()}")
    rest: Array = second - cosine * axis
    return rest / np.sqrt(rest @ rest)


def _constraint(node: Node, type: str, report: list[Note]) -> Loop:
    report += ignored(node, {"parent", "parent_origin", "parent_axis", "child", "child_origin", "child_axis"})
    parent: Pose = read_origin(node, "parent_origin")
    child: Pose = read_origin(node, "child_origin")
    axis = read_axis(node, report, JOINT_TYPES[type].needs_axis, "parent_axis")
    other = read_axis(node, report, JOINT_TYPES[type].needs_axis, "child_axis") if node.only("child_axis") else axis
    axis2 = None
    if JOINT_TYPES[type].needs_second_axis:
        axis2 = _across(node.need("child_axis"), axis, other)
    elif JOINT_TYPES[type].turns_about_axis:  # the axis alone fixes the joint frames
        child = child @ Pose(np.zeros(3), rotation_between(axis, other))
    elif np.abs(other - axis).max() > UNIT_TOLERANCE:
        written = node.need("child_axis")
        raise written.error(f'xyz="{written.text("xyz")}"', f"the parent's axis {axis.tolist()} for a {type} joint")
    links = (node.need("parent").text("link"), node.need("child").text("link"))
    return Loop(node.text("name"), type, node.place, links, (parent, child), axis, axis2)


def _ball_constraint(node: Node, number: int, report: list[Note]) -> Loop:
    names = [f"ball_constraint_{part}" for part in ("body_A", "body_B", "p_AP", "p_BQ")]
    tags = {local_name(child): child.tag for child in node.element}
    a, b, p, q = (node.need(tags.get(name, name)) for name in names)
    report += ignored(node, {tags[name] for name in names})
    name = node.text("name") if node.has("name") else f"ball_constraint_{number}"
    if not node.has("name"):
        report.append(Note("changed", node.place, f"has no name and is called {name!r}"))
    halves = (Pose(p.numbers("value", 3), np.eye(3)), Pose(q.numbers("value", 3), np.eye(3)))
    return Loop(name, "spherical", node.place, (a.text("name"), b.text("name")), halves, np.array([1.0, 0.0, 0.0]))

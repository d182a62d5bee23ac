"""Joints that close loops, in the three forms in circulation; URDF itself has none.

`<loop_joint name type>` with `<axis xyz>`, `<link1 link xyz rpy>`, `<link2 link xyz rpy>`, read by
the loaders around RigidBodyDynamics.jl, by ConstrainedDynamics.jl, Dojo.jl and Isaac Sim. link1 is
the parent. `xyz` and `rpy` are the poses of the two joint frames in their links' frames (as
`<origin>` places a joint, not in the frame of the centre of mass); `axis` is a vector in link1's
joint frame and, as the joint frames coincide at zero, in link2's. Without an axis it is x, as in a
`<joint>`. Both `rpy` count here, as around RigidBodyDynamics.jl. ConstrainedDynamics.jl and Dojo.jl
ignore the one of link2: their zero is the orientation of the links in the file. Isaac Sim reads no
axis. Extensions: `<axis2>` (universal: the axis fixed in link2), `<limit lower upper velocity>`,
`<dynamics>` and `<motor>` of a `<joint>`.

`<constraint name type>`, proposed for ROS in https://github.com/ros/urdfdom/pull/264, with
`<parent link>`, `<parent_origin>`, `<parent_axis>` and the same of the child. Each axis is a vector
in its own joint frame; at zero the origins of the joint frames and the axes coincide (universal:
the second axis is the child's).

`<drake:ball_constraint>` of https://drake.mit.edu/doxygen_cxx/group__multibody__parsing.html: two
bodies and a point in the frame of each.
"""

import numpy as np

from vigym.mechanism.elements.joint_types import JointType
from vigym.spatial import Pose, rotation_between
from vigym.urdf.read.dialect import LOOP_TAGS
from vigym.urdf.read.geometry import UNIT_TOLERANCE, read_origin, read_pose
from vigym.urdf.read.joints import (
    LOOP_JOINT_TYPES,
    perpendicular,
    read_axes,
    read_axis,
    read_parameters,
    read_type,
)
from vigym.urdf.read.records import LoopJoint
from vigym.urdf.read.xml import Node, local_name


def find_loops(robot: Node) -> list[Node]:
    """Return the loop joints under <robot>, in the order of the file."""
    order = list(robot.element)
    tags = {child.tag for child in order if local_name(child) in LOOP_TAGS}
    found = [node for tag in tags for node in robot.children(tag)]
    return sorted(found, key=lambda node: order.index(node.element))


def read_loop(node: Node, number: int) -> LoopJoint:
    """Return the loop joint in one element, the `number`-th of the file.

    Raises:
        UrdfError: a part that is missing, malformed or of no known type.
    """
    if node.tag == "ball_constraint":
        return _ball_constraint(node, number)
    joint_type = read_type(node, LOOP_JOINT_TYPES)
    read = _constraint if node.tag == "constraint" else _loop_joint
    return read(node, joint_type)


def _loop_joint(node: Node, joint_type: JointType) -> LoopJoint:
    if len(node.children("link1")) == 2 and not node.children("link2"):
        raise node.error("2 <link1> elements", "one, and the second as <link2>")
    parent = node.need("link1")
    child = node.need("link2")
    parameters = read_parameters(node, joint_type)
    axis, axis2 = read_axes(node, joint_type, needed=True)
    return LoopJoint(
        name=node.text("name"),
        type=joint_type.name,
        place=node.place,
        parent=parent.text("link"),
        child=child.text("link"),
        parent_frame=read_pose(parent),
        child_frame=read_pose(child),
        axis=axis,
        axis2=axis2,
        **parameters,
    )


def _constraint(node: Node, joint_type: JointType) -> LoopJoint:
    parent_frame: Pose = read_origin(node, "parent_origin")
    child_frame: Pose = read_origin(node, "child_origin")
    axis = read_axis(node, joint_type.needs_axis, "parent_axis")
    child_axis = axis
    if node.only("child_axis"):
        child_axis = read_axis(node, joint_type.needs_axis, "child_axis")
    axis2 = None
    if joint_type.needs_second_axis:
        axis2 = perpendicular(node.need("child_axis"), axis, child_axis)
    elif joint_type.turns_about_axis:  # the axis alone determines the joint frames
        child_frame = child_frame @ Pose(np.zeros(3), rotation_between(axis, child_axis))
    elif np.abs(child_axis - axis).max() > UNIT_TOLERANCE:
        written = node.need("child_axis")
        expected = f"the parent's axis {axis.tolist()} for a {joint_type.name} joint"
        raise written.error(f'xyz="{written.text("xyz")}"', expected)
    parent = node.need("parent").text("link")
    child = node.need("child").text("link")
    return LoopJoint(
        name=node.text("name"),
        type=joint_type.name,
        place=node.place,
        parent=parent,
        child=child,
        parent_frame=parent_frame,
        child_frame=child_frame,
        axis=axis,
        axis2=axis2,
    )


def _ball_constraint(node: Node, number: int) -> LoopJoint:
    parts = [f"ball_constraint_{part}" for part in ("body_A", "body_B", "p_AP", "p_BQ")]
    tags = {local_name(child): child.tag for child in node.element}
    parent, child, parent_point, child_point = (node.need(tags.get(part, part)) for part in parts)
    name = node.text("name") if node.has("name") else f"ball_constraint_{number}"
    if not node.has("name"):
        node.note("changed", f"has no name and is called {name!r}")
    parent_frame, child_frame = (
        Pose(point.numbers("value", 3), np.eye(3)) for point in (parent_point, child_point)
    )
    return LoopJoint(
        name=name,
        type="spherical",
        place=node.place,
        parent=parent.text("name"),
        child=child.text("name"),
        parent_frame=parent_frame,
        child_frame=child_frame,
        axis=np.array([1.0, 0.0, 0.0]),
    )

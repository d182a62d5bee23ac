"""SDF models as records of the URDF reader."""

import heapq
import os
from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any

import numpy as np

from vigym.mechanism.elements.bodies import WORLD
from vigym.sdf.dialect import BALL, BALL_PARTS, note_unknown
from vigym.sdf.frames import Frames, boolean_of
from vigym.sdf.joint_elements import Gear, SdfJoint, read_sdf_joint
from vigym.sdf.links import read_sdf_link
from vigym.spatial import IDENTITY, Origin, Pose, roll_pitch_yaw
from vigym.urdf.read.dialect import version_of
from vigym.urdf.read.geometry import UNIT_TOLERANCE
from vigym.urdf.read.links import check_unique, make_robot
from vigym.urdf.read.meshes import MeshFolders
from vigym.urdf.read.records import Link, LoopJoint, Mimic, Robot, TreeJoint, UrdfJoint
from vigym.urdf.read.xml import Node, local_name, parse_xml

_OLDEST = (1, 2)  # version of SDF; poses were written otherwise before
_NEWEST = (1, 12)


def read_sdf(path: str | os.PathLike[str]) -> Robot:
    """Return the records of the one model of an SDF file that is not static.

    Raises:
        UrdfError: a file, element, number or reference that is missing, malformed or impossible.
    """
    root = parse_xml(path, "sdf")
    for element in root.element.iter():
        if "drake" in str(element.tag).rpartition("}")[0]:
            element.tag = f"drake:{local_name(element)}"
    version = version_of(root)
    if version < _OLDEST:
        raise root.error(f"version {root.optional_text('version')!r}", "1.2 or a later one")
    if version > _NEWEST:
        root.note("changed", f"version {root.optional_text('version')!r} is read as 1.12")
    model = _moving_model(root)
    frames = Frames(model)
    nodes = {node.text("name"): node for node in model.children("link")}
    if WORLD in nodes:
        raise nodes[WORLD].error(
            "a link of this name", "another name: SDF reserves it for the world"
        )
    for tag in ("link", "frame", "joint"):
        check_unique(model, tag, [node.text("name") for node in model.children(tag)])
    read = [read_sdf_joint(node, frames, version) for node in model.children("joint")]
    gears = [each for each in read if isinstance(each, Gear)]
    joints = _with_gears((each for each in read if isinstance(each, SdfJoint)), gears)
    frames.check()
    carriers = _carrying(list(nodes), joints)
    poses = _link_poses(nodes, frames, carriers)
    folders = MeshFolders(root.path.parent.resolve())
    links = [read_sdf_link(node, frames, poses[name], folders) for name, node in nodes.items()]
    if any(joint.parent == WORLD for joint in carriers):
        links.insert(0, Link(WORLD, 0.0, IDENTITY, np.zeros((3, 3)), ()))
    placed = {joint.child for joint in carriers}
    start = next((poses[link.name] for link in links if link.name not in placed), IDENTITY)
    carrier_names = {joint.name for joint in carriers}
    closing = [joint for joint in joints if joint.name not in carrier_names]
    loops = [_loop(model, joint, poses) for joint in closing]
    for number, node in enumerate(model.children(BALL), start=1):
        loops.append(_ball(node, number, frames, poses))
    trees = [_tree_joint(joint, poses) for joint in carriers]
    return replace(make_robot(model, links, trees, loops), placement=start)


def _moving_model(root: Node) -> Node:
    """Return the model of a file, without elements that are not read; static ones become notes."""
    found = []
    for parent in (root, *root.children("world")):
        for model in parent.children("model"):
            static = model.only("static")
            if static and boolean_of(static, static.element.text or "", False):
                model.note("ignored", "static: nothing in it moves or touches")
                parent.element.remove(model.element)
            else:
                found.append(model)
    if len(found) != 1:
        includes = [
            each for node in (root, *root.children("world")) for each in node.children("include")
        ]
        more = f" and {len(includes)} <include> of other files" if includes else ""
        raise root.error(f"{len(found)} models that are not static{more}", "one in this file")
    note_unknown(root)
    model = found[0]
    return Node(model.element, "<model>", root.path, root.notes)


def _link_poses(
    nodes: dict[str, Node], frames: Frames, carriers: list[SdfJoint]
) -> dict[str, Pose]:
    """Return the poses in the world of links, their origins at the joints that carry them.

    The joint frame of a URDF file is the one of the child link, of SDF it may be elsewhere.
    """
    poses = {WORLD: IDENTITY} | {name: frames.pose(node, name) for name, node in nodes.items()}
    for joint in carriers:
        if not joint.is_fixed:
            poses[joint.child] = Pose(joint.anchor, poses[joint.child].rotation)
    return poses


def _loop(model: Node, joint: SdfJoint, poses: dict[str, Pose]) -> LoopJoint:
    if joint.mimic is not None or joint.pitch is not None:
        place = f"joint {joint.name!r}"
        found = f"{place}, a screw or a follower that closes a loop"
        raise model.error(found, f"the joint before another one to link {joint.child!r}")
    return _loop_joint(joint, poses)


def _ball(node: Node, number: int, frames: Frames, poses: dict[str, Pose]) -> LoopJoint:
    """Return the loop joint of a constraint of Drake: two bodies and a point in each."""
    names = [frames.link(node, part) for part in BALL_PARTS[:2]]
    points = [node.need(part).content(3) for part in BALL_PARTS[2:]]
    ends = []
    for name, point in zip(names, points, strict=True):
        at = frames.pose(node, name) @ Pose(point, np.eye(3))
        ends.append(poses[name].inverse @ Pose(at.position, np.eye(3)))
    return LoopJoint(
        name=f"ball_constraint_{number}",
        type="spherical",
        place=node.place,
        parent=names[0],
        child=names[1],
        parent_frame=ends[0],
        child_frame=ends[1],
        axis=np.array([1.0, 0.0, 0.0]),
    )


def _carrying(links: list[str], joints: list[SdfJoint]) -> list[SdfJoint]:
    """Return the joints that carry a link: of those to a link the first one from the root.

    Each step takes the first joint of the file from a link that is reached to another one.
    """
    children = {joint.child for joint in joints}
    below: dict[str, list[int]] = {}
    for number, joint in enumerate(joints):
        below.setdefault(joint.parent, []).append(number)
    roots = [name for name in (WORLD, *links) if name not in children]
    if roots == [WORLD] and WORLD not in below:
        roots = links[:1]
    reached = set(roots)
    waiting = [number for root in roots for number in below.get(root, [])]
    heapq.heapify(waiting)
    found = []
    while waiting:
        number = heapq.heappop(waiting)
        child = joints[number].child
        if child not in reached:
            reached.add(child)
            found.append(number)
            for each in below.get(child, []):
                heapq.heappush(waiting, each)
    return [joints[number] for number in sorted(found)]


def _tree_joint(joint: SdfJoint, poses: dict[str, Pose]) -> TreeJoint:
    """Return the record of a joint that carries a link; `poses` of links in the world."""
    child = poses[joint.child]
    pose = poses[joint.parent].inverse @ child
    return TreeJoint(
        origin=Origin(pose.position, pose.rotation, roll_pitch_yaw(pose.rotation)),
        mimic=joint.mimic,
        pitch=joint.pitch,
        **_shared(joint, child),
    )


def _loop_joint(joint: SdfJoint, poses: dict[str, Pose]) -> LoopJoint:
    """Return the record of a joint that closes a loop, with axes of the world at zero."""
    frame = Pose(joint.anchor, np.eye(3))
    return LoopJoint(
        parent_frame=poses[joint.parent].inverse @ frame,
        child_frame=poses[joint.child].inverse @ frame,
        **_shared(joint, frame),
    )


def _shared(joint: SdfJoint, frame: Pose) -> dict[str, Any]:
    """Return the fields of all joints, the axes in a frame."""
    turned = frame.inverse
    return {field.name: getattr(joint, field.name) for field in fields(UrdfJoint)} | {
        "axis": turned.rotate_axis(joint.axis),
        "axis2": None if joint.axis2 is None else turned.rotate_axis(joint.axis2),
    }


def _with_gears(joints: Iterable[SdfJoint], gears: Iterable[Gear]) -> list[SdfJoint]:
    """Return the joints, of which gearboxes couple some.

    Raises:
        UrdfError: a gearbox without hinges from its reference to both its links, with its axes.
    """
    named = {joint.name: joint for joint in joints}
    turning = [joint for joint in named.values() if joint.type in ("revolute", "continuous")]
    at = {(joint.parent, joint.child): joint.name for joint in reversed(turning)}
    for gear in gears:
        hinges, factor = [], -gear.ratio
        for ends, axis in zip(gear.ends, gear.axes, strict=True):
            hinge = named.get(at.get(ends, ""))
            if hinge is None or abs(hinge.axis @ axis) < 1.0 - UNIT_TOLERANCE:
                found = f"no hinge from {ends[0]!r} to {ends[1]!r} about its axis"
                raise gear.node.error(found, "one, whose angle the gearbox couples")
            factor *= float(np.sign(hinge.axis @ axis))
            hinges.append(hinge)
        leader, follower = hinges
        if follower.mimic is not None:
            raise gear.node.error(f"{follower.name!r}, which follows a joint already", "one joint")
        mimic = Mimic(leader.name, factor, 0.0, gear.node.place)
        named[follower.name] = replace(follower, mimic=mimic)
    return list(named.values())

"""Robots, links and elements that URDF lacks; values are checked before pybullet reads any."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from vigym.mechanism.elements.checks import Array
from vigym.spatial import IDENTITY
from vigym.urdf.read.beside import closing_frames, read_yaml
from vigym.urdf.read.collisions import read_collisions, read_gazebo
from vigym.urdf.read.dialect import (
    ADDITIONS,
    ANY,
    BODY,
    DIRECTION,
    ONE,
    POINT,
    TABLE,
    TEXT,
    TWO,
    note_unknown,
    version_of,
)
from vigym.urdf.read.geometry import Color, read_materials, read_origin, read_visual
from vigym.urdf.read.joints import joint_nodes, read_joint
from vigym.urdf.read.loops import find_loops, read_loop
from vigym.urdf.read.meshes import MeshFolders, mesh_folders
from vigym.urdf.read.records import Addition, Link, LoopJoint, Robot, TreeJoint, UrdfSurface
from vigym.urdf.read.references import check_reference, find_references
from vigym.urdf.read.xml import Node

MOST_LINKS = 2000  # pybullet's loader recurses over links: long chains overflow its stack
_SEMANTIC = ("group", "group_state", "virtual_joint", "disable_collisions")
_OPTIONAL = {"kp", "kd", "effort", "targets", "viscous", "damping", "ratio", "offset"}
_COUNTS = {POINT: 3, DIRECTION: 3, TWO: 2, ANY: None}
_OWNERS = {"link": "body", "joint": "joint", "loop_joint": "joint"}  # argument for the name


def read_robot(robot: Node) -> Robot:
    """Return the records of the element <robot> of a URDF file.

    Raises:
        UrdfError: an element, number or reference that is missing, malformed or impossible.
    """
    for tag in _SEMANTIC:
        if robot.children(tag) and not robot.children("link"):
            raise robot.error(f"<{tag}> and no <link>, as in an SRDF file", "a robot's URDF file")
    for error in note_unknown(robot, version_of(robot)):
        raise error
    loop_nodes = find_loops(robot)
    materials = read_materials(robot)
    surfaces = read_gazebo(robot)
    folders = mesh_folders(robot)
    links = [read_link(node, materials, surfaces, folders) for node in robot.children("link")]
    joints = [read_joint(node) for node in joint_nodes(robot)]
    loops = [read_loop(node, k) for k, node in enumerate(loop_nodes, start=1)]
    additions = [read_addition(nodes) for nodes in addition_nodes(robot)]
    names = {link.name for link in links}
    joints, more = read_yaml(robot, names, joints)
    loops += [*more, *closing_frames(robot, [link.name for link in links], loops)]
    return make_robot(robot, links, joints, loops, additions)


def make_robot(
    robot: Node,
    links: list[Link],
    joints: list[TreeJoint],
    loops: list[LoopJoint],
    additions: Sequence[Addition] = (),
) -> Robot:
    """Return the record of a robot or model, whose names and references are checked.

    Raises:
        UrdfError: no links or too many, two of one name, or a reference to none.
    """
    if not 0 < len(links) <= MOST_LINKS:
        raise robot.error(f"{len(links)} links", f"1 to {MOST_LINKS}")
    check_unique(robot, "link", [link.name for link in links])
    check_unique(robot, "joint", [joint.name for joint in (*joints, *loops)])
    names = {
        "link": {link.name for link in links},
        "joint": {joint.name for joint in joints},
    }
    for reference in find_references(joints, loops, additions):
        check_reference(robot.path, names, reference)
    return Robot(
        name=_name_of(robot),
        path=robot.path,
        links={link.name: link for link in links},
        joints={joint.name: joint for joint in joints},
        loops=loops,
        additions=additions,
        notes=robot.notes,
    )


def _name_of(robot: Node) -> str:
    """Return the name of a robot; that of its file without one."""
    if robot.has("name"):
        return robot.text("name")
    robot.note("changed", f"has no name and is called {robot.path.stem!r}, as the file")
    return robot.path.stem


def check_unique(robot: Node, kind: str, names: list[str]) -> None:
    """Raise UrdfError for two elements of a kind with one name."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise robot.error(f"two {kind}s named {name!r}", "unique names")
        seen.add(name)


def read_link(
    node: Node,
    materials: dict[str, Color],
    surfaces: dict[str, UrdfSurface],
    folders: MeshFolders,
) -> Link:
    """Return a link; its mass is zero without <inertial>."""
    name = node.text("name")
    collisions = read_collisions(node, surfaces.get(name, UrdfSurface()), folders)
    visuals = [read_visual(child, materials, folders) for child in node.children("visual")]
    drawn = tuple(visual for visual in visuals if visual is not None)
    inertial = node.only("inertial")
    if inertial is None:
        return Link(name, 0.0, IDENTITY, np.zeros((3, 3)), drawn, collisions)
    mass = inertial.need("mass").number("value", low=0.0)
    found = inertial.only("inertia")
    inertia = np.zeros((3, 3)) if found is None else _inertia(found)
    if mass == 0.0 and inertia.any():
        inertial.note("changed", "no mass, so its inertia is taken as zero")
    if mass == 0.0:
        inertia = np.zeros((3, 3))
    given = found is not None
    return Link(name, mass, read_origin(inertial), inertia, drawn, collisions, given)


def _inertia(node: Node) -> Array:
    xx, yy, zz = (node.number(name) for name in ("ixx", "iyy", "izz"))
    xy, xz, yz = (node.number(name, 0.0) for name in ("ixy", "ixz", "iyz"))
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def addition_nodes(robot: Node) -> Iterator[tuple[Node, Node]]:
    """Yield elements that URDF lacks, each with the element around it."""
    for parent in (robot, *robot.every()):
        children = TABLE[parent.tag].children.split() if parent.tag in TABLE else ()
        for tag in (tag for tag in ADDITIONS if tag in children):
            yield from ((parent, node) for node in parent.children(tag))


def read_addition(nodes: tuple[Node, Node]) -> Addition:
    """Return one of `addition_nodes`.

    Raises:
        UrdfError: a value that is missing or malformed.
    """
    parent, node = nodes
    owner = _OWNERS.get(parent.tag)
    around = {} if owner is None else {owner: parent.text("name")}
    values = around | _read_values(node)
    model = node.only("model")
    if model is not None:
        values["model"] = _read_values(model)
    return Addition(node.tag, node.place, values)


def _read_values(node: Node) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, kind in ADDITIONS[node.tag].items():
        if name in _OPTIONAL and not node.has(name):
            continue
        if kind in (TEXT, BODY):
            values[name] = node.text(name)
        elif kind == ONE:
            values[name] = node.number(name, infinite=True)
        else:
            values[name] = node.numbers(name, _COUNTS[kind], infinite=True)
    return values

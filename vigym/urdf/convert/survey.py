"""Survey of a faulty file: its readable elements and all faults; the importer stops at the first.

Faults of the whole (several roots, loops or couplings that cannot be) are found by the importer.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from vigym.mechanism.elements.bodies import WORLD
from vigym.mechanism.elements.errors import MechanismError, UrdfError
from vigym.spatial import IDENTITY, Pose
from vigym.urdf.convert.merge import LinkGroup, merge_masses
from vigym.urdf.convert.tree import add_parent
from vigym.urdf.read.collisions import read_gazebo
from vigym.urdf.read.dialect import note_unknown, version_of
from vigym.urdf.read.geometry import read_materials
from vigym.urdf.read.joints import joint_nodes, read_joint
from vigym.urdf.read.links import addition_nodes, check_unique, read_addition, read_link
from vigym.urdf.read.loops import find_loops, read_loop
from vigym.urdf.read.meshes import MeshFolders, mesh_folders
from vigym.urdf.read.records import Link, LoopJoint, TreeJoint
from vigym.urdf.read.references import check_reference, find_references
from vigym.urdf.read.xml import parse_xml

Fault = tuple[str, str]  # element in words; found and expected
Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class PartialRobot:
    """Readable elements of a file in its order, and the faults of the others.

    Attributes:
        name: of the robot; empty without.
        links, joints, loops: elements without a fault of their own; a name may occur twice.
        faults: of elements, names, references and inertias, each once.
    """

    name: str
    links: list[Link]
    joints: list[TreeJoint]
    loops: list[LoopJoint]
    faults: list[Fault]


def survey(
    path: str | os.PathLike[str], base: str | None = None, inertias: str = "error"
) -> PartialRobot:
    """Return the readable part of a file; `base` and `inertias` as for `load_urdf`.

    Raises:
        UrdfError: no such file, or no XML of a robot.
    """
    robot = parse_xml(path, "robot")
    faults: list[Fault] = []

    def each(read: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        return _read_each(read, items, path, faults)

    names = each(lambda node: node.text("name"), [robot])
    faults += [fault_of(path, error) for error in note_unknown(robot, version_of(robot))]
    loop_nodes = find_loops(robot)
    materials = each(read_materials, [robot]) or [{}]
    surfaces = each(read_gazebo, [robot]) or [{}]
    folders = each(mesh_folders, [robot]) or [MeshFolders(robot.path.parent.resolve())]
    found = (materials[0], surfaces[0], folders[0])
    links = each(lambda node: read_link(node, *found), robot.children("link"))
    joints = each(read_joint, joint_nodes(robot))
    numbered = enumerate(loop_nodes, start=1)
    loops = each(lambda item: read_loop(item[1], item[0]), numbered)
    additions = each(read_addition, addition_nodes(robot))
    named = {
        "link": [link.name for link in links],
        "joint": [joint.name for joint in (*joints, *loops)],
    }
    each(lambda kind: check_unique(robot, *kind), named.items())
    nodes = {"link": robot.children("link"), "joint": joint_nodes(robot)}
    known = {kind: {node.element.get("name", "") for node in nodes[kind]} for kind in nodes}
    references = find_references(joints, loops, additions)
    each(lambda reference: check_reference(robot.path, known, reference), references)
    parents: dict[str, TreeJoint] = {}
    each(lambda joint: add_parent(robot.path, parents, joint), joints)
    if inertias == "error":
        bodies = _moving_bodies(links, joints, base)
        each(lambda body: merge_masses(robot.path, *body, inertias, []), bodies)
    return PartialRobot("".join(names), links, joints, loops, list(dict.fromkeys(faults)))


def fault_of(path: str | os.PathLike[str], error: MechanismError) -> Fault:
    """Return the element and the fault that an error of the importer names."""
    text = str(error).removeprefix(f"{Path(path)}: ")
    element, found, fault = text.partition(": found ")
    return element, f"found {fault}" if found else ""


def _read_each(
    read: Callable[[Item], Result],
    items: Iterable[Item],
    path: str | os.PathLike[str],
    faults: list[Fault],
) -> list[Result]:
    """Return the results of `read`; append the faults of items that it refuses."""
    results = []
    for item in items:
        try:
            results.append(read(item))
        except UrdfError as error:
            faults.append(fault_of(path, error))
    return results


def _moving_bodies(
    links: list[Link], joints: list[TreeJoint], base: str | None
) -> Iterator[tuple[LinkGroup, dict[str, Pose]]]:
    """Yield the links with mass that fixed joints hold together, and their poses in the first."""
    known = {link.name: link for link in links}
    children = {joint.child for joint in joints}
    welds: dict[str, list[TreeJoint]] = {}
    for joint in joints:
        if joint.is_fixed:
            welds.setdefault(joint.parent, []).append(joint)
    welded = {joint.child for each in welds.values() for joint in each}
    for root in (name for name in known if name not in welded):
        poses: dict[str, Pose] = {root: IDENTITY}
        stack = [root]
        while stack:
            parent = stack.pop()
            for joint in welds.get(parent, []):
                if joint.child in known and joint.child not in poses:
                    poses[joint.child] = poses[parent] @ joint.origin
                    stack.append(joint.child)
        is_world = base == "fixed" or (base is None and WORLD in poses)
        group = LinkGroup([link for link in links if link.name in poses], None)
        if group.mass and (root in children or not is_world):
            yield group, poses

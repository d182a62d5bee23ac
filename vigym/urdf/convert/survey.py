"""What of a faulty file can be read, and all its faults that show without the others mended: the importer stops at one.

Faults between elements (who hangs on whom, loops that cannot be closed) are the importer's alone to find.
"""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from vigym.mechanism.elements.bodies import WORLD, Note
from vigym.mechanism.elements.errors import MechanismError, UrdfError
from vigym.urdf.convert.merge import check_inertia
from vigym.urdf.read.collisions import read_gazebo
from vigym.urdf.read.geometry import read_materials
from vigym.urdf.read.joints import read_joint
from vigym.urdf.read.links import read_link, unique
from vigym.urdf.read.loops import find_loops, read_loop
from vigym.urdf.read.records import Link, Loop, UrdfJoint
from vigym.urdf.read.report import ignored
from vigym.urdf.read.xml import read_robot

Fault = tuple[str, str]  # the element in words, and what was found and expected
Given = TypeVar("Given")
Read = TypeVar("Read")


@dataclass(frozen=True, eq=False)
class Survey:
    """What can be read of a file, as written and in its order, and what is wrong with the rest.

    Attributes:
        name: of the robot; empty where it has none.
        links, joints, loops: those without a fault in what is written in them, two of one name twice.
        faults: of elements, and of inertias that no rigid body has.
    """

    name: str
    links: list[Link]
    joints: list[UrdfJoint]
    loops: list[Loop]
    faults: list[Fault]


def survey(path: str | os.PathLike[str], base: str | None = None) -> Survey:
    """Return what can be read of a file; `base` as for `load_urdf`.

    Raises:
        UrdfError: no such file, or no XML of a robot.
    """
    robot, faults = read_robot(path), list[Fault]()
    report: list[Note] = []  # of what an importer changes or drops, and nothing is imported

    def each(read: Callable[[Given], Read], things: Iterable[Given]) -> list[Read]:
        return _each(read, things, path, faults)

    called = each(lambda node: node.text("name"), [robot])
    loop_nodes = find_loops(robot)
    each(lambda node: ignored(node, {one.tag for one in loop_nodes}), [robot])
    materials = each(lambda node: read_materials(node, report), [robot])
    surfaces = each(lambda node: read_gazebo(node, report), [robot])
    looks = materials[0] if materials else {}, surfaces[0] if surfaces else {}
    links = each(lambda node: read_link(node, *looks, report), robot.children("link"))
    joints = each(lambda node: read_joint(node, report), robot.children("joint"))
    loops = each(lambda one: read_loop(one[1], one[0], report), enumerate(loop_nodes, start=1))
    names = {
        "link": [link.name for link in links],
        "joint": [joint.name for joint in joints] + [loop.name for loop in loops],
    }
    each(lambda kind: unique(robot, *kind), names.items())
    each(lambda link: check_inertia(robot.path, *link), _rigid(links, joints, base))
    return Survey("".join(called), links, joints, loops, faults)


def fault_of(path: str | os.PathLike[str], error: MechanismError) -> Fault:
    """Return the element and the fault that an error of the importer names."""
    element, found, fault = str(error).removeprefix(f"{Path(path)}: ").partition(": found ")
    return element, f"found {fault}" if found else ""


def _each(
    read: Callable[[Given], Read], things: Iterable[Given], path: str | os.PathLike[str], faults: list[Fault]
) -> list[Read]:
    """Return what is read of things; of the others keep the faults."""
    found = []
    for thing in things:
        try:
            found.append(read(thing))
        except UrdfError as error:
            faults.append(fault_of(path, error))
    return found


def _rigid(links: list[Link], joints: list[UrdfJoint], base: str | None) -> list[tuple[Link, bool]]:
    """Return the links whose inertia counts, and whether each is alone the mass of its body."""
    groups = {link.name: {link.name} for link in links}
    for joint in joints:
        if joint.type == "fixed" and joint.parent in groups and joint.child in groups:
            merged = groups[joint.parent] | groups[joint.child]
            groups |= dict.fromkeys(merged, merged)
    heavy, children = {link.name for link in links if link.mass}, {joint.child for joint in joints}
    roots = [group for group in groups.values() if group - children]
    still = [group for group in roots if base == "fixed" or (base is None and WORLD in group)]
    counting = [link for link in links if link.mass and groups[link.name] not in still]
    return [(link, len(groups[link.name] & heavy) == 1) for link in counting]

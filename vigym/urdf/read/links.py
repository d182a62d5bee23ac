"""The gate: every element and number of a URDF file is checked here, before pybullet's loader sees any of it."""

import numpy as np

from vigym.mechanism.elements.bodies import Note
from vigym.mechanism.elements.checks import Array
from vigym.spatial import IDENTITY
from vigym.urdf.read.collisions import read_collisions, read_gazebo
from vigym.urdf.read.geometry import Color, read_materials, read_origin, read_visual
from vigym.urdf.read.joints import read_joint
from vigym.urdf.read.loops import find_loops, read_loop
from vigym.urdf.read.records import Link, Robot, Surface
from vigym.urdf.read.report import ignored
from vigym.urdf.read.xml import Node

MOST_LINKS = 2000  # pybullet's loader recurses over links and overflows the stack on long chains


def read(robot: Node) -> Robot:
    """Return what the file says as plain data.

    Raises:
        UrdfError: an element or number that is missing, malformed or impossible.
    """
    loop_nodes = find_loops(robot)
    report = ignored(robot, {"link", "joint", "material", *(node.element.tag for node in loop_nodes)})
    materials, surfaces = read_materials(robot, report), read_gazebo(robot, report)
    links = [read_link(node, materials, surfaces, report) for node in robot.children("link")]
    joints = [read_joint(node, report) for node in robot.children("joint")]
    loops = [read_loop(node, k, report) for k, node in enumerate(loop_nodes, start=1)]
    if not 0 < len(links) <= MOST_LINKS:
        raise robot.error(f"{len(links)} links", f"1 to {MOST_LINKS}")
    unique(robot, "link", [link.name for link in links])
    unique(robot, "joint", [joint.name for joint in joints] + [loop.name for loop in loops])
    by_name = {link.name: link for link in links}
    return Robot(robot.text("name"), robot.path, by_name, {joint.name: joint for joint in joints}, loops, report)


def unique(robot: Node, kind: str, names: list[str]) -> None:
    """Raise UrdfError where two elements of a kind have one name."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise robot.error(f"two {kind}s named {name!r}", "unique names")
        seen.add(name)


def read_link(node: Node, materials: dict[str, Color], surfaces: dict[str, Surface], report: list[Note]) -> Link:
    """Return a link; one without <inertial> has no mass."""
    name = node.text("name")
    report += ignored(node, {"inertial", "visual", "collision", "contact"})
    touches = read_collisions(node, surfaces.get(name, Surface()), report)
    visuals = [read_visual(child, materials, report) for child in node.children("visual")]
    drawn = tuple(visual for visual in visuals if visual is not None)
    inertial = node.only("inertial")
    if inertial is None:
        return Link(name, 0.0, IDENTITY, np.zeros((3, 3)), drawn, touches)
    report += ignored(inertial, {"origin", "mass", "inertia"})
    mass = inertial.need("mass").number("value", low=0.0)
    inertia = _inertia(inertial.need("inertia"))
    if mass == 0.0 and inertia.any():
        report.append(Note("changed", inertial.place, "no mass, so its inertia is taken as zero"))
    return Link(name, mass, read_origin(inertial), inertia if mass else np.zeros((3, 3)), drawn, touches)


def _inertia(node: Node) -> Array:
    xx, yy, zz = (node.number(name) for name in ("ixx", "iyy", "izz"))
    xy, xz, yz = (node.number(name, 0.0) for name in ("ixy", "ixz", "iyz"))
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])

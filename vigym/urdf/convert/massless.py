"""Links without mass: between joints they stay so, at the ends of a robot they are completed.

A link between joints that has no mass moves the links beyond it, exactly. One beyond which nothing
has mass is refused, or gets the mass of its shapes in water; without shapes its joint is fixed.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from vigym.mechanism.elements.bodies import Note
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.joints import JointParameters
from vigym.mechanism.elements.mesh import read_mesh
from vigym.mechanism.elements.shapes import Box, Cylinder, Mesh, Shape, Sphere
from vigym.spatial import Origin, Pose
from vigym.urdf.convert.inertias import WATER
from vigym.urdf.convert.merge import LinkGroup, group_links
from vigym.urdf.convert.tree import LinkOrder
from vigym.urdf.read.records import Link, Robot, TreeJoint

HINT = "inertias='report' takes the mass of its shapes in water, or fixes a joint without shapes"


def complete_masses(robot: Robot, order: LinkOrder, inertias: str) -> Robot:
    """Return the robot with mass beyond every moving joint; changes become notes.

    Args:
        robot: the file.
        order: of its links.
        inertias: "error", or "report" to complete links.

    Raises:
        UrdfError: a link that moves without any mass, with "error", or one that closes a loop and
            has no shape.
    """
    idle = _idle_groups(robot, order)
    if not idle:
        return robot
    if inertias == "error":
        raise _error(robot, idle[0], f" ({HINT})")
    none = not any(link.mass for link in robot.links.values())
    groups = group_links(robot, order)[1:] if none else idle
    dense = {link.name: _of_water(link, robot.notes) for group in groups for link in group.links}
    robot = replace(robot, links=robot.links | dense)
    fixed: dict[str, TreeJoint] = {}
    looped = {end for loop in robot.loops for end in (loop.parent, loop.child)}
    for group in _idle_groups(robot, order):
        joint = group.joint
        if joint is None or looped.intersection(link.name for link in group.links):
            raise _error(robot, group, "")
        message = f"fixed: link {joint.child!r} has no mass and no shape"
        robot.notes.append(Note("changed", f"joint {joint.name!r}", message))
        fixed[joint.name] = _fixed(joint)
    return replace(robot, joints=robot.joints | fixed)


def _idle_groups(robot: Robot, order: LinkOrder) -> list[LinkGroup]:
    """Return the groups on moving joints in which, and beyond which, no link has mass."""
    groups = group_links(robot, order)
    of_link = {link.name: group for group in groups for link in group.links}
    heavy = {id(group) for group in groups if group.mass}
    for group in reversed(groups):  # children before parents
        if group.joint is not None and id(group) in heavy:
            heavy.add(id(of_link[group.joint.parent]))
    return [group for group in groups[1:] if id(group) not in heavy]


def _error(robot: Robot, group: LinkGroup, hint: str) -> Exception:
    above = f" on the moving joint {group.joint.name!r}" if group.joint else ""
    found = f"no mass in it and what is fixed to it{above}, nor beyond"
    expected = f"mass > 0: give it an <inertial> with <mass>, or make its joint fixed{hint}"
    return robot.error(f"link {group.links[0].name!r}", found, expected)


def _fixed(joint: TreeJoint) -> TreeJoint:
    """Return a joint as a fixed one at the file's zero."""
    none: dict[str, Any] = JointParameters().arguments()
    return replace(joint, type="fixed", mimic=None, **none)


def _of_water(link: Link, notes: list[Note]) -> Link:
    """Return a link whose mass is that of its shapes in water; itself without shapes."""
    shapes = [(each.shape, each.pose) for each in link.collisions if each.shape is not None]
    shapes = shapes or [(each.shape, each.pose) for each in link.visuals]
    volumes = np.array([_volume(shape) for shape, _ in shapes])
    if not volumes.sum() > 0.0:
        return link
    places = np.array([(pose @ Pose(_center(s), np.eye(3))).position for s, pose in shapes])
    mass = WATER * float(volumes.sum())
    message = f"no mass: taken as {mass:.3g} kg, that of its shapes in water"
    notes.append(Note("changed", f"link {link.name!r}", message))
    center = Origin(volumes @ places / volumes.sum(), np.eye(3), np.zeros(3))
    return replace(link, mass=mass, inertial=center, inertia=np.zeros((3, 3)), inertia_given=False)


def _volume(shape: Shape) -> float:
    """Return the volume of a shape [m^3]; 0 of a mesh that cannot be read."""
    if isinstance(shape, Box):
        return float(np.prod(np.asarray(shape.size)))
    if isinstance(shape, Sphere):
        return 4.0 / 3.0 * np.pi * shape.radius**3
    if isinstance(shape, Cylinder):
        ends = 4.0 / 3.0 * shape.radius if shape.kind == "capsule" else 0.0
        return float(np.pi * shape.radius**2 * (shape.length + ends))
    return float(np.prod(_span(shape)[1])) if isinstance(shape, Mesh) else 0.0


def _center(shape: Shape) -> Array:
    """Return the middle of a shape in its own frame (3,) [m]."""
    return _span(shape)[0] if isinstance(shape, Mesh) else np.zeros(3)


def _span(mesh: Mesh) -> tuple[Array, Array]:
    """Return middle and edges of the box about a mesh (3,) [m]; zeros if it cannot be read."""
    try:
        points = read_mesh(mesh.path).vertices * np.asarray(mesh.scale)
    except MechanismError:  # the importer reports it where it is used
        return np.zeros(3), np.zeros(3)
    low, high = points.min(axis=0), points.max(axis=0)
    return 0.5 * (low + high), high - low

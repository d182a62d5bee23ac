"""Bodies from links on fixed joints: mass, centre of mass and inertia added exactly."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from pathlib import Path

import numpy as np

from vigym.mechanism.elements.bodies import Note
from vigym.mechanism.elements.checks import Array, inertia_fault
from vigym.mechanism.elements.errors import UrdfError
from vigym.mechanism.elements.shapes import Shape
from vigym.spatial import IDENTITY, Pose
from vigym.urdf.convert.inertias import (
    HINT,
    check_inertia,
    mend_body,
    mend_link,
    note_impossible_parts,
)
from vigym.urdf.convert.tree import LinkOrder
from vigym.urdf.read.records import Link, Robot, TreeJoint


@dataclass(frozen=True, eq=False)
class LinkGroup:
    """Links held together by fixed joints, from the root outwards, and their parent joint."""

    links: list[Link]
    joint: TreeJoint | None

    @property
    def mass(self) -> float:
        """Mass of all links [kg]."""
        masses = (link.mass for link in self.links)
        return reduce(add, masses, 0.0)  # `sum` rounds differently from Python 3.12 on

    @property
    def reference(self) -> Link:
        """First link with mass, or the first one: the body has its name and its axes."""
        return next((link for link in self.links if link.mass), self.links[0])


@dataclass(frozen=True, eq=False)
class MassProperties:
    """Mass, centre of mass and inertia of a body in the frame of its reference link.

    Attributes:
        mass: [kg].
        center: centre of mass (3,) [m].
        inertia: tensor about the centre of mass (3, 3) [kg m^2].
    """

    mass: float
    center: Array
    inertia: Array


NO_MASS = MassProperties(0.0, np.zeros(3), np.zeros((3, 3)))


def group_links(robot: Robot, order: LinkOrder) -> list[LinkGroup]:
    """Return the links grouped by fixed joints, the root's group first."""
    groups: list[LinkGroup] = []
    group_of: dict[str, LinkGroup] = {}
    for name, joint in order:
        link = robot.links[name]
        if joint is not None and joint.is_fixed:
            group_of[name] = group_of[joint.parent]
            group_of[name].links.append(link)
        else:
            group_of[name] = LinkGroup([link], joint)
            groups.append(group_of[name])
    return groups


def relative_poses(group: LinkGroup, poses: dict[str, Pose]) -> dict[str, Pose]:
    """Return the pose of every link of a group in its reference link."""
    to_reference = poses[group.reference.name].inverse
    relative = {link.name: to_reference @ poses[link.name] for link in group.links}
    return relative | {group.reference.name: IDENTITY}


def merge_masses(
    path: Path,
    group: LinkGroup,
    relative: dict[str, Pose],
    inertias: str,
    notes: list[Note],
) -> MassProperties:
    """Return the mass properties of a group as one rigid body.

    An impossible inertia of a link becomes a note where that of the body is possible.

    Args:
        path: of the file.
        group: its links.
        relative: pose of each link in the reference link.
        inertias: "error", or "report" to mend those that no rigid body has, with a note.
        notes: of the mechanism.

    Raises:
        UrdfError: an inertia of the whole group that no rigid body has.
    """
    heavy = [link for link in group.links if link.mass]
    place = f"body {group.reference.name!r} inertia"
    if inertias == "report":
        body = _add_masses([mend_link(link, notes) for link in heavy], relative)
        solids = _solid_shapes(group, relative, body.center)
        return replace(body, inertia=mend_body(place, body.mass, body.inertia, solids, notes))
    body = _add_masses(heavy, relative)
    fault = inertia_fault(body.inertia)
    if fault:
        for link in heavy:
            check_inertia(path, link, alone=len(heavy) == 1)
        raise UrdfError(f"{path}: {place}, fixed links merged: {fault} ({HINT})")
    note_impossible_parts(heavy, notes)
    return body


def _add_masses(links: list[Link], relative: dict[str, Pose]) -> MassProperties:
    """Return the mass properties of links with mass as one body."""
    frames = [relative[link.name] @ link.inertial for link in links]
    mass = LinkGroup(links, None).mass
    parts = list(zip(links, frames, strict=True))
    center = np.asarray(sum((link.mass / mass) * frame.position for link, frame in parts))
    inertia = np.zeros((3, 3))
    for link, frame in parts:
        d = frame.position - center
        inertia += frame.rotation @ link.inertia @ frame.rotation.T
        inertia += link.mass * ((d @ d) * np.eye(3) - np.outer(d, d))
    return MassProperties(mass, center, inertia)


def _solid_shapes(group: LinkGroup, relative: dict[str, Pose], center: Array) -> Iterator[Shape]:
    """Yield the collision shapes of a group, or the drawn ones where it has none."""
    shapes = [
        (collision.shape, move_origin(relative[link.name] @ collision.pose, center))
        for link in group.links
        for collision in link.collisions
    ]
    solid = [place_shape(shape, pose) for shape, pose in shapes if shape is not None]
    yield from solid or visual_shapes(group, relative, center)


def visual_shapes(group: LinkGroup, relative: dict[str, Pose], center: Array) -> Iterator[Shape]:
    """Yield the drawn shapes, in a frame with the reference link's axes and origin `center`."""
    for link in group.links:
        for visual in link.visuals:
            pose = move_origin(relative[link.name] @ visual.pose, center)
            yield place_shape(visual.shape, pose)


def move_origin(pose: Pose, origin: Array) -> Pose:
    """Return a pose in the parallel frame with another origin (3,)."""
    return Pose(pose.position - origin, pose.rotation)


def place_shape(shape: Shape, pose: Pose) -> Shape:
    """Return a shape at a pose."""
    return shape.at(pose.position, pose.orientation)

"""Bodies from links on fixed joints: mass, centre of mass and inertia added exactly."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from vigym.mechanism.elements.checks import Array, inertia_fault
from vigym.mechanism.elements.errors import UrdfError
from vigym.mechanism.elements.shapes import Shape
from vigym.spatial import IDENTITY, Pose
from vigym.urdf.convert.tree import LinkOrder
from vigym.urdf.read.records import Link, Robot, TreeJoint

# Links of a larger body may be points or lines: least ratio of smallest to largest moment.
_LEAST_MOMENT = -1e-9


@dataclass(frozen=True, eq=False)
class LinkGroup:
    """Links held together by fixed joints, from the root outwards, and their parent joint."""

    links: list[Link]
    joint: TreeJoint | None

    @property
    def mass(self) -> float:
        """Mass of all links [kg]."""
        return sum(link.mass for link in self.links)

    @property
    def reference(self) -> Link:
        """First link with mass: the body has its name and its axes."""
        return next(link for link in self.links if link.mass)


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


def merge_masses(robot: Robot, group: LinkGroup, relative: dict[str, Pose]) -> MassProperties:
    """Return the mass properties of a group as one rigid body.

    Args:
        robot: the file.
        group: its links.
        relative: pose of each link in the reference link.

    Raises:
        UrdfError: a link, or the whole group, with an inertia no rigid body has.
    """
    heavy = [link for link in group.links if link.mass]
    frames = [relative[link.name] @ link.inertial for link in heavy]
    mass = group.mass
    parts = list(zip(heavy, frames, strict=True))
    center = sum((link.mass / mass) * frame.position for link, frame in parts)
    inertia = np.zeros((3, 3))
    for link, frame in parts:
        check_inertia(robot.path, link, alone=len(heavy) == 1)
        d = frame.position - center
        inertia += frame.rotation @ link.inertia @ frame.rotation.T
        inertia += link.mass * ((d @ d) * np.eye(3) - np.outer(d, d))
    fault = inertia_fault(inertia)
    if fault:
        place = f"body {group.reference.name!r} inertia, fixed links merged"
        raise UrdfError(f"{robot.path}: {place}: {fault}")
    return MassProperties(mass, np.asarray(center), inertia)


def check_inertia(path: Path, link: Link, alone: bool) -> None:
    """Raise UrdfError for an inertia that a link cannot have.

    Args:
        path: of the file.
        link: to be checked.
        alone: whether no other link of its body has mass; else it may be a point or a line.
    """
    if not alone and not link.inertia.any():
        return
    fault = inertia_fault(link.inertia, least=0.0 if alone else _LEAST_MOMENT)
    if fault:
        raise UrdfError(f"{path}: link {link.name!r} <inertial> <inertia>: {fault}")


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
    return replace(shape, position=pose.position, orientation=pose.orientation)

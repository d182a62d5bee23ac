"""Links joined by fixed joints become one body: mass, centre of mass and inertia added exactly."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from vigym.mechanism.elements.checks import Array, inertia_fault
from vigym.mechanism.elements.errors import UrdfError
from vigym.mechanism.elements.shapes import Shape
from vigym.spatial import IDENTITY, Pose
from vigym.urdf.read.records import Link, Robot, UrdfJoint

_LAMINA = -1e-9  # a link inside a larger body may be a point or a line: smallest over largest moment


@dataclass(frozen=True, eq=False)
class Cluster:
    """Links that move as one, the first one outermost towards the root, and the joint that carries them."""

    links: list[Link]
    joint: UrdfJoint | None

    @property
    def mass(self) -> float:
        """Mass of all links [kg]."""
        return sum(link.mass for link in self.links)

    @property
    def carrier(self) -> Link:
        """The first link with mass: it names the body and gives it its axes."""
        return next(link for link in self.links if link.mass)


@dataclass(frozen=True, eq=False)
class Rigid:
    """Mass [kg], centre of mass (3,) [m] and inertia about it (3, 3) [kg m^2], in the carrier's link frame."""

    mass: float
    center: Array
    inertia: Array


def clusters(robot: Robot, order: list[tuple[str, UrdfJoint | None]]) -> list[Cluster]:
    """Return the links grouped by fixed joints, the root's group first."""
    found: list[Cluster] = []
    of_link: dict[str, Cluster] = {}
    for name, joint in order:
        if joint is not None and joint.type == "fixed":
            of_link[name] = of_link[joint.parent]
            of_link[name].links.append(robot.links[name])
        else:
            of_link[name] = Cluster([robot.links[name]], joint)
            found.append(of_link[name])
    return found


def places(cluster: Cluster, poses: dict[str, Pose]) -> dict[str, Pose]:
    """Return the pose of every link of a cluster in its carrier's link frame."""
    home = poses[cluster.carrier.name].inverse
    relative = {link.name: home @ poses[link.name] for link in cluster.links}
    return relative | {cluster.carrier.name: IDENTITY}


def combine(robot: Robot, cluster: Cluster, relative: dict[str, Pose]) -> Rigid:
    """Return the cluster as one rigid body.

    Raises:
        UrdfError: a link, or all of them together, with an inertia no rigid body has.
    """
    heavy = [link for link in cluster.links if link.mass]
    frames = [relative[link.name] @ link.inertial for link in heavy]
    mass = cluster.mass
    center = sum((link.mass / mass) * frame.position for link, frame in zip(heavy, frames, strict=True))
    inertia = np.zeros((3, 3))
    for link, frame in zip(heavy, frames, strict=True):
        check_inertia(robot.path, link, alone=len(heavy) == 1)
        d = frame.position - center
        inertia += frame.rotation @ link.inertia @ frame.rotation.T
        inertia += link.mass * ((d @ d) * np.eye(3) - np.outer(d, d))
    fault = inertia_fault(inertia)
    if fault:
        raise UrdfError(f"{robot.path}: body {cluster.carrier.name!r} inertia, fixed links merged: {fault}")
    return Rigid(mass, np.asarray(center), inertia)


def check_inertia(path: Path, link: Link, alone: bool) -> None:
    """Raise UrdfError for an inertia that a link cannot have, `alone` or inside a body with other mass."""
    fault = inertia_fault(link.inertia, least=0.0 if alone else _LAMINA) if alone or link.inertia.any() else ""
    if fault:
        raise UrdfError(f"{path}: link {link.name!r} <inertial> <inertia>: {fault}")


def shapes(cluster: Cluster, relative: dict[str, Pose], center: Array) -> Iterator[Shape]:
    """Yield what is drawn, in a frame with the carrier's axes and its origin at `center`."""
    for link in cluster.links:
        for visual in link.visuals:
            yield placed(visual.shape, in_body(relative[link.name] @ visual.pose, center))


def in_body(pose: Pose, center: Array) -> Pose:
    """The pose of something in the carrier's link frame, seen from the body frame, whose origin is at `center`."""
    return Pose(pose.position - center, pose.rotation)


def placed(shape: Shape, pose: Pose) -> Shape:
    """Return a shape at a pose."""
    return replace(shape, position=pose.position, orientation=pose.orientation)

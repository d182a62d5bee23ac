"""Links, joints and loop joints of a URDF file; poses and axes are relative to links."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from vigym.mechanism.elements.bodies import Note
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.errors import UrdfError
from vigym.mechanism.elements.joint_types import JOINT_TYPES, JointType
from vigym.mechanism.elements.joints import JointParameters
from vigym.mechanism.elements.shapes import Shape
from vigym.spatial import IDENTITY, Origin, Pose


@dataclass(frozen=True, eq=False)
class Visual:
    """Shape to be drawn (its own pose is not used) and its pose in the link."""

    shape: Shape
    pose: Pose


# Files ask for up to 1e14 where a surface is not to slip. One of 5 holds on slopes of 79 degrees.
LARGEST_FRICTION = 5.0


@dataclass(frozen=True, eq=False)
class UrdfSurface:
    """Contact parameters of a link.

    Attributes:
        friction: coefficients (along, across) `direction`, and backward if it differs from along,
            each at most LARGEST_FRICTION.
        torsion: coefficient of torsional friction [m].
        restitution: coefficient in [0, 1].
        direction: first friction direction in the frame of the shape (3,).
    """

    friction: tuple[float, ...] = (0.8, 0.8)
    torsion: float = 0.0
    restitution: float = 0.0
    direction: Array = field(default_factory=lambda: np.array([1.0, 0.0, 0.0]))


@dataclass(frozen=True, eq=False)
class UrdfCollision:
    """Collision shape of a link.

    Attributes:
        name: as written, empty without.
        place: the element in words.
        shape: its own pose is not used; None for a point or a ball that touches the ground alone.
        pose: in the link.
        surface: contact parameters.
        radius: of that ball [m]; 0 for a point, and for a shape.
    """

    name: str
    place: str
    shape: Shape | None
    pose: Pose
    surface: UrdfSurface
    radius: float = 0.0


@dataclass(frozen=True, eq=False)
class Link:
    """Link with its inertial, drawn shapes and collision shapes.

    Attributes:
        name: unique name.
        mass: [kg]; 0 without <inertial>.
        inertial: pose of the centre of mass and the inertia's axes in the link.
        inertia: tensor about the centre of mass in those axes (3, 3) [kg m^2]; zero if not given.
        visuals: drawn shapes.
        collisions: shapes that touch the ground and other links.
        inertia_given: whether the file has an <inertia>.
    """

    name: str
    mass: float
    inertial: Origin
    inertia: Array
    visuals: tuple[Visual, ...]
    collisions: tuple[UrdfCollision, ...] = ()
    inertia_given: bool = True


@dataclass(frozen=True, eq=False)
class Mimic:
    """Coupling of a joint to another one: coordinate = factor * coordinate of `joint` + offset.

    `place` is the element in words.
    """

    joint: str
    factor: float
    offset: float
    place: str


@dataclass(frozen=True, eq=False, kw_only=True)
class UrdfJoint(JointParameters):
    """Joint between two links, with its parameters.

    Attributes:
        name: unique among joints and loop joints.
        type: key of `JOINT_TYPES`.
        place: the element in words.
        parent: link name.
        child: link name.
        axis: unit vector in the joint frame (3,).
        axis2: second axis of a universal joint in the joint frame (3,), perpendicular to `axis`.
        limits: lower and upper value [rad or m], or (dofs, 2) with pairs of them; None where the
            type or the file has none.
    """

    name: str
    type: str
    place: str
    parent: str
    child: str
    axis: Array
    axis2: Array | None = None
    limits: tuple[float, float] | Array | None = None

    @property
    def joint_type(self) -> JointType:
        """Row of the joint's type."""
        return JOINT_TYPES[self.type]

    @property
    def is_fixed(self) -> bool:
        """Whether parent and child are one body."""
        return self.joint_type.dofs == 0


@dataclass(frozen=True, eq=False, kw_only=True)
class TreeJoint(UrdfJoint):
    """Joint that carries its child link; the joint frame is the child link's.

    Attributes:
        origin: pose of the child link in the parent link at zero.
        mimic: coupling to another joint, None without.
        pitch: of a screw, a cylindrical joint [m/rad]; None without.
    """

    origin: Origin
    mimic: Mimic | None = None
    pitch: float | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class LoopJoint(UrdfJoint):
    """Joint that closes a loop; its coordinates are zero where its two joint frames coincide.

    Attributes:
        parent_frame: pose of the joint frame in the parent link.
        child_frame: pose of the joint frame in the child link.
        effort: 0 or None: loop joints are passive.
    """

    parent_frame: Pose
    child_frame: Pose


@dataclass(frozen=True, eq=False)
class Addition:
    """Element that URDF lacks.

    Attributes:
        tag: key of `ADDITIONS`.
        place: the element in words.
        values: arguments of `Mechanism.add_TAG` by name, in the frame of the link.
    """

    tag: str
    place: str
    values: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Robot:
    """Links, joints and all else of one file in its order, and the reader's notes.

    `placement` is the pose of the root link in the world.
    """

    name: str
    path: Path
    links: dict[str, Link]
    joints: dict[str, TreeJoint]
    loops: list[LoopJoint] = field(default_factory=list)
    additions: Sequence[Addition] = ()
    notes: list[Note] = field(default_factory=list)
    placement: Pose = IDENTITY

    def error(self, place: str, found: str, expected: str) -> UrdfError:
        """Return the error of one element."""
        return UrdfError(f"{self.path}: {place}: found {found}, expected {expected}")

"""What a URDF file says, as plain data: poses and axes relative to links, as written."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from vigym.mechanism.elements.bodies import Note
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.errors import UrdfError
from vigym.mechanism.elements.shapes import Shape
from vigym.spatial import Origin, Pose


@dataclass(frozen=True, eq=False)
class Visual:
    """A shape (its own pose is not used) and its pose in the link."""

    shape: Shape
    pose: Pose


@dataclass(frozen=True, eq=False)
class Surface:
    """Friction (along, across), along `direction` in the shape (3,); torsion [m] and restitution."""

    friction: tuple[float, float] = (0.8, 0.8)
    torsion: float = 0.0
    restitution: float = 0.0
    direction: Array = field(default_factory=lambda: np.array([1.0, 0.0, 0.0]))


@dataclass(frozen=True, eq=False)
class Touch:
    """A shape by which a link touches.

    Attributes:
        name: as written, empty without.
        place: the element in words.
        shape: its own pose is not used; None for a point.
        pose: in the link.
        surface: friction and the like.
    """

    name: str
    place: str
    shape: Shape | None
    pose: Pose
    surface: Surface


@dataclass(frozen=True, eq=False)
class Mimic:
    """The joint that another one follows: coordinate = factor * that of `joint` + offset; and the element in words."""

    joint: str
    factor: float
    offset: float
    place: str


@dataclass(frozen=True, eq=False)
class Link:
    """One link.

    Attributes:
        name: unique name.
        mass: [kg]; 0 without <inertial>.
        inertial: pose of the centre of mass and the inertia's axes in the link.
        inertia: tensor about the centre of mass in those axes (3, 3) [kg m^2].
        visuals: what is drawn.
        touches: what touches.
    """

    name: str
    mass: float
    inertial: Origin
    inertia: Array
    visuals: tuple[Visual, ...]
    touches: tuple[Touch, ...] = ()


@dataclass(frozen=True, eq=False)
class UrdfJoint:
    """One joint.

    Attributes:
        name, type, parent, child: as written; type is a key of JOINT_TYPES.
        origin: pose of the child link in the parent link at zero.
        axis: unit vector in the child link (3,).
        limits: lower and upper value [rad or m], None where the type or the file has none.
        effort: [N or N m], None where the file has none.
        velocity: largest rate [rad/s or m/s], None where the file has none.
        damping, friction, stiffness, rest: of <dynamics>, 0 where the file has none.
        mimic: whom it follows, None where the file has none.
    """

    name: str
    type: str
    parent: str
    child: str
    origin: Origin
    axis: Array
    limits: tuple[float, float] | None
    effort: float | None
    velocity: float | None
    damping: float
    friction: float
    stiffness: float
    rest: float
    mimic: Mimic | None = None


@dataclass(frozen=True, eq=False)
class Loop:
    """One joint that closes a loop: two halves, each a frame fixed in a link; its coordinates are zero where they meet.

    Attributes:
        name: unique among joints.
        type: key of JOINT_TYPES.
        place: the element in words.
        links: names of the parent and the child link.
        halves: pose of the parent's half in the parent link, of the child's half in the child link.
        axis: unit vector in either half (3,).
        axis2: universal only: second unit vector in either half (3,), perpendicular to `axis`.
        limits, effort, velocity, damping, friction, stiffness, rest: as in `UrdfJoint`; effort is 0 or None.
    """

    name: str
    type: str
    place: str
    links: tuple[str, str]
    halves: tuple[Pose, Pose]
    axis: Array
    axis2: Array | None = None
    limits: tuple[float, float] | None = None
    effort: float | None = None
    velocity: float | None = None
    damping: float = 0.0
    friction: float = 0.0
    stiffness: float = 0.0
    rest: float = 0.0


@dataclass(frozen=True, eq=False)
class Robot:
    """Links, joints and loops of one file in the order of the file, and what the reader has to report."""

    name: str
    path: Path
    links: dict[str, Link]
    joints: dict[str, UrdfJoint]
    loops: list[Loop] = field(default_factory=list)
    report: list[Note] = field(default_factory=list)

    def error(self, place: str, found: str, expected: str) -> UrdfError:
        """Return the error of one element."""
        return UrdfError(f"{self.path}: {place}: found {found}, expected {expected}")

"""What a URDF file says, as plain data: poses and axes relative to links, as written."""

from dataclasses import dataclass, field
from pathlib import Path

from vigym.mechanism.check import Array
from vigym.mechanism.parts import Report
from vigym.mechanism.shapes import Shape
from vigym.urdf.pose import Origin, Pose


@dataclass(frozen=True, eq=False)
class Visual:
    """A shape (its own pose is not used) and its pose in the link."""

    shape: Shape
    pose: Pose


@dataclass(frozen=True, eq=False)
class Link:
    """One link.

    Attributes:
        name: unique name.
        mass: [kg]; 0 without <inertial>.
        inertial: pose of the centre of mass and the inertia's axes in the link.
        inertia: tensor about the centre of mass in those axes (3, 3) [kg m^2].
        visuals: what is drawn.
    """

    name: str
    mass: float
    inertial: Origin
    inertia: Array
    visuals: tuple[Visual, ...]


@dataclass(frozen=True, eq=False)
class UrdfJoint:
    """One joint.

    Attributes:
        name, type, parent, child: as written; type is a key of PROTOTYPES.
        origin: pose of the child link in the parent link at zero.
        axis: unit vector in the child link (3,).
        limits: lower and upper value [rad or m], None where the type or the file has none.
        effort: [N or N m], None where the file has none.
        velocity: largest rate [rad/s or m/s], None where the file has none.
        damping, friction, stiffness, rest: of <dynamics>, 0 where the file has none.
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


@dataclass(frozen=True, eq=False)
class Robot:
    """Links and joints of one file in the order of the file, and what the reader has to report."""

    name: str
    path: Path
    links: dict[str, Link]
    joints: dict[str, UrdfJoint]
    report: list[Report] = field(default_factory=list)

"""Bodies, massless frames, the ground plane and notes: checked records."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from vigym.mechanism.elements import checks
from vigym.mechanism.elements.checks import Array, ReadOnly
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.ground.terrain import Terrain
from vigym.mechanism.elements.shapes import Shape, check_shapes

WORLD = "world"


@dataclass(frozen=True, eq=False)
class Body(ReadOnly):
    """Rigid body at its assembly pose.

    Attributes:
        name: unique name.
        mass: [kg]; 0 of a body between joints without mass and inertia.
        inertia: tensor about the centre of mass in body axes (3, 3) [kg m^2].
        position: centre of mass in the world (3,) [m].
        orientation: unit quaternion (w, x, y, z), body to world (4,).
        shapes: drawn shapes, poses in the body frame.
    """

    name: str
    mass: float
    inertia: Array
    position: Array
    orientation: Array
    shapes: tuple[Shape, ...] = ()

    @property
    def gyration(self) -> float:
        """Radius of gyration [m], the mean over the axes; 0 without mass."""
        return float(np.sqrt(np.trace(self.inertia) / (2.0 * self.mass))) if self.mass else 0.0


@dataclass(frozen=True, eq=False)
class Frame(ReadOnly):
    """Massless frame fixed in a body or in the world.

    Attributes:
        name: unique name.
        body: body name or "world".
        position: origin in the body frame (3,) [m].
        orientation: unit quaternion (w, x, y, z), frame to body (4,).
    """

    name: str
    body: str
    position: Array
    orientation: Array


@dataclass(frozen=True, eq=False)
class Ground(ReadOnly):
    """Plane or terrain that contacts, collision shapes and wheels touch; it is drawn.

    Args:
        height: distance of the plane from the origin along `normal` [m].
        normal: upward direction (3,), scaled to length one.
        friction: replaces that of every contact with the ground: a number, (along, across) or
            (along, across, backward), stored as all three (3,); None: each contact has its own.
        terrain: heights above the plane z = 0, in place of height and normal. Balls, points and
            the ends of capsules touch all of it, rims of cylinders its triangles. A box or mesh
            touches with its corners alone, which does not see an edge between them.

    Raises:
        MechanismError: a number that is not finite, a zero normal or negative friction; a terrain
            on a plane other than z = 0.
    """

    height: float = 0.0
    normal: Array = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))
    friction: Array | None = None
    terrain: Terrain | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "height", checks.require_number(self.height, "ground height"))
        object.__setattr__(self, "normal", checks.require_direction(self.normal, "ground normal"))
        if self.terrain is not None and (self.height != 0.0 or self.normal[2] != 1.0):
            raise MechanismError(
                f"ground terrain: found a plane of height {self.height:g} and normal "
                f"{self.normal.tolist()}, expected z = 0: the terrain has heights of its own"
            )
        if self.friction is not None:
            object.__setattr__(
                self, "friction", checks.require_friction(self.friction, "ground friction")
            )


@dataclass(frozen=True)
class Note:
    """Note of a mechanism: one element that is not simulated exactly as it was described.

    Attributes:
        action: one of "changed", "merged", "assembled", "dropped", "ignored", "not enforced",
            "passive", "singular", "unlike".
        element: the element in words ("joint 'knee' <mimic>").
        message: value that was found and its replacement or loss.
    """

    action: str
    element: str
    message: str

    def __str__(self) -> str:
        return f"{self.action}: {self.element}: {self.message}"


def make_body(
    name: str,
    mass: float,
    inertia: ArrayLike,
    position: ArrayLike,
    orientation: ArrayLike,
    shapes: Sequence[Shape],
) -> Body:
    """Return a checked Body; arguments as in `Mechanism.add_body`."""
    element = f"body {name!r}"
    mass = checks.require_number(mass, f"{element} mass [kg]", 0.0)
    if mass == 0.0 and not np.any(inertia):
        tensor = checks.read_only(np.zeros((3, 3)))
    else:
        mass = checks.require_positive(mass, f"{element} with inertia: mass [kg]")
        tensor = checks.require_inertia_tensor(inertia, f"{element} inertia")
    largest = float(tensor.max())
    if largest > checks.LARGEST_INERTIA * min(mass, 1.0):  # the radius of gyration is no number
        found = f"{largest:.3g} kg m^2 of {mass:.3g} kg"
        raise MechanismError(
            f"{element} inertia: found {found}, expected a smaller one or more mass"
        )
    return Body(
        name=name,
        mass=mass,
        inertia=tensor,
        position=checks.require_vector(position, f"{element} position"),
        orientation=checks.require_direction(orientation, f"{element} orientation", 4),
        shapes=check_shapes(shapes, element),
    )


def make_frame(name: str, body: str, position: ArrayLike, orientation: ArrayLike) -> Frame:
    """Return a checked Frame; arguments as in `Mechanism.add_frame`."""
    element = f"frame {name!r}"
    return Frame(
        name=name,
        body=body,
        position=checks.require_vector(position, f"{element} position"),
        orientation=checks.require_direction(orientation, f"{element} orientation", 4),
    )


def make_ground(ground: bool | Ground | None) -> Ground | None:
    """Return the ground plane: z = 0 for True, none for None and False."""
    if ground is None or ground is False:
        return None
    if ground is True:
        return Ground()
    if isinstance(ground, Ground):
        return ground
    raise MechanismError(
        f"ground: found {ground!r}, expected None, True, False or Ground(height, normal)"
    )


def require_ground(ground: Ground | None, element: str) -> None:
    """Raise MechanismError for a mechanism without ground."""
    if ground is None:
        found = "a mechanism made without ground"
        raise MechanismError(f"{element}: found {found}, expected one; set `ground`")


def check_body(
    name: str,
    bodies: Mapping[str, Body],
    frames: Mapping[str, Frame],
    element: str,
    obstacles: Collection[str] = (),
) -> None:
    """Raise MechanismError unless `name` is a body with mass, or one of the given obstacles."""
    if name in frames:
        carrier = frames[name].body
        raise MechanismError(
            f"{element} body: found {name!r}, a massless frame fixed in {carrier!r}, expected a "
            f"body with mass; name {carrier!r} and the position in its frame"
        )
    checks.require_one_of(name, bodies, f"{element} body")
    if not bodies[name].mass and name not in obstacles:
        found = f"{name!r}, which has no mass"
        raise MechanismError(f"{element} body: found {found}, expected a body with mass")


def check_body_or_frame(name: str, bodies: Collection[str], frames: Collection[str]) -> None:
    """Raise MechanismError unless `name` is a body, a frame or "world"."""
    if not (isinstance(name, str) and (name in bodies or name in frames or name == WORLD)):
        expected = ", ".join((*bodies, *frames, WORLD))
        raise MechanismError(f"body: found {name!r}, expected one of {expected}")

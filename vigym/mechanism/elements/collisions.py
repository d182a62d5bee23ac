"""The checked record of what touches: a point, a ball or a shape of a body."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vigym.mechanism.elements import checks
from vigym.mechanism.elements.checks import Array, ReadOnly
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.mesh import hull_corners, read_vertices
from vigym.mechanism.elements.shapes import Mesh, Shape, check_shapes
from vigym.spatial import matrix

MOST_CORNERS = 128  # of the convex hull of a mesh; each is a contact
PAIRED = ("sphere", "capsule", "box")  # kinds of shapes that touch each other; all touch the ground


@dataclass(frozen=True, eq=False)
class Collision(ReadOnly):
    """Point, ball or shape of a body that touches the ground, and other bodies where they are paired.

    Attributes:
        name: unique among collisions.
        body: body name.
        shape: pose in the body frame; None for a point or ball.
        position: of the point, the ball's centre or the shape's origin, in the body frame (3,) [m].
        radius: of the ball [m]; 0 for a point and for a shape.
        friction: coefficients along, across and backward (3,).
        restitution: Newton's, in [0, 1].
        torsion: largest moment about the normal as a part of the normal force [m].
        direction: unit vector in the body frame (3,); along is its projection on the plane of contact.
        corners: corners of the convex hull of a mesh in the body frame (n, 3) [m]; none for all others.
        cut: how far the mesh reaches beyond the hull of these, where it has too many [m].
    """

    name: str
    body: str
    shape: Shape | None
    position: Array
    radius: float
    friction: Array
    restitution: float
    torsion: float
    direction: Array
    corners: Array
    cut: float = 0.0


def make_contact(name: str, body: str, position: ArrayLike, radius: float, **values: Any) -> Collision:
    """Return a checked point or ball; arguments as in `Mechanism.add_contact`. The body is the caller's to check."""
    element = f"contact {name!r}"
    place = checks.vector(position, f"{element} position")
    size = checks.number(radius, f"{element} radius", 0.0)
    return Collision(name, body, None, place, size, corners=_none(), **_surface(values, element))


def make_collision(name: str, body: str, shape: Shape, **values: Any) -> Collision:
    """Return a checked shape; arguments as in `Mechanism.add_collision`. The body is the caller's to check."""
    element = f"collision {name!r}"
    (shape,) = check_shapes([shape], element)
    surface = _surface(values, element)
    corners, cut = _corners(shape, element) if isinstance(shape, Mesh) else (_none(), 0.0)
    return Collision(name, body, shape, np.asarray(shape.position), 0.0, corners=corners, cut=cut, **surface)


def _corners(mesh: Mesh, element: str) -> tuple[Array, float]:
    """Corners of a mesh's convex hull in the body frame (n, 3) [m], and how far it reaches beyond them [m]."""
    try:
        vertices = read_vertices(mesh.path)
    except MechanismError as error:
        raise MechanismError(f"{element}: {error}") from error
    corners, cut = hull_corners(vertices * np.asarray(mesh.scale), MOST_CORNERS)
    placed: Array = np.asarray(mesh.position) + corners @ matrix(np.asarray(mesh.orientation)).T
    placed.flags.writeable = False
    return placed, cut


def _surface(values: dict[str, Any], element: str) -> dict[str, Any]:
    return {
        "friction": checks.friction(values["friction"], f"{element} friction"),
        "restitution": checks.fraction(values["restitution"], f"{element} restitution"),
        "torsion": checks.number(values["torsion"], f"{element} torsion", 0.0),
        "direction": checks.unit(values["direction"], f"{element} direction"),
    }


def _none() -> Array:
    corners = np.zeros((0, 3))
    corners.flags.writeable = False
    return corners

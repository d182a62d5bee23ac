"""The checked record of what touches: a point, a ball or a shape of a body."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vigym.mechanism import check
from vigym.mechanism.check import Array, ReadOnly
from vigym.mechanism.shapes import Mesh, Shape, check_shapes

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


def make_contact(name: str, body: str, position: ArrayLike, radius: float, **values: Any) -> Collision:
    """Return a checked point or ball; arguments as in `Mechanism.add_contact`. The body is the caller's to check."""
    element = f"contact {name!r}"
    place = check.vector(position, f"{element} position")
    size = check.number(radius, f"{element} radius", 0.0)
    return Collision(name, body, None, place, size, corners=_none(), **_surface(values, element))


def make_collision(name: str, body: str, shape: Shape, **values: Any) -> Collision:
    """Return a checked shape; arguments as in `Mechanism.add_collision`. The body is the caller's to check."""
    element = f"collision {name!r}"
    (shape,) = check_shapes([shape], element)
    surface = _surface(values, element)
    if isinstance(shape, Mesh):
        raise NotImplementedError
    return Collision(name, body, shape, np.asarray(shape.position), 0.0, corners=_none(), **surface)


def _surface(values: dict[str, Any], element: str) -> dict[str, Any]:
    return {
        "friction": check.friction(values["friction"], f"{element} friction"),
        "restitution": check.fraction(values["restitution"], f"{element} restitution"),
        "torsion": check.number(values["torsion"], f"{element} torsion", 0.0),
        "direction": check.unit(values["direction"], f"{element} direction"),
    }


def _none() -> Array:
    corners = np.zeros((0, 3))
    corners.flags.writeable = False
    return corners

"""Contacts and collision shapes of bodies: their surface and the checked record."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vigym.mechanism.elements import checks
from vigym.mechanism.elements.bodies import Note
from vigym.mechanism.elements.checks import Array, ReadOnly
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.mesh import hull_corners, read_mesh
from vigym.mechanism.elements.shapes import Mesh, Shape, check_shapes
from vigym.spatial import batch_rotation_matrix

MAX_CORNERS = 128  # of the convex hull of a mesh; each is a contact
PAIRABLE = ("sphere", "capsule", "box")  # shapes that touch each other; all shapes touch the ground


@dataclass(frozen=True, eq=False)
class ContactMaterial(ReadOnly):
    """Friction and restitution of a contact or collision shape.

    Attributes:
        friction: coefficients (along, across, backward) (3,), the first two or one for all, >= 0.
        restitution: Newton's, in [0, 1].
        torsion: largest moment about the normal as a part of the normal force [m], >= 0.
        direction: in the body frame (3,); "along" is its projection on the plane of contact.
    """

    friction: ArrayLike = 0.8
    restitution: float = 0.0
    torsion: float = 0.0
    direction: ArrayLike = (1.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False, kw_only=True)
class Collision(ContactMaterial):
    """Point, ball or shape of a body that touches the ground, and shapes of paired bodies.

    Attributes:
        name: unique among collisions.
        body: body name.
        shape: pose in the body frame; None for a point or ball.
        position: point, centre of the ball or origin of the shape, in the body frame (3,) [m].
        radius: of the ball [m]; 0 for a point and for a shape.
        corners: corners of the convex hull of a mesh in the body frame (n, 3) [m], else none.
        cut: distance by which a mesh reaches beyond the hull of its corners, 0 with all of them
            [m].
        friction: coefficients (along, across, backward) (3,).
        direction: unit vector in the body frame (3,).
    """

    name: str
    body: str
    shape: Shape | None
    position: Array
    radius: float
    corners: Array
    cut: float = 0.0
    friction: Array
    direction: Array


def make_contact(
    name: str, body: str, position: ArrayLike, radius: float, surface: ContactMaterial
) -> Collision:
    """Return a checked point or ball; its body is checked by the caller."""
    element = f"contact {name!r}"
    return Collision(
        name=name,
        body=body,
        shape=None,
        position=checks.require_vector(position, f"{element} position"),
        radius=checks.require_number(radius, f"{element} radius", 0.0),
        corners=_no_corners(),
        **_checked(surface, element),
    )


def make_collision(name: str, body: str, shape: Shape, surface: ContactMaterial) -> Collision:
    """Return a checked collision shape; its body is checked by the caller.

    Raises:
        MechanismError: a value out of range, or a mesh that cannot be read.
    """
    element = f"collision {name!r}"
    (shape,) = check_shapes([shape], element)
    values = _checked(surface, element)
    corners, cut = _hull(shape, element) if isinstance(shape, Mesh) else (_no_corners(), 0.0)
    return Collision(
        name=name,
        body=body,
        shape=shape,
        position=np.asarray(shape.position),
        radius=0.0,
        corners=corners,
        cut=cut,
        **values,
    )


def hull_truncation_notes(collision: Collision) -> list[Note]:
    """Return a note about a mesh whose convex hull was cut to its outermost corners, if it was."""
    if not collision.cut:
        return []
    kept = f"{len(collision.corners)} corners of its convex hull are kept"
    message = f"{kept}; the mesh reaches {collision.cut:.3g} m beyond them"
    return [Note("changed", f"collision {collision.name!r}", message)]


def check_pairable(collisions: Iterable[Collision]) -> None:
    """Raise MechanismError for a shape that touches the ground only."""
    for collision in collisions:
        if collision.shape is not None and collision.shape.kind not in PAIRABLE:
            found = f"a {collision.shape.kind}, which touches the ground alone"
            raise MechanismError(
                f"collision {collision.name!r} of body {collision.body!r}: found {found}, "
                f"expected for a pair of bodies: {', '.join(PAIRABLE)}"
            )


def _hull(mesh: Mesh, element: str) -> tuple[Array, float]:
    """Return corners of a mesh's convex hull in the body frame (n, 3) [m] and their cut [m]."""
    try:
        vertices = read_mesh(mesh.path).vertices
    except MechanismError as error:
        raise MechanismError(f"{element}: {error}") from error
    corners, cut = hull_corners(vertices * np.asarray(mesh.scale), MAX_CORNERS)
    rotation = batch_rotation_matrix(np.asarray(mesh.orientation))
    return checks.read_only(np.asarray(mesh.position) + corners @ rotation.T), cut


def _checked(surface: ContactMaterial, element: str) -> dict[str, Any]:
    return {
        "friction": checks.require_friction(surface.friction, f"{element} friction"),
        "restitution": checks.require_fraction(surface.restitution, f"{element} restitution"),
        "torsion": checks.require_number(surface.torsion, f"{element} torsion", 0.0),
        "direction": checks.require_direction(surface.direction, f"{element} direction"),
    }


def _no_corners() -> Array:
    return checks.read_only(np.zeros((0, 3)))

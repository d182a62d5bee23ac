"""Contacts of shapes: points, balls and rims that touch a plane, and the parts of two bodies that touch each other.

Of a pair one side is a ball or the segment of a capsule, the other a rounded box.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from vigym.mechanism.elements.checks import Array, ReadOnly
from vigym.mechanism.elements.collisions import Collision
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.shapes import Box, Capsule, Cylinder, Sphere
from vigym.spatial import matrix

if TYPE_CHECKING:
    from vigym.mechanism.elements.collection import Listing

RIM_CONTACTS = 4  # the deepest point of a rim, and those 90, 180 and 270 degrees on
SAME = 1e-9  # [m] distance of what is in one place
NEAREST, BALL, HEAD, TAIL = "nearest", "ball", "head", "tail"


@dataclass(frozen=True, eq=False)
class TouchPoint(ReadOnly):
    """Part of a body that touches a plane first; all in the body frame.

    Attributes:
        kind: "point": a ball of `radius` about `point`, or the point itself; "rim": a circle about `point`.
        point: centre (3,) [m].
        radius: [m]; 0 for a bare point.
        axis: unit normal of a rim's circle (3,); zero for a point.
    """

    kind: str
    point: Array
    radius: float
    axis: Array


def touch_points(collision: Collision) -> list[TouchPoint]:
    """Return the parts of a collision that can touch a plane first.

    A point or ball is itself; a sphere 1 ball, a capsule 2, a box its 8 corners, a cylinder 2 rims, a mesh the corners
    of its convex hull.
    """
    shape = collision.shape
    if shape is None:
        return [_ball(collision.position, collision.radius)]
    if len(collision.corners):
        return [_ball(corner) for corner in collision.corners]
    center, turn = np.asarray(shape.position), matrix(np.asarray(shape.orientation))
    if isinstance(shape, Box):
        signs = np.array(list(product((-0.5, 0.5), repeat=3)))
        return [_ball(center + turn @ offset) for offset in signs * np.asarray(shape.size)]
    if isinstance(shape, Sphere):
        return [_ball(center, shape.radius)]
    assert isinstance(shape, Cylinder)  # or a capsule
    axis = turn[:, 2]
    ends = [center + sign * shape.length * axis for sign in (-0.5, 0.5)]
    if isinstance(shape, Capsule):
        return [_ball(end, shape.radius) for end in ends]
    return [TouchPoint("rim", end, shape.radius, axis) for end in ends]


def contact_names(collision: Collision) -> list[str]:
    """Return one name per contact point: the collision's own for one, `name:0`, `name:1`, ... for several."""
    count = sum(RIM_CONTACTS if part.kind == "rim" else 1 for part in touch_points(collision))
    return [collision.name] if count == 1 else [f"{collision.name}:{i}" for i in range(count)]


def _ball(point: Array, radius: float = 0.0) -> TouchPoint:
    return TouchPoint("point", point, radius, np.zeros(3))


@dataclass(frozen=True)
class PairTouch:
    """One contact of two bodies.

    Attributes:
        name: of the contact.
        kind: "ball"; of a capsule "nearest", its nearest point, or "head" and "tail", the ends of the part that is over
            the partner.
        own: the sphere or capsule that touches with a point of its middle segment.
        partner: the sphere, capsule or box that it touches.
    """

    name: str
    kind: str
    own: Collision
    partner: Collision


def pair_touches(mechanism: Listing) -> list[PairTouch]:
    """Return all contacts of two bodies, pair by pair in the order they were added."""
    shapes: dict[str, list[Collision]] = {name: [] for name in mechanism.bodies}
    for collision in mechanism.collisions.values():
        if collision.shape is not None:
            shapes[collision.body].append(collision)
    return [
        touch
        for a, b in mechanism.pairs
        for first, second in product(shapes[a], shapes[b])
        for touch in _touches(first, second)
    ]


def meet(first: Collision, second: Collision) -> bool:
    """Whether two shapes can touch each other: not two boxes."""
    return not (isinstance(first.shape, Box) and isinstance(second.shape, Box))


def _touches(first: Collision, second: Collision) -> list[PairTouch]:
    own, partner = sorted((first, second), key=_roundness)
    kinds = [BALL] if isinstance(own.shape, Sphere) else [NEAREST, HEAD, TAIL]
    names = [f"{own.name}/{partner.name}"] if len(kinds) == 1 else [f"{own.name}/{partner.name}:{i}" for i in range(3)]
    return [PairTouch(name, kind, own, partner) for name, kind in zip(names, kinds, strict=True)]


def _roundness(collision: Collision) -> int:
    return (Sphere, Capsule, Box).index(type(collision.shape))


def segment(collision: Collision) -> tuple[Array, Array, float]:
    """Middle and half of the segment of a sphere or capsule in the body frame [m], and its radius [m]."""
    shape = collision.shape
    assert isinstance(shape, Sphere | Capsule)
    along = matrix(np.asarray(shape.orientation))[:, 2]
    half = 0.5 * shape.length * along if isinstance(shape, Capsule) else np.zeros(3)
    return np.asarray(shape.position), half, float(shape.radius)


def rounded_box(collision: Collision) -> tuple[Array, Array, Array, float]:
    """Centre, axes (3, 3) as columns, and half sizes of a shape in the body frame [m], and its radius [m]."""
    shape = collision.shape
    assert isinstance(shape, Sphere | Capsule | Box)
    axes = matrix(np.asarray(shape.orientation))
    if isinstance(shape, Box):
        return np.asarray(shape.position), axes, 0.5 * np.asarray(shape.size), 0.0
    half = np.array([0.0, 0.0, 0.5 * shape.length]) if isinstance(shape, Capsule) else np.zeros(3)
    return np.asarray(shape.position), axes, half, float(shape.radius)


def check_hinged(mechanism: Listing, touch: PairTouch) -> None:
    """Refuse two round shapes whose middles both go through a joint of their bodies: they never come apart.

    Raises:
        MechanismError: names both and the joint.
    """
    pair = (touch.own, touch.partner)
    if isinstance(touch.partner.shape, Box):
        return
    for joint in mechanism.joints.values():
        if {joint.parent, joint.child} != {collision.body for collision in pair}:
            continue
        if all(_off_middle(mechanism, collision, np.asarray(joint.position)) < SAME for collision in pair):
            raise MechanismError(
                f"pair {touch.own.body!r}, {touch.partner.body!r}: found the middles of collisions {touch.own.name!r} "
                f"and {touch.partner.name!r} both through joint {joint.name!r}, where no direction leads them apart, "
                f"expected a shorter shape or no pair"
            )


def _off_middle(mechanism: Listing, collision: Collision, point: Array) -> float:
    """Distance of a world point from the middle segment of a shape at the assembly pose [m]."""
    body = mechanism.bodies[collision.body]
    middle, half, _ = segment(collision)
    turn = matrix(np.asarray(body.orientation))
    off, along = point - np.asarray(body.position) - turn @ middle, turn @ half
    size = float(along @ along)
    place = np.clip(off @ along / size, -1.0, 1.0) if size > 0.0 else 0.0
    return float(np.linalg.norm(off - place * along))


def friction_of(first: Collision, second: Collision) -> float:
    """Coefficient of friction of two bodies: the geometric mean of each one's mean."""
    return float(np.sqrt(first.friction.mean() * second.friction.mean()))

"""Where two bodies can touch each other: a ball or the segment of a capsule of one, a rounded box of the other."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from vigym.mechanism.check import Array
from vigym.mechanism.collisions import Collision
from vigym.mechanism.errors import MechanismError
from vigym.mechanism.quaternions import matrix
from vigym.mechanism.shapes import Box, Capsule, Sphere

if TYPE_CHECKING:
    from vigym.mechanism.listing import Listing

SAME = 1e-9  # [m] distance of what is in one place
NEAREST, BALL, HEAD, TAIL = "nearest", "ball", "head", "tail"


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

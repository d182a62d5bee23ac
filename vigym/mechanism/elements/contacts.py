"""Contacts between shapes: features that touch a plane, and contacts of two bodies.

In a contact of two bodies one side is a ball or the segment of a capsule, the other a rounded box.
"""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from vigym.mechanism.elements import checks
from vigym.mechanism.elements.bodies import Body
from vigym.mechanism.elements.checks import Array, ReadOnly
from vigym.mechanism.elements.collisions import Collision, check_pairable
from vigym.mechanism.elements.couplings import Wheel
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.joints import Joint
from vigym.mechanism.elements.shapes import Box, Capsule, Cylinder, Sphere
from vigym.spatial import batch_rotation_matrix

# contacts of a feature; of a rim: its deepest point, and those 90, 180 and 270 degrees on
CONTACTS_OF = {"point": 1, "rim": 4}
SAME = 1e-9  # [m] distance of points that count as one
NEAREST = "nearest"
BALL = "ball"
HEAD = "head"
TAIL = "tail"


@dataclass(frozen=True, eq=False)
class ContactFeature(ReadOnly):
    """Ball or rim of a body that can be its nearest part to a plane, in the body frame.

    Attributes:
        kind: "point": a ball of `radius` about `point`; "rim": a circle about `point`.
        point: centre (3,) [m].
        radius: [m]; 0 for a bare point.
        axis: unit normal of a rim's circle (3,); zero for a point.
    """

    kind: str
    point: Array
    radius: float
    axis: Array


def contact_features(collision: Collision) -> list[ContactFeature]:
    """Return the features of a collision that can touch a plane.

    A point or ball is one feature, a mesh has the corners of its convex hull, other shapes those of
    `FEATURES`.

    Raises:
        TypeError: a kind of shape without features.
    """
    shape = collision.shape
    if shape is None:
        return [_ball_feature(collision.position, collision.radius)]
    if len(collision.corners):
        return [_ball_feature(corner) for corner in collision.corners]
    center = np.asarray(shape.position)
    rotation = batch_rotation_matrix(np.asarray(shape.orientation))
    if shape.kind not in FEATURES:
        raise TypeError(f"shape: found a {shape.kind}, expected {', '.join(FEATURES)} or mesh")
    return [
        replace(each, point=center + rotation @ each.point, axis=rotation @ each.axis)
        for each in FEATURES[shape.kind](shape)
    ]


def _ball_feature(point: Array, radius: float = 0.0) -> ContactFeature:
    return ContactFeature("point", point, radius, np.zeros(3))


def _sphere_features(sphere: Sphere) -> list[ContactFeature]:
    return [_ball_feature(np.zeros(3), sphere.radius)]


def _capsule_features(capsule: Capsule) -> list[ContactFeature]:
    return [_ball_feature(end, capsule.radius) for end in _ends(capsule)]


def _box_features(box: Box) -> list[ContactFeature]:
    signs = np.array(list(product((-0.5, 0.5), repeat=3)))
    return [_ball_feature(corner) for corner in signs * np.asarray(box.size)]


def _cylinder_features(cylinder: Cylinder) -> list[ContactFeature]:
    axis = np.array([0.0, 0.0, 1.0])
    return [ContactFeature("rim", end, cylinder.radius, axis) for end in _ends(cylinder)]


def _ends(shape: Cylinder) -> list[Array]:
    """Return both ends (3,) [m] of the axis of a cylinder or capsule in its own axes."""
    return [np.array([0.0, 0.0, sign * shape.length]) for sign in (-0.5, 0.5)]


# features of a shape in its own axes, by its kind
FEATURES: dict[str, Callable[[Any], list[ContactFeature]]] = {
    "sphere": _sphere_features,
    "capsule": _capsule_features,
    "box": _box_features,
    "cylinder": _cylinder_features,
}


def contact_names(collision: Collision, planes: int = 1) -> list[str]:
    """Return one name per contact: the collision's own for one, `name:0`, ... for several.

    Args:
        collision: of them.
        planes: of the ground that a ball or rim may touch at once: contacts that it has.
    """
    return _names(collision.name, contact_features(collision), planes)


def wheel_rim(wheel: Wheel) -> ContactFeature:
    """Return the rim by which a wheel stands on the ground."""
    return ContactFeature("rim", wheel.position, wheel.radius, wheel.axis)


def wheel_contact_names(wheel: Wheel) -> list[str]:
    """Return the names of the contacts of a wheel's rim: the first is where it comes lowest."""
    return _names(wheel.name, [wheel_rim(wheel)], 1)


def _names(name: str, features: Iterable[ContactFeature], planes: int) -> list[str]:
    count = planes * sum(CONTACTS_OF[feature.kind] for feature in features)
    return [name] if count == 1 else [f"{name}:{i}" for i in range(count)]


@dataclass(frozen=True)
class PairContact:
    """Contact of two bodies.

    Attributes:
        name: of the contact.
        kind: "ball"; of a capsule "nearest", its nearest point, or "head" and "tail", the ends of
            its part that is over the partner.
        own: sphere or capsule that touches with a point of its middle segment.
        partner: sphere, capsule or box that it touches.
    """

    name: str
    kind: str
    own: Collision
    partner: Collision


def pair_contacts(
    collisions: Iterable[Collision], pairs: Iterable[tuple[str, str]]
) -> list[PairContact]:
    """Return all contacts of paired bodies, pair by pair."""
    shapes: dict[str, list[Collision]] = {}
    for collision in collisions:
        if collision.shape is not None:
            shapes.setdefault(collision.body, []).append(collision)
    return [
        contact
        for a, b in pairs
        for first, second in product(shapes[a], shapes[b])
        for contact in _contacts_of(first, second)
    ]


def _contacts_of(first: Collision, second: Collision) -> list[PairContact]:
    own, partner = sorted((first, second), key=_roundness)
    name = f"{own.name}/{partner.name}"
    if isinstance(own.shape, Sphere):
        return [PairContact(name, BALL, own, partner)]
    kinds = (NEAREST, HEAD, TAIL)
    return [PairContact(f"{name}:{i}", kind, own, partner) for i, kind in enumerate(kinds)]


def _roundness(collision: Collision) -> int:
    return (Sphere, Capsule, Box).index(type(collision.shape))


def pair_friction(first: Collision, second: Collision) -> float:
    """Return the friction of two bodies: the geometric mean of each one's mean coefficient."""
    return float(np.sqrt(first.friction.mean() * second.friction.mean()))


def core_segment(collision: Collision) -> tuple[Array, Array, float]:
    """Return middle, half length vector and radius of the segment of a sphere or capsule.

    Returns:
        (3,) and (3,) in the body frame [m], and [m].
    """
    shape = collision.shape
    assert isinstance(shape, Sphere | Capsule)
    along = batch_rotation_matrix(np.asarray(shape.orientation))[:, 2]
    half = 0.5 * shape.length * along if isinstance(shape, Capsule) else np.zeros(3)
    return np.asarray(shape.position), half, float(shape.radius)


def rounded_box(collision: Collision) -> tuple[Array, Array, Array, float]:
    """Return a shape as a box with rounded edges.

    Returns:
        centre (3,) [m], axes (3, 3) as columns and half sizes (3,) [m] in the body frame; radius
        [m].
    """
    shape = collision.shape
    assert isinstance(shape, Sphere | Capsule | Box)
    center = np.asarray(shape.position)
    axes = batch_rotation_matrix(np.asarray(shape.orientation))
    if isinstance(shape, Box):
        return center, axes, 0.5 * np.asarray(shape.size), 0.0
    length = shape.length if isinstance(shape, Capsule) else 0.0
    return center, axes, np.array([0.0, 0.0, 0.5 * length]), float(shape.radius)


def check_contact_names(names: Iterable[str], taken: Container[str]) -> None:
    """Raise MechanismError when contacts have one of the names that are taken."""
    for name in names:
        checks.require_new_name(name, "contact", taken)


def check_partners(collision: Collision, others: Sequence[Collision]) -> None:
    """Raise MechanismError for a shape that cannot touch the bodies paired with its own one.

    Args:
        collision: to be added.
        others: shapes of these bodies.
    """
    if others:
        check_pairable([collision])
    for other in others:
        if not _can_collide(collision, other):
            raise MechanismError(
                f"collision {collision.name!r}: found a box, and its body paired with one that has "
                f"a box, {other.name!r}, expected a sphere or capsule on one side"
            )


def check_pair(
    a: str, b: str, shapes: Mapping[str, Sequence[Collision]], partners: Container[str]
) -> None:
    """Raise MechanismError for bodies that cannot be paired.

    Args:
        a: body name.
        b: another one.
        shapes: collisions with a shape, by body.
        partners: bodies that are paired with a.
    """
    element = f"pair {a!r}, {b!r}"
    if a == b:
        raise MechanismError(f"{element}: found one body twice, expected two bodies")
    if b in partners:
        raise MechanismError(f"{element}: found a second pair of these bodies, expected one")
    for body in (a, b):
        if body not in shapes:
            raise MechanismError(f"{element}: found no collision shape on {body!r}, expected one")
        check_pairable(shapes[body])
    for first, second in product(shapes[a], shapes[b]):
        if not _can_collide(first, second):
            raise MechanismError(
                f"{element}: found two boxes, {first.name!r} and {second.name!r}, which do not "
                "touch each other, expected a sphere or capsule on one side"
            )


def _can_collide(first: Collision, second: Collision) -> bool:
    return not (isinstance(first.shape, Box) and isinstance(second.shape, Box))


def check_segments_through_joint(
    contact: PairContact, joints: Iterable[Joint], bodies: Mapping[str, Body]
) -> None:
    """Raise MechanismError for two round shapes whose centre lines meet in a joint.

    Where the middle segments of both pass through the anchor, their distance stays zero.

    Args:
        contact: of the two shapes.
        joints: those of the mechanism.
        bodies: those of the mechanism.
    """
    pair = (contact.own, contact.partner)
    if isinstance(contact.partner.shape, Box):
        return
    for joint in joints:
        if {joint.parent, joint.child} != {collision.body for collision in pair}:
            continue
        distances = [
            _distance_to_middle_segment(bodies[each.body], each, joint.position) for each in pair
        ]
        if max(distances) < SAME:
            raise MechanismError(
                f"pair {contact.own.body!r}, {contact.partner.body!r}: found the centre lines of "
                f"collisions {contact.own.name!r} and {contact.partner.name!r} both through joint "
                f"{joint.name!r}, so that the contact normal is undefined, "
                "expected a shorter shape or no pair"
            )


def _distance_to_middle_segment(body: Body, collision: Collision, point: Array) -> float:
    """Return the distance of a world point from the middle segment of a shape at assembly [m]."""
    middle, half, _ = core_segment(collision)
    rotation = batch_rotation_matrix(body.orientation)
    offset = point - body.position - rotation @ middle
    along = rotation @ half
    square = float(along @ along)
    part = np.clip(offset @ along / square, -1.0, 1.0) if square > 0.0 else 0.0
    return float(np.linalg.norm(offset - part * along))

"""The checked records of what ties motions together: couplings of joint coordinates, skates and wheels."""

from collections.abc import Iterable
from dataclasses import dataclass

from numpy.typing import ArrayLike

from vigym.mechanism.elements import checks
from vigym.mechanism.elements.checks import Array, ReadOnly
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.joints import Joint

COUPLINGS = ("gear", "mimic", "screw")


@dataclass(frozen=True)
class Coupling:
    """One coordinate follows another: joint = ratio * other + offset.

    Attributes:
        name: unique among couplings.
        type: "gear", "mimic" or "screw".
        joint, other: position coordinates of joints of the tree.
        ratio: not zero [unit of joint / unit of other].
        offset: [unit of joint].
    """

    name: str
    type: str
    joint: str
    other: str
    ratio: float
    offset: float


@dataclass(frozen=True, eq=False)
class Skate(ReadOnly):
    """Point of a body that does not move along a direction fixed in it.

    Attributes:
        name: unique among skates and wheels.
        body: body name.
        position: in the body frame (3,) [m].
        direction: unit vector in the body frame (3,).
    """

    name: str
    body: str
    position: Array
    direction: Array


@dataclass(frozen=True, eq=False)
class Wheel(ReadOnly):
    """Wheel that rolls on the ground without slip, neither along nor across.

    Attributes:
        name: unique among skates and wheels.
        body: body name.
        position: centre in the body frame (3,) [m].
        axis: unit vector in the body frame (3,).
        radius: [m].
    """

    name: str
    body: str
    position: Array
    axis: Array
    radius: float


def make_coupling(name: str, type: str, joint: str, other: str, ratio: float, offset: float) -> Coupling:
    """Return a checked Coupling; arguments as in `Mechanism.add_coupling`. Coordinates are the caller's to check."""
    element = f"coupling {name!r}"
    checks.one_of(type, COUPLINGS, f"{element} type")
    factor = checks.number(ratio, f"{element} ratio")
    if factor == 0.0:
        raise MechanismError(f"{element} ratio: found 0, expected another number: a joint at rest is fixed")
    return Coupling(name, type, joint, other, factor, checks.number(offset, f"{element} offset"))


def make_skate(name: str, body: str, position: ArrayLike, direction: ArrayLike) -> Skate:
    """Return a checked Skate; arguments as in `Mechanism.add_skate`. The body is the caller's to check."""
    element = f"skate {name!r}"
    point = checks.vector(position, f"{element} position")
    return Skate(name, body, point, checks.unit(direction, f"{element} direction"))


def make_wheel(name: str, body: str, position: ArrayLike, axis: ArrayLike, radius: float) -> Wheel:
    """Return a checked Wheel; arguments as in `Mechanism.add_wheel`. The body is the caller's to check."""
    element = f"wheel {name!r}"
    center, unit = checks.vector(position, f"{element} position"), checks.unit(axis, f"{element} axis")
    return Wheel(name, body, center, unit, checks.positive(radius, f"{element} radius"))


def check_coupled(coupling: Coupling, joints: Iterable[Joint], others: Iterable[Coupling]) -> None:
    """Raise MechanismError when the two coordinates cannot be coupled.

    Args:
        coupling: to be added.
        joints: of the mechanism, closing ones last.
        others: couplings that are there.
    """
    element = f"coupling {coupling.name!r}"
    owners = {name: joint for joint in joints for name in joint.coordinates(joint.prototype.positions)}
    free = [name for name, joint in owners.items() if not joint.prototype.has_quaternion]
    for end in ("joint", "other"):
        name = getattr(coupling, end)
        if name in owners and name not in free:
            found = f"{name!r}, a coordinate of a {owners[name].type} joint"
            raise MechanismError(f"{element} {end}: found {found}, expected one of a joint without quaternion")
        checks.one_of(name, free, f"{element} {end}")
    leaders = {other.joint: other for other in others}
    if coupling.joint in leaders:
        found = f"{coupling.joint!r}, which follows already by {leaders[coupling.joint].name!r}"
        raise MechanismError(f"{element} joint: found {found}, expected another coordinate")
    leader = coupling.other
    while leader in leaders and leader != coupling.joint:
        leader = leaders[leader].other
    if leader == coupling.joint:
        raise MechanismError(f"{element}: found {coupling.joint!r} following itself, expected two coordinates")
    if coupling.type == "screw":
        _check_screw(coupling, owners[coupling.joint], element)


def _check_screw(coupling: Coupling, joint: Joint, element: str) -> None:
    found = f"found {coupling.joint!r} and {coupling.other!r}"
    if joint.type != "cylindrical" or [coupling.joint, coupling.other] != joint.coordinates(("distance", "angle")):
        raise MechanismError(f"{element}: {found}, expected distance and angle of one cylindrical joint")

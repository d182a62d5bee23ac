"""Couplings of joint coordinates; skates and wheels (nonholonomic constraints)."""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike

from vigym.mechanism.elements import checks
from vigym.mechanism.elements.checks import Array, ReadOnly
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.joints import Joint

COUPLINGS = ("gear", "mimic", "screw")


@dataclass(frozen=True)
class Coupling:
    """Coupling of two coordinates: joint = ratio * other + offset.

    Attributes:
        name: unique among couplings.
        type: "gear", "mimic" or "screw".
        joint, other: position coordinates of tree joints; `joint` follows `other`.
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
    """Point of a body that does not move along a direction fixed in the body.

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


def make_coupling(
    name: str, type: str, joint: str, other: str, ratio: float, offset: float
) -> Coupling:
    """Return a checked Coupling; its coordinates are left to `check_coupled_coordinates`."""
    element = f"coupling {name!r}"
    checks.require_one_of(type, COUPLINGS, f"{element} type")
    factor = checks.require_number(ratio, f"{element} ratio")
    if factor == 0.0:
        raise MechanismError(
            f"{element} ratio: found 0, expected another number; to hold a joint still, "
            "give it the type 'fixed'"
        )
    return Coupling(
        name, type, joint, other, factor, checks.require_number(offset, f"{element} offset")
    )


def make_skate(name: str, body: str, position: ArrayLike, direction: ArrayLike) -> Skate:
    """Return a checked Skate; its body is checked by the caller."""
    element = f"skate {name!r}"
    point = checks.require_vector(position, f"{element} position")
    return Skate(name, body, point, checks.require_direction(direction, f"{element} direction"))


def make_wheel(name: str, body: str, position: ArrayLike, axis: ArrayLike, radius: float) -> Wheel:
    """Return a checked Wheel; its body is checked by the caller."""
    element = f"wheel {name!r}"
    center = checks.require_vector(position, f"{element} position")
    direction = checks.require_direction(axis, f"{element} axis")
    return Wheel(
        name, body, center, direction, checks.require_positive(radius, f"{element} radius")
    )


def check_coupled_coordinates(
    coupling: Coupling,
    joints: Mapping[str, Joint],
    closing: Container[str],
    tree: Callable[[], Sequence[Joint]],
) -> None:
    """Raise MechanismError when the two coordinates cannot be coupled.

    Args:
        coupling: to be added.
        joints: coordinate name -> joint, without implicit ones.
        closing: names of the joints that close loops.
        tree: returns the joints of the tree.
    """
    element = f"coupling {coupling.name!r}"
    ends = {"joint": coupling.joint, "other": coupling.other}
    for name in ends.values():
        if name in closing or (name in joints and joints[name].name in closing):
            found = f"{name!r}, a coordinate of a joint that closes a loop"
            raise MechanismError(f"{element}: found {found}, expected one of a joint of the tree")
    for end, name in ends.items():
        joint = joints.get(name)
        if joint is None or joint.joint_type.has_quaternion or name not in joint.position_names:
            _refuse_coordinate(name, f"{element} {end}", tree())
    owner = joints[coupling.joint]
    cylindrical = owner.type == "cylindrical" and owner.position_names == list(ends.values())
    if coupling.type == "screw" and not cylindrical:
        raise MechanismError(
            f"{element}: found {coupling.joint!r} and {coupling.other!r}, "
            "expected distance and angle of one cylindrical joint"
        )


def check_moved(
    name: str,
    joints: Mapping[str, Joint],
    closing: Container[str],
    taken: Container[str],
    tree: Callable[[], Sequence[Joint]],
) -> None:
    """Raise MechanismError when the motion of a coordinate cannot be prescribed.

    Args:
        name: the coordinate.
        joints: coordinate name -> joint, without implicit ones.
        closing: names of the joints that close loops.
        taken: joints with motors, and coordinates that follow others.
        tree: returns the joints of the tree.
    """
    element = f"motion of {name!r}"
    joint = joints.get(name)
    if joint is not None and joint.name in closing:
        raise MechanismError(
            f"{element}: found a coordinate of a joint that closes a loop, expected one of a joint "
            "of the tree; add this joint before the others of its loop"
        )
    if joint is None or joint.joint_type.has_quaternion or name not in joint.position_names:
        _refuse_coordinate(name, element, tree())
    elif name in taken or joint.name in taken:
        found = "a joint with a motor, or a coordinate that follows another one"
        raise MechanismError(f"{element}: found {found}, expected a joint that nothing drives")


def _refuse_coordinate(name: str, element: str, tree: Sequence[Joint]) -> None:
    """Raise MechanismError for a name that is not a coordinate which can be coupled."""
    owners = {name: joint for joint in tree for name in joint.position_names}
    if name in owners and owners[name].joint_type.has_quaternion:
        found = f"{name!r}, a coordinate of a {owners[name].type} joint"
        raise MechanismError(
            f"{element}: found {found}, expected one of a joint without quaternion"
        )
    allowed = [name for name, joint in owners.items() if not joint.joint_type.has_quaternion]
    checks.require_one_of(name, allowed, element)


def check_leader(
    coupling: Coupling, existing: Mapping[str, Coupling], last_leader: Callable[[str], str]
) -> None:
    """Raise MechanismError for a coordinate that follows a second one, or itself through others.

    Args:
        coupling: to be added.
        existing: coupling by the coordinate that follows.
        last_leader: returns the coordinate that one follows in the end.
    """
    element = f"coupling {coupling.name!r}"
    if coupling.joint in existing:
        found = f"{coupling.joint!r}, which follows already by {existing[coupling.joint].name!r}"
        raise MechanismError(f"{element} joint: found {found}, expected another coordinate")
    if last_leader(coupling.other) == coupling.joint:
        raise MechanismError(
            f"{element}: found {coupling.joint!r} following itself, expected two coordinates"
        )

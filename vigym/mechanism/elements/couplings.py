"""Couplings of joint coordinates; skates, wheels and constraints of velocities (nonholonomic)."""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vigym.mechanism.elements import checks
from vigym.mechanism.elements.bodies import WORLD
from vigym.mechanism.elements.checks import Array, ReadOnly
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.joints import Joint
from vigym.mechanism.elements.motors import between_samples, checked_samples

COUPLINGS = ("gear", "mimic", "screw")
OWN = "body"  # frame of weights that turn each with its own body


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
    """Wheel that stands on the ground and rolls on it without slip, neither along nor across.

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


@dataclass(frozen=True, eq=False)
class VelocityConstraint(ReadOnly):
    """Weighted sum of velocities of bodies that follows a function of time.

    Attributes:
        name: unique among velocity constraints.
        terms: body -> weights (6,) of its velocity and of its angular velocity.
        pushes: body -> force and torque (6,) of the unit force; None: the weights.
        frame: "world", "body" (each in its own) or the body that the weights are fixed in.
        function: of time [s] to the sum; None of samples.
        times: (n,) of samples, increasing [s]; of a constant one.
        values: (n,) of samples.
    """

    name: str
    terms: dict[str, Array]
    pushes: dict[str, Array] | None
    frame: str
    function: Callable[[float], float] | None
    times: Array | None
    values: Array | None

    @property
    def bodies(self) -> list[str]:
        """Bodies whose velocities count, or on which pushes act."""
        return list(dict.fromkeys([*self.terms, *(self.pushes or ())]))

    @property
    def size(self) -> float:
        """Length of all weights as one vector: the equations are divided by it."""
        return float(np.linalg.norm(np.concatenate([*self.terms.values()])))

    def frame_of(self, body: str) -> str:
        """Return the body, or "world", that the weights of a body are fixed in."""
        return body if self.frame == OWN else self.frame

    def rate_at(self, time: float) -> float:
        """Return the sum at a time [s].

        Raises:
            MechanismError: a function that does not return a finite number there.
        """
        if self.function is not None:
            element = f"velocity constraint {self.name!r} rate at {time:g} s"
            value = checks.call(self.function, (time,), element, "a finite number")
            return checks.require_number(value, element)
        assert self.times is not None
        assert self.values is not None
        return between_samples(self.times, self.values, time)[0]

    def over_step(self, start: float, end: float) -> tuple[float, float]:
        """Return the integral of the sum between two times [s] (Simpson's rule), and it at the end.

        Raises:
            MechanismError: a function that does not return a finite number there.
        """
        ends = self.rate_at(start), self.rate_at(end)
        middle = self.rate_at(0.5 * (start + end))
        return (end - start) / 6.0 * (ends[0] + 4.0 * middle + ends[1]), ends[1]


def make_velocity_constraint(
    name: str,
    terms: Mapping[str, ArrayLike],
    rate: Any,
    pushes: Mapping[str, ArrayLike] | None,
    frame: str,
    bodies: Mapping[str, Any],
) -> VelocityConstraint:
    """Return a checked VelocityConstraint; arguments as in `Mechanism.add_velocity_constraint`."""
    element = f"velocity constraint {name!r}"
    weights = _weights(terms, f"{element} terms", bodies)
    given = None if pushes is None else _weights(pushes, f"{element} pushes", bodies)
    checks.require_one_of(frame, bodies, f"{element} frame", (WORLD, OWN))
    timed: tuple[Any, ...]
    if callable(rate):
        timed = rate, None, None
    elif isinstance(rate, tuple | list):
        if len(rate) != 2:
            raise MechanismError(
                f"{element} rate: found {rate!r}, expected a number, a function of time, or "
                "(times, values)"
            )
        timed = None, *checked_samples(rate, f"{element} rate")
    else:
        value = checks.require_number(rate, f"{element} rate")
        timed = None, *(checks.read_only(np.array([each])) for each in (0.0, value))
    made = VelocityConstraint(name, weights, given, frame, *timed)
    made.rate_at(0.0)
    return made


def _weights(given: Any, element: str, bodies: Mapping[str, Any]) -> dict[str, Array]:
    """Return checked weights or pushes: body -> (6,)."""
    expected = "body -> (linear (3,), angular (3,)), not all zero"
    if not isinstance(given, Mapping) or not given:
        raise MechanismError(f"{element}: found {given!r}, expected {expected}")
    found = {}
    for body, value in given.items():
        checks.require_one_of(body, bodies, f"{element}: body")
        array = checks.require_numbers(value, f"{element} of {body!r}", expected)
        if array.shape != (2, 3) or not np.isfinite(array).all():
            raise MechanismError(f"{element} of {body!r}: found {value!r}, expected {expected}")
        found[body] = checks.read_only(array.reshape(6))
    if not any(np.any(array) for array in found.values()):
        raise MechanismError(f"{element}: found zeros alone, expected {expected}")
    return found


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

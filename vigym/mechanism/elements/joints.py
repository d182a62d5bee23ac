"""Joints with their parameters: the checked record of one."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vigym.mechanism.elements import checks
from vigym.mechanism.elements.bodies import WORLD
from vigym.mechanism.elements.checks import Array, ReadOnly
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.joint_types import JOINT_TYPES, JointType

IDENTITY = (1.0, 0.0, 0.0, 0.0)
FLOATING_SUFFIX = ":floating"  # of the implicit joints of bodies without a joint


@dataclass(frozen=True, eq=False)
class JointParameters(ReadOnly):
    """Limits and forces of a joint; one number of damping etc. serves all its degrees of freedom.

    Attributes:
        limits: (lower, upper) [rad or m], one pair per degree of freedom, of a joint with a ball
            per translation; hard. None without.
        damping: [N s/m or N m s/rad], >= 0; a number, or one per degree of freedom.
        stiffness: [N/m or N m/rad], >= 0; as `damping`.
        rest: coordinate(s) where the spring is slack; spherical and floating: 0, the assembly pose.
        effort: largest actuator force [N or N m]; None or 0: passive, inf: unlimited.
        armature: drive inertia seen at the joint [kg or kg m^2], >= 0.
        friction: Coulomb friction of a joint of one degree of freedom [N or N m], >= 0, or of a
            ball about each of the child's axes.
        velocity: largest rate [rad/s or m/s], enforced by the joint's motor only; None without.
    """

    limits: ArrayLike | None = None
    damping: ArrayLike = 0.0
    stiffness: ArrayLike = 0.0
    rest: ArrayLike = 0.0
    effort: float | None = None
    armature: float = 0.0
    friction: float = 0.0
    velocity: float | None = None

    def arguments(self) -> dict[str, Any]:
        """Return the parameters as keyword arguments of `Mechanism.add_joint`."""
        return {field.name: getattr(self, field.name) for field in fields(JointParameters)}


@dataclass(frozen=True, eq=False)
class JointPlacement:
    """Anchor and axes of a joint at the assembly pose, arguments of `Mechanism.add_joint`."""

    position: ArrayLike
    axis: ArrayLike = (0.0, 0.0, 1.0)
    axis2: ArrayLike | None = None
    child_position: ArrayLike | None = None
    child_rotation: ArrayLike | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Joint(JointParameters):
    """Joint between two bodies at the assembly pose, with its parameters.

    Attributes:
        name: unique name.
        type: key of `JOINT_TYPES`.
        parent: body name or "world".
        child: body name.
        position: anchor in the world (3,) [m].
        axis: unit vector in the world (3,).
        axis2: second axis of a universal joint (3,), perpendicular to `axis`; None for all others.
        child_position: anchor on the child in the world (3,) [m]; `position`, unless a loop is open
            there.
        child_rotation: rotation from the parent's joint frame to the child's (4,), world axes; the
            identity, unless a loop is open there.
        limits: (n, 2) lower and upper value [rad or m], n degrees of freedom, with a ball n
            translations; None without.
        damping, stiffness: a number for all degrees of freedom, or (dofs,) where they differ.
        rest: coordinates where the spring is slack, one per position; () of spherical and floating
            joints.
    """

    name: str
    type: str
    parent: str
    child: str
    position: Array
    axis: Array
    axis2: Array | None
    child_position: Array
    child_rotation: Array
    limits: Array | None
    damping: float | Array
    stiffness: float | Array
    rest: tuple[float, ...]

    @property
    def joint_type(self) -> JointType:
        """Row of the joint's type."""
        return JOINT_TYPES[self.type]

    @property
    def dofs(self) -> int:
        """Number of degrees of freedom."""
        return self.joint_type.dofs

    @property
    def actuated(self) -> bool:
        """Whether an actuator drives the joint's degrees of freedom."""
        return bool(self.effort) and self.dofs > 0

    @property
    def dof_damping(self) -> Array:
        """Damping of each degree of freedom (dofs,) [N s/m or N m s/rad]."""
        return np.full(self.dofs, self.damping, np.float64)

    @property
    def dof_stiffness(self) -> Array:
        """Stiffness of each degree of freedom (dofs,) [N/m or N m/rad]."""
        return np.full(self.dofs, self.stiffness, np.float64)

    @property
    def is_damped(self) -> bool:
        """Whether a degree of freedom has damping."""
        return bool(np.any(self.damping))

    @property
    def is_sprung(self) -> bool:
        """Whether a degree of freedom has a spring."""
        return bool(np.any(self.stiffness))

    @property
    def is_open(self) -> bool:
        """Whether the frames on parent and child differ at assembly, so that its loop is open."""
        return bool(
            (self.child_position != self.position).any() or (self.child_rotation != IDENTITY).any()
        )

    @property
    def position_names(self) -> list[str]:
        """Names of the position coordinates: of one the joint's, of several `joint.coordinate`."""
        return self._full_names(self.joint_type.positions)

    @property
    def velocity_names(self) -> list[str]:
        """Names of the velocity coordinates: of one the joint's, of several `joint.coordinate`."""
        return self._full_names(self.joint_type.velocities)

    @property
    def coordinate_names(self) -> set[str]:
        """Names of all position and velocity coordinates."""
        return {*self.position_names, *self.velocity_names}

    def _full_names(self, coordinates: Sequence[str]) -> list[str]:
        if len(coordinates) == 1:
            return [self.name]
        return [f"{self.name}.{name}" for name in coordinates]


def joint_frame(axis: ArrayLike, axis2: ArrayLike | None = None) -> Array:
    """Return the joint frame (3, 3) with columns (e1, e2, axis).

    e1, e2 are the world's x, y after the smallest rotation from z to `axis` (for axis = -z: half a
    turn about x); with `axis2`, e1 is `axis2`.
    """
    e3 = np.array(axis, dtype=np.float64)
    if axis2 is not None:
        e1 = np.array(axis2, dtype=np.float64)
        return np.column_stack((e1, np.cross(e3, e1), e3))
    x, y, z = e3
    if x == 0.0 and y == 0.0 and z < 0.0:
        return np.diag([1.0, -1.0, -1.0])
    # 1 / (1 + z) cancels near z = -1; there 1 + z = (x^2 + y^2) / (1 - z) keeps its digits
    k = 1.0 / (1.0 + z) if z >= 0.0 else (1.0 - z) / (x * x + y * y)
    e1 = np.array([1.0 - x * x * k, -x * y * k, -x])
    e2 = np.array([-x * y * k, 1.0 - y * y * k, -y])
    return np.column_stack((e1, e2, e3))


def floating_joint(name: str, parent: str, child: str, position: ArrayLike) -> Joint:
    """Return a floating joint without spring, damper or actuator."""
    return make_joint(name, "floating", parent, child, JointPlacement(position), JointParameters())


def make_joint(
    name: str,
    type: str,
    parent: str,
    child: str,
    placement: JointPlacement,
    parameters: JointParameters,
) -> Joint:
    """Return a checked Joint; its name and bodies are checked by the caller.

    Raises:
        MechanismError: an unknown type, a value out of range or one that the type cannot have.
    """
    element = f"joint {name!r}"
    joint_type = JOINT_TYPES[checks.require_one_of(type, JOINT_TYPES, f"{element} type")]
    axis = checks.require_direction(placement.axis, f"{element} axis")
    position = checks.require_vector(placement.position, f"{element} position")
    child_position, child_rotation = placement.child_position, placement.child_rotation
    child_position = position if child_position is None else child_position
    child_rotation = IDENTITY if child_rotation is None else child_rotation
    joint = Joint(
        name=name,
        type=type,
        parent=parent,
        child=child,
        position=position,
        axis=axis,
        axis2=_second_axis(joint_type, axis, placement.axis2, element),
        limits=_limits(joint_type, parameters.limits, element),
        damping=_per_dof(joint_type, parameters.damping, f"{element} damping"),
        stiffness=_per_dof(joint_type, parameters.stiffness, f"{element} stiffness"),
        rest=_checked_rest(joint_type, parameters.rest, element),
        effort=_optional(parameters.effort, f"{element} effort"),
        armature=checks.require_number(parameters.armature, f"{element} armature", 0.0),
        friction=checks.require_number(parameters.friction, f"{element} friction", 0.0),
        velocity=_optional(parameters.velocity, f"{element} velocity"),
        child_position=checks.require_vector(child_position, f"{element} child_position"),
        child_rotation=checks.require_direction(child_rotation, f"{element} child_rotation", 4),
    )
    _check_supported(joint, element)
    return joint


def check_joint_ends(name: str, parent: str, child: str, bodies: Collection[str]) -> None:
    """Raise MechanismError for a reserved joint name, or for ends that are not two bodies."""
    element = f"joint {name!r}"
    if FLOATING_SUFFIX in name:
        found = f"the reserved text {FLOATING_SUFFIX!r}"
        raise MechanismError(f"{element}: found {found}, expected another name")
    if child == WORLD:
        raise MechanismError(
            f"{element} child: found 'world', expected a body; make the world the parent"
        )
    checks.require_one_of(parent, bodies, f"{element} parent", (WORLD,))
    checks.require_one_of(child, bodies, f"{element} child")
    if parent == child:
        found = f"{child!r} as parent and child"
        raise MechanismError(f"{element}: found {found}, expected two bodies")


def _optional(value: Any, element: str) -> float | None:
    return None if value is None else checks.require_number(value, element, 0.0, infinite=True)


def _second_axis(
    joint_type: JointType, axis: Array, axis2: ArrayLike | None, element: str
) -> Array | None:
    needed = joint_type.needs_second_axis
    if axis2 is None and not needed:
        return None
    none = f"None for a {joint_type.name} joint"
    expected = "a vector perpendicular to axis" if needed else none
    error = MechanismError(f"{element} axis2: found {axis2!r}, expected {expected}")
    if axis2 is None or not needed:
        raise error
    second = checks.require_direction(axis2, f"{element} axis2")
    cosine = float(axis @ second)
    if abs(cosine) > checks.PERPENDICULAR_TOLERANCE:
        raise error
    return checks.require_direction(second - cosine * axis, f"{element} axis2")


def _limits(joint_type: JointType, limits: ArrayLike | None, element: str) -> Array | None:
    if limits is None:
        return None
    count = joint_type.limit_count
    found = f"{element} limits: found {limits!r}"
    if count == 0:
        raise MechanismError(f"{found}, expected None for a {joint_type.name} joint")
    free = "translations" if joint_type.has_quaternion else "degrees of freedom"
    each = f" for each of {count} {free}" if count > 1 else ""
    expected = f"(lower, upper) with lower <= upper{each}"
    pairs = checks.require_numbers(limits, f"{element} limits", expected)
    pairs = pairs[None] if count == 1 and pairs.shape == (2,) else pairs
    if pairs.shape != (count, 2) or not (pairs[:, 0] <= pairs[:, 1]).all():
        raise MechanismError(f"{found}, expected {expected}")
    if (pairs[:, 0] == np.inf).any() or (pairs[:, 1] == -np.inf).any():
        raise MechanismError(f"{found}, expected a lower one < inf and an upper one > -inf")
    return pairs


def _per_dof(joint_type: JointType, value: Any, element: str) -> float | Array:
    equal = 3 if joint_type.has_quaternion else 0
    return checks.require_one_or_each(value, element, joint_type.dofs, equal)


def _checked_rest(joint_type: JointType, rest: Any, element: str) -> tuple[float, ...]:
    size = 0 if joint_type.has_quaternion else len(joint_type.positions)
    values = np.atleast_1d(np.asarray(rest)).tolist()
    if size == 0:
        if any(value != 0 for value in values):
            raise MechanismError(
                f"{element} rest: found {rest!r}, expected 0 for a {joint_type.name} joint"
            )
        return ()
    if np.ndim(rest) == 0:
        values = values * size
    return tuple(checks.require_vector(values, f"{element} rest", size).tolist())


def _check_supported(joint: Joint, element: str) -> None:
    """Raise MechanismError for parameters that the joint's type cannot have."""
    if joint.friction and joint.dofs != 1 and not joint.joint_type.has_ball:
        found = f"found {joint.friction:g} on a {joint.type} joint"
        raise MechanismError(
            f"{element} friction: {found}, expected 0: only joints of one degree of freedom "
            "have it, and those with a ball"
        )
    if joint.armature and joint.joint_type.has_quaternion:
        found = f"found {joint.armature:g}, expected 0 for a {joint.type} joint"
        raise MechanismError(f"{element} armature: {found}")
    if joint.dofs == 0:
        for quantity in ("damping", "stiffness", "effort", "armature"):
            value = getattr(joint, quantity)
            if np.any(value):
                raise MechanismError(
                    f"{element} {quantity}: found {value:g}, expected none for a fixed joint"
                )

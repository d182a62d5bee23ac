"""Joint types as data, and the checked record of one joint."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vigym.mechanism.elements import checks
from vigym.mechanism.elements.checks import Array, ReadOnly
from vigym.mechanism.elements.errors import MechanismError


@dataclass(frozen=True)
class Prototype:
    """One joint type.

    Attributes:
        type: its name.
        translations: free translations, columns of the joint frame fixed in the parent.
        rotations: free rotations, columns of the joint frame fixed in the child (universal: its first, the frame's
            column 2, is fixed in the parent).
        positions: names of the position coordinates.
        velocities: names of the velocity coordinates, one per freedom.
        urdf: the type's name in URDF files, None where URDF has none.
    """

    type: str
    translations: tuple[int, ...]
    rotations: tuple[int, ...]
    positions: tuple[str, ...]
    velocities: tuple[str, ...]
    urdf: str | None

    @property
    def has_quaternion(self) -> bool:
        """Whether the rotation is free and its coordinate a unit quaternion."""
        return len(self.rotations) == 3


_XYZ, _QUATERNION = ("x", "y", "z"), ("qw", "qx", "qy", "qz")
IDENTITY = (1.0, 0.0, 0.0, 0.0)
_LINEAR, _ANGULAR = ("vx", "vy", "vz"), ("wx", "wy", "wz")

PROTOTYPES: dict[str, Prototype] = {
    row.type: row
    for row in (
        Prototype("fixed", (), (), (), (), "fixed"),
        Prototype("revolute", (), (2,), ("angle",), ("angle",), "revolute"),
        Prototype("continuous", (), (2,), ("angle",), ("angle",), "continuous"),
        Prototype("prismatic", (2,), (), ("distance",), ("distance",), "prismatic"),
        Prototype("cylindrical", (2,), (2,), ("distance", "angle"), ("distance", "angle"), None),
        Prototype("spherical", (), (0, 1, 2), _QUATERNION, _ANGULAR, "spherical"),
        Prototype("planar", (0, 1), (2,), ("x", "y", "angle"), ("x", "y", "angle"), "planar"),
        Prototype("universal", (), (2, 0), ("angle1", "angle2"), ("angle1", "angle2"), None),
        Prototype("floating", (0, 1, 2), (0, 1, 2), _XYZ + _QUATERNION, _LINEAR + _ANGULAR, "floating"),
    )
}


@dataclass(frozen=True, eq=False)
class Joint(ReadOnly):
    """Joint between two bodies at the assembly pose; one number of damping etc. serves every freedom of the joint.

    Attributes:
        name: unique name.
        type: key of PROTOTYPES.
        parent: body name or "world".
        child: body name.
        position: anchor in the world (3,) [m].
        axis: unit vector in the world (3,).
        axis2: second axis of a universal joint (3,), perpendicular to `axis`; None for all others.
        limits: (freedoms, 2) lower and upper value [rad or m]; None without.
        damping: [N s/m or N m s/rad].
        stiffness: [N/m or N m/rad].
        rest: coordinates where the spring is slack, (len(positions),); spherical, floating: the assembly pose, ().
        effort: largest actuator force [N or N m]; None or 0 is passive.
        armature: inertia of the drive seen at the joint [kg or kg m^2].
        friction: Coulomb friction [N or N m]; 0 for joints of several freedoms.
        velocity: largest rate [rad/s or m/s], kept by the joint's motor alone; None without.
        child_position: the child's half of the anchor in the world (3,) [m]; `position`, unless a loop is open there.
        child_rotation: turns the parent's half of the joint frame into the child's (4,), world axes; the identity,
            unless a loop is open there.
    """

    name: str
    type: str
    parent: str
    child: str
    position: Array
    axis: Array
    axis2: Array | None
    limits: Array | None
    damping: float
    stiffness: float
    rest: tuple[float, ...]
    effort: float | None
    armature: float
    friction: float
    velocity: float | None
    child_position: Array
    child_rotation: Array

    @property
    def prototype(self) -> Prototype:
        """The type's row of data."""
        return PROTOTYPES[self.type]

    @property
    def actuated(self) -> bool:
        """Whether an actuator drives the joint's freedoms."""
        return bool(self.effort) and bool(self.prototype.velocities)

    @property
    def is_open(self) -> bool:
        """Whether the two halves of the joint are apart at the assembly pose: a loop that is still to be closed."""
        return bool((self.child_position != self.position).any() or (self.child_rotation != IDENTITY).any())

    @property
    def names(self) -> set[str]:
        """Full names of all position and velocity coordinates."""
        return {*self.coordinates(self.prototype.positions), *self.coordinates(self.prototype.velocities)}

    def coordinates(self, names: Sequence[str]) -> list[str]:
        """Return full coordinate names: the joint's own name for one freedom, `joint.coordinate` for several."""
        return [self.name] if len(names) == 1 else [f"{self.name}.{name}" for name in names]


def axis_frame(axis: ArrayLike, axis2: ArrayLike | None = None) -> Array:
    """Return the joint frame (3, 3) with columns (e1, e2, axis).

    e1, e2 are the world's x, y carried by the smallest rotation that takes z to `axis` (for axis = -z: half a turn
    about x); with `axis2`, e1 is `axis2`.
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


def make_joint(name: str, type: str, parent: str, child: str, position: ArrayLike, **values: Any) -> Joint:
    """Return a checked Joint; arguments as in `Mechanism.add_joint`. Bodies and names are the caller's to check."""
    element = f"joint {name!r}"
    prototype = PROTOTYPES[checks.one_of(type, list(PROTOTYPES), f"{element} type")]
    axis = checks.unit(values["axis"], f"{element} axis")
    joint = Joint(
        name=name,
        type=type,
        parent=parent,
        child=child,
        position=checks.vector(position, f"{element} position"),
        axis=axis,
        axis2=_second_axis(prototype, axis, values["axis2"], element),
        limits=_limits(prototype, values["limits"], element),
        damping=checks.number(values["damping"], f"{element} damping", 0.0),
        stiffness=checks.number(values["stiffness"], f"{element} stiffness", 0.0),
        rest=_rest(prototype, values["rest"], element),
        effort=_optional(values["effort"], f"{element} effort"),
        armature=checks.number(values["armature"], f"{element} armature", 0.0),
        friction=checks.number(values["friction"], f"{element} friction", 0.0),
        velocity=_optional(values["velocity"], f"{element} velocity"),
        child_position=checks.vector(_or(values["child_position"], position), f"{element} child_position"),
        child_rotation=checks.unit(_or(values["child_rotation"], IDENTITY), f"{element} child_rotation", 4),
    )
    _check_supported(joint, element)
    return joint


def _or(value: ArrayLike | None, other: ArrayLike) -> ArrayLike:
    return other if value is None else value


def _optional(value: Any, element: str) -> float | None:
    return None if value is None else checks.number(value, element, 0.0, infinite=True)


def _second_axis(prototype: Prototype, axis: Array, axis2: ArrayLike | None, element: str) -> Array | None:
    needed = prototype.type == "universal"
    if axis2 is None and not needed:
        return None
    if axis2 is None or not needed:
        expected = "a vector perpendicular to axis" if needed else f"None for a {prototype.type} joint"
        raise MechanismError(f"{element} axis2: found {axis2!r}, expected {expected}")
    second = checks.unit(axis2, f"{element} axis2")
    cosine = float(axis @ second)
    if abs(cosine) > checks.PERPENDICULAR_TOLERANCE:
        raise MechanismError(f"{element} axis2: found {axis2!r}, expected a vector perpendicular to axis")
    return checks.unit(second - cosine * axis, f"{element} axis2")


def _limits(prototype: Prototype, limits: ArrayLike | None, element: str) -> Array | None:
    if limits is None:
        return None
    count = len(prototype.velocities)
    if prototype.has_quaternion or count == 0:
        raise MechanismError(f"{element} limits: found {limits!r}, expected None for a {prototype.type} joint")
    expected = "(lower, upper) with lower <= upper" + (f" for each of {count} freedoms" if count > 1 else "")
    try:
        pairs = np.array(limits, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise MechanismError(f"{element} limits: found {limits!r}, expected {expected}") from error
    if checks.no_numbers(limits):
        raise MechanismError(f"{element} limits: found {limits!r}, expected {expected}")
    pairs = pairs[None] if count == 1 and pairs.shape == (2,) else pairs
    if pairs.shape != (count, 2) or not (pairs[:, 0] <= pairs[:, 1]).all():
        raise MechanismError(f"{element} limits: found {limits!r}, expected {expected}")
    if (pairs[:, 0] == np.inf).any() or (pairs[:, 1] == -np.inf).any():
        raise MechanismError(f"{element} limits: found {limits!r}, expected a lower one < inf and an upper one > -inf")
    pairs.flags.writeable = False
    return pairs


def _rest(prototype: Prototype, rest: Any, element: str) -> tuple[float, ...]:
    size = 0 if prototype.has_quaternion else len(prototype.positions)
    values = np.atleast_1d(np.asarray(rest)).tolist()
    if size == 0:
        if any(value != 0 for value in values):
            raise MechanismError(f"{element} rest: found {rest!r}, expected 0 for a {prototype.type} joint")
        return ()
    if np.ndim(rest) == 0:
        values = values * size
    return tuple(checks.vector(values, f"{element} rest", size).tolist())


def _check_supported(joint: Joint, element: str) -> None:
    """Refuse what the joint's type cannot carry."""
    freedoms = len(joint.prototype.velocities)
    if joint.friction and freedoms != 1:
        found = f"found {joint.friction:g} on a {joint.type} joint"
        raise MechanismError(f"{element} friction: {found}, expected 0: only joints of one freedom have friction")
    if joint.armature and joint.prototype.has_quaternion:
        raise MechanismError(f"{element} armature: found {joint.armature:g}, expected 0 for a {joint.type} joint")
    if not freedoms:
        for quantity in ("damping", "stiffness", "effort", "armature"):
            value = getattr(joint, quantity)
            if value:
                raise MechanismError(f"{element} {quantity}: found {value:g}, expected none for a fixed joint")

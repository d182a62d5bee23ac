"""Joints of a URDF file: axis, limits, spring and damper, shared with its loop joints."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.joint_types import JOINT_TYPES, JointType
from vigym.urdf.read.geometry import LONGEST, SHORTEST, UNIT_TOLERANCE, read_origin
from vigym.urdf.read.records import Mimic, TreeJoint
from vigym.urdf.read.xml import Node, local_name

DRAKE_JOINT_TYPES = {
    "ball": JOINT_TYPES["spherical"],
    "universal": JOINT_TYPES["universal"],
    "planar": JOINT_TYPES["planar"],
    "screw": JOINT_TYPES["cylindrical"],
}
LOOP_JOINT_TYPES = {row.name: row for row in JOINT_TYPES.values() if row.can_close_loop}

_X, _Y, _Z = np.eye(3)
BOUNDS = ("lower", "upper")
UNLIMITED = (0.0, -1.0)  # bounds that Bullet, too, has for none


def joint_nodes(robot: Node) -> list[Node]:
    """Return the elements <joint> and <drake:joint>, in the order of the file."""
    nodes = (node for node in robot.every() if node.tag == "joint")
    return [node for node in nodes if node.is_plain or node.is_drake]


def read_joint(node: Node) -> TreeJoint:
    """Return the joint of a <joint> or a <drake:joint> element.

    Drake has no axes of two types: it turns a universal joint about x and then y, and the normal of
    a planar one is z.
    """
    name = node.text("name")
    joint_type = read_type(node, DRAKE_JOINT_TYPES if node.is_drake else JOINT_TYPES)
    axis: Array
    axis2: Array | None
    if node.is_drake and joint_type.needs_second_axis:
        axis, axis2 = _X, _Y
    elif node.is_drake and joint_type.name == "planar":
        axis, axis2 = _Z, None
    else:
        axis, axis2 = read_axes(node, joint_type, joint_type.needs_axis)
    if joint_type.bounded and node.only("limit") is None:
        node.note("changed", "no <limit> is read as a joint without limits")
    parameters = read_parameters(node, joint_type)
    return TreeJoint(
        name=name,
        type=joint_type.name,
        place=node.place,
        parent=node.need("parent").text("link"),
        child=node.need("child").text("link"),
        origin=read_origin(node),
        axis=axis,
        axis2=axis2,
        mimic=_read_mimic(node),
        pitch=_read_pitch(node),
        **parameters,
    )


def _read_pitch(node: Node) -> float | None:
    """Return the advance of a screw [m/rad] from that of a turn; None for other joints."""
    tags = [child.tag for child in node.element if local_name(child) == "screw_thread_pitch"]
    if not (node.is_drake and node.text("type") == "screw"):
        return None
    pitch = node.need(tags[0] if tags else "drake:screw_thread_pitch").number("value")
    if pitch == 0.0:
        raise node.error("a pitch of 0", "another number: a screw without pitch is continuous")
    return pitch / (2.0 * np.pi)


def read_type(node: Node, types: Mapping[str, JointType]) -> JointType:
    """Return the type of a joint, one of `types` by their names in the file."""
    written = node.text("type")
    if written not in types:
        raise node.error(f"type {written!r}", f"one of: {', '.join(types)}")
    return types[written]


def _read_mimic(node: Node) -> Mimic | None:
    mimic = node.only("mimic")
    if mimic is None:
        return None
    leader = mimic.text("joint")
    return Mimic(leader, mimic.number("multiplier", 1.0), mimic.number("offset", 0.0), mimic.place)


def read_axes(node: Node, joint_type: JointType, needed: bool) -> tuple[Array, Array | None]:
    """Return the unit vectors (3,) of <axis>, x unless `needed`, and of <axis2> or None.

    Raises:
        UrdfError: axes that are not perpendicular.
    """
    axis = read_axis(node, needed)
    if joint_type.needs_second_axis:
        return axis, perpendicular(node.need("axis2"), axis, read_axis(node, tag="axis2"))
    if (ignored := node.only("axis2")) is not None:
        ignored.note("ignored", f"a {joint_type.name} joint has one axis")
    return axis, None


def perpendicular(node: Node, axis: Array, second: Array) -> Array:
    """Return the second axis (3,) made exactly perpendicular to the first, unit length.

    Raises:
        UrdfError: an angle that is wrong by more than rounding.
    """
    cosine = float(axis @ second)
    if abs(cosine) > UNIT_TOLERANCE:
        expected = f"a direction perpendicular to the first axis {axis.tolist()}"
        raise node.error(f'xyz="{node.text("xyz")}"', expected)
    across: Array = second - cosine * axis
    return across / np.sqrt(across @ across)


def read_axis(node: Node, needed: bool = True, tag: str = "axis") -> Array:
    """Return the unit vector (3,) in the child `tag`; x without one or when no axis is `needed`."""
    axis = node.only(tag)
    written = axis.numbers("xyz", 3, (1.0, 0.0, 0.0)) if axis else np.array([1.0, 0.0, 0.0])
    length = float(np.sqrt(written @ written))
    if not needed:
        return np.array([1.0, 0.0, 0.0])
    if axis is not None and not SHORTEST < length < LONGEST:
        raise axis.error(f'xyz="{axis.text("xyz")}"', "a direction")
    if axis is not None and abs(length - 1.0) > UNIT_TOLERANCE:
        axis.note("changed", f"length {length:.9g} scaled to 1")
    return written if length == 1.0 else written / length


def read_parameters(node: Node, joint_type: JointType) -> dict[str, Any]:
    """Return the `JointParameters` in <limit> and <dynamics>, as keyword arguments.

    A value that the type cannot have becomes a note, and so does one that says nothing.
    """
    return _read_limit(node, joint_type) | read_dynamics(node, joint_type)


def _read_limit(node: Node, joint_type: JointType) -> dict[str, Any]:
    limit = node.only("limit")
    if limit is None:
        return {}
    return {
        "limits": _read_bounds(limit, joint_type),
        "effort": _read_bound(limit, "effort", blanks=(-1.0,)),
        "velocity": _read_bound(limit, "velocity", blanks=(-1.0, 0.0)),
    }


def _read_bound(limit: Node, name: str, blanks: tuple[float, ...]) -> float | None:
    """Return an attribute of a <limit>; None for a blank, and without the attribute."""
    if not limit.has(name):
        return None
    found = limit.number(name, infinite=True)
    if found in blanks:
        message = f"{name} {found:g} is a blank that nobody filled in: no {name} limit"
        limit.note("ignored", message)
        return None
    return limit.number(name, low=0.0, infinite=True)


def _read_bounds(limit: Node, joint_type: JointType) -> tuple[float, float] | Array | None:
    """Return lower and upper of a <limit>, of several coordinates (n, 2); None without any."""
    count = joint_type.limit_count
    missing = [bound for bound in BOUNDS if not limit.has(bound)]
    has_bounds = joint_type.bounded or joint_type.has_ball or count > 1
    if not (has_bounds and count):
        if len(missing) < len(BOUNDS) and not _is_blank(limit, joint_type.dofs):
            limit.note("ignored", f"lower and upper have no meaning for a {joint_type.name} joint")
        return None
    if len(missing) == len(BOUNDS):
        if joint_type.bounded:
            limit.note("changed", "no lower and upper is read as a joint without limits")
        return None
    given = [limit.one_or_each(name, count, infinite=True) for name in BOUNDS]
    if count > 1 and not any(map(np.ndim, given)):
        if not _is_blank(limit, 1):
            limit.note("ignored", f"found one lower or upper, expected {count} numbers each")
        return None
    if missing:
        limit.note("changed", f"no {missing[0]}: taken as 0, as URDF says")
    names = [f"{name}: " for name in joint_type.positions[:count]] if count > 1 else [""]
    pairs = zip(names, *(np.broadcast_to(each, count).tolist() for each in given), strict=True)
    bounds = np.array([_read_pair(limit, *pair) for pair in pairs])
    if not np.isfinite(bounds).any():
        return None
    return bounds if count > 1 else (float(bounds[0, 0]), float(bounds[0, 1]))


def _is_blank(limit: Node, count: int) -> bool:
    """Return whether lower and upper are those of a joint without limits."""
    found = [limit.one_or_each(name, count, infinite=True) for name in BOUNDS]
    return not any(map(np.ndim, found)) and tuple(found) == UNLIMITED


def _read_pair(limit: Node, name: str, lower: float, upper: float) -> tuple[float, float]:
    """Return the limits of a coordinate, with a note where they are unusual."""
    if lower > upper:
        if (lower, upper) != UNLIMITED:
            found = f"{name}lower {lower:g} > upper {upper:g}"
            limit.note("changed", f"{found} is read as a joint without limits")
        return -np.inf, np.inf
    if lower == upper:
        limit.note("changed", f"{name}lower = upper = {lower:g}: the joint is locked there")
    return lower, upper


def read_dynamics(node: Node, joint_type: JointType) -> dict[str, Any]:
    """Return the `JointParameters` in the attributes of <dynamics>, as keyword arguments."""
    dynamics = node.only("dynamics")
    if dynamics is None:
        return {}
    friction, armature = (dynamics.number(name, 0.0, low=0.0) for name in ("friction", "armature"))
    damping, stiffness = (
        dynamics.one_or_each(name, joint_type.dofs, low=0.0)
        for name in ("damping", "spring_stiffness")
    )
    if friction and joint_type.dofs != 1 and not joint_type.has_ball:
        found = f"friction {friction:g}: a {joint_type.name} joint has none"
        message = f"{found}, only joints of one degree of freedom have, and those with a ball"
        dynamics.note("ignored", message)
        friction = 0.0
    ball = joint_type.has_quaternion
    rest: float | Array = 0.0
    if not ball:
        rest = dynamics.one_or_each("spring_reference", len(joint_type.positions))
    for name in ("armature", "spring_reference") if ball else ():
        if dynamics.has(name):
            dynamics.note("ignored", f"{name}: a {joint_type.name} joint has none")
    armature = 0.0 if ball else armature
    return {
        "damping": damping,
        "friction": friction,
        "stiffness": stiffness,
        "rest": rest,
        "armature": armature,
    }

"""<joint> elements, and what other joint-like elements share with them: axis, limits, spring and damper."""

import numpy as np

from vigym.mechanism.elements.bodies import Note
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.joints import JOINT_TYPES
from vigym.urdf.read.geometry import read_origin
from vigym.urdf.read.records import Mimic, UrdfJoint
from vigym.urdf.read.report import ignored
from vigym.urdf.read.xml import Node

TYPES = {row.urdf: row.name for row in JOINT_TYPES.values() if row.urdf}
Limit = tuple[tuple[float, float] | None, float | None, float | None]

UNIT_TOLERANCE = 1e-6  # axes written with few digits are off by more, and said so


def read_joint(node: Node, report: list[Note]) -> UrdfJoint:
    """Return a joint; what is not simulated goes into the report."""
    name = node.text("name")
    written = node.text("type")
    if written not in TYPES:
        raise node.error(f"type {written!r}", f"one of: {', '.join(TYPES)}")
    type = TYPES[written]
    known = {"origin", "parent", "child", "axis", "limit", "dynamics", "mimic"}
    report += ignored(node, known)
    if JOINT_TYPES[type].bounded and node.only("limit") is None:
        raise node.error("no <limit>", f"one for a {type} joint (revolute without limits is continuous)")
    limits, effort, velocity = read_limit(node, type, report)
    damping, friction, stiffness, rest = read_dynamics(node, type, report)
    return UrdfJoint(
        name=name,
        type=type,
        parent=node.need("parent").text("link"),
        child=node.need("child").text("link"),
        origin=read_origin(node),
        axis=read_axis(node, report, JOINT_TYPES[type].needs_axis),
        limits=limits,
        effort=effort,
        velocity=velocity,
        damping=damping,
        friction=friction,
        stiffness=stiffness,
        rest=rest,
        mimic=_read_mimic(node),
    )


def _read_mimic(node: Node) -> Mimic | None:
    mimic = node.only("mimic")
    if mimic is None:
        return None
    return Mimic(mimic.text("joint"), mimic.number("multiplier", 1.0), mimic.number("offset", 0.0), mimic.place)


def read_axis(node: Node, report: list[Note], needed: bool = True, tag: str = "axis") -> Array:
    """Return the unit vector (3,) in the child `tag`, x without one or when no axis is `needed`."""
    axis = node.only(tag)
    written = axis.numbers("xyz", 3, (1.0, 0.0, 0.0)) if axis else np.array([1.0, 0.0, 0.0])
    length = float(np.sqrt(written @ written))
    if not needed:
        return np.array([1.0, 0.0, 0.0])
    if axis is not None and not 1e-150 < length < 1e150:
        raise axis.error(f'xyz="{axis.text("xyz")}"', "a direction")
    if axis is not None and abs(length - 1.0) > UNIT_TOLERANCE:
        report.append(Note("changed", axis.place, f"length {length:.9g} scaled to 1"))
    return written if length == 1.0 else written / length


def read_limit(node: Node, type: str, report: list[Note]) -> Limit:
    """Return limits, effort and velocity of the <limit> child; what the joint type has no use for is reported."""
    limit = node.only("limit")
    if limit is None:
        return None, None, None
    lower, upper = limit.number("lower", 0.0), limit.number("upper", 0.0)
    effort = limit.number("effort", low=0.0) if limit.has("effort") else None
    velocity = limit.number("velocity", low=0.0) if limit.has("velocity") else None
    if JOINT_TYPES[type].bounded and lower <= upper:
        return (lower, upper), effort, velocity
    if JOINT_TYPES[type].bounded:
        message = f"lower {lower:g} > upper {upper:g} is read as a joint without limits"
        report.append(Note("changed", limit.place, message))
    elif limit.has("lower") or limit.has("upper"):
        report.append(Note("ignored", limit.place, f"lower and upper have no meaning for a {type} joint"))
    return None, effort, velocity


def read_dynamics(node: Node, type: str, report: list[Note]) -> tuple[float, float, float, float]:
    """Return damping, friction, stiffness and rest of the <dynamics> child, 0 without one."""
    dynamics = node.only("dynamics")
    if dynamics is None:
        return 0.0, 0.0, 0.0, 0.0
    names = ("damping", "friction", "spring_stiffness", "spring_reference")
    for attribute in dynamics.element.attrib:
        if attribute not in names:
            report.append(Note("ignored", dynamics.place, f"{attribute} is not known to this importer"))
    damping, friction, stiffness = (dynamics.number(name, 0.0, low=0.0) for name in names[:3])
    if friction and JOINT_TYPES[type].dofs != 1:
        message = f"friction {friction:g}: a {type} joint has none, only joints of one freedom have"
        report.append(Note("ignored", dynamics.place, message))
        friction = 0.0
    return damping, friction, stiffness, dynamics.number("spring_reference", 0.0)

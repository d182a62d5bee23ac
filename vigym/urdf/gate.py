"""The gate: every element and number of a URDF file is checked here, before pybullet's loader sees any of it."""

import numpy as np

from vigym.mechanism.check import Array
from vigym.mechanism.joints import PROTOTYPES
from vigym.mechanism.parts import Report
from vigym.urdf.geometry import Color, read_geometry, read_materials, read_origin, read_visual
from vigym.urdf.node import Node
from vigym.urdf.pose import IDENTITY
from vigym.urdf.records import Link, Robot, UrdfJoint
from vigym.urdf.report import ignored

TYPES = {row.urdf: row.type for row in PROTOTYPES.values() if row.urdf}
MOST_LINKS = 2000  # pybullet's loader recurses over links and overflows the stack on long chains
_UNIT_TOLERANCE = 1e-6  # axes written with few digits are off by more, and said so


def read(robot: Node) -> Robot:
    """Return what the file says as plain data.

    Raises:
        UrdfError: an element or number that is missing, malformed or impossible.
    """
    report = ignored(robot, {"link", "joint", "material"})
    materials = read_materials(robot, report)
    links = [read_link(node, materials, report) for node in robot.children("link")]
    joints = [read_joint(node, report) for node in robot.children("joint")]
    count = sum(len(node.children("collision")) for node in robot.children("link"))
    if count:
        report.append(Report("ignored", f"<collision> of {count} shapes", "nothing touches anything yet"))
    if not 0 < len(links) <= MOST_LINKS:
        raise robot.error(f"{len(links)} links", f"1 to {MOST_LINKS}")
    _unique(robot, "link", [link.name for link in links])
    _unique(robot, "joint", [joint.name for joint in joints])
    by_name = {link.name: link for link in links}
    return Robot(robot.text("name"), robot.path, by_name, {joint.name: joint for joint in joints}, report)


def _unique(robot: Node, kind: str, names: list[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise robot.error(f"two {kind}s named {name!r}", "unique names")
        seen.add(name)


def read_link(node: Node, materials: dict[str, Color], report: list[Report]) -> Link:
    """Return a link; one without <inertial> has no mass."""
    name = node.text("name")
    report += ignored(node, {"inertial", "visual", "collision"})
    for collision in node.children("collision"):
        read_geometry(collision, [])
        read_origin(collision)
    visuals = [read_visual(child, materials, report) for child in node.children("visual")]
    drawn = tuple(visual for visual in visuals if visual is not None)
    inertial = node.only("inertial")
    if inertial is None:
        return Link(name, 0.0, IDENTITY, np.zeros((3, 3)), drawn)
    report += ignored(inertial, {"origin", "mass", "inertia"})
    mass = inertial.need("mass").number("value", low=0.0)
    inertia = _inertia(inertial.need("inertia"))
    if mass == 0.0 and inertia.any():
        report.append(Report("changed", inertial.place, "no mass, so its inertia is taken as zero"))
    return Link(name, mass, read_origin(inertial), inertia if mass else np.zeros((3, 3)), drawn)


def _inertia(node: Node) -> Array:
    xx, yy, zz = (node.number(name) for name in ("ixx", "iyy", "izz"))
    xy, xz, yz = (node.number(name, 0.0) for name in ("ixy", "ixz", "iyz"))
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def read_joint(node: Node, report: list[Report]) -> UrdfJoint:
    """Return a joint; mimic, friction and what else is not simulated go into the report."""
    name = node.text("name")
    written = node.text("type")
    if written not in TYPES:
        raise node.error(f"type {written!r}", f"one of: {', '.join(TYPES)}")
    type = TYPES[written]
    known = {"origin", "parent", "child", "axis", "limit", "dynamics", "mimic"}
    report += ignored(node, known)
    _report_mimic(node, report)
    limits, effort, velocity = _limit(node, type, report)
    dynamics = node.only("dynamics")
    damping, friction, stiffness, rest = _dynamics(dynamics, report) if dynamics else (0.0, 0.0, 0.0, 0.0)
    return UrdfJoint(
        name=name,
        type=type,
        parent=node.need("parent").text("link"),
        child=node.need("child").text("link"),
        origin=read_origin(node),
        axis=_axis(node, type, report),
        limits=limits,
        effort=effort,
        velocity=velocity,
        damping=damping,
        friction=friction,
        stiffness=stiffness,
        rest=rest,
    )


def _report_mimic(node: Node, report: list[Report]) -> None:
    mimic = node.only("mimic")
    if mimic is None:
        return
    leader = mimic.text("joint")
    factor, offset = mimic.number("multiplier", 1.0), mimic.number("offset", 0.0)
    coupling = f"{factor:g} x {leader!r} + {offset:g}"
    message = f"the joint moves freely and does not follow {coupling}: couplings are not simulated yet"
    report.append(Report("not enforced", mimic.place, message))


def _axis(node: Node, type: str, report: list[Report]) -> Array:
    axis = node.only("axis")
    needed = type in ("revolute", "continuous", "prismatic", "planar")
    written = axis.numbers("xyz", 3, (1.0, 0.0, 0.0)) if axis else np.array([1.0, 0.0, 0.0])
    length = float(np.sqrt(written @ written))
    if not needed:
        return np.array([1.0, 0.0, 0.0])
    if axis is not None and not 1e-150 < length < 1e150:
        raise axis.error(f'xyz="{axis.text("xyz")}"', "a direction")
    if axis is not None and abs(length - 1.0) > _UNIT_TOLERANCE:
        report.append(Report("changed", axis.place, f"length {length:.9g} scaled to 1"))
    return written if length == 1.0 else written / length


def _limit(
    node: Node, type: str, report: list[Report]
) -> tuple[tuple[float, float] | None, float | None, float | None]:
    """Return limits, effort and velocity; what the joint type has no use for is reported."""
    limit = node.only("limit")
    bounded = type in ("revolute", "prismatic")
    if limit is None:
        if bounded:
            raise node.error("no <limit>", f"one for a {type} joint (revolute without limits is continuous)")
        return None, None, None
    lower, upper = limit.number("lower", 0.0), limit.number("upper", 0.0)
    effort = limit.number("effort", low=0.0) if limit.has("effort") else None
    velocity = limit.number("velocity", low=0.0) if limit.has("velocity") else None
    if bounded and lower <= upper:
        return (lower, upper), effort, velocity
    if bounded:
        message = f"lower {lower:g} > upper {upper:g} is read as a joint without limits"
        report.append(Report("changed", limit.place, message))
    elif limit.has("lower") or limit.has("upper"):
        report.append(Report("ignored", limit.place, f"lower and upper have no meaning for a {type} joint"))
    return None, effort, velocity


def _dynamics(node: Node, report: list[Report]) -> tuple[float, float, float, float]:
    names = ("damping", "friction", "spring_stiffness", "spring_reference")
    for attribute in node.element.attrib:
        if attribute not in names:
            report.append(Report("ignored", node.place, f"{attribute} is not known to this importer"))
    damping, friction, stiffness = (node.number(name, 0.0, low=0.0) for name in names[:3])
    if friction:
        report.append(Report("ignored", node.place, f"friction {friction:g}: joint friction is not simulated yet"))
    return damping, friction, stiffness, node.number("spring_reference", 0.0)

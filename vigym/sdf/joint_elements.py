"""Joints of an SDF model, with their anchors and axes in the world."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from vigym.mechanism.elements.bodies import WORLD
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.joint_types import JOINT_TYPES, JointType
from vigym.sdf.frames import MODEL, Frames, boolean_of, number_of, text_of
from vigym.sdf.links import flatten
from vigym.spatial import Pose
from vigym.urdf.read.joints import perpendicular, read_axis, read_dynamics
from vigym.urdf.read.records import Mimic, UrdfJoint
from vigym.urdf.read.xml import Node

_UNBOUNDED = 1e16  # limits of SDF that stand for none
_AXES_OF_JOINTS_SINCE = (1, 5)  # version of SDF; axes were those of the model before
_TYPES = {
    "revolute": "revolute",
    "continuous": "continuous",
    "prismatic": "prismatic",
    "ball": "spherical",
    "universal": "universal",
    "revolute2": "universal",
    "fixed": "fixed",
    "screw": "cylindrical",
}
# Children that joints of a type have; one that is not named here has <axis>.
_PARTS = {
    "fixed": "",
    "universal": "axis axis2",
    "revolute2": "axis axis2",
    "screw": "axis thread_pitch screw_thread_pitch",
    "gearbox": "axis axis2 gearbox_ratio gearbox_reference_body",
}
_ALL_PARTS = dict.fromkeys(" ".join(("axis", *_PARTS.values())).split())


@dataclass(frozen=True, eq=False, kw_only=True)
class SdfJoint(UrdfJoint):
    """Joint whose axes are in the world.

    Attributes:
        anchor: origin of the joint in the world (3,) [m].
        mimic: as of a `TreeJoint`.
        pitch: as of a `TreeJoint`.
    """

    anchor: Array
    mimic: Mimic | None = None
    pitch: float | None = None


@dataclass(frozen=True, eq=False)
class Gear:
    """Gearbox: `ratio` times the first angle is the negative of the second one.

    Attributes:
        node: the element.
        ends: link of reference and the link that has turned by an angle, for both angles.
        axes: of both angles in the world (2, 3).
        ratio: pure number.
    """

    node: Node
    ends: tuple[tuple[str, str], tuple[str, str]]
    axes: Array
    ratio: float


def read_sdf_joint(node: Node, frames: Frames, version: tuple[int, ...]) -> SdfJoint | Gear:
    """Return the joint, or the gearbox, of a <joint>.

    Args:
        node: element <joint>, without unknown elements.
        frames: of the model.
        version: of SDF.

    Raises:
        UrdfError: a part that is missing, malformed or of no known type.
    """
    written = node.text("type")
    if written not in (*_TYPES, "gearbox"):
        raise node.error(f"type {written!r}", f"one of: {', '.join((*_TYPES, 'gearbox'))}")
    _note_unused(node, written)
    child = frames.link(node, "child")
    if child == WORLD:
        raise node.error(f"<child> {WORLD!r}", "the world as <parent>")
    pose = frames.of(node, text_of(node, "child"))
    if written == "gearbox":
        return _read_gear(node, frames, pose, version)
    joint_type = JOINT_TYPES[_TYPES[written]]
    tags = ("axis", "axis2")[: 1 + joint_type.needs_second_axis] if joint_type.needs_axis else ()
    axes = [_axis(node, frames, pose, tag, version) for tag in tags]
    if joint_type.needs_second_axis:
        axes[1] = perpendicular(node.need("axis2"), axes[0], axes[1])
    parameters = _parameters(node, joint_type)
    if written == "revolute" and parameters.get("limits") is None:
        joint_type = JOINT_TYPES["continuous"]
    return SdfJoint(
        name=node.text("name"),
        type=joint_type.name,
        place=node.place,
        parent=frames.link(node, "parent"),
        child=child,
        axis=axes[0] if axes else pose.rotate_axis(np.array([1.0, 0.0, 0.0])),
        axis2=axes[1] if len(axes) > 1 else None,
        anchor=pose.position,
        mimic=_read_mimic(node, joint_type),
        pitch=_read_pitch(node) if written == "screw" else None,
        **parameters,
    )


def _note_unused(node: Node, written: str) -> None:
    """Note and remove the parts of a joint that its type does not have."""
    for part in (child for child in node.every() if child.tag in _ALL_PARTS):
        if part.tag not in _PARTS.get(written, "axis").split():
            part.note("ignored", f"a {written} joint has none")
            node.element.remove(part.element)
    for tag in ("xyz", "use_parent_model_frame") if written == "ball" else ():
        for part in (part for axis in node.children("axis") for part in axis.children(tag)):
            part.note("ignored", "a ball joint turns about every axis")


def _axis(node: Node, frames: Frames, pose: Pose, tag: str, version: tuple[int, ...]) -> Array:
    """Return an axis in the world (3,)."""
    axis = node.need(tag)
    xyz = axis.only("xyz")
    axis.element.set("xyz", "0 0 1" if xyz is None else (xyz.element.text or ""))
    name = "" if xyz is None else xyz.optional_text("expressed_in")
    in_model = axis.only("use_parent_model_frame")
    text = "" if in_model is None else in_model.element.text or ""
    if in_model is not None and name:
        raise in_model.error("use_parent_model_frame beside expressed_in", "one of them")
    if boolean_of(axis, text, version < _AXES_OF_JOINTS_SINCE):
        name = name or MODEL
    frame = frames.pose(node, name) if name else pose
    return frame.rotate_axis(read_axis(node, tag=tag))


def _parameters(node: Node, joint_type: JointType) -> dict[str, Any]:
    """Return the `JointParameters` of a joint, those of both axes where it has two."""
    tags = ("axis", "axis2") if joint_type.needs_second_axis else ("axis",)
    axes = [axis for axis in map(node.only, tags) if axis is not None]
    each = [_read_limit(axis, joint_type) | _read_dynamics(axis, joint_type) for axis in axes]
    if len(each) < 2:
        return each[0] if each else {}
    first, second = each
    for name in ("effort", "velocity"):
        if first[name] != second[name]:
            node.note("changed", f"{name} of its two axes differ: the smaller one counts")
    free = (-np.inf, np.inf)
    limits = [values["limits"] or free for values in each]
    return {
        "limits": None if limits == [free, free] else np.array(limits),
        "effort": min(values["effort"] or 0.0 for values in each),
        "velocity": min((v["velocity"] for v in each if v["velocity"]), default=None),
    } | {
        name: np.array([values.get(name, 0.0) for values in each])
        for name in ("damping", "stiffness", "rest")
    }


def _read_dynamics(axis: Node, joint_type: JointType) -> dict[str, Any]:
    dynamics = axis.only("dynamics")
    if dynamics is not None:
        flatten(dynamics)
    return read_dynamics(axis, joint_type)


def _read_limit(axis: Node, joint_type: JointType) -> dict[str, Any]:
    """Return limits, effort and velocity; a note tells of those that are none."""
    limit = axis.only("limit")
    found: dict[str, Any] = {"limits": None, "effort": None, "velocity": None}
    if limit is None:
        return found
    lower, upper = _bound(limit, "lower", -np.inf), _bound(limit, "upper", np.inf)
    has_bounds = joint_type.bounded or joint_type.needs_second_axis
    if (lower, upper) == (-np.inf, np.inf):
        pass
    elif not has_bounds:
        limit.note("ignored", f"lower and upper have no meaning for a {joint_type.name} joint")
    elif lower > upper:
        limit.note("changed", f"lower {lower:g} > upper {upper:g} is read as no limits")
    else:
        found["limits"] = (lower, upper)
    if lower == upper:
        limit.note("changed", f"lower = upper = {lower:g}: the joint is locked there")
    effort, velocity = _bound(limit, "effort", -1.0), _bound(limit, "velocity", -1.0)
    if effort == np.inf:
        limit.note("changed", "an effort without bound is no effort that a motor could have")
    elif effort >= 0.0:
        found["effort"] = effort
    if velocity == 0.0:
        limit.note("ignored", "velocity 0 is a blank that nobody filled in: no velocity limit")
    elif 0.0 < velocity < np.inf:
        found["velocity"] = velocity
    return found


def _bound(limit: Node, tag: str, default: float) -> float:
    """Return a number that may be infinite, or so large that SDF has it for infinite."""
    child = limit.only(tag)
    text = "" if child is None else (child.element.text or "").strip().lower()
    infinite = text.lstrip("+-") in ("inf", "infinity")
    value = float(text) if infinite else number_of(limit, tag, default)
    return float(np.copysign(np.inf, value)) if abs(value) >= _UNBOUNDED else value


def _read_mimic(node: Node, joint_type: JointType) -> Mimic | None:
    """Return the coupling of the first axis: factor * (leader - reference) + offset."""
    axes = [axis for axis in (node.only("axis"), node.only("axis2")) if axis is not None]
    found = [mimic for axis in axes if (mimic := axis.only("mimic")) is not None]
    if not found:
        return None
    mimic = found[0]
    if joint_type.dofs != 1:
        raise mimic.error(f"<mimic> on a {node.text('type')} joint", "one of one degree of freedom")
    factor, reference = number_of(mimic, "multiplier", 1.0), number_of(mimic, "reference", 0.0)
    offset = number_of(mimic, "offset", 0.0) - factor * reference
    return Mimic(mimic.text("joint"), factor, offset, mimic.place)


def _read_pitch(node: Node) -> float:
    """Return the advance of a screw [m/rad]; <thread_pitch> has the negative radians of a metre."""
    per_turn, per_metre = (number_of(node, f"{which}thread_pitch", 0.0) for which in ("screw_", ""))
    if (per_turn == 0.0) == (per_metre == 0.0):
        raise node.error("no pitch, or two", "one <screw_thread_pitch>, which is not 0")
    return per_turn / (2.0 * np.pi) if per_turn else -1.0 / per_metre


def _read_gear(node: Node, frames: Frames, pose: Pose, version: tuple[int, ...]) -> Gear:
    for axis in (node.need("axis"), node.need("axis2")):
        for part in axis.every():
            if part.tag in ("limit", "dynamics", "mimic"):
                part.note("ignored", "a gearbox has none")
    axes = [_axis(node, frames, pose, tag, version) for tag in ("axis", "axis2")]
    reference = frames.link(node, "gearbox_reference_body")
    first, second = frames.link(node, "parent"), frames.link(node, "child")
    ratio = number_of(node, "gearbox_ratio", 1.0)
    return Gear(node, ((reference, first), (reference, second)), np.array(axes), ratio)

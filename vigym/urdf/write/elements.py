"""XML elements of a URDF file: links, joints, shapes; numbers with all their digits."""

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vigym.mechanism.elements.bodies import Body
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.collisions import Collision
from vigym.mechanism.elements.couplings import Coupling
from vigym.mechanism.elements.joints import Joint
from vigym.mechanism.elements.motors import Motor
from vigym.mechanism.elements.shapes import GREY, Shape, size_fields
from vigym.spatial import batch_rotation_matrix, roll_pitch_yaw
from vigym.urdf.read.dialect import ADDITIONS, BODY, ENDS, POINT, TEXT
from vigym.urdf.read.joints import UNLIMITED

# Written as 0: angles [rad] below this, and coordinates below it relative to their minuend.
_ROUNDING = 1e-15


@dataclass(frozen=True, eq=False)
class LinkFrame:
    """Name of a link and its frame in the world at zero: origin (3,) [m], rotation (3, 3)."""

    name: str
    position: Array
    rotation: Array

    def coordinates(self, position: Array) -> Array:
        """Return a position of the world in this frame (3,) [m], rounding errors set to zero."""
        offset = self.rotation.T @ (position - self.position)
        scale = max(np.abs(position).max(), np.abs(self.position).max())
        return np.where(np.abs(offset) < _ROUNDING * scale, 0.0, offset)


def format_numbers(values: Iterable[float]) -> str:
    """Return numbers as text that reads back exactly."""
    return " ".join(repr(float(value) + 0.0) for value in values)


def pose_element(
    tag: str, parent: LinkFrame, position: Array, rotation: Array | None = None, **attributes: str
) -> ET.Element:
    """Return an element with the pose in a parent link of a frame that is given in the world."""
    attributes["xyz"] = format_numbers(parent.coordinates(position))
    angles = np.zeros(3) if rotation is None else roll_pitch_yaw(parent.rotation.T @ rotation)
    if angles.any():
        attributes["rpy"] = format_numbers(angles)
    return ET.Element(tag, attributes)


def axis_element(tag: str, link: LinkFrame, axis: Array) -> ET.Element:
    """Return an element with the coordinates in a link of a unit vector of the world (3,)."""
    local = link.rotation.T @ axis
    return ET.Element(tag, xyz=format_numbers(np.where(np.abs(local) < _ROUNDING, 0.0, local)))


def element_of(tag: str, children: Iterable[ET.Element | None], **attributes: str) -> ET.Element:
    """Return an element with its children, without the ones that are None."""
    element = ET.Element(tag, attributes)
    element.extend(child for child in children if child is not None)
    return element


def body_element(body: Body, link: LinkFrame, more: Iterable[ET.Element]) -> ET.Element:
    """Return the <link> of a body, with `more` children."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = body.inertia.tolist()
    moments = {"ixx": xx, "ixy": xy, "ixz": xz, "iyy": yy, "iyz": yz, "izz": zz}
    center = pose_element("origin", link, body.position)
    mass = ET.Element("mass", value=repr(body.mass))
    inertia = ET.Element("inertia", {key: repr(value) for key, value in moments.items()})
    inertial = element_of("inertial", [center, mass, inertia])
    body_frame = LinkFrame(link.name, body.position, link.rotation)
    visuals = [visual_element(shape, link, body_frame) for shape in body.shapes]
    return element_of("link", [inertial, *visuals, *more], name=link.name)


def visual_element(shape: Shape, link: LinkFrame, frame: LinkFrame) -> ET.Element:
    """Return the <visual> of a shape whose pose is given in `frame`."""
    rgba = np.asarray(shape.rgba)
    material = None
    if tuple(rgba.tolist()) != GREY:
        text = format_numbers(rgba)
        material = element_of("material", [ET.Element("color", rgba=text)], name=f"rgba {text}")
    return element_of("visual", [*_geometry(shape, link, frame), material])


def _geometry(shape: Shape, link: LinkFrame, frame: LinkFrame) -> list[ET.Element]:
    """Return <origin> and <geometry> of a shape whose pose is given in `frame`."""
    position = frame.position + frame.rotation @ np.asarray(shape.position)
    rotation = frame.rotation @ batch_rotation_matrix(np.asarray(shape.orientation))
    origin = pose_element("origin", link, position, rotation)
    return [origin, element_of("geometry", [ET.Element(shape.kind, _sizes(shape))])]


def collision_elements(
    collisions: Iterable[Collision], link: LinkFrame, frame: LinkFrame
) -> list[ET.Element]:
    """Return the <collision> elements of a link, and its <contact>.

    A shape with another surface than the first one has a <contact> of its own.

    Args:
        collisions: with poses in `frame`.
        link: gets the elements.
        frame: of the body, with the axes of the link.
    """
    common: str | None = None
    elements = []
    for each in collisions:
        contact = _contact(each)
        text = ET.tostring(contact, encoding="unicode")
        common = text if common is None else common
        elements.append(_collision(each, link, frame, contact if text != common else None))
    return elements if common is None else [*elements, ET.fromstring(common)]


def _collision(
    collision: Collision, link: LinkFrame, frame: LinkFrame, contact: ET.Element | None
) -> ET.Element:
    if collision.shape is not None:
        parts = _geometry(collision.shape, link, frame)
        return element_of("collision", [*parts, contact], name=collision.name)
    origin = pose_element("origin", link, frame.position + frame.rotation @ collision.position)
    sphere = ET.Element("sphere", radius=repr(collision.radius))  # of a point 0
    touches = {"touches": "ground"} if collision.radius else {}
    parts = [origin, element_of("geometry", [sphere])]
    return element_of("collision", [*parts, contact], name=collision.name, **touches)


def _contact(collision: Collision) -> ET.Element:
    """Return the <contact> with the surface of a collision."""
    along, across, backward = collision.friction.tolist()
    lateral = {"value": along}
    lateral |= {"across": across} if across != along else {}
    lateral |= {"backward": backward} if backward != along else {}
    friction = numbers_element("lateral_friction", lateral)
    if collision.direction.tolist() != [1.0, 0.0, 0.0]:
        friction.set("direction", format_numbers(collision.direction))
    given = {"spinning_friction": collision.torsion, "restitution": collision.restitution}
    others = [numbers_element(tag, {"value": value}) for tag, value in given.items() if value]
    return element_of("contact", [friction, *others])


def _sizes(shape: Shape) -> dict[str, str]:
    """Return the sizes of a shape as attributes of their names, the path as `filename`."""
    attributes = {}
    for size in size_fields(type(shape)):
        value = getattr(shape, size.name)
        if size.name == "path":
            attributes["filename"] = Path(value).resolve().as_posix()
        else:
            attributes[size.name] = format_numbers(np.atleast_1d(value))
    return attributes


def joint_element(
    joint: Joint,
    parent: LinkFrame,
    child: LinkFrame,
    coupling: Coupling | None,
    motor: Motor | None,
) -> ET.Element:
    """Return the <joint> of a joint of the tree, with <mimic> for a coupling and <motor>."""
    children = [
        pose_element("origin", parent, child.position, child.rotation),
        *_links(parent, child),
        axis_element("axis", child, joint.axis) if joint.joint_type.needs_axis else None,
        None if joint.axis2 is None else axis_element("axis2", child, joint.axis2),
        _limit(joint, unlimited=joint.joint_type.bounded),
        _dynamics(joint),
        None if coupling is None else _mimic(coupling),
        None if motor is None else addition_element("motor", motor, {}),
    ]
    return element_of("joint", children, name=joint.name, type=joint.type)


def _links(parent: LinkFrame, child: LinkFrame) -> list[ET.Element]:
    return [ET.Element("parent", link=parent.name), ET.Element("child", link=child.name)]


def _mimic(coupling: Coupling) -> ET.Element:
    ratio = format_numbers([coupling.ratio])
    offset = format_numbers([coupling.offset])
    return ET.Element("mimic", {"joint": coupling.other, "multiplier": ratio, "offset": offset})


def fixed_joint_element(name: str, parent: LinkFrame, child: LinkFrame) -> ET.Element:
    """Return the fixed <joint> of a frame's link."""
    origin = pose_element("origin", parent, child.position, child.rotation)
    return element_of("joint", [origin, *_links(parent, child)], name=name, type="fixed")


def loop_joint_element(
    joint: Joint, parent: LinkFrame, child: LinkFrame, motor: Motor | None
) -> ET.Element:
    """Return the <loop_joint> of a loop-closing joint.

    The joint frame in the parent link has the axes of that link.
    """
    rotation = batch_rotation_matrix(joint.child_rotation) @ parent.rotation
    children = [
        axis_element("axis", parent, joint.axis),
        None if joint.axis2 is None else axis_element("axis2", parent, joint.axis2),
        pose_element("link1", parent, joint.position, link=parent.name),
        pose_element("link2", child, joint.child_position, rotation, link=child.name),
        _limit(joint, unlimited=False),
        _dynamics(joint),
        None if motor is None else addition_element("motor", motor, {}),
    ]
    return element_of("loop_joint", children, name=joint.name, type=joint.type)


def _limit(joint: Joint, unlimited: bool) -> ET.Element | None:
    """Return <limit>, None if it is empty.

    Args:
        joint: with limits, infinite ones, which are none, or none.
        unlimited: whether limits that are none are written, as `UNLIMITED`.
    """
    values: dict[str, ArrayLike] = {}
    if joint.limits is not None and np.isfinite(joint.limits).any():
        values["lower"], values["upper"] = joint.limits.T
    elif unlimited:
        values["lower"], values["upper"] = UNLIMITED
    given = {"effort": joint.effort, "velocity": joint.velocity}
    values |= {name: value for name, value in given.items() if value is not None}
    return numbers_element("limit", values) if values else None


def _dynamics(joint: Joint) -> ET.Element | None:
    """Return <dynamics> without the values that are zero, None if it is empty."""
    rest = joint.rest if len(set(joint.rest)) > 1 else joint.rest[:1]
    values = {
        "damping": joint.damping,
        "friction": joint.friction,
        "spring_stiffness": joint.stiffness,
        "spring_reference": rest,
        "armature": joint.armature,
    }
    given = {name: value for name, value in values.items() if np.any(value)}
    return numbers_element("dynamics", given) if given else None


def numbers_element(tag: str, values: Mapping[str, ArrayLike]) -> ET.Element:
    """Return an element with one or more numbers in each attribute."""
    attributes = {key: format_numbers(np.atleast_1d(value)) for key, value in values.items()}
    return ET.Element(tag, attributes)


def addition_element(tag: str, record: Any, centers: Mapping[str, Array]) -> ET.Element:
    """Return an element that URDF lacks.

    Args:
        tag: key of `ADDITIONS`.
        record: of a mechanism, with the attributes of the element.
        centers: origin of each body's frame in its link (3,) [m]; 0 of the world.
    """
    attributes = {}
    for name, kind in ADDITIONS[tag].items():
        value = getattr(record, name)
        if kind == POINT:
            value = centers[getattr(record, ENDS.get(name, "body"))] + value
        if kind in (TEXT, BODY):
            attributes[name] = value
        elif value is not None:
            attributes[name] = format_numbers(np.atleast_1d(value))
    model = getattr(record, "model", None)
    children = [] if model is None else [addition_element("model", model, centers)]
    return element_of(tag, children, **attributes)

"""XML elements of a URDF file: links, joints, shapes; numbers with all their digits."""

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vigym.mechanism.elements.bodies import Body
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.collisions import Collision
from vigym.mechanism.elements.couplings import Coupling
from vigym.mechanism.elements.joints import Joint
from vigym.mechanism.elements.shapes import GREY, Shape, size_fields
from vigym.spatial import batch_rotation_matrix, roll_pitch_yaw
from vigym.urdf.read.joints import UNLIMITED

# Written as 0: angles [rad] below this, and coordinates below it relative to their minuend.
_ROUNDING = 1e-15


@dataclass(frozen=True, eq=False)
class LinkFrame:
    """Name of a link and its frame in the world at zero: origin (3,) [m], rotation (3, 3)."""

    name: str
    position: Array
    rotation: Array


def format_numbers(values: Iterable[float]) -> str:
    """Return numbers as text that reads back exactly."""
    return " ".join(repr(float(value) + 0.0) for value in values)


def pose_element(
    tag: str, parent: LinkFrame, position: Array, rotation: Array | None = None, **attributes: str
) -> ET.Element:
    """Return an element with the pose in a parent link of a frame that is given in the world."""
    offset = parent.rotation.T @ (position - parent.position)
    scale = max(np.abs(position).max(), np.abs(parent.position).max())
    attributes["xyz"] = format_numbers(np.where(np.abs(offset) < _ROUNDING * scale, 0.0, offset))
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


def body_element(body: Body, link: LinkFrame, collisions: Iterable[ET.Element]) -> ET.Element:
    """Return the <link> of a body, `collisions` among its children."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = body.inertia.tolist()
    moments = {"ixx": xx, "ixy": xy, "ixz": xz, "iyy": yy, "iyz": yz, "izz": zz}
    center = pose_element("origin", link, body.position)
    mass = ET.Element("mass", value=repr(body.mass))
    inertia = ET.Element("inertia", {key: repr(value) for key, value in moments.items()})
    inertial = element_of("inertial", [center, mass, inertia])
    body_frame = LinkFrame(link.name, body.position, link.rotation)
    visuals = [visual_element(shape, link, body_frame) for shape in body.shapes]
    return element_of("link", [inertial, *visuals, *collisions], name=link.name)


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
    collisions: Sequence[Collision], link: LinkFrame, frame: LinkFrame
) -> list[ET.Element]:
    """Return the <collision> elements and the <contact> of a link.

    Args:
        collisions: with poses in `frame` and one surface.
        link: gets the elements.
        frame: of the body.
    """
    if not collisions:
        return []
    elements = [_collision(each, link, frame) for each in collisions]
    return [*elements, _contact(collisions[0])]


def _collision(collision: Collision, link: LinkFrame, frame: LinkFrame) -> ET.Element:
    if collision.shape is not None:
        geometry = _geometry(collision.shape, link, frame)
        return element_of("collision", geometry, name=collision.name)
    origin = pose_element("origin", link, frame.position + frame.rotation @ collision.position)
    sphere = ET.Element("sphere", radius=repr(collision.radius))  # of a point 0
    return element_of("collision", [origin, element_of("geometry", [sphere])], name=collision.name)


def _contact(collision: Collision) -> ET.Element:
    """Return the <contact> with the surface of a collision."""
    values = {"spinning_friction": collision.torsion, "restitution": collision.restitution}
    given = {"lateral_friction": collision.friction[0]}
    given |= {tag: value for tag, value in values.items() if value}
    children = [ET.Element(tag, value=format_numbers([value])) for tag, value in given.items()]
    return element_of("contact", children)


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
    joint: Joint, parent: LinkFrame, child: LinkFrame, coupling: Coupling | None
) -> ET.Element:
    """Return the <joint> of a joint of the tree, a <mimic> in it for a coupling."""
    children = [
        pose_element("origin", parent, child.position, child.rotation),
        *_links(parent, child),
        axis_element("axis", child, joint.axis) if joint.joint_type.needs_axis else None,
        None if joint.axis2 is None else axis_element("axis2", child, joint.axis2),
        _limit(joint, unlimited=joint.joint_type.bounded),
        _dynamics(joint),
        None if coupling is None else _mimic(coupling),
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


def loop_joint_element(joint: Joint, parent: LinkFrame, child: LinkFrame) -> ET.Element:
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
    ]
    return element_of("loop_joint", children, name=joint.name, type=joint.type)


def _limit(joint: Joint, unlimited: bool) -> ET.Element | None:
    """Return <limit>, None if it is empty.

    Args:
        joint: with finite limits, infinite ones, which are none, or none.
        unlimited: whether limits that are none are written, as `UNLIMITED`.
    """
    values: dict[str, float] = {}
    if joint.limits is not None and np.isfinite(joint.limits).all():
        values["lower"], values["upper"] = joint.limits[0]
    elif unlimited:
        values["lower"], values["upper"] = UNLIMITED
    if joint.effort is not None:
        values["effort"] = joint.effort
    if joint.velocity is not None and np.isfinite(joint.velocity):
        values["velocity"] = joint.velocity
    return _numbers_element("limit", values)


def _dynamics(joint: Joint) -> ET.Element | None:
    """Return <dynamics> without the values that are zero, None if it is empty."""
    damping, stiffness = (
        max(each.tolist(), default=0.0) for each in (joint.dof_damping, joint.dof_stiffness)
    )
    values = {
        "damping": damping,
        "friction": joint.friction,
        "spring_stiffness": stiffness,
        "spring_reference": joint.rest[0] if joint.rest else 0.0,
    }
    return _numbers_element("dynamics", {key: value for key, value in values.items() if value})


def _numbers_element(tag: str, values: dict[str, float]) -> ET.Element | None:
    attributes = {key: format_numbers([value]) for key, value in values.items()}
    return ET.Element(tag, attributes) if attributes else None

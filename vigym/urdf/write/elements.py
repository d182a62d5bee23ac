"""Elements of a URDF file: bodies, joints and shapes as XML, numbers with all their digits."""

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vigym.mechanism.elements.bodies import Body
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.collisions import Collision
from vigym.mechanism.elements.couplings import Coupling
from vigym.mechanism.elements.joints import Joint
from vigym.mechanism.elements.shapes import GREY, Box, Cylinder, Mesh, Shape, Sphere
from vigym.spatial import batch_rotation_matrix

_ROUNDING = 1e-15  # of an angle, or relative to the numbers that a coordinate is the difference of: written as 0


@dataclass(frozen=True, eq=False)
class Placed:
    """A link's name and its frame in the world at zero: origin (3,) [m], rotation (3, 3)."""

    name: str
    position: Array
    rotation: Array


def roll_pitch_yaw(rotation: Array) -> Array:
    """Return fixed-axis roll, pitch and yaw (3,) [rad] of a rotation matrix, exact to rounding at any pitch.

    Each angle is taken from what the ones before leave over. So where roll and yaw are no longer apart (pitch +-90
    degrees), the error of one makes up for that of the other.
    """
    yaw = np.arctan2(rotation[1, 0], rotation[0, 0])
    c, s = np.cos(yaw), np.sin(yaw)
    left = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]) @ rotation
    pitch, roll = np.arctan2(-left[2, 0], left[0, 0]), np.arctan2(-left[1, 2], left[1, 1])
    angles = np.array([roll, pitch, yaw])
    return np.where(np.abs(angles) < _ROUNDING, 0.0, angles)


def numbers(values: Iterable[float]) -> str:
    """Return numbers as text that reads back exactly."""
    return " ".join(repr(float(value) + 0.0) for value in values)


def place(tag: str, parent: Placed, position: Array, rotation: Array | None = None, **names: str) -> ET.Element:
    """Return an element that places a frame, given in the world, in a link."""
    offset = parent.rotation.T @ (position - parent.position)
    scale = max(np.abs(position).max(), np.abs(parent.position).max())
    xyz = np.where(np.abs(offset) < _ROUNDING * scale, 0.0, offset)
    turn = np.zeros(3) if rotation is None else roll_pitch_yaw(parent.rotation.T @ rotation)
    return ET.Element(tag, names | {"xyz": numbers(xyz)} | ({"rpy": numbers(turn)} if turn.any() else {}))


def direction(tag: str, link: Placed, axis: Array) -> ET.Element:
    """Return an element with a unit vector of the world, seen from a link."""
    seen = link.rotation.T @ axis
    return ET.Element(tag, xyz=numbers(np.where(np.abs(seen) < _ROUNDING, 0.0, seen)))


def parent_of(children: Iterable[ET.Element | None], tag: str, **names: str) -> ET.Element:
    """Return an element with children, those that are None left out."""
    element = ET.Element(tag, names)
    element.extend(child for child in children if child is not None)
    return element


def body_link(body: Body, link: Placed, touching: Iterable[ET.Element]) -> ET.Element:
    """Return the <link> of a body, `touching` among its elements."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = body.inertia.tolist()
    moments = {"ixx": xx, "ixy": xy, "ixz": xz, "iyy": yy, "iyz": yz, "izz": zz}
    center = place("origin", link, body.position)
    inertia = ET.Element("inertia", {key: repr(value) for key, value in moments.items()})
    inertial = parent_of([center, ET.Element("mass", value=repr(body.mass)), inertia], "inertial")
    home = Placed(link.name, body.position, link.rotation)
    shapes = [visual(shape, link, home) for shape in body.shapes]
    return parent_of([inertial, *shapes, *touching], "link", name=link.name)


def visual(shape: Shape, link: Placed, home: Placed) -> ET.Element:
    """Return the <visual> of a shape whose pose is given in the frame `home`."""
    rgba = np.asarray(shape.rgba)
    color = ET.Element("color", rgba=numbers(rgba))
    name = "rgba " + numbers(rgba)
    material = None if tuple(rgba.tolist()) == GREY else parent_of([color], "material", name=name)
    return parent_of([*_geometry(shape, link, home), material], "visual")


def _geometry(shape: Shape, link: Placed, home: Placed) -> list[ET.Element]:
    """Return <origin> and <geometry> of a shape whose pose is given in the frame `home`."""
    position = home.position + home.rotation @ np.asarray(shape.position)
    turned = home.rotation @ batch_rotation_matrix(np.asarray(shape.orientation))
    return [place("origin", link, position, turned), parent_of([ET.Element(shape.kind, _sizes(shape))], "geometry")]


def touch(collisions: Sequence[Collision], link: Placed, home: Placed) -> list[ET.Element]:
    """Return the <collision> elements and the <contact> of a link; poses in the frame `home`, one surface for all."""
    found = [_collision(each, link, home) for each in collisions]
    return [*found, _contact(collisions[0])] if collisions else []


def _collision(collision: Collision, link: Placed, home: Placed) -> ET.Element:
    if collision.shape is not None:
        return parent_of(_geometry(collision.shape, link, home), "collision", name=collision.name)
    origin = place("origin", link, home.position + home.rotation @ collision.position)
    sphere = ET.Element("sphere", radius=repr(collision.radius))  # of a point 0
    return parent_of([origin, parent_of([sphere], "geometry")], "collision", name=collision.name)


def _contact(collision: Collision) -> ET.Element:
    """Return the <contact> with the surface of a collision."""
    values = {"spinning_friction": collision.torsion, "restitution": collision.restitution}
    given = [("lateral_friction", collision.friction[0]), *((tag, value) for tag, value in values.items() if value)]
    return parent_of([ET.Element(tag, value=numbers([value])) for tag, value in given], "contact")


def _sizes(shape: Any) -> dict[str, str]:
    if isinstance(shape, Box):
        return {"size": numbers(np.asarray(shape.size))}
    if isinstance(shape, Sphere):
        return {"radius": repr(shape.radius)}
    if isinstance(shape, Mesh):
        return {"filename": Path(shape.path).resolve().as_posix(), "scale": numbers(np.asarray(shape.scale))}
    assert isinstance(shape, Cylinder)  # or a capsule
    return {"radius": repr(shape.radius), "length": repr(shape.length)}


def tree_joint(joint: Joint, parent: Placed, child: Placed, coupling: Coupling | None) -> ET.Element:
    """Return the <joint> that carries a body, and by a coupling may follow another one."""
    children = [
        place("origin", parent, child.position, child.rotation),
        ET.Element("parent", link=parent.name),
        ET.Element("child", link=child.name),
        direction("axis", child, joint.axis) if joint.joint_type.needs_axis else None,
        _limit(joint, unlimited=joint.joint_type.bounded),
        _dynamics(joint),
        None if coupling is None else _mimic(coupling),
    ]
    return parent_of(children, "joint", name=joint.name, type=str(joint.joint_type.urdf))


def _mimic(coupling: Coupling) -> ET.Element:
    values = {"multiplier": numbers([coupling.ratio]), "offset": numbers([coupling.offset])}
    return ET.Element("mimic", {"joint": coupling.other} | values)


def mount(name: str, parent: Placed, child: Placed) -> ET.Element:
    """Return the fixed <joint> that holds a frame's link."""
    origin = place("origin", parent, child.position, child.rotation)
    ends = [ET.Element("parent", link=parent.name), ET.Element("child", link=child.name)]
    return parent_of([origin, *ends], "joint", name=name, type="fixed")


def loop_joint(joint: Joint, parent: Placed, child: Placed) -> ET.Element:
    """Return the <loop_joint> of a closing joint; the parent's half has the axes of the parent's link."""
    turned = batch_rotation_matrix(joint.child_rotation) @ parent.rotation
    children = [
        direction("axis", parent, joint.axis),
        None if joint.axis2 is None else direction("axis2", parent, joint.axis2),
        place("link1", parent, joint.position, link=parent.name),
        place("link2", child, joint.child_position, turned, link=child.name),
        _limit(joint, unlimited=False),
        _dynamics(joint),
    ]
    return parent_of(children, "loop_joint", name=joint.name, type=joint.type)


def _limit(joint: Joint, unlimited: bool) -> ET.Element | None:
    """Return <limit>, None without anything to say; `unlimited` writes missing limits as lower > upper."""
    values: dict[str, float] = {}
    if joint.limits is not None and joint.joint_type.bounded:
        values["lower"], values["upper"] = joint.limits[0]
    elif unlimited:
        values["lower"], values["upper"] = 1.0, -1.0
    if joint.effort is not None:
        values["effort"] = joint.effort
    if joint.velocity is not None and np.isfinite(joint.velocity):
        values["velocity"] = joint.velocity
    return ET.Element("limit", {key: numbers([value]) for key, value in values.items()}) if values else None


def _dynamics(joint: Joint) -> ET.Element | None:
    rest = joint.rest[0] if joint.rest else 0.0
    values = {"damping": joint.damping, "friction": joint.friction}
    values |= {"spring_stiffness": joint.stiffness, "spring_reference": rest}
    given = {key: numbers([value]) for key, value in values.items() if value}
    return ET.Element("dynamics", given) if given else None

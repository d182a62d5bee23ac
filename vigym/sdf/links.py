"""Links of an SDF model, rewritten as the URDF reader has them: values are attributes there."""

import xml.etree.ElementTree as ET
from dataclasses import replace

from vigym.mechanism.elements.shapes import SHAPES
from vigym.sdf.dialect import OTHER_SHAPES
from vigym.sdf.frames import Frames, as_text, number_of
from vigym.spatial import Pose, roll_pitch_yaw
from vigym.urdf.read.collisions import surface_of
from vigym.urdf.read.links import read_link
from vigym.urdf.read.meshes import MeshFolders
from vigym.urdf.read.records import Link, UrdfSurface
from vigym.urdf.read.xml import Node

_FRICTION = 1.0  # without <mu>
_INERTIA = {"ixx": "1", "iyy": "1", "izz": "1"}  # of a link that gives none


def flatten(node: Node) -> None:
    """Make attributes of the values in the children of an element.

    Raises:
        UrdfError: two children with the same tag.
    """
    for child in node.every():
        name = child.tag.replace("uri", "filename")
        value = node.need(child.tag).element.text or ""
        node.element.set(name, value.strip())


def read_sdf_link(node: Node, frames: Frames, frame: Pose, folders: MeshFolders) -> Link:
    """Return the record of a <link>, which is rewritten.

    Args:
        node: element <link>, without unknown elements.
        frames: of the model.
        frame: pose in the world that the link of the record has.
        folders: of meshes.

    Raises:
        UrdfError: values that are missing, malformed or impossible.
    """
    name = node.text("name")
    _complete(node)
    surfaces: dict[str, UrdfSurface] = {}
    for part in node.every():
        if part.tag == "pose":
            continue
        pose = frame.inverse @ frames.of(part, name)
        rpy = as_text(roll_pitch_yaw(pose.rotation))
        ET.SubElement(part.element, "origin", xyz=as_text(pose.position), rpy=rpy)
        if part.tag == "inertial":
            flatten(part.need("inertia"))
            mass = part.need("mass").element
            mass.set("value", (mass.text or "").strip())
            continue
        if part.tag == "collision":
            surfaces[part.place] = _read_surface(part)
        else:
            _rewrite_material(part)
        if not _rewrite_shape(part):
            node.element.remove(part.element)
    link = read_link(node, {}, {}, folders)
    touching = (replace(each, surface=surfaces[each.place]) for each in link.collisions)
    return replace(link, collisions=tuple(touching))


def _complete(link: Node) -> None:
    """Give a link the mass of 1 kg and the inertia of 1 kg m^2 of SDF where it has none."""
    inertial = link.only("inertial")
    missing = []
    if inertial is None:
        ET.SubElement(link.element, "inertial")
        inertial = link.need("inertial")
    if inertial.only("mass") is None:
        ET.SubElement(inertial.element, "mass").text = "1"
        missing.append("mass")
    if inertial.only("inertia") is None:
        ET.SubElement(inertial.element, "inertia")
    inertia = inertial.need("inertia")
    for tag, value in _INERTIA.items():
        if inertia.only(tag) is None:
            ET.SubElement(inertia.element, tag).text = value
            missing.append(tag)
    if missing:
        found = f"no {', '.join(missing)}"
        inertial.note("changed", f"{found}: taken as 1 kg or 1 kg m^2, as SDF says")


def _rewrite_shape(part: Node) -> bool:
    """Rewrite the shape of a part; return False, with a note, where there is none of this kind."""
    geometry = part.need("geometry")
    for child in geometry.every():
        if child.tag in OTHER_SHAPES:
            effect = "not drawn" if part.tag == "visual" else "touches nothing"
            child.note("dropped", f"{effect}: expected one of {', '.join(SHAPES)}")
            return False
        flatten(child)
    return True


def _rewrite_material(visual: Node) -> None:
    """Give the material of a visual the colour <diffuse>, else <ambient>."""
    material = visual.only("material")
    if material is None:
        return
    diffuse, ambient = material.only("diffuse"), material.only("ambient")
    color = diffuse or ambient
    if color is None:
        visual.element.remove(material.element)
        return
    if diffuse and ambient:
        ambient.note("ignored", "shapes are drawn in one colour, <diffuse>")
    words = (color.element.text or "").split()
    rgba = " ".join([*words, "1"] if len(words) == 3 else words)
    ET.SubElement(material.element, "color", rgba=rgba)


def _read_surface(collision: Node) -> UrdfSurface:
    """Return the friction in <ode> and the restitution of a collision shape."""
    surface = collision.only("surface")
    friction = None if surface is None else surface.only("friction")
    ode = None if friction is None else friction.only("ode")
    given = {} if ode is None else {tag: ode.only(tag) for tag in ("mu", "mu2", "fdir1")}
    found = {"mu1" if tag == "mu" else tag: node for tag, node in given.items() if node}
    if not {"mu1", "mu2"} & set(found):
        if "fdir1" in found:
            found["fdir1"].note("ignored", "a direction without mu and mu2")
        result = UrdfSurface(friction=(_FRICTION, _FRICTION))
    else:
        result = surface_of(found)
    bounce = None if surface is None else surface.only("bounce")
    restitution = number_of(bounce, "restitution_coefficient", 0.0)
    if bounce is not None and not 0.0 <= restitution <= 1.0:
        raise bounce.error(f"restitution_coefficient {restitution:g}", "a number in [0, 1]")
    return replace(result, restitution=restitution)

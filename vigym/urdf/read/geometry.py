"""Shapes, poses and materials of <visual> and <collision> elements."""

from typing import Any

import numpy as np

from vigym.mechanism.elements.bodies import Note
from vigym.mechanism.elements.shapes import GREY, Box, Capsule, Cylinder, Mesh, Shape, Sphere
from vigym.spatial import IDENTITY, Origin, rotation_from_rpy
from vigym.urdf.read.meshes import find_mesh
from vigym.urdf.read.notes import ignored_children
from vigym.urdf.read.records import Visual
from vigym.urdf.read.xml import Node

Color = tuple[float, ...]

_UNSUPPORTED = {"plane", "cdf", "heightmap"}  # shapes of other programs


def read_origin(node: Node, tag: str = "origin") -> Origin:
    """Return the pose in the child `tag`, the identity without one."""
    origin = node.only(tag)
    return IDENTITY if origin is None else read_pose(origin)


def read_pose(node: Node) -> Origin:
    """Return the pose in the attributes xyz and rpy; each defaults to zero."""
    zero = (0.0, 0.0, 0.0)
    rpy = node.numbers("rpy", 3, zero)
    return Origin(node.numbers("xyz", 3, zero), rotation_from_rpy(rpy), rpy)


def read_materials(robot: Node, notes: list[Note]) -> dict[str, Color]:
    """Return the colours of the <material> elements under <robot>; the last of a name counts."""
    colors = {}
    for material in robot.children("material"):
        notes += ignored_children(material, {"color"})
        color = _color(material, notes)
        if color is not None:
            colors[material.text("name")] = color
    return colors


def read_visual(node: Node, materials: dict[str, Color], notes: list[Note]) -> Visual | None:
    """Return the shape of a <visual>; None, and a note, for one that cannot be drawn."""
    notes += ignored_children(node, {"origin", "geometry", "material"})
    rgba = _material(node, materials, notes)
    kind, sizes = read_geometry(node, notes, "not drawn")
    if kind is Mesh:
        path, reason = find_mesh(sizes["path"], node.path.parent)
        if path is None:
            message = f"mesh {sizes['path']!r} is not drawn: {reason}"
            notes.append(Note("dropped", node.place, message))
            return None
        sizes["path"] = path
    pose = read_origin(node)
    return None if kind is None else Visual(kind(rgba=rgba, **sizes), pose)


def read_geometry(
    node: Node, notes: list[Note], effect: str, allow_points: bool = False
) -> tuple[type[Shape] | None, dict[str, Any]]:
    """Return class and keyword arguments of the shape in <geometry>, None if it is not supported.

    Args:
        node: <visual> or <collision>.
        notes: gets a note about an unsupported shape.
        effect: its consequence, in words.
        allow_points: whether a sphere may have radius 0.

    Raises:
        UrdfError: no shape, several, or a size that is missing or negative.
    """
    geometry = node.need("geometry")
    known = {"box", "sphere", "cylinder", "capsule", "mesh"} | _UNSUPPORTED
    notes += ignored_children(geometry, known)
    found = [child for tag in known for child in geometry.children(tag)]
    if len(found) != 1:
        tags = [str(child.tag) for child in geometry.element] or ["nothing"]
        raise geometry.error(", ".join(tags), "one of box, sphere, cylinder, capsule, mesh")
    shape = found[0]
    if shape.tag in _UNSUPPORTED:
        notes.append(Note("dropped", shape.place, f"{effect}: a shape of other programs"))
        return None, {}
    kind, sizes = _READERS[shape.tag](shape)
    if allow_points and kind is Sphere:
        return kind, sizes
    if any(np.any(value == 0.0) for key, value in sizes.items() if key != "path"):
        notes.append(Note("dropped", shape.place, f"{effect}: it has size zero"))
        return None, {}
    return kind, sizes


def _box(node: Node) -> tuple[type[Shape], dict[str, Any]]:
    size = node.numbers("size", 3)
    if size.min() < 0.0:
        raise node.error(f'size="{node.text("size")}"', "3 numbers >= 0")
    return Box, {"size": size}


def _mesh(node: Node) -> tuple[type[Shape], dict[str, Any]]:
    scale = node.numbers("scale", 3, (1.0, 1.0, 1.0))
    return Mesh, {"path": node.text("filename"), "scale": scale}


def _round(node: Node) -> dict[str, Any]:
    return {"radius": node.number("radius", low=0.0), "length": node.number("length", low=0.0)}


_READERS = {
    "box": _box,
    "sphere": lambda node: (Sphere, {"radius": node.number("radius", low=0.0)}),
    "cylinder": lambda node: (Cylinder, _round(node)),
    "capsule": lambda node: (Capsule, _round(node)),
    "mesh": _mesh,
}


def _material(node: Node, materials: dict[str, Color], notes: list[Note]) -> Color:
    """Return the colour of a visual: its own, the named one, or grey (with a note)."""
    material = node.only("material")
    if material is None:
        return GREY
    notes += ignored_children(material, {"color"})
    color = _color(material, notes)
    name = material.element.get("name", "")
    if color is None and name in materials:
        return materials[name]
    if color is None:
        notes.append(Note("changed", material.place, "no colour of this name: drawn grey"))
        return GREY
    return color


def _color(material: Node, notes: list[Note]) -> Color | None:
    color = material.only("color")
    if color is None:
        return None
    rgba = color.numbers("rgba", 4)
    clipped = np.clip(rgba, 0.0, 1.0)
    if np.any(clipped != rgba):
        notes.append(Note("changed", color.place, f"rgba {rgba.tolist()} clipped to [0, 1]"))
    return tuple(clipped.tolist())

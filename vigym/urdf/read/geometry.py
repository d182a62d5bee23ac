"""<visual> and <collision> elements: shapes, materials, and what of them cannot be drawn."""

from typing import Any

import numpy as np

from vigym.mechanism.elements.bodies import Note
from vigym.mechanism.elements.shapes import GREY, Box, Capsule, Cylinder, Mesh, Shape, Sphere
from vigym.spatial import IDENTITY, Origin, rotation_from_rpy
from vigym.urdf.read.meshes import find_mesh
from vigym.urdf.read.records import Visual
from vigym.urdf.read.report import ignored
from vigym.urdf.read.xml import Node

Color = tuple[float, ...]

_UNDRAWN = {"plane", "cdf", "heightmap"}  # geometry that other programs read; it is no shape here


def read_origin(node: Node, tag: str = "origin") -> Origin:
    """Return the pose in the child `tag`, the identity without one."""
    origin = node.only(tag)
    return IDENTITY if origin is None else read_pose(origin)


def read_pose(node: Node) -> Origin:
    """Return the pose in the attributes xyz and rpy, zero where they are not given."""
    zero = (0.0, 0.0, 0.0)
    rpy = node.numbers("rpy", 3, zero)
    return Origin(node.numbers("xyz", 3, zero), rotation_from_rpy(rpy), rpy)


def read_materials(robot: Node, report: list[Note]) -> dict[str, Color]:
    """Return the colours of the <material> elements under <robot>; the last of one name counts."""
    colors = {}
    for material in robot.children("material"):
        report += ignored(material, {"color"})
        color = _color(material, report)
        if color is not None:
            colors[material.text("name")] = color
    return colors


def read_visual(node: Node, materials: dict[str, Color], report: list[Note]) -> Visual | None:
    """Return what a <visual> draws, None (and a report) when it cannot be drawn."""
    report += ignored(node, {"origin", "geometry", "material"})
    rgba = _material(node, materials, report)
    kind, values = read_geometry(node, report, "not drawn")
    if kind is Mesh:
        path, reason = find_mesh(values["path"], node.path.parent)
        if path is None:
            report.append(Note("dropped", node.place, f"mesh {values['path']!r} is not drawn: {reason}"))
            return None
        values["path"] = path
    pose = read_origin(node)
    return None if kind is None else Visual(kind(rgba=rgba, **values), pose)


def read_geometry(
    node: Node, report: list[Note], fate: str, points: bool = False
) -> tuple[type[Shape] | None, dict[str, Any]]:
    """Return class and sizes of the shape in <geometry>, None for what is no shape here, whose `fate` is reported.

    A sphere of radius 0 is a shape where there are `points`.
    """
    geometry = node.need("geometry")
    known = {"box", "sphere", "cylinder", "capsule", "mesh"} | _UNDRAWN
    report += ignored(geometry, known)
    found = [child for tag in known for child in geometry.children(tag)]
    if len(found) != 1:
        tags = [str(child.tag) for child in geometry.element] or ["nothing"]
        raise geometry.error(", ".join(tags), "one of box, sphere, cylinder, capsule, mesh")
    shape = found[0]
    if shape.tag in _UNDRAWN:
        report.append(Note("dropped", shape.place, f"{fate}: a shape of other programs"))
        return None, {}
    kind, values = _SIZES[shape.tag](shape)
    if points and kind is Sphere:
        return kind, values
    if any(np.any(value == 0.0) for key, value in values.items() if key != "path"):
        report.append(Note("dropped", shape.place, f"{fate}: it has size zero"))
        return None, {}
    return kind, values


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


_SIZES = {
    "box": _box,
    "sphere": lambda node: (Sphere, {"radius": node.number("radius", low=0.0)}),
    "cylinder": lambda node: (Cylinder, _round(node)),
    "capsule": lambda node: (Capsule, _round(node)),
    "mesh": _mesh,
}


def _material(node: Node, materials: dict[str, Color], report: list[Note]) -> Color:
    """Return the colour of a visual: its own, the named one, or grey (reported when a name leads nowhere)."""
    material = node.only("material")
    if material is None:
        return GREY
    report += ignored(material, {"color"})
    color = _color(material, report)
    name = material.element.get("name", "")
    if color is None and name in materials:
        return materials[name]
    if color is None:
        report.append(Note("changed", material.place, "no colour of this name: drawn grey"))
        return GREY
    return color


def _color(material: Node, report: list[Note]) -> Color | None:
    color = material.only("color")
    if color is None:
        return None
    rgba = color.numbers("rgba", 4)
    clipped = np.clip(rgba, 0.0, 1.0)
    if np.any(clipped != rgba):
        report.append(Note("changed", color.place, f"rgba {rgba.tolist()} clipped to [0, 1]"))
    return tuple(clipped.tolist())

"""Shapes, poses and materials of <visual> and <collision> elements."""

from dataclasses import MISSING
from typing import Any

import numpy as np

from vigym.mechanism.elements.shapes import (
    GREY,
    SHAPES,
    Mesh,
    Shape,
    Sphere,
    size_fields,
)
from vigym.spatial import (
    IDENTITY,
    Origin,
    roll_pitch_yaw,
    rotation_from_rpy,
    rotation_matrix,
)
from vigym.urdf.read.dialect import QUATERNION, UNSUPPORTED_SHAPES
from vigym.urdf.read.meshes import MeshFolders
from vigym.urdf.read.records import Visual
from vigym.urdf.read.xml import Node

Color = tuple[float, ...]

UNIT_TOLERANCE = 1e-6  # directions and quaternions that are off by more get a note
SHORTEST, LONGEST = 1e-150, 1e150  # beyond them the squared length under- or overflows


def read_origin(node: Node, tag: str = "origin") -> Origin:
    """Return the pose in the child `tag`, the identity without one."""
    origin = node.only(tag)
    return IDENTITY if origin is None else read_pose(origin)


def read_pose(node: Node) -> Origin:
    """Return the pose in the attributes xyz, and rpy or quat_xyzw; each defaults to zero."""
    zero = (0.0, 0.0, 0.0)
    rpy = node.numbers("rpy", 3, zero)
    position = node.numbers("xyz", 3, zero)
    if not node.has(QUATERNION):
        return Origin(position, rotation_from_rpy(rpy), rpy)
    if node.has("rpy"):
        raise node.error(f"rpy and {QUATERNION}", "one of them")
    written = node.numbers(QUATERNION, 4)
    length = float(np.sqrt(written @ written))
    if not SHORTEST < length < LONGEST:
        raise node.error(f'{QUATERNION}="{node.text(QUATERNION)}"', "a rotation")
    if abs(length - 1.0) > UNIT_TOLERANCE:
        node.note("changed", f"{QUATERNION} of length {length:.9g} scaled to 1")
    rotation = rotation_matrix(np.roll(written, 1) / length)
    return Origin(position, rotation, roll_pitch_yaw(rotation))


def read_materials(robot: Node) -> dict[str, Color]:
    """Return the colours of the <material> elements under <robot>; the last of a name counts."""
    colors = {}
    for material in robot.children("material"):
        color = _color(material)
        if color is not None:
            colors[material.text("name")] = color
    return colors


def read_visual(node: Node, materials: dict[str, Color], folders: MeshFolders) -> Visual | None:
    """Return the shape of a <visual>; None, and a note, for one that cannot be drawn."""
    rgba = _material(node, materials)
    kind, sizes = read_geometry(node, "not drawn")
    if kind is Mesh:
        path = folders.locate(node, sizes["path"])
        reason = folders.missing(sizes["path"], path)
        if reason:
            message = f"mesh {sizes['path']!r} is not drawn: {reason}"
            node.note("dropped", message)
            return None
        sizes |= {"path": path, "optional": True}
    pose = read_origin(node)
    return None if kind is None else Visual(kind(rgba=rgba, **sizes), pose)


def read_geometry(
    node: Node, effect: str, allow_points: bool = False
) -> tuple[type[Shape] | None, dict[str, Any]]:
    """Return class and keyword arguments of the shape in <geometry>.

    An unsupported shape gives None and a note.

    Args:
        node: <visual> or <collision>.
        effect: its consequence, in words.
        allow_points: whether a sphere may have radius 0.

    Raises:
        UrdfError: no shape, several, or a size that is missing or negative.
    """
    geometry = node.need("geometry")
    known = {*SHAPES, *UNSUPPORTED_SHAPES}
    found = [child for child in geometry.every() if child.tag in known]
    if len(found) != 1:
        tags = [str(child.tag) for child in geometry.element] or ["nothing"]
        raise geometry.error(", ".join(tags), f"one of {', '.join(SHAPES)}")
    shape = found[0]
    if shape.tag in UNSUPPORTED_SHAPES:
        shape.note("dropped", f"{effect}: a shape of other programs")
        return None, {}
    kind = SHAPES[shape.tag]
    sizes = _read_sizes(shape, kind)
    if allow_points and kind is Sphere:
        return kind, sizes
    if any(np.any(value == 0.0) for key, value in sizes.items() if key != "path"):
        shape.note("dropped", f"{effect}: it has size zero")
        return None, {}
    return kind, sizes


def _read_sizes(node: Node, kind: type[Shape]) -> dict[str, Any]:
    """Return the sizes of a shape from the attributes of their names, the path from `filename`."""
    sizes: dict[str, Any] = {}
    for size in size_fields(kind):
        if size.name == "path":
            sizes["path"] = node.text("filename")
        elif size.type is float:
            sizes[size.name] = node.number(size.name, low=0.0)
        elif size.default is MISSING:
            sizes[size.name] = node.numbers(size.name, 3, low=0.0)
        else:  # a scale, which may mirror
            sizes[size.name] = node.numbers(size.name, 3, size.default)
    return sizes


def _material(node: Node, materials: dict[str, Color]) -> Color:
    """Return the colour of a visual: its own, the named one, or grey (with a note)."""
    found = node.children("material")
    if not found:
        return GREY
    material = found[0]
    for other in found[1:]:
        other.note("ignored", "a visual has one colour, that of its first <material>")
    color = _color(material)
    name = material.optional_text("name")
    if color is None and name in materials:
        return materials[name]
    if color is None:
        material.note("changed", "no colour of this name: drawn grey")
        return GREY
    return color


def _color(material: Node) -> Color | None:
    color = material.only("color")
    if color is None:
        return None
    rgba = color.numbers("rgba", 4)
    clipped = np.clip(rgba, 0.0, 1.0)
    if np.any(clipped != rgba):
        color.note("changed", f"rgba {rgba.tolist()} clipped to [0, 1]")
    return tuple(clipped.tolist())

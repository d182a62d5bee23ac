"""Collision shapes of links and their friction: <collision>, <contact> and <gazebo> elements."""

from dataclasses import replace
from typing import Any

import numpy as np

from vigym.mechanism.elements.shapes import Mesh, Sphere
from vigym.urdf.read.geometry import read_geometry, read_origin
from vigym.urdf.read.meshes import MeshFolders
from vigym.urdf.read.records import LARGEST_FRICTION, UrdfCollision, UrdfSurface
from vigym.urdf.read.xml import Node


def read_collisions(
    link: Node, surface: UrdfSurface, folders: MeshFolders
) -> tuple[UrdfCollision, ...]:
    """Return the collision shapes of a link; unsupported shapes become notes."""
    common = _read_contact(link)
    nodes = link.children("collision")
    found = [_read_collision(node, surface, common, folders) for node in nodes]
    return tuple(collision for collision in found if collision is not None)


def _read_collision(
    node: Node, surface: UrdfSurface, common: dict[str, Any], folders: MeshFolders
) -> UrdfCollision | None:
    """Return a shape with its own <contact>, or that `common` to all shapes of the link."""
    kind, sizes = read_geometry(node, "touches nothing", allow_points=True)
    pose = read_origin(node)
    if kind is None:
        return None
    if kind is Mesh:
        sizes["path"] = folders.locate(node, sizes["path"])
    touches = node.optional_text("touches")
    if touches and (touches != "ground" or kind is not Sphere):
        raise node.error(f"touches={touches!r} of a {kind.kind}", "'ground' of a sphere")
    values = _read_contact(node) or dict(common)
    if "direction" in values:
        values["direction"] = pose.rotation.T @ values["direction"]
    surface = replace(surface, **values)
    name = node.optional_text("name").strip()
    if touches or (kind is Sphere and sizes["radius"] == 0.0):
        return UrdfCollision(name, node.place, None, pose, surface, sizes["radius"])
    return UrdfCollision(name, node.place, kind(**sizes), pose, surface)


def _read_contact(node: Node) -> dict[str, Any]:
    """Return values of a `UrdfSurface` in the <contact> of a link or shape, in the link's frame."""
    contact = node.only("contact")
    if contact is None:
        return {}
    values: dict[str, Any] = {}
    lateral = contact.only("lateral_friction")
    if lateral is not None:
        along = _limit_friction(lateral, lateral.number("value", low=0.0))
        others = (lateral.number(name, along, 0.0) for name in ("across", "backward"))
        values["friction"] = (along, *(_limit_friction(lateral, each) for each in others))
        values["direction"] = lateral.numbers("direction", 3, (1.0, 0.0, 0.0))
    spinning = contact.only("spinning_friction")
    if spinning is not None:
        values["torsion"] = spinning.number("value", low=0.0)
    restitution = contact.only("restitution")
    if restitution is not None:
        values["restitution"] = restitution.number("value", low=0.0)
        if values["restitution"] > 1.0:
            found = f'value="{values["restitution"]:g}"'
            raise restitution.error(found, "a number in [0, 1]")
    return values


def _limit_friction(node: Node, friction: float) -> float:
    """Return a coefficient of friction, at most LARGEST_FRICTION; a note has a larger one."""
    if friction > LARGEST_FRICTION:
        holds = f"holds on slopes of {np.degrees(np.arctan(LARGEST_FRICTION)):.0f} degrees"
        node.note(
            "changed", f"friction {friction:g} is taken as {LARGEST_FRICTION:g}, which {holds}"
        )
    return min(friction, LARGEST_FRICTION)


def read_gazebo(robot: Node) -> dict[str, UrdfSurface]:
    """Return surfaces by link name, from <mu1>, <mu2>, <fdir1> of <gazebo reference> elements.

    Elements of one link complete each other; where several give a value, the last counts.
    """
    links = {link.get("name", "") for link in robot.element.findall("link")}
    values: dict[str, dict[str, Node]] = {}
    for block in robot.children("gazebo"):
        given = _gazebo_values(block)
        if not given:
            continue
        link = block.text("reference")
        if link not in links:
            block.note("ignored", f"friction of {link!r}, which is no link of this file")
            continue
        known = values.setdefault(link, {})
        for tag, node in given.items():
            if tag in known:
                known[tag].note("ignored", f"a later <gazebo> gives {tag} of link {link!r}")
            known[tag] = node
    return {link: surface_of(given) for link, given in values.items()}


def _gazebo_values(block: Node) -> dict[str, Node]:
    """Return the elements of a <gazebo> that have friction, by tag."""
    if block.element.find(".//surface/friction") is not None:
        block.note("ignored", "friction in <surface>: only <mu1>, <mu2> and <fdir1> are read")
    found = {tag: block.only(tag) for tag in ("mu1", "mu2", "fdir1")}
    return {tag: node for tag, node in found.items() if node is not None}


def surface_of(values: dict[str, Node]) -> UrdfSurface:
    """Return the surface that elements <mu1>, <mu2> and <fdir1> give, by their tags."""
    nodes = [values[tag] for tag in ("mu1", "mu2") if tag in values]
    given = [_limit_friction(node, float(node.content(low=0.0)[0])) for node in nodes]
    direction = values.get("fdir1")
    axis = np.zeros(3) if direction is None else direction.content(3)
    if direction is not None and not axis.any():
        direction.note("ignored", "0 0 0 is no direction")
    if not given:
        values["fdir1"].note("ignored", "a direction without mu1 and mu2")
        return UrdfSurface()
    if len(given) == 1:
        missing = "mu1" if "mu2" in values else "mu2"
        message = f"{missing} is not given: friction is the same in all directions"
        nodes[0].note("changed", message)
    elif given[0] != given[1] and not axis.any():
        found = f"mu1 {given[0]:g} and mu2 {given[1]:g} without fdir1"
        nodes[0].note("changed", f"{found}: mu1 is taken along x of the shapes")
    axis = axis if axis.any() else np.array([1.0, 0.0, 0.0])
    return UrdfSurface((given[0], given[-1]), direction=axis)

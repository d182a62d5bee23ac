"""<collision> and <contact> elements: by which shapes links touch, and with which friction."""

import numpy as np

from vigym.mechanism.elements.bodies import Note
from vigym.mechanism.elements.shapes import Mesh, Sphere
from vigym.urdf.read.geometry import read_geometry, read_origin
from vigym.urdf.read.meshes import first_file
from vigym.urdf.read.records import Surface, Touch
from vigym.urdf.read.report import ignored
from vigym.urdf.read.xml import Node


def read_collisions(link: Node, surface: Surface, report: list[Note]) -> tuple[Touch, ...]:
    """Return by which shapes a link touches; what is no shape here is reported."""
    surface = _read_contact(link, surface, report)
    found = [_read_collision(node, surface, report) for node in link.children("collision")]
    return tuple(touch for touch in found if touch is not None)


def _read_collision(node: Node, surface: Surface, report: list[Note]) -> Touch | None:
    report += ignored(node, {"origin", "geometry"})
    kind, values = read_geometry(node, report, "touches nothing", points=True)
    pose, name = read_origin(node), node.element.get("name", "").strip()
    if kind is Sphere and values["radius"] == 0.0:
        return Touch(name, node.place, None, pose, surface)
    if kind is Mesh:
        values["path"] = first_file(values["path"], node.path.parent)
    return None if kind is None else Touch(name, node.place, kind(**values), pose, surface)


def _read_contact(link: Node, surface: Surface, report: list[Note]) -> Surface:
    """Return the surface that <contact> describes; what it does not say is as in `surface`."""
    contact = link.only("contact")
    if contact is None:
        return surface
    report += ignored(contact, {"lateral_friction", "spinning_friction", "restitution"})
    values = {}
    for tag in ("lateral_friction", "spinning_friction", "restitution"):
        node = contact.only(tag)
        values[tag] = None if node is None else node.number("value", low=0.0)
    restitution = values["restitution"]
    if restitution is not None and restitution > 1.0:
        raise contact.need("restitution").error(f'value="{restitution:g}"', "a number in [0, 1]")
    lateral, spinning = values["lateral_friction"], values["spinning_friction"]
    return Surface(
        friction=surface.friction if lateral is None else (lateral, lateral),
        torsion=surface.torsion if spinning is None else spinning,
        restitution=surface.restitution if restitution is None else restitution,
        direction=surface.direction,
    )


def read_gazebo(robot: Node, report: list[Note]) -> dict[str, Surface]:
    """Return the surfaces that <gazebo reference> elements give links by <mu1>, <mu2> and <fdir1>."""
    surfaces = {}
    for node in robot.children("gazebo"):
        first, second, direction = (node.only(tag) for tag in ("mu1", "mu2", "fdir1"))
        if first is None and second is None:
            continue
        along, across = (None if mu is None else float(mu.content(low=0.0)[0]) for mu in (first, second))
        if along is None or across is None:
            message = f"mu{2 if across is None else 1} is not given: friction is the same in all directions"
            report.append(Note("changed", node.place, message))
        elif along != across and direction is None:
            message = f"mu1 {along:g} and mu2 {across:g} without fdir1: mu1 is taken along x of the shapes"
            report.append(Note("changed", node.place, message))
        axis = np.array([1.0, 0.0, 0.0]) if direction is None else direction.content(3)
        if direction is not None and not axis.any():
            raise direction.error("0 0 0", "a direction")
        along, across = across if along is None else along, along if across is None else across
        surfaces[node.text("reference")] = Surface((along or 0.0, across or 0.0), direction=axis)
    return surfaces

"""Visuals of a mechanism: surfaces of its shapes, and stand-ins for bodies without shapes."""

import math
import warnings
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vigym.mechanism.elements.bodies import WORLD, Body
from vigym.mechanism.elements.collisions import Collision
from vigym.mechanism.elements.ground.terrain import Terrain
from vigym.mechanism.elements.joints import Joint
from vigym.mechanism.elements.shapes import Mesh, Shape, Sphere
from vigym.mechanism.mechanism import Mechanism
from vigym.render.errors import RenderError
from vigym.render.scene.sides import side_surface, sides_of
from vigym.render.scene.surfaces import Surface, box, capsule, height_field, surface_of
from vigym.spatial import quaternion_from_z, rotation_matrix

Array = NDArray[np.float64]

PALETTE = np.array(
    [
        [0.27, 0.47, 0.68, 1.0],  # blue
        [0.93, 0.55, 0.21, 1.0],  # orange
        [0.34, 0.63, 0.40, 1.0],  # green
        [0.78, 0.31, 0.34, 1.0],  # red
        [0.55, 0.45, 0.68, 1.0],  # violet
        [0.25, 0.64, 0.66, 1.0],  # teal
    ]
)
TILE_COLOURS = np.array([[0.82, 0.83, 0.82, 1.0], [0.74, 0.76, 0.76, 1.0]])  # of a terrain
MOUNT = np.array([0.32, 0.35, 0.39, 1.0])
STICK, BALL = 0.06, 0.11  # radii of a stand-in for a body [typical links]
PIN, RAIL = 0.08, 0.03  # radii of a mount on the world [typical links]
NO_ROTATION = np.array([1.0, 0.0, 0.0, 0.0])


@dataclass(frozen=True, eq=False)
class Visual:
    """Surface fixed in a body.

    Attributes:
        body: index in `mech.bodies`; the number of bodies for the world.
        surface: triangles in the visual's own axes.
        position: origin in the body frame (3,) [m].
        orientation: quaternion (w, x, y, z), visual to body (4,).
        colour: red, green, blue, opacity (4,) in [0, 1].
        corners: corners of a bounding box along the visual's axes (8, 3) [m].
    """

    body: int
    surface: Surface
    position: Array
    orientation: Array
    colour: Array
    corners: Array


def build_visuals(mech: Mechanism) -> list[Visual]:
    """Return the visuals of `mech`.

    Raises:
        RenderError: a mesh file that cannot be read.
    """
    bodies = list(mech.bodies.values())
    anchors = {body.name: _anchors(mech, body) for body in bodies}
    link = _typical_link(bodies, list(anchors.values()))
    visuals = _from_shapes(mech, len(bodies), mech.world_shapes) or (
        _mounts(mech, link) + _from_sides(mech, WORLD, len(bodies), link, MOUNT)
    )
    for index, body in enumerate(bodies):
        collisions = [one for one in mech.collisions.values() if one.body == body.name]
        shapes = [shape for shape in map(_collision_shape, collisions) if shape is not None]
        drawn = _from_shapes(mech, index, body.shapes)
        if drawn:
            visuals += drawn
        elif shapes:
            visuals += _from_shapes(mech, index, shapes, PALETTE[index % len(PALETTE)])
        elif sides_of(mech, body.name):
            visuals += _from_sides(mech, body.name, index, link, PALETTE[index % len(PALETTE)])
        elif anchors[body.name].any():
            visuals += _stick_figure(index, anchors[body.name], link)
        elif body.mass:
            visuals.append(_inertia_box(index, body))
    return visuals


def terrain_visuals(terrain: Terrain, world: int, tile: float) -> list[Visual]:
    """Return the bright and the dark tiles of a terrain's first map.

    Args:
        terrain: of the ground.
        world: index of the world among the bodies.
        tile: edge of a tile [m], at least that of a cell.
    """
    assert terrain.origin is not None
    heights, size = terrain.heights[0], max(1, round(tile / terrain.cell))
    columns, rows = (np.arange(n - 1) for n in heights.shape)
    is_bright = (columns[:, None] // size + rows[None] // size) % 2 == 0
    surfaces = [
        height_field(heights, terrain.cell, terrain.origin, shown)
        for shown in (is_bright, ~is_bright)
    ]
    return [
        _visual(world, surface, np.zeros(3), NO_ROTATION, colour)
        for surface, colour in zip(surfaces, TILE_COLOURS, strict=True)
        if len(surface.vertices)
    ]


def _collision_shape(collision: Collision) -> Shape | None:
    """Return the shape of a collision, None for a bare point."""
    if collision.shape is not None or collision.radius == 0.0:
        return collision.shape
    return Sphere(radius=collision.radius, position=collision.position)


def _from_shapes(
    mech: Mechanism, index: int, shapes: Iterable[Shape], colour: Array | None = None
) -> list[Visual]:
    """Return shapes as visuals of a body, in the given `colour` (4,) or in their own.

    Meshes of a robot's file that cannot be read are left out, with a warning.
    """
    visuals = []
    for shape in shapes:
        rgba = np.asarray(shape.rgba if colour is None else colour)
        position, orientation = np.asarray(shape.position), np.asarray(shape.orientation)
        try:
            surface = surface_of(shape)
        except RenderError as error:
            if not (isinstance(shape, Mesh) and shape.optional):
                raise
            warnings.warn(f"{mech.name!r}: not drawn: {error}", stacklevel=2)
            continue
        visuals.append(_visual(index, surface, position, orientation, rgba))
    return visuals


def _from_sides(mech: Mechanism, body: str, index: int, link: float, colour: Array) -> list[Visual]:
    """Return the sides of curve and surface joints of a body as visuals."""
    return [
        _visual(index, side_surface(side, link), np.zeros(3), NO_ROTATION, colour)
        for side in sides_of(mech, body)
    ]


def _anchors(mech: Mechanism, body: Body) -> Array:
    """Return the anchors of the body's joints in its frame (n, 3) [m], without floating joints."""
    joints = [joint for joint in mech.joints.values() if joint.type != "floating"]
    ours = [joint.position for joint in joints if body.name in (joint.parent, joint.child)]
    offsets = np.array([position - body.position for position in ours]).reshape(-1, 3)
    anchors: Array = offsets @ rotation_matrix(body.orientation)
    return anchors


def _typical_link(bodies: list[Body], anchors: list[Array]) -> float:
    """Return the median over the bodies of the distance to the farthest joint [m].

    Without joints: the median radius of gyration; without bodies: 1.
    """
    lengths = [float(np.linalg.norm(points, axis=1).max()) for points in anchors if points.any()]
    radii = [math.sqrt(2.0) * body.gyration for body in bodies if body.mass]
    return float(np.median(lengths or radii or [1.0]))


def _stick_figure(index: int, anchors: Array, link: float) -> list[Visual]:
    """Return a ball at the centre of mass and a stick to every joint."""
    colour = PALETTE[index % len(PALETTE)]
    ball = capsule(BALL * link, 0.0)
    visuals = [_visual(index, ball, np.zeros(3), NO_ROTATION, colour)]
    for anchor in anchors:
        length = float(np.linalg.norm(anchor))
        if length > 0.0:
            stick = capsule(STICK * link, length)
            visuals.append(_visual(index, stick, anchor / 2, quaternion_from_z(anchor), colour))
    return visuals


def _inertia_box(index: int, body: Body) -> Visual:
    """Return the solid box that has the body's mass and inertia."""
    moments, axes = np.linalg.eigh(body.inertia)
    squares = 6.0 / body.mass * (moments.sum() - 2.0 * moments)
    largest = math.sqrt(squares.max())
    size = np.sqrt(np.maximum(squares, (0.02 * largest) ** 2))  # a flat or thin body stays visible
    axes[:, 0] *= np.linalg.det(axes)  # right-handed
    surface = box(size)
    rotated = Surface(surface.vertices @ axes.T, surface.normals @ axes.T, surface.triangles)
    return _visual(index, rotated, np.zeros(3), NO_ROTATION, PALETTE[index % len(PALETTE)])


def _mounts(mech: Mechanism, link: float) -> list[Visual]:
    """Return a pin for each hinge on the world, a rail for each slide along a line of the world."""
    world = len(mech.bodies)
    visuals = []
    for joint in mech.joints.values():
        if joint.parent != WORLD or len(joint.joint_type.translations) > 1:
            continue
        if joint.joint_type.translations:
            low, high = slide_range(joint, 4.0 * link)
            surface = capsule(RAIL * link, high - low)
            middle = joint.position + (low + high) / 2 * joint.axis
            visuals.append(_visual(world, surface, middle, quaternion_from_z(joint.axis), MOUNT))
        else:
            pin = capsule(PIN * link, 0.0)
            visuals.append(_visual(world, pin, joint.position, NO_ROTATION, MOUNT))
    return visuals


def slide_range(joint: Joint, unlimited: float) -> tuple[float, float]:
    """Return the range of a joint along its axis [m]; +-`unlimited` without finite limits."""
    if joint.limits is None or not np.isfinite(joint.limits[0]).all():
        return -unlimited, unlimited
    return float(joint.limits[0, 0]), float(joint.limits[0, 1])


def _visual(
    body: int, surface: Surface, position: Array, orientation: Array, colour: Array
) -> Visual:
    corners = _box_corners(surface.vertices.min(axis=0), surface.vertices.max(axis=0))
    return Visual(body, surface, position, orientation, colour, corners)


def _box_corners(low: Array, high: Array) -> Array:
    grid = np.meshgrid(*zip(low, high, strict=True), indexing="ij")
    return np.stack(grid, axis=-1).reshape(8, 3)

"""From a mechanism to the pieces that are drawn: its shapes, and stand-ins for bodies that have none."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vigym.mechanism.elements.bodies import WORLD, Body
from vigym.mechanism.elements.collisions import Collision
from vigym.mechanism.elements.joints import Joint
from vigym.mechanism.elements.shapes import Shape, Sphere
from vigym.mechanism.mechanism import Mechanism
from vigym.render.scene.meshes import mesh_bounds
from vigym.render.scene.surfaces import MeshFile, Surface, box, capsule, surface_of
from vigym.spatial import rotation_matrix, turning_z_to

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
MOUNT = np.array([0.32, 0.35, 0.39, 1.0])
STICK, BALL, PIN, RAIL = 0.06, 0.11, 0.08, 0.03  # radii of the stand-ins in units of a typical link


@dataclass(frozen=True, eq=False)
class Piece:
    """One surface fixed in a body.

    Attributes:
        body: index in `mech.bodies`; their number for the world.
        surface: triangles in the piece's own axes.
        position: origin in the body frame (3,) [m].
        orientation: quaternion (w, x, y, z), piece to body (4,).
        colour: red, green, blue, opacity (4,) in [0, 1].
        corners: of a box along its axes that holds the piece (8, 3) [m].
    """

    body: int
    surface: Surface | MeshFile
    position: Array
    orientation: Array
    colour: Array
    corners: Array


def pieces_of(mech: Mechanism) -> list[Piece]:
    """Return what is drawn of `mech`.

    Raises:
        RenderError: a mesh file that cannot be read.
    """
    bodies = list(mech.bodies.values())
    anchors = {body.name: _anchors(mech, body) for body in bodies}
    link = _typical_link(bodies, list(anchors.values()))
    world = _drawn(len(bodies), mech.world_shapes)
    pieces = world or _mounts(mech, link)
    for index, body in enumerate(bodies):
        touching = [_touching(collision) for collision in mech.collisions.values() if collision.body == body.name]
        solid = [shape for shape in touching if shape is not None]
        if body.shapes:
            pieces += _drawn(index, body.shapes)
        elif solid:
            pieces += _drawn(index, solid, PALETTE[index % len(PALETTE)])
        elif anchors[body.name].any():
            pieces += _stick_figure(index, anchors[body.name], link)
        else:
            pieces.append(_box_of_inertia(index, body))
    return pieces


def _touching(collision: Collision) -> Shape | None:
    """Return what a collision looks like, None for a bare point."""
    if collision.shape is not None or collision.radius == 0.0:
        return collision.shape
    return Sphere(radius=collision.radius, position=collision.position)


def _drawn(index: int, shapes: Iterable[Shape], stand_in: Array | None = None) -> list[Piece]:
    """Return shapes as pieces of a body, in the colour `stand_in` (4,) instead of their own where it is given."""
    pieces = []
    for shape in shapes:
        surface = surface_of(shape)
        look = shape.rgba if stand_in is None else stand_in
        place, turn, colour = (np.asarray(value) for value in (shape.position, shape.orientation, look))
        if isinstance(surface, MeshFile):
            pieces.append(Piece(index, surface, place, turn, colour, _box_corners(*mesh_bounds(surface))))
        else:
            pieces.append(_piece(index, surface, place, turn, colour))
    return pieces


def _anchors(mech: Mechanism, body: Body) -> Array:
    """Return the places of the body's joints in its own frame (n, 3) [m], free floating ones left out."""
    held = [joint for joint in mech.joints.values() if joint.type != "floating" and body.name in _ends(joint)]
    offsets = np.array([joint.position - body.position for joint in held]).reshape(-1, 3)
    turned: Array = offsets @ rotation_matrix(body.orientation)
    return turned


def _ends(joint: Joint) -> tuple[str, str]:
    return joint.parent, joint.child


def _typical_link(bodies: list[Body], anchors: list[Array]) -> float:
    """Return the median over the bodies of the distance to the farthest joint [m].

    Where none has any it is that of the radii of gyration; without bodies 1.
    """
    lengths = [float(np.linalg.norm(places, axis=1).max()) for places in anchors if places.any()]
    radii = [math.sqrt(np.trace(body.inertia) / body.mass) for body in bodies]
    return float(np.median(lengths or radii or [1.0]))


def _stick_figure(index: int, anchors: Array, link: float) -> list[Piece]:
    """Return a ball at the centre of mass and a stick to every joint."""
    colour = PALETTE[index % len(PALETTE)]
    pieces = [_piece(index, capsule(BALL * link, 0.0), np.zeros(3), turning_z_to(np.zeros(3)), colour)]
    for anchor in anchors:
        length = float(np.linalg.norm(anchor))
        if length > 0.0:
            pieces.append(_piece(index, capsule(STICK * link, length), anchor / 2, turning_z_to(anchor), colour))
    return pieces


def _box_of_inertia(index: int, body: Body) -> Piece:
    """Return the solid box that has the body's mass and inertia."""
    moments, axes = np.linalg.eigh(body.inertia)
    squares = 6.0 / body.mass * (moments.sum() - 2.0 * moments)
    largest = math.sqrt(squares.max())
    size = np.sqrt(np.maximum(squares, (0.02 * largest) ** 2))  # a flat or thin body stays visible
    axes[:, 0] *= np.linalg.det(axes)  # right-handed
    surface = box(size)
    turned = Surface(surface.vertices @ axes.T, surface.normals @ axes.T, surface.triangles)
    return _piece(index, turned, np.zeros(3), turning_z_to(np.zeros(3)), PALETTE[index % len(PALETTE)])


def _mounts(mech: Mechanism, link: float) -> list[Piece]:
    """Return a pin where a body hangs on the world, a rail where it slides along one line of the world."""
    world, pieces = len(mech.bodies), []
    for joint in mech.joints.values():
        if joint.parent != WORLD or len(joint.prototype.translations) > 1:
            continue
        if joint.prototype.translations:
            low, high = travel(joint, 4.0 * link)
            rail, middle = capsule(RAIL * link, high - low), joint.position + (low + high) / 2 * joint.axis
            pieces.append(_piece(world, rail, middle, turning_z_to(joint.axis), MOUNT))
        else:
            pieces.append(_piece(world, capsule(PIN * link, 0.0), joint.position, turning_z_to(np.zeros(3)), MOUNT))
    return pieces


def travel(joint: Joint, unlimited: float) -> tuple[float, float]:
    """Return how far a joint slides along its axis [m]: its limits, or +-`unlimited` where they are not finite."""
    if joint.limits is None or not np.isfinite(joint.limits[0]).all():
        return -unlimited, unlimited
    return float(joint.limits[0, 0]), float(joint.limits[0, 1])


def _piece(body: int, surface: Surface, position: Array, orientation: Array, colour: Array) -> Piece:
    low, high = surface.vertices.min(axis=0), surface.vertices.max(axis=0)
    return Piece(body, surface, position, orientation, colour, _box_corners(low, high))


def _box_corners(low: Array, high: Array) -> Array:
    return np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])

"""Triangle surfaces of shapes and mesh files."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.mesh import read_mesh
from vigym.mechanism.elements.shapes import Shape
from vigym.render.errors import RenderError

Array = NDArray[np.float64]

AROUND = 24  # segments of a circle
QUARTER = 6  # segments of a quarter circle from equator to pole
ROUND = 0.77  # cosine of the largest angle between a triangle of a mesh and a normal at its corner


@dataclass(frozen=True, eq=False)
class Surface:
    """Triangle surface.

    Attributes:
        vertices: (n, 3) [m].
        normals: unit vectors at the vertices (n, 3).
        triangles: indices of vertices (m, 3), counter-clockwise from outside.
        two_sided: whether it is drawn from inside, too: meshes of files may be open or turned.
    """

    vertices: Array
    normals: Array
    triangles: NDArray[np.int64]
    two_sided: bool = False


def surface_of(shape: Shape) -> Surface:
    """Return the surface of `shape` in the shape's own axes.

    Raises:
        TypeError: a kind of shape that cannot be drawn.
        RenderError: a mesh file that cannot be read, or without triangles.
    """
    if shape.kind not in SURFACES:
        raise TypeError(f"shape: found a {shape.kind}, expected {' or '.join(SURFACES)}")
    return SURFACES[shape.kind](shape)


# surface of a shape in its own axes, by its kind
SURFACES: dict[str, Callable[[Any], Surface]] = {
    "box": lambda shape: box(np.asarray(shape.size)),
    "sphere": lambda shape: capsule(shape.radius, 0.0),
    "cylinder": lambda shape: cylinder(shape.radius, shape.length),
    "capsule": lambda shape: capsule(shape.radius, shape.length),
    "mesh": lambda shape: mesh_surface(Path(shape.path), np.asarray(shape.scale)),
}


def quads(count: int) -> NDArray[np.int64]:
    """Return the triangles (2 count, 3) of separate quadrangles with 4 vertices each, in order."""
    corners = np.array([[0, 1, 2], [0, 2, 3]])
    triangles: NDArray[np.int64] = 4 * np.arange(count)[:, None, None] + corners
    return triangles.reshape(-1, 3)


def box(size: Array) -> Surface:
    """Return a box with edge lengths `size` (3,) [m] and flat faces."""
    corners = np.array([[1, -1, -1], [1, 1, -1], [1, 1, 1], [1, -1, 1]]) / 2.0
    faces, outward = [], []
    for axis in range(3):
        for sign in (1.0, -1.0):
            faces.append(np.roll(corners * [sign, sign, 1.0], axis, axis=1))
            outward.append(np.roll([sign, 0.0, 0.0], axis))
    return Surface(np.concatenate(faces) * size, np.repeat(outward, 4, axis=0), quads(6))


def cylinder(radius: float, length: float) -> Surface:
    """Return a cylinder about z with sharp rims, `radius` and `length` [m]."""
    side = _side(radius, length)
    low, high = side[0], side[-1]
    profile = np.concatenate(([[0.0, low[1]]], [low], side, [high], [[0.0, high[1]]]))
    counts = (2, len(side), 2)
    normals = np.repeat([[0.0, -1.0], [1.0, 0.0], [0.0, 1.0]], counts, axis=0)
    return _revolve(profile, normals)


def capsule(radius: float, length: float) -> Surface:
    """Return a capsule about z, `length` [m] between the centres of its ends; 0: a sphere."""
    angle = np.linspace(-math.pi / 2, 0.0, QUARTER + 1)[:-1]
    lower_cap = np.column_stack((np.cos(angle), np.sin(angle)))
    upper_cap = lower_cap[::-1] * [1.0, -1.0]
    side = _side(radius, length)
    bottom = radius * lower_cap + [0.0, -length / 2]
    top = radius * upper_cap + [0.0, length / 2]
    outward = np.repeat([[1.0, 0.0]], len(side), axis=0)
    normals = np.concatenate((lower_cap, outward, upper_cap))
    return _revolve(np.concatenate((bottom, side, top)), normals)


def height_field(heights: Array, cell: float, origin: Array, shown: NDArray[np.bool_]) -> Surface:
    """Return two flat triangles for each cell of a grid that is shown.

    Args:
        heights: (columns along x, rows along y) [m].
        cell: edge of a cell [m].
        origin: x and y of the first point (2,) [m].
        shown: (columns - 1, rows - 1) cells.
    """
    x, y = (start + cell * np.arange(n) for start, n in zip(origin, heights.shape, strict=True))
    grid = np.stack((*np.meshgrid(x, y, indexing="ij"), heights), axis=-1)
    a, b = grid[:-1, :-1], grid[1:, :-1]
    c, e = grid[:-1, 1:], grid[1:, 1:]
    cells = np.stack([np.stack(corners, -2) for corners in ((a, b, e), (a, e, c))], -3)
    corners = cells[shown].reshape(-1, 3, 3)
    p, q, r = corners.swapaxes(0, 1)
    normals = np.repeat(_unit(np.cross(q - p, r - p)), 3, axis=0)
    return Surface(corners.reshape(-1, 3), normals, np.arange(3 * len(corners)).reshape(-1, 3))


def mesh_surface(path: Path, scale: Array) -> Surface:
    """Return the surface in a mesh file, scaled by `scale` (3,).

    A corner of a triangle has the normal that the file gives it, or the mean over the triangles
    there, if this is nearly the triangle's own; at an edge it has the triangle's own.

    Raises:
        RenderError: a file that cannot be read, or without triangles.
    """
    try:
        mesh = read_mesh(path)
    except MechanismError as error:
        raise RenderError(str(error)) from error
    if not len(mesh.triangles):
        raise RenderError(f"mesh {path}: found no triangles, expected a surface")
    turned = mesh.triangles if np.prod(scale) > 0.0 else mesh.triangles[:, ::-1]  # a mirror image
    corners = mesh.vertices[turned] * scale
    a, b, c = corners.swapaxes(0, 1)
    flat = _unit(np.cross(b - a, c - a))[:, None]
    smooth = _unit(mesh.normals[turned] / scale)
    normals = np.where((smooth * flat).sum(axis=-1, keepdims=True) > ROUND, smooth, flat)
    index = np.arange(corners.size // 3).reshape(-1, 3)
    return Surface(corners.reshape(-1, 3), normals.reshape(-1, 3), index, two_sided=True)


def _unit(vectors: Array) -> Array:
    """Return vectors (..., 3) of length one; zero stays zero."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    unit: Array = vectors / np.where(lengths > 0.0, lengths, 1.0)
    return unit


def _side(radius: float, length: float) -> Array:
    """Return the (radius, z) points of a straight side (k, 2), one point if it has no length."""
    height = np.array([-length / 2, length / 2] if length > 0.0 else [0.0])
    return np.column_stack((np.full_like(height, radius), height))


def _revolve(profile: Array, normals: Array) -> Surface:
    """Return the surface of revolution about z of a profile (radius, z) (k, 2) and its normals."""
    angle = np.linspace(0.0, 2.0 * math.pi, AROUND + 1)
    circle = np.stack((np.cos(angle), np.sin(angle)), axis=-1)
    index = np.arange(len(profile) * (AROUND + 1)).reshape(len(profile), AROUND + 1)
    a, b = index[:-1, :-1], index[:-1, 1:]
    d, c = index[1:, :-1], index[1:, 1:]
    triangles = np.concatenate(
        [np.stack(corners, axis=-1).reshape(-1, 3) for corners in ((a, b, c), (a, c, d))]
    )
    return Surface(_sweep(profile, circle), _sweep(normals, circle), triangles)


def _sweep(profile: Array, circle: Array) -> Array:
    """Return the points ((k m), 3) of a profile (k, 2) at the directions of a circle (m, 2)."""
    flat = profile[:, None, 0:1] * circle
    height = np.broadcast_to(profile[:, None, 1:2], (*flat.shape[:2], 1))
    return np.concatenate((flat, height), axis=-1).reshape(-1, 3)

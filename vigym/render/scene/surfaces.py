"""Triangles of balls, boxes, cylinders and capsules: round where pybullet's own capsules are coarse."""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vigym.mechanism.elements.shapes import Box, Capsule, Cylinder, Mesh, Shape, Sphere

Array = NDArray[np.float64]

AROUND = 24  # corners of a circle
LENGTHWISE = 16  # most pieces of a straight side
QUARTER = 6  # arcs of a quarter circle from equator to pole


@dataclass(frozen=True, eq=False)
class Surface:
    """Triangle surface.

    Attributes:
        vertices: (n, 3) [m].
        normals: unit vectors at the vertices (n, 3).
        triangles: indices of vertices (m, 3), counter-clockwise from outside.
    """

    vertices: Array
    normals: Array
    triangles: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class MeshFile:
    """Surface that pybullet reads from `path` and scales by `scale` (3,)."""

    path: Path
    scale: Array


def surface_of(shape: Shape) -> Surface | MeshFile:
    """Return what is drawn for `shape`, in the shape's own axes.

    Raises:
        TypeError: a kind of shape that has no picture.
    """
    if isinstance(shape, Mesh):
        return MeshFile(Path(shape.path), np.asarray(shape.scale))
    if isinstance(shape, Box):
        return box(np.asarray(shape.size))
    if isinstance(shape, Sphere):
        return capsule(shape.radius, 0.0)
    if isinstance(shape, Capsule):
        return capsule(shape.radius, shape.length)
    if isinstance(shape, Cylinder):
        return cylinder(shape.radius, shape.length)
    raise TypeError(f"shape: found {type(shape).__name__}, expected Box, Sphere, Cylinder, Capsule or Mesh")


def box(size: Array) -> Surface:
    """Return a box with edge lengths `size` (3,) [m], flat faces."""
    corners = np.array([[1, -1, -1], [1, 1, -1], [1, 1, 1], [1, -1, 1]]) / 2.0
    faces = [np.roll(corners * [sign, sign, 1.0], axis, axis=1) for axis in range(3) for sign in (1.0, -1.0)]
    vertices = np.concatenate(faces)
    normals = np.repeat([np.roll([sign, 0.0, 0.0], axis) for axis in range(3) for sign in (1.0, -1.0)], 4, axis=0)
    triangles = (4 * np.arange(6)[:, None, None] + np.array([[0, 1, 2], [0, 2, 3]])).reshape(-1, 3)
    return Surface(vertices * size, normals, triangles)


def cylinder(radius: float, length: float) -> Surface:
    """Return a cylinder about z with sharp rims, `radius` and `length` [m]."""
    side = _side(radius, length)
    low, high = side[0], side[-1]
    profile = np.concatenate(([[0.0, low[1]]], [low], side, [high], [[0.0, high[1]]]))
    outward = np.repeat([[1.0, 0.0]], len(side), axis=0)
    normals = np.concatenate((np.repeat([[0.0, -1.0]], 2, axis=0), outward, np.repeat([[0.0, 1.0]], 2, axis=0)))
    return _turned(profile, normals)


def capsule(radius: float, length: float) -> Surface:
    """Return a capsule about z, `length` [m] between the centres of its end balls; length 0 is a ball."""
    angle = np.linspace(-math.pi / 2, 0.0, QUARTER + 1)[:-1]
    cap = np.column_stack((np.cos(angle), np.sin(angle)))
    side = _side(radius, length)
    bottom, top = radius * cap + [0.0, -length / 2], radius * cap[::-1] * [1.0, -1.0] + [0.0, length / 2]
    outward = np.repeat([[1.0, 0.0]], len(side), axis=0)
    return _turned(np.concatenate((bottom, side, top)), np.concatenate((cap, outward, cap[::-1] * [1.0, -1.0])))


def _side(radius: float, length: float) -> Array:
    """Return the (radius, z) points of a straight side (k, 2).

    The rasteriser visits every pixel of a triangle's bounding box: one long sliver across the picture costs more than
    the many short ones it is cut into.
    """
    pieces = int(np.clip(length / (2.0 * radius), 1, LENGTHWISE)) if length > 0.0 else 0
    height = np.linspace(-length / 2, length / 2, pieces + 1)
    return np.column_stack((np.full_like(height, radius), height))


def _turned(profile: Array, normals: Array) -> Surface:
    """Turn a profile of (radius, z) points (k, 2) with normals (k, 2), from bottom to top, about z."""
    angle = np.linspace(0.0, 2.0 * math.pi, AROUND + 1)
    circle = np.stack((np.cos(angle), np.sin(angle)), axis=-1)
    index = np.arange(len(profile) * (AROUND + 1)).reshape(len(profile), AROUND + 1)
    a, b, c, d = index[:-1, :-1], index[:-1, 1:], index[1:, 1:], index[1:, :-1]
    triangles = np.concatenate([np.stack(corners, axis=-1).reshape(-1, 3) for corners in ((a, b, c), (a, c, d))])
    return Surface(_swept(profile, circle), _swept(normals, circle), triangles)


def _swept(profile: Array, circle: Array) -> Array:
    flat = profile[:, None, 0:1] * circle
    height = np.broadcast_to(profile[:, None, 1:2], (*flat.shape[:2], 1))
    return np.concatenate((flat, height), axis=-1).reshape(-1, 3)

"""Bodies on terrain, and how far a ball is from it, measured triangle by triangle."""

from __future__ import annotations

import numpy as np

from vigym import Mechanism, Terrain
from vigym.mechanism.elements.shapes import Box, Capsule, Cylinder, Sphere

SHAPES = {
    "ball": Sphere(radius=0.05),
    "capsule": Capsule(radius=0.03, length=0.2),
    "box": Box(size=(0.1, 0.15, 0.2)),
    "cylinder": Cylinder(radius=0.06, length=0.05),
}


def thrown(shape, ground, height=0.3, friction=0.5, **options):
    """One kilogram above the origin."""
    mech = Mechanism(ground=ground)
    mech.add_body("body", 1.0, (0.002, 0.003, 0.004), (0.0, 0.0, height))
    mech.add_collision("body", "body", SHAPES[shape], friction, **options)
    return mech


def flat(cell=0.25):
    """The plane z = 0 as heights."""
    return Terrain(np.zeros((9, 9)), cell)


def along_x(heights, cell):
    """Terrain whose heights depend on x alone."""
    return Terrain(np.repeat(np.asarray(heights, float)[:, None], 41, axis=1), cell)


def triangles(terrain, number=0):
    """Corners (n, 3, 3) of all triangles [m]."""
    heights = terrain.heights[number]
    i, j = np.meshgrid(*map(np.arange, heights.shape), indexing="ij")
    place = np.stack((i, j), axis=-1) * terrain.cell + terrain.origin
    grid = np.concatenate((place, heights[..., None]), axis=-1)
    a, b = grid[:-1, :-1], grid[1:, :-1]
    c, e = grid[:-1, 1:], grid[1:, 1:]
    return np.concatenate([np.stack(t, -2).reshape(-1, 3, 3) for t in ((a, b, e), (a, e, c))])


def distance(point, corners):
    """Distance of a point (3,) from the nearest of triangles (n, 3, 3) [m]."""
    a, b, c = corners.swapaxes(0, 1)
    normals = np.cross(b - a, c - a)
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    height = ((point - a) * normals).sum(1)
    foot = point - height[:, None] * normals
    inside = np.ones(len(a), bool)
    edges = []
    for p, q in ((a, b), (b, c), (c, a)):
        inside &= (np.cross(q - p, foot - p) * normals).sum(1) >= 0.0
        part = np.clip(((point - p) * (q - p)).sum(1) / ((q - p) ** 2).sum(1), 0.0, 1.0)
        edges.append(np.linalg.norm(point - p - part[:, None] * (q - p), axis=1))
    return min(np.abs(height[inside]).min(initial=np.inf), np.min(edges))

"""Surfaces of the sides of curve and surface joints: tubes along curves, spheres, patches."""

import math

import numpy as np
from numpy.typing import NDArray

from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.tracks.curves import Helix
from vigym.mechanism.tracks.sides import Side
from vigym.mechanism.tracks.surfaces import Ellipsoid
from vigym.render.scene.surfaces import AROUND, Surface, capsule

Array = NDArray[np.float64]

ALONG = 96  # segments along a curve
THIN = 0.02  # radius of a curve without a tube [typical links]


def sides_of(mech: Mechanism, body: str) -> list[Side]:
    """Return the sides of curve and surface joints that are fixed in a body, equal ones once."""
    found: dict[bytes, Side] = {}
    for track in mech.tracks.values():
        for name, side in ((track.a, track.side_a), (track.b, track.side_b)):
            drawn = side.kind != "coordinates" and (side.dimensions or side.offset)
            if name == body and drawn:
                numbers = side.sizes, side.position, side.rotation, side.points, [side.offset]
                found[b"".join(np.asarray(part).tobytes() for part in numbers)] = side
    return list(found.values())


def side_surface(side: Side, link: float) -> Surface:
    """Return the surface of a side in the body frame.

    Args:
        side: curve or surface.
        link: typical length of the mechanism's bodies [m].
    """
    if side.dimensions == 1:
        return tube(side, side.offset or THIN * link)
    if isinstance(side, Ellipsoid):
        return _placed(capsule(1.0, 0.0), side, side.sizes)
    if side.dimensions == 0:
        return _placed(capsule(side.offset, 0.0), side, np.ones(3))
    n = math.isqrt(len(side.samples()[0]))
    grid = side.samples()[1].reshape(n, n, 3)
    return _grid(grid, np.cross(np.gradient(grid, axis=0), np.gradient(grid, axis=1)), True)


def tube(side: Side, radius: float) -> Surface:
    """Return a tube of a radius [m] around a curve, in the body frame."""
    low, high = side.span
    if isinstance(side, Helix) and side.sizes[1] == 0.0:
        low, high = -math.pi, math.pi  # all of a circle
    places = np.linspace(low, high, ALONG + 1)[:, None] * [1.0, 0.0, 0.0]
    middle = side.in_body(places)
    tangents = _unit(np.gradient(middle, axis=0))
    if np.allclose(middle[0], middle[-1]):
        tangents[[0, -1]] = _unit(middle[1] - middle[-2])
    across = np.empty_like(middle)
    across[0] = np.eye(3)[np.abs(tangents[0]).argmin()]
    for k in range(len(middle)):  # along the curve, with as little twist as there can be
        start = across[max(k - 1, 0)]
        across[k] = _unit(start - (start @ tangents[k]) * tangents[k])
    angle = np.linspace(0.0, 2.0 * math.pi, AROUND + 1)[:, None]
    normals = np.cos(angle) * across[:, None] - np.sin(angle) * np.cross(tangents, across)[:, None]
    return _grid(middle[:, None] + radius * normals, normals, False)


def _placed(surface: Surface, side: Side, sizes: Array) -> Surface:
    """Return a surface with its axes scaled, in the body frame."""
    vertices = side.position + (surface.vertices * sizes) @ side.rotation.T
    normals = _unit(surface.normals / sizes) @ side.rotation.T
    return Surface(vertices, normals, surface.triangles)


def _grid(points: Array, normals: Array, two_sided: bool) -> Surface:
    """Return the surface of a grid of points (n, m, 3) with normals of any length."""
    n, m, _ = points.shape
    index = np.arange(n * m).reshape(n, m)
    a, b = index[:-1, :-1], index[1:, :-1]
    c, e = index[1:, 1:], index[:-1, 1:]
    triangles = np.concatenate(
        [np.stack(corners, axis=-1).reshape(-1, 3) for corners in ((a, b, c), (a, c, e))]
    )
    return Surface(
        points.reshape(-1, 3), _unit(normals).reshape(-1, 3), triangles, two_sided=two_sided
    )


def _unit(vectors: Array) -> Array:
    """Return vectors (..., 3) of length one."""
    unit: Array = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    return unit

"""Corners of the convex hull of a cloud of points: quickhull, the farthest point first."""

import numpy as np
from numpy.typing import NDArray

from vigym.mechanism.check import Array

FLAT = 4e-7  # of the cloud's size: points that little outside a face are on it; files with 7 digits are off by 1e-7
SEEN, TIE = FLAT / 2.0, FLAT / 4.0  # so that a face below a corner is seen from all that tie with it

Faces = NDArray[np.int64]


def hull_corners(points: Array, most: int) -> tuple[Array, float]:
    """Return the corners of the convex hull, at most `most`, and how far points lie outside when these are not all.

    Args:
        points: (n, 3) [m]; may lie in a plane or on a line.
        most: the corners that widen the hull most are kept.

    Returns:
        (k, 3) points of the cloud; and the largest distance of a point from the planes of the hull of these [m],
        0 with all corners.
    """
    cloud = np.unique(points, axis=0)
    middle = (cloud.min(axis=0) + cloud.max(axis=0)) / 2.0
    size = float(np.abs(cloud - middle).max())
    if size == 0.0:
        return cloud, 0.0
    scaled, count = (cloud - middle) / size, len(cloud)
    used, left = _quickhull(np.concatenate([scaled, _thicken(scaled)]), count, most)
    return cloud[used], left * size


def _thicken(points: Array) -> Array:
    """Points on both sides of a flat cloud: with them it has a volume, and they hide none of its corners."""
    center = points.mean(axis=0)
    squares, directions = np.linalg.eigh((points - center).T @ (points - center))
    flat = directions.T[squares <= FLAT**2 * squares[2]]
    return np.concatenate([center + flat, center - flat])


def _extreme(points: Array, values: Array) -> int:
    """Index of a corner of the hull where `values`, convex over the cloud, are largest: of several, the outermost."""
    ties = np.flatnonzero(values >= values.max() - TIE)
    return int(ties[np.argmax(np.linalg.norm(points[ties], axis=1))])


def _quickhull(points: Array, count: int, most: int) -> tuple[NDArray[np.int64], float]:
    """Indices of the corners among the first `count` points, and the largest height that is left."""
    faces = _simplex(points)
    normals, offsets = _planes(points, faces)
    owners, heights = _assign(points, np.arange(len(points)), normals, offsets)
    while True:
        corners = np.unique(faces)
        highest = int(np.argmax(heights))
        real = corners[corners < count]
        if heights[highest] <= FLAT or len(real) >= most:
            return real, float(heights[highest]) if heights[highest] > FLAT else 0.0
        top = _extreme(points, points @ normals[owners[highest]])
        seen = normals @ points[top] - offsets > SEEN
        fresh = np.array([[a, b, top] for a, b in _horizon(faces[seen])])
        new_normals, new_offsets = _planes(points, fresh)
        orphans = np.flatnonzero(seen[owners])
        kept = np.cumsum(~seen) - 1  # number that a face has afterwards
        new_owners, heights[orphans] = _assign(points, orphans, new_normals, new_offsets)
        owners = kept[owners]
        owners[orphans] = new_owners + int((~seen).sum())
        faces = np.concatenate([faces[~seen], fresh])
        normals = np.concatenate([normals[~seen], new_normals])
        offsets = np.concatenate([offsets[~seen], new_offsets])


def _simplex(points: Array) -> Faces:
    """Faces (4, 3) of a large tetrahedron, counter-clockwise seen from outside."""
    a = _extreme(points, points @ np.array([0.6, 0.48, 0.64]))
    b = _extreme(points, np.linalg.norm(points - points[a], axis=1))
    along = (points[b] - points[a]) / np.linalg.norm(points[b] - points[a])
    c = _extreme(points, np.linalg.norm(np.cross(points - points[a], along), axis=1))
    normal = np.cross(points[b] - points[a], points[c] - points[a])
    heights = (points - points[a]) @ (normal / np.linalg.norm(normal))
    d = _extreme(points, np.abs(heights))
    if heights[d] > 0.0:
        b, c = c, b
    return np.array([[a, b, c], [a, d, b], [b, d, c], [c, d, a]])


def _planes(points: Array, faces: Faces) -> tuple[Array, Array]:
    """Outward unit normals (m, 3) and distances from the origin (m,)."""
    a, b, c = points[faces[:, 0]], points[faces[:, 1]], points[faces[:, 2]]
    normals = np.cross(b - a, c - a)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return normals, np.sum(normals * a, axis=1)


def _assign(points: Array, chosen: NDArray[np.int64], normals: Array, offsets: Array) -> tuple[Faces, Array]:
    """The face that each chosen point is farthest above, and how far."""
    heights = points[chosen] @ normals.T - offsets
    owners = heights.argmax(axis=1)
    return owners, heights[np.arange(len(chosen)), owners]


def _horizon(faces: Faces) -> list[tuple[int, int]]:
    """Edges of the faces that can be seen whose other face cannot; their direction is that of the seen face."""
    edges = {(int(face[i]), int(face[(i + 1) % 3])) for face in faces for i in range(3)}
    return sorted(edge for edge in edges if edge[::-1] not in edges)

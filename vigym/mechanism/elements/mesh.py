"""Vertices of mesh files (OBJ, and STL as text or binary), and the corners of the convex hull of a cloud of points.

The hull is found by quickhull, the farthest point first. The points are shaken by less than the tolerance first: then
no four lie in a plane, every sign is certain, and the faces always make a closed, convex body.
"""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.errors import MechanismError

_HEAD, _TRIANGLE = 84, 50  # bytes of binary STL
_STL_VERTEX = re.compile(rb"^\s*vertex\s+(\S+)\s+(\S+)\s+(\S+)\s*$", re.MULTILINE)
FLAT = 2e-6  # of the cloud's size: points that little outside a face are on it
SHAKEN, _EXACT = FLAT / 4.0, 1e-9
_ATTEMPTS = 10
Indices = NDArray[np.int64]


def read_vertices(path: Path) -> Array:
    """Return the vertices of a mesh file (n, 3), in the file's own unit and axes.

    Raises:
        MechanismError: no such file, another format, or no mesh in it; names the file.
    """
    read = _READERS.get(path.suffix.lower())
    if read is None:
        formats = " or ".join(_READERS)
        raise MechanismError(f"mesh {path}: found the format {path.suffix!r}, expected {formats}")
    try:
        vertices = read(path.read_bytes())
    except OSError as error:
        raise MechanismError(f"mesh {path}: found no readable file ({error.strerror}), expected a mesh") from error
    except ValueError as error:
        raise MechanismError(f"mesh {path}: found numbers that cannot be read ({error}), expected a mesh") from error
    if len(vertices) == 0:
        raise MechanismError(f"mesh {path}: found no vertices, expected a mesh")
    if not np.isfinite(vertices).all():
        raise MechanismError(f"mesh {path}: found vertices that are not finite, expected a mesh")
    return vertices


def _read_obj(data: bytes) -> Array:
    """The vertices that faces name; without faces all."""
    vertices: list[list[float]] = []
    used: set[int] = set()
    for line in data.splitlines():
        words = line.split()
        if words[:1] == [b"v"]:
            vertices.append([float(word) for word in words[1:4]])
            if len(vertices[-1]) != 3:
                raise ValueError(line[:60].decode(errors="replace"))
        elif words[:1] == [b"f"]:
            corners = [int(word.split(b"/")[0]) for word in words[1:]]
            used.update(corner - 1 if corner > 0 else len(vertices) + corner for corner in corners)
    if used and not 0 <= min(used) <= max(used) < len(vertices):
        raise ValueError(f"a face of other vertices than the {len(vertices)} there are")
    return np.array([vertices[i] for i in sorted(used)] if used else vertices).reshape(-1, 3)


def _read_stl(data: bytes) -> Array:
    if data[:5] == b"solid" and b"facet" in data[:1000]:
        found = [[float(word) for word in words] for words in _STL_VERTEX.findall(data)]
        return np.array(found).reshape(-1, 3)
    count = int.from_bytes(data[_HEAD - 4 : _HEAD], "little")
    if len(data) < _HEAD or len(data) != _HEAD + _TRIANGLE * count:
        raise ValueError(f"{len(data)} bytes that are neither text nor binary STL")
    record = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    triangles = np.frombuffer(data, record, count, _HEAD)
    return triangles["corners"].reshape(-1, 3).astype(np.float64)


_READERS: dict[str, Callable[[bytes], Array]] = {".obj": _read_obj, ".stl": _read_stl}


def hull_corners(points: Array, most: int) -> tuple[Array, float]:
    """Return the corners of the convex hull, at most `most`, and how far points lie outside when these are not all.

    Args:
        points: (n, 3) [m]; may lie in a plane or on a line.
        most: the corners that widen the hull most are kept.

    Returns:
        (k, 3) points of the cloud; and the largest distance of a point from the planes of the hull of these [m],
        0 with all corners.

    Raises:
        MechanismError: no hull is found.
    """
    cloud = np.unique(points, axis=0)
    middle = (cloud.min(axis=0) + cloud.max(axis=0)) / 2.0
    size = float(np.abs(cloud - middle).max())
    if size == 0.0:
        return cloud, 0.0
    scaled = (cloud - middle) / size
    solid = np.concatenate([scaled, _thicken(scaled)])
    for attempt in range(_ATTEMPTS):
        shaken = solid + np.random.default_rng(attempt).uniform(-SHAKEN, SHAKEN, solid.shape)
        faces = _quickhull(shaken, len(cloud), most)
        normals, offsets = _planes(shaken, faces)
        corners = np.unique(faces)
        closed = len(faces) == 2 * len(corners) - 4
        if closed and (shaken[corners] @ normals.T - offsets).max() < _EXACT:
            left = max(
                float((shaken[: len(cloud)] @ normal).max() - offset)
                for normal, offset in zip(normals, offsets, strict=True)
            )
            return cloud[corners[corners < len(cloud)]], left * size if left > FLAT else 0.0
    raise MechanismError(f"found {len(cloud)} points without a convex hull, expected a solid or flat mesh")


def _thicken(points: Array) -> Array:
    """Points on both sides of a flat cloud: with them it has a volume, and they hide none of its corners."""
    center = points.mean(axis=0)
    squares, directions = np.linalg.eigh((points - center).T @ (points - center))
    flat = directions.T[squares <= FLAT**2 * squares[2]]
    return np.concatenate([center + flat, center - flat])


def _quickhull(points: Array, count: int, most: int) -> Indices:
    """Faces (m, 3) of the hull, counter-clockwise from outside; at most `most` corners are of the first `count`."""
    faces = _simplex(points)
    normals, offsets = _planes(points, faces)
    owners, heights = _assign(points, np.arange(len(points)), normals, offsets)
    while True:
        corners = np.unique(faces)
        heights[corners] = 0.0
        highest = int(np.argmax(heights))
        if heights[highest] <= FLAT or np.sum(corners < count) >= most:
            return faces
        top = _extreme(points, points @ normals[owners[highest]])
        seen = normals @ points[top] - offsets > 0.0
        fresh = np.array([[a, b, top] for a, b in _horizon(faces[seen])])
        new_normals, new_offsets = _planes(points, fresh)
        orphans = np.flatnonzero(seen[owners])
        new_owners, heights[orphans] = _assign(points, orphans, new_normals, new_offsets)
        owners = (np.cumsum(~seen) - 1)[owners]  # numbers of the faces that stay
        owners[orphans] = new_owners + np.sum(~seen)
        faces = np.concatenate([faces[~seen], fresh])
        normals = np.concatenate([normals[~seen], new_normals])
        offsets = np.concatenate([offsets[~seen], new_offsets])


def _extreme(points: Array, values: Array) -> int:
    """Index of a corner of the hull where `values`, convex over the cloud, are largest: of several, the outermost."""
    ties = np.flatnonzero(values >= values.max() - FLAT)
    return int(ties[np.argmax(np.linalg.norm(points[ties], axis=1))])


def _simplex(points: Array) -> Indices:
    """Faces (4, 3) of a large tetrahedron, counter-clockwise from outside."""
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


def _planes(points: Array, faces: Indices) -> tuple[Array, Array]:
    """Outward unit normals (m, 3) and distances from the origin (m,)."""
    a, b, c = points[faces[:, 0]], points[faces[:, 1]], points[faces[:, 2]]
    normals = np.cross(b - a, c - a)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return normals, np.sum(normals * a, axis=1)


def _assign(points: Array, chosen: Indices, normals: Array, offsets: Array) -> tuple[Indices, Array]:
    """The face that each chosen point is farthest above, and how far."""
    heights = points[chosen] @ normals.T - offsets
    owners = heights.argmax(axis=1)
    return owners, heights[np.arange(len(chosen)), owners]


def _horizon(faces: Indices) -> list[tuple[int, int]]:
    """Edges of the faces that are seen whose other face is not; they run as the seen face does."""
    edges = {(int(face[i]), int(face[(i + 1) % 3])) for face in faces for i in range(3)}
    return sorted(edge for edge in edges if edge[::-1] not in edges)

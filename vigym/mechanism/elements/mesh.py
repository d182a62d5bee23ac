"""Mesh files, read by trimesh, and convex hulls of point clouds.

The hull is found by quickhull, the farthest point first. The points are displaced at random by less
than the tolerance first: then no four lie in a plane, every sign is certain, and the faces always
make a closed, convex body.
"""

import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from vigym.files import MOST_BYTES, check_xml, parse_object, read_file
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.errors import MechanismError

FORMATS = (".obj", ".stl", ".dae", ".ply", ".glb")  # formats that trimesh reads and robots use
FLAT = 2e-6  # of the cloud's size: points at most so far outside a face are on it
_DISPLACED = FLAT / 4.0  # largest random displacement
_EXACT = 1e-9  # largest distance of a corner outside a face
_ATTEMPTS = 10
_MOST_BYTES = 1 << 27  # of a file; trimesh takes up to twenty times as much memory
_VERTEX = 24  # bytes in memory
_ELEMENT, _LETTER = 200, 4  # of XML: at least so many bytes in memory
_MOST_QUOTED = 200  # characters of an error of trimesh
Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TriangleMesh:
    """Content of a mesh file, in its own axes.

    Attributes:
        vertices: (n, 3) in metres if the file names its unit, else in the file's unit.
        normals: unit vectors at the vertices (n, 3), the file's own if it has some; else means over
            the triangles there.
        triangles: indices of vertices (m, 3); none in a file of points.
    """

    vertices: Array
    normals: Array
    triangles: Indices


def read_mesh(path: Path) -> TriangleMesh:
    """Return the content of a mesh file: OBJ, STL, Collada (DAE), PLY or glTF (GLB).

    Vertices that no face uses are left out, unless there are no faces. The scenes of Collada and
    glTF become one mesh; the up axis of Collada is ignored, as in ROS. Colours and textures are not
    read.

    Raises:
        MechanismError: no such file, another format, or no mesh in it; names the file.
    """
    kind = path.suffix.lower()
    if kind not in FORMATS:
        raise MechanismError(
            f"mesh {path}: found the format {path.suffix!r}, expected {' or '.join(FORMATS)}"
        )
    data = read_file(path, "a mesh", "mesh", _MOST_BYTES, MechanismError)
    try:
        mesh = _load(data, kind[1:], f"mesh {path}")
    except MechanismError:
        raise
    except Exception as error:  # each of trimesh's readers has errors of its own
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:_MOST_QUOTED]
        raise MechanismError(
            f"mesh {path}: found a file that trimesh cannot read ({reason}), expected a mesh"
        ) from error
    if len(mesh.vertices) == 0:
        raise MechanismError(f"mesh {path}: found no vertices, expected a mesh")
    if mesh.vertices.shape[1:] != (3,):
        found = f"vertices of {mesh.vertices.shape[-1]} numbers"
        raise MechanismError(f"mesh {path}: found {found}, expected 3")
    if not np.isfinite(mesh.vertices).all():
        raise MechanismError(f"mesh {path}: found vertices that are not finite, expected a mesh")
    return mesh


def _load(data: bytes, kind: str, place: str) -> TriangleMesh:
    """Return the mesh that trimesh reads from the bytes of a file; its errors are of many types."""
    import trimesh  # only with the first mesh

    if kind in _UNPACKED:
        _check_size(_UNPACKED[kind](data, place), place)
    # bytes, in place of a file, let trimesh read no others
    loaded: Any = trimesh.load(BytesIO(data), file_type=kind, process=False, skip_materials=True)
    unit = loaded.units if kind == "dae" else None
    if isinstance(loaded, trimesh.Scene):
        shapes = [loaded.geometry[loaded.graph[node][1]] for node in loaded.graph.nodes_geometry]
        _check_size(_VERTEX * sum(len(one.vertices) for one in shapes), place)
        loaded = loaded.to_mesh()
    vertices = np.array(loaded.vertices, dtype=np.float64)
    if unit is not None:
        vertices *= trimesh.units.unit_conversion(unit, "meters")
    if isinstance(loaded, trimesh.PointCloud):
        return TriangleMesh(vertices, np.zeros_like(vertices), np.zeros((0, 3), dtype=np.int64))
    return TriangleMesh(vertices, np.array(loaded.vertex_normals), np.array(loaded.faces))


def _collada_size(data: bytes, place: str) -> int:
    """Return the size in memory of a Collada file [bytes], copies of its nodes and shapes included.

    Raises:
        MechanismError: the file is a zip archive, or `check_xml` refuses its XML.
    """
    if zipfile.is_zipfile(BytesIO(data)):
        raise MechanismError(f"{place}: found a zip archive, expected the .dae file in it")
    check_xml(data, place, MechanismError)
    root = ElementTree.fromstring(data)
    named = {f"#{element.get('id')}": element for element in root.iter()}

    @cache
    def size(element: ElementTree.Element) -> int:
        inside = sum(size(child) for child in element)
        is_copy = element.tag.rpartition("}")[2] in ("instance_node", "instance_geometry")
        copied = named.get(element.get("url", "")) if is_copy else None
        own = _ELEMENT + _LETTER * len(element.text or "")
        return own + inside + (0 if copied is None else size(copied))

    found: int = size(root)
    return found


def _glb_size(data: bytes, place: str) -> int:
    """Return the size of the arrays that a glTF file lists and uses [bytes].

    Raises:
        MechanismError: no list, or one that is not as of glTF.
    """
    length = int.from_bytes(data[12:16], "little")
    try:
        head = parse_object(data[20 : 20 + length], place, "the list of a glTF file")
        counts = [abs(int(one["count"])) for one in head.get("accessors", [])]
        parts = [part for mesh in head.get("meshes", []) for part in mesh["primitives"]]
        used = [number for part in parts for number in part["attributes"].values()]
        used += [part["indices"] for part in parts if "indices" in part]
        listed: int = sum(counts) + sum(counts[number] for number in used)
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError) as error:
        raise MechanismError(f"{place}: found a damaged list ({error}), expected glTF") from error
    return _VERTEX * listed


# format whose files refer to what is in them, perhaps many times: size of what is read then
_UNPACKED: dict[str, Callable[[bytes, str], int]] = {"dae": _collada_size, "glb": _glb_size}


def _check_size(size: int, place: str) -> None:
    """Raise MechanismError for a mesh that would fill the memory."""
    if size > MOST_BYTES:
        raise MechanismError(f"{place}: found {size} bytes unpacked, expected up to {MOST_BYTES}")


def hull_corners(points: Array, max_corners: int) -> tuple[Array, float]:
    """Return the corners of the convex hull of points, at most `max_corners` of them.

    Args:
        points: (n, 3) [m]; may lie in a plane or on a line.
        max_corners: the corners that widen the hull most are kept.

    Returns:
        (k, 3) points of the cloud, and the largest distance of a point outside their hull [m], 0
        with all corners.

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
        displaced = solid + np.random.default_rng(attempt).uniform(
            -_DISPLACED, _DISPLACED, solid.shape
        )
        faces = _quickhull(displaced, len(cloud), max_corners)
        normals, offsets = _planes(displaced, faces)
        corners = np.unique(faces)
        closed = len(faces) == 2 * len(corners) - 4
        if closed and (displaced[corners] @ normals.T - offsets).max() < _EXACT:
            left = max(
                float((displaced[: len(cloud)] @ normal).max() - offset)
                for normal, offset in zip(normals, offsets, strict=True)
            )
            return cloud[corners[corners < len(cloud)]], left * size if left > FLAT else 0.0
    raise MechanismError(
        f"found {len(cloud)} points without a convex hull, expected a solid or flat mesh"
    )


def _thicken(points: Array) -> Array:
    """Return a flat point cloud with points added on both sides, so that its hull has a volume."""
    center = points.mean(axis=0)
    squares, directions = np.linalg.eigh((points - center).T @ (points - center))
    flat = directions.T[squares <= FLAT**2 * squares[2]]
    return np.concatenate([center + flat, center - flat])


def _quickhull(points: Array, count: int, max_corners: int) -> Indices:
    """Return faces (m, 3) of the hull, counter-clockwise from outside.

    At most `max_corners` of their corners are among the first `count` points.
    """
    faces = _initial_tetrahedron(points)
    normals, offsets = _planes(points, faces)
    owners, heights = _assign(points, np.arange(len(points)), normals, offsets)
    while True:
        corners = np.unique(faces)
        heights[corners] = 0.0
        highest = int(np.argmax(heights))
        if heights[highest] <= FLAT or np.sum(corners < count) >= max_corners:
            return faces
        top = _extreme(points, points @ normals[owners[highest]])
        visible = normals @ points[top] - offsets > 0.0
        new_faces = np.array([[a, b, top] for a, b in _horizon(faces[visible])])
        new_normals, new_offsets = _planes(points, new_faces)
        orphans = np.flatnonzero(visible[owners])
        new_owners, heights[orphans] = _assign(points, orphans, new_normals, new_offsets)
        owners = (np.cumsum(~visible) - 1)[owners]  # numbers of the faces that stay
        owners[orphans] = new_owners + np.sum(~visible)
        faces = np.concatenate([faces[~visible], new_faces])
        normals = np.concatenate([normals[~visible], new_normals])
        offsets = np.concatenate([offsets[~visible], new_offsets])


def _extreme(points: Array, values: Array) -> int:
    """Return the index of the largest of `values`, convex over the cloud; of ties the outermost."""
    ties = np.flatnonzero(values >= values.max() - FLAT)
    return int(ties[np.argmax(np.linalg.norm(points[ties], axis=1))])


def _initial_tetrahedron(points: Array) -> Indices:
    """Return the faces (4, 3) of a large tetrahedron, counter-clockwise from outside."""
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
    """Return outward unit normals (m, 3) of faces and their distances from the origin (m,)."""
    a = points[faces[:, 0]]
    b = points[faces[:, 1]]
    c = points[faces[:, 2]]
    normals = np.cross(b - a, c - a)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return normals, np.sum(normals * a, axis=1)


def _assign(
    points: Array, indices: Indices, normals: Array, offsets: Array
) -> tuple[Indices, Array]:
    """Return the face that each of some points is farthest above, and the distances."""
    heights = points[indices] @ normals.T - offsets
    owners = heights.argmax(axis=1)
    return owners, heights[np.arange(len(indices)), owners]


def _horizon(faces: Indices) -> list[tuple[int, int]]:
    """Return the boundary edges of a set of visible faces, in the direction of these faces."""
    edges = {(int(face[i]), int(face[(i + 1) % 3])) for face in faces for i in range(3)}
    return sorted(edge for edge in edges if edge[::-1] not in edges)

"""Vertices of mesh files: OBJ, and STL as text or binary."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np

from vigym.mechanism.check import Array
from vigym.mechanism.errors import MechanismError

_HEAD, _TRIANGLE = 84, 50  # bytes of binary STL
_STL_VERTEX = re.compile(rb"^\s*vertex\s+(\S+)\s+(\S+)\s+(\S+)\s*$", re.MULTILINE)


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

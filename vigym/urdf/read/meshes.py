"""Mesh files of a URDF: their paths, and whether they can be read."""

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from urllib.parse import unquote

from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.mesh import read_mesh

_PACKAGE_SCHEMES = ("package://", "model://")
_SCHEMES = ("file://", *_PACKAGE_SCHEMES)


def find_mesh(filename: str, folder: Path) -> tuple[Path | None, str]:
    """Return the absolute path of a mesh that can be drawn, or None and the reason in words.

    Args:
        filename: as written: a path relative to the file, an absolute one, file://,
            package://name/... or model://, of which the last three may be percent-encoded.
        folder: of the URDF file.
    """
    path = locate_mesh(filename, folder)
    if not os.path.exists(path):
        tried = islice(_candidates(filename, folder), 3)
        return None, f"found no file at {' or '.join(map(str, tried))}"
    try:
        triangles = read_mesh(path).triangles
    except MechanismError as error:
        return None, str(error)
    if not len(triangles):
        return None, f"mesh {path}: found no triangles, expected a surface"
    return path.resolve(), ""


def locate_mesh(filename: str, folder: Path) -> Path:
    """Return the absolute path of a mesh; the first candidate if there is no such file.

    No file has a name that is too long for the system (`Path.is_file` would raise OSError).
    """
    candidates = list(_candidates(filename, folder))
    return next((path for path in candidates if os.path.isfile(path)), candidates[0]).resolve()


def _candidates(filename: str, folder: Path) -> Iterator[Path]:
    """Yield paths of a file: as it is written, then with the characters that a URI encodes."""
    scheme = next(filter(filename.startswith, _SCHEMES), "")
    written = filename.removeprefix(scheme)
    names = [written, unquote(written)] if scheme else [written]
    for name in dict.fromkeys(names):
        if scheme in _PACKAGE_SCHEMES:
            package, _, rest = name.partition("/")
            yield from _package_candidates(package, rest, folder.resolve())
        else:
            yield folder.resolve() / name  # absolute paths stay


def _package_candidates(package: str, rest: str, folder: Path) -> Iterator[Path]:
    """Yield paths of a file in a ROS package: above the URDF file, then on the ROS search paths."""
    for parent in (folder, *folder.parents):
        if parent.name == package:
            yield parent / rest
        yield parent / package / rest
    for variable, inside in (("ROS_PACKAGE_PATH", "."), ("AMENT_PREFIX_PATH", "share")):
        for root in filter(None, os.environ.get(variable, "").split(os.pathsep)):
            yield Path(root) / inside / package / rest
            if Path(root).name == package:
                yield Path(root) / rest
    yield folder / rest  # a robot copied out of its package, with its folders

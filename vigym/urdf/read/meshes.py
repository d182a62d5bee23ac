"""Mesh files of a URDF: their paths, and checks that loaders can read them."""

import os
import struct
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

_SCHEMES = ("package://", "model://")


def find_mesh(filename: str, folder: Path) -> tuple[Path | None, str]:
    """Return the absolute path of a mesh that can be drawn, or None and the reason in words.

    Args:
        filename: as written: a path relative to the file, an absolute one, file://,
            package://name/... or model://.
        folder: of the URDF file.
    """
    path = locate_mesh(filename, folder)
    if not os.path.isfile(path):
        tried = islice(_candidates(filename, folder), 3)
        return None, f"found no file at {' or '.join(map(str, tried))}"
    fault = _fault(path)
    return (None, f"{path}: {fault}") if fault else (path.resolve(), "")


def locate_mesh(filename: str, folder: Path) -> Path:
    """Return the absolute path of a mesh; the first candidate if there is no such file.

    A name that is too long for the system is that of no file (`Path.is_file` would raise OSError).
    """
    candidates = list(_candidates(filename, folder))
    return next((path for path in candidates if os.path.isfile(path)), candidates[0]).resolve()


def _candidates(filename: str, folder: Path) -> Iterator[Path]:
    for scheme in _SCHEMES:
        if filename.startswith(scheme):
            package, _, rest = filename[len(scheme) :].partition("/")
            yield from _package_candidates(package, rest, folder.resolve())
            return
    yield folder.resolve() / filename.removeprefix("file://")  # absolute paths stay


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


def _fault(path: Path) -> str:
    """Return why a mesh cannot be drawn, empty if it can: loaders crash on some malformed files."""
    check = _CHECKS.get(path.suffix.lower())
    if check is None:
        return f"found the format {path.suffix!r}, expected one of: {', '.join(_CHECKS)}"
    try:
        return check(path.read_bytes())
    except OSError as error:
        return f"found an unreadable file ({error})"


def _obj_fault(data: bytes) -> str:
    vertices = 0
    faces = 0
    last = 0  # highest vertex that a face names; it may be defined further down
    for line in data.splitlines():
        words = line.split()
        if not words or words[0] not in (b"v", b"f"):
            continue
        try:
            if words[0] == b"v":
                vertices += len([float(word) for word in words[1:4]]) == 3
                continue
            corners = [int(word.split(b"/")[0]) for word in words[1:]]
        except ValueError:
            return f"found the line {_text(line)}, expected numbers"
        faces += len(corners) >= 3
        last = max([last, *corners])
        if any(corner == 0 or corner < -vertices for corner in corners):
            return f"found the face {_text(line)}, expected vertices of the mesh"
    if not vertices or not faces or last > vertices:
        found = f"{faces} faces and {vertices} vertices, the highest one used is {last}"
        return f"found {found}: no mesh"
    return ""


def _stl_fault(data: bytes) -> str:
    if data[:5] == b"solid" and b"facet" in data[:1000]:
        return ""
    size = 84 + 50 * struct.unpack_from("<I", data, 80)[0] if len(data) >= 84 else -1
    if size == len(data) > 84:
        return ""
    return f"found {len(data)} bytes that are neither text nor binary STL"


def _dae_fault(data: bytes) -> str:
    try:
        root = ET.fromstring(data.strip(b"\0 \t\r\n"))
    except (ET.ParseError, ValueError, LookupError) as error:
        return f"found invalid XML ({error})"
    found = any(str(element.tag).endswith("}mesh") for element in root.iter())
    return "" if found else "found no <mesh>, expected a Collada file"


def _text(line: bytes) -> str:
    return repr(line[:60].decode(errors="replace"))


_CHECKS: dict[str, Callable[[bytes], str]] = {
    ".obj": _obj_fault,
    ".stl": _stl_fault,
    ".dae": _dae_fault,
}

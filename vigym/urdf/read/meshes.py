"""Mesh files of a URDF: where they are."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from vigym.mechanism.elements.mesh import FORMATS
from vigym.urdf.read.xml import Node

_PACKAGE_SCHEMES = ("package://", "model://")
_SCHEMES = ("file://", *_PACKAGE_SCHEMES)
_MOST_TRIED = 3  # places that a note names


@dataclass(frozen=True)
class MeshFolders:
    """Folders in which the meshes of a file are searched.

    Attributes:
        folder: of the URDF file, absolute.
        mesh_folder: `meshdir` of <mujoco><compiler>, absolute; None without it.
        strips: whether files of `mesh_folder` are named without their folders (`strippath`).
    """

    folder: Path
    mesh_folder: Path | None = None
    strips: bool = True

    def locate(self, node: Node, filename: str) -> Path:
        """Return the absolute path of a mesh; the first candidate if there is no such file.

        A file in a package folder of another name, in `mesh_folder`, or whose name differs in the
        case of its letters becomes a note.

        Args:
            node: element with the mesh.
            filename: as written: a path relative to the file, an absolute one, file://,
                package://name/... or model://, of which the last three may be percent-encoded.
        """
        candidates = list(self._candidates(filename))
        # a name that is too long for the system has no file: `Path.is_file` would raise OSError
        for path in candidates:
            if os.path.isfile(path):
                return path.resolve()
        for found in (*self._elsewhere(filename), *map(_in_any_case, candidates)):
            if found is not None and os.path.isfile(found):
                node.note("changed", f"mesh {filename!r} is taken from {found}")
                return found.resolve()
        return candidates[0].resolve()

    def missing(self, filename: str, path: Path) -> str:
        """Return the reason why the file at a path, as of `locate`, is no mesh; empty if it may be.

        The content is not read.
        """
        if not os.path.isfile(path):
            tried = list(dict.fromkeys(self._candidates(filename)))[:_MOST_TRIED]
            return f"found no file at {' or '.join(map(str, tried))}"
        if path.suffix.lower() not in FORMATS:
            return f"found the format {path.suffix!r}, expected {' or '.join(FORMATS)}"
        return ""

    def _candidates(self, filename: str) -> Iterator[Path]:
        """Yield paths of a file: as it is written, then with the characters that a URI encodes."""
        for scheme, name in _spellings(filename):
            if scheme in _PACKAGE_SCHEMES:
                package, _, rest = name.partition("/")
                yield from _package_candidates(package, rest, self.folder)
            else:
                yield self.folder / name  # absolute paths stay

    def _elsewhere(self, filename: str) -> Iterator[Path | None]:
        """Yield paths where people have a file that is not where its name says."""
        for scheme, name in _spellings(filename):
            if self.mesh_folder is not None:
                yield self.mesh_folder / (Path(name).name if self.strips else name)
            _, _, rest = name.partition("/")
            for parent in (self.folder, *self.folder.parents):
                if scheme in _PACKAGE_SCHEMES:
                    yield _in_any_case(parent / rest)


def mesh_folders(robot: Node) -> MeshFolders:
    """Return the folders of a file, with the one that <mujoco><compiler meshdir> names."""
    folder = robot.path.parent.resolve()
    mujoco = robot.only("mujoco")
    compiler = None if mujoco is None else mujoco.only("compiler")
    if compiler is None or not compiler.has("meshdir"):
        return MeshFolders(folder)
    strips = compiler.optional_text("strippath") != "false"  # MuJoCo's default for URDF
    return MeshFolders(folder, folder / compiler.text("meshdir"), strips)


def _spellings(filename: str) -> list[tuple[str, str]]:
    """Return the scheme and the name of a file, as it is written and without percent signs."""
    scheme = next(filter(filename.startswith, _SCHEMES), "")
    written = filename.removeprefix(scheme)
    names = [written, unquote(written)] if scheme else [written]
    return [(scheme, name) for name in dict.fromkeys(names)]


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


def _in_any_case(path: Path) -> Path | None:
    """Return the only path that differs in the case of its letters at most; None without one."""
    found = Path(path.anchor)
    for name in path.parts[1:]:
        if os.path.lexists(found / name):
            found /= name
            continue
        try:
            alike = [each for each in os.listdir(found) if each.lower() == name.lower()]
        except OSError:
            return None
        if len(alike) != 1:
            return None
        found /= alike[0]
    return found

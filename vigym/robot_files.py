"""Robots in files of any kind: `vigym.load` chooses the reader by the root element."""

import os
from collections.abc import Callable
from pathlib import Path

from vigym.mechanism.elements.bodies import Ground
from vigym.mechanism.mechanism import Mechanism
from vigym.mjcf.load import load_mjcf
from vigym.mjcf.source import is_mjcf
from vigym.urdf.convert.load import load_urdf

ENDINGS = (".urdf", ".xml", ".mjcf")  # of files that may stand for an environment


def load(
    path: str | os.PathLike[str],
    base: str | None = None,
    ground: bool | Ground | None = None,
    self_collision: bool = False,
    missing_meshes: str = "error",
    inertias: str = "error",
) -> Mechanism:
    """Return the mechanism of a robot's file: URDF, or MJCF where its root element is <mujoco>.

    Args:
        path: of the file.
        base: as in `load_urdf` and `load_mjcf`.
        ground: as there; None: none for URDF, the file's for MJCF.
        self_collision: as there.
        missing_meshes: as there.
        inertias: as there.

    Raises:
        MechanismError: a file that cannot be read truthfully, UrdfError for URDF; names the file.
        AssemblyError: loops that cannot be closed.
    """
    load_file: Callable[..., Mechanism] = load_mjcf if is_mjcf(Path(path)) else load_urdf
    return load_file(path, base, ground, self_collision, missing_meshes, inertias)

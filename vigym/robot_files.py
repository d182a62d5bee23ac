"""Robots in files of any kind: `vigym.load` chooses the reader by the root element."""

import os
from collections.abc import Callable

from vigym.mechanism.elements.bodies import Ground
from vigym.mechanism.mechanism import Mechanism
from vigym.mjcf.load import load_mjcf
from vigym.sdf.load import load_sdf
from vigym.urdf.convert.load import load_urdf
from vigym.urdf.read.xml import root_tag

ENDINGS = (".urdf", ".xml", ".mjcf", ".sdf")  # of files that may stand for an environment


def load(
    path: str | os.PathLike[str],
    base: str | None = None,
    ground: bool | Ground | None = None,
    self_collision: bool = False,
    missing_meshes: str = "error",
    inertias: str = "error",
) -> Mechanism:
    """Return the mechanism of a robot's file: URDF, MJCF (root <mujoco>) or SDF (root <sdf>).

    Args:
        path: of the file.
        base: as in `load_urdf`, `load_mjcf` and `load_sdf`.
        ground: as there; None: none for URDF and SDF, the file's for MJCF.
        self_collision: as there.
        missing_meshes: as there.
        inertias: as there.

    Raises:
        MechanismError: a file that cannot be read truthfully, UrdfError for URDF and SDF; names it.
        AssemblyError: loops that cannot be closed.
    """
    readers: dict[str, Callable[..., Mechanism]] = {
        "mujoco": load_mjcf,
        "robot": load_urdf,
        "sdf": load_sdf,
    }
    load_file = readers[root_tag(path)]
    return load_file(path, base, ground, self_collision, missing_meshes, inertias)

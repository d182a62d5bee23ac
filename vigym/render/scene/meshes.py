"""pybullet without its banner, and mesh files read by it."""

import os
import sys
from collections.abc import Callable
from types import ModuleType

import numpy as np

from vigym.captured_output import captured_output
from vigym.render.scene.camera import Array
from vigym.render.scene.surfaces import MeshFile


class RenderError(RuntimeError):
    """Error of a picture that cannot be drawn on this machine; the message names the cause."""


def import_pybullet() -> ModuleType:
    """Return the module pybullet, imported without its banner.

    Raises:
        RenderError: it is not installed.
    """
    if "pybullet" in sys.modules:
        return sys.modules["pybullet"]
    try:
        with captured_output():
            import pybullet
    except ImportError as error:
        raise RenderError(f"rendering needs pybullet (pip install pybullet): {error}") from error
    module: ModuleType = pybullet
    return module


def read_mesh(mesh: MeshFile, create: Callable[..., int], **options: object) -> int:
    """Return the shape number that pybullet's function `create` makes of a mesh file.

    Raises:
        RenderError: no such file, or one that pybullet cannot read.
    """
    path = str(mesh.path)
    if not os.path.isfile(mesh.path):
        raise RenderError(f"mesh {path!r}: found no such file, expected the mesh of a shape")
    p = import_pybullet()
    scale = mesh.scale.tolist()
    shape = -1
    with captured_output() as captured:
        try:
            shape = create(p.GEOM_MESH, fileName=path, meshScale=scale, **options)
        except p.error:
            shape = -1
    if shape < 0:
        reason = captured.text.strip() or "no reason given"
        raise RenderError(f"mesh {path!r}: pybullet cannot read it: {reason}")
    return shape


def mesh_bounds(mesh: MeshFile) -> tuple[Array, Array]:
    """Return the lower and upper corner (3,) [m] of the bounding box along the mesh's axes.

    Raises:
        RenderError: no such file, or one that pybullet cannot read.
    """
    p = import_pybullet()
    with captured_output():
        client = p.connect(p.DIRECT)
    try:
        # no convex hull: it takes ten times longer and adds a margin
        exact = p.GEOM_FORCE_CONCAVE_TRIMESH
        shape = read_mesh(mesh, p.createCollisionShape, flags=exact, physicsClientId=client)
        body = p.createMultiBody(0.0, shape, physicsClientId=client)
        low, high = p.getAABB(body, physicsClientId=client)
    finally:
        with captured_output():
            p.disconnect(client)
    return np.array(low), np.array(high)

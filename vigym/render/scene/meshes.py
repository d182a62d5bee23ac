"""pybullet as this package uses it: without its noise, and as a reader of mesh files."""

import sys
from collections.abc import Callable
from types import ModuleType

import numpy as np

from vigym.captured_output import captured_output
from vigym.render.scene.camera import Array
from vigym.render.scene.surfaces import MeshFile


class RenderError(RuntimeError):
    """A picture that cannot be made on this machine, and what is missing."""


def bullet() -> ModuleType:
    """Import pybullet without its banner.

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
    """Return the shape that pybullet's `create` makes of a mesh file.

    Raises:
        RenderError: no such file, or one that pybullet cannot read.
    """
    if not mesh.path.is_file():
        raise RenderError(f"mesh {str(mesh.path)!r}: found no such file, expected the mesh that a shape names")
    p, shape = bullet(), -1
    with captured_output() as said:
        try:
            shape = create(p.GEOM_MESH, fileName=str(mesh.path), meshScale=mesh.scale.tolist(), **options)
        except p.error:
            shape = -1
    if shape < 0:
        raise RenderError(f"mesh {str(mesh.path)!r}: pybullet cannot read it: {said.text.strip() or 'no reason given'}")
    return shape


def mesh_bounds(mesh: MeshFile) -> tuple[Array, Array]:
    """Return the lower and upper corner (3,) [m] of a box along the mesh's axes that holds it.

    Raises:
        RenderError: no such file, or one that pybullet cannot read.
    """
    p = bullet()
    with captured_output():
        client = p.connect(p.DIRECT)
    try:
        # as it is: a convex hull takes ten times longer and grows by a margin
        exact = p.GEOM_FORCE_CONCAVE_TRIMESH
        shape = read_mesh(mesh, p.createCollisionShape, flags=exact, physicsClientId=client)
        body = p.createMultiBody(0.0, shape, physicsClientId=client)
        low, high = p.getAABB(body, physicsClientId=client)
    finally:
        with captured_output():
            p.disconnect(client)
    return np.array(low), np.array(high)

"""pybullet as a renderer of visuals; its physics is not used."""

import os
import threading
import weakref
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vigym.captured_output import captured_output
from vigym.render.scene.camera import Array, View
from vigym.render.scene.meshes import RenderError, import_pybullet, read_mesh
from vigym.render.scene.surfaces import MeshFile
from vigym.render.scene.visuals import Visual

SPECULAR = [0.25, 0.25, 0.25]  # specular colour of all visuals
_LOCK = threading.Lock()  # of the lists that all new shapes share
Pixels = NDArray[np.uint8]
Depth = NDArray[np.float32]
Mask = NDArray[np.bool_]


def connect_direct(p: ModuleType) -> int:
    """Return a pybullet client that needs no display."""
    client: int = p.connect(p.DIRECT)
    return client


class BulletClient:
    """Visuals in a pybullet client of their own, connected on first use in every process.

    A client that another process connected before a fork is left alone.

    Args:
        visuals: moved by `set_poses`.
        connect: function of the module pybullet that returns a connected client.
        static: visuals that keep their own pose, in the world.

    Raises:
        RenderError: on first use, when pybullet, the connection or a mesh file fails.
    """

    def __init__(
        self,
        visuals: list[Visual],
        connect: Callable[[ModuleType], int] = connect_direct,
        static: Sequence[Visual] = (),
    ) -> None:
        self._visuals = visuals
        self._static = static
        self._connect = connect
        self._client: int | None = None
        self._process = 0
        self._ids: list[int] = []
        self._finalizer: weakref.finalize[Any, Any] | None = None

    def client(self) -> int:
        """Return the client of this process, connected on the first call."""
        if self._client is None or self._process != os.getpid():
            self._client = self._open()
            self._process = os.getpid()
        return self._client

    def _open(self) -> int:
        p = import_pybullet()
        with captured_output():
            client = self._connect(p)
        self._finalizer = weakref.finalize(self, _disconnect, client, os.getpid())
        try:
            shapes = self._create_shapes(p, client)
            numbers = [_create_body(p, visual, shape, client) for visual, shape in shapes]
            self._ids = numbers[: len(self._visuals)]
        except RenderError:
            self._finalizer()
            raise
        return client

    def _create_shapes(self, p: ModuleType, client: int) -> list[tuple[Visual, int]]:
        """Return every visual, static ones last, with its pybullet visual shape."""
        visuals = (*self._visuals, *self._static)
        return [(visual, _create_shape(p, visual, client)) for visual in visuals]

    def set_poses(self, positions: Array, orientations: Array) -> None:
        """Move the visuals to positions (n, 3) [m] and orientations (n, 4), (w, x, y, z)."""
        client, p = self.client(), import_pybullet()
        xyzw = np.roll(orientations, -1, axis=1).tolist()
        for number, position, orientation in zip(self._ids, positions.tolist(), xyzw, strict=True):
            p.resetBasePositionAndOrientation(number, position, orientation, physicsClientId=client)

    def capture(self, view: View, **options: Any) -> tuple[Pixels, Depth, Mask]:
        """Return colours (h, w, 3), depth buffer (h, w) and the mask of the visuals (h, w)."""
        renderer = import_pybullet().ER_TINY_RENDERER
        colours, depth, segments = self._camera_image(view, renderer=renderer, **options)
        return colours, depth, np.asarray(segments).reshape(depth.shape) >= 0

    def _camera_image(self, view: View, **options: Any) -> tuple[Pixels, Depth, Any]:
        """Return colours (h, w, 3), depth buffer (h, w) and pybullet's segmentation mask."""
        client, p = self.client(), import_pybullet()
        width, height, colour, depth, mask = p.getCameraImage(
            view.width,
            view.height,
            view.view.T.ravel().tolist(),
            view.projection.T.ravel().tolist(),
            shadow=0,
            physicsClientId=client,
            **options,
        )
        # a pybullet built without numpy returns flat tuples
        shape = (height, width)
        colours = np.asarray(colour, dtype=np.uint8).reshape(*shape, 4)[..., :3]
        return colours, np.asarray(depth, dtype=np.float32).reshape(shape), mask

    def close(self) -> None:
        """Disconnect; further use connects anew. May be called again and in a forked process."""
        if self._finalizer is not None:
            self._finalizer()
        self._client, self._finalizer = None, None
        self._ids = []


def _disconnect(client: int, process: int) -> None:
    """Disconnect a client in the process that connected it; leave the copy in a fork alone."""
    if os.getpid() != process:
        return
    p = import_pybullet()
    with captured_output():
        if p.isConnected(client):
            p.disconnect(client)


def appearance(visual: Visual, client: int) -> dict[str, Any]:
    """Return pybullet's arguments for the colours of a visual."""
    rgba = visual.colour.tolist()
    return {"rgbaColor": rgba, "specularColor": SPECULAR, "physicsClientId": client}


def _create_shape(p: ModuleType, visual: Visual, client: int) -> int:
    """Return the number of a new pybullet visual shape."""
    surface = visual.surface
    if isinstance(surface, MeshFile):
        return read_mesh(surface, p.createVisualShape, **appearance(visual, client))
    with _LOCK:
        _INDICES[:] = surface.triangles.ravel().tolist()
        number: int = p.createVisualShape(
            p.GEOM_MESH,
            vertices=_VERTICES.filled(surface.vertices),
            normals=_NORMALS.filled(surface.normals),
            indices=_INDICES,
            **appearance(visual, client),
        )
    return number


class _Points:
    """List of points for pybullet, filled anew for every shape.

    pybullet copies the numbers of a list of lists, and never lets go of the lists themselves.
    """

    def __init__(self) -> None:
        self._list: list[list[float]] = []
        self._points: list[list[float]] = []  # all that were ever needed

    def filled(self, values: Array) -> list[list[float]]:
        """Return the list with these points (n, 3)."""
        rows = values.tolist()
        self._points += [[] for _ in range(len(rows) - len(self._points))]
        self._list[:] = self._points[: len(rows)]
        for point, row in zip(self._list, rows, strict=True):
            point[:] = row
        return self._list


_VERTICES, _NORMALS = _Points(), _Points()
_INDICES: list[int] = []


def _create_body(p: ModuleType, visual: Visual, shape: int, client: int) -> int:
    """Return the number of a new pybullet body at the visual's own pose."""
    number: int = p.createMultiBody(
        baseMass=0.0, baseVisualShapeIndex=shape, physicsClientId=client
    )
    xyzw = np.roll(visual.orientation, -1).tolist()
    p.resetBasePositionAndOrientation(
        number, visual.position.tolist(), xyzw, physicsClientId=client
    )
    return number

"""Visuals in pybullet, for its window; its physics is not used."""

import os
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from vigym.captured_output import captured_output
from vigym.render.scene.camera import Array
from vigym.render.scene.visuals import Visual

SPECULAR = [0.25, 0.25, 0.25]  # specular colour of all visuals
_LOCK = threading.Lock()  # of the lists that all new shapes share


def import_pybullet() -> ModuleType:
    """Return the module pybullet, imported without its banner.

    Raises:
        ImportError: it is not installed.
    """
    if "pybullet" in sys.modules:
        return sys.modules["pybullet"]
    with captured_output():
        import pybullet
    module: ModuleType = pybullet
    return module


class BulletClient:
    """Visuals in a pybullet client of their own, connected on first use in every process.

    A client that another process connected before a fork is left alone.

    Args:
        visuals: moved by `set_poses`.
        connect: function of the module pybullet that returns a connected client.
        static: visuals that keep their own pose, in the world.

    Raises:
        RenderError: on first use, when the connection fails.
    """

    def __init__(
        self,
        visuals: list[Visual],
        connect: Callable[[ModuleType], int],
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
        visuals = (*self._visuals, *self._static)
        numbers = [_create_body(p, visual, client) for visual in visuals]
        self._ids = numbers[: len(self._visuals)]
        return client

    def set_poses(self, positions: Array, orientations: Array) -> None:
        """Move the visuals to positions (n, 3) [m] and orientations (n, 4), (w, x, y, z)."""
        client, p = self.client(), import_pybullet()
        xyzw = np.roll(orientations, -1, axis=1).tolist()
        for number, position, orientation in zip(self._ids, positions.tolist(), xyzw, strict=True):
            p.resetBasePositionAndOrientation(number, position, orientation, physicsClientId=client)

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


def _create_shape(p: ModuleType, visual: Visual, client: int) -> int:
    """Return the number of a new pybullet visual shape."""
    surface = visual.surface
    with _LOCK:
        _INDICES[:] = surface.triangles.ravel().tolist()
        number: int = p.createVisualShape(
            p.GEOM_MESH,
            vertices=_VERTICES.filled(surface.vertices),
            normals=_NORMALS.filled(surface.normals),
            indices=_INDICES,
            rgbaColor=visual.colour.tolist(),
            specularColor=SPECULAR,
            physicsClientId=client,
        )
    return number


class _Points:
    """List of points for pybullet, filled anew for every shape.

    pybullet copies the numbers of a list of lists, and never lets go of the lists themselves.
    """

    def __init__(self) -> None:
        self._list: list[list[float]] = []
        self._points: list[list[float]] = []  # every one that was needed so far

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


def _create_body(p: ModuleType, visual: Visual, client: int) -> int:
    """Return the number of a new pybullet body at the visual's own pose."""
    shape = _create_shape(p, visual, client)
    number: int = p.createMultiBody(
        baseMass=0.0, baseVisualShapeIndex=shape, physicsClientId=client
    )
    xyzw = np.roll(visual.orientation, -1).tolist()
    p.resetBasePositionAndOrientation(
        number, visual.position.tolist(), xyzw, physicsClientId=client
    )
    return number

"""The pieces inside pybullet: nothing moves by physics there, pybullet only draws."""

import os
import weakref
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vigym.captured_output import captured_output
from vigym.render.scene.camera import Array, View
from vigym.render.scene.meshes import RenderError, bullet, read_mesh
from vigym.render.scene.pieces import Piece
from vigym.render.scene.surfaces import MeshFile

SHINE = [0.25, 0.25, 0.25]  # specular colour of every piece


class Stage:
    """Pieces in a pybullet client of their own, made on first use in every process.

    A client that another process made before it forked is left alone: this process makes its own.

    Args:
        pieces: what stands on the stage.
        connect: given pybullet, return a connected client.
        still: pieces that stay where their own pose says, in the world.

    Raises:
        RenderError: on first use, when pybullet, the connection or a mesh file fails.
    """

    def __init__(
        self,
        pieces: list[Piece],
        connect: Callable[[ModuleType], int],
        still: Sequence[Piece] = (),
    ) -> None:
        self._pieces = pieces
        self._still = still
        self._connect = connect
        self._client: int | None = None
        self._process = 0
        self._ids: list[int] = []
        self._finalizer: weakref.finalize[Any, Any] | None = None

    def client(self) -> int:
        """Return this process's client, made when it is asked for first."""
        if self._client is None or self._process != os.getpid():
            self._client = self._open()
            self._process = os.getpid()
        return self._client

    def _open(self) -> int:
        p = bullet()
        with captured_output():
            client = self._connect(p)
        self._finalizer = weakref.finalize(self, _disconnect, client, os.getpid())
        try:
            numbers = [_placed(p, piece, visual, client) for piece, visual in self._visuals(p, client)]
            self._ids = numbers[: len(self._pieces)]
        except RenderError:
            self._finalizer()
            raise
        return client

    def _visuals(self, p: ModuleType, client: int) -> list[tuple[Piece, int]]:
        """Return every piece, those that move first, and pybullet's number of what it looks like."""
        return [(piece, _visual(p, piece, client)) for piece in (*self._pieces, *self._still)]

    def pose(self, positions: Array, orientations: Array) -> None:
        """Move the pieces to positions (n, 3) [m] and orientations (n, 4), (w, x, y, z)."""
        client, p = self.client(), bullet()
        last_scalar = np.roll(orientations, -1, axis=1).tolist()
        for piece, position, orientation in zip(self._ids, positions.tolist(), last_scalar, strict=True):
            p.resetBasePositionAndOrientation(piece, position, orientation, physicsClientId=client)

    def photograph(
        self, view: View, **options: Any
    ) -> tuple[NDArray[np.uint8], NDArray[np.float32], NDArray[np.bool_]]:
        """Return colours (h, w, 3), depth buffer (h, w) and which pixels show a piece (h, w)."""
        colours, depth, mask = self._shot(view, renderer=bullet().ER_TINY_RENDERER, **options)
        return colours, depth, np.asarray(mask).reshape(depth.shape) >= 0

    def _shot(self, view: View, **options: Any) -> tuple[NDArray[np.uint8], NDArray[np.float32], Any]:
        """Return colours (h, w, 3), depth buffer (h, w) and pybullet's mask."""
        client, p = self.client(), bullet()
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
        """Disconnect; another use connects anew. May be called again and in a forked process."""
        if self._finalizer is not None:
            self._finalizer()
        self._client, self._finalizer, self._ids = None, None, []


def _disconnect(client: int, process: int) -> None:
    """Close a client in the process that made it; in a fork the copy is left alone."""
    if os.getpid() != process:
        return
    p = bullet()
    with captured_output():
        if p.isConnected(client):
            p.disconnect(client)


def look(piece: Piece, client: int) -> dict[str, Any]:
    """Return what pybullet is told of a piece's colours."""
    return {"rgbaColor": piece.colour.tolist(), "specularColor": SHINE, "physicsClientId": client}


def _visual(p: ModuleType, piece: Piece, client: int) -> int:
    """Return the number of what a piece looks like."""
    if isinstance(piece.surface, MeshFile):
        return read_mesh(piece.surface, p.createVisualShape, **look(piece, client))
    number: int = p.createVisualShape(
        p.GEOM_MESH,
        vertices=piece.surface.vertices.tolist(),
        normals=piece.surface.normals.tolist(),
        indices=piece.surface.triangles.ravel().tolist(),
        **look(piece, client),
    )
    return number


def _placed(p: ModuleType, piece: Piece, visual: int, client: int) -> int:
    """Put one piece on the stage and return its number."""
    number: int = p.createMultiBody(baseMass=0.0, baseVisualShapeIndex=visual, physicsClientId=client)
    turn = np.roll(piece.orientation, -1).tolist()
    p.resetBasePositionAndOrientation(number, piece.position.tolist(), turn, physicsClientId=client)
    return number

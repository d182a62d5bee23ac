"""A window for "human" rendering: pybullet's own viewer, which the mouse can turn and zoom."""

import ctypes
import math
import os
import sys
from dataclasses import replace
from types import ModuleType

import numpy as np
from numpy.typing import ArrayLike

from vigym.mechanism.mechanism import Mechanism
from vigym.render.backends.bullet import Stage
from vigym.render.backends.pace import Pace
from vigym.render.overlay.marks import Marks
from vigym.render.scene.camera import Array, Camera
from vigym.render.scene.framing import Floor, plane_frame
from vigym.render.scene.meshes import RenderError, bullet
from vigym.render.scene.pieces import Piece
from vigym.render.scene.scene import Scene
from vigym.render.scene.surfaces import Surface

TILES = 24  # along each edge of the floor, which ends somewhere in a window
TILE_COLOURS = np.array([[0.80, 0.83, 0.87, 1.0], [0.92, 0.93, 0.95, 1.0]])
SKY = "--background_color_red=0.90 --background_color_green=0.93 --background_color_blue=0.97"
SUN_DISTANCE = 3.0  # of the light from the target, in units of the scene
RIGHT_ANGLE = math.pi / 2  # pybullet's viewer opens this far upwards


class WindowRenderer:
    """Shows bodies in a window.

    Args:
        mechanism: what is drawn.
        camera: first view; its field_of_view is the viewer's own.
        width: of the window [pixels].
        height: of the window [pixels].
        rate: pictures per second that `render` does not exceed; None does not wait.
    """

    def __init__(self, mechanism: Mechanism, camera: Camera, width: int, height: int, rate: float | None) -> None:
        opening = 2.0 * math.atan(min(width, height) / height * math.tan(RIGHT_ANGLE / 2))
        self._scene = Scene(mechanism, replace(camera, field_of_view=opening), width, height)
        floor = self._scene.floor
        still = [] if floor is None else chequered(floor, len(mechanism.bodies), self._scene.centre)
        self._stage = Stage(self._scene.pieces, self._connect, still=still)
        self._pace = Pace(rate)
        self._target: Array | None = None

    def render(self, positions: ArrayLike, orientations: ArrayLike, marks: Marks | None = None) -> None:
        """Show the bodies.

        Args:
            positions: centres of mass in the order of `mech.bodies` (n_bodies, 3) [m].
            orientations: quaternions (w, x, y, z), body to world (n_bodies, 4).
            marks: None; a window shows none.

        Raises:
            ValueError: marks, a wrong shape or a number that is not finite.
            RenderError: there is no display, or the window was closed.
        """
        if marks is not None:
            raise ValueError("marks: found some, expected None: a window shows no overlay, pictures do")
        positions, orientations = self._scene.checked(positions, orientations)
        p, client = bullet(), self._stage.client()
        if not p.isConnected(client):
            raise RenderError("the window was closed; close the renderer to open another with the next picture")
        self._aim(p, client, self._scene.shifts(positions)[0])
        self._stage.pose(*self._scene.place(positions, orientations))
        self._pace.wait()

    def close(self) -> None:
        """Close the window; may be called again."""
        self._stage.close()
        self._target = None

    def _connect(self, p: ModuleType) -> int:
        check_display()
        view = self._scene.view
        try:
            client: int = p.connect(p.GUI, options=f"--width={view.width} --height={view.height} {SKY}")
        except p.error as error:
            raise RenderError(
                f"no second window: pybullet shows one per process, close the other first ({error})"
            ) from None
        if client < 0:
            raise RenderError("pybullet could not open a window; render_mode='rgb_array' needs none")
        for part in (p.COV_ENABLE_GUI, p.COV_ENABLE_KEYBOARD_SHORTCUTS, p.COV_ENABLE_MOUSE_PICKING):
            p.configureDebugVisualizer(part, 0, physicsClientId=client)
        sun = self._scene.centre + SUN_DISTANCE * self._scene.size * self._scene.light.view[2, :3]
        p.configureDebugVisualizer(lightPosition=sun.tolist(), physicsClientId=client)
        return client

    def _aim(self, p: ModuleType, client: int, shift: Array) -> None:
        """Point the viewer at the target where that moves; angle and distance stay as the mouse left them."""
        view = self._scene.view
        target = view.target + shift
        if self._target is None:
            back = view.view[2, :3]
            yaw, pitch = math.atan2(back[1], back[0]) + RIGHT_ANGLE, -math.asin(back[2])
            distance = float(np.linalg.norm(view.position - view.target))
            angles = math.degrees(yaw), math.degrees(pitch)
        elif np.array_equal(self._target, target):
            return
        else:
            *angles, distance, _ = p.getDebugVisualizerCamera(physicsClientId=client)[8:12]
        p.resetDebugVisualizerCamera(distance, *angles, target.tolist(), physicsClientId=client)
        self._target = target


def check_display() -> None:
    """Make sure that a window can open: where it cannot, pybullet ends the whole process.

    Raises:
        RenderError: no display, one that cannot be reached, or a library that is missing.
    """
    if not sys.platform.startswith("linux"):
        return
    mend = "; render_mode='rgb_array' needs no display"
    if not os.environ.get("DISPLAY"):
        raise RenderError(f"render_mode='human' needs a display: the variable DISPLAY is not set{mend}")
    libraries = []
    for name in ("libX11.so.6", "libGL.so.1"):
        try:
            libraries.append(ctypes.CDLL(name))
        except OSError as error:
            raise RenderError(f"render_mode='human' needs the library {name}: {error}{mend}") from None
    x11, gl = libraries
    x11.XOpenDisplay.restype = ctypes.c_void_p
    display = x11.XOpenDisplay(None)
    if not display:
        raise RenderError(f"render_mode='human': no display answers at DISPLAY={os.environ['DISPLAY']!r}{mend}")
    drawable = gl.glXQueryExtension(ctypes.c_void_p(display), None, None)
    x11.XCloseDisplay(ctypes.c_void_p(display))
    if not drawable:
        raise RenderError(f"render_mode='human': the display {os.environ['DISPLAY']!r} has no OpenGL (GLX){mend}")


def chequered(floor: Floor, world: int, centre: Array) -> list[Piece]:
    """Return the dark and the bright tiles of a floor around the point below `centre` (3,) [m]."""
    origin, e1, e2 = plane_frame(floor)
    steps = np.arange(TILES) - TILES // 2
    middle = np.round(np.array([e1, e2]) @ (centre - origin) / floor.tile)
    i, j = (grid.ravel() for grid in np.meshgrid(steps + middle[0], steps + middle[1]))
    corners = np.stack([(i + a)[:, None] * e1 + (j + b)[:, None] * e2 for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))], 1)
    pieces = []
    for parity, colour in enumerate(TILE_COLOURS):
        chosen = corners[(i + j) % 2 == parity] * floor.tile + origin
        triangles = (4 * np.arange(len(chosen))[:, None, None] + np.array([[0, 1, 2], [0, 2, 3]])).reshape(-1, 3)
        vertices = chosen.reshape(-1, 3)
        surface = Surface(vertices, np.tile(floor.normal, (len(vertices), 1)), triangles)
        pieces.append(Piece(world, surface, np.zeros(3), np.array([1.0, 0, 0, 0]), colour, np.zeros((8, 3))))
    return pieces

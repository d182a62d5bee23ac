"""Window of mode "human": pybullet's own viewer, which the mouse rotates and zooms."""

import ctypes
import math
import os
import sys
from dataclasses import replace
from types import ModuleType

import numpy as np
from numpy.typing import ArrayLike

from vigym.mechanism.mechanism import Mechanism
from vigym.render.backends.bullet import BulletClient, import_pybullet
from vigym.render.backends.frame_limiter import FrameLimiter
from vigym.render.errors import RenderError, WindowClosedError
from vigym.render.overlay.marks import Marks
from vigym.render.scene.camera import Array, Camera
from vigym.render.scene.framing import Floor, plane_frame
from vigym.render.scene.scene import Scene
from vigym.render.scene.surfaces import Surface, quads
from vigym.render.scene.visuals import NO_ROTATION, Visual

TILES = 24  # along each edge of the floor, which is finite in a window
TILE_COLOURS = np.array([[0.80, 0.83, 0.87, 1.0], [0.92, 0.93, 0.95, 1.0]])
TILE_CORNERS = ((0, 0), (1, 0), (1, 1), (0, 1))
SKY = "--background_color_red=0.90 --background_color_green=0.93 --background_color_blue=0.97"
SUN_DISTANCE = 3.0  # of the light from the target [scene sizes]
VIEWER_FOV = math.pi / 2  # vertical opening of pybullet's viewer [rad]


class WindowRenderer:
    """Renderer of mode "human".

    Args:
        mechanism: drawn in its present state.
        camera: initial view; the viewer has a fixed field of view.
        width: of the window [pixels].
        height: of the window [pixels].
        rate: upper bound of pictures per second; None: no bound.
    """

    def __init__(
        self, mechanism: Mechanism, camera: Camera, width: int, height: int, rate: float | None
    ) -> None:
        opening = 2.0 * math.atan(min(width, height) / height * math.tan(VIEWER_FOV / 2))
        self._scene = Scene(mechanism, replace(camera, field_of_view=opening), width, height)
        floor, world = self._scene.floor, len(mechanism.bodies)
        static = [] if floor is None else chequered_floor(floor, world, self._scene.centre)
        self._client = BulletClient(self._scene.visuals, self._connect, static=static)
        self._limiter = FrameLimiter(rate)
        self._target: Array | None = None

    def render(
        self, positions: ArrayLike, orientations: ArrayLike, marks: Marks | None = None
    ) -> None:
        """Show the bodies.

        Args:
            positions: centres of mass in the order of `mech.bodies` (n_bodies, 3) [m].
            orientations: quaternions (w, x, y, z), body to world (n_bodies, 4).
            marks: None; a window shows no overlay.

        Raises:
            ValueError: marks, a wrong shape or a number that is not finite.
            RenderError: no display, or the window was closed.
        """
        if marks is not None:
            raise ValueError(
                "marks: found some, expected None: a window shows no overlay, pictures do"
            )
        positions, orientations = self._scene.check_poses(positions, orientations)
        p, client = import_pybullet(), self._client.client()
        if not p.isConnected(client):
            raise WindowClosedError
        self._aim_camera(p, client, self._scene.shifts(positions)[0])
        self._client.set_poses(*self._scene.visual_poses(positions, orientations))
        self._limiter.wait()

    def close(self) -> None:
        """Close the window; may be called again."""
        self._client.close()
        self._target = None

    def _connect(self, p: ModuleType) -> int:
        check_display()
        view = self._scene.view
        options = f"--width={view.width} --height={view.height} {SKY}"
        try:
            client: int = p.connect(p.GUI, options=options)
        except p.error as error:
            raise RenderError(
                f"no second window: pybullet shows one per process, close the other first ({error})"
            ) from None
        if client < 0:
            raise RenderError(
                "pybullet could not open a window; render_mode='rgb_array' needs none"
            )
        for part in (p.COV_ENABLE_GUI, p.COV_ENABLE_KEYBOARD_SHORTCUTS, p.COV_ENABLE_MOUSE_PICKING):
            p.configureDebugVisualizer(part, 0, physicsClientId=client)
        to_sun = self._scene.light.view[2, :3]
        sun = self._scene.centre + SUN_DISTANCE * self._scene.size * to_sun
        p.configureDebugVisualizer(lightPosition=sun.tolist(), physicsClientId=client)
        return client

    def _aim_camera(self, p: ModuleType, client: int, shift: Array) -> None:
        """Move the viewer's target; angles and distance stay as the mouse left them."""
        view = self._scene.view
        target = view.target + shift
        if self._target is None:
            back = view.view[2, :3]
            yaw, pitch = math.atan2(back[1], back[0]) + math.pi / 2, -math.asin(back[2])
            distance = float(np.linalg.norm(view.position - view.target))
            angles = math.degrees(yaw), math.degrees(pitch)
        elif np.array_equal(self._target, target):
            return
        else:
            *angles, distance, _ = p.getDebugVisualizerCamera(physicsClientId=client)[8:12]
        p.resetDebugVisualizerCamera(distance, *angles, target.tolist(), physicsClientId=client)
        self._target = target


def check_display() -> None:
    """Check that a window can open; where it cannot, pybullet ends the whole process.

    Raises:
        RenderError: no display, one that cannot be reached, or a library that is missing.
    """
    if not sys.platform.startswith("linux"):
        return
    found = os.environ.get("DISPLAY")
    needs, hint = "render_mode='human' needs", "; render_mode='rgb_array' needs no display"
    if not found:
        raise RenderError(f"{needs} a display: the variable DISPLAY is not set{hint}")
    libraries = []
    for name in ("libX11.so.6", "libGL.so.1"):
        try:
            libraries.append(ctypes.CDLL(name))
        except OSError as error:
            raise RenderError(f"{needs} the library {name}: {error}{hint}") from None
    x11, gl = libraries
    x11.XOpenDisplay.restype = ctypes.c_void_p
    display = x11.XOpenDisplay(None)
    if not display:
        raise RenderError(f"render_mode='human': no display answers at DISPLAY={found!r}{hint}")
    drawable = gl.glXQueryExtension(ctypes.c_void_p(display), None, None)
    x11.XCloseDisplay(ctypes.c_void_p(display))
    if not drawable:
        raise RenderError(f"render_mode='human': the display {found!r} has no OpenGL (GLX){hint}")


def chequered_floor(floor: Floor, world: int, centre: Array) -> list[Visual]:
    """Return the dark and the bright tiles of a floor around the point below `centre` (3,) [m]."""
    origin, e1, e2 = plane_frame(floor)
    steps = np.arange(TILES) - TILES // 2
    middle = np.round(np.array([e1, e2]) @ (centre - origin) / floor.tile)
    i, j = (grid.ravel() for grid in np.meshgrid(steps + middle[0], steps + middle[1]))
    edges = [(i + a)[:, None] * e1 + (j + b)[:, None] * e2 for a, b in TILE_CORNERS]
    corners = np.stack(edges, 1)
    visuals = []
    for parity, colour in enumerate(TILE_COLOURS):
        tiles = corners[(i + j) % 2 == parity] * floor.tile + origin
        vertices = tiles.reshape(-1, 3)
        normals = np.tile(floor.normal, (len(vertices), 1))
        surface = Surface(vertices, normals, quads(len(tiles)))
        visuals.append(Visual(world, surface, np.zeros(3), NO_ROTATION, colour, np.zeros((8, 3))))
    return visuals

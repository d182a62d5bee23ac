"""Live scene in web browsers, served by viser."""

import atexit
import contextlib
import io
import math
import os
import sys
import weakref

import numpy as np
import viser
from numpy.typing import ArrayLike

from vigym.mechanism.mechanism import Mechanism
from vigym.render.backends.frame_limiter import FrameLimiter
from vigym.render.overlay.marks import Marks, force_arrows
from vigym.render.scene.camera import Array, Camera
from vigym.render.scene.framing import Floor
from vigym.render.scene.scene import Scene
from vigym.render.scene.visuals import NO_ROTATION, Visual
from vigym.spatial import quaternion_from_z

HOST, PORT = "127.0.0.1", 8080  # this machine only; the next free port if this one is in use
AMBIENT = 0.6  # ambient light beside viser's own lamps
FADE = 12.0  # distance at which the floor's grid fades [scene sizes]
SHAFT, HEAD = 0.006, 0.018  # radii of an arrow [scene sizes]
HEAD_LENGTH = 0.045  # of an arrow [scene sizes]
FORCE = (214, 40, 90)
LINES, GROUND = (176, 186, 198), (232, 236, 241)


class BrowserRenderer:
    """Renderer of mode "browser"; the first picture prints the address to standard error.

    Followed bodies stay in the middle and the world moves past them, so that the user may turn the
    view.

    Args:
        mechanism: drawn in its present state.
        camera: initial view; the user at the browser changes it.
        width, height: aspect ratio of the picture that the initial view fills [pixels].
        rate: upper bound of pictures per second; None: no bound.
    """

    def __init__(
        self, mechanism: Mechanism, camera: Camera, width: int, height: int, rate: float | None
    ) -> None:
        self._scene = Scene(mechanism, camera, width, height)
        self._limiter = FrameLimiter(rate)
        self._page: Page | None = None

    @property
    def address(self) -> str | None:
        """URL of the page; None before the first `render` and after `close`."""
        return None if self._page is None else self._page.address

    def render(
        self, positions: ArrayLike, orientations: ArrayLike, marks: Marks | None = None
    ) -> None:
        """Show the bodies.

        Args:
            positions: centres of mass in the order of `mech.bodies` (n_bodies, 3) [m].
            orientations: quaternions (w, x, y, z), body to world (n_bodies, 4).
            marks: contact forces and energies to show.

        Raises:
            ValueError: a wrong shape or a number that is not finite.
        """
        positions, orientations = self._scene.check_poses(positions, orientations)
        if self._page is None or self._page.process != os.getpid():  # a fork has no server
            self._page = Page(self._scene)
            print(f"vigym shows the scene at {self._page.address}", file=sys.stderr, flush=True)
        self._page.show(positions, orientations, marks or Marks())
        self._limiter.wait()

    def close(self) -> None:
        """Stop serving; `render` starts anew. May be called again and in a forked process."""
        if self._page is not None:
            self._page.stop()
        self._page = None


class Page:
    """Web page of a scene.

    Args:
        scene: visuals, floor and camera.

    Attributes:
        address: URL.
        process: id of the process that serves it.
        visuals: viser's mesh of every visual.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene, self.process = scene, os.getpid()
        with contextlib.redirect_stdout(io.StringIO()):  # viser prints a banner
            self._server = viser.ViserServer(HOST, PORT, label="vigym", verbose=False)
        self._finalizer = weakref.finalize(self, _stop, self._server, os.getpid())
        atexit.register(self._finalizer)  # before viser's own, which prints
        self.address = f"http://localhost:{self._server.get_port()}"
        self._set_camera()
        nodes = self._server.scene
        names = [f"/body{i}" for i in range(scene.bodies + 1)]
        self._frames = [nodes.add_frame(name, show_axes=False) for name in names]
        self.visuals = [
            self._add_mesh(f"/body{visual.body}/visual{i}", visual)
            for i, visual in enumerate(scene.visuals)
        ]
        self._floor = None if scene.floor is None else self._add_grid(scene.floor)
        self._forces = nodes.add_arrows(
            "/forces",
            np.zeros((0, 2, 3)),
            FORCE,
            shaft_radius=SHAFT * scene.size,
            head_radius=HEAD * scene.size,
            head_length=HEAD_LENGTH * scene.size,
        )
        self._text = self._server.gui.add_markdown("", visible=False)

    def _set_camera(self) -> None:
        """Set the initial view and the light."""
        self._server.gui.configure_theme(show_logo=False, show_share_button=False)
        self._server.scene.add_light_ambient("/ambient", intensity=AMBIENT)
        camera, view = self._server.initial_camera, self._scene.view
        camera.position, camera.look_at = view.position, view.target
        camera.fov = 2.0 * math.atan(1.0 / view.projection[1, 1])

    def show(self, positions: Array, orientations: Array, marks: Marks) -> None:
        """Move the bodies and update the overlay.

        Args:
            positions: (n_bodies, 3) [m].
            orientations: (n_bodies, 4), (w, x, y, z).
            marks: contact forces and energies.
        """
        shift, scene = self._scene.shifts(positions)[0], self._scene
        places, quaternions = [*positions, np.zeros(3)], [*orientations, NO_ROTATION]
        with self._server.atomic():
            for frame, place, wxyz in zip(self._frames, places, quaternions, strict=True):
                frame.position, frame.wxyz = place - shift, wxyz
            if self._floor is not None and scene.floor is not None:
                self._floor.position = scene.floor.height * scene.floor.normal - shift
            if marks.forces is not None and marks.points is not None:
                tails = marks.points - shift
                arrows = force_arrows(marks.forces, scene.weight, scene.size)
                self._forces.points = np.stack((tails, tails + arrows), axis=1)
            if marks.energies is not None:
                lines = [f"- {name} {value:.3f} J" for name, value in marks.energies.items()]
                self._text.content = "\n".join(lines)
                self._text.visible = True

    def stop(self) -> None:
        """Stop serving; garbage collection of the page does the same."""
        atexit.unregister(self._finalizer)
        self._finalizer()

    def _add_mesh(self, name: str, visual: Visual) -> viser.MeshHandle:
        opacity = float(visual.colour[3])
        return self._server.scene.add_mesh_simple(
            name,
            visual.surface.vertices,
            visual.surface.triangles,
            color=tuple(visual.colour[:3].tolist()),
            opacity=opacity if opacity < 1.0 else None,
            side="double" if visual.surface.two_sided else "front",
            position=visual.position,
            wxyz=visual.orientation,
        )

    def _add_grid(self, floor: Floor) -> viser.GridHandle:
        return self._server.scene.add_grid(
            "/floor",
            infinite_grid=True,
            cell_size=floor.tile,
            section_size=5 * floor.tile,
            cell_color=LINES,
            section_color=LINES,
            fade_distance=FADE * self._scene.size,
            plane_color=GROUND,
            plane_opacity=1.0,
            shadow_opacity=0.3,
            wxyz=quaternion_from_z(floor.normal),
            position=floor.height * floor.normal,
        )


def _stop(server: viser.ViserServer, process: int) -> None:
    """Stop a server silently, in the process that started it."""
    if os.getpid() == process:
        with contextlib.redirect_stdout(io.StringIO()):
            server.stop()

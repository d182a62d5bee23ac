"""The scene in a web browser, live: viser serves it, and the mouse turns and zooms it there."""

import atexit
import contextlib
import io
import math
import os
import sys
import weakref

import numpy as np
import trimesh
import viser
from numpy.typing import ArrayLike, NDArray

from vigym.mechanism.mechanism import Mechanism
from vigym.render.backends.pace import Pace
from vigym.render.overlay.marks import Marks, arrows_of
from vigym.render.scene.camera import Array, Camera
from vigym.render.scene.framing import Floor
from vigym.render.scene.meshes import RenderError
from vigym.render.scene.pieces import Piece
from vigym.render.scene.scene import Scene
from vigym.render.scene.surfaces import MeshFile
from vigym.spatial import turning_z_to

HOST, PORT = "127.0.0.1", 8080  # this machine only; the next free port where another program has this one
AMBIENT = 0.6  # light from everywhere, beside viser's own lamps
FADE = 12.0  # the floor's lines fade with the distance [scene sizes]
SHAFT, HEAD, POINT = 0.006, 0.018, 0.045  # radii of an arrow and length of its head, in scene sizes
FORCE, LINES, GROUND = (214, 40, 90), (176, 186, 198), (232, 236, 241)
STILL = np.array([1.0, 0.0, 0.0, 0.0])


class BrowserRenderer:
    """Shows bodies in every browser that opens its address; standard error tells it with the first picture.

    What the camera follows stays in the middle and the world moves past it, so that a person may turn the view.

    Args:
        mechanism: what is shown.
        camera: first view; the person at the browser changes it.
        width, height: shape of the picture that the first view fills [pixels].
        rate: pictures per second that `render` does not exceed; None does not wait.
    """

    def __init__(self, mechanism: Mechanism, camera: Camera, width: int, height: int, rate: float | None) -> None:
        self._scene = Scene(mechanism, camera, width, height)
        self._pace = Pace(rate)
        self._page: Page | None = None

    @property
    def address(self) -> str | None:
        """Where the scene is shown; None before the first `render` and after `close`."""
        return None if self._page is None else self._page.address

    def render(self, positions: ArrayLike, orientations: ArrayLike, marks: Marks | None = None) -> None:
        """Show the bodies.

        Args:
            positions: centres of mass in the order of `mech.bodies` (n_bodies, 3) [m].
            orientations: quaternions (w, x, y, z), body to world (n_bodies, 4).
            marks: forces and energies that are shown, too.

        Raises:
            ValueError: a wrong shape or a number that is not finite.
            RenderError: a mesh file that cannot be read.
        """
        positions, orientations = self._scene.checked(positions, orientations)
        if self._page is None or self._page.process != os.getpid():  # a fork has no part in its parent's page
            self._page = Page(self._scene)
            print(f"vigym shows the scene at {self._page.address}", file=sys.stderr, flush=True)
        self._page.show(positions, orientations, marks or Marks())
        self._pace.wait()

    def close(self) -> None:
        """Stop serving; another `render` starts anew. May be called again, and in a forked process."""
        if self._page is not None:
            self._page.stop()
        self._page = None


class Page:
    """What a browser keeps of a scene, and how it changes.

    Args:
        scene: what is shown.

    Attributes:
        address: of the page.
        process: that serves it.
        pieces: what viser holds of every piece.

    Raises:
        RenderError: a mesh file that cannot be read.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene, self.process = scene, os.getpid()
        meshes = [_triangles(piece) for piece in scene.pieces]
        with contextlib.redirect_stdout(io.StringIO()):  # it has a banner
            self._server = server = viser.ViserServer(HOST, PORT, label="vigym", verbose=False)
        self._finalizer = weakref.finalize(self, _stop, server, os.getpid())
        atexit.register(self._finalizer)  # before the one of viser, which says goodbye
        self.address = f"http://localhost:{server.get_port()}"
        server.gui.configure_theme(show_logo=False, show_share_button=False)
        server.scene.add_light_ambient("/ambient", intensity=AMBIENT)
        camera, view = server.initial_camera, scene.view
        camera.position, camera.look_at = view.position, view.target
        camera.fov = 2.0 * math.atan(1.0 / view.projection[1, 1])
        self._frames = [server.scene.add_frame(f"/body{i}", show_axes=False) for i in range(scene.bodies + 1)]
        shown = enumerate(zip(scene.pieces, meshes, strict=True))
        self.pieces = [self._added(f"/body{piece.body}/piece{i}", piece, *mesh) for i, (piece, mesh) in shown]
        self._floor = None if scene.floor is None else self._grid(scene.floor)
        shaft, head, point = (value * scene.size for value in (SHAFT, HEAD, POINT))
        self._forces = server.scene.add_arrows(
            "/forces", np.zeros((0, 2, 3)), FORCE, shaft_radius=shaft, head_radius=head, head_length=point
        )
        self._text = server.gui.add_markdown("", visible=False)

    def show(self, positions: Array, orientations: Array, marks: Marks) -> None:
        """Move bodies to positions (n_bodies, 3) [m] and orientations (n_bodies, 4), (w, x, y, z); show marks."""
        shift, scene = self._scene.shifts(positions)[0], self._scene
        with self._server.atomic():
            for frame, place, turn in zip(self._frames, [*positions, np.zeros(3)], [*orientations, STILL], strict=True):
                frame.position, frame.wxyz = place - shift, turn
            if self._floor is not None and scene.floor is not None:
                self._floor.position = scene.floor.height * scene.floor.normal - shift
            if marks.forces is not None and marks.points is not None:
                tails, arrows = marks.points - shift, arrows_of(marks.forces, scene.weight, scene.size)
                self._forces.points = np.stack((tails, tails + arrows), axis=1)
            if marks.energies is not None:
                self._text.content = "\n".join(f"- {name} {value:.3f} J" for name, value in marks.energies.items())
                self._text.visible = True

    def stop(self) -> None:
        """Stop serving; the same happens to a page that is forgotten."""
        atexit.unregister(self._finalizer)
        self._finalizer()

    def _added(self, name: str, piece: Piece, vertices: Array, faces: NDArray[np.int64]) -> viser.MeshHandle:
        colour, opacity = piece.colour[:3], float(piece.colour[3])
        return self._server.scene.add_mesh_simple(
            name, vertices, faces, color=tuple(colour.tolist()), opacity=opacity if opacity < 1.0 else None,
            flat_shading=isinstance(piece.surface, MeshFile), position=piece.position, wxyz=piece.orientation,
        )  # fmt: skip

    def _grid(self, floor: Floor) -> viser.GridHandle:
        size = self._scene.size
        return self._server.scene.add_grid(
            "/floor", infinite_grid=True, cell_size=floor.tile, section_size=5 * floor.tile, cell_color=LINES,
            section_color=LINES, fade_distance=FADE * size, plane_color=GROUND, plane_opacity=1.0, shadow_opacity=0.3,
            wxyz=turning_z_to(floor.normal), position=floor.height * floor.normal,
        )  # fmt: skip


def _stop(server: viser.ViserServer, process: int) -> None:
    """Stop a server in the process that started it, without its last words."""
    if os.getpid() == process:
        with contextlib.redirect_stdout(io.StringIO()):
            server.stop()


def _triangles(piece: Piece) -> tuple[Array, NDArray[np.int64]]:
    """Return vertices (n, 3) [m] and triangles (m, 3) of a piece.

    Raises:
        RenderError: a mesh file that cannot be read.
    """
    surface = piece.surface
    if not isinstance(surface, MeshFile):
        return surface.vertices, surface.triangles
    try:
        mesh = trimesh.load_mesh(surface.path)
    except Exception as error:  # each of its many readers has errors of its own
        raise RenderError(f"mesh {str(surface.path)!r}: trimesh cannot read it: {error}") from error
    return np.asarray(mesh.vertices) * surface.scale, np.asarray(mesh.faces)

"""Arrays of colours without display or graphics driver.

pybullet's software rasteriser photographs the pieces, twice as fine as the picture and only the rectangle that holds
them; they are laid over the painted backdrop.
"""

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.render.backends.backdrop import Backdrop, hidden
from vigym.render.backends.bullet import Stage
from vigym.render.overlay.marks import Marks
from vigym.render.scene.camera import Array, View
from vigym.render.scene.framing import Floor
from vigym.render.scene.meshes import RenderError, bullet
from vigym.render.scene.scene import Scene

if TYPE_CHECKING:
    from vigym.render.overlay.overlay import Overlay

Pixels = NDArray[np.uint8]
SAMPLES = 2  # photographed pixels along each edge of a pixel, for smooth rims
RIM = 2  # [pixels] around the rectangle that holds the pieces
LIGHT = {"lightColor": [1.0, 1.0, 1.0], "lightAmbientCoeff": 0.62, "lightDiffuseCoeff": 0.42, "lightSpecularCoeff": 0.3}


class SoftwareRenderer:
    """Draws bodies as arrays of colours.

    Args:
        scene: what is drawn and from where.
        colours: where the pieces are photographed in colour, in place of the software rasteriser; shadows are its work
            always: they are small, and it is quick to start.
        shadow: whether the pieces throw one on the floor.
    """

    def __init__(self, scene: Scene, colours: Stage | None = None, shadow: bool = True) -> None:
        self._scene = scene
        self._stage = Stage(scene.pieces, connect)
        self._colours = colours or self._stage
        self._shadow = shadow and scene.floor is not None
        self._backdrop = Backdrop(scene.view, scene.floor)
        self._overlay: Overlay | None = None

    def render(self, positions: ArrayLike, orientations: ArrayLike, marks: Marks | None = None) -> Pixels:
        """Return a picture (height, width, 3), a fresh array.

        Args:
            positions: centres of mass in the order of `mech.bodies` (n_bodies, 3) [m].
            orientations: quaternions (w, x, y, z), body to world (n_bodies, 4).
            marks: what is drawn over the picture.

        Raises:
            ValueError: a wrong shape or a number that is not finite.
            RenderError: pybullet cannot draw here, or Pillow is missing, which draws marks.
        """
        scene = self._scene
        positions, orientations = scene.checked(positions, orientations)
        shift, light_shift = scene.shifts(positions)
        # the world moves past the camera: pybullet draws in single precision, far from the origin that shows
        placed, turned = scene.place(positions - shift, orientations, -shift)
        for stage in {self._stage, self._colours} if self._shadow else {self._colours}:
            stage.pose(placed, turned)
        picture = self._backdrop.picture(shift)
        if self._shadow:
            light = scene.light if scene.follows else scene.light.moved(light_shift)
            _, _, blocked = self._stage.photograph(light)
            self._backdrop.shade(picture, light, blocked)
        floor = None if scene.floor is None else scene.floor.seen_from(shift)
        self._lay_over(picture, scene.corners(placed, turned), floor)
        return picture if marks is None else self._marked(picture, scene.view.moved(shift), marks)

    def _marked(self, picture: Pixels, view: View, marks: Marks) -> Pixels:
        """Return the picture with marks, seen by `view`."""
        if self._overlay is None:
            try:
                from vigym.render.overlay.overlay import Overlay
            except ImportError as error:
                raise RenderError(f"an overlay needs Pillow (pip install pillow): {error}") from error
            self._overlay = Overlay(self._scene.weight, self._scene.size)
        return self._overlay.draw(picture, view, marks)

    def close(self) -> None:
        """Give pybullet's memory back; may be called again."""
        self._stage.close()
        self._colours.close()

    def _lay_over(self, picture: Pixels, corners: Array, floor: Floor | None) -> None:
        """Draw the pieces into the rectangle of the picture that holds them."""
        view = self._scene.view
        left, top, width, height = rectangle(view, corners)
        if width == 0 or height == 0:
            return
        n = SAMPLES if bullet().isNumpyEnabled() else 1  # tuples are slow to read
        part = view.cropped(left, top, width, height, n)
        sun = self._scene.light.view[2, :3].tolist()
        colours, depth, mine = self._colours.photograph(part, lightDirection=sun, **LIGHT)
        if floor is not None and (corners @ floor.normal).min() < floor.height:
            mine = mine & ~hidden(part, floor, depth)
        below = picture[top : top + height, left : left + width]
        below[:] = _blended(colours, mine, below, n)


def rectangle(view: View, corners: Array) -> tuple[int, int, int, int]:
    """Return left, top, width, height [pixels] of a rectangle that holds all that lies between `corners` (n, 3) [m]."""
    if not len(corners):
        return 0, 0, 0, 0
    clip = corners @ view.matrix[:, :3].T + view.matrix[:, 3]
    depth = clip[:, 3:]
    if depth.min() <= 0.0:  # beside or behind the camera: no simple outline
        return 0, 0, view.width, view.height
    places = (clip[:, :2] / depth * [1.0, -1.0] + 1.0) / 2 * [view.width, view.height]  # rows count from the top
    size = np.array([view.width, view.height])
    low = np.clip(np.floor(places.min(axis=0)) - RIM, 0, size).astype(int)
    high = np.clip(np.ceil(places.max(axis=0)) + RIM, 0, size).astype(int)
    return int(low[0]), int(low[1]), int(high[0] - low[0]), int(high[1] - low[1])


def connect(p: ModuleType) -> int:
    """Return a client of pybullet that needs no display."""
    client: int = p.connect(p.DIRECT)
    return client


def _blended(colours: Pixels, mine: NDArray[np.bool_], below: Pixels, n: int) -> Pixels:
    """Return the mean of n x n samples: `colours` (n h, n w, 3) where they are `mine`, else `below` (h, w, 3)."""
    total = np.zeros(below.shape, dtype=np.uint16)
    free = np.full((*below.shape[:2], 1), n * n, dtype=np.uint16)
    for row in range(n):
        for column in range(n):
            chosen = mine[row::n, column::n, None]
            total += colours[row::n, column::n] * chosen
            free -= chosen
    total += free * below
    mean: Pixels = (total // np.uint16(n * n)).astype(np.uint8)
    return mean

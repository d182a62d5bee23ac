"""Arrays of colours without display or graphics driver.

pybullet's software rasteriser photographs the pieces, twice as fine as the picture and only the rectangle that holds
them; they are laid over the painted backdrop.
"""

from types import ModuleType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.render.backdrop import Backdrop, hidden, paint
from vigym.render.camera import Array, View
from vigym.render.scene import Scene
from vigym.render.stage import Stage, bullet
from vigym.render.surface import MeshFile

Pixels = NDArray[np.uint8]
SAMPLES = 2  # photographed pixels along each edge of a pixel, for smooth rims
RIM = 2  # [pixels] around the rectangle that holds the pieces
LIGHT = {"lightColor": [1.0, 1.0, 1.0], "lightAmbientCoeff": 0.62, "lightDiffuseCoeff": 0.42, "lightSpecularCoeff": 0.3}


class SoftwareRenderer:
    """Draws bodies as arrays of colours.

    Args:
        scene: what is drawn and from where.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._stage = Stage(scene.pieces, _connect)
        self._painted: tuple[View, View, Backdrop] | None = None
        self._cuts = not any(isinstance(piece.surface, MeshFile) for piece in scene.pieces)

    def render(self, positions: ArrayLike, orientations: ArrayLike) -> Pixels:
        """Return a picture (height, width, 3), a fresh array.

        Args:
            positions: centres of mass in the order of `mech.bodies` (n_bodies, 3) [m].
            orientations: quaternions (w, x, y, z), body to world (n_bodies, 4).

        Raises:
            ValueError: a wrong shape or a number that is not finite.
            RenderError: pybullet cannot draw here.
        """
        positions, orientations = self._scene.checked(positions, orientations)
        view, light = self._scene.views(positions)
        placed, turned = self._scene.place(positions, orientations)
        self._stage.pose(placed, turned)
        picture: Pixels = self._background(view, light)
        self._lay_over(picture, view, placed)
        return picture

    def close(self) -> None:
        """Give pybullet's memory back; may be called again."""
        self._stage.close()

    def _background(self, view: View, light: View) -> Pixels:
        if self._painted is None or self._painted[0] is not view or self._painted[1] is not light:
            self._painted = view, light, paint(view, light, self._scene.floor)
        backdrop = self._painted[2]
        if not len(backdrop.pixels):
            plain: Pixels = backdrop.picture.copy()
            return plain
        _, _, blocked = self._stage.photograph(light)
        return backdrop.shaded(blocked)

    def _lay_over(self, picture: Pixels, view: View, placed: Array) -> None:
        """Draw the pieces into the rectangle of the picture that holds them."""
        left, top, width, height = self._rectangle(view, placed)
        if width == 0 or height == 0:
            return
        n = SAMPLES if bullet().isNumpyEnabled() else 1  # tuples are slow to read
        part = view.cropped(left, top, width, height, n)
        colours, depth, mine = self._stage.photograph(part, lightDirection=self._scene.sun.tolist(), **LIGHT)
        if self._scene.floor is not None:
            mine = mine & ~hidden(part, self._scene.floor, depth)
        below = picture[top : top + height, left : left + width]
        below[:] = _blended(colours * mine[..., None], mine, below, n)

    def _rectangle(self, view: View, placed: Array) -> tuple[int, int, int, int]:
        """Return left, top, width, height [pixels] of a rectangle that holds all pieces."""
        whole = 0, 0, view.width, view.height
        if not self._cuts or not len(placed):
            return whole
        clip = view.matrix @ np.column_stack((placed, np.ones(len(placed)))).T
        radii, depth = self._scene.radii, clip[3]
        if (depth <= 2.0 * radii).any():  # beside or behind the camera a ball has no simple outline
            return whole
        edges = []
        for axis, pixels in ((0, view.width), (1, view.height)):
            middle = clip[axis] / depth
            spread = radii * (view.projection[axis, axis] + np.abs(middle)) / (depth - radii)
            low, high = float((middle - spread).min()), float((middle + spread).max())
            if axis == 1:
                low, high = -high, -low  # rows count from the top
            first, last = (low + 1.0) * pixels / 2 - RIM, (high + 1.0) * pixels / 2 + RIM
            edges.append((int(np.clip(first, 0, pixels)), int(np.clip(last + 1, 0, pixels))))
        (left, right), (top, bottom) = edges
        return left, top, right - left, bottom - top


def _connect(p: ModuleType) -> int:
    client: int = p.connect(p.DIRECT)
    return client


def _blended(colours: Pixels, mine: NDArray[np.bool_], below: Pixels, n: int) -> Pixels:
    """Return the mean of n x n samples: `colours` (n h, n w, 3) where they are `mine`, else `below` (h, w, 3)."""
    total = np.zeros(below.shape, dtype=np.uint16)
    open_ = np.full((*below.shape[:2], 1), n * n, dtype=np.uint16)
    for row in range(n):
        for column in range(n):
            total += colours[row::n, column::n]
            open_ -= mine[row::n, column::n, None]
    total += open_ * below
    mean: Pixels = (total // np.uint16(n * n)).astype(np.uint8)
    return mean

"""Pictures as arrays, without display or graphics driver.

pybullet's software rasteriser draws the visuals with twice the resolution of the picture, only in
the rectangle that contains them; they are blended over the painted backdrop.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.render.backends.backdrop import Backdrop, below_floor
from vigym.render.backends.bullet import BulletClient, Pixels
from vigym.render.overlay.marks import Marks
from vigym.render.scene.camera import Array, View
from vigym.render.scene.framing import Floor
from vigym.render.scene.meshes import RenderError, import_pybullet
from vigym.render.scene.scene import Scene

if TYPE_CHECKING:
    from vigym.render.overlay.overlay import Overlay

SAMPLES = 2  # samples along each pixel edge (anti-aliasing)
RIM = 2  # [pixels] around the rectangle that contains the visuals
LIGHT = {
    "lightColor": [1.0, 1.0, 1.0],
    "lightAmbientCoeff": 0.62,
    "lightDiffuseCoeff": 0.42,
    "lightSpecularCoeff": 0.3,
}


class SoftwareRenderer:
    """Renderer of mode "rgb_array".

    Args:
        scene: visuals, floor and camera.
        colours: client that draws the visuals in place of the software rasteriser; shadow maps are
            drawn by the rasteriser in any case: they are small, and it starts quickly.
        shadow: whether the visuals cast a shadow on the floor.
    """

    def __init__(
        self, scene: Scene, colours: BulletClient | None = None, shadow: bool = True
    ) -> None:
        self._scene = scene
        self._client = BulletClient(scene.visuals)
        self._colours = colours or self._client
        self._shadow = shadow and scene.floor is not None
        self._backdrop = Backdrop(scene.view, scene.floor)
        self._overlay: Overlay | None = None

    def render(
        self, positions: ArrayLike, orientations: ArrayLike, marks: Marks | None = None
    ) -> Pixels:
        """Return a picture (height, width, 3), a fresh array.

        Args:
            positions: centres of mass in the order of `mech.bodies` (n_bodies, 3) [m].
            orientations: quaternions (w, x, y, z), body to world (n_bodies, 4).
            marks: contact forces and energies to draw over the picture.

        Raises:
            ValueError: a wrong shape or a number that is not finite.
            RenderError: pybullet cannot draw here, or marks without Pillow.
        """
        scene = self._scene
        positions, orientations = scene.check_poses(positions, orientations)
        shift, light_shift = scene.shifts(positions)
        # pybullet draws in single precision: the world moves past a camera near the origin
        poses = scene.visual_poses(positions - shift, orientations, -shift)
        for client in {self._client, self._colours} if self._shadow else {self._colours}:
            client.set_poses(*poses)
        picture = self._backdrop.picture(shift)
        if self._shadow:
            light = scene.light if scene.follows else scene.light.translated(light_shift)
            _, _, blocked = self._client.capture(light)
            self._backdrop.add_shadow(picture, light, blocked)
        floor = None if scene.floor is None else scene.floor.in_shifted_frame(shift)
        self._draw_visuals(picture, scene.bounding_corners(*poses), floor)
        if marks is None:
            return picture
        return self._draw_overlay(picture, scene.view.translated(shift), marks)

    def _draw_overlay(self, picture: Pixels, view: View, marks: Marks) -> Pixels:
        """Return a picture seen by `view` with marks over it."""
        if self._overlay is None:
            try:
                from vigym.render.overlay.overlay import Overlay
            except ImportError as error:
                raise RenderError(
                    f"an overlay needs Pillow (pip install pillow): {error}"
                ) from error
            self._overlay = Overlay(self._scene.weight, self._scene.size)
        return self._overlay.draw(picture, view, marks)

    def close(self) -> None:
        """Release pybullet's memory; may be called again."""
        self._client.close()
        self._colours.close()

    def _draw_visuals(self, picture: Pixels, corners: Array, floor: Floor | None) -> None:
        """Draw the visuals into the rectangle of the picture that contains `corners` (n, 3) [m]."""
        view = self._scene.view
        left, top, width, height = bounding_rectangle(view, corners)
        if width == 0 or height == 0:
            return
        samples = SAMPLES if import_pybullet().isNumpyEnabled() else 1  # tuples are slow to read
        part = view.cropped(left, top, width, height, samples)
        sun = self._scene.light.view[2, :3].tolist()
        colours, depth, mask = self._colours.capture(part, lightDirection=sun, **LIGHT)
        if floor is not None and (corners @ floor.normal).min() < floor.height:
            mask = mask & ~below_floor(part, floor, depth)
        background = picture[top : top + height, left : left + width]
        background[:] = _blend(colours, mask, background, samples)


def bounding_rectangle(view: View, corners: Array) -> tuple[int, int, int, int]:
    """Return left, top, width, height [pixels] of a rectangle around `corners` (n, 3) [m]."""
    if not len(corners):
        return 0, 0, 0, 0
    places, depth = view.to_pixels(corners)
    if depth.min() <= 0.0:  # beside or behind the camera: no simple outline
        return 0, 0, view.width, view.height
    size = np.array([view.width, view.height])
    low = np.clip(np.floor(places.min(axis=0)) - RIM, 0, size).astype(int)
    high = np.clip(np.ceil(places.max(axis=0)) + RIM, 0, size).astype(int)
    return int(low[0]), int(low[1]), int(high[0] - low[0]), int(high[1] - low[1])


def _blend(colours: Pixels, mask: NDArray[np.bool_], background: Pixels, n: int) -> Pixels:
    """Return the mean of n x n samples per pixel (h, w, 3).

    Args:
        colours: samples (n h, n w, 3).
        mask: samples (n h, n w) that show a visual; the others show the background.
        background: (h, w, 3).
        n: samples along each pixel edge.
    """
    total = np.zeros(background.shape, dtype=np.uint16)
    uncovered = np.full((*background.shape[:2], 1), n * n, dtype=np.uint16)
    for row in range(n):
        for column in range(n):
            covered = mask[row::n, column::n, None]
            total += colours[row::n, column::n] * covered
            uncovered -= covered
    total += uncovered * background
    mean: Pixels = (total // np.uint16(n * n)).astype(np.uint8)
    return mean

"""Pictures as arrays, without display or graphics driver.

The rasteriser draws the visuals with twice the resolution of the picture, only in the rectangle
that contains them; they are blended over the painted backdrop.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.render.backends.backdrop import SHADE, Backdrop, soften_shadow
from vigym.render.errors import RenderError
from vigym.render.overlay.marks import Marks
from vigym.render.raster.kernels import blend
from vigym.render.raster.rasterizer import Pixels, Rasterizer, Rectangle
from vigym.render.scene.camera import Array, View
from vigym.render.scene.framing import Floor
from vigym.render.scene.scene import Scene

if TYPE_CHECKING:
    from vigym.render.overlay.overlay import Overlay

SAMPLES = 2  # samples along each pixel edge (anti-aliasing)
RIM = 2  # [pixels] around the rectangle that contains the visuals


class SoftwareRenderer:
    """Renderer of mode "rgb_array".

    Args:
        scene: visuals, floor and camera.
        shadow: whether the visuals cast a shadow on the floor, or on the terrain.
    """

    def __init__(self, scene: Scene, shadow: bool = True) -> None:
        self._scene = scene
        self._rasterizer = Rasterizer(scene.visuals, scene.terrain_visuals)
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
            RenderError: marks without Pillow.
        """
        scene = self._scene
        positions, orientations = scene.check_poses(positions, orientations)
        shift, light_shift = scene.shifts(positions)
        # the world moves past a camera at rest: its backdrop stays
        poses = scene.visual_poses(positions - shift, orientations, -shift)
        self._rasterizer.set_poses(*poses)
        picture = self._backdrop.picture(shift)
        light = scene.light if scene.follows else scene.light.translated(light_shift)
        if self._shadow and not scene.terrain_visuals:
            self._backdrop.add_shadow(picture, light, self._rasterizer.blocked(light))
        floor = None if scene.floor is None else scene.floor.in_shifted_frame(shift)
        self._draw_visuals(picture, scene.bounding_corners(*poses), floor, light)
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
        """Close nothing: pictures hold no resources."""

    def _draw_visuals(
        self, picture: Pixels, corners: Array, floor: Floor | None, light: View
    ) -> None:
        """Draw the visuals into the rectangle of the picture that contains `corners` (n, 3) [m]."""
        view = self._scene.view
        part = bounding_rectangle(view, corners)
        left, top, width, height = part
        if width == 0 or height == 0:
            return
        sun = self._scene.light.view[2, :3]
        samples = self._rasterizer.draw(view, part, SAMPLES, sun, floor)
        if self._shadow and self._scene.terrain_visuals:
            shade = np.float32(SHADE) * soften_shadow(self._rasterizer.blocked(light))
            self._rasterizer.cast_shadow(samples, view, part, light, np.ascontiguousarray(shade))
        blend(samples, picture[top : top + height, left : left + width])


class MapRenderer:
    """Renderer of modes "depth_array" and "segmentation_array": distance or body at each pixel.

    Args:
        scene: visuals, floor and camera.
        mode: of the two.
    """

    def __init__(self, scene: Scene, mode: str) -> None:
        self._scene, self._mode = scene, mode
        self._rasterizer = Rasterizer(scene.visuals)
        self._bodies = np.array([visual.body for visual in scene.visuals], dtype=np.int32)

    def render(
        self, positions: ArrayLike, orientations: ArrayLike, marks: Marks | None = None
    ) -> NDArray[np.float32] | NDArray[np.int32]:
        """Return the map (height, width), a fresh array.

        "depth_array": distance from the camera along its view [m] float32, infinite in the sky.
        "segmentation_array": index in `mech.bodies` int32, the number of bodies for shapes of the
        world and the floor, -1 in the sky.

        Args:
            positions: centres of mass in the order of `mech.bodies` (n_bodies, 3) [m].
            orientations: quaternions (w, x, y, z), body to world (n_bodies, 4).
            marks: None; a map shows no overlay.

        Raises:
            ValueError: marks, a wrong shape or a number that is not finite.
        """
        if marks is not None:
            raise ValueError("marks: found some, expected None: a map shows no overlay")
        scene = self._scene
        positions, orientations = scene.check_poses(positions, orientations)
        shift, _ = scene.shifts(positions)
        self._rasterizer.set_poses(*scene.visual_poses(positions - shift, orientations, -shift))
        floor = None if scene.floor is None else scene.floor.in_shifted_frame(shift)
        seen = self._rasterizer.draw(scene.view, floor=floor)
        if self._mode == "depth_array":
            with np.errstate(divide="ignore"):
                depth: NDArray[np.float32] = (1.0 / seen.inverse).astype(np.float32)
            return depth
        backdrop = np.where(seen.inverse > 0.0, scene.bodies, -1).astype(np.int32)
        covered = seen.visual >= 0
        backdrop[covered] = self._bodies[seen.visual[covered]]
        return backdrop

    def close(self) -> None:
        """Close nothing: maps hold no resources."""


def bounding_rectangle(view: View, corners: Array) -> Rectangle:
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

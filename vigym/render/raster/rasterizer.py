"""Rasteriser of the visuals of a scene."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vigym.render.raster import kernels
from vigym.render.scene.camera import Array, View
from vigym.render.scene.framing import Floor, plane_frame
from vigym.render.scene.visuals import Visual

Pixels = NDArray[np.uint8]
Rectangle = tuple[int, int, int, int]  # left, top, width, height [pixels]

AMBIENT, DIFFUSE = 0.62, 0.42  # brightness of the light
SPECULAR = 0.075  # of highlights


class Rasterizer:
    """Triangles of visuals, drawn where `set_poses` has put them.

    Args:
        visuals: in the order of the poses.
        receivers: number of the last visuals, on which others cast shadows, and that cast none.
    """

    def __init__(self, visuals: Sequence[Visual], receivers: int = 0) -> None:
        surfaces = [visual.surface for visual in visuals]
        counts = [len(surface.vertices) for surface in surfaces]
        starts = np.cumsum([0, *counts])[:-1]
        index = np.arange(len(visuals))
        shown = [  # opacity 0 hides a visual; all others are opaque
            visual.surface.triangles[: None if visual.colour[3] > 0.0 else 0] for visual in visuals
        ]
        triangles = [indices + start for indices, start in zip(shown, starts, strict=True)]
        self._surfaces = kernels.Surfaces(
            vertices=_stacked([surface.vertices for surface in surfaces]),
            normals=_stacked([surface.normals for surface in surfaces]),
            vertex_visual=np.repeat(index, counts),
            triangles=np.concatenate([np.zeros((0, 3), np.int64), *triangles]),
            visual=np.repeat(index, [len(indices) for indices in shown]),
            two_sided=np.array([surface.two_sided for surface in surfaces], dtype=np.bool_),
            colours=_stacked([visual.colour[None, :3] for visual in visuals]),
        )
        self._first_receiver = len(visuals) - receivers
        cast = int(np.count_nonzero(self._surfaces.visual < self._first_receiver))
        self._casters = self._surfaces._replace(
            triangles=self._surfaces.triangles[:cast], visual=self._surfaces.visual[:cast]
        )
        self._vertices = self._surfaces.vertices.copy()
        self._normals = self._surfaces.normals.copy()

    def set_poses(self, positions: Array, orientations: Array) -> None:
        """Move the visuals to positions (n, 3) [m] and orientations (n, 4), (w, x, y, z)."""
        poses = np.ascontiguousarray(positions), np.ascontiguousarray(orientations)
        kernels.place(self._surfaces, *poses, self._vertices, self._normals)

    def draw(
        self,
        view: View,
        part: Rectangle | None = None,
        samples: int = 1,
        sun: Array | None = None,
        floor: Floor | None = None,
    ) -> kernels.Samples:
        """Return the view of the camera.

        Args:
            view: of the camera.
            part: of the picture that is drawn; None: all of it.
            samples: along each edge of a pixel.
            sun: direction to the light (3,); None: no colours.
            floor: hides objects below it from a camera above it; None: hides nothing.
        """
        left, top, width, height = part or (0, 0, view.width, view.height)
        shape = samples * height, samples * width
        drawn = _empty_samples(shape, sun is not None)
        eye = _eye(view, (samples * left, samples * top), samples, floor)
        direction = np.zeros(3) if sun is None else _rounded(sun)
        light = kernels.Light(direction, AMBIENT, DIFFUSE, SPECULAR)
        kernels.draw(self._surfaces, self._vertices, self._normals, eye, light, drawn)
        return drawn

    def blocked(self, light: View) -> NDArray[np.bool_]:
        """Return the mask (height, width) of the light's picture where visuals block the light."""
        drawn = _empty_samples((light.height, light.width), False)
        eye = _eye(light, (0, 0), 1, None)
        dark = kernels.Light(np.zeros(3), AMBIENT, DIFFUSE, SPECULAR)
        kernels.draw(self._casters, self._vertices, self._normals, eye, dark, drawn)
        blocked: NDArray[np.bool_] = drawn.visual >= 0
        return blocked

    def cast_shadow(
        self,
        samples: kernels.Samples,
        view: View,
        part: Rectangle,
        light: View,
        shade: NDArray[np.float32],
    ) -> None:
        """Darken the samples of the receivers in the shadow of the other visuals.

        Objects that cast shadows are assumed to be above the receivers.

        Args:
            samples: that `draw` returned for a part of a view; their colours are changed.
            view: of the camera.
            part: of the picture.
            light: view of the light, at another place than the camera's.
            shade: part of the light that is taken at each place of its picture (size, size).
        """
        each = samples.visual.shape[1] // part[2]
        eye = _eye(view, (each * part[0], each * part[1]), each, None)
        # world point: to_world @ (clip - offset); clip is (x, y, 1) times the depth
        to_world = np.linalg.inv(view.matrix[[0, 1, 3], :3])
        light_rows = light.matrix[[0, 1, 3]]
        ahead = light_rows[:, :3] @ to_world
        behind = light_rows[:, 3] - ahead @ view.matrix[[0, 1, 3], 3]
        to_places = np.array([[0.5, 0.0, 0.5], [0.0, -0.5, 0.5], [0.0, 0.0, 1.0]])
        to_light = to_places @ np.column_stack((ahead, behind))
        kernels.cast_shadow(samples, self._first_receiver, eye, _rounded(to_light), shade)


def _empty_samples(shape: tuple[int, int], coloured: bool) -> kernels.Samples:
    """Return memory for samples (height, width), with colours or without."""
    colour = np.zeros((*(shape if coloured else (0, 0)), 3), dtype=np.uint8)
    return kernels.Samples(colour, np.empty(shape), np.empty(shape, dtype=np.int32))


def _eye(view: View, corner: tuple[int, int], samples: int, floor: Floor | None) -> kernels.Eye:
    """Return the camera of a view, with some samples along each edge of a pixel."""
    return kernels.Eye(
        matrix=_rounded(view.matrix[[0, 1, 3]]),
        position=_rounded(view.position),
        near=view.near,
        size=(samples * view.width, samples * view.height),
        corner=corner,
        floor=floor_inverse_depth(view, floor),
    )


def floor_inverse_depth(view: View, floor: Floor | None) -> Array:
    """Return (a, b, c): the floor's inverse depth [1/m] at device x, y is a x + b y + c.

    It is zero without a floor and where the camera is not above it.
    """
    if floor is None or not floor.is_below(view.position):
        return np.zeros(3)
    return _rounded(np.linalg.inv(view.plane_to_clip(*plane_frame(floor)))[2])


def _stacked(rows: list[Array]) -> Array:
    return _rounded(np.concatenate([np.zeros((0, 3)), *rows]))


def _rounded(values: Array) -> Array:
    """Return values rounded to single precision: libraries differ in the last digits of double."""
    rounded: Array = np.ascontiguousarray(values).astype(np.float32).astype(np.float64)
    return rounded

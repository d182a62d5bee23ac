"""Backdrop of a picture: sky, chequered floor and shadow, painted with NumPy.

A plane of triangles would cost a software rasteriser several times what the mechanism costs. The
painted floor costs a copy per picture for a camera at rest, and little more for a camera that moves
along the floor.
"""

import numpy as np
from numpy.typing import NDArray

from vigym.render.scene.camera import Array, View
from vigym.render.scene.framing import Floor, plane_frame

Pixels = NDArray[np.uint8]
Float32Array = NDArray[np.float32]

ZENITH = np.array([138, 170, 205], dtype=np.float32)
HORIZON = np.array([240, 243, 247], dtype=np.float32)
BRIGHT = np.array([228, 231, 235], dtype=np.float32)
DARK = np.array([202, 209, 217], dtype=np.float32)
STEEPNESS = 1.3  # of the gradient from horizon to zenith over the height of the ray
HEIGHT_TOLERANCE = 1e-9  # relative to a tile: floor heights closer than this give the same picture
HORIZON_BLUE = 0.4  # part of the zenith colour at the horizon where there is no floor
FADE = 1.6  # the floor fades into the horizon beyond this many distances of the target
SHADE = 0.4  # part of the light that a full shadow takes


class Backdrop:
    """Background of a camera that moves without rotation; cached for each height above the floor.

    Args:
        view: initial view of the camera.
        floor: drawn where the camera is above it; None: no floor.
    """

    def __init__(self, view: View, floor: Floor | None) -> None:
        self._view, self._floor = view, floor
        self._sky = _sky(view, HORIZON_BLUE if floor is None else 0.0)
        self._ground: _FloorPainter | None = None
        self._painted: tuple[Array, Pixels] | None = None

    def picture(self, shift: Array) -> Pixels:
        """Return a new picture (height, width, 3) for a camera moved by `shift` (3,) [m]."""
        if self._painted is None or not np.array_equal(self._painted[0], shift):
            self._update_floor(shift)
            picture: Pixels = self._sky.copy()
            if self._ground is not None:
                self._ground.paint(picture, shift)
            self._painted = shift, picture
        fresh: Pixels = self._painted[1].copy()
        return fresh

    def add_shadow(self, picture: Pixels, light: View, blocked: NDArray[np.bool_]) -> None:
        """Darken the floor in the last `picture` where the light is `blocked` (size, size)."""
        if self._ground is not None:
            self._ground.add_shadow(picture, light, blocked)

    def _update_floor(self, shift: Array) -> None:
        if self._floor is None:
            return
        floor = self._floor.in_shifted_frame(shift)
        tolerance = HEIGHT_TOLERANCE * floor.tile
        if self._ground is None or abs(floor.height - self._ground.height) > tolerance:
            above = floor.is_below(self._view.position)
            self._ground = _FloorPainter(self._view, floor) if above else None


class _FloorPainter:
    """Pixels that show the floor, with all data that motion at one height does not change."""

    def __init__(self, view: View, floor: Floor) -> None:
        self.height = floor.height
        self._frame, self._tile = plane_frame(floor), floor.tile
        self._to_plane = np.linalg.inv(view.plane_to_clip(*self._frame)).astype(np.float64)
        x, y = view.pixel_grid()
        inverse_depth = _linear(self._to_plane[2], x, y)  # the floor ends where it falls to zero
        self._seen = np.flatnonzero(inverse_depth > 0.0)
        shape, seen = inverse_depth.shape, self._seen
        self._x, self._y = (np.broadcast_to(axis, shape).ravel()[seen] for axis in (x, y))
        per_tile = self._to_plane / np.array([[floor.tile], [floor.tile], [1.0]])
        self._places = [_floor_place(per_tile, i, view, self._x, self._y) for i in (0, 1)]
        distance = float(np.linalg.norm(view.position - view.target))
        contrast = np.minimum(1.0, FADE * distance * inverse_depth.ravel()[seen])[:, None]
        self._dark = HORIZON + contrast * (DARK - HORIZON)
        self._bright = contrast * (BRIGHT - DARK)
        self._lit: tuple[View, NDArray[np.intp], NDArray[np.intp]] | None = None

    def paint(self, picture: Pixels, shift: Array) -> None:
        """Draw the tiles, averaged over each pixel: far ones blend and do not flicker."""
        waves = []
        for (place, width), axis in zip(self._places, self._frame[1:], strict=True):
            edge: Float32Array = place + np.float32(np.mod(axis @ shift / self._tile, 2.0))
            half = width * np.float32(0.5)
            before, after = edge - half, edge + half
            waves.append((_square_wave_integral(before) - _square_wave_integral(after)) / width)
        bright = (0.5 - 0.5 * waves[0] * waves[1])[:, None]
        colours = (self._dark + bright * self._bright).astype(np.uint8)
        picture.reshape(-1, 3)[self._seen] = colours

    def add_shadow(self, picture: Pixels, light: View, blocked: NDArray[np.bool_]) -> None:
        """Darken the pixels whose point of the floor is `blocked` in the light's view."""
        if self._lit is None or self._lit[0] is not light:
            to_light = light.plane_to_clip(*self._frame) @ self._to_plane
            inside, cells = _light_pixels(light, to_light, self._x, self._y)
            self._lit = light, self._seen[inside], cells
        _, pixels, cells = self._lit
        shade = soften_shadow(blocked).ravel()[cells]
        dark = np.flatnonzero(shade)
        flat, shadowed = picture.reshape(-1, 3), pixels[dark]
        flat[shadowed] = (flat[shadowed] * (1.0 - SHADE * shade[dark, None])).astype(np.uint8)


def _linear(coefficients: Array, x: Float32Array, y: Float32Array) -> Float32Array:
    """Return a x + b y + c."""
    a, b, c = coefficients.astype(np.float32)
    value: Float32Array = a * x + (b * y + c)
    return value


def _sky(view: View, horizon_blue: float) -> Pixels:
    """Return a gradient from horizon to zenith (height, width, 3) over the height of each ray."""
    x, y = view.pixel_grid()
    right, up = x / view.projection[0, 0], y / view.projection[1, 1]
    axes = view.view[:3, 2]
    along = axes[0] * right + axes[1] * up - axes[2]
    height = along / np.sqrt(1.0 + right * right + up * up)
    blue = np.clip(horizon_blue + STEEPNESS * height, 0.0, 1.0).astype(np.float32)[..., None]
    sky: Pixels = (HORIZON + blue * (ZENITH - HORIZON)).astype(np.uint8)
    return sky


def _floor_place(
    to_plane: Array, axis: int, view: View, x: Float32Array, y: Float32Array
) -> tuple[Float32Array, Float32Array]:
    """Return the coordinate of each pixel (n,) along one axis of the floor, and its width there."""
    inverse_depth, row = _linear(to_plane[2], x, y), to_plane[axis]
    place = _linear(row, x, y) / inverse_depth
    across = np.abs(row[0] - place * to_plane[2, 0]) / view.width
    along = np.abs(row[1] - place * to_plane[2, 1]) / view.height
    width = np.maximum((2.0 / inverse_depth) * (across + along), 1e-6)
    return place.astype(np.float32), width.astype(np.float32)


def _square_wave_integral(place: Float32Array) -> Float32Array:
    """Return the integral of the square wave that changes sign at every whole number."""
    half = place * np.float32(0.5)
    integral: Float32Array = 2.0 * np.abs(half - np.floor(half) - np.float32(0.5))
    return integral


def _light_pixels(
    light: View, from_pixel: Array, x: Float32Array, y: Float32Array
) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
    """Return the mask of floor points in the light's picture, and its flat pixel indices."""
    u, v, w = (_linear(row, x, y) for row in from_pixel)
    column, line = (u / w + 1.0) * (light.width / 2), (1.0 - v / w) * (light.height / 2)
    inside = (column >= 0.0) & (column < light.width) & (line >= 0.0) & (line < light.height)
    pixels = line[inside].astype(np.intp) * light.width + column[inside].astype(np.intp)
    return inside, pixels


def soften_shadow(blocked: NDArray[np.bool_]) -> Float32Array:
    """Return the shadow (size, size), 0 to 1, with a soft rim."""
    shade = blocked.astype(np.float32)
    for step in (1, 2):
        for _ in range(2):
            inner = shade[step:-step]
            total = shade[: -2 * step] + inner + shade[2 * step :]
            inner[:] = total * np.float32(1.0 / 3.0)
            shade = shade.T
    return shade

"""What lies behind the mechanism: sky, chequered floor and shadow, painted with numpy.

A plane of triangles would cost a software rasteriser several times what the mechanism costs. Painted, a floor that the
camera does not move over costs one copy per picture.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vigym.render.camera import Array, View
from vigym.render.framing import Floor, plane_frame

Pixels = NDArray[np.uint8]
Single = NDArray[np.float32]

ZENITH = np.array([138, 170, 205], dtype=np.float32)
HORIZON = np.array([240, 243, 247], dtype=np.float32)
BRIGHT = np.array([228, 231, 235], dtype=np.float32)
DARK = np.array([202, 209, 217], dtype=np.float32)
STEEP = 1.3  # how fast the sky turns blue with the height of the ray
CLEAR = 1.6  # the floor fades into the horizon beyond this many distances of the target
SHADE = 0.4  # part of the light that a full shadow takes


@dataclass(frozen=True, eq=False)
class Backdrop:
    """Painted background of one view.

    Attributes:
        picture: without shadows (height, width, 3).
        pixels: flat indices of the pixels that show floor inside the light's picture (n,).
        cells: flat indices of the light's pixels that fall there (n,).
    """

    picture: Pixels
    pixels: NDArray[np.intp]
    cells: NDArray[np.intp]

    def shaded(self, blocked: NDArray[np.bool_]) -> Pixels:
        """Return a fresh picture with the shadow of what the light sees as `blocked` (size, size)."""
        picture: Pixels = self.picture.copy()
        shade = _softened(blocked).ravel()[self.cells]
        dark = np.flatnonzero(shade)
        flat, chosen = picture.reshape(-1, 3), self.pixels[dark]
        flat[chosen] = (flat[chosen] * (1.0 - SHADE * shade[dark, None])).astype(np.uint8)
        return picture


def paint(view: View, light: View, floor: Floor | None) -> Backdrop:
    """Return the background of `view`; `light` throws shadows on `floor`."""
    seen_from_above = floor is not None and floor.normal @ view.position > floor.height
    picture = _sky(view, 0.0 if seen_from_above else 0.4)
    if floor is None or not seen_from_above:
        none = np.zeros(0, dtype=np.intp)
        return Backdrop(picture.astype(np.uint8), none, none)
    frame = plane_frame(floor)
    to_plane = np.linalg.inv(view.plane_to_clip(*frame)).astype(np.float64)
    x, y = view.pixel_grid()
    nearness = _row(to_plane[2], x, y)  # one over the depth; the floor ends where it falls to zero
    seen = np.flatnonzero(nearness > 0.0)
    x, y = (np.broadcast_to(axis, nearness.shape).ravel()[seen] for axis in (x, y))
    distance = float(np.linalg.norm(view.position - view.target))
    clear = np.minimum(1.0, CLEAR * distance * nearness.ravel()[seen])[:, None]
    tile = _chequer(to_plane / np.array([[floor.tile], [floor.tile], [1.0]]), view, x, y)[:, None]
    picture.reshape(-1, 3)[seen] = HORIZON + clear * (DARK + tile * (BRIGHT - DARK) - HORIZON)
    inside, cells = _cells(light, light.plane_to_clip(*frame) @ to_plane, x, y)
    return Backdrop(picture.astype(np.uint8), seen[inside], cells)


def hidden(view: View, floor: Floor, depth: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Return which pixels (height, width) of a depth buffer lie below the floor."""
    a, b, c, d = np.linalg.inv(view.matrix).T @ [*floor.normal, -floor.height]
    # the plane's depth is linear over the picture: a x + b y + c z + d = 0 in clip space, depth = (z + 1) / 2
    plane = _row(np.array([-a, -b, c - d]) / (2.0 * c), *view.pixel_grid())
    below: NDArray[np.bool_] = depth > plane
    return below


def _row(row: Array, x: Single, y: Single) -> Single:
    a, b, c = row.astype(np.float32)
    value: Single = a * x + (b * y + c)
    return value


def _sky(view: View, lift: float) -> Single:
    """Return a gradient from horizon to zenith (height, width, 3) by the height of each pixel's ray."""
    x, y = view.pixel_grid()
    right, up = x / view.projection[0, 0], y / view.projection[1, 1]
    axes = view.view[:3, 2]
    height = (axes[0] * right + axes[1] * up - axes[2]) / np.sqrt(1.0 + right * right + up * up)
    blue = np.clip(lift + STEEP * height, 0.0, 1.0).astype(np.float32)[..., None]
    sky: Single = HORIZON + blue * (ZENITH - HORIZON)
    return sky


def _chequer(to_plane: Array, view: View, x: Single, y: Single) -> Single:
    """Return how bright the floor is, 0 to 1, averaged over each pixel: far squares blend and do not flicker."""
    nearness = _row(to_plane[2], x, y)
    waves = []
    for row in to_plane[:2]:
        place = _row(row, x, y) / nearness
        across = np.abs(row[0] - place * to_plane[2, 0]) / view.width
        along = np.abs(row[1] - place * to_plane[2, 1]) / view.height
        width = np.maximum((2.0 / nearness) * (across + along), 1e-6).astype(np.float32)
        waves.append((_ramp(place - width / 2) - _ramp(place + width / 2)) / width)
    bright: Single = 0.5 - 0.5 * waves[0] * waves[1]
    return bright


def _ramp(place: Single) -> Single:
    """Return the integral of the square wave that changes sign at every whole number."""
    half = place * np.float32(0.5)
    ramp: Single = 2.0 * np.abs(half - np.floor(half) - np.float32(0.5))
    return ramp


def _cells(light: View, from_pixel: Array, x: Single, y: Single) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
    """Return which floor points the light's picture covers, and the flat indices of its pixels there."""
    u, v, w = (_row(row, x, y) for row in from_pixel)
    column, line = (u / w + 1.0) * (light.width / 2), (1.0 - v / w) * (light.height / 2)
    inside = (column >= 0.0) & (column < light.width) & (line >= 0.0) & (line < light.height)
    return inside, line[inside].astype(np.intp) * light.width + column[inside].astype(np.intp)


def _softened(blocked: NDArray[np.bool_]) -> Single:
    """Return the shadow (size, size), 0 to 1, with a soft rim."""
    shade = blocked.astype(np.float32)
    for step in (1, 2):
        for _ in range(2):
            inner = shade[step:-step]
            inner[:] = (shade[: -2 * step] + inner + shade[2 * step :]) * np.float32(1.0 / 3.0)
            shade = shade.T
    return shade

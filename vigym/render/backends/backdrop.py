"""What lies behind the mechanism: sky, chequered floor and shadow, painted with numpy.

A plane of triangles would cost a software rasteriser several times what the mechanism costs. Painted, a floor costs a
copy per picture where the camera stands, and little more where it glides along the floor.
"""

import numpy as np
from numpy.typing import NDArray

from vigym.render.scene.camera import Array, View
from vigym.render.scene.framing import Floor, plane_frame

Pixels = NDArray[np.uint8]
Single = NDArray[np.float32]

ZENITH = np.array([138, 170, 205], dtype=np.float32)
HORIZON = np.array([240, 243, 247], dtype=np.float32)
BRIGHT = np.array([228, 231, 235], dtype=np.float32)
DARK = np.array([202, 209, 217], dtype=np.float32)
STEEP = 1.3  # how fast the sky turns blue with the height of the ray
SAME = 1e-9  # relative; lengths closer than this give the same picture
LIFT = 0.4  # how blue the horizon is where there is no floor
CLEAR = 1.6  # the floor fades into the horizon beyond this many distances of the target
SHADE = 0.4  # part of the light that a full shadow takes


class Backdrop:
    """Background of a camera that moves and never turns; what follows from its height is computed once per height.

    Args:
        view: of the camera where it starts.
        floor: drawn where the camera is above it; None for none.
    """

    def __init__(self, view: View, floor: Floor | None) -> None:
        self._view, self._floor = view, floor
        self._sky = _sky(view, LIFT if floor is None else 0.0)
        self._ground: _Ground | None = None
        self._painted: tuple[Array, Pixels] | None = None

    def picture(self, shift: Array) -> Pixels:
        """Return a fresh array (height, width, 3) without shadows for a camera moved by `shift` (3,) [m]."""
        if self._painted is None or not np.array_equal(self._painted[0], shift):
            self._prepare(shift)
            picture: Pixels = self._sky.copy()
            if self._ground is not None:
                self._ground.paint(picture, shift)
            self._painted = shift, picture
        fresh: Pixels = self._painted[1].copy()
        return fresh

    def shade(self, picture: Pixels, light: View, blocked: NDArray[np.bool_]) -> None:
        """Darken the floor in the last `picture` where the light sees something `blocked` (size, size)."""
        if self._ground is not None:
            self._ground.shade(picture, light, blocked)

    def _prepare(self, shift: Array) -> None:
        if self._floor is None:
            return
        floor = self._floor.seen_from(shift)
        if self._ground is None or abs(floor.height - self._ground.height) > SAME * floor.tile:
            above = self._view.position @ floor.normal > floor.height
            self._ground = _Ground(self._view, floor) if above else None


class _Ground:
    """The pixels that show floor, and all about them that a camera gliding at one height does not change."""

    def __init__(self, view: View, floor: Floor) -> None:
        self.height = floor.height
        self._frame, self._tile = plane_frame(floor), floor.tile
        self._to_plane = np.linalg.inv(view.plane_to_clip(*self._frame)).astype(np.float64)
        x, y = view.pixel_grid()
        nearness = _row(self._to_plane[2], x, y)  # one over the depth; the floor ends where it falls to zero
        self._seen = np.flatnonzero(nearness > 0.0)
        self._x, self._y = (np.broadcast_to(axis, nearness.shape).ravel()[self._seen] for axis in (x, y))
        per_tile = self._to_plane / np.array([[floor.tile], [floor.tile], [1.0]])
        self._places = [_place(per_tile, axis, view, self._x, self._y) for axis in (0, 1)]
        distance = float(np.linalg.norm(view.position - view.target))
        clear = np.minimum(1.0, CLEAR * distance * nearness.ravel()[self._seen])[:, None]
        self._dark = HORIZON + clear * (DARK - HORIZON)
        self._bright = clear * (BRIGHT - DARK)
        self._lit: tuple[View, NDArray[np.intp], NDArray[np.intp]] | None = None

    def paint(self, picture: Pixels, shift: Array) -> None:
        """Draw the squares, averaged over each pixel: far ones blend and do not flicker."""
        waves = []
        for (place, width), axis in zip(self._places, self._frame[1:], strict=True):
            edge = place + np.float32(np.mod(axis @ shift / self._tile, 2.0))
            waves.append((_ramp(edge - width / 2) - _ramp(edge + width / 2)) / width)
        bright = (0.5 - 0.5 * waves[0] * waves[1])[:, None]
        picture.reshape(-1, 3)[self._seen] = (self._dark + bright * self._bright).astype(np.uint8)

    def shade(self, picture: Pixels, light: View, blocked: NDArray[np.bool_]) -> None:
        """Take light from the pixels whose place on the floor the light does not see."""
        if self._lit is None or self._lit[0] is not light:
            inside, cells = _cells(light, light.plane_to_clip(*self._frame) @ self._to_plane, self._x, self._y)
            self._lit = light, self._seen[inside], cells
        _, pixels, cells = self._lit
        shade = _softened(blocked).ravel()[cells]
        dark = np.flatnonzero(shade)
        flat, chosen = picture.reshape(-1, 3), pixels[dark]
        flat[chosen] = (flat[chosen] * (1.0 - SHADE * shade[dark, None])).astype(np.uint8)


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


def _sky(view: View, lift: float) -> Pixels:
    """Return a gradient from horizon to zenith (height, width, 3) by the height of each pixel's ray."""
    x, y = view.pixel_grid()
    right, up = x / view.projection[0, 0], y / view.projection[1, 1]
    axes = view.view[:3, 2]
    height = (axes[0] * right + axes[1] * up - axes[2]) / np.sqrt(1.0 + right * right + up * up)
    blue = np.clip(lift + STEEP * height, 0.0, 1.0).astype(np.float32)[..., None]
    sky: Pixels = (HORIZON + blue * (ZENITH - HORIZON)).astype(np.uint8)
    return sky


def _place(to_plane: Array, axis: int, view: View, x: Single, y: Single) -> tuple[Single, Single]:
    """Return where on the floor each pixel (n,) looks along one axis, and how wide it is there."""
    nearness, row = _row(to_plane[2], x, y), to_plane[axis]
    place = _row(row, x, y) / nearness
    across = np.abs(row[0] - place * to_plane[2, 0]) / view.width
    along = np.abs(row[1] - place * to_plane[2, 1]) / view.height
    width = np.maximum((2.0 / nearness) * (across + along), 1e-6)
    return place.astype(np.float32), width.astype(np.float32)


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

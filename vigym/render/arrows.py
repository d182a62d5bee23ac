"""Arrows over a picture, with smooth rims and a bright edge that shows them on any ground."""

import numpy as np
from PIL import Image, ImageDraw

from vigym.render.camera import Array, View

FINE = 3  # samples along each edge of a pixel
SHAFT, HEAD, EDGE = 0.006, 0.019, 0.004  # half widths of shaft and head, width of the edge, in picture heights
POINTED = 2.2  # length of a head in units of its half width, at most half the arrow
INSIDE, AROUND = (214, 40, 90), (255, 255, 255)


def draw_arrows(image: Image.Image, view: View, tails: Array, tips: Array) -> None:
    """Draw arrows from `tails` to `tips` (n, 3) [m] over an image seen by `view`; none beside or behind the camera."""
    ends = np.concatenate((tails, tips))
    clip = ends @ view.matrix[:, :3].T + view.matrix[:, 3]
    front = (clip[:, 3] > 0.0).reshape(2, -1).all(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        places = (clip[:, :2] / clip[:, 3:] * [1.0, -1.0] + 1.0) / 2 * [view.width, view.height]
    places = places.reshape(2, -1, 2)[:, front]
    shapes = [_outline(tail, tip, view.height) for tail, tip in places.swapaxes(0, 1)]
    box = _box(shapes, image.size, round(2 * EDGE * view.height) + 1)
    if box is None:
        return
    for colour, width in ((AROUND, 2 * EDGE * view.height), (INSIDE, 0.0)):
        image.paste(colour, box, _mask(shapes, box, width))


def _outline(tail: Array, tip: Array, height: int) -> Array:
    """Return the corners (7, 2) [pixels] of an arrow in a picture of that height."""
    along = tip - tail
    length = max(float(np.linalg.norm(along)), 1e-6)
    along = along / length
    across = np.array([-along[1], along[0]])
    head = min(POINTED * HEAD * height, length / 2)
    shaft, wide = across * min(SHAFT * height, head), across * head / POINTED
    neck = tip - head * along
    return np.array([tail - shaft, neck - shaft, neck - wide, tip, neck + wide, neck + shaft, tail + shaft])


def _box(shapes: list[Array], size: tuple[int, int], rim: int) -> tuple[int, int, int, int] | None:
    """Return left, top, right, bottom [pixels] of the part of a picture that holds the shapes; None where it is empty.

    A shape may reach far beyond the picture; what is drawn of it ends there.
    """
    if not shapes:
        return None
    corners = np.concatenate(shapes)
    low = np.clip(np.floor(corners.min(axis=0)) - rim, 0, size).astype(int)
    high = np.clip(np.ceil(corners.max(axis=0)) + rim, 0, size).astype(int)
    return None if (high <= low).any() else (int(low[0]), int(low[1]), int(high[0]), int(high[1]))


def _mask(shapes: list[Array], box: tuple[int, int, int, int], width: float) -> Image.Image:
    """Return how much (0 to 255) of each pixel in `box` the shapes cover, grown by half of `width` [pixels]."""
    left, top, right, bottom = box
    fine = Image.new("L", (FINE * (right - left), FINE * (bottom - top)))
    pen = ImageDraw.Draw(fine)
    for shape in shapes:
        points = [(float(x), float(y)) for x, y in FINE * (shape - [left, top])]
        pen.polygon(points, fill=255)
        if width > 0.0:
            pen.line([*points, points[0], points[1]], fill=255, width=round(FINE * width), joint="curve")
    return fine.reduce(FINE)

"""Marks over a picture: an arrow for every contact force, a bar for every energy.

Arrows have smooth rims and a bright edge that shows them on any ground. Bars stand in a panel in the corner, on a scale
that they share, with lines of text below.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from vigym.render.overlay.marks import Marks, arrows_of
from vigym.render.scene.camera import Array, View
from vigym.render.scene.framing import rounded_down

FINE = 3  # samples along each edge of a pixel
SHAFT, HEAD, EDGE = 0.006, 0.019, 0.004  # half widths of shaft and head, width of the edge, in picture heights
POINTED = 2.2  # length of a head in units of its half width, at most half the arrow
INSIDE, AROUND = (214, 40, 90), (255, 255, 255)
LETTERS, SMALLEST = 0.032, 9  # size of text in picture heights, and the least there is [pixels]
ROW, GAP = 1.35, 0.5  # height of a line, rim of the panel, in letter sizes
NAME, BAR, VALUE = 4.6, 7.0, 4.8  # widths of the columns in letter sizes
PAPER, INK, AXIS = (255, 255, 255, 200), (40, 46, 54), (130, 138, 148)
COLOURS = ((226, 125, 40), (46, 110, 180), (80, 86, 96))  # of the bars, in turn
Pixels = NDArray[np.uint8]


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


def draw_panel(image: Image.Image, energies: Mapping[str, float], scale: float, texts: Sequence[str]) -> None:
    """Draw a bar for every energy [J], from the middle to either side by up to `scale` [J], and lines of text."""
    size = max(SMALLEST, round(LETTERS * image.height))
    font, gap = ImageFont.load_default(size), GAP * size
    pen = ImageDraw.Draw(image, "RGBA")
    rows = len(energies) + len(texts)
    edge = gap + (NAME + BAR + VALUE) * size + gap, gap + rows * ROW * size + gap
    pen.rounded_rectangle((gap / 2, gap / 2, *edge), radius=gap, fill=PAPER)
    for row, (name, energy) in enumerate(energies.items()):
        top = gap + row * ROW * size
        pen.text((2 * gap, top), name, INK, font)
        pen.text((edge[0] - gap, top), f"{_short(energy)} J", INK, font, anchor="ra")
        _bar(pen, (2 * gap + NAME * size, top), size, energy / scale, COLOURS[row % len(COLOURS)])
    for row, text in enumerate(texts, start=len(energies)):
        pen.text((2 * gap, gap + row * ROW * size), text, INK, font)


def _bar(
    pen: ImageDraw.ImageDraw, corner: tuple[float, float], size: int, part: float, colour: tuple[int, int, int]
) -> None:
    """Draw `part`, -1 to 1, of half a bar's width from its middle; `corner` is the left upper one [pixels]."""
    left, top = corner
    middle, half = left + BAR * size / 2, BAR * size / 2
    ends = sorted((middle, middle + part * half))
    pen.rectangle((ends[0], top + 0.2 * size, ends[1], top + 1.05 * size), fill=colour)
    pen.line((middle, top, middle, top + ROW * size), fill=AXIS, width=max(1, size // 10))


def _short(value: float) -> str:
    """Return a number in three digits, at most three of them behind the point; large ones as a power of ten."""
    if abs(value) >= 1e5:
        return f"{value:.2e}"
    decimals = 2 - math.floor(math.log10(max(abs(value), 0.1)))
    return f"{value:.{max(0, decimals)}f}"


class Overlay:
    """Draws marks over the pictures of one mechanism.

    Bars share a scale that grows with the largest energy drawn so far.

    Args:
        weight: of the mechanism [N]; a force as large is an arrow as long as the scene, but for a factor.
        size: of the scene [m].
    """

    def __init__(self, weight: float, size: float) -> None:
        self._weight, self._size = weight, size
        self._scale = 0.0

    def draw(self, picture: Pixels, view: View, marks: Marks) -> Pixels:
        """Return `picture` (height, width, 3), seen by `view`, with `marks` drawn over it."""
        image, texts = Image.fromarray(picture), []
        if marks.points is not None and marks.forces is not None:
            arrows = arrows_of(marks.forces, self._weight, self._size)
            draw_arrows(image, view, marks.points, marks.points + arrows)
            texts = [_told(marks.forces)]
        energies = marks.energies or {}
        largest = max(map(abs, energies.values()), default=0.0)
        if largest > self._scale:
            self._scale = 1.0 / rounded_down(1.0 / largest)
        draw_panel(image, energies, self._scale or 1.0, texts)
        return np.array(image)


def _told(forces: Array) -> str:
    """Return in words what contacts do."""
    if not len(forces):
        return "no contact presses"
    strongest = float(np.linalg.norm(forces, axis=1).max())
    return f"1 contact, {strongest:.3g} N" if len(forces) == 1 else f"{len(forces)} contacts, up to {strongest:.3g} N"

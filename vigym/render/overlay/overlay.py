"""Overlay on a picture: an arrow for every contact force, a bar for every energy.

Arrows are anti-aliased and have a bright edge, visible on any background. Bars share a scale and
are in a panel in the corner, with lines of text below.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from vigym.render.overlay.marks import Marks, force_arrows
from vigym.render.scene.camera import Array, View
from vigym.render.scene.framing import round_down_125

SAMPLES = 3  # samples along each pixel edge (anti-aliasing)
SHAFT, HEAD = 0.006, 0.019  # half widths of an arrow [picture heights]
EDGE = 0.004  # width of the edge of an arrow [picture heights]
HEAD_ASPECT = 2.2  # length of a head over its half width; at most half the arrow is head
FORCE_COLOUR, EDGE_COLOUR = (214, 40, 90), (255, 255, 255)
TEXT_SIZE, MIN_TEXT_SIZE = 0.032, 9  # [picture heights], [pixels]
ROW, GAP = 1.35, 0.5  # height of a line, margin of the panel [text sizes]
NAME, VALUE = 4.6, 4.8  # widths of the columns of text [text sizes]
BAR = 7.0  # width of the column of bars [text sizes]
PANEL = (255, 255, 255, 200)
TEXT, AXIS = (40, 46, 54), (130, 138, 148)
BAR_COLOURS = ((226, 125, 40), (46, 110, 180), (80, 86, 96))  # in turn
Pixels = NDArray[np.uint8]


def draw_arrows(image: Image.Image, view: View, tails: Array, tips: Array) -> None:
    """Draw the arrows from `tails` to `tips` (n, 3) [m] that are in front of the camera."""
    places, depth = view.to_pixels(np.concatenate((tails, tips)))
    in_front = (depth > 0.0).reshape(2, -1).all(axis=0)
    ends = places.reshape(2, -1, 2)[:, in_front]
    arrows = [_arrow_outline(tail, tip, view.height) for tail, tip in ends.swapaxes(0, 1)]
    edge = 2 * EDGE * view.height
    box = _bounding_box(arrows, image.size, round(edge) + 1)
    if box is None:
        return
    for colour, width in ((EDGE_COLOUR, edge), (FORCE_COLOUR, 0.0)):
        image.paste(colour, box, _coverage(arrows, box, width))


def _arrow_outline(tail: Array, tip: Array, height: int) -> Array:
    """Return the corners (7, 2) [pixels] of an arrow in a picture of that height."""
    along = tip - tail
    length = max(float(np.linalg.norm(along)), 1e-6)
    along = along / length
    across = np.array([-along[1], along[0]])
    head = min(HEAD_ASPECT * HEAD * height, length / 2)
    shaft, wide = across * min(SHAFT * height, head), across * head / HEAD_ASPECT
    neck = tip - head * along
    return np.array(
        [tail - shaft, neck - shaft, neck - wide, tip, neck + wide, neck + shaft, tail + shaft]
    )


def _bounding_box(
    shapes: list[Array], size: tuple[int, int], margin: int
) -> tuple[int, int, int, int] | None:
    """Return left, top, right, bottom [pixels] of the shapes in a picture; None if empty."""
    if not shapes:
        return None
    corners = np.concatenate(shapes)
    low = np.clip(np.floor(corners.min(axis=0)) - margin, 0, size).astype(int)
    high = np.clip(np.ceil(corners.max(axis=0)) + margin, 0, size).astype(int)
    if (high <= low).any():
        return None
    return int(low[0]), int(low[1]), int(high[0]), int(high[1])


def _coverage(shapes: list[Array], box: tuple[int, int, int, int], width: float) -> Image.Image:
    """Return the coverage, 0 to 255, of each pixel in `box` by shapes with outlines of `width`."""
    left, top, right, bottom = box
    fine = Image.new("L", (SAMPLES * (right - left), SAMPLES * (bottom - top)))
    pen = ImageDraw.Draw(fine)
    for shape in shapes:
        points = [(float(x), float(y)) for x, y in SAMPLES * (shape - [left, top])]
        pen.polygon(points, fill=255)
        if width > 0.0:
            outline = [*points, points[0], points[1]]
            pen.line(outline, fill=255, width=round(SAMPLES * width), joint="curve")
    return fine.reduce(SAMPLES)


def draw_panel(
    image: Image.Image, energies: Mapping[str, float], scale: float, texts: Sequence[str]
) -> None:
    """Draw a bar for every energy [J] on the scale -`scale` to `scale` [J], and lines of text."""
    size = max(MIN_TEXT_SIZE, round(TEXT_SIZE * image.height))
    font, gap = ImageFont.load_default(size), GAP * size
    pen = ImageDraw.Draw(image, "RGBA")
    rows = len(energies) + len(texts)
    edge = gap + (NAME + BAR + VALUE) * size + gap, gap + rows * ROW * size + gap
    pen.rounded_rectangle((gap / 2, gap / 2, *edge), radius=gap, fill=PANEL)
    for row, (name, energy) in enumerate(energies.items()):
        top = gap + row * ROW * size
        pen.text((2 * gap, top), name, TEXT, font)
        pen.text((edge[0] - gap, top), f"{_three_digits(energy)} J", TEXT, font, anchor="ra")
        colour = BAR_COLOURS[row % len(BAR_COLOURS)]
        _draw_bar(pen, (2 * gap + NAME * size, top), size, energy / scale, colour)
    for row, text in enumerate(texts, start=len(energies)):
        pen.text((2 * gap, gap + row * ROW * size), text, TEXT, font)


def _draw_bar(
    pen: ImageDraw.ImageDraw,
    corner: tuple[float, float],
    size: int,
    part: float,
    colour: tuple[int, int, int],
) -> None:
    """Draw `part`, -1 to 1, of a bar from its middle; `corner` is the upper left one [pixels]."""
    left, top = corner
    middle, half = left + BAR * size / 2, BAR * size / 2
    ends = sorted((middle, middle + part * half))
    pen.rectangle((ends[0], top + 0.2 * size, ends[1], top + 1.05 * size), fill=colour)
    pen.line((middle, top, middle, top + ROW * size), fill=AXIS, width=max(1, size // 10))


def _three_digits(value: float) -> str:
    """Return a number in three digits, with at most three decimals or a power of ten."""
    if abs(value) >= 1e5:
        return f"{value:.2e}"
    decimals = 2 - math.floor(math.log10(max(abs(value), 0.1)))
    return f"{value:.{max(0, decimals)}f}"


class Overlay:
    """Overlay on the pictures of one mechanism.

    Bars share a scale that grows with the largest energy drawn so far.

    Args:
        weight: of the mechanism [N]; unit of the arrows' lengths.
        size: of the scene [m].
    """

    def __init__(self, weight: float, size: float) -> None:
        self._weight, self._size = weight, size
        self._scale = 0.0

    def draw(self, picture: Pixels, view: View, marks: Marks) -> Pixels:
        """Return `picture` (height, width, 3), seen by `view`, with `marks` drawn over it."""
        image, texts = Image.fromarray(picture), []
        if marks.points is not None and marks.forces is not None:
            arrows = force_arrows(marks.forces, self._weight, self._size)
            draw_arrows(image, view, marks.points, marks.points + arrows)
            texts = [_contact_text(marks.forces)]
        energies = marks.energies or {}
        largest = max(map(abs, energies.values()), default=0.0)
        if largest > self._scale:
            self._scale = 1.0 / round_down_125(1.0 / largest)
        draw_panel(image, energies, self._scale or 1.0, texts)
        return np.array(image)


def _contact_text(forces: Array) -> str:
    """Return the number of active contacts and the largest force."""
    if not len(forces):
        return "no contact presses"
    largest = float(np.linalg.norm(forces, axis=1).max())
    if len(forces) == 1:
        return f"1 contact, {largest:.3g} N"
    return f"{len(forces)} contacts, up to {largest:.3g} N"

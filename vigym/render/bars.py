"""A panel of bars in the corner of a picture: energies on a scale that they share, and lines of text."""

import math
from collections.abc import Mapping, Sequence

from PIL import Image, ImageDraw, ImageFont

LETTERS, SMALLEST = 0.032, 9  # size of text in picture heights, and the least there is [pixels]
ROW, GAP = 1.35, 0.5  # height of a line, rim of the panel, in letter sizes
NAME, BAR, VALUE = 4.6, 7.0, 4.8  # widths of the columns in letter sizes
PAPER, INK, AXIS = (255, 255, 255, 200), (40, 46, 54), (130, 138, 148)
COLOURS = ((226, 125, 40), (46, 110, 180), (80, 86, 96))  # of the bars, in turn


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

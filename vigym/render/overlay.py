"""Marks over a picture: an arrow for every contact force, a bar for every energy."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from vigym.render.arrows import draw_arrows
from vigym.render.bars import draw_panel
from vigym.render.camera import Array, View
from vigym.render.framing import rounded_down
from vigym.render.marks import Marks, arrows_of

Pixels = NDArray[np.uint8]


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

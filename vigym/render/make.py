"""The choice of a backend: who draws a mechanism, and the face that all backends share."""

import math
import os
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.mechanism.mechanism import Mechanism
from vigym.render.overlay.marks import Marks
from vigym.render.scene.camera import Camera
from vigym.render.scene.meshes import RenderError
from vigym.render.scene.scene import Scene

PAINTER = "VIGYM_RENDERER"  # environment variable: who draws pictures, "software" (default) or "egl"
MODES = ("rgb_array", "human", "browser")


class Renderer(Protocol):
    """What every backend offers."""

    def render(
        self, positions: ArrayLike, orientations: ArrayLike, marks: Marks | None = None
    ) -> NDArray[np.uint8] | None:
        """Draw bodies at positions (n_bodies, 3) [m] and orientations (n_bodies, 4), (w, x, y, z), body to world.

        `marks` are drawn over them.
        """

    def close(self) -> None:
        """Give back what drawing holds; may be called again."""


def make_renderer(
    mechanism: Mechanism,
    mode: str,
    width: int = 480,
    height: int = 480,
    camera: Camera | None = None,
    rate: float | None = None,
    shadow: bool = True,
) -> Renderer:
    """Return what draws `mechanism`; pybullet is loaded with the first picture.

    Args:
        mechanism: what is drawn, as it is now.
        mode: "rgb_array": `render` returns an array (height, width, 3) uint8, no display needed; "human": `render`
            shows a window, "browser": a page for web browsers, and returns None. Pictures are drawn by OpenGL where the
            environment variable VIGYM_RENDERER is "egl".
        width: of the picture or window [pixels].
        height: of the picture or window [pixels].
        camera: what is fixed of the view; by default the mechanism fills the picture.
        rate: not for "rgb_array": pictures per second that `render` does not exceed; None does not wait.
        shadow: whether the bodies throw one on the floor; pictures without are drawn sooner, windows always have one.

    Raises:
        ValueError: an unknown mode, a size or rate that is not positive, no shadow in a mode that always has one, or
            another value of VIGYM_RENDERER.
        RenderError: "browser" without viser.
    """
    if mode not in MODES:
        raise ValueError(f"render mode: found {mode!r}, expected one of {MODES}")
    if rate is not None and not 0.0 < rate < math.inf:
        raise ValueError(f"render rate: found {rate!r}, expected pictures per second > 0 or None")
    if not (shadow or mode == "rgb_array"):
        raise ValueError(
            f"render shadow: found {shadow!r} in mode {mode!r}, expected True: only pictures can do without"
        )
    camera = camera or Camera()
    if mode == "human":
        from vigym.render.backends.window import WindowRenderer

        return WindowRenderer(mechanism, camera, width, height, rate)
    if mode == "browser":
        try:
            from vigym.render.backends.browser import BrowserRenderer
        except ImportError as error:
            raise RenderError(f"render mode 'browser' needs viser (pip install 'vigym[browser]'): {error}") from error
        return BrowserRenderer(mechanism, camera, width, height, rate)
    painter = os.environ.get(PAINTER, "software")
    if painter not in ("software", "egl"):
        raise ValueError(f"variable {PAINTER}: found {painter!r}, expected 'software' or 'egl'")
    scene = Scene(mechanism, camera, width, height)
    from vigym.render.backends.software import SoftwareRenderer

    if painter == "software":
        return SoftwareRenderer(scene, shadow=shadow)
    from vigym.render.backends.egl import EglStage

    return SoftwareRenderer(scene, EglStage(scene.pieces), shadow)

"""Choice of a render backend, and the interface that all backends share."""

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

BACKEND_VARIABLE = "VIGYM_RENDERER"  # environment variable: "software" (default) or "egl"
MODES = ("rgb_array", "human", "browser")


class Renderer(Protocol):
    """Interface of all render backends."""

    def render(
        self, positions: ArrayLike, orientations: ArrayLike, marks: Marks | None = None
    ) -> NDArray[np.uint8] | None:
        """Draw the bodies, and `marks` over them.

        Args:
            positions: centres of mass in the order of `mech.bodies` (n_bodies, 3) [m].
            orientations: quaternions (w, x, y, z), body to world (n_bodies, 4).
            marks: contact forces and energies.
        """

    def close(self) -> None:
        """Release resources; may be called again."""


def make_renderer(
    mechanism: Mechanism,
    mode: str,
    width: int = 480,
    height: int = 480,
    camera: Camera | None = None,
    rate: float | None = None,
    shadow: bool = True,
) -> Renderer:
    """Return a renderer of `mechanism`; pybullet is imported with the first picture.

    Args:
        mechanism: drawn in its present state; later additions are not drawn.
        mode: "rgb_array": `render` returns an array (height, width, 3) uint8, no display needed;
            "human": `render` shows a window; "browser": `render` updates a page for web browsers.
            The environment variable VIGYM_RENDERER=egl selects OpenGL for "rgb_array".
        width: of the picture or window [pixels].
        height: of the picture or window [pixels].
        camera: user settings of the view; by default the mechanism fills the picture.
        rate: largest number of pictures per second, not for "rgb_array"; None: no limit.
        shadow: whether bodies cast a shadow on the floor; False only for "rgb_array".

    Raises:
        ValueError: an unknown mode, a size or rate that is not positive, `shadow=False` in another
            mode than "rgb_array", or an unknown value of VIGYM_RENDERER.
        RenderError: "browser" without viser.
    """
    if mode not in MODES:
        raise ValueError(f"render mode: found {mode!r}, expected one of {MODES}")
    if rate is not None and not 0.0 < rate < math.inf:
        raise ValueError(f"render rate: found {rate!r}, expected pictures per second > 0 or None")
    if not (shadow or mode == "rgb_array"):
        raise ValueError(
            f"render shadow: found {shadow!r} in mode {mode!r}, expected True: "
            "only mode 'rgb_array' can omit shadows"
        )
    camera = camera or Camera()
    if mode == "human":
        from vigym.render.backends.window import WindowRenderer

        return WindowRenderer(mechanism, camera, width, height, rate)
    if mode == "browser":
        try:
            from vigym.render.backends.browser import BrowserRenderer
        except ImportError as error:
            raise RenderError(
                f"render mode 'browser' needs viser (pip install 'vigym[browser]'): {error}"
            ) from error
        return BrowserRenderer(mechanism, camera, width, height, rate)
    return _picture_renderer(Scene(mechanism, camera, width, height), shadow)


def _picture_renderer(scene: Scene, shadow: bool) -> Renderer:
    """Return the renderer of mode "rgb_array" that VIGYM_RENDERER selects."""
    backend = os.environ.get(BACKEND_VARIABLE, "software")
    if backend not in ("software", "egl"):
        raise ValueError(
            f"variable {BACKEND_VARIABLE}: found {backend!r}, expected 'software' or 'egl'"
        )
    from vigym.render.backends.software import SoftwareRenderer

    if backend == "software":
        return SoftwareRenderer(scene, shadow=shadow)
    from vigym.render.backends.egl import EglClient

    return SoftwareRenderer(scene, EglClient(scene.visuals), shadow)

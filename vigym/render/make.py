"""Choice of a render backend, and the interface that all backends share."""

import math
from importlib.util import find_spec
from typing import Any, Protocol

from numpy.typing import ArrayLike, NDArray

from vigym.mechanism.mechanism import Mechanism
from vigym.render.errors import RenderError
from vigym.render.overlay.marks import Marks
from vigym.render.scene.camera import Camera
from vigym.render.scene.scene import Scene

ARRAY_MODES = ("rgb_array", "depth_array", "segmentation_array")
MODES = (*ARRAY_MODES, "human", "browser")


class Renderer(Protocol):
    """Interface of all render backends."""

    def render(
        self, positions: ArrayLike, orientations: ArrayLike, marks: Marks | None = None
    ) -> NDArray[Any] | None:
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
    """Return a renderer of `mechanism`.

    Args:
        mechanism: drawn in its present state; later additions are not drawn.
        mode: "rgb_array": `render` returns a picture (height, width, 3) uint8, no display needed;
            "depth_array": distances along the view (height, width) [m] float32;
            "segmentation_array": indices of bodies (height, width) int32;
            "human": `render` shows a window; "browser": `render` updates a page for web browsers.
        width: of the picture or window [pixels].
        height: of the picture or window [pixels].
        camera: user settings of the view; by default the mechanism fills the picture.
        rate: largest number of pictures per second, not for arrays; None: no limit.
        shadow: whether bodies cast a shadow on the floor; False not for "human", "browser".

    Raises:
        ValueError: an unknown mode, a size or rate that is not positive, or `shadow=False` in mode
            "human" or "browser".
        RenderError: a mesh file that cannot be read, "browser" without viser, "human" without
            pybullet and pygame.
    """
    if mode not in MODES:
        raise ValueError(f"render mode: found {mode!r}, expected one of {MODES}")
    if rate is not None and not 0.0 < rate < math.inf:
        raise ValueError(f"render rate: found {rate!r}, expected pictures per second > 0 or None")
    if not (shadow or mode in ARRAY_MODES):
        raise ValueError(
            f"render shadow: found {shadow!r} in mode {mode!r}, expected True: "
            "only pictures can omit shadows"
        )
    camera = camera or Camera()
    if mode == "human":
        return _window(mechanism, camera, width, height, rate)
    if mode == "browser":
        try:
            from vigym.render.backends.browser import BrowserRenderer
        except ImportError as error:
            raise RenderError(
                f"render mode 'browser' needs viser (pip install 'vigym[browser]'): {error}"
            ) from error
        return BrowserRenderer(mechanism, camera, width, height, rate)
    from vigym.render.backends.software import MapRenderer, SoftwareRenderer

    scene = Scene(mechanism, camera, width, height)
    return SoftwareRenderer(scene, shadow) if mode == "rgb_array" else MapRenderer(scene, mode)


def _window(
    mechanism: Mechanism, camera: Camera, width: int, height: int, rate: float | None
) -> Renderer:
    """Return the renderer of mode "human": pybullet's window, without pybullet one by pygame."""
    if find_spec("pybullet") is not None:
        from vigym.render.backends.window import WindowRenderer

        return WindowRenderer(mechanism, camera, width, height, rate)
    if find_spec("pygame") is not None:
        from vigym.render.backends.pygame_window import PygameRenderer

        return PygameRenderer(Scene(mechanism, camera, width, height), rate)
    raise RenderError(
        "render mode 'human' needs pygame-ce (pip install 'vigym[window]') or pybullet "
        "(pip install 'vigym[bullet]'); render_mode='browser' needs neither"
    )

"""Window of mode "human" by pygame: the pictures of mode "rgb_array"."""

import os

import numpy as np
from numpy.typing import ArrayLike

from vigym.captured_output import captured_output
from vigym.render.backends.frame_limiter import FrameLimiter
from vigym.render.backends.software import SoftwareRenderer
from vigym.render.errors import RenderError, WindowClosedError
from vigym.render.overlay.marks import Marks
from vigym.render.scene.scene import Scene

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # pygame prints a banner
import pygame  # noqa: E402

TITLE = "vigym"
DRIVER = "SDL_VIDEODRIVER"  # environment variable that selects one of pygame's drivers
UNSEEN = ("dummy", "offscreen")  # drivers that show nothing, which pygame takes without a display


class PygameRenderer:
    """Renderer of mode "human".

    Args:
        scene: visuals, floor and camera.
        rate: upper bound of pictures per second; None: no bound.
    """

    def __init__(self, scene: Scene, rate: float | None) -> None:
        self._size = scene.view.width, scene.view.height
        self._pictures = SoftwareRenderer(scene)
        self._limiter = FrameLimiter(rate)
        self._window: pygame.Surface | None = None
        self._process = 0

    def render(
        self, positions: ArrayLike, orientations: ArrayLike, marks: Marks | None = None
    ) -> None:
        """Show the bodies.

        Args:
            positions: centres of mass in the order of `mech.bodies` (n_bodies, 3) [m].
            orientations: quaternions (w, x, y, z), body to world (n_bodies, 4).
            marks: contact forces and energies to draw over the picture.

        Raises:
            ValueError: a wrong shape or a number that is not finite.
            RenderError: no display, or the window was closed.
        """
        picture = self._pictures.render(positions, orientations, marks)
        if self._window is None or self._process != os.getpid():
            self._window, self._process = self._open(), os.getpid()
        if pygame.display.get_init() and pygame.event.get(pygame.QUIT):
            pygame.display.quit()
        if not pygame.display.get_init():
            raise WindowClosedError
        pygame.surfarray.blit_array(self._window, np.swapaxes(picture, 0, 1))
        pygame.display.flip()
        self._limiter.wait()

    def _open(self) -> pygame.Surface:
        if pygame.display.get_init() and pygame.display.get_surface() is not None:
            raise RenderError("no second window: pygame shows one per process, close it first")
        try:
            with captured_output():  # SDL warns of a missing XDG_RUNTIME_DIR
                pygame.display.init()
            driver = pygame.display.get_driver()
            if driver in UNSEEN and DRIVER not in os.environ:
                raise pygame.error(f"found no display, only the driver {driver!r}")
            window = pygame.display.set_mode(self._size)
        except pygame.error as error:
            pygame.display.quit()
            raise RenderError(
                f"render_mode='human': pygame opens no window: {error}; "
                "render_mode='rgb_array' and 'browser' need no display"
            ) from error
        pygame.display.set_caption(TITLE)
        return window

    def close(self) -> None:
        """Close the window; may be called again."""
        if self._window is not None and self._process == os.getpid():
            pygame.display.quit()
        self._window = None

"""What one environment and a vector of them have in common: a task in motion, its spaces and its pictures."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from vigym.envs.run import TaskRun
from vigym.envs.task import Array, Task
from vigym.mechanism.mechanism import Mechanism
from vigym.render.marks import marks_of, overlay_kinds

Picture = NDArray[np.uint8]


class Stage:
    """A task in motion with its spaces and one renderer, made when the first picture is asked for.

    Attributes:
        task: constants and hooks.
        sim: the `vigym.Simulator`; `sim.state` saves, `reset(options={"state": ...})` restores.
        observation_names: name of every entry of the observation.
    """

    metadata: dict[str, Any] = {"render_modes": ["human", "rgb_array", "browser"], "render_fps": 20}
    _renderer: Any = None

    def _set(
        self,
        run: TaskRun,
        render_mode: str | None,
        size: tuple[int, int],
        overlay: tuple[str, ...] | str,
        shadow: bool,
    ) -> None:
        """Take the run, and pictures of `size` (width, height) [pixels] with `overlay`, and with or without `shadow`.

        Raises:
            ValueError: unknown render mode or overlay, or what the mode cannot show or do without.
        """
        modes = [None, *self.metadata["render_modes"]]
        if render_mode not in modes:
            raise ValueError(f"option render_mode: found {render_mode!r}, expected one of {modes}")
        self.render_mode: str | None = render_mode
        self.overlay = overlay_kinds(overlay)
        if self.overlay and render_mode == "human":
            raise ValueError(f"option overlay: found {overlay!r}, expected none: a window shows no overlay")
        if not isinstance(shadow, bool):
            raise ValueError(f"option shadow: found {shadow!r}, expected True or False")
        if not shadow and render_mode in ("human", "browser"):
            raise ValueError(f"option shadow: found {shadow!r}, expected True: only pictures can do without")
        self.width, self.height, self._shadow = *size, shadow
        self._run, self.task, self.sim = run, run.task, run.sim
        self.__doc__ = type(self.task).__doc__
        self.metadata = {**self.metadata, "render_fps": max(1, round(1.0 / self.dt))}
        self.observation_names = list(self.task.observation(self.mechanism))

    def _spaces(self) -> tuple[spaces.Space[Any], spaces.Space[Any]]:
        """Return the spaces of one environment's observations and actions."""
        bounds = self._run.bounds
        return spaces.Box(-bounds, bounds, dtype=np.float64), spaces.Box(-1.0, 1.0, self._run.efforts.shape, np.float32)

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism that moves."""
        return self._run.mechanism

    @property
    def dt(self) -> float:
        """Length of a control step [s]."""
        return self.task.timestep * self.task.frame_skip

    def _draw(self, bodies: Array, lane: int = 0) -> Picture:
        """Draw bodies (n_bodies, 13) as `sim.body_states` tells of them, and the overlay; (height, width, 3)."""
        if self._renderer is None:
            from vigym.render.scene import make_renderer

            self._renderer = make_renderer(
                self.mechanism,
                mode=self.render_mode or "rgb_array",
                width=self.width,
                height=self.height,
                rate=1.0 / self.dt,
                shadow=self._shadow,
            )
        picture: Picture = self._renderer.render(bodies[:, 0:3], bodies[:, 3:7], marks_of(self.sim, self.overlay, lane))
        return picture

    def _free(self) -> None:
        """Free the renderer; the environment still steps and draws afterwards."""
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_renderer": None}


def task_class(task: type[Task] | str) -> type[Task]:
    """Return the class itself, or the one named "module:class"."""
    if not isinstance(task, str):
        return task
    module, _, name = task.partition(":")
    found: type[Task] = getattr(import_module(module), name)
    return found


def require_options(options: dict[str, Any] | None, known: Sequence[str]) -> dict[str, Any]:
    """Return the options of a reset, none for None.

    Raises:
        ValueError: one that is not known, or no dictionary.
    """
    given = {} if options is None else options
    if not isinstance(given, dict):
        raise ValueError(f"reset options: found {given!r}, expected a dictionary")
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise ValueError(f"reset options: found {unknown}, expected only {' and '.join(map(repr, known))}")
    return given

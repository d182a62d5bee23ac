"""One base for all environments: the episodes of a task, one environment at a time.

`Stage` is the part that a vector of environments has too: a task in motion, its spaces and its pictures.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from vigym.envs.episode import TaskRun
from vigym.envs.perturbations import split_options
from vigym.envs.task import Array, Task
from vigym.mechanism.mechanism import Mechanism
from vigym.render.overlay.marks import marks_of, overlay_kinds

Picture = NDArray[np.uint8]
Action = NDArray[np.float32]
_NUMPY = (np.ndarray, np.generic)


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
            from vigym.render.make import make_renderer

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


class TaskEnv(Stage, gymnasium.Env[Array, Action]):
    """One environment of a task.

    Actions in [-1, 1] are scaled by the efforts of the actuated joints, or to the targets of their motors where the
    task says so; one outside is clipped and flagged in
    `info["action_clipped"]`. A step the solver could not make ends the episode with
    `info["solver_converged"] = False` and the state before it.

    Args:
        task: Task class, or where to find it as "module:class".
        render_mode: None, "rgb_array" (pictures), "human" (a window) or "browser" (a page for web browsers).
        width: of pictures [pixels].
        height: of pictures [pixels].
        overlay: what pictures show beside the bodies: any of "contacts" (forces as arrows) and "energy" (bars).
        shadow: whether the bodies of pictures throw one on the floor; without they are drawn sooner.
        options: fields of the task, and of `vigym.envs.perturbations.Disturbances`.

    Raises:
        ValueError: unknown render mode or overlay, or an option out of range.
        TypeError: unknown option.
        MechanismError: the mechanism cannot be driven.
    """

    def __init__(
        self,
        task: type[Task] | str,
        *,
        render_mode: str | None = None,
        width: int = 640,
        height: int = 480,
        overlay: tuple[str, ...] | str = (),
        shadow: bool = True,
        **options: Any,
    ) -> None:
        how, options = split_options(options)
        run = TaskRun(task_class(task)(**options), how=how, streams=self._streams)
        self._set(run, render_mode, (width, height), overlay, shadow)
        self.observation_space, self.action_space = self._spaces()

    def _streams(self) -> list[np.random.Generator]:
        return [self.np_random]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Start an episode.

        Args:
            seed: of the random initial state.
            options: {"state": array} continues from a state saved as `env.unwrapped.sim.state`.

        Raises:
            ValueError: another option, or a state that does not fit. The environment is as it was.
        """
        state = require_options(options, ["state"]).get("state")
        if state is not None:
            self.sim.require_state(state)
        super().reset(seed=seed)
        positions, velocities = self.task.initial(self.mechanism, self.np_random)
        self._run.start(positions, velocities)
        if state is not None:
            self.sim.state = state
        observation, info = self._run.first()
        self._show()
        return observation, _plain(info)

    def step(self, action: Action) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Hold `action` (n_actuated,) for one control step.

        Raises:
            ValueError: wrong shape or numbers that are not finite; the environment is as it was.
        """
        outcome = self._run.step(action)
        self._show()
        return outcome.observation, float(outcome.reward), bool(outcome.terminated), False, _plain(outcome.info)

    def render(self) -> Picture | None:
        """Return a picture (height, width, 3) in mode "rgb_array"; show it in the modes "human" and "browser"."""
        if self.render_mode is None:
            gymnasium.logger.warn('render() without a render mode: make the environment with render_mode="rgb_array"')
            return None
        picture = self._draw(self.sim.body_states)
        return picture if self.render_mode == "rgb_array" else None

    def close(self) -> None:
        """Free the renderer; the environment still steps afterwards."""
        self._free()

    def _show(self) -> None:
        if self.render_mode in ("human", "browser"):
            self.render()


def _plain(info: dict[str, Any]) -> dict[str, Any]:
    """Return `info`, with Python numbers in place of arrays without dimensions."""
    for key, value in info.items():
        if type(value) is not float:
            info[key] = _number(value)
    return info


def _number(value: Any) -> Any:
    if type(value) is np.float64:
        return float(value)  # sooner than `item`
    return value.item() if isinstance(value, _NUMPY) and not value.shape else value

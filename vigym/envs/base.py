"""One base for all environments: episodes, spaces, seeds and pictures of a task."""

from importlib import import_module
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from vigym.envs.run import TaskRun
from vigym.envs.task import Array, Task
from vigym.mechanism.mechanism import Mechanism

Action = NDArray[np.float32]
_NUMPY = (np.ndarray, np.generic)


class TaskEnv(gymnasium.Env[Array, Action]):
    """One environment of a task.

    Actions in [-1, 1] are scaled by the efforts of the actuated joints, or to the targets of their motors where the
    task says so; one outside is clipped and flagged in
    `info["action_clipped"]`. A step the solver could not make ends the episode with
    `info["solver_converged"] = False` and the state before it.

    Args:
        task: Task class, or where to find it as "module:class".
        render_mode: None, "rgb_array" or "human".
        width: of pictures [pixels].
        height: of pictures [pixels].
        options: fields of the task.

    Attributes:
        task: constants and hooks.
        sim: the `vigym.Simulator`; `sim.state` saves, `reset(options={"state": ...})` restores.
        observation_names: name of every entry of the observation.

    Raises:
        ValueError: unknown render mode or an option out of range.
        TypeError: unknown option.
        MechanismError: the mechanism cannot be driven.
    """

    metadata: dict[str, Any] = {"render_modes": ["human", "rgb_array"], "render_fps": 20}

    def __init__(
        self,
        task: type[Task] | str,
        *,
        render_mode: str | None = None,
        width: int = 640,
        height: int = 480,
        **options: Any,
    ) -> None:
        self._renderer: Any = None
        modes = [None, *self.metadata["render_modes"]]
        if render_mode not in modes:
            raise ValueError(f"option render_mode: found {render_mode!r}, expected one of {modes}")
        self.render_mode, self.width, self.height = render_mode, width, height
        self._run = TaskRun(task_class(task)(**options))
        self.task, self.sim = self._run.task, self._run.sim
        self.__doc__ = type(self.task).__doc__
        self.metadata = {**self.metadata, "render_fps": max(1, round(1.0 / self.dt))}
        self.observation_names = list(self.task.observation(self.mechanism))
        bounds = self._run.bounds
        self.observation_space = spaces.Box(-bounds, bounds, dtype=np.float64)
        self.action_space = spaces.Box(-1.0, 1.0, self._run.action_shape, dtype=np.float32)

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism that moves."""
        return self._run.mechanism

    @property
    def dt(self) -> float:
        """Length of a control step [s]."""
        return self.task.timestep * self.task.frame_skip

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Start an episode.

        Args:
            seed: of the random initial state.
            options: {"state": array} continues from a state saved as `env.unwrapped.sim.state`.

        Raises:
            ValueError: another option, or a state that does not fit.
        """
        super().reset(seed=seed)
        unknown = set(options or ()) - {"state"}
        if unknown:
            raise ValueError(f"reset options: found {sorted(unknown)}, expected only 'state'")
        positions, velocities = self.task.initial(self.mechanism, self.np_random)
        self._run.start(positions, velocities)
        if options and "state" in options:
            self.sim.state = options["state"]
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

    def render(self) -> NDArray[np.uint8] | None:
        """Return a picture (height, width, 3) in mode "rgb_array"; show it in mode "human"."""
        if self.render_mode is None:
            gymnasium.logger.warn('render() without a render mode: make the environment with render_mode="rgb_array"')
            return None
        if self._renderer is None:
            from vigym.render.scene import make_renderer

            self._renderer = make_renderer(
                self.mechanism, mode=self.render_mode, width=self.width, height=self.height, rate=1.0 / self.dt
            )
        bodies = self.sim.body_states
        picture = self._renderer.render(bodies[:, 0:3], bodies[:, 3:7])
        return picture if self.render_mode == "rgb_array" else None

    def close(self) -> None:
        """Free the renderer; the environment still steps afterwards."""
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_renderer": None}

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()


def task_class(task: type[Task] | str) -> type[Task]:
    """Return the class itself, or the one named "module:class"."""
    if not isinstance(task, str):
        return task
    module, _, name = task.partition(":")
    found: type[Task] = getattr(import_module(module), name)
    return found


def _plain(info: dict[str, Any]) -> dict[str, Any]:
    """Return `info` with Python numbers in place of arrays without dimensions."""
    numbers = {key: value.item() for key, value in info.items() if isinstance(value, _NUMPY) and not value.shape}
    return info | numbers

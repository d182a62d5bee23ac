"""One base for all environments: the episodes of a task, one environment at a time."""

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from vigym.envs.disturbances import split_options
from vigym.envs.run import TaskRun
from vigym.envs.stage import Picture, Stage, require_options, task_class
from vigym.envs.task import Array, Task

Action = NDArray[np.float32]
_NUMPY = (np.ndarray, np.generic)


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
        options: fields of the task, and of `vigym.envs.disturbances.Disturbances`.

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

"""Vector environment of a task, stepped as one batch of the simulator.

Each environment has its own episodes, seed and time limit, and its own random stream.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from vigym.envs.arrays import Array, Flags
from vigym.envs.env import ARRAY_MODES, BaseEnv, Picture, make_task, require_options
from vigym.envs.episode import EpisodeRunner, StepResult
from vigym.envs.infos import (
    Infos,
    masked_info,
    selected_info,
    unread_info,
    unread_restart_info,
    with_masks,
)
from vigym.envs.options import RenderOptions, checked_autoreset_mode, is_whole
from vigym.envs.perturbations import split_options
from vigym.envs.random_start import RANDOM_START, START_OPTIONS, GivenStart
from vigym.envs.task import Task
from vigym.render.scene.camera import CameraOption
from vigym.simulation.state.inputs import positive_integer

Seeds = int | Sequence[int | None] | None
Step = tuple[Array, Array, Flags, Flags, Infos]
_NEVER = int(np.iinfo(np.int64).max)
_SINGLE = {"observation_space": "single_observation_space", "action_space": "single_action_space"}
_FIXED = ("num_envs", *_SINGLE, *_SINGLE.values())  # of a vector once it is made
_PER_ENVIRONMENT = ("np_random", "np_random_seed", "render")  # have a value for every environment


class RandomStreams:
    """Random streams, one per environment, randomly seeded until given a seed.

    Args:
        count: number of environments.

    Attributes:
        generators: the streams.
        seeds: their seeds.
    """

    def __init__(self, count: int) -> None:
        self.generators: tuple[np.random.Generator, ...] = ()
        self.seeds: tuple[int, ...] = ()
        self._set([seeding.np_random() for _ in range(count)])

    def seed(self, seeds: Seeds, mask: Flags) -> None:
        """Seed the streams of environments in the mask; those whose seed is None continue.

        Args:
            seeds: one for each environment, or one for the first, increased by one from each
                environment to the next; None for all.
            mask: (count,) environments.

        Raises:
            ValueError: not one seed for each environment, or one that is not a whole number >= 0.
        """
        pairs = list(zip(self.generators, self.seeds, strict=True))
        for lane, seed in enumerate(self.listed(seeds)):
            if seed is not None and mask[lane]:
                pairs[lane] = seeding.np_random(seed)
        self._set(pairs)

    def listed(self, seeds: Seeds) -> list[int | None]:
        """Return the seed of every environment, None for streams that continue; see `seed`."""
        count = len(self.generators)
        if seeds is None:
            return [None] * count
        if isinstance(seeds, Sequence | np.ndarray):
            listed: list[Any] = list(seeds)
        else:
            listed = [seeds + lane if _is_seed(seeds) else seeds for lane in range(count)]
        if len(listed) != count:
            expected = f"one for each of {count} environments"
            raise ValueError(f"seed: found {len(listed)} seeds, expected {expected}")
        for seed in listed:
            if seed is not None and not _is_seed(seed):
                raise ValueError(f"seed: found {seed!r}, expected a whole number >= 0")
        return [None if seed is None else int(seed) for seed in listed]

    def _set(self, pairs: list[tuple[np.random.Generator, int]]) -> None:
        self.generators = tuple(stream for stream, _ in pairs)
        self.seeds = tuple(seed for _, seed in pairs)


def _is_seed(value: Any) -> bool:
    return is_whole(value) and int(value) >= 0


class TaskVectorEnv(BaseEnv, VectorEnv[Array, NDArray[np.float32], NDArray[Any]]):
    """Vector environment of one task; each environment equals the single one with its seed exactly.

    A step that the solver cannot make ends the episode of that environment alone.

    Args:
        task: Task class, or its place as "module:class".
        num_envs: number of environments.
        max_episode_steps: control steps until an episode is truncated; None or -1: never.
        autoreset_mode: a `gymnasium.vector.AutoresetMode` or its value, for the end of an episode.
            NEXT_STEP: the next `step` resets the environment, whatever its action, with reward 0.
            SAME_STEP: the environment is reset at once; `infos` has its last observation and info
            as "final_obs" and "final_info".
            DISABLED: the user resets it with `reset(options={"reset_mask": ...})` before the next
            step.
        info_keys: keys of `infos` to report beside "privileged", () for none; None: all. Learners
            that build a dictionary for every environment and step, such as RLlib, are faster with
            few.
        threads: of the simulator.
        precision: of the simulator, "float64" or "float32"; the latter differs from single
            environments by rounding.
        render_mode: None, "rgb_array", "depth_array" or "segmentation_array".
        width: of pictures [pixels].
        height: of pictures [pixels].
        overlay: drawn over pictures: any of "contacts" (forces as arrows) and "energy" (bars).
        shadow: whether bodies cast a shadow on the floor; pictures without are drawn faster.
        camera: view of pictures; see `vigym.envs.options.RenderOptions`.
        options: fields of the task, and of `vigym.envs.perturbations.Perturbations`.

    Raises:
        ValueError: num_envs, max_episode_steps, autoreset_mode, info_keys, threads, precision,
            render mode, overlay, camera or an option out of range; a mechanism that single
            precision does not support.
        TypeError: an unknown option, or a missing one.
        MechanismError: the mechanism cannot be driven.
        MemoryError: more environments than the machine has memory for.

    Attributes:
        autoreset_mode: the mode, a `gymnasium.vector.AutoresetMode`.
        info_keys: keys of `infos` that are reported; None: all.
        max_episode_steps: control steps until an episode is truncated.
        episode_steps: control steps of the current episodes (num_envs,).
    """

    metadata: dict[str, Any] = {"render_modes": ARRAY_MODES, "render_fps": 20}
    _started = False  # whether the environments have been reset

    def __init__(
        self,
        task: type[Task] | str,
        num_envs: int = 1,
        *,
        max_episode_steps: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        info_keys: Sequence[str] | None = None,
        threads: int = 1,
        precision: str = "float64",
        render_mode: str | None = None,
        width: int = 640,
        height: int = 480,
        overlay: tuple[str, ...] | str = (),
        shadow: bool = True,
        camera: CameraOption = None,
        **options: Any,
    ) -> None:
        self.num_envs = positive_integer(num_envs, "num_envs")
        self.max_episode_steps = self._step_limit(max_episode_steps)
        self.autoreset_mode = checked_autoreset_mode(autoreset_mode)
        self._given = options
        perturbations, options = split_options(options)
        runner = EpisodeRunner(
            make_task(task, options),
            batch=self.num_envs,
            threads=threads,
            precision=precision,
            perturbations=perturbations,
            streams=self._generators,
        )
        render = RenderOptions(render_mode=render_mode, width=width, height=height, camera=camera)
        self._set_up(runner, replace(render, overlay=overlay, shadow=shadow))
        self.metadata["autoreset_mode"] = self.autoreset_mode
        self._set_spaces()
        self._streams = RandomStreams(self.num_envs)
        self.episode_steps = np.zeros(self.num_envs, dtype=np.int64)
        self._done = np.zeros(self.num_envs, dtype=np.bool_)  # whether it is over
        self._everywhere = np.ones(self.num_envs, dtype=np.bool_)
        self.info_keys = self.checked_info_keys(info_keys)

    def __repr__(self) -> str:
        return self._description(f", num_envs={self.num_envs}")

    def _set_spaces(self) -> None:
        self.single_observation_space, self.single_action_space = self._single_spaces()
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def _step_limit(self, max_episode_steps: int | None) -> int:
        """Return the largest number of control steps of an episode."""
        unlimited = max_episode_steps in (None, -1)
        limit = _NEVER if unlimited else positive_integer(max_episode_steps, "max_episode_steps")
        return min(limit, _NEVER)

    def _generators(self) -> tuple[np.random.Generator, ...]:
        return self._streams.generators

    @property  # type: ignore[misc]
    def np_random(self) -> tuple[np.random.Generator, ...]:  # type: ignore[override]
        """Random stream of every environment."""
        return self._streams.generators

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # type: ignore[override]
        """Seed of the random stream of every environment."""
        return self._streams.seeds

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Array, Infos]:
        """Start episodes.

        Args:
            seed: of the random initial states: one for each environment, or `seed` for the first,
                `seed + 1` for the next and so on; None: the random streams continue.
            options: {"reset_mask": (num_envs,) bool} resets some environments only, in any mode;
                {"state": array} continues from states saved as `env.unwrapped.sim.state`, one for
                each or one for all, with the goals that the environments have (`Task.goal`);
                {"positions": ..., "velocities": ...} as in `TaskEnv.reset`, each (num_envs, ...).

        Returns:
            Observations (num_envs, n) of all environments, infos of the ones that were reset.

        Raises:
            ValueError: another option, a mask, seeds, a state or coordinates that do not fit. All
                environments are unchanged, but for positions that a loop cannot close at.
            ResetNeeded: a mask without environments that were never reset.
        """
        checked = dict(require_options(options, ["reset_mask", *START_OPTIONS]))
        mask = self._checked_mask(checked.pop("reset_mask", None))
        given = GivenStart(**checked)
        given.check(self._runner.sim, mask)
        return self.start(self._streams.listed(seed), mask, given)

    def start(self, seeds: list[int | None], mask: Flags, given: GivenStart) -> tuple[Array, Infos]:
        """Start episodes in a mask (num_envs,) with checked seeds and values, as `reset` does."""
        self._streams.seed(seeds, mask)
        if mask.any():  # in one of several processes there may be none
            self._restart(mask, given)
        self._started = True
        observations, read_info = self._runner.reset_result(mask)
        info = selected_info(read_info(), self.info_keys)
        return observations, with_masks(info if mask.all() else masked_info(info, mask), mask)

    def step(self, actions: NDArray[np.float32]) -> Step:
        """Apply `actions` (num_envs, n_actuated) for one control step.

        Raises:
            ValueError: wrong shape, or numbers that are not finite: the error names the
                environment. All environments are unchanged.
            ResetNeeded: an environment has not been reset.
        """
        self._require_reset()
        restarted = self._done if np.count_nonzero(self._done) else None
        applied = self._runner.advance(actions, restarted)
        self.episode_steps += 1
        if restarted is not None:
            self._restart(restarted)
        result = self._runner.step_result(applied, restarted)
        truncated = self.episode_steps >= self.max_episode_steps
        self._done = result.terminated | truncated
        if self.autoreset_mode is AutoresetMode.SAME_STEP and np.count_nonzero(self._done):
            return self._reset_done(result, truncated)
        infos = unread_info(result.read_info, self.info_keys, self._everywhere)
        return result.observation, result.reward, result.terminated, truncated, infos

    def render(self) -> tuple[Picture, ...] | None:
        """Return a picture of every environment, see `picture`."""
        if self.render_mode is None:
            gymnasium.logger.warn(
                'render() without a render mode: make the environments with render_mode="rgb_array"'
            )
            return None
        return tuple(self._draw(states, lane) for lane, states in enumerate(self.sim.body_states))

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Return an attribute, or the result of a method called once, for every environment.

        Pictures, random streams and their seeds differ by environment; the rest is shared.

        Raises:
            AttributeError: no such attribute.
            ValueError: `reset` or `step`, which the vector environment has for all at once.
        """
        if name in ("reset", "step"):
            raise ValueError(f"call: found {name!r}, expected {name}() of the vector environment")
        value = getattr(self, _SINGLE.get(name, name))
        if callable(value):
            value = value(*args, **kwargs)
        differs = name in _PER_ENVIRONMENT and value is not None
        return tuple(value) if differs else (value,) * self.num_envs

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Return an attribute for every environment; most have one value for all.

        Raises:
            AttributeError: no such attribute.
        """
        return self.call(name)

    def set_attr(self, name: str, values: Any) -> None:
        """Set an attribute that the environments share.

        Args:
            name: of the attribute.
            values: a value for all; a list or tuple has one for each, all equal.

        Raises:
            ValueError: not one for each environment, values that differ, or the number or the
                spaces of the environments.
        """
        if name in _FIXED:
            raise ValueError(f"attribute {name!r}: found a new value, expected that of `make_vec`")
        listed = list(values) if isinstance(values, list | tuple) else [values] * self.num_envs
        if len(listed) != self.num_envs:
            expected = f"one for each of {self.num_envs} environments"
            raise ValueError(f"attribute {name!r}: found {len(listed)} values, expected {expected}")
        if not all(np.array_equal(value, listed[0]) for value in listed):
            expected = "equal ones: the environments share it"
            raise ValueError(f"attribute {name!r}: found different values, expected {expected}")
        setattr(self, name, listed[0])

    def close_extras(self, **kwargs: Any) -> None:
        """Free the renderer; the environments still step afterwards."""
        self._close_renderer()

    def _restart(self, mask: Flags, given: GivenStart | None = None) -> None:
        self._runner.start_random(self._streams.generators, mask, given or RANDOM_START)
        self.episode_steps[mask] = 0
        self._done = self._done & ~mask

    def _reset_done(self, result: StepResult, truncated: Flags) -> Step:
        """Reset the environments that are done, in mode SAME_STEP; return the step of all."""
        done = self._done
        observations, last = result.observation, result.observation.copy()
        self._restart(done)
        initial, read_first = self._runner.reset_result(done)
        observations[done] = initial[done]
        infos = unread_restart_info((result.read_info, read_first), self.info_keys, done, last)
        return observations, result.reward, result.terminated, truncated, infos

    def _require_reset(self) -> None:
        if not self._started:
            raise ResetNeeded(
                "step: found environments that were never reset, expected a call of reset() first"
            )
        if self.autoreset_mode == AutoresetMode.DISABLED and self._done.any():
            found = f"environments {np.flatnonzero(self._done).tolist()}"
            raise ResetNeeded(
                f"step: found {found} at the end of their episodes, expected a reset of them"
            )

    def checked_info_keys(self, keys: Sequence[str] | None) -> tuple[str, ...] | None:
        """Return keys of `infos` as a tuple, None for all; raise ValueError for unknown ones."""
        if keys is None:
            return None
        known = sorted(self._runner.reset_result(~self._everywhere)[1]())
        listed = isinstance(keys, Sequence) and not isinstance(keys, str)
        unknown = [key for key in keys if key not in known] if listed else [keys]
        if unknown:
            expected = f"None or a sequence of: {', '.join(known)}"
            raise ValueError(f"option info_keys: found {unknown[0]!r}, expected {expected}")
        own = ("privileged",) if self.privileged_names else ()
        return tuple(dict.fromkeys((*keys, *own)))

    def _checked_mask(self, mask: Flags | None) -> Flags:
        """Return a copy of a reset mask (num_envs,); None names all environments."""
        if mask is None:
            return np.ones(self.num_envs, dtype=np.bool_)
        kind = (
            f"{mask.dtype} of shape {mask.shape}" if isinstance(mask, np.ndarray) else f"{mask!r}"
        )
        fits = (
            isinstance(mask, np.ndarray)
            and mask.dtype == np.bool_
            and mask.shape == (self.num_envs,)
        )
        if not fits or not mask.any():
            found = "no environment" if fits else kind
            expected = f"a bool array of shape ({self.num_envs},) that names at least one"
            raise ValueError(f"reset_mask: found {found}, expected {expected}")
        if not (self._started or mask.all()):
            found = "environments that were never reset"
            raise ResetNeeded(f"reset_mask: found {found}, expected all of them at first")
        checked: Flags = mask.copy()
        return checked

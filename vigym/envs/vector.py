"""Many environments of a task in one: the lanes of a batch, each with its own episodes, seed and time limit.

Beside it what it needs for each of them: random streams, as if every environment were alone, and infos with masks.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from vigym.envs.env import Picture, Stage, require_options, task_class
from vigym.envs.episode import Outcome, TaskRun
from vigym.envs.perturbations import split_options
from vigym.envs.task import Array, Flags, Task
from vigym.simulation.state.inputs import positive_integer

Seeds = int | Sequence[int | None] | None
Infos = dict[str, Any]
Step = tuple[Array, Array, Flags, Flags, Infos]
_NEVER = int(np.iinfo(np.int64).max)


class Streams:
    """One random stream per environment, from a random seed until it is given one.

    Args:
        count: number of environments.

    Attributes:
        generators: the streams.
        seeds: where they began.
    """

    def __init__(self, count: int) -> None:
        self.generators: tuple[np.random.Generator, ...] = ()
        self.seeds: tuple[int, ...] = ()
        self._begin([seeding.np_random() for _ in range(count)])

    def seed(self, seeds: Seeds, chosen: Flags) -> None:
        """Begin the streams of the chosen environments afresh; those whose seed is None go on.

        Args:
            seeds: one for each environment, or that of the first, the next being one more; None for all.
            chosen: (count,) environments.

        Raises:
            ValueError: not one seed for each environment, or one that is not a whole number >= 0.
        """
        pairs = list(zip(self.generators, self.seeds, strict=True))
        for lane, seed in enumerate(self._listed(seeds)):
            if seed is not None and chosen[lane]:
                pairs[lane] = seeding.np_random(seed)
        self._begin(pairs)

    def _begin(self, pairs: list[tuple[np.random.Generator, int]]) -> None:
        self.generators, self.seeds = tuple(stream for stream, _ in pairs), tuple(seed for _, seed in pairs)

    def _listed(self, seeds: Seeds) -> list[int | None]:
        count = len(self.generators)
        if seeds is None:
            return [None] * count
        if isinstance(seeds, Sequence | np.ndarray):
            listed: list[Any] = list(seeds)
        else:
            listed = [seeds + lane if _is_seed(seeds) else seeds for lane in range(count)]
        if len(listed) != count:
            raise ValueError(f"seed: found {len(listed)} seeds, expected one for each of {count} environments")
        for seed in listed:
            if seed is not None and not _is_seed(seed):
                raise ValueError(f"seed: found {seed!r}, expected a whole number >= 0")
        return [None if seed is None else int(seed) for seed in listed]


def _is_seed(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) >= 0


def masked(info: Infos, chosen: Flags) -> Infos:
    """Return the info with, for every key, a mask `_key` (num_envs,) of the chosen environments: one array for all."""
    return info | dict.fromkeys(_mask_keys(tuple(info)), chosen.copy())


def only(info: Infos, chosen: Flags) -> Infos:
    """Return the info of the chosen environments, zero elsewhere."""
    names, table = _numbers(info)
    picked = _only(table.T, chosen).T
    return dict(zip(names, picked, strict=True)) | {key: _only(info[key], chosen) for key in info.keys() - set(names)}


def replaced(info: Infos, others: Infos, chosen: Flags) -> Infos:
    """Return the info, of the chosen environments that in `others`."""
    (names, table), (_, fresh) = _numbers(info), _numbers(others, info)
    table[:, chosen] = fresh[:, chosen]
    rest = {key: info[key].copy() for key in info.keys() - set(names)}
    for key, value in rest.items():
        value[chosen] = others[key][chosen]
    return dict(zip(names, table, strict=True)) | rest


def _numbers(info: Infos, like: Infos | None = None) -> tuple[list[str], Array]:
    """Names and values (n_names, num_envs) of what is one number for each environment: most of an info."""
    names = [key for key, value in (like or info).items() if value.ndim == 1 and value.dtype == np.float64]
    return names, np.array([info[name] for name in names])


def _only(values: NDArray[Any], chosen: Flags) -> NDArray[Any]:
    """Return rows of `values` (num_envs, ...) where chosen, zero elsewhere."""
    picked = np.zeros_like(values)
    picked[chosen] = values[chosen]
    return picked


@cache
def _mask_keys(keys: Iterable[str]) -> list[str]:
    return [f"_{key}" for key in keys]


class TaskVectorEnv(Stage, VectorEnv[Array, NDArray[np.float32], NDArray[Any]]):
    """A vector of environments of a task, stepped together; each is bit for bit the single one with its seed.

    An environment whose step the solver could not make ends its episode as the single one does, the others go on.

    Args:
        task: Task class, or where to find it as "module:class".
        num_envs: number of environments.
        max_episode_steps: control steps until an episode is truncated; None or -1: never.
        autoreset_mode: what follows the end of an episode, a `gymnasium.vector.AutoresetMode` or its value.
            NEXT_STEP: the next `step` resets that environment, whatever its action, with reward 0.
            SAME_STEP: it is reset at once; `infos` has its last observation and info as "final_obs" and "final_info".
            DISABLED: nothing; it has to be reset with `reset(options={"reset_mask": ...})` before the next step.
        threads: of the simulator.
        precision: of the simulator, "float64" or "float32", in which environments are no longer those of `gym.make`
            bit for bit.
        render_mode: None or "rgb_array".
        width: of pictures [pixels].
        height: of pictures [pixels].
        overlay: what pictures show beside the bodies: any of "contacts" (forces as arrows) and "energy" (bars).
        shadow: whether the bodies of pictures throw one on the floor; without they are drawn sooner.
        options: fields of the task, and of `vigym.envs.perturbations.Disturbances`.

    Raises:
        ValueError: num_envs, max_episode_steps, autoreset_mode, threads, precision, render mode, overlay or an option
            out of range; a mechanism that single precision does not serve for.
        TypeError: unknown option.
        MechanismError: the mechanism cannot be driven.
        MemoryError: more environments than the machine has memory for.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 20}

    def __init__(
        self,
        task: type[Task] | str,
        num_envs: int = 1,
        *,
        max_episode_steps: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        threads: int = 1,
        precision: str = "float64",
        render_mode: str | None = None,
        width: int = 640,
        height: int = 480,
        overlay: tuple[str, ...] | str = (),
        shadow: bool = True,
        **options: Any,
    ) -> None:
        self.num_envs = positive_integer(num_envs, "num_envs")
        endless = max_episode_steps in (None, -1)
        limit = _NEVER if endless else positive_integer(max_episode_steps, "max_episode_steps")
        self._mode = _mode(autoreset_mode)
        how, options = split_options(options)
        made = task_class(task)(**options)
        run = TaskRun(
            made, batch=self.num_envs, threads=threads, precision=precision, how=how, streams=self._generators
        )
        self._set(run, render_mode, (width, height), overlay, shadow)
        self.metadata["autoreset_mode"] = self._mode
        self.single_observation_space, self.single_action_space = self._spaces()
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._streams = Streams(self.num_envs)
        self._limit = np.full(self.num_envs, min(limit, _NEVER))
        self._steps = np.zeros(self.num_envs, dtype=np.int64)  # of the present episode
        self._done = np.zeros(self.num_envs, dtype=np.bool_)  # whether it is over
        self._every = np.ones(self.num_envs, dtype=np.bool_)
        self._started = False

    def _generators(self) -> tuple[np.random.Generator, ...]:
        return self._streams.generators

    @property  # type: ignore[misc]
    def np_random(self) -> tuple[np.random.Generator, ...]:  # type: ignore[override]
        """The random stream of every environment."""
        return self._streams.generators

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # type: ignore[override]
        """Where the random stream of every environment began."""
        return self._streams.seeds

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, Infos]:
        """Start episodes.

        Args:
            seed: of the random initial states: one for each environment, or `seed` for the first, `seed + 1` for the
                next and so on; None: the random streams go on.
            options: {"reset_mask": (num_envs,) bool} resets some environments only, in any mode;
                {"state": array} continues from states saved as `env.unwrapped.sim.state`, one for each or one for all.

        Returns:
            Observations (num_envs, n) of all, infos of those that were reset.

        Raises:
            ValueError: another option, a mask, seeds or a state that do not fit. All environments are as they were.
            ResetNeeded: a mask that leaves out environments before they were ever reset.
        """
        given = require_options(options, ["reset_mask", "state"])
        chosen = self._chosen(given.get("reset_mask"))
        state = given.get("state")
        if state is not None:
            self.sim.require_state(state, chosen)
        self._streams.seed(seed, chosen)
        self._restart(chosen, state)
        self._started = True
        observations, info = self._run.first(chosen)
        return observations, masked(info if chosen.all() else only(info, chosen), chosen)

    def step(self, actions: NDArray[np.float32]) -> Step:
        """Hold `actions` (num_envs, n_actuated) for one control step.

        Raises:
            ValueError: wrong shape, or numbers that are not finite: the error names the environment. All are as they
                were.
            ResetNeeded: an environment has not been reset.
        """
        self._require_reset()
        fresh = self._done if np.count_nonzero(self._done) else None
        held = self._run.advance(actions, fresh)
        self._steps += 1
        if fresh is not None:
            self._restart(fresh)
        outcome = self._run.outcome(held, fresh)
        truncated = self._steps >= self._limit
        self._done = outcome.terminated | truncated
        if self._mode == AutoresetMode.SAME_STEP and np.count_nonzero(self._done):
            return self._restarted(outcome, truncated)
        infos = masked(outcome.info, self._every)
        return outcome.observation, outcome.reward, outcome.terminated, truncated, infos

    def render(self) -> tuple[Picture, ...] | None:
        """Return a picture (height, width, 3) of every environment in mode "rgb_array"."""
        if self.render_mode is None:
            gymnasium.logger.warn('render() without a render mode: make the environments with render_mode="rgb_array"')
            return None
        return tuple(self._draw(bodies, lane) for lane, bodies in enumerate(self.sim.body_states))

    def close_extras(self, **kwargs: Any) -> None:
        """Free the renderer; the environments still step afterwards."""
        self._free()

    def _restart(self, chosen: Flags, state: Any = None) -> None:
        self._run.start_drawn(self._streams.generators, chosen, state)
        self._steps[chosen] = 0
        self._done = self._done & ~chosen

    def _restarted(self, outcome: Outcome, truncated: Flags) -> Step:
        """Return what mode SAME_STEP does: environments that are done are reset, the others as they are."""
        done, lanes, observations = self._done, np.flatnonzero(self._done), outcome.observation
        final = np.full(self.num_envs, None, dtype=object)
        for lane in lanes:
            final[lane] = observations[lane].copy()
        self._restart(done)
        fresh, info = self._run.first(done)
        observations[lanes] = fresh[lanes]
        infos = masked(replaced(outcome.info, info, done), self._every)
        infos |= {"final_obs": final, "_final_obs": done.copy()}
        infos |= {"final_info": masked(only(outcome.info, done), done), "_final_info": done.copy()}
        return observations, outcome.reward, outcome.terminated, truncated, infos

    def _require_reset(self) -> None:
        if not self._started:
            raise ResetNeeded("step: found environments that were never reset, expected a call of reset() first")
        if self._mode == AutoresetMode.DISABLED and self._done.any():
            found = np.flatnonzero(self._done).tolist()
            raise ResetNeeded(
                f"step: found environments {found} at the end of their episodes, expected a reset of them"
            )

    def _chosen(self, mask: Flags | None) -> Flags:
        """Return the environments (num_envs,) that a reset mask names; None names all."""
        if mask is None:
            return np.ones(self.num_envs, dtype=np.bool_)
        kind = f"{mask.dtype} of shape {mask.shape}" if isinstance(mask, np.ndarray) else f"{mask!r}"
        fits = isinstance(mask, np.ndarray) and mask.dtype == np.bool_ and mask.shape == (self.num_envs,)
        if not fits or not mask.any():
            raise ValueError(
                f"reset_mask: found {kind if not fits else 'no environment'}, expected a bool array of shape "
                f"({self.num_envs},) that names at least one"
            )
        if not (self._started or mask.all()):
            raise ResetNeeded("reset_mask: found environments that were never reset, expected all of them at first")
        chosen: Flags = mask.copy()
        return chosen


def _mode(mode: AutoresetMode | str) -> AutoresetMode:
    try:
        return AutoresetMode(mode)
    except ValueError as error:
        expected = [known.value for known in AutoresetMode]
        raise ValueError(f"option autoreset_mode: found {mode!r}, expected one of {expected}") from error

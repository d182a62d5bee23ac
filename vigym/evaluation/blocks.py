"""Blocks of episodes that are played side by side, and the environments that play them."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np

from vigym.envs.task import Task
from vigym.evaluation.controllers import make_policy
from vigym.evaluation.environments import make_env, task_env, weights_of
from vigym.evaluation.episodes import Episode, EpisodeStatistics, Policy, Progress
from vigym.evaluation.policies import Context


@dataclass(frozen=True, eq=False, kw_only=True)
class Schedule:
    """Episodes of an evaluation in blocks.

    The blocks do not depend on who plays them. So a controller is called with the same arrays, and
    rounds as it does, in one process and in many.

    Attributes:
        env_id: id of the environment.
        controller: its name, or a callable.
        options: of the environment.
        traces: quantities of `info` to record over time.
        seed: of the first episode.
        episodes: number of episodes.
        together: largest number of episodes of a block.
    """

    env_id: str
    controller: str | Callable[..., Any]
    options: Mapping[str, Any]
    traces: tuple[str, ...]
    seed: int
    episodes: int
    together: int

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return -(-self.episodes // self.together)

    @property
    def lanes(self) -> int:
        """Number of environments that play a block; some have nothing to count in the last one."""
        return -(-self.episodes // self.blocks)

    def seeds(self, index: int) -> list[int]:
        """Return the seeds of the episodes of a block that count."""
        first = index * self.lanes
        last = min(first + self.lanes, self.episodes)
        return [self.seed + number for number in range(first, last)]


@dataclass(frozen=True, eq=False)
class Block:
    """Result of a block.

    Attributes:
        rows: metrics of its episodes.
        seconds: time of the environments, without the controller.
    """

    rows: list[Episode]
    seconds: float


class Player:
    """Environments of one process that play blocks; kernels are loaded.

    Args:
        schedule: of the evaluation.

    Raises:
        ValueError: an unknown environment, one whose episodes may never end, or options that do not
            fit.
    """

    def __init__(self, schedule: Schedule) -> None:
        self._schedule = schedule
        self._single = make_env(schedule.env_id, schedule.options)
        check_limit(self._single, schedule.options)
        self._envs = gymnasium.make_vec(
            schedule.env_id, num_envs=schedule.lanes, **schedule.options
        )
        self._envs.reset(seed=schedule.seed)
        self._envs.step(np.zeros(self._envs.action_space.shape or ()))  # loads kernels: not timed

    def close(self) -> None:
        """Close the environments."""
        self._envs.close()
        self._single.close()

    def make_policy(self, index: int) -> Policy:
        """Return the policy of a block.

        Raises:
            ValueError: an unknown controller, or one that does not fit.
            ImportError: a model of a library that is not installed.
        """
        schedule = self._schedule
        context = Context(schedule.env_id, self._single.unwrapped, self._seeds_of_lanes(index))
        return make_policy(schedule.controller, context)

    def play(self, index: int, progress: Progress = lambda done: None) -> Block:
        """Play a block.

        Args:
            index: of the block.
            progress: called with the finished part, in [0, 1].
        """
        policy, seeds = self.make_policy(index), self._seeds_of_lanes(index)
        statistics, seconds = play_episode(
            self._envs, policy, seeds, self._schedule.traces, progress
        )
        counted = enumerate(self._schedule.seeds(index))
        return Block([statistics.episode(lane, seed) for lane, seed in counted], seconds)

    def _seeds_of_lanes(self, index: int) -> list[int]:
        first = self._schedule.seeds(index)[0]
        return [first + lane for lane in range(self._schedule.lanes)]


def check_limit(
    env: gymnasium.Env[Any, Any], options: Mapping[str, Any], alternative: str = ""
) -> None:
    """Raise ValueError if an option takes the limit of steps away, or no episode would ever end.

    Args:
        env: environment of a task.
        options: it was made with.
        alternative: to a limit, for the message.
    """
    registered = env.spec.max_episode_steps if env.spec else None
    never_ends = getattr(task_env(env).task.terminated, "__func__", None) is Task.terminated
    if options.get("max_episode_steps", registered) not in (None, -1):
        return
    if "max_episode_steps" in options or never_ends:
        name = env.spec.id if env.spec else str(env)
        found = f"environment {name!r}: found episodes without a limit"
        raise ValueError(f"{found}, expected max_episode_steps above 0{alternative}")


def play_episode(
    envs: Any,
    policy: Policy,
    seeds: list[int],
    traces: tuple[str, ...] = (),
    progress: Progress = lambda done: None,
) -> tuple[EpisodeStatistics, float]:
    """Play an episode in every lane of a vector environment.

    Args:
        envs: vector environment.
        policy: of all lanes.
        seeds: of the resets, one for each lane.
        traces: quantities of `info` to record over time.
        progress: called with the finished part, in [0, 1].

    Returns:
        The statistics, and the environments' own time [s].
    """
    observations, infos = envs.reset(seed=seeds)
    traces = tuple(name for name in traces if name in infos)
    statistics = EpisodeStatistics(infos, traces, envs.get_attr("task")[0], weights_of(envs))
    longest = envs.spec.max_episode_steps if envs.spec else None
    busy, steps = 0.0, 0
    while statistics.playing.any():
        actions = policy(observations, infos, statistics.playing)
        start = time.perf_counter()
        observations, rewards, terminated, truncated, infos = envs.step(actions)
        busy += time.perf_counter() - start
        statistics.add(rewards, terminated, truncated, infos)
        steps += 1
        done = steps / longest if longest else 0.0
        progress(float(np.where(statistics.playing, done, 1.0).mean()))
    return statistics, busy

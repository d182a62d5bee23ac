"""Evaluation of a controller over episodes."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np

from vigym.evaluation.controllers import make_policy, name_of
from vigym.evaluation.environments import make_env, task_env, weight_of
from vigym.evaluation.episodes import Episode, EpisodeStatistics, Policy, Progress
from vigym.evaluation.policies import Context

TOGETHER = 64  # largest number of episodes side by side


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Result of an evaluation.

    Attributes:
        id: of the environment.
        controller: its name.
        rows: metrics of each episode, by seed.
        steps_per_second: control steps per second of the environments alone, without controller.
    """

    id: str
    controller: str
    rows: list[Episode]
    steps_per_second: float

    @property
    def unconverged_episodes(self) -> int:
        """Number of episodes that ended with a step in which the solver did not converge."""
        return sum(row.unconverged_steps > 0 for row in self.rows)

    def column(self, name: str) -> np.ndarray[Any, Any]:
        """Return a metric of every episode (episodes,), `name` as in `Episode`."""
        return np.array([getattr(row, name) for row in self.rows])


def evaluate(
    env_id: str,
    controller: str | Callable[..., Any],
    episodes: int = 20,
    seed: int = 0,
    *,
    options: Mapping[str, Any] | None = None,
    traces: tuple[str, ...] = (),
    together: int = TOGETHER,
    progress: Progress = lambda done: None,
) -> Evaluation:
    """Play episodes with the seeds seed, seed + 1, ... and return their metrics.

    Args:
        env_id: id of a vigym environment; "module:id" imports the module that registers it.
        controller: name, "module:name", path of a model.zip (see `vigym.evaluation.controllers`),
            or callable.
        episodes: number of episodes.
        seed: of the first episode.
        options: of the environment.
        traces: quantities of `info` to record over time; missing ones are left out.
        together: largest number of episodes played side by side.
        progress: called with the finished part, in [0, 1].

    Raises:
        ValueError: an unknown environment or controller, a controller that does not fit, or a
            number out of range.
        ImportError: a model of stable-baselines3, which is not installed.
    """
    for name, number, least in (
        ("episodes", episodes, 1),
        ("together", together, 1),
        ("seed", seed, 0),
    ):
        if not isinstance(number, int) or number < least:
            raise ValueError(f"{name}: found {number!r}, expected a whole number >= {least}")
    single = make_env(env_id, options or {})
    rounds = -(-episodes // together)
    envs = gymnasium.make_vec(env_id, num_envs=-(-episodes // rounds), **(options or {}))
    task = weight_of(single), task_env(single).task.aims_to_end
    rows: list[Episode] = []
    busy = 0.0
    try:
        envs.reset(seed=seed)
        envs.step(np.zeros(envs.action_space.shape))  # loads kernels, which is not timed
        for i in range(rounds):
            seeds = [seed + len(rows) + lane for lane in range(envs.num_envs)]
            policy = make_policy(controller, Context(env_id, single.unwrapped, seeds))
            part = _part_of(progress, i, rounds)
            statistics, spent = _play(envs, policy, seeds, traces, part)
            lanes = range(min(len(seeds), episodes - len(rows)))
            rows += [statistics.episode(lane, seeds[lane], *task) for lane in lanes]
            busy += spent
    finally:
        envs.close()
        single.close()
    return Evaluation(env_id, name_of(controller), rows, sum(row.length for row in rows) / busy)


def _part_of(progress: Progress, index: int, count: int) -> Progress:
    """Return the progress of one of `count` equal parts."""
    return lambda done: progress((index + done) / count)


def _play(
    envs: Any, policy: Policy, seeds: list[int], traces: tuple[str, ...], progress: Progress
) -> tuple[EpisodeStatistics, float]:
    """Play an episode in every lane; return the statistics and the environments' own time [s]."""
    observations, infos = envs.reset(seed=seeds)
    statistics = EpisodeStatistics(infos, tuple(name for name in traces if name in infos))
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

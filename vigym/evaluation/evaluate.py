"""Play episodes with a controller and say how it did."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np

from vigym.evaluation.controllers import name_of, policy_of
from vigym.evaluation.environments import aims_to_end, make_single, weight_of
from vigym.evaluation.episodes import Episode, Policy, Progress, Tally
from vigym.evaluation.policies import Role

TOGETHER = 64  # episodes side by side at most


@dataclass(frozen=True, eq=False)
class Evaluation:
    """How a controller did.

    Attributes:
        id: of the environment.
        controller: its name.
        rows: one of each episode, by seed.
        steps_per_second: control steps in a second of the environments' own time, the controller's left out.
    """

    id: str
    controller: str
    rows: list[Episode]
    steps_per_second: float

    @property
    def lost(self) -> int:
        """Number of episodes that ended with a step the solver could not make."""
        return sum(row.failures > 0 for row in self.rows)

    def column(self, name: str) -> np.ndarray[Any, Any]:
        """Return a figure of every episode (episodes,), `name` as in `Episode`."""
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
    """Play episodes with the seeds seed, seed + 1, ... and return their figures.

    Args:
        env_id: of a vigym environment; "module:id" imports what registers it.
        controller: a name, "module:name", a model.zip (see `vigym.evaluation.controllers`), or a callable.
        episodes: how many.
        seed: of the first.
        options: of the environment.
        traces: quantities of `info` to keep over time; those it does not have are left out.
        together: episodes that are played side by side at most.
        progress: told the part that is done.

    Raises:
        ValueError: an unknown environment or controller, one that does not fit, or a number out of range.
        ImportError: a model of stable-baselines3, which is not installed.
    """
    for name, number, least in (("episodes", episodes, 1), ("together", together, 1), ("seed", seed, 0)):
        if not isinstance(number, int) or number < least:
            raise ValueError(f"{name}: found {number!r}, expected a whole number >= {least}")
    probe = make_single(env_id, options or {})
    rounds = -(-episodes // together)
    envs = gymnasium.make_vec(env_id, num_envs=-(-episodes // rounds), **(options or {}))
    told, busy = (weight_of(probe), aims_to_end(probe)), 0.0
    rows: list[Episode] = []
    try:
        envs.reset(seed=seed)
        envs.step(np.zeros(envs.action_space.shape))  # loads kernels, which is not timed
        for turn in range(rounds):
            seeds = [seed + len(rows) + lane for lane in range(envs.num_envs)]
            policy = policy_of(controller, Role(env_id, probe.unwrapped, seeds))
            played, spent = _play(envs, policy, seeds, traces, lambda part: progress((turn + part) / rounds))  # noqa: B023
            rows += [played.episode(lane, seeds[lane], *told) for lane in range(min(len(seeds), episodes - len(rows)))]
            busy += spent
    finally:
        envs.close()
        probe.close()
    return Evaluation(env_id, name_of(controller), rows, sum(row.length for row in rows) / busy)


def _play(
    envs: Any, policy: Policy, seeds: list[int], traces: tuple[str, ...], progress: Progress
) -> tuple[Tally, float]:
    """Play an episode in every lane; return what was counted and the time the environments took [s]."""
    observations, infos = envs.reset(seed=seeds)
    tally = Tally(infos, tuple(name for name in traces if name in infos))
    longest = envs.spec.max_episode_steps if envs.spec else None
    busy, steps = 0.0, 0
    while tally.playing.any():
        actions = policy(observations, infos, tally.playing)
        start = time.perf_counter()
        observations, rewards, terminated, truncated, infos = envs.step(actions)
        busy += time.perf_counter() - start
        tally.add(rewards, terminated, truncated, infos)
        steps += 1
        share = steps / longest if longest else 0.0
        progress(float(np.where(tally.playing, share, 1.0).mean()))
    return tally, busy

"""Evaluation of a controller over episodes."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np

from vigym.envs.options import is_whole
from vigym.evaluation.blocks import Block, Player, Schedule
from vigym.evaluation.controllers import check_controller, name_of
from vigym.evaluation.episodes import Episode, Progress
from vigym.evaluation.workers import BACKENDS, play_on_workers

TOGETHER = 16  # largest number of episodes side by side: quick, and enough blocks for workers


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Result of an evaluation.

    Attributes:
        id: of the environment.
        controller: its name.
        rows: metrics of each episode, by seed.
        steps_per_second: control steps per second of the environments alone, without controller,
            in one worker.
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
    traces: Sequence[str] = (),
    together: int = TOGETHER,
    workers: int = 1,
    backend: str = "processes",
    progress: Progress = lambda done: None,
) -> Evaluation:
    """Play episodes with the seeds seed, seed + 1, ... and return their metrics.

    Metrics are equal, bit for bit, for every number of workers. An object that is the controller,
    and no maker of one, should keep nothing from one episode to the next.

    Args:
        env_id: id of a vigym environment; "module:id" imports the module that registers it.
        controller: name, "module:name", path of a model.zip (see `vigym.evaluation.controllers`),
            or callable.
        episodes: number of episodes.
        seed: of the first episode.
        options: of the environment.
        traces: quantities of `info` to record over time; missing ones are left out.
        together: largest number of episodes played side by side. Workers take as many at a time.
        workers: number of processes, or of tasks of Ray, that share the episodes; episodes of one
            that is lost are played again.
        backend: "processes" (one: in this process) or "ray", on the cluster that Ray finds, or on
            this machine.
        progress: called with the finished part, in [0, 1].

    Raises:
        ValueError: an unknown environment or controller, a controller that does not fit or cannot
            be pickled for workers, a number out of range, or traces that are no sequence.
        ImportError: a model of a library, or a backend, that is not installed.
        ChildProcessError: an error in a worker, with controller and seed, or workers that were
            lost too often.
    """
    _check(backend, episodes=episodes, together=together, workers=workers)
    if not is_whole(seed) or seed < 0:
        raise ValueError(f"seed: found {seed!r}, expected a whole number >= 0")
    if isinstance(traces, str):
        raise ValueError(f"traces: found {traces!r}, expected a tuple of names, ({traces!r},)")
    check_controller(controller, env_id)
    schedule = Schedule(
        env_id=env_id,
        controller=controller,
        options=dict(options or {}),
        traces=tuple(traces),
        seed=int(seed),
        episodes=int(episodes),
        together=int(together),
    )
    # Where workers play, kernels are compiled and wrong arguments are found here, once.
    with closing(Player(schedule)) as player:
        if workers == 1 and backend == "processes":
            blocks = _play_here(player, schedule.blocks, progress)
        else:
            player.make_policy(0)
            blocks = play_on_workers(schedule, workers, backend, progress)
    rows = [row for block in blocks for row in block.rows]
    seconds = sum(block.seconds for block in blocks)
    return Evaluation(env_id, name_of(controller), rows, sum(row.length for row in rows) / seconds)


def _check(backend: str, **numbers: int) -> None:
    """Raise ValueError for an unknown backend, or a number below 1."""
    for name, number in numbers.items():
        if not is_whole(number) or number < 1:
            raise ValueError(f"{name}: found {number!r}, expected a whole number >= 1")
    if backend not in BACKENDS:
        raise ValueError(f"backend: found {backend!r}, expected one of: {', '.join(BACKENDS)}")


def _play_here(player: Player, count: int, progress: Progress) -> list[Block]:
    """Play all blocks in this process."""

    def part(index: int) -> Progress:
        return lambda done: progress((index + done) / count)

    return [player.play(index, part(index)) for index in range(count)]

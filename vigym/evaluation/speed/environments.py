"""Speed of environments through Gymnasium: single and in vectors, on threads, beside MuJoCo's where a like one exists.

A row is one environment, or one vector, of one id. Actions are random, sampled beforehand; resets of ended episodes are
part of the steps. All that is compared takes turns.
"""

import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, product
from typing import Any

import gymnasium as gym
import numpy as np

from vigym import assets
from vigym.core.compiler.simd import LANES
from vigym.envs.registry import ENVIRONMENTS
from vigym.evaluation.speed.timing import Cost, Job, interleaved

Row = dict[str, Any]
COUNTS = (1, 8, 64, 512)  # of environments in a vector
PEERS = {"vigym/CartPole-v0": "InvertedPendulum-v5", "vigym/InvertedDoublePendulum-v0": "InvertedDoublePendulum-v5"}
SAMPLE = 2000  # environment steps of a round, about


def environments(
    ids: Sequence[str] | None = None,
    counts: Sequence[int] = COUNTS,
    threads: Sequence[int] = (1,),
    repeats: int = 5,
    peers: bool = True,
    report: Callable[[float], None] = lambda done: None,
    precisions: Sequence[str] = ("float64",),
) -> list[Row]:
    """Time environments, single ones first, then vectors.

    Args:
        ids: of environments of vigym; None: all.
        counts: numbers of environments in a vector.
        threads: numbers of threads of vectors; more than one is timed by the wall clock, as is one beside it.
        repeats: how often each is timed.
        peers: whether to time Gymnasium's environments on MuJoCo, where it is installed, beside those like them.
        report: told the part that is done, in [0, 1].
        precisions: of vectors, "float64" and "float32"; vectors that single precision does not serve for are left out.

    Returns:
        Rows with the same keys: id, engine ("vigym" or "mujoco"), environments (0: a single one through `gym.make`),
        threads, clock ("CPU" of the thread or "wall"), lanes, precision, physics_steps (in an environment step),
        environment_steps_per_second and the same of physics (best round), median_environment_steps_per_second,
        step_us (of one environment, best), physics_us (the same of the simulator alone; None for peers),
        reset_us (of one environment: the whole reset, over the number of environments), memory_kb (of one more
        environment; None for peers).

    Raises:
        ValueError: an id that is not there.
    """
    names = [entry.id for entry in ENVIRONMENTS] if ids is None else list(ids)
    unknown = [name for name in names if name not in {entry.id for entry in ENVIRONMENTS}]
    if unknown:
        raise ValueError(f"bench: found {unknown[0]!r}, expected ids among {', '.join(e.id for e in ENVIRONMENTS)}")
    rows: list[Row] = []
    for done, name in enumerate(names):
        report(done / len(names))
        subjects = list(_subjects(name, counts, threads, peers, precisions))
        costs = interleaved([job for subject in subjects for job in subject.jobs()], repeats)
        at = 0
        for subject in subjects:
            count = len(subject.jobs())
            rows.append(subject.row(costs[at : at + count]))
            subject.close()
            at += count
    report(1.0)
    return rows


def _subjects(
    name: str, counts: Sequence[int], threads: Sequence[int], peers: bool, precisions: Sequence[str]
) -> Iterator["_Subject"]:
    wall, peer = set(threads) != {1}, PEERS.get(name) if peers else None
    served = [precision for precision in precisions if _serves(name, precision)]
    for count in (0, *counts):
        for k, precision in product(threads, served) if count else [(1, "float64")]:
            yield _Subject(name, "vigym", count, k, wall, precision)
        if peer is not None and not _missing(peer):
            yield _Subject(peer, "mujoco", count, 1, wall, "float64")


def _serves(name: str, precision: str) -> bool:
    """Whether an environment can be stepped so."""
    try:
        _make(name, 1, 1, precision).close()
    except ValueError:
        if precision == "float64":
            raise
        return False
    return True


def _missing(name: str) -> bool:
    """Whether a library that an environment needs is not installed."""
    try:
        gym.make(name).close()
    except gym.error.DependencyNotInstalled:
        return True
    return False


class _Subject:
    """One environment, or a vector, and what is timed of it."""

    def __init__(self, name: str, engine: str, count: int, threads: int, wall: bool, precision: str) -> None:
        self._name, self._engine, self._count, self._threads, self._wall = name, engine, count, threads, wall
        self._precision = precision
        self._env: Any = _make(name, count, threads, precision)
        self._env.reset(seed=0)
        inner = self._env.unwrapped if engine == "vigym" else _first(self._env)
        self._skip = int(inner.task.frame_skip if engine == "vigym" else inner.frame_skip)
        self._env.action_space.seed(0)
        self._actions = [self._env.action_space.sample() for _ in range(max(4, SAMPLE // max(count, 1)))]
        self._jobs = [self._steps(), self._resets(), *([self._physics()] if engine == "vigym" else [])]

    def jobs(self) -> list[Job]:
        """Steps, resets, and steps of the simulator alone."""
        return self._jobs

    def row(self, costs: Sequence[Cost]) -> Row:
        """Figures from what the jobs cost."""
        steps, resets, *physics = costs
        ours = self._engine == "vigym"
        lanes = LANES * (2 if self._precision == "float32" else 1) if ours and self._count else 1
        return {
            "id": self._name, "engine": self._engine, "environments": self._count, "threads": self._threads,
            "clock": "wall" if self._wall else "CPU", "lanes": lanes, "precision": self._precision,
            "physics_steps": self._skip, "environment_steps_per_second": 1.0 / steps.best,
            "physics_steps_per_second": self._skip / steps.best,
            "median_environment_steps_per_second": 1.0 / steps.median, "step_us": 1e6 * steps.best,
            "physics_us": 1e6 * physics[0].best if physics else None, "reset_us": 1e6 * resets.best,
            "memory_kb": _memory(self._name, self._count, self._precision) if ours else None,
        }  # fmt: skip

    def close(self) -> None:
        """Close the environments."""
        self._env.close()

    def _steps(self) -> Job:
        env, single = self._env, self._count == 0

        def run() -> None:
            for action in self._actions:
                _, _, terminated, truncated, _ = env.step(action)
                if single and (terminated or truncated):
                    env.reset()

        return self._job(run, len(self._actions))

    def _resets(self) -> Job:
        return self._job(lambda: [self._env.reset() for _ in range(10)], 10)

    def _physics(self) -> Job:
        env = self._env.unwrapped
        sim, task = env.sim, env.task
        actions = [np.asarray(action, dtype=np.float64) for action in self._actions]
        targets = [task.targets(action) for action in actions]
        torques = [a * sim.actuator_efforts if t is None else None for a, t in zip(actions, targets, strict=True)]
        pairs = list(zip(torques, targets, strict=True))
        return self._job(lambda: [sim.step(u, t, substeps=self._skip) for u, t in pairs], len(pairs))

    def _job(self, run: Callable[[], object], calls: int) -> Job:
        return Job(lambda: self._env.reset(seed=0), run, calls * max(self._count, 1), self._wall)


def _make(name: str, count: int, threads: int, precision: str) -> Any:
    options: dict[str, Any] = {"urdf": str(assets.path("acrobot"))} if name == "vigym/Urdf-v0" else {}
    if not count:
        return gym.make(name, **options)
    if name.startswith("vigym/"):
        options |= {"threads": threads, "precision": precision}
    return gym.make_vec(name, count, **options)


def _first(env: Any) -> Any:
    return env.envs[0].unwrapped if isinstance(env, gym.vector.SyncVectorEnv) else env.unwrapped


def _memory(name: str, count: int, precision: str) -> float:
    """Memory of one more environment [kB]: of a vector the growth per environment from its half to the whole."""
    sizes = (0, 1) if count < 2 else (count // 2, count)
    used = []
    for size in sizes:
        tracemalloc.start()
        kept = [_make(name, count and size, 1, precision) for _ in range(size if count < 2 else 1)]
        used.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
        for env in kept:
            env.close()
    return sum(b - a for a, b in pairwise(used)) / (sizes[1] - sizes[0]) / 1e3

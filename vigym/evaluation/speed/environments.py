"""Speed of environments through Gymnasium: single, vectorised, on threads, beside MuJoCo peers.

A row is one environment, or one vector, of one id. Actions are random and sampled beforehand;
resets of ended episodes are part of the steps. Compared cases take turns.
"""

import tracemalloc
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, product
from typing import Any

import gymnasium as gym
import numpy as np

from vigym import assets
from vigym.core.compiler.simd import LANES
from vigym.envs.registry import ENVIRONMENTS
from vigym.evaluation.environments import make_env
from vigym.evaluation.speed.mujoco_snakes import SNAKES
from vigym.evaluation.speed.timing import Cost, Job, interleaved

Row = dict[str, Any]
COUNTS = (1, 8, 64, 512)  # environments in a vector
PEERS = {
    "vigym/CartPole-v0": "InvertedPendulum-v5",
    "vigym/InvertedDoublePendulum-v0": "InvertedDoublePendulum-v5",
    "vigym/StandardDoublePendulum-v0": "InvertedDoublePendulum-v5",
} | SNAKES
STANDARD = "InvertedPendulum", "Reacher", "HalfCheetah", "Hopper", "Walker2d", "Ant", "Humanoid"
PEERS |= {f"vigym/{name}-v0": f"{name}-v5" for name in STANDARD}
SAMPLE = 2000  # environment steps of a round, approximately


def time_environments(
    ids: Sequence[str] | None = None,
    counts: Sequence[int] = COUNTS,
    threads: Sequence[int] = (1,),
    repeats: int = 5,
    peers: bool = True,
    report: Callable[[float], None] = lambda done: None,
    precisions: Sequence[str] = ("float64",),
    options: Mapping[str, Any] | None = None,
) -> list[Row]:
    """Time environments, single ones first, then vectors.

    Args:
        ids: of environments of vigym or of one's own tasks ("module:id" imports the module that
            registers it); None: all of vigym.
        counts: numbers of environments in a vector.
        threads: numbers of threads of vectors; with several numbers all rows are wall time.
        repeats: number of measurements of each case.
        peers: whether to time similar environments in MuJoCo, where installed: Gymnasium's, and the
            snakes, which take shorter steps there to the same control step.
        report: called with the finished part, in [0, 1].
        precisions: of vectors, "float64" and "float32"; vectors that do not support float32 are
            left out.
        options: of the environments.

    Returns:
        Rows with the same keys: id, engine ("vigym" or "mujoco"), environments (0: a single one
            from `gym.make`), threads, clock ("CPU" of the thread or "wall"), lanes, precision,
            physics_steps (per environment step), environment_steps_per_second and
            physics_steps_per_second (best round), median_environment_steps_per_second, step_us (per
            environment, best), physics_us (simulator alone; None for peers), reset_us (per
            environment), memory_kb (per additional environment; None for peers).

    Raises:
        ValueError: an unknown id, one of another package, or an unknown option.
    """
    names = [entry.id for entry in ENVIRONMENTS] if ids is None else list(ids)
    given = {name: _options(name, options or {}) for name in names}
    for name in names:
        make_env(name, given[name]).close()
    rows: list[Row] = []
    for done, name in enumerate(names):
        report(done / len(names))
        kind = _Case(name, "vigym", 0, options=given[name])
        cases = list(_cases(kind, counts, threads, peers, precisions))
        subjects = [_Subject(case) for case in cases]
        costs = iter(interleaved([job for one in subjects for job in one.jobs], repeats))
        for subject in subjects:
            rows.append(subject.row([next(costs) for _ in subject.jobs]))
            subject.close()
    report(1.0)
    return rows


def _options(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of an environment, with a file for the one that needs a file."""
    default = {"urdf": str(assets.path("acrobot"))} if name == "vigym/Urdf-v0" else {}
    return default | dict(options)


@dataclass(frozen=True)
class _Case:
    """Environment, or vector, to time.

    Attributes:
        id: of the environment.
        engine: "vigym" or "mujoco".
        count: environments in a vector; 0: a single environment.
        threads: of a vector.
        precision: of a vector.
        wall: whether to take the wall clock.
        options: of the environment.
    """

    id: str
    engine: str
    count: int
    threads: int = 1
    precision: str = "float64"
    wall: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)

    def make(self, count: int | None = None) -> Any:
        """Return the environment, or a vector of another `count`."""
        count = self.count if count is None else count
        options = dict(self.options)
        if not count:
            return gym.make(self.id, **options)
        if self.engine == "vigym":
            options |= {"threads": self.threads, "precision": self.precision}
        return gym.make_vec(self.id, count, **options)


def _cases(
    kind: _Case,
    counts: Sequence[int],
    threads: Sequence[int],
    peers: bool,
    precisions: Sequence[str],
) -> Iterator[_Case]:
    """Yield the cases of an environment, each with the case of its peer after it."""
    wall, peer = set(threads) != {1}, PEERS.get(kind.id) if peers else None
    supported = [precision for precision in precisions if _supports(kind, precision)]
    for count in (0, *counts):
        for k, precision in product(threads, supported) if count else [(1, "float64")]:
            yield replace(kind, count=count, threads=k, precision=precision, wall=wall)
        if peer is not None and not _missing(peer):
            yield _Case(peer, "mujoco", count, wall=wall)


def _supports(kind: _Case, precision: str) -> bool:
    """Return whether an environment can be stepped in a precision."""
    try:
        replace(kind, count=1, precision=precision).make().close()
    except ValueError:
        if precision == "float64":
            raise
        return False
    return True


def _missing(name: str) -> bool:
    """Return whether MuJoCo, which an environment needs, is not installed; else silence it."""
    try:
        gym.make(name).close()
        import mujoco
    except (gym.error.DependencyNotInstalled, ImportError):
        return True
    mujoco.set_mju_user_warning(lambda text: None)  # or it writes a file into the working folder
    return False


class _Subject:
    """Environment of a case, with its jobs: steps, resets and steps of the simulator alone."""

    def __init__(self, case: _Case) -> None:
        self._case = case
        self._env: Any = case.make()
        self._env.reset(seed=0)
        ours = case.engine == "vigym"
        inner = self._env.unwrapped if ours else _first(self._env)
        self._skip = int(inner.task.frame_skip if ours else inner.frame_skip)
        self._env.action_space.seed(0)
        steps = max(4, SAMPLE // max(case.count, 1))
        self._actions = [self._env.action_space.sample() for _ in range(steps)]
        self.jobs = [self._steps(), self._resets(), *([self._physics()] if ours else [])]

    def row(self, costs: Sequence[Cost]) -> Row:
        """Return the row of the case from the costs of its jobs."""
        case, skip = self._case, self._skip
        steps, resets, *physics = costs
        ours = case.engine == "vigym"
        lanes = LANES * (2 if case.precision == "float32" else 1) if ours and case.count else 1
        return {
            "id": case.id,
            "engine": case.engine,
            "environments": case.count,
            "threads": case.threads,
            "clock": "wall" if case.wall else "CPU",
            "lanes": lanes,
            "precision": case.precision,
            "physics_steps": skip,
            "environment_steps_per_second": 1.0 / steps.best,
            "physics_steps_per_second": skip / steps.best,
            "median_environment_steps_per_second": 1.0 / steps.median,
            "step_us": 1e6 * steps.best,
            "physics_us": 1e6 * physics[0].best if physics else None,
            "reset_us": 1e6 * resets.best,
            "memory_kb": _memory(case) if ours else None,
        }

    def close(self) -> None:
        """Close the environments."""
        self._env.close()

    def _steps(self) -> Job:
        env, single = self._env, self._case.count == 0

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
        goals = env._runner.goals()
        actions = [np.asarray(action, dtype=np.float64) for action in self._actions]
        calls = []
        for action in actions:
            target = task.motor_targets(action, sim.time, goals)
            calls.append(
                (action * sim.parameters.actuator_efforts if target is None else None, target)
            )

        def run() -> None:
            for torque, target in calls:
                sim.step(torque, target, substeps=self._skip)

        return self._job(run, len(calls))

    def _job(self, run: Callable[[], object], calls: int) -> Job:
        steps = calls * max(self._case.count, 1)
        return Job(lambda: self._env.reset(seed=0), run, steps, self._case.wall)


def _first(env: Any) -> Any:
    """Return a single environment of MuJoCo, of a vector the first."""
    return env.envs[0].unwrapped if isinstance(env, gym.vector.SyncVectorEnv) else env.unwrapped


def _memory(case: _Case) -> float:
    """Return the memory of one more environment [kB].

    Of a vector it is the growth per environment from half of its environments to all.
    """
    case = replace(case, threads=1)
    sizes = (0, 1) if case.count < 2 else (case.count // 2, case.count)
    used = []
    for size in sizes:
        tracemalloc.start()
        if case.count < 2:
            kept = [case.make() for _ in range(size)]
        else:
            kept = [case.make(size)]
        used.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
        for env in kept:
            env.close()
    return sum(b - a for a, b in pairwise(used)) / (sizes[1] - sizes[0]) / 1e3

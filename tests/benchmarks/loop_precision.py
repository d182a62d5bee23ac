"""What an accuracy costs: for each engine the largest step that reaches it, and the time that takes."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from loop_contenders import Contender, Record, Setting, mujoco_loops, vigym_loops
from loop_peers import exudyn_loops, pinocchio_calls, pinocchio_loops

from vigym.evaluation.speed.timing import Cost, interleaved

LOOKS = 100  # states looked at, per simulated second, where the steps are shorter
COARSEST, FINEST = 4, 5000  # steps per simulated second tried
BEHIND = 5  # variants that need this many times the steps of another are not pursued
GRID = 2 ** (
    1 / 3
)  # between neighbouring numbers of steps, after doubling found one that is enough


@dataclass(frozen=True)
class Target:
    """Largest energy error [of the largest kinetic energy] and loop gap [m] over the whole run."""

    energy: float
    gap: float

    def reached(self, record: Record) -> bool:
        return record.healthy and record.energy <= self.energy and record.gap <= self.gap


@dataclass(frozen=True)
class Found:
    """The cheapest setting of an engine: its contender, step [s] and record; CPU seconds per simulated second.

    `compiled` is the part of the cost in the engine's own code, NaN where all of it is.
    """

    contender: Contender
    timestep: float
    record: Record
    cost: Cost
    compiled: float


Make = Callable[[Setting], Contender]


def engines() -> dict[str, list[Make]]:
    """Variants of each engine that is installed, cheapest one wins."""
    found = {"vigym": [_vigym(loops, order) for loops in ("tail", "local") for order in (2, 4, 6)]}
    if importlib.util.find_spec("mujoco"):
        found["MuJoCo"] = [
            _mujoco(name, factor)
            for name in ("RK4", "implicitfast")
            for factor in (0.5, 1.0, 1.5, 2.0, 3.0)
        ]
    if importlib.util.find_spec("pinocchio"):
        found["Pinocchio"] = [
            _pinocchio("Cholesky", 0.1),
            _pinocchio("Cholesky", 0.25),
            _pinocchio("Cholesky", 0.5),
            _pinocchio("LCABA", 0.0),
        ]
    if importlib.util.find_spec("exudyn"):
        for planar in (False, True):
            found[f"Exudyn {'2D' if planar else '3D'}"] = [
                _exudyn(planar, radius) for radius in (0.6, 0.8, 0.9, None)
            ]
    return found


def _vigym(loops: str, order: int) -> Make:
    return lambda setting: vigym_loops(setting, loops, order)


def _mujoco(integrator: str, factor: float) -> Make:
    return lambda setting: mujoco_loops(setting, integrator, factor, tuned=True)


def _pinocchio(solver: str, corrector: float) -> Make:
    return lambda setting: pinocchio_loops(setting, "RK4", solver, corrector)


def _exudyn(planar: bool, radius: float | None) -> Make:
    return lambda setting: exudyn_loops(setting, planar, radius)


def cheapest(
    variants: list[Make], windows: int, shape: str, seconds: float, target: Target
) -> Found | None:
    """The variant that reaches the target in the least time, or None."""
    found = []
    finest = FINEST
    for make in variants:
        reached = _largest_step(
            lambda n, make=make: make(_setting(windows, shape, seconds, n)), finest, seconds, target
        )
        if reached is not None:
            found.append(
                (reached[0], make(_setting(windows, shape, seconds, reached[0])), reached[1])
            )
            finest = min(finest, BEHIND * reached[0])
    if not found:
        return None
    costs = interleaved([contender.job for _, contender, _ in found], 3)
    per_second = [Cost(c.best * n, c.median * n) for c, (n, *_) in zip(costs, found, strict=True)]
    i = min(range(len(found)), key=lambda i: per_second[i].best)
    n, contender, record = found[i]
    compiled = _compiled(contender, _setting(windows, shape, seconds, n)) * n
    return Found(contender, 1 / n, record, per_second[i], compiled)


def _setting(windows: int, shape: str, seconds: float, n: int) -> Setting:
    return Setting(windows, shape, 1 / n, round(n * seconds))


def _compiled(contender: Contender, setting: Setting) -> float:
    if not contender.name.startswith("Pinocchio"):
        return float("nan")
    solver = "LCABA" if "LCABA" in contender.name else "Cholesky"
    return interleaved([pinocchio_calls(setting, "RK4", solver)], 2)[0].best


def _largest_step(
    make: Callable[[int], Contender], finest: int, seconds: float, target: Target
) -> tuple[int, Record] | None:
    """Fewest steps per second, on a grid, that reach the target, and so do the next more: no lucky hits."""

    def watched(n: int) -> Record:
        return make(n).watch(round(LOOKS * seconds), target.gap)

    for coarse in _doubling(finest):
        if not target.reached(watched(coarse)):
            continue
        for n in sorted({round(coarse * GRID**power) for power in (-2, -1, 0, 1)}):
            one = watched(n)
            if target.reached(one) and target.reached(watched(round(n * GRID))):
                return n, one
    return None


def _doubling(finest: int) -> Iterator[int]:
    n = COARSEST
    while n <= finest:
        yield n
        n *= 2

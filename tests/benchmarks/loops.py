"""Chains of four-bar windows: vigym against MuJoCo, Pinocchio and Exudyn on the same mechanism, in one run.

    python tests/benchmarks/loops.py              # all tables; needs `pip install 'vigym[bench]'`
    python tests/benchmarks/loops.py --tables single --windows 1 5 --shapes general

Fair play as in chains.py: same chain, step and duration, all from the same start each time, in turn
within each repeat, one call for all steps of a round, CPU time of the one thread that works. vigym
closes every loop to its tolerance. MuJoCo closes it by one `connect`, softly: by default, and with
the stiffest constraints that keep the chain together (impedance 0.9999, the shortest time constant
of a few tried), with its own options and with the fastest ones found ("tuned": dense Jacobian, no
islands, no warm start). Pinocchio integrates in Python; the calls into its compiled code alone are
shown too. The tables "precision" and "order" give each engine the cheapest of several settings and
its largest step that reaches the accuracy (loop_precision.py); "Exudyn 2D" is a model in the plane,
all others are in space. `!` marks runs that did not converge, came apart, lost their energy, or
where MuJoCo warned.
"""

from __future__ import annotations

import argparse
import importlib.util
from collections.abc import Callable

import numpy as np
from loop_contenders import (
    APART,
    Contender,
    Record,
    Setting,
    mujoco_loops,
    mujoco_rollout,
    stiffest,
    vigym_batch,
    vigym_loops,
)
from loop_models import SHAPES, START, turned
from loop_peers import exudyn_loops, pinocchio_calls, pinocchio_loops
from loop_precision import Found, Target, cheapest, engines

from vigym.evaluation.speed.timing import Cost, interleaved, machine, table

PEERS = {"mujoco": "mujoco", "pinocchio": "pin", "exudyn": "exudyn"}  # module -> distribution
ORDER_ERRORS = (
    1e-5,
    1e-7,
    1e-9,
)  # of the energy, of the largest kinetic energy, in the table "order"
SPREAD = 0.1  # [rad] rods of a batch start up to this far from the assembly pose


def main() -> None:
    """Print the tables asked for."""
    args = _arguments()
    print(machine("pin", "exudyn"))
    print(
        f"float64 throughout; step {args.timestep} s, {args.seconds} s from rest per round, {args.repeats} repeats"
    )
    for module, package in PEERS.items():
        if not _installed(module):
            print(f"{package} is not installed: left out (pip install 'vigym[bench]')")
    for name in args.tables:
        for shape in args.shapes:
            print("\n" + TABLES[name](shape, args), flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=["parallelogram", "general"])
    parser.add_argument("--windows", nargs="+", type=int, default=[1, 2, 5, 10, 20])
    parser.add_argument("--batch", type=int, default=256, help="mechanisms of the batch")
    parser.add_argument("--timestep", type=float, default=0.01, help="[s]")
    parser.add_argument(
        "--seconds", type=float, default=1.0, help="simulated time of one round [s]"
    )
    parser.add_argument(
        "--long", type=float, default=10.0, help="simulated time of the precision tables [s]"
    )
    parser.add_argument("--repeats", type=int, default=7)
    return parser.parse_args()


def _installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def _check(shape: str, args: argparse.Namespace) -> str:
    """Every engine's last bar approaches the same place as its step shrinks: they simulate the same chain."""
    if not _installed("pinocchio"):
        return "check: the reference is Pinocchio's (pip install 'vigym[bench]')"
    makers: list[Callable[[Setting], Contender]] = [
        lambda s: vigym_loops(s, "tail"),
        lambda s: vigym_loops(s, "local"),
    ]
    makers += [lambda s, o=order: vigym_loops(s, "local", order=o) for order in (4, 6)]
    makers += [lambda s: pinocchio_loops(s, "Euler")]
    if _installed("mujoco"):
        makers += [lambda s: mujoco_loops(s, "Euler", 1.5), lambda s: mujoco_loops(s, "RK4", 1.5)]
    if _installed("exudyn"):
        makers += [exudyn_loops, lambda s: exudyn_loops(s, planar=True)]
    rows = []
    for windows in [w for w in args.windows if w <= 5]:
        truth = (
            pinocchio_loops(Setting(windows, shape, 0.00025, 2000), "RK4", "LCABA")
            .watch(1, APART)
            .tip
        )
        for make in makers:
            runs = [make(Setting(windows, shape, 0.5 / n, n)) for n in (50, 100, 200, 400)]
            far = [float(np.linalg.norm(run.watch(1, APART).tip - truth)) for run in runs]
            falls = [f"{a / b:.1f}" for a, b in zip(far[:-1], far[1:], strict=True)]
            rows.append([str(windows), runs[0].name, *[f"{d:.1e}" for d in far], " ".join(falls)])
    title = f"{shape} windows, the same in all? Last bar after 0.5 s, distance from Pinocchio RK4 at 0.25 ms [m]"
    return table(title, ["windows", "", "10 ms", "5 ms", "2.5 ms", "1.25 ms", "falls by"], rows)


def _single(shape: str, args: argparse.Namespace) -> str:
    rows = []
    for windows in args.windows:
        setting = Setting(windows, shape, args.timestep, round(args.seconds / args.timestep))
        runs = _singles(setting)
        calls = (
            {"Pinocchio": pinocchio_calls(setting, "Euler", _solver(windows))}
            if _installed("pinocchio")
            else {}
        )
        costs = interleaved([run.job for run in runs] + list(calls.values()), args.repeats)
        best = min(
            cost.best
            for run, cost in zip(runs, costs, strict=False)
            if run.name.startswith("vigym")
        )
        for run, cost in zip(runs, costs, strict=False):
            rows.append(
                [str(windows), run.name, *_timed(cost, best, run.watch(setting.steps, APART))]
            )
        if calls:
            name = f"Pinocchio {_solver(windows)}, compiled calls of Euler only"
            rows.append([str(windows), name, *_timed(costs[-1], best, None)])
    title = (
        f"{shape} windows, one mechanism, microseconds of CPU per physics step: min (median); how many times slower "
        "than the faster vigym; widest loop gap; largest energy error, of the largest kinetic energy"
    )
    return table(title, ["windows", "", "us/step", "min/min", "gap [m]", "energy", ""], rows)


def _singles(setting: Setting) -> list[Contender]:
    runs = [vigym_loops(setting, loops) for loops in ("tail", "local")]
    if _installed("mujoco"):
        factor = stiffest(setting)
        runs.append(mujoco_loops(setting))
        if factor is not None:
            runs += [mujoco_loops(setting, "Euler", factor, tuned) for tuned in (False, True)]
    if _installed("pinocchio"):
        runs += [
            pinocchio_loops(setting, name, _solver(setting.windows)) for name in ("Euler", "RK4")
        ]
    return runs


def _solver(windows: int) -> str:
    """Pinocchio's faster one."""
    return "Cholesky" if windows <= 5 else "LCABA"


def _timed(cost: Cost, best: float, record: Record | None) -> list[str]:
    mark = "" if record is None or record.healthy else "!"
    time = f"{cost.best * 1e6:.2f} ({cost.median * 1e6:.2f}){mark}"
    quality = (
        ["", "", ""]
        if record is None
        else [f"{record.gap:.0e}", f"{record.energy:.0e}", record.note]
    )
    return [time, f"{cost.best / best:.2f}", *quality]


def _batch(shape: str, args: argparse.Namespace) -> str:
    rows = []
    for windows in args.windows:
        setting = Setting(windows, shape, args.timestep, round(args.seconds / args.timestep))
        starts = START + np.random.default_rng(0).uniform(-SPREAD, SPREAD, (args.batch, windows))
        coordinates = np.array([turned(windows, shape, row) for row in starts])
        runs = {
            f"vigym {loops}": vigym_batch(setting, loops, coordinates[:, 1::3])
            for loops in ("tail", "local")
        }
        factor = stiffest(setting) if _installed("mujoco") else None
        if factor is not None:
            runs["mujoco.rollout, defaults"] = mujoco_rollout(
                setting, None, coordinates, tuned=False
            )
            runs[f"mujoco.rollout, solref {factor:g}h, tuned"] = mujoco_rollout(
                setting, factor, coordinates
            )
        costs = interleaved([job for job, _ in runs.values()], args.repeats)
        best = min(costs[0].best, costs[1].best)
        for (name, (_, healthy)), cost in zip(runs.items(), costs, strict=True):
            rate = f"{1e-3 / cost.best:.1f} ({1e-3 / cost.median:.1f}){'' if healthy() else '!'}"
            rows.append([str(windows), name, rate, f"{cost.best / best:.2f}"])
    title = (
        f"{shape} windows, batch of {args.batch} on one thread, thousand physics steps of one mechanism/s: best "
        "(median); how many times slower than the faster vigym"
    )
    return table(title, ["windows", "", "thousand steps/s", "best/best"], rows)


def _precision(shape: str, args: argparse.Namespace) -> str:
    return _work(shape, args, Target(energy=1e-2, gap=1e-6))


def _order(shape: str, args: argparse.Namespace) -> str:
    targets = [Target(energy=error, gap=1e-6) for error in ORDER_ERRORS]
    return "\n\n".join(_work(shape, args, target) for target in targets)


def _work(shape: str, args: argparse.Namespace, target: Target) -> str:
    rows = []
    for windows in [w for w in args.windows if w <= 5]:
        found = {
            name: cheapest(makes, windows, shape, args.long, target)
            for name, makes in engines().items()
        }
        ours = found["vigym"].cost.best if found["vigym"] else float("nan")
        rows += [[str(windows), *_worked(name, one, ours)] for name, one in found.items()]
    title = (
        f"{shape} windows, milliseconds of CPU per simulated second, over {args.long:g} s, for an energy error of at "
        f"most {target.energy:g} of the largest kinetic energy and a gap of at most {target.gap:g} m: min (median)"
    )
    head = (
        "windows",
        "cheapest setting",
        "step [ms]",
        "ms/s",
        "of vigym",
        "compiled",
        "of vigym",
        "energy",
        "gap",
    )
    return table(title, head, rows)


def _worked(engine: str, found: Found | None, ours: float) -> list[str]:
    if found is None:
        return [f"{engine}: not reached", *[""] * 7]
    cost = found.cost
    inner = found.compiled
    seen = found.record
    alone = ["", ""] if np.isnan(inner) else [f"{inner * 1e3:.3f}", f"{inner / ours:.1f}"]
    time = f"{cost.best * 1e3:.4f} ({cost.median * 1e3:.4f})", f"{cost.best / ours:.1f}"
    return [
        found.contender.name,
        f"{found.timestep * 1e3:.3g}",
        *time,
        *alone,
        f"{seen.energy:.0e}",
        f"{seen.gap:.0e}",
    ]


TABLES = {
    "check": _check,
    "single": _single,
    "batch": _batch,
    "precision": _precision,
    "order": _order,
}

if __name__ == "__main__":
    main()

"""The trotting Minitaur: vigym against MuJoCo on the same robot, gait and ground, in one run.

    python tests/benchmarks/minitaur.py              # all tables; needs `pip install 'vigym[bench]'`
    python tests/benchmarks/minitaur.py --tables cost --timesteps 0.001

Same bodies, hinges, motors (implicit in vigym, MuJoCo's position actuators there; 8 N m/rad, 0.3 N
m s/rad, clipped at 3.5 N m), feet, ground and friction; open-loop targets every 10 ms; the same
start; from the same URDF file. vigym closes the four loops by joints and solves contacts to its
tolerance. MuJoCo closes each loop by one `connect`, softly. It is shown with its defaults, and at
its stiffest: impedance 0.9999 and the shortest time constant of loops and contacts with which it
walks (one step with its check off, else two or more), with the integrator and the Jacobian that are
fastest then, without islands, which is faster, too. Its pyramidal cone is faster than the true one
and has a row of its own. All steps of a run are one call in MuJoCo (its C loop, mujoco.rollout);
vigym is called once in 10 ms. CPU time of the one thread that works, engines in turn within each
repeat. `!` marks runs that did not converge, fell, or where MuJoCo warned.
"""

from __future__ import annotations

import argparse

import numpy as np
from minitaur_contenders import (
    BATCH,
    CONES,
    PUBLISHED,
    Setting,
    mujoco_batch,
    mujoco_trot,
    stiffest,
    vigym_batch,
    vigym_trot,
)
from minitaur_walk import Walk

from vigym.control.minitaur_gaits import bound, pronk, trot
from vigym.evaluation.speed.timing import Cost, interleaved, machine, table

GAITS = {
    "trot": trot(),
    "published trot": trot(lift=PUBLISHED, ramp=0.0),
    "bound": bound(),
    "pronk": pronk(),
}


def main() -> None:
    """Print the tables asked for."""
    args = _arguments()
    print(machine())
    print(
        f"float64 throughout; {args.seconds:g} s of trot per round, {args.repeats} repeats; targets every 10 ms"
    )
    for name in args.tables:
        print("\n" + TABLES[name](args), flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument(
        "--timesteps", nargs="+", type=float, default=[0.001, 0.002, 0.005, 0.01], help="[s]"
    )
    parser.add_argument(
        "--seconds", type=float, default=10.0, help="simulated time of one round [s]"
    )
    parser.add_argument("--repeats", type=int, default=5)
    return parser.parse_args()


def _gaits(args: argparse.Namespace) -> str:
    timestep, rows = min(args.timesteps), []
    for name, gait in GAITS.items():
        setting = Setting(timestep, args.seconds, gait)
        for run in (vigym_trot(setting), stiffest(setting, "elliptic")):
            rows.append([name, run.name, *_figures(run.watch())])
    title = f"gaits at a step of {1e3 * timestep:g} ms; speed along the robot's heading, heading at the end [rad]"
    return table(title, ["gait", "", *FIGURES], rows)


def _cost(args: argparse.Namespace) -> str:
    rows = []
    for timestep in args.timesteps:
        setting = Setting(timestep, args.seconds)
        runs = [
            vigym_trot(setting),
            *(stiffest(setting, cone) for cone in CONES),
            mujoco_trot(setting),
        ]
        costs = interleaved([run.job for run in runs], args.repeats)
        for run, cost in zip(runs, costs, strict=True):
            walk = run.watch()
            work = (
                f"{walk.work.mean():.2f} / {np.percentile(walk.work, 95):.0f} / {walk.work.max()}"
            )
            fast = f"{timestep / cost.best:.0f}"
            timed = *_rate(cost, costs[0], walk.healthy), fast, work
            rows.append([f"{1e3 * timestep:g}", run.name, *timed, *_figures(walk)])
    title = (
        "trot of one robot on one thread, thousand physics steps/s: best (median); time against vigym's; simulated "
        "time per CPU time; work of a step: factorisations, in MuJoCo iterations, mean / 95th percentile / most"
    )
    return table(
        title, ["step [ms]", "", "thousand steps/s", "time", "x real", "work", *FIGURES], rows
    )


def _batch(args: argparse.Namespace) -> str:
    rows = []
    for timestep in args.timesteps:
        setting = Setting(timestep, args.seconds)
        runs = [vigym_batch(setting), *(mujoco_batch(stiffest(setting, cone)) for cone in CONES)]
        costs = interleaved([run.job for run in runs], args.repeats)
        for run, cost in zip(runs, costs, strict=True):
            rows.append([f"{1e3 * timestep:g}", run.name, *_rate(cost, costs[0], run.healthy())])
    title = f"trot of {BATCH} robots on one thread, thousand physics steps of one robot/s: best (median)"
    return table(title, ["step [ms]", "", "thousand steps/s", "time"], rows)


def _rate(cost: Cost, first: Cost, healthy: bool) -> list[str]:
    rate = f"{1e-3 / cost.best:.1f} ({1e-3 / cost.median:.1f}){'' if healthy else '!'}"
    return [rate, f"{cost.best / first.best:.2f}"]


FIGURES = [
    "speed [m/s]",
    "heading",
    "power [W]",
    "gap mean [m]",
    "gap most [m]",
    "penetration [m]",
    "upright",
]


def _figures(walk: Walk) -> list[str]:
    mark = "" if walk.healthy else "!"
    lengths = (f"{value:.1e}" for value in (walk.gap_mean, walk.gap, walk.depth))
    return [
        f"{walk.speed:.3f}{mark}",
        f"{walk.turned:+.2f}",
        f"{walk.power:.1f}",
        *lengths,
        f"{walk.upright:.3f}",
    ]


TABLES = {"gaits": _gaits, "cost": _cost, "batch": _batch}

if __name__ == "__main__":
    main()

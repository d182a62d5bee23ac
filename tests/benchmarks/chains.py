"""Time per physics step of hinge and ball chains, vigym against MuJoCo on the same model, in one run.

    python tests/benchmarks/chains.py            # all tables; needs `pip install mujoco`
    python tests/benchmarks/chains.py --tables single --links 5 10 --joints hinge

Fair play: the same chain, step and duration, both from the same start each time. MuJoCo uses its
Euler integrator with every stage off that the chain does not need (chain_models.UNUSED). One call
makes all steps of a round, the two take turns within each repeat, and the clock is the CPU time of
the one thread that works. vigym solves every step to its default tolerance; the last columns of a
batch are single precision, beside double. `!` marks a figure whose steps did not all converge,
whose joints came apart, or where MuJoCo warned.
"""

from __future__ import annotations

import argparse

import numpy as np
from chain_models import GRAVITY, LENGTH, MASS, scattered
from contenders import (
    Setting,
    mujoco_rollout,
    mujoco_single,
    mujoco_tip,
    vigym_batch,
    vigym_single,
    vigym_tip,
)

from vigym.evaluation.speed.timing import Cost, interleaved, machine, table

SLOPE_LINKS = (10, 20, 50, 100, 200, 500, 1000)


def main() -> None:
    """Print the tables asked for."""
    args = _arguments()
    print(machine())
    print(
        f"float64, or as told; step {args.timestep} s, {args.seconds} s from rest per round, {args.repeats} repeats\n"
    )
    for name in args.tables:
        for joint in args.joints:
            print(TABLES[name](joint, args), end="\n\n", flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--joints", nargs="+", choices=("hinge", "ball"), default=["hinge", "ball"])
    parser.add_argument("--links", nargs="+", type=int, default=[5, 10, 20, 50])
    parser.add_argument("--batch", type=int, default=256, help="environments of the batch")
    parser.add_argument("--timestep", type=float, default=0.01, help="[s]")
    parser.add_argument(
        "--seconds", type=float, default=1.0, help="simulated time of one round [s]"
    )
    parser.add_argument("--repeats", type=int, default=7)
    return parser.parse_args()


def _settings(joint: str, args: argparse.Namespace) -> list[Setting]:
    return [
        Setting(links, joint, args.timestep, round(args.seconds / args.timestep))
        for links in args.links
    ]


def _check(joint: str, args: argparse.Namespace) -> str:
    """The distance between both engines' last links falls with the square of vigym's step: the same chain."""
    rows = []
    for links in args.links:
        start = scattered(links, joint, 1)[0]
        truth = mujoco_tip(Setting(links, joint, 0.00025, 2000), start)
        tips = [vigym_tip(Setting(links, joint, 0.5 / n, n), start) for n in (100, 200, 400)]
        far = [float(np.linalg.norm(tip - truth)) for tip in tips]
        rows.append(
            [
                str(links),
                *[f"{d:.2e}" for d in far],
                f"{far[0] / far[1]:.2f}",
                f"{far[1] / far[2]:.2f}",
            ]
        )
    title = f"{joint} chain, the same in both? Last link after 0.5 s, distance from MuJoCo RK4 at 0.25 ms [m]"
    return table(title, ["links", "vigym 5 ms", "2.5 ms", "1.25 ms", "falls by", "and by"], rows)


def _single(joint: str, args: argparse.Namespace) -> str:
    rows = []
    for setting in _settings(joint, args):
        pair = vigym_single(setting), mujoco_single(setting)
        costs = interleaved([one.job for one in pair], args.repeats)
        marks = ["" if one.healthy() else "!" for one in pair]
        times = [
            f"{cost.best * 1e6:.2f} ({cost.median * 1e6:.2f}){m}"
            for cost, m in zip(costs, marks, strict=True)
        ]
        fall = MASS * GRAVITY * LENGTH * setting.links**2 / 2  # between level and hanging
        quality = [f"{pair[0].iterations():.2f}", *[f"{one.energy() / fall:.0e}" for one in pair]]
        rows.append([str(setting.links), *times, *_ratios(costs), *quality])
    title = (
        f"{joint} chain, one environment, microseconds per physics step: min (median); "
        "energy error at the end, of the fall from level to hanging"
    )
    head = [
        "links",
        "vigym",
        "MuJoCo Euler",
        "min/min",
        "med/med",
        "iterations",
        "energy: vigym",
        "MuJoCo",
    ]
    return table(title, head, rows)


def _batch(joint: str, args: argparse.Namespace) -> str:
    start = {links: scattered(links, joint, args.batch) for links in args.links}
    rows = []
    for setting in _settings(joint, args):
        first = start[setting.links]
        three = (
            vigym_batch(setting, first),
            mujoco_rollout(setting, first),
            vigym_batch(setting, first, "float32"),
        )
        costs = interleaved([one.job for one in three], args.repeats)
        marks = ["" if one.healthy() else "!" for one in three]
        rates = [
            f"{1e-3 / cost.best:.0f} ({1e-3 / cost.median:.0f}){m}"
            for cost, m in zip(costs, marks, strict=True)
        ]
        gain = [f"{costs[0].best / costs[2].best:.2f}", f"{costs[0].median / costs[2].median:.2f}"]
        iterations = [f"{one.iterations():.2f}" for one in (three[0], three[2])]
        row = [
            rates[0],
            iterations[0],
            rates[1],
            *_ratios(costs[:2]),
            rates[2],
            iterations[1],
            *gain,
        ]
        rows.append([str(setting.links), *row])
    title = f"{joint} chain, batch of {args.batch} on one thread, thousand physics steps of one chain/s: best (median)"
    ours, ratios = ["vigym", "iterations"], ["best/best", "med/med"]
    return table(
        title,
        ["links", *ours, "mujoco.rollout", *ratios, "vigym float32", "iterations", *ratios],
        rows,
    )


def _slope(joint: str, args: argparse.Namespace) -> str:
    rows, best = [], []
    for links in SLOPE_LINKS:
        one = vigym_single(
            Setting(links, joint, args.timestep, round(args.seconds / args.timestep))
        )
        cost = interleaved([one.job], args.repeats)[0]
        time = f"{cost.best * 1e6:.2f} ({cost.median * 1e6:.2f}){'' if one.healthy() else '!'}"
        rows.append([str(links), time, f"{cost.best * 1e9 / links:.0f}"])
        best.append(cost.best)
    slope = np.polyfit(np.log(SLOPE_LINKS), np.log(best), 1)[0]
    title = f"{joint} chain, one environment, growth with the links: log-log slope {slope:.3f}"
    return table(title, ["links", "vigym us per physics step: min (median)", "ns per link"], rows)


def _ratios(costs: list[Cost]) -> list[str]:
    ours, theirs = costs
    return [f"{theirs.best / ours.best:.2f}", f"{theirs.median / ours.median:.2f}"]


TABLES = {"check": _check, "single": _single, "batch": _batch, "slope": _slope}

if __name__ == "__main__":
    main()

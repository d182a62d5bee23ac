"""The README's table of environment speed, as Markdown; `vigym bench` prints the same figures for people.

    python tests/benchmarks/environments.py                  # all, a few minutes
    python tests/benchmarks/environments.py vigym/Snake-v0 --repeats 9

Thousand environment steps per second on one core, by the CPU time of the thread; then two threads
beside one, by the wall clock, which needs a quiet machine.
"""

from __future__ import annotations

import argparse
import os

from vigym.evaluation.speed.environments import COUNTS, Row, time_environments
from vigym.evaluation.speed.timing import machine

SHARED = 512  # environments that two threads share


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("ids", nargs="*", help="environments, all by default")
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    print(machine(), end="\n\n")
    rows = time_environments(args.ids or None, repeats=args.repeats)
    vectors = ["vector of 1", *map(str, COUNTS[1:])]
    heads = [
        "id",
        "physics steps in one",
        "single",
        *vectors,
        "physics steps of 512 alone",
        "reset in 64 [us]",
    ]
    print(*_markdown(heads, [_speeds(group) for group in _grouped(rows)]), sep="\n", end="\n\n")
    print(f"load {os.getloadavg()[0]:.2f}", end="\n\n")
    rows = time_environments(args.ids or None, [SHARED], [1, 2], args.repeats, peers=False)
    print(
        *_markdown(["id", "two threads"], [_scaling(group) for group in _grouped(rows)]),
        sep="\n",
        end="\n\n",
    )
    print(f"load {os.getloadavg()[0]:.2f}")


def _grouped(rows: list[Row]) -> list[list[Row]]:
    return [
        [row for row in rows if row["id"] == name]
        for name in dict.fromkeys(row["id"] for row in rows)
    ]


def _speeds(rows: list[Row]) -> list[str]:
    steps = [f"{1e-3 * row['environment_steps_per_second']:.3g}" for row in rows]
    alone = rows[-1]["physics_us"]
    reset = next(row["reset_us"] for row in rows if row["environments"] == 64)
    physics = "" if alone is None else f"{1e3 * rows[-1]['physics_steps'] / alone:.0f}"
    return [_name(rows[0]), str(rows[0]["physics_steps"]), *steps, physics, f"{reset:.3g}"]


def _name(row: Row) -> str:
    return row["id"].rpartition("/")[2] + (" (MuJoCo)" if row["engine"] == "mujoco" else "")


def _scaling(rows: list[Row]) -> list[str]:
    one, two = (
        next(row for row in rows if row["environments"] and row["threads"] == k) for k in (1, 2)
    )
    whole = two["environment_steps_per_second"] / one["environment_steps_per_second"]
    return [
        _name(one),
        f"{whole:.2f}, the simulator alone {one['physics_us'] / two['physics_us']:.2f}",
    ]


def _markdown(heads: list[str], lines: list[list[str]]) -> list[str]:
    return [f"| {' | '.join(cells)} |" for cells in (heads, ["---"] * len(heads), *lines)]


if __name__ == "__main__":
    main()

"""What it costs to begin and to call: import, first use with compilation, the cached start, resets, single steps.

    python tests/benchmarks/start.py                     # the cold start compiles into a folder of its own
    python tests/benchmarks/start.py --skip-cold

Starts are wall time of new processes, calls are CPU time of this thread. `vigym bench` and
environments.py time environments.
"""

from __future__ import annotations

import argparse

from chain_models import vigym_chain

import vigym
from vigym.evaluation.speed.startup import time_startup
from vigym.evaluation.speed.timing import Cost, Job, interleaved, machine, table


def main() -> None:
    """Print the tables asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--skip-cold", action="store_true", help="do not compile from nothing")
    parser.add_argument("--repeats", type=int, default=7)
    args = parser.parse_args()
    print(machine(), end="\n\n")
    print(_starts(args.repeats, args.skip_cold), end="\n\n", flush=True)
    print(_simulator(args.repeats))


def _starts(repeats: int, skip_cold: bool) -> str:
    keys = ["seconds"] if skip_cold else ["compiling_seconds", "seconds"]
    rows = [
        [row["stage"], *(f"{row[key]:.2f}" for key in keys)]
        for row in time_startup(repeats, not skip_cold)
    ]
    return table(
        "new process, wall time [s]",
        ["", *(["compiling"] if not skip_cold else []), "cached: median"],
        rows,
    )


def _simulator(repeats: int) -> str:
    rows = []
    for links in (2, 10):
        sim = vigym.Simulator(vigym_chain(links, "hinge"), timestep=0.01)
        calls = {
            "reset": sim.reset,
            "step": sim.step,
            "step and energy": lambda s=sim: (s.step(), s.energy()),
            "step and metrics": lambda s=sim: (s.step(), s.metrics()),
        }
        jobs = [
            Job(sim.reset, lambda call=call: [call() for _ in range(100)], 100)
            for call in calls.values()
        ]
        costs = interleaved(jobs, repeats)
        rows += [
            [name, str(links), _microseconds(cost)] for name, cost in zip(calls, costs, strict=True)
        ]
    return table("one Simulator, called from Python", ["call", "hinges", "us: min (median)"], rows)


def _microseconds(cost: Cost) -> str:
    return f"{cost.best * 1e6:.1f} ({cost.median * 1e6:.1f})"


if __name__ == "__main__":
    main()

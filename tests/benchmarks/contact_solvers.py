"""How contacts are solved: semi-smooth Newton beside the interior point, on the same mechanisms in the same run.

python tests/benchmarks/contact_solvers.py
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from vigym import Mechanism, Simulator
from vigym.control.minitaur_gaits import trot
from vigym.control.minitaur_legs import hip_angles
from vigym.envs.tasks.minitaur import Minitaur
from vigym.evaluation.speed.timing import machine, table

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from scenes import touching_scenes as scenes  # noqa: E402

SOLVERS = ("newton", "interior_point")
SECONDS = 1.0  # of a run [s]
MICRO = 1e6
Targets = Callable[[float], Any]


@dataclass
class Tally:
    """What a run took.

    Attributes:
        iterations: of every step.
        micros: of every step [us].
        lowest: least gap of a contact at a knot [m].
        resting: largest gap of a contact that presses at the end of the run [m].
        failures: steps that were not made; halvings of those that were.
    """

    iterations: list[float] = field(default_factory=list)
    micros: list[float] = field(default_factory=list)
    lowest: float = np.inf
    resting: float = 0.0
    failures: int = 0
    halvings: float = 0.0

    def row(self) -> list[str]:
        its = self.iterations
        return [
            f"{np.mean(its):.2f} / {np.percentile(its, 95):.0f} / {max(its):.0f}", f"{np.mean(self.micros):.1f}",
            f"{self.lowest:.1e}", f"{self.resting:.1e}", f"{self.failures} / {self.halvings:.0f}",
        ]  # fmt: skip


def run(
    mech: Mechanism, h: float, solver: str, start: dict[str, Any], targets: Targets | None
) -> Tally:
    """Step for a second, a knot at a time."""
    sim, tally = Simulator(mech, timestep=h, contact_solver=solver), Tally()
    sim.step()  # compiles
    sim.reset(**start)
    for k in range(round(SECONDS / h)):
        aims = None if targets is None else targets(k * h)
        began = time.thread_time()
        status = sim.step(targets=aims)
        tally.micros.append(MICRO * (time.thread_time() - began))
        tally.iterations.append(status.iterations)
        tally.failures += not status.converged
        tally.halvings += status.halvings
        tally.lowest = min(tally.lowest, float(sim.contacts.gap.min()))
    contacts = sim.contacts
    pressing = np.linalg.norm(contacts.force, axis=1) > 0.01 * np.abs(contacts.force).max()
    tally.resting = float(np.abs(contacts.gap[pressing]).max(initial=0.0))
    return tally


def trotting(seconds: float) -> np.ndarray:
    """Hip angles of the scripted trot [rad]."""
    return hip_angles(*trot().legs(seconds))


def cases() -> dict[str, tuple[Mechanism, dict[str, Any], Targets | None]]:
    """Mechanism, start and targets of each run."""
    leap = {"velocities": (2.0, 1.0, 0.0, 0.0, 0.0, 4.0)}
    robot = Minitaur().mechanism()
    hips = np.full(len(robot.motor_names), 0.43)
    return {
        "box drop": (scenes.box(0.5), {}, None),
        "puck slides and spins": (scenes.puck(0.5), leap, None),
        "snake of 9 links": (scenes.snake(9), {}, lambda t: 0.4 * np.sin(6.0 * t + np.arange(8))),
        "Minitaur trots": (
            robot,
            {"positions": dict(zip(robot.motor_names, hips, strict=True)), "place_on_ground": True},
            trotting,
        ),
    }


def main() -> None:
    """Print a table: iterations mean / 95th percentile / largest, time of a step, gaps, failed steps."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--timesteps", type=float, nargs="+", default=[0.01, 0.002], help="[s]")
    options = parser.parse_args()
    head = [
        "mechanism",
        "h",
        "solver",
        "iterations",
        "us",
        "lowest gap",
        "gap at the end",
        "failed / halved",
    ]
    rows = []
    for name, (mech, start, targets) in cases().items():
        for h in options.timesteps:
            for solver in SOLVERS:
                rows.append([name, f"{h:g}", solver, *run(mech, h, solver, start, targets).row()])
    print(table(machine(), head, rows))


if __name__ == "__main__":
    main()

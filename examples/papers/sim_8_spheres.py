"""SIM Fig. 8b: spheres on ball joints that drop on the ground, a little tilted, by their number.

Radius 0.25 m, 1 kg, 10 ms. Times, iterations and the depth below the ground, by the semi-smooth
Newton method and by the interior point of the paper.
"""

from __future__ import annotations

from functools import partial

import _figure as fig
import numpy as np

import vigym

STEP, RADIUS = 0.01, 0.25  # [s], [m]
SPHERES = {fig.QUICK: (5, 10), fig.PAGE: (5, 10, 20, 40, 80), fig.FULL: (5, 10, 20, 40, 80, 160)}
STEPS = {fig.QUICK: 40, fig.PAGE: 1000, fig.FULL: 1000}
HEIGHT = 0.1  # below the spheres at the start [m]
TILT = -0.3  # rate at which a chain of one sphere would turn [rad/s]


def spheres(count: int) -> vigym.Mechanism:
    """Return a chain of spheres in a row above the ground."""
    mech, moment = vigym.Mechanism(ground=True), 0.4 * RADIUS**2
    for k in range(count):
        place = np.array([2.0 * RADIUS * k, 0.0, RADIUS + HEIGHT])
        mech.add_body(f"ball{k}", 1.0, np.full(3, moment), place)
        mech.add_contact(f"touch{k}", f"ball{k}", (0.0, 0.0, 0.0), RADIUS, friction=0.3)
        if k:
            between = place - (RADIUS, 0.0, 0.0)
            mech.add_joint(f"joint{k}", "spherical", f"ball{k - 1}", f"ball{k}", between)
    return mech


def main(out: str = "sim_8_spheres.png", size: str = fig.PAGE) -> dict[str, list[list[float]]]:
    """Draw and print; return times [s], iterations of a step and depths [m] by solver."""
    figure, (time, iterations) = fig.panels(1, 2, ["time of 1000 steps", "iterations of a step"])
    found: dict[str, list[list[float]]] = {}
    for solver, color in (("newton", fig.OURS), ("interior_point", fig.THIRD)):
        columns: list[list[float]] = []
        for count in SPHERES[size]:
            sim = vigym.Simulator(spheres(count), STEP, contact_solver=solver)
            start = np.zeros(len(sim.joint_velocities))
            start[4] = TILT / count  # about y
            sim.reset(None, start)
            status = [sim.step() for _ in range(STEPS[size])]
            assert all(one.converged for one in status)
            runs = [(partial(sim.reset, None, start), partial(sim.step, substeps=STEPS[size]), 1)]
            depth = max(0.0, -float(sim.contacts.gap.min()))
            mean = float(np.mean([one.iterations for one in status]))
            (each,) = fig.step_times(runs, 1)
            columns.append([1000.0 / STEPS[size] * each, mean, depth])
        found[solver] = [list(values) for values in zip(*columns, strict=True)]
        time.loglog(SPHERES[size], found[solver][0], "o-", color=color, label=solver)
        iterations.semilogx(SPHERES[size], found[solver][1], "o-", color=color, label=solver)
    fig.over(time, SPHERES[size], "spheres", "s")
    fig.over(iterations, SPHERES[size], "spheres", "")
    iterations.set_ylim(0.0)
    fig.save(figure, out)
    names = ("1000 steps [s]", "iterations of a step", "below the ground at the end [m]")
    printed = ("linear", "", "practically none; MuJoCo 0.1 m, none above 44 spheres")
    rows = [
        [f"{solver}: {name}", *values, paper]
        for solver, columns in found.items()
        for name, values, paper in zip(names, columns, printed, strict=True)
    ]
    head = ["", *(f"{count} spheres" for count in SPHERES[size]), "paper"]
    fig.report("SIM Fig. 8b", head, rows)
    return found


if __name__ == "__main__":
    fig.command(main)

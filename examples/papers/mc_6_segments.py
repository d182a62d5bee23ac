"""MC Fig. 6, SIM Fig. 9a: chains of four-link segments through poses where links overlap.

1000 steps of 10 ms: time, energy and gaps in vigym; beside it the first step that Runge-Kutta 4
with multipliers of accelerations cannot make, or its gap at the end. The papers' method in joint
coordinates was unable to simulate two or more segments reliably.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import _figure as fig
import numpy as np
from _mechanisms import segments

import vigym
from vigym.baselines.compare import Setting, simulate

STEP = 0.01  # [s]
SEGMENTS = {fig.QUICK: (1, 2), fig.PAGE: (1, 2, 4, 8, 16), fig.FULL: (1, 2, 4, 8, 16, 32)}
SECONDS = {fig.QUICK: 2.0, fig.PAGE: 10.0, fig.FULL: 10.0}
MULTIPLIERS = {
    fig.QUICK: 2,
    fig.PAGE: 4,
    fig.FULL: 8,
}  # most segments by multipliers: dense in their loops
HEAD = ["segments", "1000 steps [s]", "iterations a step", "energy error [J per link]", "gap [m]"]


def main(out: str = "mc_6_segments.png", size: str = fig.PAGE) -> list[list[float | str]]:
    """Draw times, energies and gaps; print and return the table under them."""
    figure, (time, energy, gap) = fig.panels(1, 3, ["time of 1000 steps", "energy", "largest gap"])
    setting = Setting(STEP, SECONDS[size])
    steps, repeats = (20, 1) if size == fig.QUICK else (round(SECONDS[size] / STEP), 3)
    rows: list[list[float | str]] = []
    for count in SEGMENTS[size]:
        mech = segments(count)
        sim = vigym.Simulator(mech, STEP)
        run = simulate("vigym", mech, setting)
        (each,) = fig.step_times([(sim.reset, partial(sim.step, substeps=steps), steps)], repeats)
        shade: dict[str, Any] = {"linewidth": 0.8, "label": f"{count} segments"}
        energy.plot(run.times, run.energies / (4 * count), **shade)
        gap.semilogy(run.times[1:], np.maximum(run.gaps[1:], 1e-17), **shade)
        found = "not run"
        if count <= MULTIPLIERS[size]:
            with np.errstate(over="ignore"):  # of the energies of what comes apart
                other = simulate("multipliers", mech, setting)
            gaps = np.clip(other.gaps[1:], 1e-17, 10.0)
            gap.semilogy(other.times[1:], gaps, "k--", linewidth=0.8)
            fails = f"fails at {other.steps * STEP:.3g} s"
            found = fails if other.failure else f"gap {other.gaps[-1]:.1e} m"
        error = float(np.abs(run.energies).max()) / (4 * count)
        largest = float(run.gaps.max())
        rows.append([str(count), 1000 * each, run.iterations, error, largest, found])
        assert run.failure is None
    time.loglog(SEGMENTS[size], [row[1] for row in rows], "o-", color=fig.OURS)
    fig.over(time, SEGMENTS[size], "segments", "s")
    energy.set(xlabel="time [s]", ylabel="energy minus initial energy [J per link]")
    gap.set(xlabel="time [s]", ylabel="m; dashed: multipliers of accelerations")
    fig.save(figure, out)
    fig.report("MC Fig. 6, SIM Fig. 9a", [*HEAD, "multipliers of accelerations"], rows)
    return rows


if __name__ == "__main__":
    fig.command(main)

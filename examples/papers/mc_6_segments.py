"""MC Fig. 6, SIM Fig. 9a: chains of four-link segments through poses where links overlap.

1000 steps of 10 ms: time, energy and gaps in vigym; beside it the first step that Runge-Kutta 4
with multipliers of accelerations cannot make, or its gap at the end. The papers' method in joint
coordinates was unable to simulate two or more segments reliably.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from _figure import FULL, OURS, PAGE, QUICK, THEIRS
from _figure import command, over, panels, report, save, step_times
from _mechanisms import segments

import vigym
from vigym.baselines.compare import Setting, simulate

STEP = 0.01  # [s]
SEGMENTS = {QUICK: (1, 2), PAGE: (1, 2, 4, 8, 16), FULL: (1, 2, 4, 8, 16, 32)}
SECONDS = {QUICK: 2.0, PAGE: 10.0, FULL: 10.0}
MULTIPLIERS = {QUICK: 2, PAGE: 4, FULL: 8}  # most segments by multipliers: dense in their loops
HEAD = ["segments", "1000 steps [s]", "iterations a step", "energy error [J per link]", "gap [m]"]


def main(out: str = "mc_6_segments.png", size: str = PAGE) -> list[list[float | str]]:
    """Draw times, energies and gaps; print and return the table under them."""
    figure, (time, energy, gap) = panels(1, 3, ["time of 1000 steps", "energy", "largest gap"])
    setting = Setting(STEP, SECONDS[size])
    steps, repeats = (20, 1) if size == QUICK else (round(SECONDS[size] / STEP), 3)
    rows: list[list[float | str]] = []
    for count in SEGMENTS[size]:
        mech = segments(count)
        sim = vigym.Simulator(mech, STEP)
        run = simulate("vigym", mech, setting)
        (each,) = step_times([(sim.reset, partial(sim.step, substeps=steps), steps)], repeats)
        shade = dict(label=f"{count} segments", alpha=0.4 + 0.6 / count, linewidth=0.8)
        energy.plot(run.times, run.energies / (4 * count), color=OURS, **shade)
        gap.semilogy(run.times[1:], np.maximum(run.gaps[1:], 1e-17), color=OURS, **shade)
        found = "not run"
        if count <= MULTIPLIERS[size]:
            with np.errstate(over="ignore"):  # of the energies of what comes apart
                other = simulate("multipliers", mech, setting)
            gaps = np.clip(other.gaps[1:], 1e-17, 10.0)
            gap.semilogy(other.times[1:], gaps, color=THEIRS)
            fails = f"fails at {other.steps * STEP:.3g} s"
            found = fails if other.failure else f"gap {other.gaps[-1]:.1e} m"
        error = float(np.abs(run.energies).max()) / (4 * count)
        largest = float(run.gaps.max())
        rows.append([str(count), 1000 * each, run.iterations, error, largest, found])
        assert run.failure is None
    time.loglog(SEGMENTS[size], [row[1] for row in rows], "o-", color=OURS)
    over(time, SEGMENTS[size], "segments", "s")
    energy.set(xlabel="time [s]", ylabel="energy minus initial energy [J per link]")
    gap.set(xlabel="time [s]", ylabel="m; red: multipliers of accelerations")
    save(figure, out)
    report("MC Fig. 6, SIM Fig. 9a", [*HEAD, "multipliers of accelerations"], rows)
    return rows


if __name__ == "__main__":
    command(main)

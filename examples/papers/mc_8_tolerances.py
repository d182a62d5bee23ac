"""MC Fig. 8, SIM Fig. 10: n-link pendulums at three tolerances, in maximal and joint coordinates.

1000 steps of 10 ms of 1 m rods on hinges that are let go at half a radian. vigym's step, the second
order (LEE) in joint coordinates by its quasi-Newton method and by Newton's, and the third order.
A cross is a step without solution after 100 iterations. Joint coordinates here are partly Python:
compare iterations, and slopes of the times.
"""

from __future__ import annotations

import time

import _figure as fig
import numpy as np
from _mechanisms import chain

from vigym.baselines import METHODS, StepError

STEP = 0.01  # [s]
STEPS = {fig.QUICK: 50, fig.PAGE: 1000, fig.FULL: 1000}
LINKS = {fig.QUICK: (2, 10, 50), fig.PAGE: (2, 5, 10, 20, 50), fig.FULL: (2, 5, 10, 20, 50, 100)}
TOLERANCES = (1e-6, 1e-8, 1e-10)
COLORS = {"vigym": fig.OURS, "riqn": fig.THEIRS, "newton": "#8a6fb0", "third-order": fig.THIRD}
Outcome = tuple[float, float, int | None]  # iterations of a step, its time [s], step that failed


def outcome(name: str, count: int, tolerance: float, steps: int) -> Outcome:
    """Return what a method makes of the steps of a chain."""
    method = METHODS[name](chain(count, 0.5), STEP, tolerance)
    total, begun = 0, time.process_time()
    for step in range(steps):
        try:
            method.step()
        except StepError:
            return np.nan, np.nan, step
        total += method.iterations
    return total / steps, (time.process_time() - begun) / steps, None


def main(
    out: str = "mc_8_tolerances.png", size: str = fig.PAGE
) -> dict[tuple[str, int, float], Outcome]:
    """Draw times and failures; print iterations; return outcomes by method, links, tolerance."""
    letters = [f"{letter}  tolerance {t:g}" for letter, t in zip("abc", TOLERANCES, strict=True)]
    figure, axes = fig.panels(1, 3, letters)
    found = {
        (name, count, tolerance): outcome(name, count, tolerance, STEPS[size])
        for count in LINKS[size]
        for tolerance in TOLERANCES
        for name in COLORS
    }
    for panel, tolerance in zip(axes, TOLERANCES, strict=True):
        for height, (name, color) in enumerate(COLORS.items()):
            outcomes = [found[name, count, tolerance] for count in LINKS[size]]
            times = [1000.0 * seconds for _, seconds, _ in outcomes]
            panel.loglog(LINKS[size], times, "o-", color=color, label=name)
            failed = [
                count
                for count, (_, _, step) in zip(LINKS[size], outcomes, strict=True)
                if step is not None
            ]
            panel.plot(failed, [5.0 * 2.0**height] * len(failed), "x", color=color, markersize=11)
        fig.over(panel, LINKS[size], "links", "1000 steps [s]; x: fails")
    fig.save(figure, out)
    rows = []
    for count in LINKS[size]:
        for name in COLORS:
            cells = [found[name, count, tolerance] for tolerance in TOLERANCES]
            shown = [f"{i:.2f}" if step is None else f"fails at {step}" for i, _, step in cells]
            printed = "none fails" if name == "vigym" else "fail: many links, small tolerances"
            rows.append([str(count), name, *shown, "" if name == "newton" else printed])
    head = ["links", "method", *(f"{tolerance:g}" for tolerance in TOLERANCES), "paper"]
    fig.report("MC Fig. 8, SIM Fig. 10: iterations of a step, or the step that fails", head, rows)
    return found


if __name__ == "__main__":
    fig.command(main)

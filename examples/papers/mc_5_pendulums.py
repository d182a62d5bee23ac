"""MC Fig. 5, SIM Fig. 8a: time of 1000 steps of 10 ms, n links on hinges or balls, open or closed.

vigym beside Runge-Kutta 4 in joint coordinates, with rows of accelerations that hold the end where
a loop is. Its step is the largest of some whose energy error is not above vigym's. The papers
compare with compiled Julia; here the explicit method is Python around compiled recursions.
"""

from __future__ import annotations

from functools import partial

import _figure as fig
import numpy as np
from _loop_rows import LoopRows
from _mechanisms import arc, linkage

import vigym
from vigym.baselines import Method, Product, RungeKutta4, StepError

STEP, SECONDS = 0.01, 10.0  # of 1000 steps [s]
LARGER = (8, 4, 2, 1)  # steps of the explicit method to try, over STEP
LINKS = {fig.QUICK: (2, 4), fig.PAGE: (2, 4, 8, 16, 32, 64), fig.FULL: (2, 4, 8, 16, 32, 64, 100)}
Cell = tuple[str, bool, str]  # joints, whether closed, method


def explicit(count: int, kind: str, closed: bool, step: float) -> Method:
    """Return the explicit method of a pendulum in joint coordinates."""
    rods = linkage(arc(count), kind)
    return LoopRows(rods, step) if closed else RungeKutta4(rods, step)


def make(method: Method, seconds: float) -> None:
    """Make the steps of some seconds."""
    for _ in range(round(seconds / method.timestep)):
        method.step()


def error_of(method: Method, seconds: float) -> float:
    """Return the energy error after some seconds [J]; infinite where a step cannot be made."""
    start = method.energy().total
    try:
        make(method, seconds)
    except StepError:
        return np.inf
    return float(abs(method.energy().total - start))


def timed_runs(count: int, cells: list[Cell], seconds: float) -> list[fig.Run]:
    """Return runs of `step_times`: links of 1 m and 1 kg on half a circle that is let go."""
    runs: list[fig.Run] = []
    for kind, closed, name in cells:
        if name == "vigym":
            sim = vigym.Simulator(linkage(arc(count), kind, closed), STEP)
            allowed = error_of(Product(linkage(arc(count), kind, closed), STEP), seconds)
            assert np.isfinite(allowed)
            runs.append((sim.reset, partial(sim.step, substeps=round(seconds / STEP)), 1))
            continue
        for factor in LARGER:
            method = explicit(count, kind, closed, factor * STEP)
            if error_of(method, seconds) <= allowed:
                break
        runs.append((method.reset, partial(make, method, seconds), 1))
    return runs


def main(out: str = "mc_5_pendulums.png", size: str = fig.PAGE) -> dict[Cell, list[float]]:
    """Draw and print times of 1000 steps [s]; return them by joints, closed, and method."""
    cells = [
        (kind, closed, name)
        for closed in (False, True)
        for kind in ("revolute", "spherical")
        for name in ("vigym", "explicit")
    ]
    seconds = {fig.QUICK: 0.16, fig.PAGE: 0.96, fig.FULL: SECONDS}[size]
    times: dict[Cell, list[float]] = {cell: [] for cell in cells}
    for count in LINKS[size]:
        runs = timed_runs(count, cells, seconds)
        for cell, each in zip(
            cells, fig.step_times(runs, 1 if size == fig.QUICK else 2), strict=True
        ):
            times[cell].append(SECONDS / seconds * each)
    figure, axes = fig.panels(1, 2, ["a  open", "b  with a loop"])
    for (kind, closed, name), found in times.items():
        style = "--" if kind == "revolute" else "-"
        color = fig.OURS if name == "vigym" else fig.THEIRS
        axes[closed].loglog(LINKS[size], found, style, color=color, label=f"{name}, {kind}")
        fig.over(axes[closed], LINKS[size], "links", "time of 10 s [s]")
    fig.save(figure, out)
    head = ["", *(f"{count} links" for count in LINKS[size]), "slope of the last two"]
    slopes = [
        np.log2(found[-1] / found[-2]) / np.log2(LINKS[size][-1] / LINKS[size][-2])
        for found in times.values()
    ]
    rows = [
        [f"{name}, {kind}, {'closed' if closed else 'open'}", *found, float(slope)]
        for ((kind, closed, name), found), slope in zip(times.items(), slopes, strict=True)
    ]
    fig.report("MC Fig. 5, SIM Fig. 8a: time of 10 s [s]; in the papers slopes of 1", head, rows)
    return times


if __name__ == "__main__":
    fig.command(main)

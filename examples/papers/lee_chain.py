"""LEE Figs. 2 to 4: a chain of hinges by DRNEA, its energy, times and iterations.

2   energy of ten links over 10,000 steps of 1 ms: RIQN, and semi-implicit Euler.
3   time of a step over the number of links: RIQN, Broyden and Newton on DRNEA, and the residual by
    DRNEA against its dense form (the scalable variational integrator's).
4   residuals of one step, and evaluations of a step at 1e-10, ten links.

Rods of 10 cm and 1 kg fall from the side. Steps are Python around compiled recursions.
"""

from __future__ import annotations

from functools import partial

import _figure as fig
import numpy as np
from _mechanisms import chain
from matplotlib.axes import Axes

from vigym.baselines import METHODS, Method, discrete, mechanism_tree

STEP = 1e-3  # [s]
STEPS = {fig.QUICK: 200, fig.PAGE: 10_000, fig.FULL: 10_000}
LINKS = {fig.QUICK: (5, 10), fig.PAGE: (10, 20, 50, 100), fig.FULL: (10, 20, 50, 100)}
TIMED = {fig.QUICK: 5, fig.PAGE: 100, fig.FULL: 1000}  # steps of a measurement
COLORS = {"riqn": fig.OURS, "broyden": fig.THIRD, "newton": fig.THEIRS}
Row = tuple[str, str, float, str]  # figure, quantity, here, in the paper


def falling(name: str, count: int = 10, tolerance: float = 1e-10) -> Method:
    """Return a chain of 10 cm rods of 1 kg at the side, at rest."""
    method = METHODS[name](chain(count, np.pi / 2, 0.1, density=10.0), STEP, tolerance)
    if name in COLORS:
        vars(method)["guess"] = "IG1"  # the step starts at the present coordinates
    return method


def energy(panel: Axes, size: str) -> list[Row]:
    """Draw energies; return their errors in the last tenth."""
    rows: list[Row] = []
    for name, color in (
        ("riqn", fig.OURS),
        ("semi-implicit-euler", fig.THEIRS),
        ("vigym", fig.THIRD),
    ):
        method = falling(name)
        start, errors = method.energy().total, []
        for _ in range(STEPS[size]):
            method.step()
            errors.append(method.energy().total - start)
        panel.plot(np.arange(1, len(errors) + 1), errors, color=color, label=name, linewidth=0.7)
        late = float(np.mean(errors[-len(errors) // 10 :]))
        printed = {"riqn": "kept", "semi-implicit-euler": "dissipated"}.get(name, "")
        rows.append(("2", f"{name}: mean energy error of the last tenth [J]", late, printed))
    panel.set(xlabel="step", ylabel="energy minus initial energy [J]")
    return rows


def steps_of(method: Method, count: int) -> None:
    """Make some steps."""
    for _ in range(count):
        method.step()


def times(panel: Axes, size: str) -> list[Row]:
    """Draw times of steps and of residuals over links; return their ratios."""
    found, errors = [], []
    for count in LINKS[size]:
        methods = [falling(name, count, 1e-8) for name in COLORS]
        runs: list[fig.Run] = [
            (m.reset, partial(steps_of, m, TIMED[size]), TIMED[size]) for m in methods
        ]
        tree = mechanism_tree(methods[0].mechanism)
        still, zero = np.zeros(count) + 0.1, np.zeros(count)
        before, after = tree.joints(still, zero), tree.joints(still + 1e-3, zero)
        moved, incoming = discrete.displace(tree.links, before, after, STEP), np.zeros((count, 6))
        jobs = [
            partial(residual, tree.links, before, moved, incoming)
            for residual in (discrete.drnea, discrete.dense_residual)
        ]
        runs += [fig.repeated(job) for job in jobs]
        own, dense = (job() for job in jobs)
        errors.append(float(np.abs(own - dense).max() / np.abs(dense).max()))
        found.append([1e3 * t for t in fig.step_times(runs, 1 if size == fig.QUICK else 5)])
    names = [*(f"step, {name}" for name in COLORS), "residual, DRNEA", "residual, dense"]
    colors = [*COLORS.values(), fig.OURS, fig.THEIRS]
    for name, color, column in zip(names, colors, zip(*found, strict=True), strict=True):
        style = "o-" if name.startswith("step") else "s:"
        panel.loglog(LINKS[size], column, style, color=color, label=name)
    fig.over(panel, LINKS[size], "links", "ms")
    rows: list[Row] = []
    steps, residuals = {10: "3.8", 100: "53"}, {10: "15", 100: "32"}
    for count, error, (riqn, _, newton, drnea, dense) in zip(
        LINKS[size], errors, found, strict=True
    ):
        rows.append(("3", f"{count} links: Newton / RIQN", newton / riqn, steps.get(count, "")))
        ratio = dense / drnea
        rows.append(("3", f"{count} links: dense / DRNEA", ratio, residuals.get(count, "")))
        rows.append(("3", f"{count} links: dense - DRNEA, relative", error, "equal"))
    return rows


def residuals(panel: Axes, size: str) -> None:
    """Draw the residuals of the twentieth step after each iteration."""
    for name, color in COLORS.items():
        norms: list[float] = []
        for allowed in np.logspace(-2, -13, 12 if size == fig.QUICK else 34):
            method = falling(name)
            steps_of(method, 19)
            method.tolerance = float(allowed)
            method.step()
            if method.iterations >= len(norms):
                norms += [float(allowed)] * (method.iterations + 1 - len(norms))
            norms[method.iterations] = float(allowed)
        panel.semilogy(norms, "o-", color=color, label=name)
    panel.set(xlabel="iteration", ylabel="residual at most [N m s]")


def iterations(panel: Axes, size: str) -> list[Row]:
    """Draw evaluations of every step; return their means."""
    rows: list[Row] = []
    for name, printed in (("newton", "4 ± 0"), ("riqn", "5.69 ± 1.16"), ("broyden", "")):
        method, found = falling(name), []
        for _ in range(100 if size == fig.QUICK else 1000):
            method.step()
            found.append(method.iterations + 1)
        panel.plot(found, ".", markersize=2, color=COLORS[name], label=name)
        rows.append(("4b", f"{name}: mean evaluations of a step", float(np.mean(found)), printed))
        rows.append(("4b", f"{name}: their deviation", float(np.std(found)), ""))
    panel.set(xlabel="step", ylabel="evaluations")
    return rows


def main(out: str = "lee_chain.png", size: str = fig.PAGE) -> dict[str, float]:
    """Draw the four panels; print and return the numbers under them."""
    titles = ["2  energy", "3  times", "4a  convergence", "4b  evaluations of a step"]
    figure, (a, b, c, d) = fig.panels(2, 2, titles)
    residuals(c, size)
    rows = energy(a, size) + times(b, size) + iterations(d, size)
    fig.save(figure, out)
    fig.report("LEE Figs. 2 to 4", ["figure", "quantity", "here", "paper"], rows)
    return {quantity: found for _, quantity, found, _ in rows}


if __name__ == "__main__":
    fig.command(main)

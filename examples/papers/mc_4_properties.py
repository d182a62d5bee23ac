"""MC Fig. 4: energy over an hour, drift of a loop, time of a Newton step, residuals of a step.

a  double pendulum, 10 ms: vigym, and Heun's explicit method in joint coordinates.
b  loop of four links, 10 ms: vigym, and Runge-Kutta 4 with rows of accelerations.
c  one linear system of a chain: sparse L D L' against a dense factorisation (LAPACK).
d  largest scaled residual after each iteration of one step: 1, 10 and 100 links that fall.
"""

from __future__ import annotations

from functools import partial

import _figure as fig
import numpy as np
from _loop_rows import LoopRows
from _mechanisms import chain, linkage
from matplotlib.axes import Axes

import vigym
from vigym.baselines import Method, Multipliers, Product, sparse
from vigym.baselines.compare import Setting, compare

STEP = 0.01  # [s]
SECONDS = {fig.QUICK: 60.0, fig.PAGE: 3600.0, fig.FULL: 3600.0}  # of a
LINKS = {
    fig.QUICK: (4, 16),
    fig.PAGE: (2, 5, 10, 20, 50, 100, 200),
    fig.FULL: (2, 5, 10, 20, 50, 100, 200),
}
LOOP = [(0.0, 0.0), (-0.3, -0.9), (0.3, -1.5), (0.9, -0.8), (0.8, 0.0)]  # four links on the world
Row = tuple[str, str, float | list[float], str]  # panel, quantity, here, in the paper


def energy(panel: Axes, size: str) -> list[Row]:
    """Draw and return energy errors of a double pendulum that falls from the side."""
    setting = Setting(STEP, SECONDS[size])
    lines: list[Row] = []
    for run, color in zip(
        compare(chain(2, np.pi / 2), ["vigym", "heun"], setting),
        (fig.OURS, fig.THEIRS),
        strict=True,
    ):
        panel.plot(run.times / 60.0, run.energies, color=color, label=run.method, linewidth=0.7)
        early, *_, late = (float(part.mean()) for part in np.array_split(run.energies[1:], 10))
        lines.append(("a", f"{run.method}: mean error of the first tenth [J]", early, ""))
        printed = "constant" if run.method == "vigym" else "grows"
        lines.append(("a", f"{run.method}: mean error of the last tenth [J]", late, printed))
    panel.set(xlabel="time [min]", ylabel="energy minus initial energy [J]")
    panel.set_yscale("symlog", linthresh=0.1)
    return lines


def drift(panel: Axes, size: str) -> list[Row]:
    """Draw and return the gap of a loop of four links over time."""
    lines: list[Row] = []
    ours = Product(linkage(LOOP, closed=True), STEP)
    methods: dict[str, Method] = {
        "vigym": ours,
        "rows of accelerations": LoopRows(linkage(LOOP), STEP),
    }
    for (name, method), color in zip(methods.items(), (fig.OURS, fig.THEIRS), strict=True):
        gaps = []
        for _ in range(200 if size == fig.QUICK else 1000):
            method.step()
            gaps.append(method.gap())
        times = STEP * np.arange(1, len(gaps) + 1)
        panel.semilogy(times, np.maximum(gaps, 1e-17), color=color, label=name)
        printed = "none" if name == "vigym" else "grows"
        lines.append(("b", f"{name}: gap at the end [m]", gaps[-1], printed))
    panel.set(xlabel="time [s]", ylabel="gap of the loop [m]")
    return lines


def dense(blocks: sparse.Blocks) -> np.ndarray:
    """Return the matrix of which `blocks` has the upper triangle, a row of blocks after another."""
    first = np.append(0, np.cumsum(blocks.size))
    H = np.zeros((first[-1], first[-1]))
    for i, (parent, size) in enumerate(zip(blocks.parent, blocks.size, strict=True)):
        rows = slice(first[i], first[i + 1])
        H[rows, rows] = blocks.diagonal[i, :size, :size]
        if parent >= 0:
            columns = slice(first[parent], first[parent + 1])
            H[rows, columns] = blocks.beside[i, :size, : blocks.size[parent]]
            H[columns, rows] = H[rows, columns].T
    return H


def solve(blocks: sparse.Blocks, z: np.ndarray) -> np.ndarray:
    """Return the solution of a sparse system, factors included."""
    return np.asarray(sparse.sparse_solve(sparse.sparse_factor(blocks), z))


def newton_step(panel: Axes, size: str) -> list[Row]:
    """Draw and return times of one linear system of chains, sparse and dense."""
    times = []
    for count in LINKS[size]:
        method = Multipliers(chain(count, np.pi / 2))
        method.step()
        blocks = method.system.H
        H = dense(blocks)
        z, right = np.ones((len(blocks.parent), 6)), np.ones(len(H))

        runs = [
            fig.repeated(partial(solve, blocks, z)),
            fig.repeated(partial(np.linalg.solve, H, right)),
        ]
        times.append(fig.step_times(runs, 1 if size == fig.QUICK else 3))
    found = 1e3 * np.array(times)
    for column, label, color in ((0, "sparse", fig.OURS), (1, "dense", fig.THEIRS)):
        panel.loglog(LINKS[size], found[:, column], "o-", color=color, label=label)
    fig.over(panel, LINKS[size], "links", "linear system of a Newton step [ms]")
    return [
        ("c", f"{n} links: dense / sparse", float(b / a), "")
        for n, (a, b) in zip(LINKS[size], found, strict=True)
    ]


def history(count: int) -> list[float]:
    """Return the residual after each iteration of one step: that of a step which stops there."""
    residuals, tolerance = [1.0], 0.9
    while residuals[-1] > 1e-14:
        sim = vigym.Simulator(chain(count, np.pi / 2), STEP, tolerance=tolerance)
        sim.reset(velocities={"world-rod0": 1.0})
        status = sim.step()
        if len(residuals) > 1 and status.residual >= residuals[-1]:
            break
        residuals.append(float(status.residual))
        tolerance = max(1e-14, 0.9 * residuals[-1])
    return residuals[1:]


def convergence(panel: Axes) -> list[Row]:
    """Draw and return the residuals of one step."""
    lines: list[Row] = []
    for count, color in zip((1, 10, 100), (fig.OURS, fig.THEIRS, fig.THIRD), strict=True):
        residuals = history(count)
        panel.semilogy(np.maximum(residuals, 1e-17), "o-", color=color, label=f"{count} links")
        lines.append(("d", f"{count} links: residuals", residuals, "quadratic"))
    panel.axhline(1e-10, color="grey", linewidth=0.8)
    panel.set(xlabel="iteration", ylabel="largest scaled residual", xticks=range(5))
    return lines


def main(out: str = "mc_4_properties.png", size: str = fig.PAGE) -> dict[str, float | list[float]]:
    """Draw the four panels; print and return the numbers under them."""
    titles = ["a  energy", "b  drift of a loop", "c  sparse and dense", "d  convergence"]
    figure, axes = fig.panels(2, 2, titles)
    lines = energy(axes[0], size) + drift(axes[1], size)
    lines += newton_step(axes[2], size) + convergence(axes[3])
    fig.save(figure, out)
    fig.report("MC Fig. 4", ["panel", "quantity", "here", "paper"], lines)
    return {quantity: found for _, quantity, found, _ in lines}


if __name__ == "__main__":
    fig.command(main)

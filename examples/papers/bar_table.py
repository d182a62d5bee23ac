"""BAR section 9: multipliers of chains and of a binary tree, by sparse factors and densely.

108 multipliers; 96 and 12 auxiliary ones; 96 and 3; 381 of 127 bodies (Fig. 3), all of ball joints;
auxiliary rows over bodies, and the gap of a four-bar over 100 s without and with Baumgarte's
feedback. Times are those of this machine beside those printed for an R4400 of 250 MHz: compare
ratios. Rows of J are NumPy, factors compiled, dense matrices LAPACK's.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import _figure as fig
import numpy as np
from _mechanisms import binary_tree, chain, linkage
from matplotlib.axes import Axes

import vigym
from vigym.baselines import METHODS, Multipliers
from vigym.baselines.multipliers import Auxiliary, MaximalSystem
from vigym.baselines.sparse import sparse_factor, sparse_solve

FOUR_BAR = [(0.0, 0.0), (-0.2, -0.9), (0.9, -1.2), (1.2, 0.0)]
SECONDS = {fig.QUICK: 5.0, fig.PAGE: 100.0, fig.FULL: 100.0}  # of the drift
BODIES = {fig.QUICK: (10, 20), fig.PAGE: (50, 100, 200, 400), fig.FULL: (50, 100, 200, 400)}
AUXILIARY = (1, 3, 12, 48)


def tied(count: int, ties: int) -> vigym.Mechanism:
    """Return a chain on ball joints of which some bodies are tied to the world."""
    mech = chain(count, 0.0, 0.3, "spherical")
    for k in range(1, ties + 1):
        i = k * count // ties - 1
        place = (0.05, 0.02 * k, -0.3 * (i + 0.7))
        mech.add_joint(f"tie{k}", "spherical", "world", f"rod{i}", place)
    return mech


def placed(mech: vigym.Mechanism) -> MaximalSystem:
    """Return the system of a mechanism at its pose."""
    method = Multipliers(mech)
    method.step()
    return method.system


def dense(system: MaximalSystem) -> Callable[[], object]:
    """Return a function that makes and factorises J M^-1 J' of the tree, all dense."""
    J = system.rows.matrix(system.primary)
    answers = system.answers(J)
    rows, columns = J.reshape(len(J), -1), answers.reshape(len(J), -1).T
    return lambda: np.linalg.cholesky(rows @ columns)


def residual(system: MaximalSystem, z: np.ndarray) -> float:
    """Return the largest error of H x = z by the sparse factors."""
    H, x = system.H, sparse_solve(system.factors, z)
    product = np.einsum("nij,nj->ni", H.diagonal, x) - z
    for i, k in enumerate(H.parent):
        if k >= 0:
            product[i] += H.beside[i] @ x[k]
            product[k] += x[i] @ H.beside[i]
    return float(np.abs(product).max())


def measured(mech: vigym.Mechanism, general: int) -> tuple[str, list[float]]:
    """Return the number of multipliers, times [ms] of the four jobs, residual of a solution."""
    system = placed(mech)
    z = np.where(np.arange(6) < system.H.size[:, None], 1.0, 0.0)
    loops = system.rows.matrix(~system.primary)
    extra = np.random.default_rng(0).normal(size=(general, *loops.shape[1:]))
    pushes = np.concatenate([loops, extra])
    jobs = [
        partial(sparse_factor, system.H),
        partial(sparse_solve, system.factors, z),
        partial(Auxiliary, system, pushes) if len(pushes) else dict,
        dense(system),
    ]
    times = fig.step_times([fig.repeated(job) for job in jobs], 3)
    found = [*(1e3 * t for t in times), residual(system, z)]
    return f"{int(system.primary.sum())} + {len(pushes)}", found


def systems(panel: Axes, size: str) -> list[list[str | float]]:
    """Draw times over multipliers; return the rows of the table."""
    balls = partial(chain, angle=0.0, length=0.3, kind="spherical")
    cases = [
        ("chain", balls(36), 0, "7.75 - 2.75 ms"),
        ("chain, 4 ties", tied(32, 4), 0, "about 25 - 2.75 ms"),
        ("chain, 3 rows", balls(32), 3, "18 - 4.4 ms, dense x 2"),
        ("binary tree", binary_tree(7), 0, "44.6 - 4 ms, dense x 40"),
        ("chain", balls(127), 0, ""),
        ("chain", balls(254), 0, ""),
    ]
    rows: list[list[str | float]] = []
    for name, mech, general, printed in cases[: 3 if size == fig.QUICK else None]:
        count, times = measured(mech, general)
        factor, solution, auxiliary, whole, error = times
        ratios = [factor / solution, whole / (factor + solution), error]
        rows.append([name, count, factor, solution, auxiliary, whole, *ratios, printed])
    chains = [row for row in rows if row[0] == "chain"]
    sizes = [int(str(row[1]).split()[0]) for row in chains]
    for column, label, color in (
        (2, "factors", fig.OURS),
        (3, "solution", fig.THIRD),
        (5, "dense", fig.THEIRS),
    ):
        panel.loglog(sizes, [row[column] for row in chains], "o-", color=color, label=label)
    fig.over(panel, sizes, "multipliers of a chain", "ms")
    return rows


def auxiliary(panel: Axes, size: str) -> list[list[str | float]]:
    """Draw times of auxiliary rows over bodies; return them."""
    rows: list[list[str | float]] = []
    for count in BODIES[size]:
        system = placed(chain(count, 0.0, 0.3, "spherical"))
        draw = np.random.default_rng(0).normal(size=(max(AUXILIARY), count + 1, 6))
        runs = [fig.repeated(partial(Auxiliary, system, draw[:k].copy())) for k in AUXILIARY]
        rows.append([str(count), *(1e3 * t for t in fig.step_times(runs, 2))])
    for k, column in zip(AUXILIARY, list(zip(*rows, strict=True))[1:], strict=True):
        panel.loglog(BODIES[size], column, "o-", label=f"{k} rows")
    fig.over(panel, BODIES[size], "bodies", "ms")
    return rows


def drift(panel: Axes, size: str) -> list[list[str | float]]:
    """Draw gaps of a four-bar; return them at three times."""
    rows: list[list[str | float]] = []
    for name, color in (("multipliers", fig.THEIRS), ("baumgarte", fig.THIRD), ("vigym", fig.OURS)):
        method = METHODS[name](linkage(FOUR_BAR, closed=True), 0.01)
        gaps = []
        for _ in range(round(SECONDS[size] / 0.01)):
            method.step()
            gaps.append(method.gap())
        times = 0.01 * np.arange(1, len(gaps) + 1)
        panel.loglog(times[::10], np.maximum(gaps, 1e-17)[::10], color=color, label=name)
        rows.append([name, *(gaps[len(gaps) // part - 1] for part in (100, 10, 1))])
    panel.set(xlabel="time [s]", ylabel="gap [m]")
    return rows


def main(out: str = "bar_table.png", size: str = fig.PAGE) -> dict[str, list[list[str | float]]]:
    """Draw three panels; print and return the three tables."""
    figure, (a, b, c) = fig.panels(1, 3, ["multipliers", "auxiliary rows", "drift of a four-bar"])
    found = {"systems": systems(a, size), "auxiliary": auxiliary(b, size), "drift": drift(c, size)}
    fig.save(figure, out)
    head = ["system", "multipliers", "factors", "solution", "auxiliary", "dense"]
    head += ["factors / solution", "dense / sparse", "residual", "BAR, without rows of J"]
    fig.report("BAR 9 [ms]; in the paper factors / solution is about 4", head, found["systems"])
    head = ["bodies", *(f"{k} rows" for k in AUXILIARY)]
    fig.report("\nauxiliary rows [ms]: O(n k) + O(k^3)", head, found["auxiliary"])
    ends = [f"{SECONDS[size] / part:g} s" for part in (100, 10, 1)]
    fig.report("\ngap of a four-bar, step 10 ms [m]", ["method", *ends], found["drift"])
    return found


if __name__ == "__main__":
    fig.command(main)

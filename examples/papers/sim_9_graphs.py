"""SIM Fig. 9b-d: bodies on ball joints along the edges of a ladder, a net and a crystal.

Time of an iteration of vigym's step, with every loop eliminated where it closes ("local") and with
all loops in one dense node ("tail"); beside them a dense system of 6 n numbers, as in the paper, by
LAPACK. Joints are a little off the lattice's edges, so that poses are general.
"""

from __future__ import annotations

from functools import partial
from itertools import product

import _figure as fig
import numpy as np

import vigym

STEP, NOISE = 0.01, 0.05  # [s]; of places [m]
SHAPES: dict[str, dict[str, list[tuple[int, ...]]]] = {
    "ladder": {
        fig.QUICK: [(2, 3), (2, 6)],
        fig.PAGE: [(2, n) for n in (2, 5, 10, 20, 40)],
        fig.FULL: [(2, n) for n in (2, 5, 10, 20, 40, 80)],
    },
    "net": {
        fig.QUICK: [(2, 2), (3, 3)],
        fig.PAGE: [(n, n) for n in (2, 3, 5, 7, 9)],
        fig.FULL: [(n, n) for n in (2, 3, 5, 7, 9, 12)],
    },
    "crystal": {
        fig.QUICK: [(2, 2, 2)],
        fig.PAGE: [(n, n, n) for n in (2, 3, 4)],
        fig.FULL: [(n, n, n) for n in (2, 3, 4, 5, 6)],
    },
}
METHODS = {"local": fig.OURS, "tail": fig.THIRD, "dense, 6 n numbers": fig.THEIRS}


def lattice(shape: tuple[int, ...]) -> vigym.Mechanism:
    """Return bodies at the points of a lattice, its edges ball joints; one hangs on the world."""
    draw = np.random.default_rng(0)
    places = {
        node: np.append(node, [0] * (3 - len(node))) + NOISE * draw.normal(size=3)
        for node in product(*map(range, shape))
    }
    mech = vigym.Mechanism()
    for node, place in places.items():
        mech.add_body(str(node), 1.0, (0.1, 0.1, 0.1), place)
    first = next(iter(places))
    mech.add_joint("hang", "spherical", "world", str(first), places[first] + (0.0, 0.0, 0.3))
    for node, place in places.items():
        for step in np.eye(len(shape), dtype=int):
            other = tuple(int(k) for k in np.add(node, step))
            if other in places:
                between = (place + places[other]) / 2 + NOISE * draw.normal(size=3)
                mech.add_joint(f"{node}{other}", "spherical", str(node), str(other), between)
    return mech


def times_of(shape: tuple[int, ...], repeats: int) -> list[float]:
    """Return the times of an iteration [ms], local and tail, and of a dense system."""
    mech, steps = lattice(shape), 3
    iterations = []
    runs: list[fig.Run] = []
    for loops in ("local", "tail"):
        sim = vigym.Simulator(mech, STEP, loops=loops)
        status = sim.step(substeps=steps)
        assert status.converged
        iterations.append(int(status.iterations))
        runs.append((sim.reset, partial(sim.step, substeps=steps), 1))
    matrix = np.random.default_rng(0).normal(size=(6 * len(mech.bodies),) * 2)
    runs.append(fig.repeated(partial(np.linalg.solve, matrix, matrix[0])))
    times = fig.step_times(runs, repeats)
    return [1e3 * t / n for t, n in zip(times, [*iterations, 1], strict=True)]


def main(out: str = "sim_9_graphs.png", size: str = fig.PAGE) -> dict[str, list[list[float]]]:
    """Draw and print; return times [ms] of the methods, by graph and number of bodies."""
    figure, axes = fig.panels(
        1, 3, [f"{letter}  {g}" for letter, g in zip("bcd", SHAPES, strict=True)]
    )
    found, rows = {}, []
    for panel, (graph, shapes) in zip(axes, SHAPES.items(), strict=True):
        counts = [int(np.prod(shape)) for shape in shapes[size]]
        times = [times_of(shape, 1 if size == fig.QUICK else 3) for shape in shapes[size]]
        found[graph] = times
        for (name, color), column in zip(METHODS.items(), np.transpose(times), strict=True):
            panel.loglog(counts, column, "o-", color=color, label=name)
        fig.over(panel, counts, "bodies", "ms")
        for count, (local, tail, dense) in zip(counts, times, strict=True):
            rows.append([graph, str(count), local, tail, dense, dense / local])
    fig.save(figure, out)
    head = ["graph", "bodies", "local [ms]", "tail", "dense, 6 n", "dense / local"]
    title = "SIM Fig. 9b-d; in the paper often above 100, below 1 for a crystal of 216 bodies"
    fig.report(title, head, rows)
    return found


if __name__ == "__main__":
    fig.command(main)

"""SI Figs. 1 to 4: chains of tori, a windmill, tori on a Bezier curve, a board on a Bezier surface.

Each in vigym's step, by curve and surface joints: a picture, the energy, and gaps. The table has
the chains of SI's Table 1, and longer ones: the time of a step is linear in their tori.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import _figure as fig
import numpy as np
from _surfaces import board, spline_chain, torus_chain, turning, windmill
from matplotlib.axes import Axes

import vigym
from vigym.render.make import make_renderer

SECONDS = {fig.QUICK: 0.2, fig.PAGE: 20.0, fig.FULL: 1000.0}
COUNTS = {fig.QUICK: (3, 6), fig.PAGE: (10, 20, 40, 80), fig.FULL: (10, 20, 40, 80)}
PRINTED = {10: "0.055", 20: "0.115"}  # forward dynamics in the paper [ms]
STEPS = 100  # of a measurement of time
STEP = 0.002  # [s] of the chains
HEAD = ["system", "degrees of freedom", "energy error [J]", "gap", "step [ms]", "SI [ms]"]


class System(NamedTuple):
    """Mechanism of a figure, its start, and the size of its steps [s]."""

    title: str
    mechanism: vigym.Mechanism
    velocities: dict[str, Any]
    timestep: float


def systems(size: str) -> list[System]:
    """Return the systems of the four figures."""
    few = size == fig.QUICK
    mill, tori = windmill(1 if few else 3), torus_chain(3 if few else 20)
    rail = spline_chain(2 if few else 5)
    return [
        System("SI Fig. 1: torus chain", tori, {"pin": (0.5, 0.3)}, STEP),
        System("SI Fig. 2: windmill", mill, dict(turning(mill, 4.0)), 0.01),
        System("SI Fig. 3: tori on a curve", rail, {}, 0.005),
        System("SI Fig. 4: board on a surface", board(), {}, 0.005),
    ]


def play(system: System, seconds: float) -> tuple[list[float], float, vigym.Simulator]:
    """Return energies minus the first one [J], ten a second, the largest gap and the simulator."""
    sim = vigym.Simulator(system.mechanism, system.timestep)
    sim.reset(velocities=system.velocities)
    start = sim.energy().total
    errors, gap = [0.0], 0.0
    for _ in range(round(10 * seconds)):
        assert sim.step(substeps=round(0.1 / system.timestep)).converged
        errors.append(sim.energy().total - start)
        gap = max(gap, float(sim.constraint_residual()))
    return errors, gap, sim


def draw(panel: Axes, system: System, sim: vigym.Simulator) -> None:
    """Draw the bodies where they are."""
    renderer = make_renderer(system.mechanism, "rgb_array", width=420, height=340)
    states = sim.body_states
    panel.imshow(np.asarray(renderer.render(states[:, :3], states[:, 3:7])))
    panel.axis("off")


def chain_rows(size: str) -> list[list[float | str]]:
    """Return the rows of chains of tori: freedoms, energy error, gap, times."""
    sims = [vigym.Simulator(torus_chain(count), STEP) for count in COUNTS[size]]
    starts = [partial(sim.reset, velocities={"pin": (0.5, 0.3)}) for sim in sims]
    runs = [
        (start, partial(sim.step, substeps=STEPS), STEPS)
        for start, sim in zip(starts, sims, strict=True)
    ]
    times = fig.step_times(runs, 1 if size == fig.QUICK else 5)
    rows: list[list[float | str]] = []
    for count, sim, each in zip(COUNTS[size], sims, times, strict=True):
        system = System("", sim.mechanism, {"pin": (0.5, 0.3)}, STEP)
        errors, gap, _ = play(system, min(SECONDS[size], 10.0))
        freedoms, error = float(sim.mechanism.degrees_of_freedom), float(np.abs(errors).max())
        rows.append([f"TC{count}", freedoms, error, gap, 1e3 * each, PRINTED.get(count, "")])
    return rows


def main(out: str = "si_surfaces.png", size: str = fig.PAGE) -> list[list[float | str]]:
    """Draw the systems and their energies; print and return the table under them."""
    played = systems(size)
    titles = [system.title for system in played]
    figure, panels = fig.panels(2, 4, titles + ["energy"] * 4)
    rows = chain_rows(size)
    for picture, panel, system in zip(panels[:4], panels[4:], played, strict=True):
        errors, gap, sim = play(system, SECONDS[size])
        draw(picture, system, sim)
        panel.plot(0.1 * np.arange(len(errors)), errors, color=fig.OURS, linewidth=0.8)
        panel.set(xlabel="time [s]", ylabel="energy minus initial energy [J]")
        freedoms, error = float(system.mechanism.degrees_of_freedom), float(np.abs(errors).max())
        title = system.title.partition(": ")[2]
        rows.append([title, freedoms, error, gap, "", "0.108" if title == "windmill" else ""])
    fig.save(figure, out)
    fig.report(
        "SI Figs. 1 to 4, Table 1: energies and gaps of steps that all converged", HEAD, rows
    )
    return rows


if __name__ == "__main__":
    fig.command(main)

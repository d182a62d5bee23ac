"""Pictures of scores: returns, trajectories, residuals, and where the energy of an episode went."""

from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from vigym.evaluation.episodes import Episode
from vigym.evaluation.evaluate import Evaluation

PLACE = ("x_position", "y_position")
TRACES = (
    "time", *PLACE, "joint_positions", "energy_kinetic", "energy_potential", "work_actuator", "dissipated",
    "energy_balance", "constraint_residual_max",
)  # fmt: skip
ACROSS = 4  # panels in a row
SMALLEST = 1e-17  # what is exactly zero is drawn here
LINES = ("-", "--", ":", "-.")  # of the joints, in turn


def draw(evaluations: list[Evaluation], path: str | Path) -> None:
    """Write a picture of evaluations that kept `TRACES`: a colour for each, a panel for the energy of each.

    Raises:
        ValueError: an evaluation without these traces.
    """
    for one in evaluations:
        if "time" not in one.rows[0].traces:
            raise ValueError(f"evaluation of {one.controller!r}: found no traces, expected traces=plots.TRACES")
    below = ceil(len(evaluations) / ACROSS)
    figure = Figure(figsize=(16.0, 3.9 * (1 + below)), layout="constrained")
    figure.suptitle(evaluations[0].id)
    rows = figure.subfigures(1 + below, 1, squeeze=False)[:, 0]
    scores, ways, balances, gaps = rows[0].subplots(1, ACROSS)
    _returns(scores, evaluations)
    _trajectories(ways, evaluations)
    _size(balances, evaluations, "energy_balance", "|energy balance|", "J")
    _size(gaps, evaluations, "constraint_residual_max", "constraint residual", "m, rad")
    for first, row in zip(range(0, len(evaluations), ACROSS), rows[1:], strict=True):
        shown = evaluations[first : first + ACROSS]
        for ax, one in zip(row.subplots(1, len(shown), squeeze=False)[0], shown, strict=True):
            _energy(ax, one)
    figure.savefig(path, dpi=100)


def _returns(ax: Axes, evaluations: list[Evaluation]) -> None:
    """Every episode a point, mean and standard deviation beside them."""
    for column, one in enumerate(evaluations):
        values = one.column("return_")
        ax.plot(np.full(len(values), column), values, "o", color=f"C{column}", alpha=0.4, markersize=5)
        ax.errorbar(column + 0.2, values.mean(), values.std(), fmt="s", color=f"C{column}", capsize=4)
    names = [one.controller.replace(",", "\n") for one in evaluations]
    ax.set(title="return of each episode; mean and deviation", xticks=range(len(names)), xticklabels=names)
    ax.set_xlim(-0.5, len(names) - 0.3)


def _trajectories(ax: Axes, evaluations: list[Evaluation]) -> None:
    """Ways on the ground of all episodes; of what stays in its place the joints of the first."""
    walks = set(PLACE) <= set(evaluations[0].rows[0].traces)
    for column, one in enumerate(evaluations):
        colour: dict[str, Any] = {"color": f"C{column}", "linewidth": 1.0}
        for row, episode in enumerate(one.rows if walks else one.rows[:1]):
            name = one.controller if row == 0 else None
            if walks:
                ax.plot(*(episode.traces[axis] for axis in PLACE), label=name, alpha=0.6, **colour)
            else:
                _joints(ax, episode, name, colour)
    if walks:
        ax.set(title="way of every episode", xlabel="x [m]", ylabel="y [m]", aspect="equal", adjustable="datalim")
    else:
        ax.set(title=f"joint positions, seed {evaluations[0].rows[0].seed}", xlabel="time [s]", ylabel="rad, m")
    ax.legend(fontsize="small")


def _joints(ax: Axes, episode: Episode, name: str | None, colour: dict[str, Any]) -> None:
    for joint, positions in enumerate(episode.traces["joint_positions"].T):
        style = LINES[joint % len(LINES)]
        ax.plot(episode.traces["time"], positions, style, label=name if joint == 0 else None, **colour)


def _size(ax: Axes, evaluations: list[Evaluation], quantity: str, title: str, unit: str) -> None:
    """The size of a quantity over the first episode, on a logarithmic axis."""
    for column, one in enumerate(evaluations):
        traces = one.rows[0].traces
        sizes = np.maximum(np.abs(traces[quantity][1:]), SMALLEST)  # at the start it is zero
        ax.semilogy(traces["time"][1:], sizes, color=f"C{column}", linewidth=1.0, label=one.controller)
    ax.set(title=f"{title}, seed {evaluations[0].rows[0].seed}", xlabel="time [s]", ylabel=unit)
    ax.legend(fontsize="small")


def _energy(ax: Axes, one: Evaluation) -> None:
    """Changes of the energies, and what the motors gave and dampers, friction and contacts took."""
    traces, seed = one.rows[0].traces, one.rows[0].seed
    time, balance = traces["time"], traces["energy_balance"]
    for name, label in (("energy_kinetic", "kinetic"), ("energy_potential", "potential")):
        ax.plot(time, traces[name] - traces[name][0], label=f"{label}, change", linewidth=1.2)
    ax.plot(time, traces["work_actuator"], label="work of the motors", linewidth=1.2)
    ax.plot(time, traces["dissipated"], label="dissipated", linewidth=1.2)
    ax.plot(time, balance, "k", label=f"balance, {np.abs(balance).max():.0e} J at most", linewidth=1.2)
    ax.set(title=f"energy: {one.controller}, seed {seed}", xlabel="time [s]", ylabel="J")
    ax.legend(fontsize="small")

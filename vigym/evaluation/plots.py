"""Plots of evaluations: returns, trajectories, residuals and energies."""

from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from vigym.evaluation.episodes import Episode
from vigym.evaluation.evaluate import Evaluation

POSITION = ("x_position", "y_position")
TRACES = (
    "time",
    *POSITION,
    "joint_positions",
    "energy_kinetic",
    "energy_potential",
    "work_actuator",
    "dissipated",
    "energy_balance",
    "constraint_residual_max",
)
COLUMNS = 4  # panels in a row
FLOOR = 1e-17  # value of exact zeros on a logarithmic axis
LINES = ("-", "--", ":", "-.")  # line styles of the joints, in turn


def draw(evaluations: list[Evaluation], path: str | Path) -> None:
    """Write a plot of evaluations with `TRACES`: a colour and an energy panel for each.

    Raises:
        ValueError: an evaluation without these traces.
    """
    for one in evaluations:
        if "time" not in one.rows[0].traces:
            found = f"evaluation of {one.controller!r}: found no traces"
            raise ValueError(f"{found}, expected traces=plots.TRACES")
    below = ceil(len(evaluations) / COLUMNS)
    figure = Figure(figsize=(16.0, 3.9 * (1 + below)), layout="constrained")
    figure.suptitle(evaluations[0].id)
    rows = figure.subfigures(1 + below, 1, squeeze=False)[:, 0]
    returns, trajectories, balances, residuals = rows[0].subplots(1, COLUMNS)
    _plot_returns(returns, evaluations)
    _plot_trajectories(trajectories, evaluations)
    _plot_magnitude(balances, evaluations, "energy_balance", "|energy balance|", "J")
    _plot_magnitude(
        residuals, evaluations, "constraint_residual_max", "constraint residual", "m, rad"
    )
    for first, row in zip(range(0, len(evaluations), COLUMNS), rows[1:], strict=True):
        shown = evaluations[first : first + COLUMNS]
        for ax, one in zip(row.subplots(1, len(shown), squeeze=False)[0], shown, strict=True):
            _plot_energy(ax, one)
    figure.savefig(path, dpi=100)


def _plot_returns(ax: Axes, evaluations: list[Evaluation]) -> None:
    """Plot a point for every episode, mean and standard deviation beside them."""
    for column, one in enumerate(evaluations):
        values = one.column("return_")
        ax.plot(
            np.full(len(values), column), values, "o", color=f"C{column}", alpha=0.4, markersize=5
        )
        ax.errorbar(
            column + 0.2, values.mean(), values.std(), fmt="s", color=f"C{column}", capsize=4
        )
    names = [one.controller.replace(",", "\n") for one in evaluations]
    title = "return of each episode; mean and std"
    ax.set(title=title, xticks=range(len(names)), xticklabels=names)
    ax.set_xlim(-0.5, len(names) - 0.3)


def _plot_trajectories(ax: Axes, evaluations: list[Evaluation]) -> None:
    """Plot the paths on the ground of all episodes, else the joint positions of the first."""
    moves = set(POSITION) <= set(evaluations[0].rows[0].traces)
    for column, one in enumerate(evaluations):
        colour: dict[str, Any] = {"color": f"C{column}", "linewidth": 1.0}
        for row, episode in enumerate(one.rows if moves else one.rows[:1]):
            name = one.controller if row == 0 else None
            if moves:
                path = (episode.traces[axis] for axis in POSITION)
                ax.plot(*path, label=name, alpha=0.6, **colour)
            else:
                _plot_joints(ax, episode, name, colour)
    if moves:
        ax.set(title="path of every episode", xlabel="x [m]", ylabel="y [m]")
        ax.set_aspect("equal", adjustable="datalim")
    else:
        title = f"joint positions, seed {evaluations[0].rows[0].seed}"
        ax.set(title=title, xlabel="time [s]", ylabel="rad, m")
    ax.legend(fontsize="small")


def _plot_joints(ax: Axes, episode: Episode, name: str | None, colour: dict[str, Any]) -> None:
    for joint, positions in enumerate(episode.traces["joint_positions"].T):
        style, label = LINES[joint % len(LINES)], name if joint == 0 else None
        ax.plot(episode.traces["time"], positions, style, label=label, **colour)


def _plot_magnitude(
    ax: Axes, evaluations: list[Evaluation], quantity: str, title: str, unit: str
) -> None:
    """Plot the absolute value of a quantity over the first episode, on a logarithmic axis."""
    for column, one in enumerate(evaluations):
        traces = one.rows[0].traces
        magnitude = np.maximum(np.abs(traces[quantity][1:]), FLOOR)  # at the start it is zero
        style: dict[str, Any] = {"color": f"C{column}", "linewidth": 1.0}
        ax.semilogy(traces["time"][1:], magnitude, label=one.controller, **style)
    seed = evaluations[0].rows[0].seed
    ax.set(title=f"{title}, seed {seed}", xlabel="time [s]", ylabel=unit)
    ax.legend(fontsize="small")


def _plot_energy(ax: Axes, one: Evaluation) -> None:
    """Plot energy changes, actuator work, dissipated energy and their balance."""
    traces, seed = one.rows[0].traces, one.rows[0].seed
    time, balance = traces["time"], traces["energy_balance"]
    for name, label in (("energy_kinetic", "kinetic"), ("energy_potential", "potential")):
        ax.plot(time, traces[name] - traces[name][0], label=f"{label}, change", linewidth=1.2)
    ax.plot(time, traces["work_actuator"], label="actuator work", linewidth=1.2)
    ax.plot(time, traces["dissipated"], label="dissipated", linewidth=1.2)
    largest = np.abs(balance).max()
    ax.plot(time, balance, "k", label=f"balance, {largest:.0e} J at most", linewidth=1.2)
    ax.set(title=f"energy: {one.controller}, seed {seed}", xlabel="time [s]", ylabel="J")
    ax.legend(fontsize="small")

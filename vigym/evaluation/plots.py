"""Plots of evaluations: returns, trajectories, residuals and energies."""

from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from vigym.evaluation.episodes import Episode
from vigym.evaluation.evaluate import Evaluation
from vigym.files import whole_file

POSITION = ("x_position", "y_position")
TRACES = (
    "time",
    *POSITION,
    "joint_positions",
    "joint_velocities",
    "energy_kinetic",
    "energy_potential",
    "work_actuator",
    "dissipated",
    "energy_balance",
    "constraint_residual_max",
)
COLUMNS = 4  # panels in a row
WIDTH, HEIGHT = 16.0, 3.9  # of the figure, and of a row of panels [inch]
LINE = 0.25  # height of a line of the legend [inch]
LETTERS = 176  # that have room beside each other in the figure's width
NAMES = 24  # letters of the names that have room below the returns, side by side
LONGEST = 60  # letters of a name
TICKS = 20  # largest number of ticks of the returns
FLOOR = 1e-17  # value of exact zeros on a logarithmic axis
QUATERNIONS = "; ball joints: quaternions"  # after the units of joint positions
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
    names = _names(evaluations)
    in_line = max(1, LETTERS // (max(map(len, names)) + 8))
    below = ceil(len(evaluations) / COLUMNS)
    heights = [HEIGHT + LINE * ceil(len(names) / in_line), *[HEIGHT] * below]
    figure = Figure(figsize=(WIDTH, sum(heights)), layout="constrained")
    figure.suptitle(evaluations[0].id)
    rows = figure.subfigures(1 + below, 1, squeeze=False, height_ratios=heights)[:, 0]
    returns, trajectories, balances, residuals = rows[0].subplots(1, COLUMNS)
    _plot_returns(returns, evaluations, names)
    _plot_trajectories(trajectories, evaluations)
    _plot_magnitude(balances, evaluations, "energy_balance", "|energy balance|", "J")
    _plot_magnitude(
        residuals, evaluations, "constraint_residual_max", "constraint residual", "m, rad"
    )
    lines = [Line2D([], [], color=f"C{column}") for column in range(len(names))]
    rows[0].legend(lines, names, loc="outside lower center", ncols=in_line)
    for first, row in zip(range(0, len(evaluations), COLUMNS), rows[1:], strict=True):
        shown = range(first, min(first + COLUMNS, len(evaluations)))
        for ax, number in zip(row.subplots(1, len(shown), squeeze=False)[0], shown, strict=True):
            name = _shortened(names[number], LETTERS // len(shown) - 20)
            _plot_energy(ax, evaluations[number], name)
    with whole_file(path) as new:
        figure.savefig(new, dpi=100)


def _names(evaluations: list[Evaluation]) -> list[str]:
    """Return a name of each controller; with its number, which stands for it, where it is long."""
    names = [one.controller for one in evaluations]
    if _fit_below(names):
        return names
    return [f"{number}: {_shortened(name, LONGEST)}" for number, name in enumerate(names, start=1)]


def _fit_below(names: list[str]) -> bool:
    """Return whether names have room below the returns."""
    return len(names) * max(map(len, names)) <= NAMES


def _shortened(name: str, room: int) -> str:
    """Return a name, without its middle where it has more letters than there is room for."""
    if len(name) <= room:
        return name
    start = room // 3
    return f"{name[:start]}...{name[start + 3 - room :]}"


def _plot_returns(ax: Axes, evaluations: list[Evaluation], names: list[str]) -> None:
    """Plot a point for every episode; of several, mean and standard deviation beside them."""
    several = len(evaluations[0].rows) > 1
    for column, one in enumerate(evaluations):
        values = one.column("return_")
        ax.plot(
            np.full(len(values), column), values, "o", color=f"C{column}", alpha=0.4, markersize=5
        )
        if several:
            style: dict[str, Any] = {"fmt": "s", "color": f"C{column}", "capsize": 4}
            ax.errorbar(column + 0.2, values.mean(), values.std(), **style)
    shown = range(0, len(names), ceil(len(names) / TICKS))
    labels = names if _fit_below(names) else [str(1 + column) for column in shown]
    title = "return of each episode; mean and std" if several else "return of one episode"
    ax.set(title=title, xticks=shown, xticklabels=labels)
    ax.set_xlim(-0.5, len(names) - 0.3)


def _plot_trajectories(ax: Axes, evaluations: list[Evaluation]) -> None:
    """Plot the paths on the ground of all episodes, else the joint positions of the first."""
    moves = set(POSITION) <= set(evaluations[0].rows[0].traces)
    for column, one in enumerate(evaluations):
        colour: dict[str, Any] = {"color": f"C{column}", "linewidth": 1.0}
        for episode in one.rows if moves else one.rows[:1]:
            if moves:
                ax.plot(*(episode.traces[axis] for axis in POSITION), alpha=0.6, **colour)
            else:
                _plot_joints(ax, episode, colour)
    if moves:
        ax.set(title="path of every episode", xlabel="x [m]", ylabel="y [m]")
        ax.set_aspect("equal", adjustable="datalim")
    else:
        title = f"joint positions, seed {evaluations[0].rows[0].seed}"
        unit = f"rad, m{QUATERNIONS if _has_quaternions(evaluations[0].rows[0]) else ''}"
        ax.set(title=title, xlabel="time [s]", ylabel=unit)


def _plot_joints(ax: Axes, episode: Episode, colour: dict[str, Any]) -> None:
    for joint, positions in enumerate(episode.traces["joint_positions"].T):
        ax.plot(episode.traces["time"], positions, LINES[joint % len(LINES)], **colour)


def _has_quaternions(episode: Episode) -> bool:
    """Return whether some joints turn by four coordinates and three velocities."""
    positions, velocities = (
        episode.traces[f"joint_{name}"] for name in ("positions", "velocities")
    )
    return positions.size > velocities.size


def _plot_magnitude(
    ax: Axes, evaluations: list[Evaluation], quantity: str, title: str, unit: str
) -> None:
    """Plot the absolute value of a quantity over the first episode, on a logarithmic axis."""
    for column, one in enumerate(evaluations):
        traces = one.rows[0].traces
        magnitude = np.maximum(np.abs(traces[quantity][1:]), FLOOR)  # at the start it is zero
        style: dict[str, Any] = {"color": f"C{column}", "linewidth": 1.0}
        ax.semilogy(traces["time"][1:], magnitude, **style)
    seed = evaluations[0].rows[0].seed
    ax.set(title=f"{title}, seed {seed}", xlabel="time [s]", ylabel=unit)


def _plot_energy(ax: Axes, one: Evaluation, name: str) -> None:
    """Plot energy changes, actuator work, dissipated energy and their balance."""
    traces, seed = one.rows[0].traces, one.rows[0].seed
    time, balance = traces["time"], traces["energy_balance"]
    for form in ("kinetic", "potential"):
        energy = traces[f"energy_{form}"]
        ax.plot(time, energy - energy[0], label=f"{form}, change", linewidth=1.2)
    ax.plot(time, traces["work_actuator"], label="actuator work", linewidth=1.2)
    ax.plot(time, traces["dissipated"], label="dissipated", linewidth=1.2)
    largest = np.abs(balance).max()
    ax.plot(time, balance, "k", label=f"balance, {largest:.0e} J at most", linewidth=1.2)
    ax.set_title(f"energy of {name}, seed {seed}", fontsize="medium")
    ax.set(xlabel="time [s]", ylabel="J")
    ax.legend(fontsize="small")

"""Fresh evaluation episodes of a trained policy: what counts as success, figures, table."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from hyperparameters import Success
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

import vigym
from vigym.evaluation.episodes import Episode


@dataclass(frozen=True)
class Figures:
    """Means and extremes over all episodes, and environment steps per second without the policy.

    Speed and cost of transport, its power over weight and speed, are nan where nothing moves along x.
    """

    episodes: int
    mean_return: float
    return_deviation: float
    success_rate: float
    mean_length: float
    energy_balance: float
    energy_change: float
    constraint_residual: float
    solver_failures: int
    steps_per_second: float
    power: float
    speed: float
    slowest: float
    cost_of_transport: float


def evaluate(name: str, controller: str | Callable[..., Any], success: Success, episodes: int, seed: int) -> Figures:
    """Play episodes of the environment `name` with the seeds seed, seed + 1, ... and return their figures.

    `controller` is as of `vigym.evaluate`: the path of a model, or a callable, for example.
    """
    played = vigym.evaluate(name, controller, episodes, seed, traces=(success.quantity,))
    column = played.column
    return Figures(
        episodes=len(played.rows),
        mean_return=float(column("return_").mean()),
        return_deviation=float(column("return_").std()),
        success_rate=float(np.mean([succeeded(row, success) for row in played.rows])),
        mean_length=float(column("length").mean()),
        energy_balance=float(column("energy_balance").max()),
        energy_change=float(column("energy_change").max()),
        constraint_residual=float(column("constraint_residual").max()),
        solver_failures=int(column("unconverged_steps").sum()),
        steps_per_second=played.steps_per_second,
        power=float(column("power").mean()),
        speed=float(column("speed").mean()),
        slowest=float(column("speed").min()),
        cost_of_transport=float(column("cost_of_transport").mean()),
    )


def succeeded(episode: Episode, success: Success) -> bool:
    """Whether the quantity was where it should be, long enough at the end of an episode that did not fail."""
    inside = (success.low <= episode.traces[success.quantity][1:]) & (
        episode.traces[success.quantity][1:] <= success.high
    )
    asked = max(1, round(success.seconds * episode.length / episode.seconds))
    lasted = episode.length >= asked and inside[-asked:].mean() >= success.share
    return bool(lasted) and episode.terminated == success.terminates


def show(figures: Figures, title: str) -> None:
    """Print the table."""
    table = Table("quantity", "value", title=title)
    rows = {
        "episodes": f"{figures.episodes}",
        "return": f"{figures.mean_return:.1f} +- {figures.return_deviation:.1f}",
        "success rate": f"{100.0 * figures.success_rate:.0f} %",
        "episode length": f"{figures.mean_length:.0f} control steps",
        "energy balance, largest |E - E0 - work + dissipated|": f"{figures.energy_balance:.2e} J",
        "energy, largest change": f"{figures.energy_change:.2e} J",
        "constraint residual, largest": f"{figures.constraint_residual:.1e} m, rad",
        "steps the solver could not make": f"{figures.solver_failures}",
        "power of the actuators": f"{figures.power:.2f} W",
        "speed, mean and slowest": f"{figures.speed:.3f}, {figures.slowest:.3f} m/s",
        "cost of transport": f"{figures.cost_of_transport:.2f}",
        "environment speed": f"{figures.steps_per_second:.0f} control steps/s",
    }
    for row in rows.items():
        if "nan" not in row[1]:
            table.add_row(*row)
    Console().print(table)


def plot_curve(curve: Path, picture: Path) -> None:
    """Draw the mean return of the evaluations while training, a csv with columns steps and return."""
    figure = Figure(figsize=(6.0, 3.5), layout="constrained")
    axes = figure.subplots()
    axes.plot(*np.loadtxt(curve, delimiter=",", skiprows=1, ndmin=2).T, marker=".")
    axes.set(xlabel="control steps", ylabel="mean return of an evaluation")
    figure.savefig(picture, dpi=120)


def as_row(figures: Figures) -> dict[str, Any]:
    """Return the figures by name, None for nan, which JSON does not have."""
    return {name: None if value != value else value for name, value in asdict(figures).items()}

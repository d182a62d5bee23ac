"""Evaluation of a trained policy over fresh episodes: successes, figures and their table."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from hyperparameters import Success
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

import vigym
from vigym.evaluation.episodes import Episode
from vigym.evaluation.evaluate import Evaluation
from vigym.evaluation.tables import table_of


@dataclass(frozen=True)
class Result:
    """Result of a trained policy.

    Attributes:
        evaluation: figures of every episode.
        success_rate: share of successful episodes.
    """

    evaluation: Evaluation
    success_rate: float

    def figures(self) -> dict[str, float | None]:
        """Return means and extremes over the episodes by name, as `results.json` has them.

        Environment steps per second exclude the policy. Speed and cost of transport are None where
        nothing travels, since JSON has no nan.
        """
        column = self.evaluation.column
        figures = {
            "episodes": len(self.evaluation.rows),
            "mean_return": float(column("return_").mean()),
            "return_deviation": float(column("return_").std()),
            "success_rate": self.success_rate,
            "mean_length": float(column("length").mean()),
            "energy_balance": float(column("energy_balance").max()),
            "energy_change": float(column("energy_change").max()),
            "constraint_residual": float(column("constraint_residual").max()),
            "solver_failures": int(column("unconverged_steps").sum()),
            "steps_per_second": self.evaluation.steps_per_second,
            "power": float(column("power").mean()),
            "speed": float(column("speed").mean()),
            "slowest": float(column("speed").min()),
            "cost_of_transport": float(column("cost_of_transport").mean()),
        }
        return {name: None if np.isnan(value) else value for name, value in figures.items()}


def evaluate(
    name: str, controller: str | Callable[..., Any], success: Success, episodes: int, seed: int
) -> Result:
    """Play episodes of an environment with the seeds seed, seed + 1, ... and return the result.

    Args:
        name: id of the environment.
        controller: as for `vigym.evaluate`, such as the path of a model or a callable.
        success: condition of a successful episode.
        episodes: number of episodes.
        seed: of the first one.
    """
    evaluation = vigym.evaluate(name, controller, episodes, seed, traces=(success.quantity,))
    successes = [is_successful(episode, success) for episode in evaluation.rows]
    return Result(evaluation, float(np.mean(successes)))


def is_successful(episode: Episode, success: Success) -> bool:
    """Whether the quantity was in its range for long enough at the end of a completed episode."""
    values = episode.traces[success.quantity][1:]
    inside = (success.low <= values) & (values <= success.high)
    required = max(1, round(success.seconds * episode.length / episode.seconds))
    lasted = episode.length >= required and inside[-required:].mean() >= success.share
    return bool(lasted) and episode.terminated == success.terminates


def show(result: Result, title: str) -> None:
    """Print the table of the evaluation with the success rate."""
    table = Table("quantity", "unit", "value", title=title)
    table.add_row("success rate", "%", f"{100.0 * result.success_rate:.0f}")
    for row in table_of([result.evaluation]):
        table.add_row(*row)
    Console().print(table)


def plot_curve(curve: Path, picture: Path) -> None:
    """Draw the mean return of the evaluations in training.

    Args:
        curve: csv file with columns steps and return.
        picture: file to write.
    """
    figure = Figure(figsize=(6.0, 3.5), layout="constrained")
    axes = figure.subplots()
    axes.plot(*np.loadtxt(curve, delimiter=",", skiprows=1, ndmin=2).T, marker=".")
    axes.set(xlabel="control steps", ylabel="mean return of an evaluation")
    figure.savefig(picture, dpi=120)

"""Tables of evaluations: metrics over episodes, with units and statistics."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from math import isfinite
from typing import Any

import numpy as np

from vigym.evaluation.episodes import Array, Episode
from vigym.evaluation.evaluate import Evaluation


@dataclass(frozen=True)
class Metric:
    """Line of the table.

    Attributes:
        label: text in the table.
        column: attribute of `Episode`.
        unit: empty for a plain number.
        text: function from the values of all episodes (n,) to a text.
    """

    label: str
    column: str
    unit: str
    text: Callable[[Array], str]


def deviation_of(values: Array) -> float | None:
    """Return the standard deviation of values (n,); None for one alone, which has no spread."""
    return float(values.std()) if len(values) > 1 else None


def with_deviation(mean: float, deviation: float | None, form: str) -> str:
    """Return a text of a mean, and of its standard deviation if it has one.

    Args:
        mean: of the values.
        deviation: as `deviation_of` returns it.
        form: format of both numbers.
    """
    return f"{mean:{form}}" if deviation is None else f"{mean:{form}} ± {deviation:{form}}"


def _mean_and_std(values: Array) -> str:
    """Return mean and standard deviation with three significant digits of the larger one."""
    mean, std = float(values.mean()), deviation_of(values)
    if not values.any():
        return "0"
    digits = max(0, 2 - int(np.floor(np.log10(max(abs(mean), std or 0.0, 1e-12)))))
    return with_deviation(mean, std, ".1e" if digits > 6 else f".{digits}f")


def _maximum(values: Array) -> str:
    return f"{values.max():.1e}"


def _count(values: Array) -> str:
    return f"{int(values.sum())}"


METRICS = (
    Metric("return", "return_", "", _mean_and_std),
    Metric("length", "length", "steps", _mean_and_std),
    Metric("goal reached", "reached_goal", "episodes", _count),
    Metric("failed before the time limit", "failed", "episodes", _count),
    Metric("forward speed", "speed", "m/s", _mean_and_std),
    Metric("motor power", "power", "W", _mean_and_std),
    Metric("cost of transport", "cost_of_transport", "", _mean_and_std),
    Metric("energy change, largest", "energy_change", "J", _maximum),
    Metric("energy balance, largest", "energy_balance", "J", _maximum),
    Metric("constraint residual, largest", "constraint_residual", "m, rad", _maximum),
    Metric("penetration, largest", "penetration", "m", _maximum),
    Metric("solver iterations, mean", "solver_iterations", "", _mean_and_std),
    Metric("solver iterations, largest", "solver_iterations_max", "", lambda n: f"{int(n.max())}"),
    Metric("solver failures", "unconverged_steps", "", _count),
)


def table_of(evaluations: list[Evaluation]) -> list[list[str]]:
    """Return the lines of the table: label, unit, a text per evaluation; without empty metrics."""
    lines = [["episodes", "", *(str(len(one.rows)) for one in evaluations)]]
    for metric in METRICS:
        columns = [one.column(metric.column).astype(np.float64) for one in evaluations]
        if any(np.isfinite(values).all() for values in columns):
            texts = [metric.text(x) if np.isfinite(x).all() else "-" for x in columns]
            lines.append([metric.label, metric.unit, *texts])
    speeds = (f"{one.steps_per_second:.0f}" for one in evaluations)
    return [*lines, ["environment speed", "steps/s", *speeds]]


def as_row(episode: Episode) -> dict[str, Any]:
    """Return the metrics of an episode by name for JSON; values that are not finite are None."""
    names = [field.name for field in fields(episode) if field.name != "traces"]
    return {name.rstrip("_"): _finite(getattr(episode, name)) for name in names}


def summary_of(evaluation: Evaluation) -> dict[str, Any]:
    """Return number of episodes, steps per second, and mean, std, min and max of every metric."""
    summary: dict[str, Any] = {
        "episodes": len(evaluation.rows),
        "steps_per_second": evaluation.steps_per_second,
    }
    for metric in METRICS:
        x = evaluation.column(metric.column).astype(np.float64)
        statistics = {"mean": x.mean(), "std": deviation_of(x), "min": x.min(), "max": x.max()}
        summary[metric.column.rstrip("_")] = {
            name: value if value is None else _finite(float(value))
            for name, value in statistics.items()
        }
    return summary


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not isfinite(value) else value

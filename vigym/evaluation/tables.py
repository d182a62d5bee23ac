"""What a table of scores shows: figures of episodes, how they are summed up, and their units."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from math import isfinite
from typing import Any

import numpy as np

from vigym.evaluation.episodes import Array, Episode
from vigym.evaluation.evaluate import Evaluation


@dataclass(frozen=True)
class Figure:
    """One line of the table.

    Attributes:
        label: as people read it.
        column: of `Episode`.
        unit: empty for a plain number.
        text: what it writes for the values of all episodes (n,).
    """

    label: str
    column: str
    unit: str
    text: Callable[[Array], str]


def _spread(values: Array) -> str:
    """Return mean and standard deviation, to three digits of what matters."""
    mean, deviation = float(values.mean()), float(values.std())
    if not values.any():
        return "0"
    digits = max(0, 2 - int(np.floor(np.log10(max(abs(mean), deviation, 1e-12)))))
    if digits > 6:
        return f"{mean:.1e} ± {deviation:.0e}"
    return f"{mean:.{digits}f} ± {deviation:.{digits}f}"


def _most(values: Array) -> str:
    return f"{values.max():.1e}"


def _count(values: Array) -> str:
    return f"{int(values.sum())}"


FIGURES = (
    Figure("return", "return_", "", _spread),
    Figure("length", "length", "steps", _spread),
    Figure("done: the aim was reached", "done", "episodes", _count),
    Figure("failed before the time was up", "failed", "episodes", _count),
    Figure("speed along the task's way", "speed", "m/s", _spread),
    Figure("power of the motors", "power", "W", _spread),
    Figure("cost of transport", "cost_of_transport", "", _spread),
    Figure("energy, largest change", "energy_change", "J", _most),
    Figure("energy balance, largest", "energy_balance", "J", _most),
    Figure("constraint residual, largest", "constraint_residual", "m, rad", _most),
    Figure("penetration, largest", "penetration", "m", _most),
    Figure("solver iterations, mean", "solver_iterations", "", _spread),
    Figure("solver iterations, most", "solver_iterations_most", "", lambda values: f"{int(values.max())}"),
    Figure("steps the solver could not make", "failures", "", _count),
)


def table_of(evaluations: list[Evaluation]) -> list[list[str]]:
    """Return the lines of the table: label, unit, and a text for each evaluation; what nobody has is left out."""
    lines = [["episodes", "", *(str(len(one.rows)) for one in evaluations)]]
    for figure in FIGURES:
        columns = [one.column(figure.column).astype(np.float64) for one in evaluations]
        if any(np.isfinite(values).all() for values in columns):
            texts = [figure.text(values) if np.isfinite(values).all() else "-" for values in columns]
            lines.append([figure.label, figure.unit, *texts])
    return [*lines, ["environment speed", "steps/s", *(f"{one.steps_per_second:.0f}" for one in evaluations)]]


def as_row(episode: Episode) -> dict[str, Any]:
    """Return the figures of an episode by name, `return` among them; what is not finite is None, as JSON has it."""
    names = [field.name for field in fields(episode) if field.name != "traces"]
    return {name.rstrip("_"): _finite(getattr(episode, name)) for name in names}


def summary_of(evaluation: Evaluation) -> dict[str, Any]:
    """Return mean, standard deviation, least and most of every figure, and the steps per second."""
    found: dict[str, Any] = {"episodes": len(evaluation.rows), "steps_per_second": evaluation.steps_per_second}
    for figure in FIGURES:
        values = evaluation.column(figure.column).astype(np.float64)
        kinds = {"mean": values.mean(), "deviation": values.std(), "least": values.min(), "most": values.max()}
        found[figure.column.rstrip("_")] = {kind: _finite(float(value)) for kind, value in kinds.items()}
    return found


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not isfinite(value) else value

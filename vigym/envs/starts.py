"""Starts of episodes in a batch, drawn one by one: every environment has its own random stream."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.envs.task import Array, Flags, Start, Task
from vigym.mechanism.mechanism import Mechanism

Rows = NDArray[np.intp]


def drawn(
    task: Task, mechanism: Mechanism, streams: Sequence[np.random.Generator], chosen: Flags
) -> tuple[Start, Start]:
    """Draw joint positions and velocities of the chosen environments, with a leading axis (batch,).

    Args:
        task: what to draw.
        mechanism: the task's.
        streams: a random stream for every environment; those of the others are left alone.
        chosen: (batch,) environments, at least one; what the arrays hold of the others means nothing.

    Raises:
        ValueError: the task names the joints of one environment, and not those of another.
    """
    lanes = chosen.nonzero()[0]
    rows = np.zeros(len(chosen), dtype=np.intp)  # of every environment among those that are drawn
    rows[lanes] = np.arange(len(lanes))
    positions, velocities = zip(*[task.initial(mechanism, streams[lane]) for lane in lanes.tolist()], strict=True)
    return _stacked(positions, rows), _stacked(velocities, rows)


def _stacked(starts: Sequence[Start], rows: Rows) -> Start:
    """Return one array of all, or one by joint name."""
    first = starts[0]
    if not isinstance(first, Mapping):
        return _spread(starts, rows)  # type: ignore[arg-type]
    named: list[Mapping[str, ArrayLike]] = []
    for start in starts:
        if not isinstance(start, Mapping) or start.keys() != first.keys():
            found = list(start)
            raise ValueError(f"initial: found {found} for one environment, expected {list(first)} as for another")
        named.append(start)
    numbers = [name for name, value in first.items() if isinstance(value, float)]  # most: all in one table
    table = _spread([[start[name] for name in numbers] for start in named], rows)  # type: ignore[misc]
    others = {name: _spread([start[name] for start in named], rows) for name in first.keys() - set(numbers)}
    return {**dict(zip(numbers, table.T, strict=True)), **others}


def _spread(values: Sequence[ArrayLike], rows: Rows) -> Array:
    table: Array = np.array(values, dtype=np.float64).take(rows, axis=0)
    return table

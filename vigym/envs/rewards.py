"""Shapes of reward terms, as array expressions of sums, products and quotients only; mean rates.

Without exponentials each entry of a batch is rounded exactly as a single value.
"""

import numpy as np

from vigym.envs.arrays import Array, Flags
from vigym.envs.task import Quantities, Task
from vigym.simulation.simulator import Simulator


def tolerance(
    value: Array, within: float = 0.0, margin: float = 1.0, at_margin: float = 0.1
) -> Array:
    """Return 1 where |value| <= within, falling smoothly to 0 beyond.

    Args:
        value: any shape and unit.
        within: half width of the flat top, unit of `value`.
        margin: distance from the flat top at which the result is `at_margin`, unit of `value`, > 0.
        at_margin: result there, in (0, 1).

    Returns:
        1 / (1 + (1 / at_margin - 1) (d / margin)^2), shape of `value`, with d the distance from the
        flat top.
    """
    distance = np.maximum(abs(value) - within, 0.0) / margin
    return 1.0 / (1.0 + (1.0 / at_margin - 1.0) * distance * distance)


class MeanRates:
    """Mean rates of change over a control step, of what a task has in `Task.travelled`.

    Args:
        task: constants and hooks.
        sim: its simulator.
        dt: length of a control step [s].

    Attributes:
        task: constants and hooks.
    """

    def __init__(self, task: Task, sim: Simulator, dt: float) -> None:
        self.task, self._sim = task, sim
        self._dt, self._before = dt, task.travelled(sim)

    def before_step(self) -> None:
        """Keep the present values."""
        self._before = self.task.travelled(self._sim)

    def restart(self, mask: Flags) -> None:
        """Make the rates zero in the environments of a mask (batch,)."""
        present = self.task.travelled(self._sim)
        for name, value in present.items():
            kept = np.where(mask, value, self._before[name])
            self._before[name] = kept if self._sim.batch else value

    def read(self) -> Quantities:
        """Return the rates (...,) by name."""
        present = self.task.travelled(self._sim)
        return {name: (value - self._before[name]) / self._dt for name, value in present.items()}

"""Factors by which environments differ from the mechanism as built: their names, checks, and a row for each."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from vigym.mechanism.check import Array, no_numbers
from vigym.mechanism.errors import MechanismError
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.varied import QUANTITIES, WHOLE, Factors

Parameters = Mapping[str, ArrayLike | Mapping[str, ArrayLike]]  # quantity -> factor, or element -> factor


class FactorTable:
    """Which column of a row of factors belongs to what.

    Args:
        mechanism: as built.

    Attributes:
        columns: quantity -> element -> column; of the quantities that the mechanism has.
        size: number of columns.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        names = [(quantity, name) for quantity, row in QUANTITIES.items() for name in row.elements(mechanism)]
        self.columns: dict[str, dict[str, int]] = {}
        for column, (quantity, name) in enumerate(names):
            self.columns.setdefault(quantity, {})[name] = column
        self.size = len(names)

    def rows(self, parameters: Parameters, count: int, single: bool) -> Array:
        """Factors (count, size) of what is named, 1 elsewhere.

        Raises:
            MechanismError: a name that is unknown, or of something that is zero; a value of the wrong shape or not
                finite and above zero.
        """
        rows = np.ones((count, self.size))
        for quantity, given in parameters.items():
            columns = self._of(quantity)
            values = given if isinstance(given, Mapping) else dict.fromkeys(columns, given)
            for element, value in values.items():
                if element not in columns:
                    raise MechanismError(f"parameters {quantity}: found {element!r}, expected {', '.join(columns)}")
                what = f"parameters {quantity}" if element == WHOLE else f"parameters {quantity} of {element!r}"
                rows[:, columns[element]] = _factors(value, count, single, what)
        return rows

    def _of(self, quantity: str) -> dict[str, int]:
        if quantity not in QUANTITIES:
            raise MechanismError(f"parameters: found {quantity!r}, expected {', '.join(QUANTITIES)}")
        if quantity not in self.columns:
            raise MechanismError(
                f"parameters: found {quantity!r}, of which the mechanism has none to multiply, expected "
                f"{', '.join(self.columns)}"
            )
        return self.columns[quantity]

    def factors(self, row: Array) -> Factors:
        """One environment's factors by name."""
        return {q: {name: float(row[k]) for name, k in columns.items()} for q, columns in self.columns.items()}


def _factors(value: ArrayLike, count: int, single: bool, what: str) -> Array:
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise MechanismError(f"{what}: found {value!r}, expected factors > 0") from error
    if no_numbers(value):
        raise MechanismError(f"{what}: found {value!r}, expected factors > 0")
    if array.shape != () and (single or array.shape != (count,)):
        raise MechanismError(f"{what}: found shape {array.shape}, expected {'()' if single else f'() or ({count},)'}")
    wrong = ~((array > 0.0) & np.isfinite(array))
    if wrong.any():
        raise MechanismError(f"{what}: found {np.atleast_1d(array)[np.atleast_1d(wrong)][0]:g}, expected factors > 0")
    return array

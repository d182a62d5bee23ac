"""Field and table: a named entry, and the entries of a row in the order of memory."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Field:
    """Named entry of a table row.

    Attributes:
        name: how kernels and Python read it.
        meaning: a phrase.
        unit: of its values, "1" for pure numbers, "row" for the unit of a loop row; unit vectors
            may name their frame alone. Empty in the plan, whose entries are integers; "mask" for
            truth values, which kernels read and write as masks.
        width: how many numbers it has.
        indexed: whether kernels read its numbers one by one, ``row.field[j]``.
        feature: what a mechanism has to have for the entry not to be zero, None if it may always
            be.
        refers: whether it is the number of another row, which rows that are alike each have of
            their own.
        steps: whether these numbers follow each other, in consecutive rows that are alike.
    """

    name: str
    meaning: str
    unit: str = ""
    width: int = 1
    indexed: bool = False
    feature: str | None = None
    refers: bool = False
    steps: bool = False

    @property
    def is_mask(self) -> bool:
        """Whether kernels read and write it as a mask."""
        return self.unit == "mask"


class Table:
    """Fields of a row in one of the arrays, in the order of memory."""

    def __init__(self, *fields: Field, kind: type = np.float64) -> None:
        self.fields = {field.name: field for field in fields}
        self.names = tuple(self.fields)
        ends = np.cumsum([0, *(field.width for field in fields)]).tolist()
        self._offsets = dict(zip(self.names, ends, strict=False))
        self.width: int = ends[-1]
        self._kind = kind
        self.dtype = np.dtype(
            [(f.name, kind, (f.width,)) if f.width > 1 else (f.name, kind) for f in fields]
        )

    def offset(self, name: str) -> int:
        """Place of a field's first number in a row."""
        return self._offsets[name]

    def columns(self, name: str) -> slice:
        """Return the places of a field's numbers in a row."""
        start = self._offsets[name]
        return slice(start, start + self.fields[name].width)

    def feature(self, name: str) -> str | None:
        """Return the feature that a field belongs to."""
        return self.fields[name].feature

    def rows(self, count: int) -> np.ndarray:
        """Make structured rows (count,) of zeros: ``rows["mass"]`` reads and writes a field."""
        return np.zeros(count, self.dtype)

    def numbers(self, rows: np.ndarray) -> np.ndarray:
        """View structured rows (n,) as numbers (n, width)."""
        return rows.view(self._kind).reshape(len(rows), self.width)

"""Data of one environment and its rows, in place of ``rows``: the same tables by the same names.

Rows show their fields with units when they are printed, in a debugger too.
"""

from functools import partial

import numpy as np

from vigym.core.compiler.plain.values import Number, value_of
from vigym.core.tables.features import FEATURE_SETS
from vigym.core.tables.plan import HEADER
from vigym.core.tables.row_kinds import BLOCK_STARTS, ROW_KINDS

# by the type of the token; None: of every mechanism
_FEATURES = {type(found.token): {None, *found.features} for found in FEATURE_SETS}


class Row:
    """Row of a kind, with a property for each field of its tables.

    Args:
        d: data of the environment.
        index: number of the row.
        buffer: slot where its buffer starts, None if its kind has none.

    Attributes:
        index: number of the row.
    """

    __slots__ = ("_features", "_tables", "index")
    _kind = None  # of `ROW_KINDS`

    def __init__(self, d, index=0, buffer=None):
        self.index = index
        self._features = d.features
        if self._kind.slots is not None:
            index = d.plan[d.header(self._kind.slots) + index]
        self._tables = {}
        for name, part in self._kind.tables.items():
            if name == "plan":
                start = d.header(part.start) if part.start else HEADER.width
            else:
                start = getattr(d, part.start) if buffer is None else buffer
            self._tables[name] = getattr(d, name), start + index * part.table.width

    def _entry(self, field, offset):
        """Read an entry of the plan; 0 where a mechanism lacks what it belongs to."""
        plan, start = self._tables["plan"]
        return int(plan[start + offset]) if field.feature in self._features else 0

    def _read(self, table, field, offset):
        """Read a number, a tuple of numbers, or a view of those that are read one by one."""
        numbers, start = self._tables[table]
        if field.is_mask:
            return numbers[start + offset] > 0.0
        if field.width == 1 and not field.indexed:
            return numbers[start + offset]
        values = numbers[start + offset : start + offset + field.width]
        return values if field.indexed else tuple(values)

    def _write(self, table, field, offset, value):
        """Write a number or a tuple of numbers."""
        numbers, start = self._tables[table]
        numbers[start + offset : start + offset + field.width] = value

    def __repr__(self):
        """Show all fields, one in a line."""
        lines = [f"{type(self).__name__} {self.index}"]
        for name, (_, field, _) in self._kind.fields.items():
            lines.append(f"  {name} = {np.asarray(getattr(self, name))} {field.unit}".rstrip())
        return "\n".join(lines)


def _property(table, field, offset):
    """Make the property of a field."""
    if table == "plan":
        return property(lambda row: row._entry(field, offset), doc=field.meaning)
    return property(
        lambda row: row._read(table, field, offset),
        lambda row, value: row._write(table, field, offset, value),
        doc=f"{field.meaning} [{field.unit}]",
    )


def _row_class(name, kind):
    """Make the class of the rows of a kind."""
    fields = {field: _property(*place) for field, place in kind.fields.items()}
    return type(name, (Row,), {"_kind": kind, "__slots__": (), **fields})


_ROWS = {name: _row_class(name, kind) for name, kind in ROW_KINDS.items()}


class Data:
    """Data of one environment.

    Args:
        tables: array of each name of `TABLES`.
        starts: slot of each of these arrays where the environment's part starts.
        features: of the mechanism.

    Attributes:
        plan, model, state, work: the arrays.
        features: of the mechanism, and None.
        wide: the same data, whose blocks are single rows.
        lane_count: 1.
    """

    lane_count = 1

    def __init__(self, tables, starts, features):
        self.plan, self.model = tables["plan"], tables["model"]
        self.state, self.work = tables["state"], tables["work"]
        self.features = features
        self._rows = {}
        for name, (table, entry) in BLOCK_STARTS.items():
            setattr(self, name, starts[table] + (self.header(entry) if entry else 0))

    @property
    def wide(self):
        """Data whose blocks are single rows."""
        return self

    @property
    def block_count(self):
        """Number of blocks of bodies."""
        return self.body_count

    @property
    def dof_block_count(self):
        """Number of blocks of degrees of freedom."""
        return self.dof_count

    def full(self, number):
        """Return a number, or a truth value, as a value."""
        return value_of(number)

    def number(self, slot):
        """Read the float that lies in a slot of the plan."""
        return self.plan[slot : slot + 1].view(Number)[0]

    def header(self, name):
        """Read an entry of the plan's header."""
        return int(self.plan[HEADER.offset(name)])

    def __getattr__(self, name):
        """Return rows of a kind, or an entry of the header; 0 where its feature is absent."""
        if name in HEADER.names:
            return self.header(name) if HEADER.feature(name) in self.features else 0
        if name not in ROW_KINDS:
            raise AttributeError(f"data: found {name!r}, expected a kind of rows or of the header")
        kind = ROW_KINDS[name]
        if kind.alone:
            return self._row(name)
        if kind.buffered:
            return lambda buffer, index: self._row(name, index, buffer)
        return partial(self._row, name)

    def _row(self, name, index=0, buffer=None):
        """Return a row, the same object each time."""
        key = name, index, buffer
        if key not in self._rows:
            self._rows[key] = _ROWS[name](self, index, buffer)
        return self._rows[key]


def group_data(plan, model, state, work, model_start, state_start, work_start, features, batch):
    """Make the data of the environment whose tables start at these slots of the flat arrays."""
    tables = {"plan": plan, "model": model, "state": state, "work": work}
    starts = {"model": model_start, "state": state_start, "work": work_start}
    kind = float if isinstance(features, float) else type(features)  # numpy's floats, too
    return Data(tables, starts, _FEATURES[kind])

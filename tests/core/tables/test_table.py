"""Tables: fields lie in their order, one behind the other, and rows are the same numbers by name."""

import numpy as np
import pytest

from vigym.core import tables
from vigym.core.tables.table import Field, Table

ROW = Table(Field("mass", "", "kg"), Field("arm", "", "m", 3), Field("active", "", "mask"))


def all_tables():
    """Tables of the plan, of constants, of states and of scratch memory."""
    for module in ("plan", "constants", "state", "work"):
        found = vars(__import__(f"{tables.__name__}.{module}", fromlist=["_"]))
        yield from ((name, table) for name, table in found.items() if isinstance(table, Table))


@pytest.mark.parametrize(("name", "table"), list(all_tables()))
def test_fields_share_no_place_and_leave_none(name, table):
    places = [k for field in table.names for k in range(table.width)[table.columns(field)]]
    assert places == list(range(table.width))
    for field in table.names:
        assert table.offset(field) == table.columns(field).start


@pytest.mark.parametrize(("name", "table"), list(all_tables()))
def test_numbers_of_rows_are_their_fields(name, table):
    rows = table.rows(2)
    assert not table.numbers(rows).any()
    table.numbers(rows)[:] = np.arange(2 * table.width).reshape(2, -1)
    for field in table.names:
        columns = np.arange(2 * table.width).reshape(2, -1)[:, table.columns(field)]
        np.testing.assert_array_equal(rows[field].reshape(2, -1), columns)


def test_fields_know_what_they_are():
    assert [field.is_mask for field in ROW.fields.values()] == [False, False, True]
    assert ROW.feature("mass") is None
    with pytest.raises(KeyError):
        ROW.offset("weight")

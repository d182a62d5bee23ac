"""Layout of tables: parts follow each other without overlap, and every row has numbers of its own."""

import numpy as np
import pytest

from scenes.features import SCENES
from scenes.plain_python import data_of
from vigym import Simulator
from vigym.core.model import layout
from vigym.core.tables.row_kinds import BLOCK_STARTS

COUNTS = {
    "pose": "body_count",
    "dof": "dof_count",
    "loop_row": "loop_row_count",
    "contact": "contact_count",
    "wrench": "wrench_count",
    "motion": "motion_count",
    "fill_in": "fill_in_count",
}


@pytest.fixture(scope="module", params=SCENES, ids=lambda make: make.__name__)
def d(request):
    """Data of a scene for each set of features."""
    return data_of(Simulator(request.param()))


def test_no_two_fields_of_the_state_or_the_work_share_a_slot(d):
    """Each is written with a number of its own, and read back when all are written."""
    number, written = 1.0, []
    for kind, count in COUNTS.items():
        for i in range(getattr(d, count)):
            row = d.pose(d.state_knots, i) if kind == "pose" else getattr(d, kind)(i)
            for name, (array, field, _) in row._kind.fields.items():
                if (
                    array in ("state", "work")
                    and not field.is_mask
                    and name not in ("K_dof", "B_dof")
                ):
                    value = (
                        tuple(number + k for k in range(field.width)) if field.width > 1 else number
                    )
                    setattr(row, name, value)
                    written.append((row, name, value))
                    number += field.width
    assert number > 500.0
    for row, name, value in written:
        assert getattr(row, name) == value, (row._kind, name)


def test_tables_lie_behind_each_other_within_their_arrays(d):
    header = layout.header_of(d.plan)
    for array in ("model", "state", "work"):
        starts = [
            int(header[entry]) for table, entry in BLOCK_STARTS.values() if table == array and entry
        ]
        assert min(starts) > 0
        assert max(starts) <= len(getattr(d, array))
    assert header["state_size"] == header["state_knots"] + layout.KNOT_BUFFERS * header["knot_size"]


def test_an_initial_state_holds_valid_poses():
    plan = data_of(Simulator(SCENES[0]())).plan
    groups = 2
    state = layout.initial_state(plan, groups)
    assert state.ctypes.data % 64 == 0
    assert state.size == groups * int(layout.header_of(plan)["state_size"])
    ones = np.flatnonzero(state)
    assert (state[ones] == 1.0).all()
    knots = (
        groups
        * layout.KNOT_BUFFERS
        * int(layout.header_of(plan)["knot_size"])
        // layout.POSE_STATE.width
    )
    assert len(ones) == 5 * knots  # w of the orientation, a diagonal, and the cosine of no turn


@pytest.mark.parametrize("single", [True, False])
def test_constants_are_spread_over_lanes(single):
    rows = np.arange(6.0).reshape(3, 2)
    spread = layout.spread_over_lanes(rows, single)
    assert spread.size == layout.padded_row_count(3, single) * 2 * (1 if single else layout.LANES)
    assert set(spread) == set(rows.ravel())

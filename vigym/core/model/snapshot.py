"""Snapshots: a state as plain rows, one per environment, independent of the memory layout.

A state saved from one simulator can be restored in another one of the same mechanism.
"""

from typing import NamedTuple

import numpy as np

from vigym.core.compiler.simd import LANES
from vigym.core.model.layout import KNOT_BUFFERS, header_of, listed_contact_slots, plan_rows
from vigym.core.tables.plan import MOTION_PLAN
from vigym.core.tables.state import (
    CONTACT_STATE,
    DOF_STATE,
    ENVIRONMENT_STATE,
    LOOP_ROW_STATE,
    MOTION_STATE,
    POSE_STATE,
    SIDE_STATE,
    WRENCH_STATE,
)
from vigym.core.tables.table import Table


def _field_columns(*names: str) -> list[int]:
    """List the columns of some fields of a pose."""
    return [k for name in names for k in np.r_[POSE_STATE.columns(name)].tolist()]


# of the present knot
PRESENT = _field_columns("position", "orientation", "velocity", "angular_velocity", "cosine")
# velocities of the steps before, for the predictor
BEFORE = _field_columns("velocity", "angular_velocity", "cosine")
ORIENTATION = slice(3, 7)  # of the columns of the present knot
HELD = WRENCH_STATE.offset("last_applied_force")  # columns of a held wrench
# columns of the environment that are saved: those before the number of the present knot
SCALARS = ENVIRONMENT_STATE.offset("present_knot")


class _Tables(NamedTuple):
    """Views of a flat state: groups first, then blocks of rows, fields, and LANES last."""

    environment: np.ndarray
    dofs: np.ndarray
    loop_rows: np.ndarray
    contacts: np.ndarray
    wrenches: np.ndarray
    motions: np.ndarray
    sides: np.ndarray
    knots: np.ndarray


def _view_tables(plan: np.ndarray, state: np.ndarray) -> _Tables:
    """View a flat state as its tables."""
    h = header_of(plan)
    groups = state.size // int(h["state_size"])
    flat = state.reshape(groups, -1)

    def view(table: Table, start: int, stop: int) -> np.ndarray:
        """View the table between two slots of a group."""
        return flat[:, start:stop].reshape(groups, -1, table.width, LANES)

    knots = flat[:, h["state_knots"] :]
    return _Tables(
        environment=view(ENVIRONMENT_STATE, 0, h["state_dofs"]),
        dofs=view(DOF_STATE, h["state_dofs"], h["state_loop_rows"]),
        loop_rows=view(LOOP_ROW_STATE, h["state_loop_rows"], h["state_contacts"]),
        contacts=view(CONTACT_STATE, h["state_contacts"], h["state_wrenches"]),
        wrenches=view(WRENCH_STATE, h["state_wrenches"], h["state_motions"]),
        motions=view(MOTION_STATE, h["state_motions"], h["state_sides"]),
        sides=view(SIDE_STATE, h["state_sides"], h["state_knots"]),
        knots=knots.reshape(groups, KNOT_BUFFERS, -1, POSE_STATE.width, LANES),
    )


def _widths(plan: np.ndarray) -> list[int]:
    """Count the columns of each part of a packed state."""
    h = header_of(plan)
    bodies = int(h["body_count"]) - 1
    return [
        SCALARS,
        int(h["dof_count"]) * DOF_STATE.width,
        int(h["loop_row_count"]) * LOOP_ROW_STATE.width,
        int(h["contact_count"]) * CONTACT_STATE.width,
        int(h["wrench_count"]) * WRENCH_STATE.width,
        int(h["motion_count"]) * MOTION_STATE.width,
        2 * int(h["track_count"]) * SIDE_STATE.width,
        bodies * len(PRESENT),
        *[bodies * len(BEFORE)] * (KNOT_BUFFERS - 1),
    ]


def _read(blocks: np.ndarray, single: bool, count: int) -> np.ndarray:
    """View (groups, blocks, fields, LANES) as (environments, rows, fields); a copy if need be."""
    if single:
        return blocks[0].transpose(0, 2, 1).reshape(1, -1, blocks.shape[2])
    groups, rows, fields, lanes = blocks.shape
    return blocks.transpose(0, 3, 1, 2).reshape(groups * lanes, rows, fields)[:count]


def _write(
    blocks: np.ndarray, single: bool, rows: np.ndarray, first: int | np.ndarray, fields: list[int]
) -> None:
    """Write (environments, rows, fields) into (groups, blocks, all fields, LANES).

    ``first`` is the number of the first row, or those of all.
    """
    e = np.arange(rows.shape[0])[:, None, None]
    row = (
        first[:, None]
        if isinstance(first, np.ndarray)
        else np.arange(first, first + rows.shape[1])[:, None]
    )
    if single:
        blocks[0, row // LANES, fields, row % LANES] = rows
    else:
        blocks[e // LANES, row, fields, e % LANES] = rows


def pack(plan: np.ndarray, state: np.ndarray, single: bool, count: int) -> np.ndarray:
    """Pack everything that determines the next step into rows (environments, columns)."""
    h, tables = header_of(plan), _view_tables(plan, state)
    present = tables.environment[:, 0, SCALARS, 0].astype(int)
    groups = np.arange(len(present))
    bodies = slice(1, int(h["body_count"]))
    scalars = tables.environment[:, 0, :SCALARS].transpose(0, 2, 1).reshape(-1, SCALARS)[:count]
    parts = [
        scalars,
        _read(tables.dofs, single, count)[:, : h["dof_count"]],
        _read(tables.loop_rows, single, count)[:, : h["loop_row_count"]],
        _read(tables.contacts, single, count)[:, listed_contact_slots(plan)],
        _read(tables.wrenches, single, count)[:, : h["wrench_count"]],
        _read(tables.motions, single, count)[:, : h["motion_count"]],
        _read(tables.sides, single, count)[:, : 2 * h["track_count"]],
        _read(tables.knots[groups, present], single, count)[:, bodies, PRESENT],
    ]
    for back in range(1, KNOT_BUFFERS):
        knot = tables.knots[groups, (present - back) % KNOT_BUFFERS]
        parts.append(_read(knot, single, count)[:, bodies, BEFORE])
    return np.concatenate([part.reshape(count, -1) for part in parts], axis=1)


def unpack(plan: np.ndarray, state: np.ndarray, values: np.ndarray, single: bool) -> None:
    """Write packed rows to a state; `update_derived` has to follow."""
    tables, count = _view_tables(plan, state), len(values)
    parts = np.split(values, np.cumsum(_widths(plan)), axis=1)[:-1]  # callers may add columns
    scalars, dofs, loop_rows, contacts, wrenches, motions, sides, present, *before = parts
    tables.environment[:, 0, SCALARS] = 0.0
    _write(tables.environment, False, scalars[:, None], 0, list(range(SCALARS)))
    for blocks, part in (
        (tables.dofs, dofs),
        (tables.loop_rows, loop_rows),
        (tables.contacts, contacts),
        (tables.wrenches, wrenches),
        (tables.motions, motions),
        (tables.sides, sides),
    ):
        width = blocks.shape[2]
        rows = part.reshape(count, part.shape[1] // width, width)
        first = listed_contact_slots(plan) if blocks is tables.contacts else 0
        _write(blocks, single, rows, first, list(range(width)))
    bodies = int(header_of(plan)["body_count"]) - 1
    _write(tables.knots[:, 0], single, present.reshape(count, bodies, -1), 1, PRESENT)
    for back, velocities in enumerate(before, start=1):
        _write(tables.knots[:, -back], single, velocities.reshape(count, bodies, -1), 1, BEFORE)


def write_wrenches(
    plan: np.ndarray, state: np.ndarray, values: np.ndarray, body: int, single: bool
) -> None:
    """Write held wrenches (environments, HELD) of one body to a state."""
    fields = list(range(HELD))
    _write(_view_tables(plan, state).wrenches, single, values[:, None], body, fields)


def read_wrenches(plan: np.ndarray, state: np.ndarray, single: bool, count: int) -> np.ndarray:
    """Read the held wrenches (environments, bodies with the world, HELD) of a state."""
    rows = int(header_of(plan)["wrench_count"])
    return _read(_view_tables(plan, state).wrenches, single, count)[:, :rows, :HELD].copy()


def write_motion_rates(
    plan: np.ndarray, state: np.ndarray, rates: np.ndarray, mask: np.ndarray, single: bool
) -> None:
    """Write the rates (n,) of the last n motions to the environments of a mask (count,)."""
    h, motions = header_of(plan), _view_tables(plan, state).motions
    first, count = int(h["motion_count"]) - len(rates), len(mask)
    field = MOTION_STATE.offset("value_rate")
    rows = _read(motions, single, count)[:, first : first + len(rates), field].copy()
    rows[mask] = rates
    _write(motions, single, rows[..., None], first, [field])


def read_multipliers(
    plan: np.ndarray, state: np.ndarray, single: bool, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Read multipliers (environments, motions) of all motions, and step sizes of two steps.

    The sizes are (environments, 2), of the last step and of the one before [s].
    """
    tables, h = _view_tables(plan, state), header_of(plan)
    motions = plan_rows(plan, MOTION_PLAN, int(h["plan_motions"]), int(h["motion_count"]))
    rows = _read(tables.loop_rows, single, count)[:, motions["loop_row"], 0]
    sizes = [ENVIRONMENT_STATE.offset(name) for name in ("step_size", "previous_step_size")]
    environment = tables.environment[:, 0].transpose(0, 2, 1).reshape(-1, ENVIRONMENT_STATE.width)
    return rows.copy(), environment[:count, sizes].copy()


def wrench_columns(plan: np.ndarray) -> slice:
    """Find the columns of held wrenches in packed rows."""
    widths = _widths(plan)
    return slice(sum(widths[:4]), sum(widths[:5]))


def packed_orientations(plan: np.ndarray, values: np.ndarray) -> np.ndarray:
    """View the orientations (environments, bodies, 4) in packed rows."""
    start, stop = np.cumsum(_widths(plan))[6:8]
    bodies = int(header_of(plan)["body_count"]) - 1
    poses = values[:, start:stop].reshape(len(values), bodies, len(PRESENT))
    return poses[:, :, ORIENTATION]


def packed_width(plan: np.ndarray) -> int:
    """Count the columns of a packed state."""
    return sum(_widths(plan))

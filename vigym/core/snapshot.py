"""A state as plain rows, one per environment, whatever the layout.

What is saved from one simulator can be restored in another one of the same mechanism.
"""

import numpy as np

from .simd import LANES
from .tables import (
    BODIES,
    BUFFERS,
    CONTACTS,
    COORDINATE,
    ENVIRONMENT,
    FREEDOMS,
    KNOT,
    KNOT_SIZE,
    LOOP_ROWS,
    PHASE,
    STATE_CONTACTS,
    STATE_COORDINATES,
    STATE_KNOTS,
    STATE_LOOPS,
    TOUCH,
    C,
    Q,
    V,
    W,
    X,
)  # fmt: skip


def _fields(*pairs: tuple[int, int]) -> list[int]:
    """Columns of the fields (offset, width) of a row."""
    return [offset // LANES + k for offset, width in pairs for k in range(width)]


PRESENT = _fields((X, 3), (Q, 4), (V, 3), (W, 3), (C, 1))  # of the present knot
BEFORE = _fields((V, 3), (W, 3))  # half-step velocities of the steps before, for the predictor


def _rows(blocks: np.ndarray, single: bool, count: int) -> np.ndarray:
    """View of (groups, blocks, fields, LANES) as (environments, rows, fields), or a copy where no view exists."""
    if single:
        return blocks[0].transpose(0, 2, 1).reshape(1, -1, blocks.shape[2])
    return blocks.transpose(0, 3, 1, 2).reshape(-1, *blocks.shape[1:3])[:count]


def _tables(plan: np.ndarray, state: np.ndarray) -> tuple[np.ndarray, ...]:
    """Views of a flat state, groups first and LANES last: environment, coordinates, multipliers, contacts, knots."""
    groups = state.size // int(plan[STATE_KNOTS] + BUFFERS * plan[KNOT_SIZE])
    flat = state.reshape(groups, -1)
    environment = flat[:, : ENVIRONMENT * LANES].reshape(groups, 1, ENVIRONMENT, LANES)
    coordinates = flat[:, plan[STATE_COORDINATES] : plan[STATE_LOOPS]].reshape(groups, -1, COORDINATE, LANES)
    loops = flat[:, plan[STATE_LOOPS] : plan[STATE_CONTACTS]].reshape(groups, -1, 1, LANES)
    touch = flat[:, plan[STATE_CONTACTS] : plan[STATE_KNOTS]].reshape(groups, -1, TOUCH, LANES)
    return (
        environment,
        coordinates,
        loops,
        touch,
        flat[:, plan[STATE_KNOTS] :].reshape(groups, BUFFERS, -1, KNOT, LANES),
    )


def pack(plan: np.ndarray, state: np.ndarray, single: bool, count: int) -> np.ndarray:
    """All that the next step depends on, (environments, columns)."""
    environment, coordinates, loops, touch, knots = _tables(plan, state)
    phase = environment[:, 0, PHASE // LANES, 0].astype(int)
    groups = np.arange(len(phase))
    now = _rows(knots[groups, phase], single, count)[:, 1 : plan[BODIES], PRESENT]
    before = [
        _rows(knots[groups, (phase - k) % BUFFERS], single, count)[:, 1 : plan[BODIES], BEFORE]
        for k in range(1, BUFFERS)
    ]
    noted = _rows(coordinates, single, count)[:, : plan[FREEDOMS]]
    acting = _rows(loops, single, count)[:, : plan[LOOP_ROWS]]
    pressing = _rows(touch, single, count)[:, : plan[CONTACTS]]
    scalars = environment[:, 0, : PHASE // LANES].transpose(0, 2, 1).reshape(-1, PHASE // LANES)[:count]
    return np.concatenate(
        [part.reshape(count, -1) for part in (scalars, noted, acting, pressing, now, *before)], axis=1
    )


def _write(blocks: np.ndarray, single: bool, rows: np.ndarray, first: int, fields: list[int]) -> None:
    """Write (environments, rows, fields) into (groups, blocks, all fields, LANES)."""
    e, row = np.arange(rows.shape[0])[:, None, None], np.arange(first, first + rows.shape[1])[:, None]
    g, b, lane = (0, row // LANES, row % LANES) if single else (e // LANES, row, e % LANES)
    blocks[g, b, fields, lane] = rows


def unpack(plan: np.ndarray, state: np.ndarray, values: np.ndarray, single: bool) -> None:
    """Write what ``pack`` gave; what follows from poses must be refreshed after it."""
    environment, coordinates, loops, touch, knots = _tables(plan, state)
    count, bodies, freedoms, rows = len(values), int(plan[BODIES]) - 1, int(plan[FREEDOMS]), int(plan[LOOP_ROWS])
    contacts = int(plan[CONTACTS])
    sizes = PHASE // LANES, freedoms * COORDINATE, rows, contacts * TOUCH, bodies * len(PRESENT)
    widths = np.cumsum([*sizes, *[bodies * len(BEFORE)] * (BUFFERS - 1)])
    scalars, noted, acting, pressing, now, *before = np.split(values, widths, axis=1)[: len(widths)]
    environment[:, 0, PHASE // LANES] = 0.0
    _write(environment, False, scalars[:, None], 0, list(range(PHASE // LANES)))
    _write(coordinates, single, noted.reshape(count, freedoms, COORDINATE), 0, list(range(COORDINATE)))
    _write(loops, single, acting.reshape(count, rows, 1), 0, [0])
    _write(touch, single, pressing.reshape(count, contacts, TOUCH), 0, list(range(TOUCH)))
    _write(knots[:, 0], single, now.reshape(count, bodies, len(PRESENT)), 1, PRESENT)
    for k, velocities in enumerate(before, start=1):
        _write(knots[:, -k], single, velocities.reshape(count, bodies, len(BEFORE)), 1, BEFORE)


def quaternions(plan: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Orientations (environments, bodies, 4) in packed states."""
    start = PHASE // LANES + int(plan[FREEDOMS]) * COORDINATE + int(plan[LOOP_ROWS]) + int(plan[CONTACTS]) * TOUCH
    bodies = int(plan[BODIES]) - 1
    return values[:, start : start + bodies * len(PRESENT)].reshape(len(values), bodies, len(PRESENT))[:, :, 3:7]


def columns(plan: np.ndarray) -> int:
    """Number of columns of a packed state."""
    return (
        PHASE // LANES
        + int(plan[FREEDOMS]) * COORDINATE
        + int(plan[LOOP_ROWS])
        + int(plan[CONTACTS]) * TOUCH
        + (int(plan[BODIES]) - 1) * (len(PRESENT) + (BUFFERS - 1) * len(BEFORE))
    )

"""Newton's method that closes the loops in the tree's coordinates.

A Newton step is the motion of least kinetic energy that closes them to first order, from the same elimination as a time
step's with inertias in place of its blocks; a given freedom has an infinite pivot, it does not move.
"""

import math

from .algebra import store3
from .couple import coupled, set_gap
from .groups import block_count
from .jit import inline, phase
from .joint import planned
from .lanes import above, any_lane, both, from_rows, row, to_rows
from .ldu import close, factorise, solve_to_leaves, solve_to_root
from .links import follow_links, gaps, row_plan
from .quaternion import product
from .reset import place_bodies
from .rows import forget_multipliers, set_rows
from .simd import absolute, maximum, spread, store, where
from .tables import (
    BODIES,
    COMPLIANCE,
    COUPLED,
    ELIMINATION,
    FIRST,
    FORCE,
    FREEDOMS,
    KIND,
    LOAD,
    LOOP_ROWS,
    MOMENT,
    POSITION,
    ROTATIONS,
    TRANSLATIONS,
    VELOCITY,
    WORK,
)  # fmt: skip
from .velocity import inertias, joint_rate

ITERATIONS = 60
LIMIT = 0.3  # [rad] largest rotation of one Newton step
CLOSED = 1e-13  # scaled gap that ends Newton's method


@inline
def is_given(value, token):
    """Mask of the lanes that hold a number."""
    return where(absolute(value) + 1.0, spread(1.0, token), spread(0.0, token))


@phase
def unload(t, blocks, token):
    """No wrench on any body."""
    o = spread(0.0, token)
    for block in range(blocks):
        a = t.b + row(block, WORK, token)
        store3(t.work, a + FORCE, (o, o, o))
        store3(t.work, a + MOMENT, (o, o, o))


@phase
def hold(t, given, rates, held, first, token):
    """Freedoms without load; those whose coordinate (or rate) is given, in the lanes ``held``, do not move."""
    o, rigid = spread(0.0, token), spread(math.inf, token)
    for p in range(t.plan[FREEDOMS]):
        store(t.work, t.p + row(p, ELIMINATION, token) + LOAD, o)
        store(t.work, t.p + row(p, ELIMINATION, token) + COMPLIANCE, o)
    for i in range(1, t.plan[BODIES]):
        n, free = planned(t, i, TRANSLATIONS), planned(t, i, ROTATIONS)
        for j in range(n + free):
            column = planned(t, i, VELOCITY) + j if rates else planned(t, i, POSITION) + (j if free < 3 or j < n else n)
            fixed = both(held, is_given(from_rows(given, first, column, token), token))
            p = t.p + row(planned(t, i, FIRST) + j, ELIMINATION, token)
            store(t.work, p + COMPLIANCE, where(fixed, rigid, o))


@phase
def close_loops(t, k, token, vectors):
    """Motion of least kinetic energy that takes the loop rows' residuals away; returns its largest rotation."""
    inertias(t, block_count(t, token), k, vectors)
    unload(t, block_count(t, token), vectors)
    set_rows(t, k, k, token)
    forget_multipliers(t, t.plan[LOOP_ROWS], token)
    factorise(t, k, k, token)
    solve_to_root(t, k, token)
    turn, _, _, _ = solve_to_leaves(t, k, token)
    return turn


@phase
def shift_joint(t, i, positions, size, mask, k, first, token):
    """Add ``size`` times the motion of joint i to its coordinates, in the lanes of the mask."""
    n, free, column = planned(t, i, TRANSLATIONS), planned(t, i, ROTATIONS), planned(t, i, POSITION)
    for j in range(n + (free if free < 3 else 0)):
        old = from_rows(positions, first, column + j, token)
        to_rows(positions, first, column + j, where(mask, old + size * joint_rate(t, i, j, k, token), old))
    if free == 3:
        o = column + n
        q = (from_rows(positions, first, o, token), from_rows(positions, first, o + 1, token),
             from_rows(positions, first, o + 2, token), from_rows(positions, first, o + 3, token))  # fmt: skip
        half = 0.5 * size
        x, y = half * joint_rate(t, i, n, k, token), half * joint_rate(t, i, n + 1, k, token)
        e = product(q, (spread(1.0, token), x, y, half * joint_rate(t, i, n + 2, k, token)))
        s = 1.0 / math.sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3])
        to_rows(positions, first, o, where(mask, s * e[0], q[0]))
        to_rows(positions, first, o + 1, where(mask, s * e[1], q[1]))
        to_rows(positions, first, o + 2, where(mask, s * e[2], q[2]))
        to_rows(positions, first, o + 3, where(mask, s * e[3], q[3]))


@phase
def coupling_misfits(t, positions, first, token):
    """Residuals of the couplings at coordinates; returns the largest [m or rad]."""
    worst = spread(0.0, token)
    for r in range(t.plan[LOOP_ROWS]):
        if row_plan(t, r, KIND) == COUPLED:
            i, j, other, l = coupled(t, r)
            s = from_rows(positions, first, planned(t, i, POSITION) + j, token)
            led = from_rows(positions, first, planned(t, other, POSITION) + l, token)
            worst = maximum(worst, set_gap(t, r, s, led, token))
    return worst


@phase
def newton(t, k, positions, given, held, active, first, token, vectors):
    """Close the loops from the present coordinates in the ``active`` lanes; returns the scaled gaps that are left."""
    gap = spread(0.0, token)
    for _ in range(ITERATIONS):
        place_bodies(t, k, positions, first, token)
        follow_links(t, k, token)
        hold(t, given, False, held, first, token)
        close(t, k, token)
        gap = maximum(gaps(t, k, token), coupling_misfits(t, positions, first, token))
        active = both(active, above(gap, spread(CLOSED, token)))
        if not any_lane(active):
            break
        limit = spread(LIMIT, token)
        size = limit / maximum(close_loops(t, k, token, vectors), limit)
        for i in range(1, t.plan[BODIES]):
            shift_joint(t, i, positions, size, active, k, first, token)
    return gap

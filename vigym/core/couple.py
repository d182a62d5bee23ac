"""Couplings: one coordinate follows another, s = ratio s' + shifted; loop rows that act on the freedoms alone."""

from .jit import inline, phase
from .joint import planned
from .lanes import row
from .links import row_plan
from .rates import change_of, rate_of
from .simd import absolute, load, maximum, spread, store
from .tables import (
    CONSTANT_ROW,
    COUPLED,
    ELIMINATION,
    FIRST,
    GAP,
    KIND,
    LINK,
    LOOP_ROWS,
    LOOP_WORK,
    OTHER,
    OTHER_FREEDOM,
    RATIO,
    ROW_FREEDOM,
    SHIFTED,
    START,
)  # fmt: skip


@inline
def coupled(t, r):
    """(body, its freedom, body, its freedom) that loop row r couples."""
    i, other = row_plan(t, r, LINK), row_plan(t, r, OTHER)
    j = row_plan(t, r, ROW_FREEDOM) - planned(t, i, FIRST)
    return i, j, other, row_plan(t, r, OTHER_FREEDOM) - planned(t, other, FIRST)


@inline
def coupling_factor(t, r, p, token):
    """Derivative of coupling r by freedom p, which is also what its multiplier acts with."""
    o, one = spread(0.0, token), spread(1.0, token)
    own = one if p == row_plan(t, r, ROW_FREEDOM) else o
    if p == row_plan(t, r, OTHER_FREEDOM):
        own = own - load(t.model, t.l + row(r, CONSTANT_ROW, token) + RATIO, token)
    return own


@inline
def set_gap(t, r, first, second, token):
    """Residual of coupling r at two coordinates."""
    at = t.l + row(r, CONSTANT_ROW, token)
    gap = first - (load(t.model, at + RATIO, token) * second + load(t.model, at + SHIFTED, token))
    store(t.work, t.r + row(r, LOOP_WORK, token) + GAP, gap)
    return absolute(gap)


@inline
def led_to(t, i, j, k3, h, token):
    """Coordinate of freedom j of joint i at the present guess of knot 3."""
    rate, slope, _, _ = rate_of(t, i, j, k3, h, token)
    start = load(t.work, t.p + row(planned(t, i, FIRST) + j, ELIMINATION, token) + START, token)
    return start + change_of(t, i, j, rate, slope, h)


@phase
def coupling_gaps(t, k3, h, token):
    """Residuals of all couplings at the present guess of knot 3; returns the largest [m or rad]."""
    worst = spread(0.0, token)
    for r in range(t.plan[LOOP_ROWS]):
        if row_plan(t, r, KIND) == COUPLED:
            i, j, other, k = coupled(t, r)
            gap = set_gap(t, r, led_to(t, i, j, k3, h, token), led_to(t, other, k, k3, h, token), token)
            worst = maximum(worst, gap)
    return worst

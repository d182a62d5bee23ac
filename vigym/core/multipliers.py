"""Loops in the solves: residuals of the loop rows on the way to the root, multipliers on the way to the leaves."""

from .algebra import axpy, dot, load3, store3
from .jit import inline, phase
from .joint import planned
from .lanes import row
from .links import row_plan
from .rows import all_sleep, carry_plan, couples, coupling, sleeps
from .simd import LANES, absolute, load, maximum, spread, store
from .tables import (
    ALONG_B,
    ALONG_K,
    AT_APEX,
    B_F,
    B_T,
    BODIES,
    CARRIED,
    CARRIED_ROW,
    CARRIES,
    DUAL_SHIFT,
    ELIMINATION,
    FIRST,
    FIRST_CARRY,
    FIRST_ROW,
    FORCE,
    FORCE_SCALE,
    GAP,
    K_F,
    K_T,
    KIND,
    LAST,
    LENGTH_SCALE,
    LOOP_ROWS,
    LOOP_WORK,
    MOMENT,
    MULTIPLIER,
    PIVOT,
    RESIDUAL,
    ROTATIONS,
    ROW_PIVOT,
    ROWS,
    SHIFT,
    SLIDE,
    TILT,
    TRANSLATIONS,
    TURN,
    WORK,
)  # fmt: skip

GAP_ROUNDING = 1e-15  # of a gap, in length scales or rad


@phase
def take_back_shift(t, token):
    """Before a solve: residuals without the force that the dual shift takes from the present multipliers."""
    if all_sleep(t, token):
        return
    for r in range(t.plan[LOOP_ROWS]):
        at = t.r + row(r, LOOP_WORK, token)
        shift = load(t.work, at + DUAL_SHIFT, token) * load(t.work, at + MULTIPLIER, token)
        store(t.work, at + GAP, load(t.work, at + GAP, token) - shift)


@inline
def reduce_rows(t, i, token):
    """On the way to the root: what the freedoms of body i, just solved, leave of the rows it carries."""
    first, freedoms = planned(t, i, FIRST), planned(t, i, TRANSLATIONS) + planned(t, i, ROTATIONS)
    carries = 0 if all_sleep(t, token) else planned(t, i, CARRIES)
    for q in range(planned(t, i, FIRST_CARRY), planned(t, i, FIRST_CARRY) + carries):
        c, at = t.q + row(q, CARRIED, token), t.r + row(carry_plan(t, q, CARRIED_ROW), LOOP_WORK, token) + GAP
        if sleeps(t, carry_plan(t, q, CARRIED_ROW), token):
            continue
        gap = load(t.work, at, token)
        for j in range(freedoms):
            s = load(t.work, t.p + row(first + j, ELIMINATION, token) + RESIDUAL, token)
            gap = gap - s * load(t.work, c + ALONG_K + j * LANES, token)
        store(t.work, at, gap)


@phase
def solve_rows(t, i, token):
    """On the way to the root: residuals of the rows whose apex is body i, into its wrench and the later rows."""
    if all_sleep(t, token):
        return
    a = t.b + row(i, WORK, token)
    for r in range(planned(t, i, FIRST_ROW), planned(t, i, FIRST_ROW) + planned(t, i, ROWS)):
        at = t.r + row(r, LOOP_WORK, token)
        if sleeps(t, r, token):
            continue
        gap = load(t.work, at + GAP, token)
        for m in range(r + 1, row_plan(t, r, LAST) + 1):
            if couples(t, r, m) and not sleeps(t, m, token):
                to = t.r + row(m, LOOP_WORK, token) + GAP
                store(t.work, to, load(t.work, to, token) - gap * load(t.work, coupling(t, m, r, token), token))
        if i > 0:
            c, s = t.q + row(row_plan(t, r, AT_APEX), CARRIED, token), gap * load(t.work, at + ROW_PIVOT, token)
            f, tau = load3(t.work, a + FORCE, token), load3(t.work, a + MOMENT, token)
            store3(t.work, a + FORCE, axpy(s, load3(t.work, c + B_F, token), f))
            store3(t.work, a + MOMENT, axpy(s, load3(t.work, c + B_T, token), tau))


@phase
def multipliers(t, i, token):
    """On the way to the leaves: multipliers of the rows whose apex is body i, whose motion is known.

    Returns the largest gap that the dual shift leaves: a length over the length scale, or an angle [rad].
    """
    left, per_length = spread(0.0, token), 1.0 / load(t.model, t.e + LENGTH_SCALE, token)
    a, first = t.b + row(i, WORK, token), planned(t, i, FIRST_ROW)
    if all_sleep(t, token):
        return left
    for r in range(first + planned(t, i, ROWS) - 1, first - 1, -1):
        at = t.r + row(r, LOOP_WORK, token)
        if sleeps(t, r, token):
            continue
        gap = load(t.work, at + GAP, token)
        for m in range(r + 1, row_plan(t, r, LAST) + 1):
            if couples(t, r, m) and not sleeps(t, m, token):
                lam = load(t.work, t.r + row(m, LOOP_WORK, token) + MULTIPLIER, token)
                gap = gap + lam * load(t.work, coupling(t, r, m, token), token)
        if i > 0:
            c = t.q + row(row_plan(t, r, AT_APEX), CARRIED, token)
            gap = gap + dot(load3(t.work, c + K_F, token), load3(t.work, a + SHIFT, token))
            gap = gap + dot(load3(t.work, c + K_T, token), load3(t.work, a + TURN, token))
        lam = -gap * load(t.work, at + ROW_PIVOT, token)
        if row_plan(t, r, KIND) <= TILT:
            rest = absolute(load(t.work, at + DUAL_SHIFT, token) * (lam - load(t.work, at + MULTIPLIER, token)))
            left = maximum(left, rest * per_length if row_plan(t, r, KIND) == SLIDE else rest)
        store(t.work, at + MULTIPLIER, lam)
    return left


@inline
def pushed(t, i, j, token):
    """Motion of freedom j of body i by the multipliers of the rows it carries."""
    s, carries = spread(0.0, token), 0 if all_sleep(t, token) else planned(t, i, CARRIES)
    for q in range(planned(t, i, FIRST_CARRY), planned(t, i, FIRST_CARRY) + carries):
        if sleeps(t, carry_plan(t, q, CARRIED_ROW), token):
            continue
        lam = load(t.work, t.r + row(carry_plan(t, q, CARRIED_ROW), LOOP_WORK, token) + MULTIPLIER, token)
        s = s + lam * load(t.work, t.q + row(q, CARRIED, token) + ALONG_B + j * LANES, token)
    return s


@inline
def unbalanced(t, p, push, token):
    """Residual of freedom p that the multipliers leave: a force [N] or moment [N m]."""
    return absolute((load(t.work, p + RESIDUAL, token) - push) / load(t.work, p + PIVOT, token))


@phase
def rounding(t, token):
    """What the rounding of gaps leaves of the carrying freedoms' residuals, scaled; next to singular poses, a lot.

    A gap is known to some roundings of the length scale; its row turns that into a multiplier, and that into forces.
    """
    length = load(t.model, t.e + LENGTH_SCALE, token)
    noise, per_length = spread(0.0, token), maximum(spread(1.0, token), 1.0 / length)
    if all_sleep(t, token):
        return noise
    for i in range(1, t.plan[BODIES]):
        for j in range(planned(t, i, TRANSLATIONS) + planned(t, i, ROTATIONS)):
            s, p = spread(0.0, token), t.p + row(planned(t, i, FIRST) + j, ELIMINATION, token)
            for q in range(planned(t, i, FIRST_CARRY), planned(t, i, FIRST_CARRY) + planned(t, i, CARRIES)):
                r = carry_plan(t, q, CARRIED_ROW)
                gap = GAP_ROUNDING * (length if row_plan(t, r, KIND) == SLIDE else spread(1.0, token))
                lam = gap * absolute(load(t.work, t.r + row(r, LOOP_WORK, token) + ROW_PIVOT, token))
                x = load(t.work, t.q + row(q, CARRIED, token) + ALONG_B + j * LANES, token)
                s = s + lam * absolute(x) if row_plan(t, r, KIND) <= TILT else s
            noise = maximum(noise, absolute(s / load(t.work, p + PIVOT, token)))
    return noise * per_length / load(t.model, t.e + FORCE_SCALE, token)

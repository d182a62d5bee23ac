"""One evaluation of the equations of a step: from a guess of knot 3 to its residual and the increment."""

from .body import blocks6, predict, pressing, residuals
from .couple import coupling_gaps
from .drives import follow_laws, keep_laws, take_laws
from .forces import constant_loads, rate_loads, rate_terms, spring_loads, start_laws
from .groups import blend, gravity
from .interior import fall
from .jit import inline, phase
from .joint import planned
from .lanes import any_lane, both, but_not, copy, of_precision, over_bodies, row
from .laws import HARD
from .ldu import close, factorise, scaled, solve_to_leaves, solve_to_root
from .links import follow_links, gaps
from .meeting import set_touching
from .multipliers import rounding
from .press import condense, press, press_inside, push
from .pressed import follow_contacts, follow_inside, keep_forces, take_duals, take_forces
from .rows import forget_multipliers, keep_multipliers, set_rows
from .simd import LANES, absolute, load, maximum, spread, where
from .tables import (
    BALL,
    BLOCK,
    BODIES,
    CONTACTS,
    FORCE_SCALE,
    H0,
    H1,
    HISTORY,
    LAWS,
    LENGTH_SCALE,
    LOOP_ROWS,
    OWN,
    PIVOTS,
    RATED,
    WORK,
    WORK_FREEDOMS,
    WORK_SIZE,
)  # fmt: skip
from .touch import look, meet

PROX = 1e-5  # proximal part of a contact's force: much less asks for pivoting across blocks
CAREFUL_PROX = 1e-3  # of the careful attempt: easier to solve, its anchors have to move more often
POSITION_ROUNDING = 0.05  # what the rounding of positions makes of a loop's forces, in parts of their round-off

OPEN_ROUNDING = 0.0, 1.0  # the same without loops, in double and single precision


@phase
def keep_factors(t, token):
    """Set aside what solves read of the factors: of a batch, lanes are environments."""
    size, start = t.plan[WORK_SIZE], t.b + t.plan[WORK_FREEDOMS]
    copy(t.work, start + size, t.work, start, size - t.plan[WORK_FREEDOMS])
    for i in range(1, t.plan[BODIES]):
        own = t.b + row(i, WORK, token) + OWN
        copy(t.work, own + size, t.work, own, 9 * LANES)
        if planned(t, i, PIVOTS) == BALL:
            block = t.b + row(i, WORK, token) + BLOCK
            copy(t.work, block + size, t.work, block, 36 * LANES)


@phase
def put_back_factors(t, mask, token):
    """Put them back in the lanes of the mask."""
    size, start = t.plan[WORK_SIZE], t.b + t.plan[WORK_FREEDOMS]
    blend(t.work, start, t.work, start + size, size - t.plan[WORK_FREEDOMS], mask, token)
    for i in range(1, t.plan[BODIES]):
        own = t.b + row(i, WORK, token) + OWN
        blend(t.work, own, t.work, own + size, 9 * LANES, mask, token)
        if planned(t, i, PIVOTS) == BALL:
            block = t.b + row(i, WORK, token) + BLOCK
            blend(t.work, block, t.work, block + size, 36 * LANES, mask, token)


@phase
def renew(t, blocks, k2, k3, h, weight, others, token, vectors):
    """Factorise anew; the factors of the lanes ``others`` are kept aside and put back."""
    mixed = any_lane(others)
    if mixed:
        keep_factors(t, vectors)
    blocks6(t, blocks, k2, k3, spread(h, vectors), vectors)
    if t.plan[CONTACTS] > 0:
        condense(t, weight, 1.0 / h, token)
    if t.plan[LOOP_ROWS] > 0:
        set_rows(t, k2, k3, token)
        set_touching(t, weight, 1.0 / h, token)
    factorise(t, k2, k3, token)
    if mixed:
        put_back_factors(t, spread(others, vectors), vectors)


@inline
def extrapolation(t, h, token):
    """Weights (linear, cubic) of the predictor.

    A line through the midpoints of the last two steps, once one step has been made; a cubic when five equal steps, of
    size h, have. A negative weight, which only the composition's backward step asks for, is left out with those that
    reach too far.
    """
    o, one = spread(0.0, token), spread(1.0, token)
    h1, h0 = load(t.state, t.s + H1, token), load(t.state, t.s + H0, token)
    history = load(t.state, t.s + HISTORY, token)
    linear = (h1 + h) / where(absolute(h0 + h1), h0 + h1, one)
    linear = where(history - 0.5, where(linear - 2.5, o, where(linear, linear, o)), o)
    return linear, where(history - 4.5, where(absolute(h - h1), o, one), o)


@inline
def begin(t, blocks, k2, k3, h, rho, careful, token, vectors):
    """First guess of knot 3 and the loads that stay; returns the largest term of a residual [N], for round-off."""
    o = spread(0.0, token)
    linear, cubic = extrapolation(t, h, token)
    linear, cubic = (o, o) if careful else (linear, cubic)
    linear, cubic, g = spread(linear, vectors), spread(cubic, vectors), gravity(t, token, vectors)
    roundings = POSITION_ROUNDING if t.plan[LOOP_ROWS] > 0 else of_precision(OPEN_ROUNDING, token)
    roundings = 1.0 if t.plan[CONTACTS] > 0 else roundings  # of a contact's forces it makes all of it
    rho_, h_ = spread(rho, vectors), spread(h, vectors)
    terms = predict(t, blocks, k2, k3, h_, rho_, linear, cubic, g, roundings, vectors)
    constant_loads(t, spread(0.5, token), 0.5 * rho, 0.5 + 0.5 * rho, token)
    if t.plan[LAWS] > 0:
        start_laws(t, spread(1.0, token), token)
    if t.plan[CONTACTS] > 0:
        meet(t, k2, h, token)
    if t.plan[LOOP_ROWS] > 0:
        follow_links(t, k3, token)
        forget_multipliers(t, t.plan[LOOP_ROWS], token)
    return maximum(over_bodies(terms, token), rate_terms(t, h, token) / load(t.model, t.e + LENGTH_SCALE, token))


@inline
def look_around(t, k2, k3, h, rho, prox, slack, inside, kappa, token):
    """All that the present guess of knot 3 sets but the bodies' own wrenches.

    Returns (largest gap of joints and loops, scaled; lanes in which a contact presses, or a drive, limit or dry
    friction acts).
    """
    gap, held = close(t, k3, token), spread(0.0, token)
    if t.plan[RATED] > 0:
        held = rate_loads(t, k3, h, rho, token)
    if t.plan[LOOP_ROWS] > 0:
        spring_loads(t, k3, h, rho, token)
        gap = maximum(gap, maximum(gaps(t, k3, token), coupling_gaps(t, k3, h, token)))
    if t.plan[CONTACTS] > 0:
        look(t, k2, k3, h, token)
        if inside:
            held = maximum(held, press_inside(t, 1.0 / h, prox, kappa, fall(t, 1.0 / h, token), token))
        else:
            held = maximum(held, press(t, 1.0 / h, prox, token))
    return gap * slack, held


@inline
def follow_forces(t, blocks, k3, h, prox, inside, kappa, token, vectors):
    """Forces of contacts, drives, limits and dry friction after the increment.

    Returns (what the increment is worth as a force, how far the forces are from their laws, both scaled, the part of it
    that stays inside the cones).
    """
    length, off, one = load(t.model, t.e + LENGTH_SCALE, token), spread(0.0, token), spread(1.0, token)
    size = one
    worth = over_bodies(pressing(t, blocks, k3, spread(h, vectors), spread(length, vectors), vectors), token)
    if t.plan[LAWS] > 0:
        off = follow_laws(t, one, 1.0 / h, HARD, token)
    if t.plan[CONTACTS] > 0:
        if inside:
            size, law = follow_inside(t, 1.0 / h, prox, kappa, fall(t, 1.0 / h, token), token)
        else:
            law = follow_contacts(t, 1.0 / h, prox, token)
        off = maximum(off, law)
    scale = 1.0 / load(t.model, t.e + FORCE_SCALE, token)
    return worth * scale, off * scale, size


@inline
def take(t, size, mask, inside, token):
    """The forces of laws and contacts move ``size`` of their way in the lanes of the mask."""
    if t.plan[LAWS] > 0:
        take_laws(t, size, mask, token)
    if t.plan[CONTACTS] > 0:
        take_forces(t, size, mask, token)
        if inside:
            take_duals(t, size, mask, token)


@inline
def keep_found(t, mask, token):
    """The forces of laws and contacts are those of the solution in the lanes of the mask."""
    if t.plan[LAWS] > 0:
        keep_laws(t, mask, token)
    if t.plan[CONTACTS] > 0:
        keep_forces(t, mask, token)


@inline
def evaluate(t, blocks, k2, k3, h, rho, active, wants, held, prox, careful, inside, kappa, slack, token, vectors):
    """Residual at the present guess of knot 3, and where multipliers or held forces count the increment with them.

    The lanes ``wants`` factorise anew, and those that hold a force: contacts, limits and the like change their slopes.
    Returns (scaled residual, largest rotation of the increment, gap it leaves, lanes that hold a force, how far the
    forces are from their laws, part of the increment that stays inside their cones).
    """
    looped, o, weight = t.plan[LOOP_ROWS] > 0, spread(0.0, token), 0.5 + 0.5 * rho
    gap, now_held = look_around(t, k2, k3, h, rho, prox, slack, inside, kappa, token)
    held = maximum(held, both(now_held, active))
    wants = maximum(wants, both(held, active))
    if any_lane(wants):
        renew(t, blocks, k2, k3, h, weight, but_not(active, wants), token, vectors)
    residuals(t, blocks, k2, k3, spread(h, vectors), vectors)
    if t.plan[CONTACTS] > 0:
        push(t, weight, token)
    now, turn, left, off, part = maximum(gap, solve_to_root(t, k2, token)), o, o, o, o + 1.0
    holding = any_lane(held)
    if looped or holding:
        turn, force, moment, left = solve_to_leaves(t, k3, token)
        if holding:
            worth, off, part = follow_forces(t, blocks, k3, h, prox, inside, kappa, token, vectors)
            now, off = where(held, maximum(gap, worth), now), where(held, off, o)
        unbalanced = scaled(t, force, moment, token)
        if careful and looped:
            unbalanced = maximum(unbalanced - rounding(t, token), o)
        now = maximum(now, unbalanced)
        if looped:
            keep_multipliers(t, active, token)
    return maximum(now, off), turn, left, held, off, part

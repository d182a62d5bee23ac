"""Newton's method for one step, all lanes at once, each lane on its own terms.

Chord iteration: one factorisation per step, made anew in a lane only when its residual shrinks by less than a factor
of four. A lane that has converged is frozen, so its neighbours never change it. A step is accepted when its scaled
residual is below the tolerance, measured, or bounded from the measured contraction: the chord's next residual is about
(residual)^2 / (last residual). Damped full Newton, the second attempt, factorises in every iteration.
"""

from .body import blocks6, predict, residuals, update
from .forces import constant_loads, rate_loads, rate_terms, spring_loads
from .groups import blend, block_count, gravity
from .jit import inline, phase
from .joint import planned
from .lanes import above, any_lane, both, but_not, copy, over_bodies, row
from .ldu import close, factorise, scaled, solve_to_leaves, solve_to_root
from .links import follow_links, gaps
from .multipliers import rounding
from .rows import forget_multipliers, keep_multipliers, set_rows
from .simd import LANES, absolute, load, maximum, spread, where
from .tables import (
    BALL,
    BLOCK,
    BODIES,
    FORCE_SCALE,
    H0,
    H1,
    HISTORY,
    LENGTH_SCALE,
    LOOP_ROWS,
    OWN,
    PIVOTS,
    RATED,
    WORK,
    WORK_FREEDOMS,
    WORK_SIZE,
)  # fmt: skip

ITERATIONS, CAREFUL_ITERATIONS = 12, 40  # chord attempt, damped full Newton
SLOW = 0.25  # contraction above which the chord's factorisation is renewed
SAFETY = 1.5  # on the predicted next residual (measured on chains: 0.4 to 0.7 of residual^2 / last residual)
STEP_LIMIT, CAREFUL_LIMIT = 1.0, 0.3  # [rad] largest rotation of one Newton increment
SETTLED = 1e-7  # [rad] of the next increment: next to singular poses a small gap leaves much of the motion open
WANDERS = 1e-3  # [rad] an increment beyond this that is not half of the last one leads away: loops have other roots
POSITION_ROUNDING = 0.05  # what the rounding of positions makes of a loop's forces, in parts of their round-off
ROUND_OFF = 4e-15  # residuals are not asked to fall below this part of their largest term


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
def renew(t, blocks, k2, k3, h, others, token, vectors):
    """Factorise anew; the factors of the lanes ``others`` are kept aside and put back."""
    mixed = any_lane(others)
    if mixed:
        keep_factors(t, vectors)
    blocks6(t, blocks, k2, k3, spread(h, vectors), vectors)
    if t.plan[LOOP_ROWS] > 0:
        set_rows(t, k2, k3, token)
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
    roundings = POSITION_ROUNDING if t.plan[LOOP_ROWS] > 0 else 0.0
    rho_, h_ = spread(rho, vectors), spread(h, vectors)
    terms = predict(t, blocks, k2, k3, h_, rho_, linear, cubic, g, roundings, vectors)
    constant_loads(t, spread(0.5, token), 0.5 * rho, 0.5 + 0.5 * rho, token)
    if t.plan[LOOP_ROWS] > 0:
        follow_links(t, k3, token)
        forget_multipliers(t, t.plan[LOOP_ROWS], token)
    return maximum(over_bodies(terms, token), rate_terms(t, h, token) / load(t.model, t.e + LENGTH_SCALE, token))


@inline
def evaluate(t, blocks, k2, k3, h, rho, active, wants, careful, slack, token, vectors):
    """Residual at the present guess of knot 3, and with loops the increment and the multipliers that follow from it.

    The lanes ``wants`` factorise anew. Returns (scaled residual, largest rotation of the increment, gap it leaves).
    """
    looped, o = t.plan[LOOP_ROWS] > 0, spread(0.0, token)
    gap = close(t, k3, token)
    if t.plan[RATED] > 0:
        rate_loads(t, k3, h, rho, token)
    if looped:
        spring_loads(t, k3, h, rho, token)
        gap = maximum(gap, gaps(t, k3, token))
    if any_lane(wants):
        renew(t, blocks, k2, k3, h, but_not(active, wants), token, vectors)
    residuals(t, blocks, k2, k3, spread(h, vectors), vectors)
    now, turn, left = maximum(gap * slack, solve_to_root(t, k2, token)), o, o
    if looped:
        turn, force, moment, left = solve_to_leaves(t, k3, token)
        unbalanced = scaled(t, force, moment, token)
        if careful:
            unbalanced = maximum(unbalanced - rounding(t, token), o)
        now = maximum(now, unbalanced)
        keep_multipliers(t, active, token)
    return now, turn, left


@phase
def attempt(t, k2, k3, h, todo, careful, tolerance, token, vectors):
    """One step of size ``h`` in the lanes of ``todo``, from knot buffer k2 into k3.

    Returns (lanes that converged, iterations, scaled residual).
    """
    blocks, o, looped = block_count(t, token), spread(0.0, token), t.plan[LOOP_ROWS] > 0
    rho = load(t.state, t.s + H1, token) / h
    terms = begin(t, blocks, k2, k3, h, rho, careful, token, vectors)
    # forces are not asked for beyond their rounding; gaps are
    slack = maximum(spread(1.0, token), ROUND_OFF / tolerance * terms / load(t.model, t.e + FORCE_SCALE, token))
    goal = tolerance * slack
    active, wants, previous = todo, todo, spread(1.0, token)
    done, iterations, residual, last_turn = o, o, spread(1e300, token), spread(1e300, token)
    for iteration in range(CAREFUL_ITERATIONS if careful else ITERATIONS):
        now, turn, left = evaluate(t, blocks, k2, k3, h, rho, active, wants, careful, slack, token, vectors)
        residual = where(active, now, residual)
        finished = both(both(active, above(goal, now)), above(spread(SETTLED, token), turn))
        done, active = maximum(done, finished), but_not(active, finished)
        if not any_lane(active):
            break
        if not looped:
            turn, _, _, _ = solve_to_leaves(t, k3, token)
        elif not careful:  # the careful attempt starts from the last velocities, next to the right root
            active = but_not(active, both(above(turn, spread(WANDERS, token)), above(turn, 0.5 * last_turn)))
            last_turn = turn
        limit = spread(CAREFUL_LIMIT if careful else STEP_LIMIT, token)
        size = limit / maximum(turn, limit)
        update(t, blocks, k2, k3, spread(h, vectors), spread(size, vectors), spread(active, vectors), vectors)
        iterations = iterations + active
        theta = now / previous
        bound = SAFETY * theta * now if iteration > 0 else now
        if looped:
            follow_links(t, k3, token)
            bound = maximum(bound, slack * maximum(left, turn * turn))  # and what it leaves of a loop's curvature
            size = where(above(theta * turn, spread(SETTLED, token)), 0.0 * size, size)
        finished = both(both(active, above(goal, bound)), above(size, spread(0.999, token)))
        residual = where(finished, bound, residual)
        done, active = maximum(done, finished), but_not(active, finished)
        active = both(active, above(spread(1e12, token), now))  # diverged, or not a number
        if not any_lane(active):
            break
        wants = active if careful else (both(active, above(theta, spread(SLOW, token))) if iteration > 0 else o)
        previous = where(active, now, previous)
    return done, iterations, residual

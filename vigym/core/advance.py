"""Advance lanes by a step: halved steps where Newton fails, fourth order by composition, knots that take turns.

With unequal steps every formula holds with rho = h1/h: halved steps and the negative step of the composition need
nothing of their own.
"""

from .books import book
from .coordinates import gather, keep, note_all, note_forced
from .groups import blend, block_count
from .jit import inline, phase
from .knot import bend, fastest, knots, turn_buffers
from .lanes import above, any_lane, both, but_not, copy, over_bodies
from .links import note_lengths
from .newton import attempt
from .simd import absolute, load, maximum, spread, where
from .tables import (
    ASIDE_STATE,
    BUFFERS,
    CONTACTS,
    H0,
    H1,
    HISTORY,
    INTERIOR,
    KNOT_SIZE,
    LINKS,
    LOOP_ROWS,
    SWEPT,
    TIME,
    TIME_REST,
)

SMALLEST = 1.0 / 256.0  # halved steps stop at this part of the step
KINK = 0.05  # [rad] change of a body's turn from step to step that smooth motion does not have
NOTE_AFTER = 2.0  # [rad] swept since turns were counted; a joint's coordinate is safe up to a full turn
GAMMA = 1.3512071919596578  # 1 / (2 - 2^(1/3)): outer steps of the fourth-order composition


@phase
def retry(t, k2, k3, h, failed, inside, tolerance, token, vectors):
    """A damped full-Newton attempt in the failed lanes; the others' new knots are kept aside meanwhile.

    ``inside``: with the contacts by the interior point.
    """
    size, aside = t.plan[KNOT_SIZE], t.b + t.plan[ASIDE_STATE]
    copy(t.work, aside, t.state, k3, size)
    done, iterations, residual = attempt(t, k2, k3, h, failed, True, inside, tolerance, token, vectors)
    blend(t.state, k3, t.work, aside, size, spread(1.0, vectors) - spread(failed, vectors), vectors)
    return done, iterations, residual


@inline
def keep_last_knot(t, k3, todo, token):
    """Keep the oldest velocities of lanes that rest while others move: knot buffer k3 is about to be overwritten."""
    if any_lane(but_not(spread(1.0, token), todo)):
        size, aside = t.plan[KNOT_SIZE], t.b + t.plan[ASIDE_STATE] + t.plan[KNOT_SIZE]
        copy(t.work, aside, t.state, k3, size)


@phase
def rest(t, others, idle, vectors):
    """Before the buffers turn, pass on the knots of lanes that did not move.

    The present one of all ``others``; the older ones only of the ``idle`` lanes, which were not asked to move.
    """
    size, aside = t.plan[KNOT_SIZE], t.b + t.plan[ASIDE_STATE] + t.plan[KNOT_SIZE]
    blend(t.state, knots(t, -1), t.state, knots(t, 0), size, others, vectors)
    for back in range(BUFFERS - 2):
        blend(t.state, knots(t, back), t.state, knots(t, back + 1), size, idle, vectors)
    blend(t.state, knots(t, BUFFERS - 2), t.work, aside, size, idle, vectors)


@phase
def accept(t, k3, h, done, failed, token, vectors):
    """Knot 3 becomes the present one in the lanes that are done; the others keep theirs.

    Lanes that failed start from the velocity alone next time. Returns the lanes in which a drive gave all it can.
    """
    h1, one = load(t.state, t.s + H1, token), spread(1.0, token)
    strained = book(t, knots(t, 0), k3, h, h1 / h, done, token)
    keep(t, t.s + H0, h1, done, token)
    history = where(absolute(h - h1), 0.0 * one, load(t.state, t.s + HISTORY, token)) + 1.0
    if t.plan[LOOP_ROWS] + t.plan[CONTACTS] > 0:  # beyond a kink the predictor leads to other roots
        kink = absolute(h) * over_bodies(bend(t, block_count(t, token), knots(t, 0), k3, vectors), token)
        history = where(above(kink, spread(KINK, token)), 0.0 * one, history)
    keep(t, t.s + HISTORY, history, done, token)
    keep(t, t.s + HISTORY, 0.0 * one, failed, token)
    keep(t, t.s + H1, h, done, token)
    gather(t, TIME, TIME_REST, h, done, token)
    others = but_not(one, done)
    if any_lane(others):
        rest(t, spread(others, vectors), spread(but_not(others, failed), vectors), vectors)
    turn_buffers(t)
    note_forced(t, k3, done, token)
    if t.plan[LINKS] > 0:
        note_lengths(t, k3, done, token)
    rate = over_bodies(fastest(t, block_count(t, token), k3, vectors), token)
    # sin(turn / 2) = h w / 2, so that a step turns a body by pi/2 h w at most, and two against each other by pi h w
    swept = load(t.state, t.s + SWEPT, token) + 3.1415926535 * absolute(h) * rate
    keep(t, t.s + SWEPT, swept, done, token)
    due = both(done, above(swept, spread(NOTE_AFTER, token)))
    if any_lane(due):
        note_all(t, k3, due, token)
        keep(t, t.s + SWEPT, spread(0.0, token), due, token)
    return strained


@phase
def advance(t, dt, lanes, tolerance, token, vectors):
    """Move the lanes by ``dt``, in halved steps where one does not converge.

    Returns (lanes that arrived, iterations, residual, halvings, lanes in which a drive gave all it can).
    """
    o = spread(0.0, token)
    part, left = spread(1.0, token), lanes  # of dt: halves of one are exact, halves of dt would not add up to it
    iterations, worst, halvings, strained, alive = o, o, o, o, lanes
    while True:
        todo, h = both(left, alive), part * dt
        if not any_lane(todo):
            return alive, iterations, worst, halvings, strained
        k2, k3 = knots(t, 0), knots(t, -1)
        keep_last_knot(t, k3, todo, token)
        inside = t.plan[INTERIOR] > 0
        done, n, residual = attempt(t, k2, k3, h, todo, inside, inside, tolerance, token, vectors)
        iterations = iterations + n
        failed = but_not(todo, done)
        tries = 2 if t.plan[CONTACTS] > 0 and not inside else 1
        for turn in range(tries):  # damped, then the interior point; or the other way round where that came first
            if any_lane(failed):
                last = turn == 1
                again, n, second = retry(t, k2, k3, h, failed, last, tolerance, token, vectors)
                residual = where(failed, second, residual)
                done, failed, iterations = maximum(done, again), but_not(failed, again), iterations + n
        worst = where(done, maximum(worst, residual), worst)
        strained = maximum(strained, accept(t, k3, h, done, failed, token, vectors))
        left = left - where(done, part, o)
        part = where(failed, 0.5 * part, part)
        halvings = halvings + failed
        lost = both(failed, above(spread(SMALLEST, token), part))
        alive, worst = but_not(alive, lost), where(lost, residual, worst)


@inline
def part(order, stage):
    """Part of a step that one stage of the method makes: all of it, or g, 1 - 2 g, g of the fourth order."""
    return 1.0 if order == 2 else (1.0 - 2.0 * GAMMA if stage % 3 == 1 else GAMMA)

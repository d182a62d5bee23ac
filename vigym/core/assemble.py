"""Assembly of loops: joint coordinates that close them, and rates that keep them closed.

Coordinates that are given are approached from the assembly pose in small stages, the others follow by Newton's method
(see ``closing``): that is the branch next to the assembly pose. Rates are projected in the same metric.
"""

from .algebra import add, cross, largest3, load3, load9, mul, store3
from .carry import largest_weight
from .closing import CLOSED, close_loops, hold, is_given, newton
from .groups import group
from .jit import entry, phase
from .joint import joint_row, planned, rotation_repair, translation_repair
from .knot import knots
from .lanes import above, any_lane, both, but_not, copy, from_rows, row, to_rows
from .ldu import close
from .links import follow_links, rate_gaps, row_plan
from .reset import move_bodies, place_bodies, rounded
from .simd import LANES, absolute, load, maximum, spread, where, zero_lanes
from .tables import (
    ARM,
    ASIDE_STATE,
    BODIES,
    JOINTS,
    KIND,
    KNOT,
    LOOP_ROWS,
    LOOP_WORK,
    POSITION,
    POSITIONS,
    ROTATIONS,
    ROW_PIVOT,
    SHIFT,
    STATE_SIZE,
    TILT,
    TRANSLATIONS,
    TURN,
    VELOCITIES,
    VELOCITY,
    WORK,
    R,
    V,
    W,
)  # fmt: skip
from .touch import keep_apart
from .velocity import coupling_rates, joint_rate

STAGE = 0.2  # [rad or m] change of a given coordinate from one stage to the next
STAGES = 64
NEAR = 1e-6  # a gap that given values leave below this (rates: times the fastest) is closed by changing them, too
WEAK = 3e-13  # a loop row with a pivot below this part of its link's largest leaves open what it holds elsewhere
# columns of the outcome: scaled gap, rate of a gap, weak rows met; from the last on a gap of each closing joint
GAP_LEFT, RATE_LEFT, WEAK_ROWS, JOINT_GAPS = range(4)


@phase
def farthest(t, start, given, first, token):
    """Largest change that a given coordinate asks for; the pose of a floating body does not matter to loops."""
    change = spread(0.0, token)
    for i in range(1, t.plan[BODIES]):
        n, free, column = planned(t, i, TRANSLATIONS), planned(t, i, ROTATIONS), planned(t, i, POSITION)
        for j in range(n + (free if free < 3 else 4) if n + free < 6 else 0):
            goal = from_rows(given, first, column + j, token)
            far = absolute(goal - from_rows(start, first, column + j, token))
            change = maximum(change, where(is_given(goal, token), far, 0.0 * change))
    return change


@phase
def approach(t, positions, before, start, given, fraction, done, first, token):
    """Set the given coordinates to this part of their way from the start, and let the others go on as they went.

    That keeps the branch at poses where several meet. Lanes that are ``done`` keep theirs.
    """
    for column in range(t.plan[POSITIONS]):
        goal, now = from_rows(given, first, column, token), from_rows(positions, first, column, token)
        origin = from_rows(start, first, column, token)
        between = where(above(fraction, spread(0.999999, token)), goal, origin + fraction * (goal - origin))
        ahead = now + (now - from_rows(before, first, column, token))
        to_rows(before, first, column, now)
        ahead = where(is_given(goal, token), between, ahead)
        to_rows(positions, first, column, where(done, now, ahead))


@phase
def assemble(t, k, positions, before, given, start, first, token, vectors):
    """Coordinates that close the loops, the given ones held; returns the scaled gaps that are left."""
    one, gap = spread(1.0, token), spread(0.0, token)
    change = farthest(t, start, given, first, token) / STAGE
    stages = rounded(maximum(one, where(change - STAGES, STAGES * one, change + 0.5)))
    stage, held, active = 0, one, one
    while True:
        stage += 1
        fraction = stage / stages
        fraction, over = where(fraction - one, one, fraction), 0.0 * one
        if any_lane(held):
            over = above(stage / stages, 1.0 + 0.5 / stages)
            approach(t, positions, before, start, given, fraction, over, first, token)
        moving = but_not(active, over)  # lanes past their last stage wait for their neighbours as they are
        gap = where(moving, newton(t, k, positions, given, held, moving, first, token, vectors), gap)
        if any_lane(above(one, fraction)):
            continue
        # once more, without holding what nearly fits
        active = both(held, both(above(gap, spread(CLOSED, token)), above(spread(NEAR, token), gap)))
        held = 0.0 * one
        if not any_lane(active):
            break
    place_bodies(t, k, positions, first, token)
    follow_links(t, k, token)
    close(t, k, token)
    return gap


@phase
def set_motion(t, k, token):
    """Anchor and angular velocity of each body in SHIFT and TURN, from those at the knot."""
    for i in range(1, t.plan[BODIES]):
        a, own = t.b + row(i, WORK, token), k + row(i, KNOT, token)
        omega = mul(load9(t.state, own + R, token), load3(t.state, own + W, token))
        v = add(load3(t.state, own + V, token), cross(omega, load3(t.state, own + ARM, token)))
        store3(t.work, a + SHIFT, v)
        store3(t.work, a + TURN, omega)


@phase
def project(t, k, rates, given, held, active, first, token, vectors):
    """Take from the rates what opens loops, in the ``active`` lanes; the given ones stay in the lanes ``held``.

    Returns the largest rate of a gap that stays, and the number of weak rows that were met.
    """
    least, weak = spread(1e300, token), spread(0.0, token)
    for _ in range(4):
        move_bodies(t, k, rates, first, token)
        set_motion(t, k, token)
        left = maximum(rate_gaps(t, k, token), coupling_rates(t, k, token))
        least = where(least - left, left, least)
        active = both(active, above(left, spread(CLOSED, token)))  # those that are closed wait for no neighbour
        if not any_lane(active):
            break
        hold(t, given, True, held, first, token)
        close_loops(t, k, token, vectors)
        weak = maximum(weak, where(active, weak_rows(t, token), 0.0 * weak))
        for i in range(1, t.plan[BODIES]):
            for j in range(planned(t, i, TRANSLATIONS) + planned(t, i, ROTATIONS)):
                column = planned(t, i, VELOCITY) + j
                old = from_rows(rates, first, column, token)
                to_rows(rates, first, column, where(active, old + joint_rate(t, i, j, k, token), old))
    return least, weak


@phase
def weak_rows(t, token):
    """Number of loop rows that hold nothing at this pose, of those that were just eliminated."""
    count = spread(0.0, token)
    for r in range(t.plan[LOOP_ROWS]):
        if row_plan(t, r, KIND) <= TILT:
            pivot = absolute(1.0 / load(t.work, t.r + row(r, LOOP_WORK, token) + ROW_PIVOT, token))
            count = count + above(WEAK * largest_weight(t, r, token), pivot)
    return count


@phase
def closed_rates(t, k, rates, given, first, token, vectors):
    """Rates that keep the loops closed, the given ones held.

    Returns the largest rate of a gap that stays, and the number of weak rows that were met.
    """
    one, fastest = spread(1.0, token), spread(1.0, token)
    for column in range(t.plan[VELOCITIES]):
        rate = absolute(from_rows(rates, first, column, token))
        fastest = where(rate - fastest, rate, fastest)
    left, held, active, weak = one, one, one, 0.0 * one
    for _ in range(2):  # the second time without holding what nearly fits
        rest, met = project(t, k, rates, given, held, active, first, token, vectors)
        left, weak = where(active, rest, left), maximum(weak, met)
        active, held = both(above(left, spread(CLOSED, token)), above(NEAR * fastest, left)), 0.0 * one
        if not any_lane(active):
            break
    return left, weak


@phase
def assemble_group(t, positions, before, given, start, rates, given_rates, outcome, first, token, vectors):
    """Assemble the lanes; the state is left as it was."""
    size, kept = t.plan[STATE_SIZE], t.b + t.plan[ASIDE_STATE]
    copy(t.work, kept, t.state, t.s, size)
    k = knots(t, 0)
    keep_apart(t, token)
    to_rows(outcome, first, GAP_LEFT, assemble(t, k, positions, before, given, start, first, token, vectors))
    left, weak = closed_rates(t, k, rates, given_rates, first, token, vectors)
    to_rows(outcome, first, RATE_LEFT, left)
    to_rows(outcome, first, WEAK_ROWS, weak)
    for joint in range(t.plan[BODIES], t.plan[JOINTS]):
        g = joint_row(t, joint)
        c, _ = translation_repair(t, g, k, token)
        gap = maximum(largest3(c), largest3(rotation_repair(t, g, k, token)))
        to_rows(outcome, first, JOINT_GAPS + joint - t.plan[BODIES], gap)
    copy(t.state, t.s, t.work, kept, size)


@entry
def assemble_single(plan, model, state, work, extent, positions, before, given, start, rates, given_rates, outcome):
    """Assemble one environment."""
    t = group(plan, model, state, work, 0, 0, 0, extent)
    assemble_group(t, positions, before, given, start, rates, given_rates, outcome, 0, 0.0, zero_lanes())


@entry
def assemble_lanes(
    plan, model, state, work, extent, positions, before, given, start, rates, given_rates, outcome, model_stride
):
    """Assemble a batch."""
    for g in range((outcome.shape[0] + LANES - 1) // LANES):
        t = group(plan, model, state, work, g * model_stride, g * plan[STATE_SIZE], 0, extent)
        lanes = zero_lanes()
        assemble_group(t, positions, before, given, start, rates, given_rates, outcome, g * LANES, lanes, lanes)

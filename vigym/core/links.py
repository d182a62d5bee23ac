"""Links: what closes loops. Their halves on the bodies, how far they are from closed, and which way their rows act.

A link holds two bodies a (its parent) and b (its child) together: a joint of which one half is fixed in each, or a
spring between two points. Each of its loop rows has a direction (f, m): a unit force at the link's anchor on b, and a
unit moment; the row's equation changes by f . (relative shift of the anchors) + m . (relative turn), and its multiplier
acts with the wrench (f, m) on b and the opposite one on a.

- slide: t . (y_b - y_a) = 0, t fixed in a: direction (t, 0);
- tilt: u . w = 0, u fixed in a, w fixed in b: direction (0, w x u);
- soft rows yield: the force of a spring or damper along a freedom, or along the line between two points.
"""

import math

from .algebra import add, axpy, cross, dot, load3, load9, mul, scale, store3, sub
from .coordinates import keep
from .jit import inline, phase
from .joint import first_spring, last_link, planned, separation, translation_repair
from .lanes import row
from .simd import absolute, load, maximum, spread, store, where
from .tables import (
    ANCHOR_B,
    AXIS,
    AXIS_B,
    BODY,
    CHILD,
    COMPLIANCE,
    CONSTANT_ROW,
    COORDINATE,
    ELIMINATION,
    FIRST,
    FIRST_LINK,
    FIRST_ROW,
    FIXED_A,
    FIXED_B,
    FORCE,
    GAP,
    KIND,
    KNOT,
    LENGTH_SCALE,
    LEVER3,
    LOAD,
    LOOP_PLAN,
    LOOP_WORK,
    MOMENT,
    PARENT,
    PLAN_LOOPS,
    REPAIR_R,
    REPAIR_X,
    ROW_FREEDOM,
    ROWS,
    SHIFT,
    SINE,
    SLIDE,
    SOFT_LENGTH,
    SOFT_SLIDE,
    TILT,
    TURN,
    WORK,
    R,
    Y,
)  # fmt: skip


@inline
def row_plan(t, r, field):
    """Entry of loop row r in the plan."""
    return load(t.plan, t.plan[PLAN_LOOPS] + r * LOOP_PLAN + field, 0)


@phase
def follow_links(t, k, token):
    """The anchor of each link on its child, in knot buffer k."""
    for g in range(t.plan[FIRST_LINK], last_link(t)):
        child = planned(t, g, CHILD)
        body, m = k + row(child, KNOT, token), t.m + row(g, BODY, token)
        a = load3(t.model, t.m + row(child, BODY, token) + ANCHOR_B, token)
        offset = mul(load9(t.state, body + R, token), sub(load3(t.model, m + ANCHOR_B, token), a))
        store3(t.state, k + row(g, KNOT, token) + Y, add(load3(t.state, body + Y, token), offset))


@inline
def length(t, g, k, token):
    """Distance of a spring's ends [m]."""
    d = separation(t, g, k, token)
    return math.sqrt(dot(d, d))


@inline
def along(d):
    """Unit vector of d; zero for a vector of no length, whose direction is undefined."""
    size = math.sqrt(dot(d, d))
    s = where(size, 1.0 / size, 0.0 * size)
    return scale(s, d)


@inline
def direction(t, g, r, k, token):
    """Direction (f, m) of loop row r of link g in knot buffer k, world."""
    kind, at = row_plan(t, r, KIND), t.l + row(r, CONSTANT_ROW, token)
    R_a = load9(t.state, k + row(planned(t, g, PARENT), KNOT, token) + R, token)
    R_b = load9(t.state, k + row(planned(t, g, CHILD), KNOT, token) + R, token)
    u, w = mul(R_a, load3(t.model, at + FIXED_A, token)), mul(R_b, load3(t.model, at + FIXED_B, token))
    o = spread(0.0, token), spread(0.0, token), spread(0.0, token)
    if kind == SOFT_LENGTH:
        return along(separation(t, g, k, token)), o
    if kind in (SLIDE, SOFT_SLIDE):
        return u, o
    if kind == TILT:
        return o, cross(w, u)
    return o, w


@inline
def arms(t, g, k, token):
    """From the anchors of parent and child to the link's own."""
    y = load3(t.state, k + row(g, KNOT, token) + Y, token)
    y_a = load3(t.state, k + row(planned(t, g, PARENT), KNOT, token) + Y, token)
    y_b = load3(t.state, k + row(planned(t, g, CHILD), KNOT, token) + Y, token)
    return sub(y, y_a), sub(y, y_b)


@inline
def relative(t, g, k, shift, turn, token):
    """Motion of the link's half on b against its half on a, from two fields of the bodies' motion: (shift, turn)."""
    a, b = t.b + row(planned(t, g, PARENT), WORK, token), t.b + row(planned(t, g, CHILD), WORK, token)
    arm_a, arm_b = arms(t, g, k, token)
    turn_a, turn_b = load3(t.work, a + turn, token), load3(t.work, b + turn, token)
    at_a = add(load3(t.work, a + shift, token), cross(turn_a, arm_a))
    at_b = add(load3(t.work, b + shift, token), cross(turn_b, arm_b))
    return sub(at_b, at_a), sub(turn_b, turn_a)


@phase
def gaps(t, k, token):
    """Residual of every loop row at knot buffer k, the joints of the tree closed to first order.

    Returns the largest of a row that does not yield: a length over the length scale, or an angle [rad].
    """
    worst, per_length = spread(0.0, token), 1.0 / load(t.model, t.e + LENGTH_SCALE, token)
    for g in range(t.plan[FIRST_LINK], last_link(t)):
        d = separation(t, g, k, token)
        shift, turn = relative(t, g, k, REPAIR_X, REPAIR_R, token)
        for r in range(planned(t, g, FIRST_ROW), planned(t, g, FIRST_ROW) + planned(t, g, ROWS)):
            kind, at = row_plan(t, r, KIND), t.l + row(r, CONSTANT_ROW, token)
            f, m = direction(t, g, r, k, token)
            gap = dot(f, shift) + dot(m, turn)
            if kind == SLIDE:
                gap = gap + dot(f, d)
                worst = maximum(worst, absolute(gap) * per_length)
            elif kind == TILT:
                R_a = load9(t.state, k + row(planned(t, g, PARENT), KNOT, token) + R, token)
                R_b = load9(t.state, k + row(planned(t, g, CHILD), KNOT, token) + R, token)
                u = mul(R_a, load3(t.model, at + FIXED_A, token))
                gap = gap + dot(u, mul(R_b, load3(t.model, at + FIXED_B, token)))
                worst = maximum(worst, absolute(gap))
            else:
                p = t.p + row(row_plan(t, r, ROW_FREEDOM), ELIMINATION, token)
                gap = gap * load(t.work, p + COMPLIANCE, token) + load(t.work, p + LOAD, token)
            store(t.work, t.r + row(r, LOOP_WORK, token) + GAP, gap)
    return worst


@phase
def rate_gaps(t, k, token):
    """Relative velocity along every loop row of the motion in SHIFT and TURN; of a row that yields its load.

    Returns the largest [m/s over the length scale, rad/s].
    """
    worst, per_length = spread(0.0, token), 1.0 / load(t.model, t.e + LENGTH_SCALE, token)
    for g in range(t.plan[FIRST_LINK], last_link(t)):
        shift, turn = relative(t, g, k, SHIFT, TURN, token)
        for r in range(planned(t, g, FIRST_ROW), planned(t, g, FIRST_ROW) + planned(t, g, ROWS)):
            kind = row_plan(t, r, KIND)
            f, m = direction(t, g, r, k, token)
            gap = dot(f, shift) + dot(m, turn)
            if kind == SLIDE:
                worst = maximum(worst, absolute(gap) * per_length)
            elif kind == TILT:
                worst = maximum(worst, absolute(gap))
            else:
                gap = load(t.work, t.p + row(row_plan(t, r, ROW_FREEDOM), ELIMINATION, token) + LOAD, token)
            store(t.work, t.r + row(r, LOOP_WORK, token) + GAP, gap)
    return worst


@phase
def move_links(t, k, token):
    """Axis of each link in its child, and that half's motion, from that of the bodies in SHIFT and TURN."""
    for g in range(t.plan[FIRST_LINK], last_link(t)):
        R_b = load9(t.state, k + row(planned(t, g, CHILD), KNOT, token) + R, token)
        axis = load3(t.model, t.m + row(g, BODY, token) + AXIS_B, token)
        store3(t.state, k + row(g, KNOT, token) + AXIS, mul(R_b, axis))
        a, b = t.b + row(g, WORK, token), t.b + row(planned(t, g, CHILD), WORK, token)
        _, arm = arms(t, g, k, token)
        _, lever = translation_repair(t, g, k, token)
        turn = load3(t.work, b + TURN, token)
        store3(t.work, a + LEVER3, lever)
        store3(t.work, a + TURN, turn)
        store3(t.work, a + SHIFT, add(load3(t.work, b + SHIFT, token), cross(turn, arm)))


@phase
def note_lengths(t, k, mask, token):
    """Keep the lengths of all springs between points."""
    for g in range(first_spring(t), last_link(t)):
        keep(t, t.c + row(planned(t, g, FIRST), COORDINATE, token) + SINE, length(t, g, k, token), mask, token)


@inline
def holding(t, g, k, token):
    """Wrench about the link's anchor with which its kept multipliers hold the child, at knot buffer k."""
    o = spread(0.0, token)
    f, tau = (o, o, o), (o, o, o)
    for r in range(planned(t, g, FIRST_ROW), planned(t, g, FIRST_ROW) + planned(t, g, ROWS)):
        if row_plan(t, r, KIND) <= TILT:
            lam, way = load(t.state, t.u + row(r, 1, token), token), direction(t, g, r, k, token)
            f, tau = axpy(lam, way[0], f), axpy(lam, way[1], tau)
    return f, tau


@phase
def pull(t, k, token):
    """Take the forces of the kept multipliers at knot buffer k off the bodies' wrenches."""
    for g in range(t.plan[FIRST_LINK], last_link(t)):
        a, b = t.b + row(planned(t, g, PARENT), WORK, token), t.b + row(planned(t, g, CHILD), WORK, token)
        arm_a, arm_b = arms(t, g, k, token)
        for r in range(planned(t, g, FIRST_ROW), planned(t, g, FIRST_ROW) + planned(t, g, ROWS)):
            f, m = direction(t, g, r, k, token)
            lam = load(t.state, t.u + row(r, 1, token), token)
            add_wrench(t, b, -lam, f, add(m, cross(arm_b, f)), token)
            add_wrench(t, a, lam, f, add(m, cross(arm_a, f)), token)


@inline
def add_wrench(t, a, s, f, tau, token):
    """Add s times a wrench to that of work row a."""
    store3(t.work, a + FORCE, axpy(s, f, load3(t.work, a + FORCE, token)))
    store3(t.work, a + MOMENT, axpy(s, tau, load3(t.work, a + MOMENT, token)))

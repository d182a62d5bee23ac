"""Contacts in a step: which are near at knot 2, how they move to the present guess of knot 3, at a knot alone."""

import math

from .algebra import add, axpy, cross, dot, load3, load4, load9, mul, scale, store3, store4, sub, tmul
from .contact import gap_of, ground_normal, lowest, set_tangents, tangents, touch_plan
from .jit import inline, phase
from .lanes import above, any_lane, both, but_not, row
from .simd import LANES, absolute, load, maximum, spread, store, where
from .tables import (
    ANCHOR,
    ARM,
    ARM2,
    ARM_LOW,
    ARM_TOUCH,
    CONSTANT_TOUCH,
    CONTACTS,
    FACTS,
    GRAVITY,
    GUIDE_1,
    GUIDE_2,
    HEFT,
    KNOT,
    NEAR,
    PRESS,
    REBOUND,
    REPAIR_R,
    REPAIR_X,
    RIM,
    SKATE,
    SLIP,
    SLIP_SEEN,
    TANGENT_1,
    TANGENT_2,
    TOUCH,
    TOUCH_KIND,
    TOUCH_WORK,
    TOUCHES,
    TOUCHING,
    TURN_1,
    TURN_2,
    WANTED,
    WORK,
    R,
    V,
    W,
)  # fmt: skip

PUSH = 1e-6  # [m or rad] by which a step at most leads back from where a body should not be
FAR = 4.0  # a contact is near when this many steps of its approach, and of a fall, reach the ground
SINKS = 5e-8  # [m] by which the proximal term may let a body sink
SHUT = 1e-6  # [m] gap of a contact that touches at a knot


@phase
def meet(t, k2, h, token):
    """Every contact at knot 2: its touching point, tangents, whether it is near, its first forces: the last step's."""
    n, g = ground_normal(t, token), load3(t.model, t.e + GRAVITY, token)
    fall = math.sqrt(dot(g, g)) * h * h
    for c in range(t.plan[CONTACTS]):
        a, s, b = t.w + row(c, TOUCH_WORK, token), t.o + row(c, TOUCH, token), touch_plan(t, c, TOUCHES)
        own = k2 + row(b, KNOT, token)
        R2, w1 = load9(t.state, own + R, token), load3(t.state, own + W, token)
        arm = lowest(t, c, R2, n, token)
        gap, rebound = gap_of(t, c, b, k2, arm, token), load(t.state, s + REBOUND, token)
        velocity = add(load3(t.state, own + V, token), cross(mul(R2, w1), arm))
        last, o = load4(t.state, s + PRESS, token), spread(0.0, token)
        near = where(last[0], o + 1.0, above(absolute(h * dot(n, velocity)) * FAR + FAR * fall, gap))
        if touch_plan(t, c, TOUCH_KIND) >= SKATE:
            near = o + 1.0
        out = where(gap + PUSH, o, gap + PUSH)  # below the ground by more than a push: no further
        store(t.work, a + NEAR, near)
        store(t.work, a + WANTED, where(rebound, h * rebound, out))
        store4(t.work, a + ANCHOR, last)
        store4(t.work, a + FACTS, last)
        store3(t.work, a + TOUCHING, tmul(R2, arm))
        store3(t.work, a + ARM2, sub(arm, load3(t.state, own + ARM, token)))
        set_tangents(t, c, a, R2, n, token)


@inline
def note_slip(t, a, normal, move, spin):
    """Velocities of a contact: as they are, and for the first choice between open, stick and slip."""
    for at in (a + SLIP, a + SLIP_SEEN):
        store(t.work, at, normal)
        store3(t.work, at + LANES, move)
        store(t.work, at + 4 * LANES, spin)


@inline
def guide(t, c, a, R3, n, way, token):
    """Directions that a skate or wheel keeps to on its way over the step: the mean of those at both knots.

    (t2 + t3)/2 . (p3 - p2) = 0 is of order two, and a skate that slides keeps its energy.
    """
    t1, t2 = tangents(t, c, R3, n, token)
    store3(t.work, a + GUIDE_1, scale(0.5, add(t1, load3(t.work, a + TANGENT_1, token))))
    store3(t.work, a + GUIDE_2, scale(0.5, add(t2, load3(t.work, a + TANGENT_2, token))))
    store3(t.work, a + TURN_1, scale(0.5, cross(t1, way)))
    store3(t.work, a + TURN_2, scale(0.5, cross(t2, way)))


@phase
def reanchor(t, h, prox, mask, token):
    """Lanes of the mask in which the proximal term lets a body sink by more than SINKS: its anchor is the force now.

    [method of multipliers; what is left falls by the factor ``prox``]
    """
    late = spread(0.0, token)
    for c in range(t.plan[CONTACTS]):
        a = t.w + row(c, TOUCH_WORK, token)
        if touch_plan(t, c, TOUCH_KIND) < SKATE and any_lane(load(t.work, a + NEAR, token)):
            change = absolute(load(t.work, a + FACTS, token) - load(t.work, a + ANCHOR, token))
            sinks = prox * h * h * change / load(t.model, t.n + row(c, CONSTANT_TOUCH, token) + HEFT, token)
            moved = both(both(mask, load(t.work, a + NEAR, token)), above(sinks, spread(SINKS, token)))
            for j in range(4):
                f, f0 = load(t.work, a + FACTS + j * LANES, token), load(t.work, a + ANCHOR + j * LANES, token)
                store(t.work, a + ANCHOR + j * LANES, where(moved, f, f0))
            late = maximum(late, moved)
    return late


@phase
def look(t, k2, k3, h, token):
    """Velocities of the near contacts at the present guess of knot 3, the joints closed to first order."""
    n, per_h = ground_normal(t, token), 1.0 / h
    for c in range(t.plan[CONTACTS]):
        a, b = t.w + row(c, TOUCH_WORK, token), touch_plan(t, c, TOUCHES)
        if any_lane(load(t.work, a + NEAR, token)):
            own, body, kind = k3 + row(b, KNOT, token), t.b + row(b, WORK, token), touch_plan(t, c, TOUCH_KIND)
            R2, R3 = load9(t.state, k2 + row(b, KNOT, token) + R, token), load9(t.state, own + R, token)
            point = load3(t.work, a + TOUCHING, token)
            touch = mul(R3, point)
            low = lowest(t, c, R3, n, token) if kind <= RIM else touch
            gap, anchor = gap_of(t, c, b, k3, low, token), load3(t.state, own + ARM, token)
            move = axpy(per_h, sub(touch, mul(R2, point)), load3(t.state, own + V, token))
            low, touch = sub(low, anchor), sub(touch, anchor)
            shift, turn = load3(t.work, body + REPAIR_X, token), load3(t.work, body + REPAIR_R, token)
            move = axpy(per_h, add(shift, cross(turn, touch)), move)
            gap = gap + dot(n, add(shift, cross(turn, low)))
            spin = dot(n, axpy(per_h, turn, mul(R2, load3(t.state, own + W, token))))
            store3(t.work, a + ARM_LOW, low)
            store3(t.work, a + ARM_TOUCH, touch)
            note_slip(t, a, per_h * (gap - load(t.work, a + WANTED, token)), move, spin)
            if kind >= SKATE:
                guide(t, c, a, R3, n, scale(1.0 / per_h, move), token)


@phase
def stand(t, k, share, token):
    """Contacts at knot buffer k, for its velocities: those that touch are near; nothing moves yet.

    Their forces start as ``share`` of the last step's; before the first step there are none.
    """
    n, o = ground_normal(t, token), spread(0.0, token)
    for c in range(t.plan[CONTACTS]):
        a, b = t.w + row(c, TOUCH_WORK, token), touch_plan(t, c, TOUCHES)
        s, own = t.o + row(c, TOUCH, token) + PRESS, k + row(b, KNOT, token)
        R2 = load9(t.state, own + R, token)
        arm = lowest(t, c, R2, n, token)
        near = both(above(share, o), above(spread(SHUT, token), gap_of(t, c, b, k, arm, token)))
        store(t.work, a + NEAR, near if touch_plan(t, c, TOUCH_KIND) < SKATE else o + 1.0)
        f = load4(t.state, s, token)
        f = share * f[0], share * f[1], share * f[2], share * f[3]
        store4(t.work, a + ANCHOR, f)
        store4(t.work, a + FACTS, f)
        arm = sub(arm, load3(t.state, own + ARM, token))
        store3(t.work, a + ARM2, arm)
        store3(t.work, a + ARM_LOW, arm)
        store3(t.work, a + ARM_TOUCH, arm)
        set_tangents(t, c, a, R2, n, token)
        note_slip(t, a, o, (o, o, o), o)
        if touch_plan(t, c, TOUCH_KIND) >= SKATE:
            guide(t, c, a, R2, n, (o, o, o), token)


@phase
def overlooked(t, k3, mask, token):
    """Lanes of the mask in which a contact that seemed far is below the ground at knot buffer k3; it is near now."""
    n, missed = ground_normal(t, token), spread(0.0, token)
    for c in range(t.plan[CONTACTS]):
        a, b = t.w + row(c, TOUCH_WORK, token), touch_plan(t, c, TOUCHES)
        near = load(t.work, a + NEAR, token)
        if touch_plan(t, c, TOUCH_KIND) < SKATE and any_lane(but_not(mask, near)):
            arm = lowest(t, c, load9(t.state, k3 + row(b, KNOT, token) + R, token), n, token)
            below = both(but_not(mask, near), above(spread(0.0, token), gap_of(t, c, b, k3, arm, token)))
            store(t.work, a + NEAR, maximum(near, below))
            missed = maximum(missed, below)
    return missed

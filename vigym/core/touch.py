"""Contacts in a step: which are near at knot 2, how they move to the present guess of knot 3, at a knot alone."""

import math

from .algebra import add, axpy, cross, dot, load3, load4, load9, mul, scale, store3, store4, sub, tmul
from .contact import gap_of, tangents, touch_plan, unrolled
from .jit import inline, phase
from .lanes import above, any_lane, both, but_not, row
from .pair import (
    SLIDES,
    close_to,
    far_apart,
    note_awake,
    pair_tangents,
    pairs,
    place_of,
    point_velocity,
    relative_motion,
    touching_at,
)  # fmt: skip
from .simd import LANES, absolute, load, spread, store, where
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
    KNOT,
    NEAR,
    NORMAL_2,
    NORMAL_3,
    PAIR_HEAD,
    PAIR_NEAREST,
    PAIR_TAIL,
    PARTNER,
    PARTNER_ARM2,
    PARTNER_LOW,
    PARTNER_TOUCH,
    PARTNER_TOUCHING,
    PLACE,
    PRESS,
    REACH,
    REBOUND,
    REPAIR_R,
    REPAIR_X,
    RIM,
    RIM_3,
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


@inline
def set_arms(t, c, a, k, gap, arm, other, n, token):
    """Normal, tangents (without their coefficients) and arms of contact c where it touches at knot 2, buffer k.

    The forces on two bodies act at one point, halfway: angular momentum is kept though there still is a gap.
    """
    b = touch_plan(t, c, TOUCHES)
    own = k + row(b, KNOT, token)
    R2 = load9(t.state, own + R, token)
    half = 0.5 * gap if pairs(t, c) else 0.0 * gap
    store3(t.work, a + ARM2, sub(axpy(-half, n, arm), load3(t.state, own + ARM, token)))
    store3(t.work, a + NORMAL_2, n)
    t1, t2 = pair_tangents(t, c, R2, n, token) if pairs(t, c) else tangents(t, c, R2, n, token)
    store3(t.work, a + TANGENT_1, t1)
    store3(t.work, a + TANGENT_2, t2)
    store3(t.work, a + TOUCHING, tmul(R2, arm))
    if pairs(t, c):
        own = k + row(touch_plan(t, c, PARTNER), KNOT, token)
        store3(t.work, a + PARTNER_ARM2, sub(axpy(half, n, other), load3(t.state, own + ARM, token)))
        store3(t.work, a + PARTNER_TOUCHING, tmul(load9(t.state, own + R, token), other))


@inline
def approach(t, c, k2, arm, other, n, token):
    """Normal velocity of contact c, its points ``arm`` and ``other`` from the centres of mass, in the last step."""
    v, _ = point_velocity(t, touch_plan(t, c, TOUCHES), k2, k2, arm, token)
    if pairs(t, c):
        v = sub(v, point_velocity(t, touch_plan(t, c, PARTNER), k2, k2, other, token)[0])
    return dot(n, v)


@inline
def face(t, c, a, k2, h, place, token):
    """Contact c at knot 2, at a place of the own segment; returns (gap, normal velocity in the last step)."""
    store(t.work, a + PLACE, place)
    gap, n, arm, other = touching_at(t, c, k2, place, token)
    rebound = load(t.state, t.o + row(c, TOUCH, token) + REBOUND, token)
    out = where(gap + PUSH, 0.0 * gap, gap + PUSH)  # below the ground by more than a push: no further
    store(t.work, a + WANTED, where(rebound, h * rebound, out))
    set_arms(t, c, a, k2, gap, arm, other, n, token)
    return gap, approach(t, c, k2, arm, other, n, token)


@inline
def covered(t, c, a, token):
    """Lanes in which contact c, at an end of what is over the partner, is next to the nearest point: one will do."""
    nearest = t.w + row(c - (1 if touch_plan(t, c, TOUCH_KIND) == PAIR_HEAD else 2), TOUCH_WORK, token)
    away = absolute(load(t.work, a + PLACE, token) - load(t.work, nearest + PLACE, token))
    return both(load(t.work, nearest + NEAR, token), above(spread(SLIDES, token), away))


@phase
def meet(t, k2, h, token):
    """Every contact at knot 2, whether it is near; its first forces: the last step's."""
    g, o = load3(t.model, t.e + GRAVITY, token), spread(0.0, token)
    fall = math.sqrt(dot(g, g)) * h * h
    for c in range(t.plan[CONTACTS]):
        a, last = t.w + row(c, TOUCH_WORK, token), load4(t.state, t.o + row(c, TOUCH, token) + PRESS, token)
        around = o + 1.0
        if pairs(t, c):  # what is no nearer than its own size is left to ``overlooked``
            reach = load(t.model, t.n + row(c, CONSTANT_TOUCH, token) + REACH, token)
            around = where(last[0], around, above(reach, far_apart(t, c, k2, token)))
        store(t.work, a + NEAR, o)
        store4(t.work, a + ANCHOR, last)
        store4(t.work, a + FACTS, last)
        if any_lane(around):
            gap, speed = face(t, c, a, k2, h, place_of(t, c, k2, token), token)
            near = where(last[0], around, both(around, above(absolute(h * speed) * FAR + FAR * fall, gap)))
            if PAIR_HEAD <= touch_plan(t, c, TOUCH_KIND) <= PAIR_TAIL:
                near = where(last[0], near, but_not(near, covered(t, c, a, token)))
            store(t.work, a + NEAR, near if touch_plan(t, c, TOUCH_KIND) < SKATE else o + 1.0)
    note_awake(t, token)


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


@inline
def travelled(t, b, point, k2, k3, per_h, token):
    """(velocity over the step of a point fixed in body b, where it is at knot 3 from the body's joint anchor)."""
    own = k3 + row(b, KNOT, token)
    R2, R3 = load9(t.state, k2 + row(b, KNOT, token) + R, token), load9(t.state, own + R, token)
    at = mul(R3, point)
    move = axpy(per_h, sub(at, mul(R2, point)), load3(t.state, own + V, token))
    return move, sub(at, load3(t.state, own + ARM, token))


@inline
def look_at(t, c, a, k2, k3, per_h, token):
    """Velocities of contact c at the present guess of knot 3, the joints closed to first order."""
    b, kind = touch_plan(t, c, TOUCHES), touch_plan(t, c, TOUCH_KIND)
    own, body = k3 + row(b, KNOT, token), t.b + row(b, WORK, token)
    move, touch = travelled(t, b, load3(t.work, a + TOUCHING, token), k2, k3, per_h, token)
    R2, anchor = load9(t.state, k2 + row(b, KNOT, token) + R, token), load3(t.state, own + ARM, token)
    n, low = load3(t.work, a + NORMAL_2, token), touch
    if RIM < kind <= RIM_3:
        low = unrolled(t, c, R2, load9(t.state, own + R, token), load3(t.work, a + TOUCHING, token), token)
        low = sub(low, anchor)
    gap = gap_of(t, c, b, k3, add(low, anchor), token)
    if kind <= RIM or pairs(t, c):
        place = load(t.work, a + PLACE, token)
        if kind == PAIR_NEAREST:
            place = close_to(place_of(t, c, k3, token), place)
        gap, n, low, other = touching_at(t, c, k3, place, token)
        low = sub(low, anchor)
        if pairs(t, c):
            p = touch_plan(t, c, PARTNER)
            moved, there = travelled(t, p, load3(t.work, a + PARTNER_TOUCHING, token), k2, k3, per_h, token)
            move = sub(move, moved)
            anchor = load3(t.state, k3 + row(p, KNOT, token) + ARM, token)
            store3(t.work, a + PARTNER_LOW, sub(other, anchor))
            store3(t.work, a + PARTNER_TOUCH, there)
    store3(t.work, a + NORMAL_3, n)
    store3(t.work, a + ARM_LOW, low)
    store3(t.work, a + ARM_TOUCH, touch)
    repaired = relative_motion(t, c, a, ARM_TOUCH, PARTNER_TOUCH, REPAIR_X, REPAIR_R, token)
    move = axpy(per_h, repaired, move)
    gap = gap + dot(n, relative_motion(t, c, a, ARM_LOW, PARTNER_LOW, REPAIR_X, REPAIR_R, token))
    turn = load3(t.work, body + REPAIR_R, token)
    spin = dot(n, axpy(per_h, turn, mul(R2, load3(t.state, own + W, token))))
    note_slip(t, a, per_h * (gap - load(t.work, a + WANTED, token)), move, spin)
    if kind >= SKATE:
        guide(t, c, a, load9(t.state, own + R, token), n, scale(1.0 / per_h, move), token)


@phase
def look(t, k2, k3, h, token):
    """Velocities of the near contacts at the present guess of knot 3."""
    for c in range(t.plan[CONTACTS]):
        a = t.w + row(c, TOUCH_WORK, token)
        if any_lane(load(t.work, a + NEAR, token)):
            look_at(t, c, a, k2, k3, 1.0 / h, token)


@phase
def keep_apart(t, token):
    """No contact of two bodies is near."""
    for c in range(t.plan[CONTACTS]):
        if pairs(t, c):
            store(t.work, t.w + row(c, TOUCH_WORK, token) + NEAR, spread(0.0, token))
    note_awake(t, token)

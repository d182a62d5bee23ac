"""Contacts of two bodies: the nearest points of a segment of one and a box of the other, both of them rounded.

A ball is a segment of no length or a box of no size, a capsule a segment or a box of no width. With e what the point
of the segment is outside of the box, the gap is |e| less both radii, or minus the depth of a point inside the box. Its
derivative is n . (motion of the own nearest point - motion of the partner's), the normal from the partner to the own
body.
"""

import math

from .algebra import add, axpy, cross, dot, load3, load9, matmul, mul, sub, tmul
from .contact import gap_of, ground_normal, lowest, on_ground, touch_plan
from .jit import inline, phase
from .lanes import above, row
from .segment import least_depth, nearest_of_segment, outside, over_box
from .simd import load, maximum, spread, store, where
from .tables import (
    ARM,
    ARM2,
    BOX_AXES,
    CENTRE,
    CONSTANT_TOUCH,
    CONTACTS,
    HALF,
    KNOT,
    NEAR,
    NORMAL_2,
    PAIR_BALL,
    PAIR_HEAD,
    PAIR_NEAREST,
    PAIR_TAIL,
    PARTNER,
    PARTNER_ARM2,
    POINT,
    RADIUS,
    REACH,
    ROUND,
    SEGMENT,
    TOUCH_KIND,
    TOUCH_WORK,
    TOUCHES,
    TOUCHING_ROWS,
    WORK,
    WORK_AWAKE,
    R,
    V,
    W,
    X,
)  # fmt: skip

SLIDES = 0.25  # of half the own segment: so far the nearest point of a step may be from that of knot 2
INSIDE = 1e-12  # [m] distance from a box below which a point is inside it


@inline
def pairs(t, c):
    """Whether contact c is one of two bodies."""
    kind = touch_plan(t, c, TOUCH_KIND)
    return kind >= PAIR_BALL and kind <= PAIR_TAIL


@phase
def note_awake(t, token):
    """Note in which lanes a contact of two bodies is near: the others' loop rows need not be gone through."""
    if t.plan[TOUCHING_ROWS] > 0:
        awake = spread(0.0, token)
        for c in range(t.plan[CONTACTS]):
            if pairs(t, c):
                awake = maximum(awake, load(t.work, t.w + row(c, TOUCH_WORK, token) + NEAR, token))
        store(t.work, t.b + t.plan[WORK_AWAKE], awake)


@inline
def own_middle(t, c, k, token):
    """Middle of the own segment [world]."""
    m, own = t.n + row(c, CONSTANT_TOUCH, token), k + row(touch_plan(t, c, TOUCHES), KNOT, token)
    point = load3(t.model, m + POINT, token)
    return add(load3(t.state, own + X, token), mul(load9(t.state, own + R, token), point))


@inline
def partner_middle(t, c, k, token):
    """Middle of the partner's box [world]."""
    m, other = t.n + row(c, CONSTANT_TOUCH, token), k + row(touch_plan(t, c, PARTNER), KNOT, token)
    centre = load3(t.model, m + CENTRE, token)
    return add(load3(t.state, other + X, token), mul(load9(t.state, other + R, token), centre))


@inline
def far_apart(t, c, k, token):
    """By how much the middles of two shapes are farther apart than they reach [m]; shapes as near touch at most."""
    d = sub(own_middle(t, c, k, token), partner_middle(t, c, k, token))
    return math.sqrt(dot(d, d)) - load(t.model, t.n + row(c, CONSTANT_TOUCH, token) + REACH, token)


@inline
def in_box_axes(t, c, k, token):
    """(axes of the partner's box, middle and half of the own segment in them, half of its size) at knot buffer k."""
    m = t.n + row(c, CONSTANT_TOUCH, token)
    own, other = k + row(touch_plan(t, c, TOUCHES), KNOT, token), k + row(touch_plan(t, c, PARTNER), KNOT, token)
    axes = matmul(load9(t.state, other + R, token), load9(t.model, m + BOX_AXES, token))
    d = mul(load9(t.state, own + R, token), load3(t.model, m + SEGMENT, token))
    p = sub(own_middle(t, c, k, token), partner_middle(t, c, k, token))
    return axes, tmul(axes, p), tmul(axes, d), load3(t.model, m + HALF, token)


@inline
def place_of(t, c, k, token):
    """Where on the own segment contact c is at knot buffer k, from -1 to 1; 0 where there is none."""
    kind = touch_plan(t, c, TOUCH_KIND)
    if kind < PAIR_NEAREST or kind > PAIR_TAIL:
        return spread(0.0, token)
    _, p, d, half = in_box_axes(t, c, k, token)
    s = nearest_of_segment(p, d, half, token)
    if kind >= PAIR_HEAD:
        tail, head = over_box(s, p, d, half, token)
        s = head if kind == PAIR_HEAD else tail
    return s


@inline
def close_to(s, s2):
    """A place on the own segment, no farther from that of knot 2 than SLIDES.

    A force at one end for a gap at the other would push the wrong way round. See also ``recheck.overlooked``.
    """
    low, high = s2 - SLIDES, s2 + SLIDES
    return where(low - s, low, where(s - high, high, s))


@inline
def touching_of_pair(t, c, k, s, token):
    """The same of two bodies, see ``touching_at``."""
    m = t.n + row(c, CONSTANT_TOUCH, token)
    own, other = k + row(touch_plan(t, c, TOUCHES), KNOT, token), k + row(touch_plan(t, c, PARTNER), KNOT, token)
    axes, p, d, half = in_box_axes(t, c, k, token)
    p = axpy(s, d, p)
    e = outside(p, half)
    distance = math.sqrt(dot(e, e))
    apart, one = above(distance, spread(INSIDE, token)), spread(1.0, token)
    depth, face = least_depth(p, half, token)
    per = 1.0 / where(apart, distance, one)
    n = where(apart, per * e[0], face[0]), where(apart, per * e[1], face[1]), where(apart, per * e[2], face[2])
    distance, n = where(apart, distance, -depth), mul(axes, n)
    r, r_other = load(t.model, m + RADIUS, token), load(t.model, m + ROUND, token)
    middle = add(partner_middle(t, c, k, token), mul(axes, p))
    arm = sub(axpy(-r, n, middle), load3(t.state, own + X, token))
    arm_other = sub(axpy(r_other - distance, n, middle), load3(t.state, other + X, token))
    return distance - r - r_other, n, arm, arm_other


@inline
def touching_at(t, c, k, s, token):
    """(gap [m], normal, touching points from the centres of mass of own body and partner) of contact c at a knot.

    s: its place on the own segment, of two bodies.
    """
    if pairs(t, c):
        return touching_of_pair(t, c, k, s, token)
    b, n, o = touch_plan(t, c, TOUCHES), ground_normal(t, token), spread(0.0, token)
    arm = lowest(t, c, load9(t.state, k + row(b, KNOT, token) + R, token), n, token)
    return gap_of(t, c, b, k, arm, token), n, arm, (o, o, o)


@inline
def nearest(t, c, k, token):
    """The same at the place where contact c is at this knot."""
    return touching_at(t, c, k, place_of(t, c, k, token), token)


@inline
def pair_tangents(t, c, R_b, n, token):
    """Tangents of two bodies that touch; they turn with the own one."""
    x, y = (R_b[0], R_b[3], R_b[6]), (R_b[1], R_b[4], R_b[7])
    t1 = on_ground(x, n, on_ground(y, n, x))
    return t1, cross(n, t1)


@inline
def point_velocity(t, b, k2, k, arm, token):
    """(velocity, angular velocity) of a point of b, ``arm`` from its centre at knot 2, in the step to buffer k."""
    own, moving = k2 + row(b, KNOT, token), k + row(b, KNOT, token)
    spin = mul(load9(t.state, own + R, token), load3(t.state, moving + W, token))
    return add(load3(t.state, moving + V, token), cross(spin, arm)), spin


@inline
def touching_velocity(t, c, k2, k, token):
    """Velocity (normal, of the touching point, about the normal) of contact c at knot 2, in the step to buffer k."""
    a, b = t.w + row(c, TOUCH_WORK, token), touch_plan(t, c, TOUCHES)
    n = load3(t.work, a + NORMAL_2, token)
    arm = add(load3(t.work, a + ARM2, token), load3(t.state, k2 + row(b, KNOT, token) + ARM, token))
    v, spin = point_velocity(t, b, k2, k, arm, token)
    if pairs(t, c):
        other = touch_plan(t, c, PARTNER)
        arm = add(load3(t.work, a + PARTNER_ARM2, token), load3(t.state, k2 + row(other, KNOT, token) + ARM, token))
        v = sub(v, point_velocity(t, other, k2, k, arm, token)[0])
    return dot(n, v), v, dot(n, spin)


@inline
def point_motion(t, b, arm, shift, turn, token):
    """Motion of a point of body b, ``arm`` from its joint anchor, from two fields of the body's motion."""
    at = t.b + row(b, WORK, token)
    return add(load3(t.work, at + shift, token), cross(load3(t.work, at + turn, token), arm))


@inline
def relative_motion(t, c, a, arm, partner_arm, shift, turn, token):
    """Motion of contact c's own point against its partner's; the arms are fields of contact row a."""
    move = point_motion(t, touch_plan(t, c, TOUCHES), load3(t.work, a + arm, token), shift, turn, token)
    if pairs(t, c):
        other = touch_plan(t, c, PARTNER)
        move = sub(move, point_motion(t, other, load3(t.work, a + partner_arm, token), shift, turn, token))
    return move

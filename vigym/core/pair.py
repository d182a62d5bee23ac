"""Contacts of two bodies: the nearest points of a segment of one and a box of the other, both of them rounded.

A ball is a segment of no length or a box of no size, a capsule a segment or a box of no width. With p(s) = p + s d, the
segment in the box's axes, and e(s) what p(s) is outside of the box, the nearest point is the root of the rising,
piecewise linear e(s) . d, or an end. The gap is |e| less both radii, or minus the depth of a point inside the box. Its
derivative is n . (motion of the own nearest point - motion of the partner's), the normal from the partner to the own
body.
"""

import math

from .algebra import add, axpy, cross, dot, load3, load9, matmul, mul, sub, tmul
from .contact import gap_of, ground_normal, lowest, on_ground, touch_plan
from .jit import inline
from .lanes import above, row
from .simd import absolute, load, spread, where
from .tables import (
    ARM,
    ARM2,
    BOX_AXES,
    CENTRE,
    CONSTANT_TOUCH,
    HALF,
    KNOT,
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
    WORK,
    R,
    V,
    W,
    X,
)  # fmt: skip

SEARCH = 10  # halvings or secants for the nearest point of a segment; it has at most seven pieces
LEVEL = 1e-6  # curvature that keeps the nearest point of a nearly level segment from running to its ends
FLAT = 1e-9  # of its size: a segment no steeper than that does not leave a slab
INSIDE = 1e-12  # [m] distance from a box below which a point is inside it


@inline
def pairs(t, c):
    """Whether contact c is one of two bodies."""
    kind = touch_plan(t, c, TOUCH_KIND)
    return kind >= PAIR_BALL and kind <= PAIR_TAIL


@inline
def beyond(x, half):
    """What a coordinate is outside of [-half, half]."""
    return where(x - half, x - half, where(-half - x, x + half, 0.0 * x))


@inline
def outside(p, half):
    """What a point is outside of a box, in its axes."""
    return beyond(p[0], half[0]), beyond(p[1], half[1]), beyond(p[2], half[2])


@inline
def steepness(e, d):
    """Derivative of e . d along the segment."""
    o = 0.0 * d[0]
    x, y = where(absolute(e[0]), d[0] * d[0], o), where(absolute(e[1]), d[1] * d[1], o)
    return x + y + where(absolute(e[2]), d[2] * d[2], o)


@inline
def nearest_of_segment(p, d, half, token):
    """Where from -1 to 1 the point p + s d comes nearest to the box; the middle of what is as near."""
    one, bent = spread(1.0, token), LEVEL * dot(d, d)
    low, high, s = -one, one, 0.0 * one
    starts, ends = dot(outside(sub(p, d), half), d) - bent, dot(outside(add(p, d), half), d) + bent
    for _ in range(SEARCH):
        e = outside(axpy(s, d, p), half)
        slope, steep = dot(e, d) + bent * s, steepness(e, d) + bent
        low, high = where(-slope, s, low), where(slope, s, high)
        guess = s - slope / where(steep, steep, one)
        middle = 0.5 * (low + high)
        s = where(absolute(slope), where(guess - low, where(high - guess, guess, middle), middle), s)
    return where(starts, -one, where(-ends, one, s))


@inline
def clipped_by(low, high, p, d, half):
    """The part of [low, high] in which a coordinate p + s d is inside [-half, half]; where half is zero, all of it."""
    steep = absolute(d) - FLAT * half
    middle, reach = -p / where(steep, d, 1.0 + 0.0 * d), half / where(steep, absolute(d), 1.0 + 0.0 * d)
    first, last = middle - reach, middle + reach
    clips = where(half, where(steep, 1.0 + 0.0 * d, 0.0 * d), 0.0 * d)
    low, high = where(clips, where(first - low, first, low), low), where(clips, where(high - last, last, high), high)
    return low, high


@inline
def over_box(s, p, d, half, token):
    """The part of the segment that is over the face (or along the segment) that its point s is nearest to."""
    one, e = spread(1.0, token), outside(axpy(s, d, p), half)
    x, y, z = absolute(e[0]), absolute(e[1]), absolute(e[2])
    first, last = -one, one
    most = where(x - y, where(x - z, x, z), where(y - z, y, z))
    for k in range(3):
        f, l = clipped_by(first, last, p[k], d[k], half[k])
        other = where(most - absolute(e[k]), one, 0.0 * one)
        first, last = where(other, f, first), where(other, l, last)
    empty = where(first - last, one, 0.0 * one)
    return where(empty, s, first), where(empty, s, last)


@inline
def least_depth(p, half, token):
    """(depth of a point inside a box under the nearest face, that face's normal) in its axes."""
    one, o = spread(1.0, token), spread(0.0, token)
    x, y, z = half[0] - absolute(p[0]), half[1] - absolute(p[1]), half[2] - absolute(p[2])
    depth, n = x, (where(-p[0], -one, one), o, o)
    second, third = y - depth, z - where(depth - y, y, depth)
    depth = where(-second, y, depth)
    n = where(-second, o, n[0]), where(-second, where(-p[1], -one, one), o), o
    depth = where(-third, z, depth)
    return depth, (
        where(-third, o, n[0]),
        where(-third, o, n[1]),
        where(-third, where(-p[2], -one, one), o),
    )


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
def nearest_of_pair(t, c, k, token):
    """(gap, normal, nearest points from the centres of mass of own body and partner) of contact c at knot buffer k."""
    m, kind = t.n + row(c, CONSTANT_TOUCH, token), touch_plan(t, c, TOUCH_KIND)
    own, other = k + row(touch_plan(t, c, TOUCHES), KNOT, token), k + row(touch_plan(t, c, PARTNER), KNOT, token)
    axes = matmul(load9(t.state, other + R, token), load9(t.model, m + BOX_AXES, token))
    middle, half = own_middle(t, c, k, token), load3(t.model, m + HALF, token)
    segment = mul(load9(t.state, own + R, token), load3(t.model, m + SEGMENT, token))
    if kind >= PAIR_NEAREST:
        p, d = tmul(axes, sub(middle, partner_middle(t, c, k, token))), tmul(axes, segment)
        s = nearest_of_segment(p, d, half, token)
        if kind >= PAIR_HEAD:
            tail, head = over_box(s, p, d, half, token)
            s = head if kind == PAIR_HEAD else tail
        middle = axpy(s, segment, middle)
    p = tmul(axes, sub(middle, partner_middle(t, c, k, token)))
    e = outside(p, half)
    distance = math.sqrt(dot(e, e))
    apart, one = above(distance, spread(INSIDE, token)), spread(1.0, token)
    depth, face = least_depth(p, half, token)
    per = 1.0 / where(apart, distance, one)
    n = where(apart, per * e[0], face[0]), where(apart, per * e[1], face[1]), where(apart, per * e[2], face[2])
    distance, n = where(apart, distance, -depth), mul(axes, n)
    r, r_other = load(t.model, m + RADIUS, token), load(t.model, m + ROUND, token)
    arm = sub(axpy(-r, n, middle), load3(t.state, own + X, token))
    arm_other = sub(axpy(r_other - distance, n, middle), load3(t.state, other + X, token))
    return distance - r - r_other, n, arm, arm_other


@inline
def nearest(t, c, k, token):
    """(gap [m], normal, touching points from the centres of mass of own body and partner) of contact c at a knot."""
    if pairs(t, c):
        return nearest_of_pair(t, c, k, token)
    b, n, o = touch_plan(t, c, TOUCHES), ground_normal(t, token), spread(0.0, token)
    arm = lowest(t, c, load9(t.state, k + row(b, KNOT, token) + R, token), n, token)
    return gap_of(t, c, b, k, arm, token), n, arm, (o, o, o)


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

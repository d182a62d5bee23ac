"""Contacts with the ground: where a body may touch it, how far it is from it, and how its touching points move.

The ground is the plane n . p = height. A contact is a point of a body that comes lowest: of a ball (of no radius: a
point) or of the rim of a cylinder, whose other three points lie a quarter turn on. Over a step

    u_n = (gap(z3) - wanted) / h,    u_k = mu_k t_k . (p3 - p2) / h,    u_s = n . R2 w2,

p: the point of the body that touches at knot 2; t_k: tangents at knot 2, t_1 along the body's own direction where
friction depends on it. ``wanted`` is h times the velocity of a rebound, or where a step starts below the ground what
pushes out of it without energy. Contacts of two bodies: see ``pair``. Skates and wheels are contacts that cannot slip
and do not press.
"""

import math

from .algebra import add, axpy, cross, dot, load3, mul, sub
from .jit import inline
from .lanes import row
from .simd import load, where
from .tables import (
    ALONG,
    BALL_POINT,
    CONSTANT_TOUCH,
    DIRECTED,
    HEIGHT,
    KNOT,
    NORMAL,
    PLAN_CONTACTS,
    POINT,
    RADIUS,
    RIM,
    RIM_1,
    RIM_2,
    RIM_AXIS,
    RIM_SIDE,
    SKATE,
    TANGENT,
    TOUCH_KIND,
    TOUCH_PLAN,
    WHEEL,
    X,
)  # fmt: skip

STICKS = 1e-9  # squared length below which a direction on the ground is none


@inline
def touch_plan(t, c, field):
    """Entry of contact c in the plan."""
    return load(t.plan, t.plan[PLAN_CONTACTS] + c * TOUCH_PLAN + field, 0)


@inline
def ground_normal(t, token):
    """Normal of the ground [world]."""
    return load3(t.model, t.e + NORMAL, token)


@inline
def on_ground(direction, n, other):
    """Unit vector of a direction along the ground; ``other`` where it points off it."""
    flat = axpy(-dot(n, direction), n, direction)
    size = dot(flat, flat)
    s = 1.0 / math.sqrt(where(size - STICKS, size, size * 0.0 + 1.0))
    clear = size - STICKS
    return (
        where(clear, s * flat[0], other[0]),
        where(clear, s * flat[1], other[1]),
        where(clear, s * flat[2], other[2]),
    )


@inline
def lowest(t, c, R_b, n, token):
    """From the body's centre of mass to the point of contact c that comes lowest, world axes, R_b the orientation."""
    m, kind = t.n + row(c, CONSTANT_TOUCH, token), touch_plan(t, c, TOUCH_KIND)
    centre, radius = mul(R_b, load3(t.model, m + POINT, token)), load(t.model, m + RADIUS, token)
    if kind == BALL_POINT:
        return axpy(-radius, n, centre)
    if kind == SKATE:
        return centre
    axis = mul(R_b, load3(t.model, m + RIM_AXIS, token))
    down = on_ground(n, axis, mul(R_b, load3(t.model, m + RIM_SIDE, token)))  # across the axis; any where it lies flat
    if kind in (RIM, WHEEL):
        return axpy(-radius, down, centre)
    aside = cross(axis, down)
    if kind == RIM_2:
        return axpy(radius, down, centre)
    return axpy(radius if kind == RIM_1 else -radius, aside, centre)


@inline
def unrolled(t, c, R2, R3, point, token):
    """From the centre of mass to a rim's point at knot 3, world axes: it tilts with the axis, but does not roll.

    A rim is its own image under turns about its axis: a point that these bring down is not lower than it was. ``point``
    is the point at knot 2 in the body; the smallest turn of the axis from a2 to a3 takes an arm o2 across it to
    o2 - (a3 . o2) (a2 + a3) / (1 + a2 . a3).
    """
    m = t.n + row(c, CONSTANT_TOUCH, token)
    middle, axis = load3(t.model, m + POINT, token), load3(t.model, m + RIM_AXIS, token)
    a2, a3, o2 = mul(R2, axis), mul(R3, axis), mul(R2, sub(point, middle))
    near = 1.0 + dot(a2, a3)
    return add(mul(R3, middle), axpy(-dot(a3, o2) / where(near - STICKS, near, near + 1.0), add(a2, a3), o2))


@inline
def gap_of(t, c, b, k, arm, token):
    """Distance of a point of body b from the ground [m], ``arm`` from the centre of mass to it."""
    x = load3(t.state, k + row(b, KNOT, token) + X, token)
    n = ground_normal(t, token)
    return dot(n, add(x, arm)) - load(t.model, t.e + HEIGHT, token)


@inline
def tangents(t, c, R_b, n, token):
    """Tangents of contact c where its body is turned by R_b: a skate's direction, a wheel's axle and way of rolling."""
    m, kind = t.n + row(c, CONSTANT_TOUCH, token), touch_plan(t, c, TOUCH_KIND)
    flat = load3(t.model, t.e + TANGENT, token)
    along = mul(R_b, load3(t.model, m + ALONG, token))
    if kind == SKATE:
        return along, (n[0] * 0.0, n[0] * 0.0, n[0] * 0.0)
    if kind == WHEEL:
        axle = mul(R_b, load3(t.model, m + RIM_AXIS, token))
        return axle, on_ground(cross(axle, n), axle, flat)
    t1 = on_ground(along, n, flat) if touch_plan(t, c, DIRECTED) > 0 else flat
    return t1, cross(n, t1)

"""Joints: a frame and a cut. What a joint leaves free, how far it is from closed, what follows from it, at any knot.

A joint's freedoms are directions: free translations are columns of a frame fixed in the parent, free rotations are axes
fixed in the child (three free rotations: the child's own axes; two, the universal joint: the first axis is fixed in the
parent, and its own row keeps the two perpendicular).
"""

from .algebra import add, cross, dot, load3, load4, load9, mul, scale, sub
from .jit import inline
from .lanes import row
from .quaternion import conjugate, product, vector
from .simd import LANES, load, spread, where
from .tables import (
    AXIS,
    AXIS_A,
    BODIES,
    BODY,
    CHILD,
    COORDINATE,
    COSINE,
    FIRST,
    FIRST_LINK,
    FRAME,
    HAS_RATE,
    HEADER,
    JOINTS,
    KNOT,
    LEVER,
    LINKS,
    OFFSET,
    PARENT,
    PLAN,
    ROTATIONS,
    SINE,
    TRANSLATIONS,
    Q,
    R,
    Y,
)  # fmt: skip


@inline
def planned(t, i, field):
    """Entry of body i's row in the plan."""
    return load(t.plan, HEADER + i * PLAN + field, 0)


@inline
def last_link(t):
    """The row behind the last link."""
    return t.plan[FIRST_LINK] + t.plan[LINKS]


@inline
def joint_row(t, n):
    """Row of joint n = 1, 2, ...: the body it carries, or behind the bodies its own."""
    bodies = t.plan[BODIES]
    return n if n < bodies else n - bodies + t.plan[FIRST_LINK]


@inline
def first_spring(t):
    """The row of the first spring between points, behind the closing joints."""
    return t.plan[FIRST_LINK] + t.plan[JOINTS] - t.plan[BODIES]


@inline
def relative_orientation(t, i, k, token):
    """Orientation of child in parent from the zero pose, in child axes: conj(q_off) conj(q_a) q_b."""
    q_a = load4(t.state, k + row(planned(t, i, PARENT), KNOT, token) + Q, token)
    q_b = load4(t.state, k + row(planned(t, i, CHILD), KNOT, token) + Q, token)
    return product(conjugate(product(q_a, load4(t.model, t.m + row(i, BODY, token) + OFFSET, token))), q_b)


@inline
def separation(t, g, k, token):
    """From the anchor in the parent to the anchor in the child [m, world]."""
    parent, own = k + row(planned(t, g, PARENT), KNOT, token), k + row(g, KNOT, token)
    lever = mul(load9(t.state, parent + R, token), load3(t.model, t.m + row(g, BODY, token) + LEVER, token))
    return sub(load3(t.state, own + Y, token), add(load3(t.state, parent + Y, token), lever))


@inline
def translation_axis(t, i, j, k, token):
    """World direction of free translation j at knot buffer k."""
    R_a = load9(t.state, k + row(planned(t, i, PARENT), KNOT, token) + R, token)
    return mul(R_a, load3(t.model, t.m + row(i, BODY, token) + FRAME + 3 * j * LANES, token))


@inline
def own_axis(t, i, k, token):
    """World direction of the joint axis that is fixed in the child."""
    return load3(t.state, k + row(i, KNOT, token) + AXIS, token)


@inline
def parent_axis(t, i, k, token):
    """World direction of the joint axis that is fixed in the parent."""
    R_a = load9(t.state, k + row(planned(t, i, PARENT), KNOT, token) + R, token)
    return mul(R_a, load3(t.model, t.m + row(i, BODY, token) + AXIS_A, token))


@inline
def rotation_axis(t, i, j, k, token):
    """World direction of free rotation j at knot buffer k."""
    free = planned(t, i, ROTATIONS)
    own = k + row(i, KNOT, token)
    if free == 3:
        at = k + row(planned(t, i, CHILD), KNOT, token) + R + j * LANES
        return load(t.state, at, token), load(t.state, at + 3 * LANES, token), load(t.state, at + 6 * LANES, token)
    if free == 2 and j == 0:
        return parent_axis(t, i, k, token)
    return load3(t.state, own + AXIS, token)


@inline
def kept_quaternion(t, p, token):
    """The kept relative quaternion of three free rotations, freedom p the first of them."""
    c = t.c + row(p, COORDINATE, token)
    y = load(t.state, t.c + row(p + 1, COORDINATE, token) + SINE, token)
    z = load(t.state, t.c + row(p + 2, COORDINATE, token) + SINE, token)
    return load(t.state, c + COSINE, token), load(t.state, c + SINE, token), y, z


@inline
def free_rotation(t, i, j, k, token):
    """Direction of Newton's increment for free rotation j at knot 3.

    Any basis of the free motions serves. Where the rates of three free rotations count (dampers) we take the one in
    which the discrete rate (2/h) vec(e2^-1 e3) grows along one unit vector: a damper's derivative is then exact and
    stays inside its own pivot.
    """
    if planned(t, i, ROTATIONS) == 3 and planned(t, i, HAS_RATE) > 0:
        kept = kept_quaternion(t, planned(t, i, FIRST) + planned(t, i, TRANSLATIONS), token)
        w, x, y, z = product(conjugate(kept), relative_orientation(t, i, k, token))
        s = x if j == 0 else (y if j == 1 else z)
        o = w * 0.0
        unit_cross = (o, z, -y) if j == 0 else ((-z, o, x) if j == 1 else (y, -x, o))
        g = sub(scale(s / w, (x, y, z)), unit_cross)
        g = (g[0] + w, g[1], g[2]) if j == 0 else ((g[0], g[1] + w, g[2]) if j == 1 else (g[0], g[1], g[2] + w))
        return mul(load9(t.state, k + row(planned(t, i, CHILD), KNOT, token) + R, token), g)
    return rotation_axis(t, i, j, k, token)


@inline
def translation_repair(t, i, k, token):
    """(shift c that closes the constrained translations, lever from the parent's anchor to the closed anchor)."""
    parent, own = k + row(planned(t, i, PARENT), KNOT, token), k + row(i, KNOT, token)
    lever = mul(load9(t.state, parent + R, token), load3(t.model, t.m + row(i, BODY, token) + LEVER, token))
    c = sub(add(load3(t.state, parent + Y, token), lever), load3(t.state, own + Y, token))
    for j in range(planned(t, i, TRANSLATIONS)):
        axis = translation_axis(t, i, j, k, token)
        along = scale(dot(axis, c), axis)
        c, lever = sub(c, along), sub(lever, along)
    return c, lever


@inline
def rotation_repair(t, i, k, token):
    """World rotation that closes the constrained rotations to first order."""
    free, own = planned(t, i, ROTATIONS), k + row(i, KNOT, token)
    if free == 1:  # turn the child's axis onto the parent's
        return cross(load3(t.state, own + AXIS, token), parent_axis(t, i, k, token))
    o = spread(0.0, token)
    if free == 3:
        return o, o, o
    if free == 2:  # turn about the normal of both axes until they are perpendicular
        a, b = parent_axis(t, i, k, token), load3(t.state, own + AXIS, token)
        normal = cross(a, b)
        return scale(dot(a, b) / dot(normal, normal), normal)
    e = relative_orientation(t, i, k, token)
    s = where(e[0], spread(-2.0, token), spread(2.0, token))
    return mul(load9(t.state, k + row(planned(t, i, CHILD), KNOT, token) + R, token), scale(s, vector(e)))


@inline
def constrained_rotation(t, i, k, turn, token):
    """What joint i forbids of a relative rotation, or carries of a moment."""
    free = planned(t, i, ROTATIONS)
    o = spread(0.0, token)
    if free == 3:
        return o, o, o
    if free == 0:
        return turn
    axis = rotation_axis(t, i, free - 1, k, token)
    if free == 1:
        return sub(turn, scale(dot(axis, turn), axis))
    normal = cross(parent_axis(t, i, k, token), axis)
    return scale(dot(normal, turn), normal)

"""A knot: the pose of every body and what follows from it, in buffers that take turns.

A pose moves over a step of size h by x3 = x2 + h v2 and q3 = q2 * (c, e), with e = h w2 / 2 and c = sqrt(1 - e.e)
[MC 27, 32].
"""

import math

from .algebra import add, dot, load3, load4, mul, scale, store3, store4, store9, sub, symmetric
from .jit import inline, phase
from .lanes import row
from .quaternion import almost_normalised, product, rotation
from .simd import LANES, load, maximum, number_of, spread, store
from .tables import ANCHOR_B, ARM, AXIS, AXIS_B, BODY, BUFFERS, INERTIA, KNOT, KNOT_SIZE, PHASE, C, Q, R, V, W, X, Y


@inline
def load_inertia(t, m, token):
    """The body's inertia [kg m^2, body axes], the full matrix."""
    a, b = load3(t.model, m + INERTIA, token), load3(t.model, m + INERTIA + 3 * LANES, token)
    return symmetric((a[0], a[1], a[2], b[0], b[1], b[2]))


@inline
def place(t, m, k, x, q, token):
    """Write a pose to knot row k, and what follows from it.

    That is the rotation matrix, the joint anchor, the arm from the centre of mass to it, and the joint's own axis.
    """
    R3 = rotation(q)
    arm = mul(R3, load3(t.model, m + ANCHOR_B, token))
    store3(t.state, k + X, x)
    store4(t.state, k + Q, q)
    store9(t.state, k + R, R3)
    store3(t.state, k + ARM, arm)
    store3(t.state, k + Y, add(x, arm))
    store3(t.state, k + AXIS, mul(R3, load3(t.model, m + AXIS_B, token)))


@inline
def move(t, m, k2, k3, v2, w2, c2, h, token):
    """Knot 3 from knot 2 with the half-step velocities: x3 = x2 + h v2, q3 = q2 * (c2, h w2 / 2) [MC 27, 32]."""
    e = scale(0.5 * h, w2)
    store3(t.state, k3 + V, v2)
    store3(t.state, k3 + W, w2)
    store(t.state, k3 + C, c2)
    q3 = almost_normalised(product(load4(t.state, k2 + Q, token), (c2, e[0], e[1], e[2])))
    place(t, m, k3, add(load3(t.state, k2 + X, token), scale(h, v2)), q3, token)


@inline
def present(table, environment):
    """Which knot buffer is the present one, in a state that starts at ``environment``: all lanes share it."""
    return int(load(table, environment + PHASE, number_of(table)))


@inline
def make_present(t, buffer):
    """Make a knot buffer the present one."""
    store(t.state, t.s + PHASE, spread(float(buffer), number_of(t.state)))


@inline
def knots(t, back):
    """The knot buffer ``back`` steps behind the present one; -1 is the next."""
    return t.k + t.plan[KNOT_SIZE] * ((present(t.state, t.s) + BUFFERS - back) % BUFFERS)


@inline
def turn_buffers(t):
    """The next knot buffer becomes the present one."""
    make_present(t, (present(t.state, t.s) + 1) % BUFFERS)


@phase
def follow(t, blocks, k, token):
    """What follows from the poses of knot buffer k, after they were written from outside."""
    for block in range(blocks):
        own, m = k + row(block, KNOT, token), t.m + row(block, BODY, token)
        place(t, m, own, load3(t.state, own + X, token), load4(t.state, own + Q, token), token)


@phase
def fastest(t, blocks, k, token):
    """The largest angular speed [rad/s] of the step that led to knot buffer k; lane by lane over the blocks."""
    largest = spread(0.0, token)
    for block in range(blocks):
        w = load3(t.state, k + row(block, KNOT, token) + W, token)
        largest = maximum(largest, dot(w, w))
    return math.sqrt(largest)


@phase
def bend(t, blocks, k2, k3, token):
    """The largest change of an angular velocity [rad/s] from the step that led to knot buffer k2 to the one to k3."""
    largest = spread(0.0, token)
    for block in range(blocks):
        w2 = load3(t.state, k3 + row(block, KNOT, token) + W, token)
        change = sub(w2, load3(t.state, k2 + row(block, KNOT, token) + W, token))
        largest = maximum(largest, dot(change, change))
    return math.sqrt(largest)

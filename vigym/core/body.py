"""One body, one step: what every body computes on its own, in lanes over bodies or environments.

Newton's increment is a shift dy of the body's joint anchor and a small world rotation dphi, both at knot 3.
"""

import math

from .algebra import (
    add,
    axpy,
    cross,
    dot,
    largest3,
    load3,
    load9,
    madd,
    matmul,
    matmul_t,
    minus_outer,
    mscale,
    msub,
    mul,
    mul_skew,
    scale,
    skew,
    skew_mul,
    store3,
    store9,
    store_block,
    sub,
    tmul,
)  # fmt: skip
from .jit import inline, phase
from .knot import knots, load_inertia, move
from .lanes import row
from .simd import load, maximum, spread, where
from .tables import (
    ARM,
    BLOCK,
    BODY,
    FORCE,
    HISTORY_F,
    HISTORY_T,
    KNOT,
    MASS,
    MOMENT,
    OWN,
    REPAIR_R,
    REPAIR_X,
    SHIFT,
    TURN,
    WORK,
    C,
    R,
    V,
    W,
    X,
)  # fmt: skip

DOMAIN = 0.95  # a predicted |h w / 2|^2 beyond this is drawn back: Newton starts inside its domain


@inline
def extrapolated(t, field, k, one, two, three, linear, cubic, token):
    """Velocity of the next step: a + linear d1 + cubic (d2 + d3).

    a is the last step's velocity, d1, d2, d3 are the backward differences of the last steps'. The buffer of the next
    knot still holds the oldest velocity. Weights of zero leave out what may be no number there.
    """
    a, b = load3(t.state, k + field, token), load3(t.state, one + field, token)
    c, d = load3(t.state, two + field, token), load3(t.state, three + field, token)
    d1, e1, f1 = sub(a, b), sub(b, c), sub(c, d)
    d2, e2 = sub(d1, e1), sub(e1, f1)
    low = axpy(linear, d1, a)
    high = axpy(cubic, add(d2, sub(d2, e2)), low)
    low = where(linear, low[0], a[0]), where(linear, low[1], a[1]), where(linear, low[2], a[2])
    return where(cubic, high[0], low[0]), where(cubic, high[1], low[1]), where(cubic, high[2], low[2])


@inline
def note_history(t, a, m, k, h, rho, g, token):
    """Terms of the last step in [MC 26, 33]: -m v1/h - (1 + rho)/2 m g and -(c1 J w1 - h1/2 w1 x J w1)/h, rho = h1/h.

    After a reset h1 = 0 and (v1, w1) are knot velocities: the same formula is then the discrete Legendre transform.
    Returns the force [N].
    """
    v1, w1, c1 = load3(t.state, k + V, token), load3(t.state, k + W, token), load(t.state, k + C, token)
    mass, Jw = load(t.model, m + MASS, token), mul(load_inertia(t, m, token), w1)
    history = add(scale(-(mass / h), v1), scale(-(0.5 + 0.5 * rho) * mass, g))
    store3(t.work, a + HISTORY_F, history)
    store3(t.work, a + HISTORY_T, sub(scale(0.5 * rho, cross(w1, Jw)), scale(c1 / h, Jw)))
    return history


@phase
def histories(t, blocks, k2, h, rho, g, token):
    """Terms of the step before, of all bodies, as the step from knot buffer k2 saw them."""
    for block in range(blocks):
        a, m = t.b + row(block, WORK, token), t.m + row(block, BODY, token)
        note_history(t, a, m, k2 + row(block, KNOT, token), h, rho, g, token)


@phase
def predict(t, blocks, k2, k3, h, rho, linear, cubic, g, roundings, token):
    """Terms of the last step, and a first guess of the next: half-step velocities extrapolated from the last ones.

    Returns the largest force term [N], for round-off; ``roundings`` is what positions are rounded to, in parts of that.
    """
    largest, per_hh = h * 0.0, roundings / (h * h)
    k1, k0 = knots(t, 1), knots(t, 2)
    for block in range(blocks):
        a, k, n = t.b + row(block, WORK, token), k2 + row(block, KNOT, token), k3 + row(block, KNOT, token)
        m, one, two = t.m + row(block, BODY, token), k1 + row(block, KNOT, token), k0 + row(block, KNOT, token)
        history = note_history(t, a, m, k, h, rho, g, token)
        rounding = load(t.model, m + MASS, token) * largest3(load3(t.state, k + X, token)) * per_hh
        largest = maximum(largest, maximum(rounding, largest3(history)))
        v2 = extrapolated(t, V, k, one, two, n, linear, cubic, token)
        w2 = extrapolated(t, W, k, one, two, n, linear, cubic, token)
        e = 0.25 * h * h * dot(w2, w2)
        c2 = math.sqrt(maximum(1.0 - e, spread(1.0 - DOMAIN, token)))
        s = 1.0 / math.sqrt(e + c2 * c2)
        move(t, m, k, n, v2, scale(s, w2), s * c2, h, token)
    return largest


@phase
def residuals(t, blocks, k2, k3, h, token):
    """Own wrench of each body about its joint anchor at knot 2, the joints closed to first order.

    d_T and d_R of [MC 26, 33] without joint forces:

        m v2/h + history,    R2 (c2 J w2/h + w2 x J w2 / 2 + history),

    and their change by the motion (REPAIR_X, REPAIR_R) that closes the joints.
    """
    per_h = 1.0 / h
    for block in range(blocks):
        a, k, n = t.b + row(block, WORK, token), k2 + row(block, KNOT, token), k3 + row(block, KNOT, token)
        m = t.m + row(block, BODY, token)
        w2, c2 = load3(t.state, n + W, token), load(t.state, n + C, token)
        Jw = mul(load_inertia(t, m, token), w2)
        mass = load(t.model, m + MASS, token)
        f = add(scale(mass * per_h, load3(t.state, n + V, token)), load3(t.work, a + HISTORY_F, token))
        tau = add(add(scale(c2 * per_h, Jw), scale(0.5, cross(w2, Jw))), load3(t.work, a + HISTORY_T, token))
        turn = load3(t.work, a + REPAIR_R, token)
        shift = sub(load3(t.work, a + REPAIR_X, token), cross(turn, load3(t.state, n + ARM, token)))
        f = add(f, scale(mass * per_h * per_h, shift))
        tau = add(mul(load9(t.state, k + R, token), tau), mul(load9(t.work, a + OWN, token), turn))
        store3(t.work, a + FORCE, f)
        store3(t.work, a + MOMENT, sub(tau, cross(load3(t.state, k + ARM, token), f)))


@inline
def store_anchored(t, a, mu, K, arm2, arm3):
    """Keep a body's 6x6 block about its anchors: [mu I, mu [arm3]; -mu [arm2], K - mu [arm2][arm3]] on (dy, dphi)."""
    B, o = skew(scale(mu, arm3)), mu * 0.0
    A, C = (mu, o, o, o, mu, o, o, o, mu), skew(scale(-mu, arm2))
    store_block(t.work, a + BLOCK, A, B, C, msub(K, skew_mul(arm2, B)))


@phase
def blocks6(t, blocks, k2, k3, h, token):
    """Derivative of each own wrench by (dy, dphi).

    With S = c J + [e]J - [Je] its rotational part is R2 (S (c + [e]) - Je e^T) R3^T / h^2.
    """
    per_hh = 1.0 / (h * h)
    for block in range(blocks):
        a, k, n = t.b + row(block, WORK, token), k2 + row(block, KNOT, token), k3 + row(block, KNOT, token)
        m = t.m + row(block, BODY, token)
        J, c = load_inertia(t, m, token), load(t.state, n + C, token)
        e = scale(0.5 * h, load3(t.state, n + W, token))
        Je = mul(J, e)
        S = madd(mscale(c, J), msub(skew_mul(e, J), skew(Je)))
        K = mscale(per_hh, minus_outer(madd(mscale(c, S), mul_skew(S, e)), Je, e))
        K = matmul(load9(t.state, k + R, token), matmul_t(K, load9(t.state, n + R, token)))
        store9(t.work, a + OWN, K)
        arm2, arm3 = load3(t.state, k + ARM, token), load3(t.state, n + ARM, token)
        store_anchored(t, a, load(t.model, m + MASS, token) * per_hh, K, arm2, arm3)


@phase
def update(t, blocks, k2, k3, h, size, mask, token):
    """Apply ``size`` times the increment in the lanes of the mask: v2 += dx/h, and (c, e) moves along its sphere.

    It is turned to first order and scaled back to length 1: no increment leaves the domain.
    """
    for block in range(blocks):
        a, k, n = t.b + row(block, WORK, token), k2 + row(block, KNOT, token), k3 + row(block, KNOT, token)
        m = t.m + row(block, BODY, token)
        dphi = scale(size, add(load3(t.work, a + TURN, token), load3(t.work, a + REPAIR_R, token)))
        dy = scale(size, add(load3(t.work, a + SHIFT, token), load3(t.work, a + REPAIR_X, token)))
        dx = sub(dy, cross(dphi, load3(t.state, n + ARM, token)))
        v, w, c = load3(t.state, n + V, token), load3(t.state, n + W, token), load(t.state, n + C, token)
        v2 = add(v, scale(1.0 / h, dx))
        theta = tmul(load9(t.state, n + R, token), dphi)
        e = scale(0.5 * h, w)
        c2 = c - 0.5 * dot(e, theta)
        e2 = add(e, scale(0.5, add(scale(c, theta), cross(e, theta))))
        s = 1.0 / math.sqrt(c2 * c2 + dot(e2, e2))
        w2 = scale(s * 2.0 / h, e2)
        v2 = where(mask, v2[0], v[0]), where(mask, v2[1], v[1]), where(mask, v2[2], v[2])
        w2 = where(mask, w2[0], w[0]), where(mask, w2[1], w[1]), where(mask, w2[2], w[2])
        move(t, m, k, n, v2, w2, where(mask, s * c2, c), h, token)


@phase
def pressing(t, blocks, k3, h, length, token):
    """What the increments are worth as inertial forces: the largest m dx / h^2 or moment over ``length`` [N]."""
    largest, per_hh = h * 0.0, 1.0 / (h * h)
    for block in range(blocks):
        a, n = t.b + row(block, WORK, token), k3 + row(block, KNOT, token)
        turn = load3(t.work, a + TURN, token)
        dx = sub(load3(t.work, a + SHIFT, token), cross(turn, load3(t.state, n + ARM, token)))
        mass = load(t.model, t.m + row(block, BODY, token) + MASS, token)
        moment = largest3(mul(load9(t.work, a + OWN, token), turn)) / length
        largest = maximum(largest, maximum(mass * per_hh * largest3(dx), moment))
    return largest

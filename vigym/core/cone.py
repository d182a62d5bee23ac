"""Contact forces: complementarity and friction, condensed into the 6x6 block of the body that touches.

A contact presses with gamma along the normal and mu_k beta_k along the tangents, and resists spin with sigma:

    0 <= gamma _|_ u_n >= 0,    beta in the disc |beta| <= gamma that dissipates most,    |sigma| <= mu_s gamma,

solved by semi-smooth Newton on the projections of Alart and Curnier, with a proximal term whose anchor f0 is the last
step's force (redundant contacts have one solution then; ``touch.reanchor`` moves it on where a body sinks; d = prox):

    z = (1 - d) f + d f0 - rho u,    gamma = max(z_n, 0),    beta = z_t in the disc of gamma, else on its rim.

A Newton increment turns each into force = ``FGIVES`` - slopes u(increment): open, stick and slip are three closed forms
that lanes select from. Its 3x3 slopes enter the block between the wrenches at knot 2 and the motions at knot 3: a
contact is a leaf of the graph, eliminated before its body [SIM 4.1].
"""

import math

from .algebra import add, dot, load3, load4, scale, store3, store4
from .contact import touch_plan
from .jit import inline
from .lanes import above, both, row
from .simd import LANES, absolute, load, maximum, spread, where
from .tables import (
    ANCHOR,
    CONE,
    CONSTANT_TOUCH,
    FACTS,
    FGIVES,
    GUIDE_1,
    GUIDE_2,
    HEFT,
    LENGTH_SCALE,
    MU_ACROSS,
    MU_ALONG,
    MU_BACKWARD,
    MU_SPIN,
    NEAR,
    PYRAMID,
    RUB_1,
    RUB_2,
    SKATE,
    SLIP,
    SLIP_NEXT,
    SLIP_SEEN,
    SPINS,
    TANGENT_1,
    TANGENT_2,
    TOUCH_KIND,
)  # fmt: skip

TINY_MU = 1e-3  # coefficient of friction below which the tangential scale does not follow it


@inline
def project_disc(z, r, token):
    """(direction of z, whether it is outside the disc of radius r, r over its length)."""
    size = math.sqrt(z[0] * z[0] + z[1] * z[1])
    per_size = 1.0 / where(size, size, spread(1.0, token))
    return (per_size * z[0], per_size * z[1]), above(size, r), r * per_size


@inline
def clipped(z, r):
    """A number drawn back to [-r, r]."""
    return where(z - r, r, where(-z - r, -r, z))


@inline
def projected(z, r, pyramid, token):
    """The tangential force in the friction disc (or square) nearest to z."""
    if pyramid:
        return clipped(z[0], r), clipped(z[1], r)
    way, outside, _ = project_disc(z, r, token)
    return where(outside, r * way[0], z[0]), where(outside, r * way[1], z[1])


@inline
def disc_law(f, f0, u, seen, z, r, press, rho, rho_t, prox, token):
    """Tangential forces at no increment and their slopes: (g1, g2, K1n, K2n, K11, K12, K22) of an active contact.

    u: velocities at no increment, ``seen``: those that z was chosen by.
    """
    way, slips, a = project_disc(z, r, token)
    o, per, keep = spread(0.0, token), rho_t / prox, 1.0 - prox
    aside = way[0] * f[2] - way[1] * f[1]  # of the present force along (-way_2, way_1)
    drift = way[0] * (seen[2] - u[2]) - way[1] * (seen[1] - u[1])
    back = a * keep / (1.0 - a * keep)
    side = a * rho_t / (1.0 - a * keep)
    aside = back * aside - side * drift
    g1, g2 = press * way[0] + aside * way[1], press * way[1] - aside * way[0]
    g1, g2 = where(slips, g1, f0[1] - per * u[1]), where(slips, g2, f0[2] - per * u[2])
    k1n, k2n = where(slips, rho / prox * way[0], o), where(slips, rho / prox * way[1], o)
    k11 = where(slips, side * way[1] * way[1], per)
    k12 = where(slips, -side * way[0] * way[1], o)
    k22 = where(slips, side * way[0] * way[0], per)
    return g1, g2, k1n, k2n, k11, k12, k22


@inline
def edge_law(f0, u, z, r, press, rho, per, prox, token):
    """One force between -r and r: (at no increment, slope by the normal velocity, slope by its own)."""
    o, one = spread(0.0, token), spread(1.0, token)
    slips, sign = above(absolute(z), r), where(z, one, -one)
    return where(slips, sign * press, f0 - per * u), where(slips, rho / prox * sign, o), where(slips, o, per)


@inline
def square_law(f0, u, z, r, press, rho, rho_t, prox, token):
    """The same for the four-sided pyramid: two forces that do not know of each other [SIM 3.4]."""
    g1, k1n, k11 = edge_law(f0[1], u[1], z[0], r, press, rho, rho_t / prox, prox, token)
    g2, k2n, k22 = edge_law(f0[2], u[2], z[1], r, press, rho, rho_t / prox, prox, token)
    return g1, g2, k1n, k2n, k11, spread(0.0, token), k22


@inline
def friction_frame(t, c, a, slip, rho, token):
    """Tangents times the coefficients of friction, and the tangential rho; forward may be unlike backward.

    ``slip``: the field of velocities that tells.
    """
    m = t.n + row(c, CONSTANT_TOUCH, token)
    t1, t2 = load3(t.work, a + TANGENT_1, token), load3(t.work, a + TANGENT_2, token)
    if touch_plan(t, c, TOUCH_KIND) >= SKATE:
        return t1, t2, rho
    f1 = load(t.work, a + FACTS + LANES, token)
    f1 = f1 + load(t.work, a + FACTS + 2 * LANES, token) if t.plan[PYRAMID] > 0 else f1
    along, backward = load(t.model, m + MU_ALONG, token), load(t.model, m + MU_BACKWARD, token)
    pushed = f1 - rho * dot(t1, load3(t.work, a + slip + LANES, token))
    mu1, mu2 = where(pushed, backward, along), load(t.model, m + MU_ACROSS, token)  # pushed forwards: slips backwards
    t1, t2, mu = scale(mu1, t1), scale(mu2, t2), where(mu1 - mu2, mu1, mu2)
    if t.plan[PYRAMID] > 0:
        t1, t2 = scale(0.5, add(t1, t2)), scale(0.5, add(t1, scale(-1.0, t2)))
    mu = where(mu - TINY_MU, mu, spread(TINY_MU, token))
    return t1, t2, rho / (mu * mu)


@inline
def slip_of(t, c, at, t1, t2, token):
    """(u_n, u_1, u_2, u_s) of velocities kept at work element ``at``."""
    move, m = load3(t.work, at + LANES, token), t.n + row(c, CONSTANT_TOUCH, token)
    spin = load(t.model, m + MU_SPIN, token) * load(t.work, at + 4 * LANES, token)
    return load(t.work, at, token), dot(t1, move), dot(t2, move), spin


@inline
def spin_coefficient(t, c, token):
    """Coefficient of friction against spin [m]."""
    return load(t.model, t.n + row(c, CONSTANT_TOUCH, token) + MU_SPIN, token)


@inline
def spin_scale(t, c, rho, token):
    """The scale of torques about the normal: that of the forces, at the length scale."""
    mu = load(t.model, t.n + row(c, CONSTANT_TOUCH, token) + MU_SPIN, token)
    length = load(t.model, t.e + LENGTH_SCALE, token)
    return where(mu, rho * length * length / where(mu, mu * mu, spread(1.0, token)), rho)


@inline
def selected4(mask, a):
    """Four values where the mask is set, else zeros."""
    o = a[0] * 0.0
    return where(mask, a[0], o), where(mask, a[1], o), where(mask, a[2], o), where(mask, a[3], o)


@inline
def held_slip(t, a, at, token):
    """Velocities of a skate or wheel, kept at work element ``at``, along the directions it keeps to."""
    move = load3(t.work, at + LANES, token)
    return dot(load3(t.work, a + GUIDE_1, token), move), dot(load3(t.work, a + GUIDE_2, token), move)


@inline
def set_law(t, c, a, per_h, prox, token):
    """Forces of contact c at no increment, and their slopes. Returns the lanes in which it presses."""
    keep = 1.0 - prox
    rho = per_h * load(t.model, t.n + row(c, CONSTANT_TOUCH, token) + HEFT, token)
    t1, t2, rho_t = friction_frame(t, c, a, SLIP_SEEN, rho, token)
    store3(t.work, a + RUB_1, t1)
    store3(t.work, a + RUB_2, t2)
    u, next_ = slip_of(t, c, a + SLIP, t1, t2, token), slip_of(t, c, a + SLIP_SEEN, t1, t2, token)
    f, f0, o = load4(t.work, a + FACTS, token), load4(t.work, a + ANCHOR, token), spread(0.0, token)
    if touch_plan(t, c, TOUCH_KIND) >= SKATE:  # holds whatever it takes: its anchor is the present force
        per, held = rho / prox, held_slip(t, a, a + SLIP, token)
        store4(t.work, a + FGIVES, (o, f[1] - per * held[0], f[2] - per * held[1], o))
        store4(t.work, a + CONE, (o, o, o, per))
        store4(t.work, a + CONE + 4 * LANES, (o, per, o, o))
        return o + 1.0
    r = keep * f[0] + prox * f0[0] - rho * next_[0]
    presses = both(above(r, o), load(t.work, a + NEAR, token))
    z = keep * f[1] + prox * f0[1] - rho_t * next_[1], keep * f[2] + prox * f0[2] - rho_t * next_[2]
    press = f0[0] - rho / prox * u[0]
    if t.plan[PYRAMID] > 0:
        g1, g2, k1n, k2n, k11, k12, k22 = square_law(f0, u, z, r, press, rho, rho_t, prox, token)
    else:
        g1, g2, k1n, k2n, k11, k12, k22 = disc_law(f, f0, u, next_, z, r, press, rho, rho_t, prox, token)
    gs, ksn, kss = o, o, o
    if touch_plan(t, c, SPINS) > 0:
        rho_s = spin_scale(t, c, rho, token)
        z_s = keep * f[3] + prox * f0[3] - rho_s * next_[3]
        gs, ksn, kss = edge_law(f0[3], u[3], z_s, r, press, rho, rho_s / prox, prox, token)
    store4(t.work, a + FGIVES, selected4(presses, (press, g1, g2, gs)))
    store4(t.work, a + CONE, selected4(presses, (rho / prox, k1n, k2n, k11)))
    store4(t.work, a + CONE + 4 * LANES, selected4(presses, (k12, k22, ksn, kss)))
    return presses


@inline
def defect(t, c, a, f, per_h, prox, token):
    """How far forces are from the projections of what they and the velocities after the increment give [N]."""
    keep, o = 1.0 - prox, spread(0.0, token)
    rho = per_h * load(t.model, t.n + row(c, CONSTANT_TOUCH, token) + HEFT, token)
    t1, t2, rho_t = friction_frame(t, c, a, SLIP_NEXT, rho, token)
    u, f0 = slip_of(t, c, a + SLIP_NEXT, t1, t2, token), load4(t.work, a + ANCHOR, token)
    if touch_plan(t, c, TOUCH_KIND) >= SKATE:
        held = held_slip(t, a, a + SLIP_NEXT, token)
        return rho * maximum(absolute(held[0]), absolute(held[1]))
    r = keep * f[0] + prox * f0[0] - rho * u[0]
    r = where(r, r, o)
    z = keep * f[1] + prox * f0[1] - rho_t * u[1], keep * f[2] + prox * f0[2] - rho_t * u[2]
    g1, g2 = projected(z, r, t.plan[PYRAMID] > 0, token)
    m = t.n + row(c, CONSTANT_TOUCH, token)
    mu1, mu2 = load(t.model, m + MU_ALONG, token), load(t.model, m + MU_ACROSS, token)
    mu = where(mu1 - mu2, mu1, mu2)
    worst = maximum(absolute(f[0] - r), mu * maximum(absolute(f[1] - g1), absolute(f[2] - g2)))
    if touch_plan(t, c, SPINS) > 0:
        z_s = keep * f[3] + prox * f0[3] - spin_scale(t, c, rho, token) * u[3]
        worst = maximum(worst, absolute(f[3] - clipped(z_s, r)))
    return worst

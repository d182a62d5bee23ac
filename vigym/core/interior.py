"""The interior-point law of a contact [SIM 3.3, 4.1]: forces and velocities stay inside their cones.

With gamma, beta the force of a contact (|beta| <= gamma), s its normal velocity and (psi, eta) the dual of the friction
cone, eta the tangential velocity times the coefficients of friction, the conditions of contact are relaxed by kappa,

    gamma s = kappa,    gamma psi + beta . eta = kappa,    gamma eta + psi beta = 0,    s = u_n,

and kappa is brought down while Newton iterates. Linearised, duals eliminated, each contact is again force = ``FGIVES``
- slopes u(increment): it is condensed as those of ``cone`` are. An increment is cut where a force or dual would leave
its cone. Torsion keeps its projection.
"""

import math

from .algebra import dot, load3, load4, store3, store4
from .cone import edge_law, friction_frame, slip_of, spin_scale
from .contact import touch_plan
from .jit import inline
from .lanes import row
from .simd import LANES, absolute, load, maximum, spread, store, where
from .tables import (
    ANCHOR,
    CONE,
    CONE_21,
    CONSTANT_TOUCH,
    DUAL,
    DUAL_LAW,
    DUAL_NEXT,
    FACTS,
    FGIVES,
    FORCE_SCALE,
    GRAVITY,
    HEFT,
    NEAR,
    RUB_1,
    RUB_2,
    SKATE,
    SLIP,
    SLIP_NEXT,
    SPINS,
    TOUCH_KIND,
)  # fmt: skip

BOUNDARY = 0.99  # part of the way to the boundary of a cone that an increment may go
RELAXED, TIGHT = 1.0, 1e-5  # kappa at the start and at the end, in force scales times what a step of free fall adds
CENTRED = 0.2  # by which kappa falls where the last increment was not cut by more than half


@inline
def fall(t, per_h, token):
    """Velocity that one step of free fall adds [m/s], the scale of a contact's velocities."""
    gravity = load3(t.model, t.e + GRAVITY, token)
    g = math.sqrt(dot(gravity, gravity))
    return where(g, g, spread(1.0, token)) / per_h


@inline
def first_iterate(f, u, s, psi, rho, kappa, speed):
    """Force and duals inside their cones; where there is none yet (s = 0) a force like a weight, and no friction."""
    o = 0.0 * s
    moving = u[1] * u[1] + u[2] * u[2]
    weight = rho * speed
    gamma = where(s, f[0], where(f[0] - weight, f[0], weight))
    least = kappa / gamma
    psi = where(s, maximum(psi, math.sqrt(moving + least * least)), math.sqrt(moving + speed * speed))
    s_new = where(s, s, where(u[0] - speed, u[0], speed))
    return (gamma, where(s, f[1], o), where(s, f[2], o)), s_new, psi


@inline
def interior_law(f, u, s, psi, kappa):
    """Forces at no increment, their slopes (nn, 1n, 2n, 11, 12, 21, 22), and psi: (at none, by n, by 1, by 2)."""
    gamma, b1, b2 = f
    e1, e2 = u[1], u[2]
    g0, a = (kappa - gamma * u[0]) / s, gamma / s
    r0 = kappa - (gamma * psi + b1 * e1 + b2 * e2)
    r1, r2 = -(gamma * e1 + psi * b1), -(gamma * e2 + psi * b2)
    per = 1.0 / psi
    per_d = 1.0 / (gamma - per * (e1 * b1 + e2 * b2))
    p0 = (r0 - per * (e1 * r1 + e2 * r2)) * per_d
    pg = (per * (e1 * e1 + e2 * e2) - psi) * per_d
    p1, p2 = (per * gamma * e1 - b1) * per_d, (per * gamma * e2 - b2) * per_d
    d1, d2 = per * (e1 + b1 * pg), per * (e2 + b2 * pg)  # of beta by minus the change of gamma
    forces = gamma + g0, b1 + per * (r1 - b1 * p0) - d1 * g0, b2 + per * (r2 - b2 * p0) - d2 * g0
    slopes = (
        a, -d1 * a, -d2 * a,
        per * (gamma + b1 * p1), per * b1 * p2, per * b2 * p1, per * (gamma + b2 * p2),
    )  # fmt: skip
    return forces, slopes, (psi + p0 + pg * g0, -pg * a, p1, p2)


@inline
def set_interior_law(t, c, a, per_h, kappa, speed, prox, token):
    """Forces of contact c at no increment, and their slopes. Returns the lanes in which it is near."""
    near, o = load(t.work, a + NEAR, token), spread(0.0, token)
    rho = per_h * load(t.model, t.n + row(c, CONSTANT_TOUCH, token) + HEFT, token)
    t1, t2, _ = friction_frame(t, c, a, SLIP, rho, token)
    store3(t.work, a + RUB_1, t1)
    store3(t.work, a + RUB_2, t2)
    u, f0 = slip_of(t, c, a + SLIP, t1, t2, token), load4(t.work, a + FACTS, token)
    f, s, psi = first_iterate(
        f0, u, load(t.work, a + DUAL, token), load(t.work, a + DUAL + LANES, token), rho, kappa, speed
    )
    store4(t.work, a + FACTS, (where(near, f[0], f0[0]), where(near, f[1], f0[1]), where(near, f[2], f0[2]), f0[3]))
    store(t.work, a + DUAL, where(near, s, o))
    store(t.work, a + DUAL + LANES, where(near, psi, o))
    forces, k, dual = interior_law(f, u, s, psi, kappa)
    gs, ksn, kss = o, o, o
    if touch_plan(t, c, SPINS) > 0:
        rho_s, anchor = spin_scale(t, c, rho, token), load4(t.work, a + ANCHOR, token)[3]
        z = (1.0 - prox) * f0[3] + prox * anchor - rho_s * u[3]
        gs, ksn, kss = edge_law(anchor, u[3], z, f[0], f[0], 0.0 * rho, rho_s / prox, prox, token)
    store4(t.work, a + DUAL_LAW, dual)
    store4(t.work, a + FGIVES, (where(near, forces[0], o), where(near, forces[1], o), where(near, forces[2], o), gs))
    store4(t.work, a + CONE, (where(near, k[0], o), where(near, k[1], o), where(near, k[2], o), where(near, k[3], o)))
    store4(t.work, a + CONE + 4 * LANES, (where(near, k[4], o), where(near, k[6], o), ksn, kss))
    store(t.work, a + CONE_21, where(near, k[5], o))
    return near


@inline
def to_boundary(x, dx):
    """How far from x along dx the second-order cone goes on, at most one: where |x1 + s dx1| = x0 + s dx0 first."""
    a = dx[0] * dx[0] - (dx[1] * dx[1] + dx[2] * dx[2])
    b = x[0] * dx[0] - (x[1] * dx[1] + x[2] * dx[2])
    c = x[0] * x[0] - (x[1] * x[1] + x[2] * x[2])
    root = b * b - a * c
    per = math.sqrt(where(root, root, 0.0 * root)) - b
    meets = where(root, where(per - c, c / where(per, per, 1.0 + 0.0 * per), 1.0 + 0.0 * c), 1.0 + 0.0 * c)
    return where(meets, meets, 0.0 * meets)


@inline
def to_zero(x, dx):
    """How far from a number x > 0 along dx it stays so, at most one."""
    return where(-dx - x, x / where(absolute(dx), absolute(dx), 1.0 + 0.0 * dx), 1.0 + 0.0 * x)


@inline
def follow_interior(t, c, a, u, per_h, kappa, speed, token):
    """After an increment that changes velocities by u: (part of it that may be taken, how far the law is off [N])."""
    f, g = load4(t.work, a + FACTS, token), load4(t.work, a + FGIVES, token)
    s, psi = load(t.work, a + DUAL, token), load(t.work, a + DUAL + LANES, token)
    law = load4(t.work, a + DUAL_LAW, token)
    t1, t2 = load3(t.work, a + RUB_1, token), load3(t.work, a + RUB_2, token)
    now, later = slip_of(t, c, a + SLIP, t1, t2, token), slip_of(t, c, a + SLIP_NEXT, t1, t2, token)
    psi_later = law[0] + law[1] * u[0] + law[2] * u[1] + law[3] * u[2]
    store(t.work, a + DUAL_NEXT, later[0])
    store(t.work, a + DUAL_NEXT + LANES, psi_later)
    size = to_zero(s, later[0] - s)
    primal = to_boundary((f[0], f[1], f[2]), (g[0] - f[0], g[1] - f[1], g[2] - f[2]))
    dual = to_boundary((psi, now[1], now[2]), (psi_later - psi, later[1] - now[1], later[2] - now[2]))
    size = where(size - primal, primal, size)
    size = where(size - dual, dual, size)
    rho = per_h * load(t.model, t.n + row(c, CONSTANT_TOUCH, token) + HEFT, token)
    off = maximum(absolute(f[0] * s - kappa), absolute(f[0] * psi + f[1] * now[1] + f[2] * now[2] - kappa))
    aside = maximum(absolute(f[0] * now[1] + psi * f[1]), absolute(f[0] * now[2] + psi * f[2]))
    return BOUNDARY * size, maximum(off, aside) / speed + rho * absolute(s - now[0])


@inline
def relaxation(t, per_h, token):
    """Relaxation that an attempt starts with, and that it ends with [N m/s]."""
    scale = load(t.model, t.e + FORCE_SCALE, token) * fall(t, per_h, token)
    return RELAXED * scale, TIGHT * scale


@inline
def next_relaxation(kappa, size, tight):
    """Relaxation of the next iteration, after an increment of which ``size`` was taken."""
    return where(size - 0.5, maximum(tight, CENTRED * kappa), kappa)


@inline
def holds(t, c):
    """Whether contact c is a skate or wheel: no interior is needed."""
    return touch_plan(t, c, TOUCH_KIND) >= SKATE

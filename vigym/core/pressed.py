"""Contact forces after an increment, what is taken of them, and what is kept of the solution."""

from .algebra import add, dot, load3, load4, scale, store3, store4
from .cone import defect, spin_coefficient
from .contact import touch_plan
from .interior import follow_interior, holds
from .jit import inline, phase
from .lanes import any_lane, both, row
from .pair import relative_motion
from .press import contact_wrench
from .simd import LANES, load, maximum, spread, store, where
from .tables import (
    ARM_LOW,
    ARM_TOUCH,
    CONE,
    CONE_21,
    CONTACTS,
    DUAL,
    DUAL_NEXT,
    FACTS,
    FGIVES,
    FORCE_FOUND,
    GUIDE_1,
    GUIDE_2,
    NEAR,
    NORMAL_3,
    PARTNER_LOW,
    PARTNER_TOUCH,
    PRESS_FOUND,
    RUB_1,
    RUB_2,
    SHIFT,
    SKATE,
    SLIP,
    SLIP_NEXT,
    SLIP_SEEN,
    TOUCH_KIND,
    TOUCH_WORK,
    TOUCHES,
    TURN,
    TURN_1,
    TURN_2,
    WORK,
)  # fmt: skip


@inline
def follow_motion(t, c, a, per_h, token):
    """Velocities of contact c after the increment, and its forces; returns what it changes them by, (n, 1, 2)."""
    turn = load3(t.work, t.b + row(touch_plan(t, c, TOUCHES), WORK, token) + TURN, token)
    n = load3(t.work, a + NORMAL_3, token)
    normal = per_h * dot(n, relative_motion(t, c, a, ARM_LOW, PARTNER_LOW, SHIFT, TURN, token))
    move = scale(per_h, relative_motion(t, c, a, ARM_TOUCH, PARTNER_TOUCH, SHIFT, TURN, token))
    spin = per_h * dot(n, turn)
    store(t.work, a + SLIP_NEXT, load(t.work, a + SLIP, token) + normal)
    store3(t.work, a + SLIP_NEXT + LANES, add(load3(t.work, a + SLIP + LANES, token), move))
    store(t.work, a + SLIP_NEXT + 4 * LANES, load(t.work, a + SLIP + 4 * LANES, token) + spin)
    t1, t2 = load3(t.work, a + RUB_1, token), load3(t.work, a + RUB_2, token)
    nn, n1, n2, k11 = load4(t.work, a + CONE, token)
    k12, k22, ksn, kss = load4(t.work, a + CONE + 4 * LANES, token)
    u1, u2, us = dot(t1, move), dot(t2, move), spin_coefficient(t, c, token) * spin
    if touch_plan(t, c, TOUCH_KIND) >= SKATE:
        turning = scale(per_h, turn)
        u1 = dot(load3(t.work, a + GUIDE_1, token), move) + dot(load3(t.work, a + TURN_1, token), turning)
        u2 = dot(load3(t.work, a + GUIDE_2, token), move) + dot(load3(t.work, a + TURN_2, token), turning)
    g, k21 = load4(t.work, a + FGIVES, token), load(t.work, a + CONE_21, token)
    f = (
        g[0] - nn * normal,
        g[1] - (n1 * normal + k11 * u1 + k12 * u2),
        g[2] - (n2 * normal + k21 * u1 + k22 * u2),
        g[3] - (ksn * normal + kss * us),
    )
    store4(t.work, a + FGIVES, f)
    return normal, u1, u2


@phase
def follow_contacts(t, per_h, prox, token):
    """Contact forces after the increment just solved for, and the velocities they go with.

    Returns how far they are from the projections, the largest [N].
    """
    worst = spread(0.0, token)
    for c in range(t.plan[CONTACTS]):
        a = t.w + row(c, TOUCH_WORK, token)
        if any_lane(load(t.work, a + NEAR, token)):
            follow_motion(t, c, a, per_h, token)
            off = defect(t, c, a, load4(t.work, a + FGIVES, token), per_h, prox, token)
            worst = maximum(worst, where(load(t.work, a + NEAR, token), off, 0.0 * off))
    return worst


@phase
def follow_inside(t, per_h, prox, kappa, speed, token):
    """The same by the interior point; returns (part of the increment that stays inside the cones, how far off [N])."""
    worst, size = spread(0.0, token), spread(1.0, token)
    for c in range(t.plan[CONTACTS]):
        a = t.w + row(c, TOUCH_WORK, token)
        near = load(t.work, a + NEAR, token)
        if any_lane(near):
            u = follow_motion(t, c, a, per_h, token)
            part, off = size, spread(0.0, token)
            if holds(t, c):
                off = defect(t, c, a, load4(t.work, a + FGIVES, token), per_h, prox, token)
            else:
                part, off = follow_interior(t, c, a, u, per_h, kappa, speed, token)
            part = where(near, part, size)
            worst, size = maximum(worst, where(near, off, 0.0 * off)), where(size - part, part, size)
    return size, worst


@phase
def take_duals(t, size, mask, token):
    """Duals of the contacts move ``size`` of their way in the lanes of the mask."""
    for c in range(t.plan[CONTACTS]):
        a = t.w + row(c, TOUCH_WORK, token)
        taken = both(mask, load(t.work, a + NEAR, token))  # of lanes that are not near there are none yet
        for j in range(2):
            s, later = load(t.work, a + DUAL + j * LANES, token), load(t.work, a + DUAL_NEXT + j * LANES, token)
            store(t.work, a + DUAL + j * LANES, where(taken, s + size * (later - s), s))


@phase
def forget_duals(t, token):
    """No contact has duals yet."""
    for c in range(t.plan[CONTACTS]):
        store(t.work, t.w + row(c, TOUCH_WORK, token) + DUAL, spread(0.0, token))


@phase
def take_forces(t, size, mask, token):
    """Contact forces move ``size`` of the way to what the increment made of them, in the lanes of the mask.

    And the velocities after it are what the laws choose by.
    """
    for c in range(t.plan[CONTACTS]):
        a = t.w + row(c, TOUCH_WORK, token)
        for j in range(4):
            f, g = load(t.work, a + FACTS + j * LANES, token), load(t.work, a + FGIVES + j * LANES, token)
            g = where(load(t.work, a + NEAR, token), g, f * 0.0)
            store(t.work, a + FACTS + j * LANES, where(mask, f + size * (g - f), f))
        for j in range(5):
            seen, now = load(t.work, a + SLIP_SEEN + j * LANES, token), load(t.work, a + SLIP_NEXT + j * LANES, token)
            store(t.work, a + SLIP_SEEN + j * LANES, where(mask, seen + size * (now - seen), seen))


@phase
def keep_forces(t, mask, token):
    """Contact forces of the solution, in the lanes of the mask: what others do later does not change them."""
    o = spread(0.0, token)
    for c in range(t.plan[CONTACTS]):
        a = t.w + row(c, TOUCH_WORK, token)
        near, f = load(t.work, a + NEAR, token), load4(t.work, a + FACTS, token)
        f = where(near, f[0], o), where(near, f[1], o), where(near, f[2], o), where(near, f[3], o)
        force, _ = contact_wrench(t, a, f, token)
        force = where(near, force[0], o), where(near, force[1], o), where(near, force[2], o)
        then, before = load4(t.work, a + PRESS_FOUND, token), load3(t.work, a + FORCE_FOUND, token)
        f = (
            where(mask, f[0], then[0]),
            where(mask, f[1], then[1]),
            where(mask, f[2], then[2]),
            where(mask, f[3], then[3]),
        )
        store4(t.work, a + PRESS_FOUND, f)
        force = where(mask, force[0], before[0]), where(mask, force[1], before[1]), where(mask, force[2], before[2])
        store3(t.work, a + FORCE_FOUND, force)

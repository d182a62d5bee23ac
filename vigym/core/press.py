"""Contact forces in the equations of a step: wrenches at knot 2, slopes in the blocks, forces after an increment."""

from .algebra import add, axpy, cross, dot, load3, load4, load_block, minus_outer, scale, store3, store4, store_block
from .cone import defect, set_law, spin_coefficient
from .contact import touch_plan
from .jit import inline, phase
from .lanes import any_lane, row
from .links import add_wrench
from .pair import pairs, relative_motion
from .simd import LANES, load, maximum, spread, store, where
from .tables import (
    ARM2,
    ARM_LOW,
    ARM_TOUCH,
    BLOCK,
    CONE,
    CONTACTS,
    FACTS,
    FGIVES,
    FORCE_FOUND,
    GAP,
    GUIDE_1,
    GUIDE_2,
    LOOP_WORK,
    NEAR,
    NORMAL_2,
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
    SPINS,
    TOUCH_KIND,
    TOUCH_ROWS,
    TOUCH_WORK,
    TOUCHES,
    TURN,
    TURN_1,
    TURN_2,
    WORK,
)  # fmt: skip


@inline
def contact_wrench(t, a, f, token):
    """World force of contact row a with components f, and its torque about the own joint anchor at knot 2."""
    n = load3(t.work, a + NORMAL_2, token)
    t1, t2 = load3(t.work, a + RUB_1, token), load3(t.work, a + RUB_2, token)
    force = axpy(f[2], t2, axpy(f[1], t1, scale(f[0], n)))
    return force, axpy(f[3], n, cross(load3(t.work, a + ARM2, token), force))


@phase
def press(t, per_h, prox, token):
    """Forces of the near contacts at no increment and their slopes; returns the lanes in which any presses."""
    pressing = spread(0.0, token)
    for c in range(t.plan[CONTACTS]):
        a = t.w + row(c, TOUCH_WORK, token)
        if any_lane(load(t.work, a + NEAR, token)):
            pressing = maximum(pressing, set_law(t, c, a, per_h, prox, token))
    return pressing


@phase
def push(t, weight, token):
    """Take the contacts' forces at no increment off the wrenches of their bodies, or into their loop rows."""
    for c in range(t.plan[CONTACTS]):
        a = t.w + row(c, TOUCH_WORK, token)
        if any_lane(load(t.work, a + NEAR, token)):
            g = load4(t.work, a + FGIVES, token)
            if pairs(t, c):
                for j in range(3):
                    at = t.r + row(touch_plan(t, c, TOUCH_ROWS) + j, LOOP_WORK, token)
                    store(t.work, at + GAP, -load(t.work, a + FGIVES + j * LANES, token))
            else:
                s = spin_coefficient(t, c, token)
                force, torque = contact_wrench(t, a, (g[0], g[1], g[2], s * g[3]), token)
                add_wrench(t, t.b + row(touch_plan(t, c, TOUCHES), WORK, token), -weight, force, torque, token)


@inline
def sloped(t, c, a, arms, token):
    """Contact forces per motion of the body with these arms (of the lowest and touching point): three rows (f, m)."""
    n = load3(t.work, a + NORMAL_3, token)
    nn, n1, n2, k11 = load4(t.work, a + CONE, token)
    k12, k22, _, _ = load4(t.work, a + CONE + 4 * LANES, token)
    low, touch = load3(t.work, a + arms[0], token), load3(t.work, a + arms[1], token)
    w1, w2 = load3(t.work, a + RUB_1, token), load3(t.work, a + RUB_2, token)
    m, m1, m2 = cross(low, n), cross(touch, w1), cross(touch, w2)
    if touch_plan(t, c, TOUCH_KIND) >= SKATE:
        w1, w2 = load3(t.work, a + GUIDE_1, token), load3(t.work, a + GUIDE_2, token)
        m1 = add(cross(touch, w1), load3(t.work, a + TURN_1, token))
        m2 = add(cross(touch, w2), load3(t.work, a + TURN_2, token))
    return (
        (scale(nn, n), scale(nn, m)),
        (axpy(k12, w2, axpy(k11, w1, scale(n1, n))), axpy(k12, m2, axpy(k11, m1, scale(n1, m)))),
        (axpy(k22, w2, axpy(k12, w1, scale(n2, n))), axpy(k22, m2, axpy(k12, m1, scale(n2, m)))),
    )


@phase
def condense(t, weight, per_h, token):
    """Add the slopes of contacts with the ground to the blocks of their bodies: wrenches at knot 2, motions at knot 3.

    Those of two bodies are loop rows, see ``meeting``.
    """
    for c in range(t.plan[CONTACTS]):
        a = t.w + row(c, TOUCH_WORK, token)
        if any_lane(load(t.work, a + NEAR, token)) and not pairs(t, c):
            at = t.b + row(touch_plan(t, c, TOUCHES), WORK, token) + BLOCK
            arm2, s = load3(t.work, a + ARM2, token), -weight * per_h
            n, t1 = load3(t.work, a + NORMAL_2, token), load3(t.work, a + RUB_1, token)
            t2 = load3(t.work, a + RUB_2, token)
            fn, f1, f2 = sloped(t, c, a, (ARM_LOW, ARM_TOUCH), token)
            block = load_block(t.work, at, token)
            block = add_row(block, s, n, cross(arm2, n), fn[0], fn[1])
            block = add_row(block, s, t1, cross(arm2, t1), f1[0], f1[1])
            block = add_row(block, s, t2, cross(arm2, t2), f2[0], f2[1])
            if touch_plan(t, c, SPINS) > 0:
                _, _, ksn, kss = load4(t.work, a + CONE + 4 * LANES, token)
                mu, o = spin_coefficient(t, c, token), spread(0.0, token)
                f = scale(mu * ksn, n)
                m = axpy(mu * mu * kss, n, scale(mu * ksn, cross(load3(t.work, a + ARM_LOW, token), n)))
                block = add_row(block, s, (o, o, o), n, f, m)
            store_block(t.work, at, block[0], block[1], block[2], block[3])


@inline
def add_row(block, s, force, torque, along_f, along_t):
    """Add -s (force, torque) (along_f, along_t)^T to a 6x6 block."""
    A, B, C, E = block
    f, m = scale(s, force), scale(s, torque)
    return (
        minus_outer(A, f, along_f),
        minus_outer(B, f, along_t),
        minus_outer(C, m, along_f),
        minus_outer(E, m, along_t),
    )


@phase
def follow_contacts(t, per_h, prox, token):
    """Contact forces after the increment just solved for, and the velocities they go with.

    Returns how far they are from the projections, the largest [N].
    """
    worst = spread(0.0, token)
    for c in range(t.plan[CONTACTS]):
        a, b = t.w + row(c, TOUCH_WORK, token), t.b + row(touch_plan(t, c, TOUCHES), WORK, token)
        if any_lane(load(t.work, a + NEAR, token)):
            n, turn = load3(t.work, a + NORMAL_3, token), load3(t.work, b + TURN, token)
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
            g = load4(t.work, a + FGIVES, token)
            f = (
                g[0] - nn * normal,
                g[1] - (n1 * normal + k11 * u1 + k12 * u2),
                g[2] - (n2 * normal + k12 * u1 + k22 * u2),
                g[3] - (ksn * normal + kss * us),
            )
            store4(t.work, a + FGIVES, f)
            off = defect(t, c, a, f, per_h, prox, token)
            worst = maximum(worst, where(load(t.work, a + NEAR, token), off, 0.0 * off))
    return worst


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

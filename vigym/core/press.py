"""Contact forces in the equations of a step: wrenches at knot 2, slopes in the blocks, forces after an increment."""

from .algebra import add, axpy, cross, load3, load4, load_block, minus_outer, scale, store_block
from .cone import set_law, spin_coefficient
from .contact import touch_plan
from .interior import holds, set_interior_law
from .jit import inline, phase
from .lanes import any_lane, row
from .links import add_wrench
from .pair import pairs
from .simd import LANES, load, maximum, spread, store
from .tables import (
    ARM2,
    ARM_LOW,
    ARM_TOUCH,
    BLOCK,
    CONE,
    CONE_21,
    CONTACTS,
    FGIVES,
    GAP,
    GUIDE_1,
    GUIDE_2,
    LOOP_WORK,
    NEAR,
    NORMAL_2,
    NORMAL_3,
    RUB_1,
    RUB_2,
    SKATE,
    SPINS,
    TOUCH_KIND,
    TOUCH_ROWS,
    TOUCH_WORK,
    TOUCHES,
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
            store(t.work, a + CONE_21, load(t.work, a + CONE + 4 * LANES, token))
    return pressing


@phase
def press_inside(t, per_h, prox, kappa, speed, token):
    """The same by the interior point, relaxed by ``kappa``."""
    pressing = spread(0.0, token)
    for c in range(t.plan[CONTACTS]):
        a = t.w + row(c, TOUCH_WORK, token)
        if any_lane(load(t.work, a + NEAR, token)):
            if holds(t, c):
                pressing = maximum(pressing, set_law(t, c, a, per_h, prox, token))
            else:
                pressing = maximum(pressing, set_interior_law(t, c, a, per_h, kappa, speed, prox, token))
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
    k21 = load(t.work, a + CONE_21, token)
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
        (axpy(k22, w2, axpy(k21, w1, scale(n2, n))), axpy(k22, m2, axpy(k21, m1, scale(n2, m)))),
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

"""Constraint forces of the last step, recovered from its motion: the multipliers that the elimination did not need."""

from .algebra import add, axpy, cross, dot, load3, load4, scale, store3, sub
from .body import blocks6, histories, residuals
from .cone import spin_coefficient
from .contact import touch_plan
from .groups import block_count, gravity, group
from .jit import entry, inline, phase
from .joint import constrained_rotation, joint_row, planned, translation_axis
from .knot import knots
from .lanes import row, to_rows, write3
from .ldu import close
from .links import add_wrench, holding, pull
from .pair import nearest, pairs
from .quaternion import vector
from .simd import LANES, absolute, load, spread, where, zero_lanes
from .tables import (
    ARM,
    BODIES,
    CONTACTS,
    FORCE,
    H0,
    H1,
    JOINTS,
    KNOT,
    MOMENT,
    PARENT,
    PARTNER,
    PRESS,
    REACTION,
    STATE_SIZE,
    TOUCH,
    TOUCHES,
    TRANSLATIONS,
    WORK,
    Q,
    X,
    Y,
)  # fmt: skip


@inline
def write_constraint(t, i, k, f, tau, share, out, first, token):
    """Columns of joint i: ``share`` times force and moment about its anchor, without what it leaves free."""
    for j in range(planned(t, i, TRANSLATIONS)):
        axis = translation_axis(t, i, j, k, token)
        f = sub(f, scale(dot(axis, f), axis))
    tau = constrained_rotation(t, i, k, tau, token)
    write_wrench(share, f, tau, out, first, 6 * (i - 1), token)


@inline
def write_wrench(share, f, tau, out, first, column, token):
    """Write ``share`` times a wrench, zero where the share is."""
    o, made = spread(0.0, token), absolute(share)
    f, tau = scale(share, f), scale(share, tau)
    write3(out, first, column, (where(made, f[0], o), where(made, f[1], o), where(made, f[2], o)))
    write3(out, first, column + 3, (where(made, tau[0], o), where(made, tau[1], o), where(made, tau[2], o)))


@phase
def pull_contacts(t, k2, h, h0, token):
    """Take the contacts' forces of the last step off the bodies' wrenches."""
    weight = where(absolute(h), 0.5 + 0.5 * h0 / h, 0.0 * h)
    for c in range(t.plan[CONTACTS]):
        b, s = touch_plan(t, c, TOUCHES), t.o + row(c, TOUCH, token)
        force, (_, n, arm, other) = load3(t.state, s + REACTION, token), nearest(t, c, k2, token)
        arm = sub(arm, load3(t.state, k2 + row(b, KNOT, token) + ARM, token))
        spin = spin_coefficient(t, c, token) * load(t.state, s + PRESS + 3 * LANES, token)
        add_wrench(t, t.b + row(b, WORK, token), -weight, force, axpy(spin, n, cross(arm, force)), token)
        if pairs(t, c):
            b = touch_plan(t, c, PARTNER)
            arm = sub(other, load3(t.state, k2 + row(b, KNOT, token) + ARM, token))
            add_wrench(t, t.b + row(b, WORK, token), weight, force, cross(arm, force), token)


@phase
def react_group(t, out, first, token, vectors):
    """Constraint forces at the first knot of the last step: own wrenches, summed from the leaves to the root.

    h G^T lam is the impulse at that knot, which stands for half of the last step and half of the one before, h0; the
    force is the impulse over (h + h0)/2. It is zero before the first step. Last come the bodies' poses at that knot.
    """
    k2, k3, blocks = knots(t, 1), knots(t, 0), block_count(t, token)
    h, h0 = load(t.state, t.s + H1, token), load(t.state, t.s + H0, token)
    share = where(absolute(h), 2.0 * h / (h + h0), 0.0 * h)
    close(t, k3, token)
    histories(t, blocks, k2, spread(h, vectors), spread(h0 / h, vectors), gravity(t, token, vectors), vectors)
    blocks6(t, blocks, k2, k3, spread(h, vectors), vectors)
    residuals(t, blocks, k2, k3, spread(h, vectors), vectors)
    pull(t, k2, token)
    pull_contacts(t, k2, h, h0, token)
    for i in range(t.plan[BODIES] - 1, 0, -1):
        a, up = t.b + row(i, WORK, token), planned(t, i, PARENT)
        f, tau = load3(t.work, a + FORCE, token), load3(t.work, a + MOMENT, token)
        write_constraint(t, i, k2, f, tau, share, out, first, token)
        anchor, to = load3(t.state, k2 + row(i, KNOT, token) + Y, token), t.b + row(up, WORK, token)
        lever = sub(anchor, load3(t.state, k2 + row(up, KNOT, token) + Y, token))
        store3(t.work, to + FORCE, add(load3(t.work, to + FORCE, token), f))
        store3(t.work, to + MOMENT, add(load3(t.work, to + MOMENT, token), add(tau, cross(lever, f))))
    for joint in range(t.plan[BODIES], t.plan[JOINTS]):
        f, tau = holding(t, joint_row(t, joint), k2, token)
        write_wrench(share, f, tau, out, first, 6 * (joint - 1), token)
    for i in range(1, t.plan[BODIES]):
        own, column = k2 + row(i, KNOT, token), 6 * (t.plan[JOINTS] - 1) + 7 * (i - 1)
        q = load4(t.state, own + Q, token)
        write3(out, first, column, load3(t.state, own + X, token))
        to_rows(out, first, column + 3, q[0])
        write3(out, first, column + 4, vector(q))


@entry
def react_single(plan, model, state, work, extent, out):
    """Constraint forces of one environment."""
    react_group(group(plan, model, state, work, 0, 0, 0, extent), out, 0, 0.0, zero_lanes())


@entry
def react_lanes(plan, model, state, work, extent, out, model_stride):
    """Constraint forces of a batch."""
    for g in range((out.shape[0] + LANES - 1) // LANES):
        t = group(plan, model, state, work, g * model_stride, g * plan[STATE_SIZE], 0, extent)
        react_group(t, out, g * LANES, zero_lanes(), zero_lanes())

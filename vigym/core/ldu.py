"""Sweeps along the tree: the LDU of [MC alg. 3, 4] with (joint, child body) pairs as pivots and no multipliers.

The child's increment is its parent's, carried over, plus its free motion, plus what closes the joint:

    d_b = P d_a + sum_j N_j s_j + d0        N: free directions at knot 3

and the child's equation is projected on the free directions W at knot 2, to which joint forces are orthogonal:

    W_j^T (D d_b + r) + load_j + compliance_j s_j = 0.

Each freedom is one scalar pivot, see ``pivot``; three free rotations without rates or springs are one 3x3 pivot. What
remains of the child's wrench is passed to its parent (for a single rotation u and w are carried to the parent's anchor
first: shorter chains of operations). The closing parts d0 are summed from the root first (``close``), so that the
solves see free motions only. Loops ride along, see ``carry``.
"""

from .algebra import (
    add,
    axpy,
    cross,
    dot,
    inverse,
    largest3,
    load3,
    load9,
    load_block,
    matmul,
    mscale,
    msub,
    mul,
    mul_skew,
    scale,
    skew_mul,
    store3,
    store9,
    sub,
    tmul,
)  # fmt: skip
from .carry import carry, eliminate_rows
from .jit import inline, phase
from .joint import (
    free_rotation,
    own_axis,
    planned,
    rotation_axis,
    rotation_repair,
    translation_axis,
    translation_repair,
)  # fmt: skip
from .lanes import row
from .multipliers import multipliers, pushed, reduce_rows, solve_rows, take_back_shift, unbalanced
from .pivot import carried, eliminate, eliminate_freedoms, increment, pass_on, reduce
from .simd import LANES, absolute, load, maximum, spread, store
from .tables import (
    BALL,
    BLOCK,
    BODIES,
    CARRIES,
    ELIMINATION,
    FIRST,
    FORCE,
    FORCE_SCALE,
    HINGE,
    INCREMENT,
    KNOT,
    LENGTH_SCALE,
    LEVER2,
    LEVER3,
    LOOP_ROWS,
    MOMENT,
    PARENT,
    PIVOTS,
    REPAIR_R,
    REPAIR_X,
    ROTATIONS,
    ROWS,
    SHIFT,
    TRANSLATIONS,
    TURN,
    WORK,
    Y,
)  # fmt: skip

BLOCK_B, BLOCK_C, BLOCK_E = BLOCK + 9 * LANES, BLOCK + 18 * LANES, BLOCK + 27 * LANES


@phase
def factorise(t, k2, k3, token):
    """Eliminate every (joint, child) pair, last body first."""
    for i in range(t.plan[BODIES] - 1, 0, -1):
        if planned(t, i, ROWS) > 0:
            eliminate_rows(t, i, token)
        a, up = t.b + row(i, WORK, token), planned(t, i, PARENT)
        y_a, y_b = k2 + row(up, KNOT, token) + Y, k2 + row(i, KNOT, token) + Y
        lever2 = sub(load3(t.state, y_b, token), load3(t.state, y_a, token))
        lever3 = load3(t.work, a + LEVER3, token)
        store3(t.work, a + LEVER2, lever2)
        A, B, C, E = load_block(t.work, a + BLOCK, token)
        to = t.b + row(up, WORK, token) + BLOCK
        if planned(t, i, PIVOTS) == HINGE:
            axis2, axis3 = own_axis(t, i, k2, token), own_axis(t, i, k3, token)
            u_f, u_t, w_f, w_t = mul(B, axis3), mul(E, axis3), tmul(C, axis2), tmul(E, axis2)
            u, w = (u_f, add(u_t, cross(lever2, u_f))), (w_f, add(w_t, cross(lever3, w_f)))
            A, B, C, E = carried(A, B, C, E, lever2, lever3)
            p = t.p + row(planned(t, i, FIRST), ELIMINATION, token)
            A, B, C, E = eliminate(t, p, A, B, C, E, u, w, dot(axis2, u_t), token)
            pass_on(t, to, A, B, C, E, token)
        elif planned(t, i, PIVOTS) == BALL:
            E = inverse(E)
            store9(t.work, a + BLOCK_E, E)
            A = msub(A, matmul(B, matmul(E, C)))
            B = mscale(-1.0, mul_skew(A, lever3))
            pass_on(t, to, A, B, skew_mul(lever2, A), skew_mul(lever2, B), token)
        else:
            A, B, C, E = eliminate_freedoms(t, i, k2, k3, A, B, C, E, token)
            A, B, C, E = carried(A, B, C, E, lever2, lever3)
            pass_on(t, to, A, B, C, E, token)
        if planned(t, i, CARRIES) > 0:
            carry(t, i, k2, k3, token)
    if planned(t, 0, ROWS) > 0:
        eliminate_rows(t, 0, token)


@phase
def close(t, k3, token):
    """Motion that closes all joints to first order, summed from the root.

    Returns the largest gap: a length over the length scale, or an angle [rad].
    """
    worst, per_length = spread(0.0, token), 1.0 / load(t.model, t.e + LENGTH_SCALE, token)
    for i in range(1, t.plan[BODIES]):
        a, up = t.b + row(i, WORK, token), t.b + row(planned(t, i, PARENT), WORK, token)
        c, lever3 = translation_repair(t, i, k3, token)
        turn = rotation_repair(t, i, k3, token)
        worst = maximum(worst, maximum(largest3(c) * per_length, largest3(turn)))
        from_parent = load3(t.work, up + REPAIR_R, token)
        store3(t.work, a + LEVER3, lever3)
        store3(t.work, a + REPAIR_X, add(c, add(load3(t.work, up + REPAIR_X, token), cross(from_parent, lever3))))
        store3(t.work, a + REPAIR_R, add(turn, from_parent))
    return worst


@phase
def solve_to_root(t, k2, token):
    """Wrenches from the leaves to the root.

    Returns the largest residual of a freedom: a force [N], or a moment [N m] over the length scale, over the force
    scale.
    """
    force, moment, o = spread(0.0, token), spread(0.0, token), spread(0.0, token)
    if t.plan[LOOP_ROWS] > 0:
        take_back_shift(t, token)
    for i in range(t.plan[BODIES] - 1, 0, -1):
        if planned(t, i, ROWS) > 0:
            solve_rows(t, i, token)
        free = planned(t, i, CARRIES) == 0  # the others' residuals wait for the multipliers
        a, to = t.b + row(i, WORK, token), t.b + row(planned(t, i, PARENT), WORK, token)
        p, n = planned(t, i, FIRST), planned(t, i, TRANSLATIONS)
        f, tau = load3(t.work, a + FORCE, token), load3(t.work, a + MOMENT, token)
        if planned(t, i, PIVOTS) == HINGE:
            axis = own_axis(t, i, k2, token)
            carried_tau = add(tau, cross(load3(t.work, a + LEVER2, token), f))
            mu, f, tau = reduce(t, t.p + row(p, ELIMINATION, token), axis, tau, f, carried_tau, token)
            moment = maximum(moment, absolute(mu) if free else o)
        elif planned(t, i, PIVOTS) == BALL:
            moment = maximum(moment, largest3(tau))
            turn = mul(load9(t.work, a + BLOCK_E, token), tau)
            store3(t.work, a + MOMENT, turn)
            f = sub(f, mul(load9(t.work, a + BLOCK_B, token), turn))
            tau = cross(load3(t.work, a + LEVER2, token), f)
        else:
            for j in range(n):
                at, axis = t.p + row(p + j, ELIMINATION, token), translation_axis(t, i, j, k2, token)
                mu, f, tau = reduce(t, at, axis, f, f, tau, token)
                force = maximum(force, absolute(mu) if free else o)
            for j in range(planned(t, i, ROTATIONS)):
                at, axis = t.p + row(p + n + j, ELIMINATION, token), rotation_axis(t, i, j, k2, token)
                mu, f, tau = reduce(t, at, axis, tau, f, tau, token)
                moment = maximum(moment, absolute(mu) if free else o)
            tau = add(tau, cross(load3(t.work, a + LEVER2, token), f))
        if not free:
            reduce_rows(t, i, token)
        store3(t.work, to + FORCE, add(load3(t.work, to + FORCE, token), f))
        store3(t.work, to + MOMENT, add(load3(t.work, to + MOMENT, token), tau))
    if planned(t, 0, ROWS) > 0:
        solve_rows(t, 0, token)
    return scaled(t, force, moment, token)


@inline
def scaled(t, force, moment, token):
    """A force [N] and a moment [N m] as one number, over the force and length scales."""
    moment = moment / load(t.model, t.e + LENGTH_SCALE, token)
    return maximum(force, moment) / load(t.model, t.e + FORCE_SCALE, token)


@phase
def solve_to_leaves(t, k3, token):
    """Free increments from the root to the leaves, and the loops' multipliers.

    Returns the largest element of a rotation [rad], the largest residual of the freedoms that carry loop rows, as a
    force [N] and as a moment [N m], and the largest gap that the solve leaves.
    """
    widest, force, moment, left = spread(0.0, token), spread(0.0, token), spread(0.0, token), spread(0.0, token)
    if planned(t, 0, ROWS) > 0:
        left = multipliers(t, 0, token)
    for i in range(1, t.plan[BODIES]):
        a, up = t.b + row(i, WORK, token), t.b + row(planned(t, i, PARENT), WORK, token)
        p, n, carries = planned(t, i, FIRST), planned(t, i, TRANSLATIONS), planned(t, i, CARRIES) > 0
        dphi = load3(t.work, up + TURN, token)
        dy = add(load3(t.work, up + SHIFT, token), cross(dphi, load3(t.work, a + LEVER3, token)))
        if planned(t, i, PIVOTS) == HINGE:
            at = t.p + row(p, ELIMINATION, token)
            s = increment(t, at, load3(t.work, up + SHIFT, token), dphi, token)
            if carries:
                push = pushed(t, i, 0, token)
                s, moment = s + push, maximum(moment, unbalanced(t, at, push, token))
            store(t.work, at + INCREMENT, s)
            dphi = axpy(s, own_axis(t, i, k3, token), dphi)
        elif planned(t, i, PIVOTS) == BALL:
            turn = mul(load9(t.work, a + BLOCK_E, token), mul(load9(t.work, a + BLOCK_C, token), dy))
            dphi = scale(-1.0, add(load3(t.work, a + MOMENT, token), turn))
        else:
            for j in range(planned(t, i, ROTATIONS) - 1, -1, -1):
                at = t.p + row(p + n + j, ELIMINATION, token)
                s = increment(t, at, dy, dphi, token)
                if carries:
                    push = pushed(t, i, n + j, token)
                    s, moment = s + push, maximum(moment, unbalanced(t, at, push, token))
                store(t.work, at + INCREMENT, s)
                dphi = axpy(s, free_rotation(t, i, j, k3, token), dphi)
            for j in range(n - 1, -1, -1):
                at = t.p + row(p + j, ELIMINATION, token)
                s = increment(t, at, dy, dphi, token)
                if carries:
                    push = pushed(t, i, j, token)
                    s, force = s + push, maximum(force, unbalanced(t, at, push, token))
                store(t.work, at + INCREMENT, s)
                dy = axpy(s, translation_axis(t, i, j, k3, token), dy)
        store3(t.work, a + SHIFT, dy)
        store3(t.work, a + TURN, dphi)
        if planned(t, i, ROWS) > 0:
            left = maximum(left, multipliers(t, i, token))
        widest = maximum(widest, largest3(dphi))
    return widest, force, moment, left

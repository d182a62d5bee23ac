"""Factorise and solve along the tree, leaves to root: the LDU of [MC alg. 3, 4] with (joint, child body) pairs as pivots and no multipliers.

The child's increment is its parent's, carried over, plus its free motion, plus what closes the joint:

    d_b = P d_a + sum_j N_j s_j + d0        N: free directions at knot 3

and the child's equation is projected on the free directions W at knot 2, to which joint forces are orthogonal:

    W_j^T (D d_b + r) + load_j + compliance_j s_j = 0.

Each freedom is one scalar pivot: u = D N_j, w = W_j^T D, D <- D - u w^T / pivot. What remains of the child's wrench is passed to its parent.
"""

from .algebra import (
    add, cross, dot, load3, load9, madd, minus_outer, msub, mul, mul_skew, scale, skew_mul, store3, store9, sub, tmul,
)  # fmt: skip
from .jit import inline, phase
from .joint import free_rotation, planned, rotation_axis, rotation_repair, translation_axis, translation_repair
from .simd import LANES, absolute, load, maximum, row, spread, store
from .tables import (
    BLOCK, BODIES, COLUMN_F, COLUMN_T, COMPLIANCE, ELIMINATION, FIRST, FORCE, FORCE_SCALE, KNOT, LENGTH_SCALE, LEVER2, LEVER3, LOAD, MOMENT, PARENT, PIVOT,
    REPAIR_R, REPAIR_X, RESIDUAL, ROTATIONS, ROW_F, ROW_T, SHIFT, SPEED, TRANSLATIONS, TURN, WORK, Y,
)  # fmt: skip


@inline
def load_block(t, at, token):
    """The blocks A, B, C, E of D = [A B; C E]."""
    return load9(t.work, at, token), load9(t.work, at + 9 * LANES, token), load9(t.work, at + 18 * LANES, token), load9(t.work, at + 27 * LANES, token)


@inline
def store_block(t, at, A, B, C, E):
    store9(t.work, at, A)
    store9(t.work, at + 9 * LANES, B)
    store9(t.work, at + 18 * LANES, C)
    store9(t.work, at + 27 * LANES, E)


@inline
def eliminate(t, p, A, B, C, E, column_f, column_t, row_f, row_t, inner, token):
    """D <- D - u w^T / pivot, keeping u, w and 1 / pivot for the solves."""
    pivot = 1.0 / (inner + load(t.work, p + COMPLIANCE, token))
    store(t.work, p + PIVOT, pivot)
    store3(t.work, p + COLUMN_F, column_f)
    store3(t.work, p + COLUMN_T, column_t)
    store3(t.work, p + ROW_F, row_f)
    store3(t.work, p + ROW_T, row_t)
    row_f, row_t = scale(pivot, row_f), scale(pivot, row_t)
    return (
        minus_outer(A, column_f, row_f), minus_outer(B, column_f, row_t), minus_outer(C, column_t, row_f), minus_outer(E, column_t, row_t),
    )  # fmt: skip


@phase
def factorise(t, k2, k3, token):
    """Eliminate every (joint, child) pair, last body first."""
    for i in range(t.plan[BODIES] - 1, 0, -1):
        a, up = t.b + row(i, WORK, token), planned(t, i, PARENT)
        p, n = planned(t, i, FIRST), planned(t, i, TRANSLATIONS)
        A, B, C, E = load_block(t, a + BLOCK, token)
        for j in range(n):
            axis3, axis2 = translation_axis(t, i, j, k3, token), translation_axis(t, i, j, k2, token)
            u, at = mul(A, axis3), t.p + row(p + j, ELIMINATION, token)
            A, B, C, E = eliminate(t, at, A, B, C, E, u, mul(C, axis3), tmul(A, axis2), tmul(B, axis2), dot(axis2, u), token)
        for j in range(planned(t, i, ROTATIONS)):
            axis3, axis2 = free_rotation(t, i, j, k3, token), rotation_axis(t, i, j, k2, token)
            u, at = mul(E, axis3), t.p + row(p + n + j, ELIMINATION, token)
            A, B, C, E = eliminate(t, at, A, B, C, E, mul(B, axis3), u, tmul(C, axis2), tmul(E, axis2), dot(axis2, u), token)
        lever2 = sub(load3(t.state, k2 + row(i, KNOT, token) + Y, token), load3(t.state, k2 + row(up, KNOT, token) + Y, token))
        lever3 = translation_repair(t, i, k3, token)[1]
        store3(t.work, a + LEVER2, lever2)
        B, E = msub(B, mul_skew(A, lever3)), msub(E, mul_skew(C, lever3))
        C, E = madd(C, skew_mul(lever2, A)), madd(E, skew_mul(lever2, B))
        at = t.b + row(up, WORK, token) + BLOCK
        A0, B0, C0, E0 = load_block(t, at, token)
        store_block(t, at, madd(A, A0), madd(B, B0), madd(C, C0), madd(E, E0))


@inline
def reduce(t, p, axis, wrench, f, tau, token):
    """Residual of one freedom, taken out of the wrench."""
    mu = dot(axis, wrench) + load(t.work, p + LOAD, token)
    store(t.work, p + RESIDUAL, mu)
    s = mu * load(t.work, p + PIVOT, token)
    return mu, sub(f, scale(s, load3(t.work, p + COLUMN_F, token))), sub(tau, scale(s, load3(t.work, p + COLUMN_T, token)))


@inline
def largest3(a):
    return maximum(absolute(a[0]), maximum(absolute(a[1]), absolute(a[2])))


@phase
def solve_to_root(t, k2, k3, repair, token):
    """Wrenches from the leaves to the root. Returns the scaled residual: forces [N], moments [N m], joint gaps [m, rad] over their scales."""
    per_force = 1.0 / load(t.model, t.e + FORCE_SCALE, token)
    per_length = 1.0 / load(t.model, t.e + LENGTH_SCALE, token)
    worst = spread(0.0, token)
    for i in range(t.plan[BODIES] - 1, 0, -1):
        a, up = t.b + row(i, WORK, token), planned(t, i, PARENT)
        p, n = planned(t, i, FIRST), planned(t, i, TRANSLATIONS)
        A, B, C, E = load_block(t, a + BLOCK, token)
        c, lever3 = translation_repair(t, i, k3, token)
        c, turn = scale(repair, c), scale(repair, rotation_repair(t, i, k3, token))
        store3(t.work, a + LEVER3, lever3)
        store3(t.work, a + REPAIR_X, c)
        store3(t.work, a + REPAIR_R, turn)
        f = add(load3(t.work, a + FORCE, token), add(mul(A, c), mul(B, turn)))
        tau = add(load3(t.work, a + MOMENT, token), add(mul(C, c), mul(E, turn)))
        worst = maximum(worst, maximum(largest3(c) * per_length, largest3(turn)))
        for j in range(n):
            mu, f, tau = reduce(t, t.p + row(p + j, ELIMINATION, token), translation_axis(t, i, j, k2, token), f, f, tau, token)
            worst = maximum(worst, absolute(mu) * per_force)
        for j in range(planned(t, i, ROTATIONS)):
            mu, f, tau = reduce(t, t.p + row(p + n + j, ELIMINATION, token), rotation_axis(t, i, j, k2, token), tau, f, tau, token)
            worst = maximum(worst, absolute(mu) * per_force * per_length)
        tau = add(tau, cross(load3(t.work, a + LEVER2, token), f))
        to = t.b + row(up, WORK, token)
        store3(t.work, to + FORCE, add(load3(t.work, to + FORCE, token), f))
        store3(t.work, to + MOMENT, add(load3(t.work, to + MOMENT, token), tau))
    return worst


@inline
def increment(t, p, dy, dphi, token):
    """Motion of one freedom given what the body already moves."""
    along = dot(load3(t.work, p + ROW_F, token), dy) + dot(load3(t.work, p + ROW_T, token), dphi)
    s = -(load(t.work, p + RESIDUAL, token) + along) * load(t.work, p + PIVOT, token)
    store(t.work, p + SPEED, s)
    return s


@phase
def solve_to_leaves(t, k3, token):
    """Increments from the root to the leaves. Returns the largest rotation [rad]."""
    widest = spread(0.0, token)
    for i in range(1, t.plan[BODIES]):
        a, up = t.b + row(i, WORK, token), t.b + row(planned(t, i, PARENT), WORK, token)
        p, n = planned(t, i, FIRST), planned(t, i, TRANSLATIONS)
        dphi = load3(t.work, up + TURN, token)
        dy = add(load3(t.work, up + SHIFT, token), cross(dphi, load3(t.work, a + LEVER3, token)))
        for j in range(planned(t, i, ROTATIONS) - 1, -1, -1):
            s = increment(t, t.p + row(p + n + j, ELIMINATION, token), dy, dphi, token)
            dphi = add(dphi, scale(s, free_rotation(t, i, j, k3, token)))
        for j in range(n - 1, -1, -1):
            s = increment(t, t.p + row(p + j, ELIMINATION, token), dy, dphi, token)
            dy = add(dy, scale(s, translation_axis(t, i, j, k3, token)))
        dphi = add(dphi, load3(t.work, a + REPAIR_R, token))
        store3(t.work, a + SHIFT, add(dy, load3(t.work, a + REPAIR_X, token)))
        store3(t.work, a + TURN, dphi)
        widest = maximum(widest, largest3(dphi))
    return widest

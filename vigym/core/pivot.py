"""Pieces of the elimination: one freedom taken out of a block, a block or a wrench carried on, one freedom's motion.

With D the block of the joint's child, N the freedom's direction at knot 3 and W the one at knot 2:

    u = D N,    w = W^T D,    pivot = W^T D N + compliance,    D <- D - u w^T / pivot.
"""

from .algebra import (
    axpy,
    dot,
    load3,
    load_block,
    madd,
    minus_outer,
    msub,
    mul,
    mul_skew,
    scale,
    skew_mul,
    store3,
    store_block,
    tmul,
)  # fmt: skip
from .jit import inline
from .joint import free_rotation, planned, rotation_axis, translation_axis
from .lanes import row
from .simd import load, store
from .tables import (
    COLUMN_F,
    COLUMN_T,
    COMPLIANCE,
    ELIMINATION,
    FIRST,
    LOAD,
    PIVOT,
    RESIDUAL,
    ROTATIONS,
    ROW_F,
    ROW_T,
    TRANSLATIONS,
)  # fmt: skip


@inline
def eliminate(t, p, A, B, C, E, u, w, inner, token):
    """D <- D - u w^T / pivot, keeping u, w / pivot and 1 / pivot for the solves."""
    pivot = 1.0 / (inner + load(t.work, p + COMPLIANCE, token))
    w_f, w_t = scale(pivot, w[0]), scale(pivot, w[1])
    store(t.work, p + PIVOT, pivot)
    store3(t.work, p + COLUMN_F, u[0])
    store3(t.work, p + COLUMN_T, u[1])
    store3(t.work, p + ROW_F, w_f)
    store3(t.work, p + ROW_T, w_t)
    return minus_outer(A, u[0], w_f), minus_outer(B, u[0], w_t), minus_outer(C, u[1], w_f), minus_outer(E, u[1], w_t)


@inline
def eliminate_freedoms(t, i, k2, k3, A, B, C, E, token):
    """Take the freedoms of joint i out of its body's block, one scalar pivot each."""
    p, n = planned(t, i, FIRST), planned(t, i, TRANSLATIONS)
    for j in range(n):
        axis3, axis2 = translation_axis(t, i, j, k3, token), translation_axis(t, i, j, k2, token)
        at, w = t.p + row(p + j, ELIMINATION, token), (tmul(A, axis2), tmul(B, axis2))
        u = mul(A, axis3), mul(C, axis3)
        A, B, C, E = eliminate(t, at, A, B, C, E, u, w, dot(axis2, u[0]), token)
    for j in range(planned(t, i, ROTATIONS)):
        axis3, axis2 = free_rotation(t, i, j, k3, token), rotation_axis(t, i, j, k2, token)
        at, w = t.p + row(p + n + j, ELIMINATION, token), (tmul(C, axis2), tmul(E, axis2))
        u = mul(B, axis3), mul(E, axis3)
        A, B, C, E = eliminate(t, at, A, B, C, E, u, w, dot(axis2, u[1]), token)
    return A, B, C, E


@inline
def carried(A, B, C, E, lever2, lever3):
    """A block seen from the parent's anchor: torques gain lever2 x f at knot 2, shifts lose lever3 x dphi at knot 3."""
    B, E = msub(B, mul_skew(A, lever3)), msub(E, mul_skew(C, lever3))
    return A, B, madd(C, skew_mul(lever2, A)), madd(E, skew_mul(lever2, B))


@inline
def pass_on(t, to, A, B, C, E, token):
    """Add a child's remaining block to its parent's."""
    A0, B0, C0, E0 = load_block(t.work, to, token)
    store_block(t.work, to, madd(A, A0), madd(B, B0), madd(C, C0), madd(E, E0))


@inline
def reduce(t, p, axis, wrench, f, tau, token):
    """Residual mu of one freedom, and the wrench (f, tau) without it; what is kept is mu over the pivot."""
    mu = dot(axis, wrench) + load(t.work, p + LOAD, token)
    s = mu * load(t.work, p + PIVOT, token)
    store(t.work, p + RESIDUAL, s)
    return mu, axpy(-s, load3(t.work, p + COLUMN_F, token), f), axpy(-s, load3(t.work, p + COLUMN_T, token), tau)


@inline
def increment(t, p, dy, dphi, token):
    """Motion of one freedom given what the body already moves."""
    along = dot(load3(t.work, p + ROW_F, token), dy) + dot(load3(t.work, p + ROW_T, token), dphi)
    return -(along + load(t.work, p + RESIDUAL, token))

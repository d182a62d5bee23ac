"""Loops in the elimination: loop rows carried up the tree and eliminated at the body where their cycle closes.

With s the freedoms and lam the multipliers of the loop rows, the equations of a step are

    H s - B lam = -r,    K s = -g:    D d_b - sum B lam = -r_b at a body, K d_b = -g for its rows.

K (derivative at knot 3) and B (wrench at knot 2) start at the link's two bodies. A freedom (u, w, pivot, direction N
and W, see ``pivot``) that is taken out of a body's block passes them on

    K <- K - (K N) w / pivot,    B <- B - u (W B) / pivot,    S_rm <- S_rm + (K_r N)(W B_m) / pivot

to the parent, where both ends meet. At its apex a row is a pivot like a freedom: lam = -(g + K d_b + sum S lam) / S_rr,
and D <- D + B K / S_rr. The apex is the world ("tail": one dense node at the end of the order [MC 4.3]) or the body
where the link's two paths meet ("local": fill-in stays inside the cycle [SIM 4.2]): the plan tells, the kernel is one.

Rows that depend on each other are normal. Every S_rr is shifted by a small part of what it was before other rows were
eliminated, away from zero, and the shift's force is taken back by the multipliers of the last iteration (proximal point
iteration).
"""

from .algebra import add, axpy, cross, dot, load3, load_block, minus_outer, scale, store3, store_block
from .couple import coupling_factor
from .jit import inline, phase
from .joint import free_rotation, own_axis, planned, rotation_axis, translation_axis
from .lanes import row
from .links import row_plan
from .rows import all_sleep, carry_plan, couples, coupling, sleeps
from .simd import LANES, absolute, load, spread, store, where
from .tables import (
    ALONG_B,
    ALONG_K,
    AT_APEX,
    B_F,
    B_T,
    BLOCK,
    CARRIED,
    CARRIED_ROW,
    CARRIES,
    CARRY_ADDS,
    CARRY_TO,
    COLUMN_F,
    COLUMN_T,
    COUPLED,
    DUAL_SHIFT,
    ELIMINATION,
    FIRST,
    FIRST_CARRY,
    FIRST_ROW,
    HINGE,
    K_F,
    K_T,
    KIND,
    LAST,
    LEVER2,
    LEVER3,
    LINK,
    LOOP_WORK,
    PIVOT,
    PIVOTS,
    ROTATIONS,
    ROW_F,
    ROW_PIVOT,
    ROW_T,
    ROWS,
    TOUCHING_ROW,
    TRANSLATIONS,
    WEIGHT,
    WORK,
)  # fmt: skip

ROUNDED = 1e-13  # part of the largest pivot of a link below which another of its pivots may be rounding


@inline
def pass_row(t, q, K_f, K_t, B_f, B_t, token):
    """Hand K and B, seen from the parent's anchor, to the parent's carried row."""
    to = carry_plan(t, q, CARRY_TO)
    if to >= 0:
        c = t.q + row(to, CARRIED, token)
        if carry_plan(t, q, CARRY_ADDS) > 0:
            K_f, K_t = add(K_f, load3(t.work, c + K_F, token)), add(K_t, load3(t.work, c + K_T, token))
            B_f, B_t = add(B_f, load3(t.work, c + B_F, token)), add(B_t, load3(t.work, c + B_T, token))
        store3(t.work, c + K_F, K_f)
        store3(t.work, c + K_T, K_t)
        store3(t.work, c + B_F, B_f)
        store3(t.work, c + B_T, B_t)


@inline
def take_out(t, p, c, j, y, x, K_f, K_t, B_f, B_t, token):
    """K - y w / pivot and B - u x / pivot, with y = K N and x = W B of the body's freedom j, which are kept."""
    x = x * load(t.work, p + PIVOT, token)
    store(t.work, c + ALONG_K + j * LANES, y)
    store(t.work, c + ALONG_B + j * LANES, x)
    K_f, K_t = axpy(-y, load3(t.work, p + ROW_F, token), K_f), axpy(-y, load3(t.work, p + ROW_T, token), K_t)
    B_f, B_t = axpy(-x, load3(t.work, p + COLUMN_F, token), B_f), axpy(-x, load3(t.work, p + COLUMN_T, token), B_t)
    return K_f, K_t, B_f, B_t


@inline
def direct(t, q, p, token):
    """What a coupling adds to K N and W B of freedom p; other rows act on bodies."""
    r = carry_plan(t, q, CARRIED_ROW)
    return coupling_factor(t, r, p, token) if row_plan(t, r, KIND) == COUPLED else spread(0.0, token)


@inline
def carry_past(t, i, q, k2, k3, token):
    """Take every freedom of body i out of carried row q and hand it to the parent."""
    c, n, first = t.q + row(q, CARRIED, token), planned(t, i, TRANSLATIONS), planned(t, i, FIRST)
    a = t.b + row(i, WORK, token)
    lever2, lever3 = load3(t.work, a + LEVER2, token), load3(t.work, a + LEVER3, token)
    K_f, K_t = load3(t.work, c + K_F, token), load3(t.work, c + K_T, token)
    B_f, B_t = load3(t.work, c + B_F, token), load3(t.work, c + B_T, token)
    if planned(t, i, PIVOTS) == HINGE:  # u and w are seen from the parent's anchor
        y, x = dot(K_t, own_axis(t, i, k3, token)), dot(B_t, own_axis(t, i, k2, token))
        y, x = y + direct(t, q, first, token), x + direct(t, q, first, token)
        K_t, B_t = add(K_t, cross(lever3, K_f)), add(B_t, cross(lever2, B_f))
        p = t.p + row(first, ELIMINATION, token)
        K_f, K_t, B_f, B_t = take_out(t, p, c, 0, y, x, K_f, K_t, B_f, B_t, token)
    else:
        for j in range(n):
            p = t.p + row(first + j, ELIMINATION, token)
            y, x = dot(K_f, translation_axis(t, i, j, k3, token)), dot(B_f, translation_axis(t, i, j, k2, token))
            y, x = y + direct(t, q, first + j, token), x + direct(t, q, first + j, token)
            K_f, K_t, B_f, B_t = take_out(t, p, c, j, y, x, K_f, K_t, B_f, B_t, token)
        for j in range(planned(t, i, ROTATIONS)):
            p = t.p + row(first + n + j, ELIMINATION, token)
            y, x = dot(K_t, free_rotation(t, i, j, k3, token)), dot(B_t, rotation_axis(t, i, j, k2, token))
            y, x = y + direct(t, q, first + n + j, token), x + direct(t, q, first + n + j, token)
            K_f, K_t, B_f, B_t = take_out(t, p, c, n + j, y, x, K_f, K_t, B_f, B_t, token)
        K_t, B_t = add(K_t, cross(lever3, K_f)), add(B_t, cross(lever2, B_f))
    pass_row(t, q, K_f, K_t, B_f, B_t, token)


@phase
def carry(t, i, k2, k3, token):
    """Carry the loop rows that pass body i past its freedoms, and couple them."""
    if all_sleep(t, token):
        return
    first, freedoms = planned(t, i, FIRST_CARRY), planned(t, i, TRANSLATIONS) + planned(t, i, ROTATIONS)
    end = first + planned(t, i, CARRIES)
    for q in range(first, end):
        if not sleeps(t, carry_plan(t, q, CARRIED_ROW), token):
            carry_past(t, i, q, k2, k3, token)
    for q in range(first, end):
        c, r = t.q + row(q, CARRIED, token), carry_plan(t, q, CARRIED_ROW)
        if sleeps(t, r, token):
            continue
        for other in range(first, end):
            d, m = t.q + row(other, CARRIED, token), carry_plan(t, other, CARRIED_ROW)
            if sleeps(t, m, token):
                continue
            s = spread(0.0, token)
            for j in range(freedoms):
                s = s + load(t.work, c + ALONG_K + j * LANES, token) * load(t.work, d + ALONG_B + j * LANES, token)
            at = coupling(t, r, m, token)
            store(t.work, at, load(t.work, at, token) + s)
            if q == other:
                weight = t.r + row(r, LOOP_WORK, token) + WEIGHT
                store(t.work, weight, load(t.work, weight, token) + s)


@inline
def decouple(t, r, per_pivot, token):
    """S_mn <- S_mn - S_mr S_rn / S_rr for the rows behind r; S_mr / S_rr is kept in the place of S_mr."""
    end = row_plan(t, r, LAST) + 1
    for m in range(r + 1, end):
        if couples(t, r, m) and not sleeps(t, m, token):
            at = coupling(t, m, r, token)
            factor = load(t.work, at, token) * per_pivot
            store(t.work, at, factor)
            for n in range(r + 1, end):
                if couples(t, r, n) and not sleeps(t, n, token):
                    to = coupling(t, m, n, token)
                    store(t.work, to, load(t.work, to, token) - factor * load(t.work, coupling(t, r, n, token), token))


@inline
def eliminate_at(t, i, r, per_pivot, token):
    """D <- D + B K / S_rr at the apex i of row r, and the rows that are carried on lose their share of K and B."""
    q = row_plan(t, r, AT_APEX)
    c = t.q + row(q, CARRIED, token)
    K_f, K_t = load3(t.work, c + K_F, token), load3(t.work, c + K_T, token)
    B_f, B_t = load3(t.work, c + B_F, token), load3(t.work, c + B_T, token)
    for other in range(q + 1, planned(t, i, FIRST_CARRY) + planned(t, i, CARRIES)):
        m = carry_plan(t, other, CARRIED_ROW)
        if couples(t, r, m) and not sleeps(t, m, token):
            d, factor = t.q + row(other, CARRIED, token), load(t.work, coupling(t, m, r, token), token)
            share = per_pivot * load(t.work, coupling(t, r, m, token), token)
            store3(t.work, d + K_F, axpy(-factor, K_f, load3(t.work, d + K_F, token)))
            store3(t.work, d + K_T, axpy(-factor, K_t, load3(t.work, d + K_T, token)))
            store3(t.work, d + B_F, axpy(-share, B_f, load3(t.work, d + B_F, token)))
            store3(t.work, d + B_T, axpy(-share, B_t, load3(t.work, d + B_T, token)))
    at = t.b + row(i, WORK, token) + BLOCK
    A, B, C, E = load_block(t.work, at, token)
    B_f, B_t = scale(-per_pivot, B_f), scale(-per_pivot, B_t)
    A, B = minus_outer(A, B_f, K_f), minus_outer(B, B_f, K_t)
    store_block(t.work, at, A, B, minus_outer(C, B_t, K_f), minus_outer(E, B_t, K_t))


@inline
def largest_weight(t, r, token):
    """The largest pivot of the rows of one kind in row r's link, before other rows were eliminated."""
    g, largest = row_plan(t, r, LINK), absolute(load(t.work, t.r + row(r, LOOP_WORK, token) + WEIGHT, token))
    if row_plan(t, r, KIND) in (COUPLED, TOUCHING_ROW):
        return largest
    for other in range(planned(t, g, FIRST_ROW), planned(t, g, FIRST_ROW) + planned(t, g, ROWS)):
        if row_plan(t, other, KIND) == row_plan(t, r, KIND):
            weight = absolute(load(t.work, t.r + row(other, LOOP_WORK, token) + WEIGHT, token))
            largest = where(weight - largest, weight, largest)
    return largest


@inline
def dual_shift(t, r, token):
    """A small part of the row's own pivot, and of the largest of its link where rounding is all that is left of it."""
    at = t.r + row(r, LOOP_WORK, token)
    own, part = absolute(load(t.work, at + WEIGHT, token)), load(t.work, at + DUAL_SHIFT, token)
    return part * own + ROUNDED * largest_weight(t, r, token)


@phase
def eliminate_rows(t, i, token):
    """Take out the loop rows whose apex is body i, or the world (0)."""
    if all_sleep(t, token):
        return
    for r in range(planned(t, i, FIRST_ROW), planned(t, i, FIRST_ROW) + planned(t, i, ROWS)):
        if sleeps(t, r, token):
            continue
        at = t.r + row(r, LOOP_WORK, token)
        pivot, shift = load(t.work, coupling(t, r, r, token), token), dual_shift(t, r, token)
        shift = where(pivot, shift, -shift)
        store(t.work, at + DUAL_SHIFT, shift)
        per_pivot = 1.0 / (pivot + shift)
        store(t.work, at + ROW_PIVOT, per_pivot)
        decouple(t, r, per_pivot, token)
        if i > 0:
            eliminate_at(t, i, r, per_pivot, token)

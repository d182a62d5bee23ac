"""Where loop rows are kept while they are eliminated, and how they start: at the two bodies of their link."""

from .algebra import add, cross, scale, store3
from .jit import inline, phase
from .joint import last_link, planned
from .lanes import any_lane, row
from .links import arms, direction, row_plan
from .simd import load, spread, store, where
from .tables import (
    B_F,
    B_T,
    CARRIED,
    CARRIED_PLAN,
    COMPLIANCE,
    COUPLED,
    COUPLING,
    COUPLINGS,
    DUAL_SHIFT,
    ELIMINATION,
    END_A,
    END_B,
    FIRST_LINK,
    FIRST_ROW,
    FROM,
    K_F,
    K_T,
    KEPT,
    KIND,
    LINK,
    LOOP_ROWS,
    LOOP_WORK,
    MULTIPLIER,
    NEAR,
    PLAN_CARRIED,
    ROW_FREEDOM,
    ROWS,
    TILT,
    TOUCH_WORK,
    TOUCHING_ROW,
    TOUCHING_ROWS,
    WEIGHT,
    WORK_AWAKE,
)  # fmt: skip

SHIFT_OF_DUAL = 1e-10  # of a loop row's own pivot; 1e-6 is too much to pass singular poses
TINY = 1e-290  # of a row that no freedom moves


@inline
def carry_plan(t, q, field):
    """Entry of carried row q in the plan."""
    return load(t.plan, t.plan[PLAN_CARRIED] + q * CARRIED_PLAN + field, 0)


@inline
def coupling(t, r, m, token):
    """Element of S_rm: rows m <= r from FROM[r] on lie behind each other, their mirror images in the second half."""
    if m <= r:
        return t.z + row(row_plan(t, r, COUPLING) + m, 1, token)
    return t.z + row(t.plan[COUPLINGS] + row_plan(t, m, COUPLING) + r, 1, token)


@inline
def store_end(t, q, sign, arm2, arm3, way2, way3, token):
    """K and B of a row at one of its end bodies, from its directions there."""
    if q >= 0:
        c = t.q + row(q, CARRIED, token)
        (f2, m2), (f3, m3) = way2, way3
        store3(t.work, c + K_F, scale(sign, f3))
        store3(t.work, c + K_T, scale(sign, add(m3, cross(arm3, f3))))
        store3(t.work, c + B_F, scale(sign, f2))
        store3(t.work, c + B_T, scale(sign, add(m2, cross(arm2, f2))))


@inline
def sleeps(t, r, token):
    """Whether loop row r is of a contact that is not near: it is left out of everything."""
    if row_plan(t, r, KIND) != TOUCHING_ROW:
        return False
    return not any_lane(load(t.work, t.w + row(row_plan(t, r, LINK), TOUCH_WORK, token) + NEAR, token))


@inline
def all_sleep(t, token):
    """Whether there are no loop rows but those of contacts, and none of them is near."""
    awake = load(t.work, t.b + t.plan[WORK_AWAKE], token)
    return t.plan[TOUCHING_ROWS] == t.plan[LOOP_ROWS] and not any_lane(awake)


@phase
def set_couplings(t, k2, k3, token):
    """No wrench on a body by the couplings of freedoms: those act where the freedoms are taken out."""
    o = spread(0.0, token), spread(0.0, token), spread(0.0, token)
    for r in range(t.plan[LOOP_ROWS]):
        if row_plan(t, r, KIND) == COUPLED:
            for q in (row_plan(t, r, END_A), row_plan(t, r, END_B)):
                c = t.q + row(q, CARRIED, token)
                store3(t.work, c + K_F, o)
                store3(t.work, c + K_T, o)
                store3(t.work, c + B_F, o)
                store3(t.work, c + B_T, o)
            store(t.work, coupling(t, r, r, token), o[0])
            at = t.r + row(r, LOOP_WORK, token)
            store(t.work, at + WEIGHT, spread(TINY, token))
            store(t.work, at + DUAL_SHIFT, spread(0.0 if k2 == k3 else SHIFT_OF_DUAL, token))


@phase
def set_rows(t, k2, k3, token):
    """K and B of all loop rows where their links hold; no couplings yet.

    At one knot (k2 = k3) S is symmetric, and needs no shift but that against rounding.
    """
    if all_sleep(t, token):
        return
    for r in range(t.plan[LOOP_ROWS]):
        if not sleeps(t, r, token):
            for m in range(row_plan(t, r, FROM), r + 1):
                store(t.work, coupling(t, r, m, token), spread(0.0, token))
                store(t.work, coupling(t, m, r, token), spread(0.0, token))
    set_couplings(t, k2, k3, token)
    for g in range(t.plan[FIRST_LINK], last_link(t)):
        (a2, b2), (a3, b3) = arms(t, g, k2, token), arms(t, g, k3, token)
        for r in range(planned(t, g, FIRST_ROW), planned(t, g, FIRST_ROW) + planned(t, g, ROWS)):
            way2, way3, lam = direction(t, g, r, k2, token), direction(t, g, r, k3, token), spread(0.0, token)
            if row_plan(t, r, KIND) > TILT:
                p = t.p + row(row_plan(t, r, ROW_FREEDOM), ELIMINATION, token)
                slope = load(t.work, p + COMPLIANCE, token)
                way3, lam = (scale(slope, way3[0]), scale(slope, way3[1])), spread(1.0, token)
            store_end(t, row_plan(t, r, END_B), 1.0, b2, b3, way2, way3, token)
            store_end(t, row_plan(t, r, END_A), -1.0, a2, a3, way2, way3, token)
            store(t.work, coupling(t, r, r, token), lam)
            at = t.r + row(r, LOOP_WORK, token)
            store(t.work, at + WEIGHT, spread(TINY, token))
            store(t.work, at + DUAL_SHIFT, spread(0.0 if k2 == k3 else SHIFT_OF_DUAL, token))


@inline
def couples(t, r, m):
    """Whether the later row m couples with row r."""
    return row_plan(t, m, FROM) <= r


@phase
def forget_multipliers(t, rows, token):
    """Start from no multipliers: what rows that depend on each other carry is then the least there is."""
    for r in range(rows):
        store(t.work, t.r + row(r, LOOP_WORK, token) + MULTIPLIER, spread(0.0, token))


@phase
def keep_multipliers(t, mask, token):
    """Keep the multipliers of the lanes in the mask: those of lanes that are done stay what they were."""
    for r in range(t.plan[LOOP_ROWS]):
        at = t.r + row(r, LOOP_WORK, token)
        now, kept = load(t.work, at + MULTIPLIER, token), load(t.work, at + KEPT, token)
        store(t.work, at + KEPT, where(mask, now, kept))


@phase
def resume_multipliers(t, mask, token):
    """Before a solve: of lanes that are done what they were before their last one, which then gives the same again."""
    keep_multipliers(t, mask, token)
    for r in range(t.plan[LOOP_ROWS]):
        at = t.r + row(r, LOOP_WORK, token)
        store(t.work, at + MULTIPLIER, load(t.work, at + KEPT, token))

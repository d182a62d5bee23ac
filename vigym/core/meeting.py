"""Contacts of two bodies as loop rows: the leaf between both is carried along the graph like what closes a loop.

Row j of a contact is lam_j + sum_k slope_jk u_k(d_b) - sum_k slope_jk u_k(d_a) = force_j at no increment.
"""

from .algebra import cross, load3, scale, store3
from .contact import touch_plan
from .jit import inline, phase
from .lanes import any_lane, row
from .links import row_plan
from .pair import pairs
from .press import sloped
from .rows import coupling
from .simd import load, spread, store
from .tables import (
    ARM2,
    ARM_LOW,
    ARM_TOUCH,
    B_F,
    B_T,
    CARRIED,
    CONTACTS,
    DUAL_SHIFT,
    END_A,
    END_B,
    K_F,
    K_T,
    LOOP_WORK,
    NEAR,
    NORMAL_2,
    PARTNER_ARM2,
    PARTNER_LOW,
    PARTNER_TOUCH,
    RUB_1,
    RUB_2,
    TOUCH_ROWS,
    TOUCH_WORK,
    WEIGHT,
)  # fmt: skip


@inline
def set_touching_end(t, c, a, q, j, sign, per_h, weight, arm2, arms, token):
    """K and B of row j of contact c at one of its two bodies: forces per motion at knot 3, wrench at knot 2."""
    way = load3(t.work, a + (NORMAL_2 if j == 0 else (RUB_1 if j == 1 else RUB_2)), token)
    rows = sloped(t, c, a, arms, token)
    f, m = rows[0] if j == 0 else (rows[1] if j == 1 else rows[2])
    if q >= 0:
        at = t.q + row(q, CARRIED, token)
        store3(t.work, at + K_F, scale(sign * per_h, f))
        store3(t.work, at + K_T, scale(sign * per_h, m))
        store3(t.work, at + B_F, scale(sign * weight, way))
        store3(t.work, at + B_T, scale(sign * weight, cross(load3(t.work, a + arm2, token), way)))


@phase
def set_touching(t, weight, per_h, token):
    """Rows of the near contacts of two bodies, lam + per_h slopes . (relative motion) = force at no increment.

    They yield: their own part of S is one [the contact as a leaf between two bodies, SIM 4.1].
    """
    for c in range(t.plan[CONTACTS]):
        a = t.w + row(c, TOUCH_WORK, token)
        if pairs(t, c) and any_lane(load(t.work, a + NEAR, token)):
            for j in range(3):
                r = touch_plan(t, c, TOUCH_ROWS) + j
                own, other = row_plan(t, r, END_B), row_plan(t, r, END_A)
                set_touching_end(t, c, a, own, j, 1.0, per_h, weight, ARM2, (ARM_LOW, ARM_TOUCH), token)
                arms = PARTNER_LOW, PARTNER_TOUCH
                set_touching_end(t, c, a, other, j, -1.0, per_h, weight, PARTNER_ARM2, arms, token)
                store(t.work, coupling(t, r, r, token), spread(1.0, token))
                at = t.r + row(r, LOOP_WORK, token)
                store(t.work, at + WEIGHT, spread(0.0, token))
                store(t.work, at + DUAL_SHIFT, spread(0.0, token))

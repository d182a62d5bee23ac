"""Velocities at a knot, through the discrete Legendre transform.

The momentum of the knot seen from the left, plus constraint impulses, is that of a velocity that satisfies the velocity
constraints. One factorisation, the same as a step's, with inertias in place of its blocks.
"""

from .algebra import add, cross, dot, load3, load9, matmul, matmul_t, mul, scale, store3, sub
from .body import store_anchored
from .couple import coupled
from .drives import follow_laws, take_laws
from .evaluate import PROX
from .forces import constant_loads, momentum_loads, start_laws
from .groups import block_count, gravity
from .jit import inline, phase
from .joint import planned, rotation_axis, translation_axis
from .knot import load_inertia
from .lanes import above, any_lane, both, row
from .laws import KNOT_HARD
from .ldu import close, factorise, solve_to_leaves, solve_to_root
from .links import move_links, rate_gaps, row_plan
from .meeting import set_touching
from .press import condense, press, push
from .pressed import follow_contacts, take_forces
from .rows import forget_multipliers, resume_multipliers, set_rows
from .simd import LANES, absolute, load, maximum, spread, store, where
from .stand import stand
from .tables import (
    ARM,
    BODIES,
    BODY,
    CONSTANT_ROW,
    CONTACTS,
    COORDINATE,
    COUPLED,
    ELIMINATION,
    FGIVES,
    FORCE,
    FORCE_SCALE,
    FREEDOMS,
    GAP,
    GIVES,
    H1,
    KIND,
    KNOT,
    LAWS,
    LEVER3,
    LOOP_ROWS,
    LOOP_WORK,
    MASS,
    MOMENT,
    MOVED,
    PARENT,
    RATIO,
    SHIFT,
    SPEED,
    TOUCH_WORK,
    TRANSLATIONS,
    TURN,
    WORK,
    C,
    R,
    V,
    W,
)  # fmt: skip

UNSETTLED = 1e-3  # of the weight's impulse: forces at a knot that are farther off than that tell nothing
KNOT_TOLERANCE = 1e-10  # of the weight's impulse: what forces at a knot may be off their laws, as in a step


@phase
def momenta(t, blocks, k2, h1, g, token):
    """Rows of the discrete Legendre transform: minus the momentum of each body, about its anchor.

    Seen from the left of knot 2: p = m (v1 + h1/2 g), l = R2 (c1 J w1 - h1/2 w1 x J w1).
    """
    for block in range(blocks):
        a, k, m = t.b + row(block, WORK, token), k2 + row(block, KNOT, token), t.m + row(block, BODY, token)
        R2, arm = load9(t.state, k + R, token), load3(t.state, k + ARM, token)
        v1, w1, mass = load3(t.state, k + V, token), load3(t.state, k + W, token), load(t.model, m + MASS, token)
        Jw = mul(load_inertia(t, m, token), w1)
        p = scale(mass, add(v1, scale(0.5 * h1, g)))
        l = mul(R2, sub(scale(load(t.state, k + C, token), Jw), scale(0.5 * h1, cross(w1, Jw))))
        store3(t.work, a + FORCE, scale(-1.0, p))
        store3(t.work, a + MOMENT, sub(cross(arm, p), l))


@phase
def inertias(t, blocks, k2, token):
    """Inertia of each body about its anchor, in place of a step's blocks."""
    for block in range(blocks):
        a, k, m = t.b + row(block, WORK, token), k2 + row(block, KNOT, token), t.m + row(block, BODY, token)
        R2, arm = load9(t.state, k + R, token), load3(t.state, k + ARM, token)
        J = matmul(R2, matmul_t(load_inertia(t, m, token), R2))
        store_anchored(t, a, load(t.model, m + MASS, token), J, arm, arm)


SWEEPS, WHOLE = 30, 6  # choices between open, stick and slip at a knot; two or three settle it, else half steps do


@inline
def knot_forces(t, h1, token):
    """Loads on the joints at the knot; forces of contacts and laws at no motion, as after the last solve they are."""
    momentum_loads(t, h1, token)
    if t.plan[CONTACTS] > 0:
        press(t, spread(1.0, token), PROX, token)


@inline
def knot_factors(t, blocks, k, token, vectors):
    """Inertias in place of a step's blocks, factorised."""
    inertias(t, blocks, k, vectors)
    if t.plan[CONTACTS] > 0:
        condense(t, spread(1.0, token), spread(1.0, token), token)
    if t.plan[LOOP_ROWS] > 0:
        set_rows(t, k, k, token)
        set_touching(t, spread(1.0, token), spread(1.0, token), token)
    factorise(t, k, k, token)


@inline
def knot_motion(t, blocks, k, h1, first, active, token, vectors):
    """Velocities in SHIFT and TURN, from the momentum seen from the left of the knot.

    Each solve takes back what the dual shift of loop rows left in the one before; the ``first`` one is made twice.
    """
    rows = t.plan[LOOP_ROWS]
    for again in range(2 if first and rows > 0 else 1):
        if rows > 0 and (again > 0 or not first):
            resume_multipliers(t, active, token)
        momenta(t, blocks, k, spread(h1, vectors), gravity(t, token, vectors), vectors)
        if t.plan[CONTACTS] > 0:
            push(t, spread(1.0, token), token)
        if rows > 0:
            stand_still(t, token)
            rate_gaps(t, k, token)
            coupling_rates(t, k, token)
        solve_to_root(t, k, token)
        solve_to_leaves(t, k, token)


@phase
def solve_velocities(t, k, token, vectors):
    """Knot velocities: each body's anchor velocity in SHIFT, angular velocity (world) in TURN.

    Contacts that touch, limits, drives and dry friction give the left half of their impulses, by the same laws as in a
    step.
    """
    h1, o, one, blocks = load(t.state, t.s + H1, token), spread(0.0, token), spread(1.0, token), block_count(t, token)
    constant_loads(t, o, 0.5 * h1, 0.5 * h1, token)
    close(t, k, token)
    forget_multipliers(t, t.plan[LOOP_ROWS], token)
    lawful = t.plan[LAWS] + t.plan[CONTACTS] > 0
    if t.plan[LAWS] > 0:
        start_laws(t, 0.5 * h1, token)
        guess_rates(t, token)
    if t.plan[CONTACTS] > 0:
        stand(t, k, 0.5 * h1, token)
    goal = KNOT_TOLERANCE * load(t.model, t.e + FORCE_SCALE, token) * maximum(h1, spread(KNOT_TOLERANCE, token))
    active, off = one, o
    for sweep in range(SWEEPS if lawful else 1):
        knot_forces(t, h1, token)
        knot_factors(t, blocks, k, token, vectors)
        knot_motion(t, blocks, k, h1, sweep == 0, active, token, vectors)
        if lawful:
            off = maximum(follow_laws(t, 0.5 * h1, one, KNOT_HARD, token), follow_contacts(t, one, PROX, token))
            active = both(active, above(off, goal))
            if not any_lane(active):
                break
            size = one if sweep < WHOLE else 0.5 * one
            take_laws(t, size, active, token)  # of the others nothing changes: their next solve is the same once more
            take_forces(t, size, active, token)
    lost = above(off, UNSETTLED / KNOT_TOLERANCE * goal)
    if any_lane(lost):
        coast(t, k, lost, token)
    move_links(t, k, token)


@phase
def coast(t, k, mask, token):
    """Where forces at a knot do not settle, its velocities are those of the step that led to it: nothing acts."""
    for i in range(1, t.plan[BODIES]):
        a, own = t.b + row(i, WORK, token), k + row(i, KNOT, token)
        omega = mul(load9(t.state, own + R, token), load3(t.state, own + W, token))
        v = add(load3(t.state, own + V, token), cross(omega, load3(t.state, own + ARM, token)))
        for field, motion in ((SHIFT, v), (TURN, omega)):
            now = load3(t.work, a + field, token)
            now = where(mask, motion[0], now[0]), where(mask, motion[1], now[1]), where(mask, motion[2], now[2])
            store3(t.work, a + field, now)
    for p in range(t.plan[FREEDOMS] if t.plan[LAWS] > 0 else 0):
        at = t.p + row(p, ELIMINATION, token) + GIVES
        for j in range(3):
            f = load(t.work, at + j * LANES, token)
            store(t.work, at + j * LANES, where(mask, spread(0.0, token), f))
    for c in range(t.plan[CONTACTS]):
        at = t.w + row(c, TOUCH_WORK, token) + FGIVES
        for j in range(4):
            f = load(t.work, at + j * LANES, token)
            store(t.work, at + j * LANES, where(mask, spread(0.0, token), f))


@phase
def guess_rates(t, token):
    """Rates that the laws choose by at first: those of the last step."""
    for p in range(t.plan[FREEDOMS]):
        rate = load(t.state, t.c + row(p, COORDINATE, token) + SPEED, token)
        store(t.work, t.p + row(p, ELIMINATION, token) + MOVED, rate)


@phase
def stand_still(t, token):
    """No motion of any body in SHIFT and TURN."""
    o = spread(0.0, token)
    for i in range(t.plan[BODIES]):
        a = t.b + row(i, WORK, token)
        store3(t.work, a + SHIFT, (o, o, o))
        store3(t.work, a + TURN, (o, o, o))


@inline
def joint_rate(t, i, j, k, token):
    """Rate of freedom j of joint i, from the solved velocities of both bodies."""
    a, up = t.b + row(i, WORK, token), t.b + row(planned(t, i, PARENT), WORK, token)
    omega, n = load3(t.work, up + TURN, token), planned(t, i, TRANSLATIONS)
    if j >= n:
        return dot(rotation_axis(t, i, j - n, k, token), sub(load3(t.work, a + TURN, token), omega))
    carried = add(load3(t.work, up + SHIFT, token), cross(omega, load3(t.work, a + LEVER3, token)))
    return dot(translation_axis(t, i, j, k, token), sub(load3(t.work, a + SHIFT, token), carried))


@phase
def coupling_rates(t, k, token):
    """Residuals of the couplings of the motion in SHIFT and TURN; returns the largest [m/s or rad/s]."""
    worst = spread(0.0, token)
    for r in range(t.plan[LOOP_ROWS]):
        if row_plan(t, r, KIND) == COUPLED:
            i, j, other, l = coupled(t, r)
            ratio = load(t.model, t.l + row(r, CONSTANT_ROW, token) + RATIO, token)
            gap = joint_rate(t, i, j, k, token) - ratio * joint_rate(t, other, l, k, token)
            store(t.work, t.r + row(r, LOOP_WORK, token) + GAP, gap)
            worst = maximum(worst, absolute(gap))
    return worst

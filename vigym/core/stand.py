"""Contacts at a knot alone, for its velocities: which hold there, and what they start from."""

from .algebra import axpy, dot, load3, load4, load9, scale, store3, store4, sub
from .contact import touch_plan
from .jit import inline, phase
from .knot import knots
from .lanes import above, both, row
from .pair import nearest, note_awake, pairs, touching_velocity
from .simd import LANES, load, maximum, spread, store
from .tables import (
    ANCHOR,
    ARM2,
    ARM_LOW,
    ARM_TOUCH,
    CONSTANT_TOUCH,
    CONTACTS,
    FACTS,
    H1,
    HEFT,
    KNOT,
    NEAR,
    NORMAL_2,
    NORMAL_3,
    PARTNER_ARM2,
    PARTNER_LOW,
    PARTNER_TOUCH,
    PRESS,
    SKATE,
    SLIP,
    TOUCH,
    TOUCH_KIND,
    TOUCH_WORK,
    TOUCHES,
    R,
)  # fmt: skip
from .touch import guide, note_slip, set_arms

SHUT = 1e-6  # [m] gap of a contact that touches at a knot


@inline
def pressed(t, c, gap, token):
    """Lanes in which contact c pressed in the step that led to a knot: its force outweighs the gap left open.

    That of the interior point grows with the square of the step; where a contact opens, force and gap change roles.
    """
    h1, heft = load(t.state, t.s + H1, token), load(t.model, t.n + row(c, CONSTANT_TOUCH, token) + HEFT, token)
    return above(h1 * h1 * load(t.state, t.o + row(c, TOUCH, token) + PRESS, token), heft * gap)


@inline
def guess_slip(t, c, a, k, n, token):
    """Contact c moves by nothing yet, and chooses by the velocity that the last two steps lead to."""
    o = spread(0.0, token)
    normal, move, spin = touching_velocity(t, c, k, k, token)
    _, before, _ = touching_velocity(t, c, k, knots(t, 1), token)
    change = sub(move, before)  # of the slip from step to step; half of it is made at the knot
    note_slip(t, a, normal, axpy(o + 0.5, sub(change, scale(dot(n, change), n)), move), spin)
    store(t.work, a + SLIP, o)
    store3(t.work, a + SLIP + LANES, (o, o, o))
    store(t.work, a + SLIP + 4 * LANES, o)


@phase
def stand(t, k, share, token):
    """Contacts at knot buffer k, for its velocities: those that touch are near; nothing moves yet.

    Their forces start as ``share`` of the last step's, and what they choose by as velocities extrapolated from the last
    two; before the first step there are none.
    """
    o = spread(0.0, token)
    for c in range(t.plan[CONTACTS]):
        a, s = t.w + row(c, TOUCH_WORK, token), t.o + row(c, TOUCH, token) + PRESS
        gap, n, arm, other = nearest(t, c, k, token)
        shut = maximum(above(spread(SHUT, token), gap), pressed(t, c, gap, token))
        near = both(above(share, o), shut)
        store(t.work, a + NEAR, near if touch_plan(t, c, TOUCH_KIND) < SKATE else o + 1.0)
        f = load4(t.state, s, token)
        f = share * f[0], share * f[1], share * f[2], share * f[3]
        store4(t.work, a + ANCHOR, f)
        store4(t.work, a + FACTS, f)
        set_arms(t, c, a, k, gap, arm, other, n, token)
        for to, at in ((ARM_LOW, ARM2), (ARM_TOUCH, ARM2), (NORMAL_3, NORMAL_2)):
            store3(t.work, a + to, load3(t.work, a + at, token))
        if pairs(t, c):
            for to in (PARTNER_LOW, PARTNER_TOUCH):
                store3(t.work, a + to, load3(t.work, a + PARTNER_ARM2, token))
        guess_slip(t, c, a, k, n, token)
        if touch_plan(t, c, TOUCH_KIND) >= SKATE:
            R2 = load9(t.state, k + row(touch_plan(t, c, TOUCHES), KNOT, token) + R, token)
            guide(t, c, a, R2, n, (o, o, o), token)
    note_awake(t, token)

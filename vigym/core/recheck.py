"""What is checked of contacts once Newton has converged: none was overlooked, and no body sinks."""

from .contact import touch_plan
from .jit import inline, phase
from .lanes import above, any_lane, both, but_not, row
from .pair import SLIDES, far_apart, note_awake, pairs, place_of, touching_at
from .simd import LANES, absolute, load, maximum, spread, store, where
from .tables import (
    ANCHOR,
    CONSTANT_TOUCH,
    CONTACTS,
    FACTS,
    HEFT,
    NEAR,
    PAIR_NEAREST,
    PLACE,
    SKATE,
    TOUCH_KIND,
    TOUCH_WORK,
)  # fmt: skip
from .touch import face

SINKS = 5e-8  # [m] by which the proximal term may let a body sink


@inline
def slid(t, c, a, s, near, token):
    """Lanes in which contact c, at place s of the own segment, is farther from that of knot 2 than it may be.

    Ends of what is over the partner may jump; nothing overlaps that does not at the nearest point.
    """
    if touch_plan(t, c, TOUCH_KIND) != PAIR_NEAREST:
        return 0.0 * near
    away = absolute(s - load(t.work, a + PLACE, token))
    return both(near, above(away, spread(SLIDES, token)))


@phase
def overlooked(t, k2, k3, h, mask, token):
    """Lanes of the mask in which bodies overlap at knot buffer k3 by a contact that seemed far, or was elsewhere.

    It is near now, and where they overlap.
    """
    missed, o = spread(0.0, token), spread(0.0, token)
    for c in range(t.plan[CONTACTS]):
        a = t.w + row(c, TOUCH_WORK, token)
        near, place = load(t.work, a + NEAR, token), o
        unseen = but_not(mask, near) if touch_plan(t, c, TOUCH_KIND) < SKATE else o
        if pairs(t, c):
            unseen, place = both(unseen, above(o, far_apart(t, c, k3, token))), place_of(t, c, k3, token)
            unseen = maximum(unseen, both(mask, slid(t, c, a, place, near, token)))
        if any_lane(unseen):
            gap = touching_at(t, c, k3, place, token)[0]
            below = both(unseen, above(where(near, spread(-SINKS, token), o), gap))
            if pairs(t, c) and any_lane(below):
                face(t, c, a, k2, h, where(below, place, load(t.work, a + PLACE, token)), token)
            store(t.work, a + NEAR, maximum(near, below))
            missed = maximum(missed, below)
    if any_lane(missed):
        note_awake(t, token)
    return missed


@phase
def reanchor(t, h, prox, mask, token):
    """Lanes of the mask in which the proximal term lets a body sink by more than SINKS: its anchor is the force now.

    [method of multipliers; what is left falls by the factor ``prox``]
    """
    late = spread(0.0, token)
    for c in range(t.plan[CONTACTS]):
        a = t.w + row(c, TOUCH_WORK, token)
        if touch_plan(t, c, TOUCH_KIND) < SKATE and any_lane(load(t.work, a + NEAR, token)):
            change = absolute(load(t.work, a + FACTS, token) - load(t.work, a + ANCHOR, token))
            sinks = prox * h * h * change / load(t.model, t.n + row(c, CONSTANT_TOUCH, token) + HEFT, token)
            moved = both(both(mask, load(t.work, a + NEAR, token)), above(sinks, spread(SINKS, token)))
            for j in range(4):
                f, f0 = load(t.work, a + FACTS + j * LANES, token), load(t.work, a + ANCHOR + j * LANES, token)
                store(t.work, a + ANCHOR + j * LANES, where(moved, f, f0))
            late = maximum(late, moved)
    return late

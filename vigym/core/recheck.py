"""What is checked of contacts once Newton has converged: none was overlooked, and no body sinks."""

from .contact import touch_plan
from .jit import phase
from .lanes import above, any_lane, both, but_not, row
from .pair import far_apart, nearest, pairs
from .simd import LANES, absolute, load, maximum, spread, store, where
from .tables import ANCHOR, CONSTANT_TOUCH, CONTACTS, FACTS, HEFT, NEAR, SKATE, TOUCH_KIND, TOUCH_WORK
from .touch import face, note_awake

SINKS = 5e-8  # [m] by which the proximal term may let a body sink


@phase
def overlooked(t, k2, k3, h, mask, token):
    """Lanes of the mask in which a contact that seemed far overlaps at knot buffer k3; it is near now."""
    missed, o = spread(0.0, token), spread(0.0, token)
    for c in range(t.plan[CONTACTS]):
        a = t.w + row(c, TOUCH_WORK, token)
        near = load(t.work, a + NEAR, token)
        unseen = but_not(mask, near) if touch_plan(t, c, TOUCH_KIND) < SKATE else o
        if pairs(t, c):
            unseen = both(unseen, above(o, far_apart(t, c, k3, token)))
        if any_lane(unseen):
            below = both(unseen, above(o, nearest(t, c, k3, token)[0]))
            if pairs(t, c) and any_lane(below):
                face(t, c, a, k2, h, token)
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

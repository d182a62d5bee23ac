"""What is checked of contacts once Newton has converged: none was overlooked, and no body sinks."""

from .algebra import load4
from .contact import touch_plan
from .jit import inline, phase
from .lanes import above, any_lane, both, but_not, row
from .pair import SLIDES, close_to, far_apart, note_awake, pairs, place_of, touching_at
from .simd import LANES, absolute, load, maximum, spread, store, where
from .tables import (
    ANCHOR,
    CONSTANT_TOUCH,
    CONTACTS,
    DUAL,
    FACTS,
    HEFT,
    NEAR,
    PAIR_HEAD,
    PAIR_NEAREST,
    PAIR_TAIL,
    PLACE,
    SKATE,
    TOUCH_KIND,
    TOUCH_WORK,
)  # fmt: skip
from .touch import face

SINKS = 5e-8  # [m] by which the proximal term may let a body sink
BESIDE = 5e-7  # [m] by which two bodies may overlap beside where they are held apart


@inline
def hand_over(t, a, to, mask, token):
    """The force of contact row a, and its anchor, to contact row ``to`` in the lanes of the mask: a is far then."""
    for field in (ANCHOR, FACTS):
        f, g = load4(t.work, a + field, token), load4(t.work, to + field, token)
        for j in range(4):
            store(t.work, to + field + j * LANES, where(mask, f[j] + g[j], g[j]))
            store(t.work, a + field + j * LANES, where(mask, 0.0 * f[j], f[j]))
    store(t.work, a + NEAR, but_not(load(t.work, a + NEAR, token), mask))


@inline
def cut_back(t, c, a, k2, h, s, mask, token):
    """Contact c, of the nearest points, goes to place s in the lanes of the mask; where it presses a force stays.

    A force on one side of where it ought to be can bring bodies nearest on the other: then both places hold. The end of
    what is over the partner, on the side left behind, goes to the old place and takes the force, unless it presses
    itself. One that presses next to the new place gives its force to this one.
    """
    held, one = load(t.work, a + PLACE, token), spread(1.0, token)
    further = above(s, held)
    for k in (c + 1, c + 2):
        at, there = t.w + row(k, TOUCH_WORK, token), load(t.work, t.w + row(k, TOUCH_WORK, token) + PLACE, token)
        f, mine = load(t.work, at + FACTS, token), load(t.work, a + FACTS, token)
        presses = both(load(t.work, at + NEAR, token), above(f, 0.0 * f))
        beside = both(both(mask, presses), above(spread(SLIDES, token), absolute(there - s)))
        behind = further if touch_plan(t, k, TOUCH_KIND) == PAIR_TAIL else one - further
        stays = both(both(mask, but_not(behind, presses)), above(mine, 0.0 * mine))
        if any_lane(stays):
            face(t, k, at, k2, h, where(stays, held, there), token)
            store(t.work, at + NEAR, maximum(load(t.work, at + NEAR, token), stays))
            for field in (ANCHOR, FACTS):
                for j in range(4):
                    f, g = load(t.work, a + field + j * LANES, token), load(t.work, at + field + j * LANES, token)
                    store(t.work, at + field + j * LANES, where(stays, f, g))
                    store(t.work, a + field + j * LANES, where(stays, 0.0 * f, f))
        hand_over(t, at, a, beside, token)
        for other in (at, a):  # what the interior point knows of them is of other places
            dual = load(t.work, other + DUAL, token)
            store(t.work, other + DUAL, where(mask, 0.0 * dual, dual))
    face(t, c, a, k2, h, where(mask, s, held), token)


@inline
def sunk(t, c, k3, place, token):
    """How deep bodies are at knot buffer k3 where contact c, of the nearest points, and those beside it hold them [m].

    Not above zero: what the proximal term lets them sink is not mended by other places.
    """
    deepest = spread(0.0, token)
    for k in (c, c + 1, c + 2):
        at = t.w + row(k, TOUCH_WORK, token)
        held = load(t.work, at + PLACE, token)
        gap = touching_at(t, k, k3, close_to(place, held) if k == c else held, token)[0]
        deepest = where(both(load(t.work, at + NEAR, token), above(deepest, gap)), gap, deepest)
    return deepest


@phase
def overlooked(t, k2, k3, h, mask, token):
    """Lanes of the mask in which bodies overlap at knot buffer k3 by a contact that seemed far, or was elsewhere.

    It is near now, and where they overlap. Of two bodies they do at the nearest point if anywhere.
    """
    missed, o = spread(0.0, token), spread(0.0, token)
    for c in range(t.plan[CONTACTS]):
        a, kind = t.w + row(c, TOUCH_WORK, token), touch_plan(t, c, TOUCH_KIND)
        near, place = load(t.work, a + NEAR, token), o
        unseen = but_not(mask, near) if kind < SKATE and kind != PAIR_HEAD and kind != PAIR_TAIL else o
        if pairs(t, c):
            unseen, place = both(unseen, above(o, far_apart(t, c, k3, token))), place_of(t, c, k3, token)
        if kind == PAIR_NEAREST:
            away = absolute(place - load(t.work, a + PLACE, token))
            unseen = maximum(unseen, both(both(mask, near), above(away, spread(SLIDES, token))))
        if any_lane(unseen):
            gap, least = touching_at(t, c, k3, place, token)[0], o
            if kind == PAIR_NEAREST:
                least = where(near, sunk(t, c, k3, place, token) - BESIDE, o)
            below = both(unseen, above(least, gap))
            if kind == PAIR_NEAREST and any_lane(below):
                cut_back(t, c, a, k2, h, place, below, token)
            elif pairs(t, c) and any_lane(below):
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

"""A lane group: where its tables start, which lanes hold an environment, and copies of some of its lanes.

One environment is one group whose lanes are bodies; a batch is as many groups of LANES environments as it takes.
"""

from typing import Any, NamedTuple

from .algebra import load3
from .jit import inline
from .lanes import lane_count, with_lane
from .simd import LANES, load, pointer, spread, store, where
from .tables import (
    BODIES,
    GRAVITY,
    MODEL_BODIES,
    MODEL_CONTACTS,
    MODEL_FREEDOMS,
    MODEL_LOOPS,
    STATE_CONTACTS,
    STATE_COORDINATES,
    STATE_KNOTS,
    STATE_LOOPS,
    WORK_CARRIED,
    WORK_CONTACTS,
    WORK_COUPLINGS,
    WORK_FREEDOMS,
    WORK_LOOPS,
)  # fmt: skip

PLAIN, FULL = None, 1  # kernels of trees that touch nothing; of all there is. numba compiles for each, see ``absent``


class Tables(NamedTuple):
    """Pointers to the four arrays, and where the tables of one lane group start in them."""

    plan: Any
    model: Any
    state: Any
    work: Any
    m: int  # model: bodies
    f: int  # model: freedoms
    l: int  # model: loop rows
    n: int  # model: contacts
    e: int  # model: environment row
    s: int  # state: environment row
    c: int  # state: coordinates
    u: int  # state: multipliers
    o: int  # state: contacts
    k: int  # state: first knot buffer
    b: int  # work: bodies
    p: int  # work: freedoms
    r: int  # work: loop rows
    q: int  # work: carried rows
    z: int  # work: couplings
    w: int  # work: contacts
    extent: Any  # PLAIN or FULL, a type as much as a value


@inline
def group(plan, model, state, work, m, s, w, extent):
    """Tables of the lane group whose model, state and work start at m, s, w; ``extent`` says which kernels it needs."""
    return Tables(
        plan=pointer(plan),
        model=pointer(model),
        state=pointer(state),
        work=pointer(work),
        m=m + plan[MODEL_BODIES],
        f=m + plan[MODEL_FREEDOMS],
        l=m + plan[MODEL_LOOPS],
        n=m + plan[MODEL_CONTACTS],
        e=m,
        s=s,
        c=s + plan[STATE_COORDINATES],
        u=s + plan[STATE_LOOPS],
        o=s + plan[STATE_CONTACTS],
        k=s + plan[STATE_KNOTS],
        b=w,
        p=w + plan[WORK_FREEDOMS],
        r=w + plan[WORK_LOOPS],
        q=w + plan[WORK_CARRIED],
        z=w + plan[WORK_COUPLINGS],
        w=w + plan[WORK_CONTACTS],
        extent=extent,
    )


@inline
def filled(first, environments, token):
    """Lanes of a group that hold an environment."""
    mask = token
    for k in range(lane_count(token)):
        mask = with_lane(mask, k, 1.0 if first + k < environments else 0.0)
    return mask


@inline
def block_count(t, token):
    """Blocks of LANES values that the phases over bodies run through."""
    return t.plan[BODIES] if lane_count(token) > 1 else (t.plan[BODIES] + LANES - 1) // LANES


@inline
def gravity(t, token, vectors):
    """Gravity [m/s^2, world]: read with ``token``, spread to the type of ``vectors``."""
    x, y, z = load3(t.model, t.e + GRAVITY, token)
    return spread(x, vectors), spread(y, vectors), spread(z, vectors)


@inline
def blend(to, target, source, start, size, mask, vectors):
    """Copy ``size`` slots in the lanes of the mask."""
    for at in range(0, size, LANES):
        store(to, target + at, where(mask, load(source, start + at, vectors), load(to, target + at, vectors)))

"""Drives, limits and dry friction in the equations of a step: loads on the freedoms, forces after an increment."""

import math

from .jit import inline, phase
from .joint import planned
from .lanes import above, both, of_precision, row
from .laws import HARD, command, drive_law, dry_law, stop_law
from .simd import LANES, absolute, load, maximum, spread, store, where
from .tables import (
    ACTS,
    AIM,
    ANCHORS,
    APPLIED,
    COMPLIANCE,
    COORDINATE,
    DRY,
    EASE,
    ELIMINATION,
    FASTEST,
    FIRST,
    FOUND,
    FREEDOM,
    GIVES,
    HAS_DRIVE,
    HAS_DRY,
    HAS_LIMIT,
    INCREMENT,
    LENGTH_SCALE,
    LOAD,
    LOWER,
    MOVED,
    PLAN_RATED,
    RATED,
    ROTATIONS,
    SEEN,
    SLOPES,
    START,
    STRONGEST,
    TARGET,
    TORQUE,
    TRANSLATIONS,
    UPPER,
)  # fmt: skip
from .touch import PUSH

# [m or rad], in double and single precision: the proximal term may let a step go past a limit by that, or what holds a
# rate slip
GIVES_WAY = 5e-9, 1e-6
IDLE = 1e29  # size of a kept target that is none: its motor idles
SHUT = 1e-7  # [m or rad] distance from a limit at which it holds a knot velocity


@inline
def bound_by(t, i):
    """Whether joint i has a drive, limits or dry friction."""
    return planned(t, i, HAS_DRIVE) + planned(t, i, HAS_LIMIT) + planned(t, i, HAS_DRY) > 0


@inline
def wanted_distance(distance, token):
    """What a step must leave of a distance: nothing, or what a push leads back from beyond the limit."""
    out = distance + PUSH
    return where(out, spread(0.0, token), out)


@inline
def see(t, i, p, rate, slope, change, per_h, token):
    """Note what the laws of freedom p see of a step that changes its coordinate."""
    at, f = t.p + row(p, ELIMINATION, token), t.f + row(p, FREEDOM, token)
    start = load(t.work, at + START, token)
    told, stiff = command(t, i, p, start + change, rate, slope, token)
    low, up = start - load(t.model, f + LOWER, token), load(t.model, f + UPPER, token) - start
    low = per_h * (low + change - wanted_distance(low, token))
    up = per_h * (up - change - wanted_distance(up, token))
    store_seen(t, at, rate, slope, told, stiff, low, up)


@inline
def see_knot(t, i, p, share, token):
    """The same of a knot velocity: what a drive is told at it, at the coordinate of the knot."""
    at, f, c = t.p + row(p, ELIMINATION, token), t.f + row(p, FREEDOM, token), t.c + row(p, COORDINATE, token)
    start, o, one = load(t.work, at + START, token), spread(0.0, token), spread(1.0, token)
    told, by_rate = o, o
    if planned(t, i, HAS_DRIVE) > 0:
        aim, rate = load(t.state, c + AIM, token), load(t.work, at + MOVED, token)
        store(t.work, at + TARGET, where(above(absolute(aim), IDLE * one), math.nan * one, aim))
        store(t.work, at + APPLIED, load(t.state, c + TORQUE, token))
        told, stiff = command(t, i, p, start, rate, one, token)
        _, by_place = command(t, i, p, start, rate, o, token)
        by_rate = stiff - by_place
        told = told + by_rate * rate
    low, up = start - load(t.model, f + LOWER, token), load(t.model, f + UPPER, token) - start
    open_ = one * 1e30
    low, up = where(share, low, open_), where(share, up, open_)  # before the first step there was no force
    low, up = where(low - SHUT, open_, o), where(up - SHUT, open_, o)
    store_seen(t, at, o, one, share * told, share * by_rate, low, up)


@phase
def keep_laws(t, mask, token):
    """Forces of drives, limits and dry friction of the solution, in the lanes of the mask."""
    for r in range(t.plan[RATED]):
        i = t.plan[t.plan[PLAN_RATED] + r]
        if bound_by(t, i):
            for j in range(planned(t, i, TRANSLATIONS) + planned(t, i, ROTATIONS)):
                p = planned(t, i, FIRST) + j
                at = t.p + row(p, ELIMINATION, token)
                now, then = three(t, at + ACTS, token), three(t, at + FOUND, token)
                for k in range(3):
                    store(t.work, at + FOUND + k * LANES, where(mask, now[k], then[k]))


@inline
def store_seen(t, at, rate, slope, told, stiff, low, up):
    """Write what the laws see."""
    store(t.work, at + SEEN, rate)
    store(t.work, at + SEEN + LANES, slope)
    store(t.work, at + SEEN + 2 * LANES, told)
    store(t.work, at + SEEN + 3 * LANES, stiff)
    store(t.work, at + SEEN + 4 * LANES, low)
    store(t.work, at + SEEN + 5 * LANES, up)


@inline
def laws_of(t, i, p, share, per_h, hard, moved, f, token):
    """The three laws of freedom p with forces ``f`` and ``moved`` along it.

    Returns (projected forces, forces at no increment, slopes); ``share`` of the bounds holds.
    """
    at, m = t.p + row(p, ELIMINATION, token), t.f + row(p, FREEDOM, token)
    anchors = three(t, at + ANCHORS, token)
    rate, slope = load(t.work, at + SEEN, token), load(t.work, at + SEEN + LANES, token)
    told, stiff = load(t.work, at + SEEN + 2 * LANES, token), load(t.work, at + SEEN + 3 * LANES, token)
    low, up = load(t.work, at + SEEN + 4 * LANES, token), load(t.work, at + SEEN + 5 * LANES, token)
    rho, later, o = per_h * load(t.model, m + EASE, token), rate + slope * moved, spread(0.0, token)
    drive, stop, dry = (o, o, o), (o, o, o), (o, o, o)
    if planned(t, i, HAS_DRIVE) > 0:
        f0, most = anchors[0], share * load(t.model, m + STRONGEST, token)
        fastest = load(t.model, m + FASTEST, token)
        drive = drive_law(f[0], f0, told, stiff, rate, later, slope, rho, most, fastest, hard, token)
    if planned(t, i, HAS_LIMIT) > 0:
        f0, by = anchors[1], per_h * moved
        stop = stop_law(f[1], f0, low, up, low + by, up - by, per_h, rho, hard, token)
    if planned(t, i, HAS_DRY) > 0:
        f0, most = anchors[2], share * load(t.model, m + DRY, token)
        dry = dry_law(f[2], f0, rate, later, slope, rho, most, hard, token)
    return (drive[0], stop[0], dry[0]), (drive[1], stop[1], dry[1]), (drive[2], stop[2], dry[2])


@inline
def three(t, at, token):
    """Three scalars of a work row."""
    return load(t.work, at, token), load(t.work, at + LANES, token), load(t.work, at + 2 * LANES, token)


@inline
def set_laws(t, i, p, share, weight, per_h, hard, moved, token):
    """Add the three forces of freedom p to its load, and their slopes; returns the lanes in which one acts."""
    at = t.p + row(p, ELIMINATION, token)
    f = three(t, at + ACTS, token)
    _, gives, slopes = laws_of(t, i, p, share, per_h, hard, moved, f, token)
    force, steep = gives[0] + gives[1] + gives[2], slopes[0] + slopes[1] + slopes[2]
    store(t.work, at + GIVES, gives[0])
    store(t.work, at + GIVES + LANES, gives[1])
    store(t.work, at + GIVES + 2 * LANES, gives[2])
    store(t.work, at + SLOPES, slopes[0])
    store(t.work, at + SLOPES + LANES, slopes[1])
    store(t.work, at + SLOPES + 2 * LANES, slopes[2])
    store(t.work, at + LOAD, load(t.work, at + LOAD, token) - weight * force)
    store(t.work, at + COMPLIANCE, load(t.work, at + COMPLIANCE, token) + weight * steep)
    one = spread(1.0, token)
    return where(slopes[1], one, one if planned(t, i, HAS_DRIVE) + planned(t, i, HAS_DRY) > 0 else 0.0 * one)


@phase
def follow_laws(t, share, per_h, hard, token):
    """Forces of the laws after the increment just solved for.

    Returns how far they are from the projections, the largest, a moment over the length scale [N].
    """
    worst = spread(0.0, token)
    for r in range(t.plan[RATED]):
        i = t.plan[t.plan[PLAN_RATED] + r]
        if bound_by(t, i):
            for j in range(planned(t, i, TRANSLATIONS) + planned(t, i, ROTATIONS)):
                p = planned(t, i, FIRST) + j
                at = t.p + row(p, ELIMINATION, token)
                moved, g, k = (
                    load(t.work, at + INCREMENT, token),
                    three(t, at + GIVES, token),
                    three(t, at + SLOPES, token),
                )
                f = g[0] - k[0] * moved, g[1] - k[1] * moved, g[2] - k[2] * moved
                store(t.work, at + GIVES, f[0])
                store(t.work, at + GIVES + LANES, f[1])
                store(t.work, at + GIVES + 2 * LANES, f[2])
                to, _, _ = laws_of(t, i, p, share, per_h, hard, moved, f, token)
                off = maximum(absolute(f[0] - to[0]), maximum(absolute(f[1] - to[1]), absolute(f[2] - to[2])))
                if j >= planned(t, i, TRANSLATIONS):
                    off = off / load(t.model, t.e + LENGTH_SCALE, token)
                worst = maximum(worst, off)
    return worst


@phase
def take_laws(t, size, mask, token):
    """Forces of the laws move ``size`` of the way to what the increment made of them, in the lanes of the mask.

    And the increment is what they choose by.
    """
    for r in range(t.plan[RATED]):
        i = t.plan[t.plan[PLAN_RATED] + r]
        if bound_by(t, i):
            for j in range(planned(t, i, TRANSLATIONS) + planned(t, i, ROTATIONS)):
                at = t.p + row(planned(t, i, FIRST) + j, ELIMINATION, token)
                for k in range(3):
                    f, g = load(t.work, at + ACTS + k * LANES, token), load(t.work, at + GIVES + k * LANES, token)
                    store(t.work, at + ACTS + k * LANES, where(mask, f + size * (g - f), f))
                moved, now = load(t.work, at + MOVED, token), load(t.work, at + INCREMENT, token)
                store(t.work, at + MOVED, where(mask, moved + size * (now - moved), moved))


@phase
def reanchor_laws(t, h, mask, token):
    """Lanes of the mask in which the proximal term lets a freedom give way: its anchors are the forces now."""
    late = spread(0.0, token)
    for r in range(t.plan[RATED]):
        i = t.plan[t.plan[PLAN_RATED] + r]
        if bound_by(t, i):
            for j in range(planned(t, i, TRANSLATIONS) + planned(t, i, ROTATIONS)):
                p = planned(t, i, FIRST) + j
                at = t.p + row(p, ELIMINATION, token)
                softness = HARD * h / load(t.model, t.f + row(p, FREEDOM, token) + EASE, token)  # rate per force
                for k in range(3):
                    f, f0 = load(t.work, at + ACTS + k * LANES, token), load(t.work, at + ANCHORS + k * LANES, token)
                    held = above(2.0 * softness * load(t.work, at + SLOPES + k * LANES, token) * h, spread(1.0, token))
                    gives = above(absolute(h * softness * (f - f0)), spread(of_precision(GIVES_WAY, token), token))
                    moved = both(both(mask, held), gives)
                    store(t.work, at + ANCHORS + k * LANES, where(moved, f, f0))
                    late = maximum(late, moved)
    return late

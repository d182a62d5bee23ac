"""Drives, limits and dry friction in the equations of a step: loads on the freedoms, forces after an increment."""

from .algebra import load4, store4
from .jit import inline, phase
from .joint import planned
from .lanes import row
from .laws import command, drive_law, dry_law, stop_law
from .simd import LANES, absolute, load, maximum, spread, store, where
from .tables import (
    ACTS,
    COMPLIANCE,
    COORDINATE,
    DRIVE,
    DRY,
    EASE,
    ELIMINATION,
    FASTEST,
    FIRST,
    FOUND,
    FREEDOM,
    GAIN,
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
    RUB,
    SEEN,
    SLOPES,
    SPEED,
    START,
    STOP,
    STRONGEST,
    TRANSLATIONS,
    UPPER,
)  # fmt: skip
from .touch import PUSH

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
    """The same of a knot velocity, nothing moving yet: drives give what they gave, less what the rate changes."""
    at, f, c = t.p + row(p, ELIMINATION, token), t.f + row(p, FREEDOM, token), t.c + row(p, COORDINATE, token)
    start, o, one = load(t.work, at + START, token), spread(0.0, token), spread(1.0, token)
    gain = load(t.state, c + GAIN, token)
    told = load(t.state, c + DRIVE, token) + gain * load(t.state, c + SPEED, token)
    low, up = start - load(t.model, f + LOWER, token), load(t.model, f + UPPER, token) - start
    open_ = one * 1e30
    low, up = where(share, low, open_), where(share, up, open_)  # before the first step there was no force
    low, up = where(low - SHUT, open_, o), where(up - SHUT, open_, o)
    store_seen(t, at, o, one, share * told, share * gain, low, up)


@inline
def gain_of(t, i, p, token):
    """By how much the force of a drive fell with the rate in the step just accepted."""
    at = t.p + row(p, ELIMINATION, token)
    rate, slope = load(t.work, at + SEEN, token), load(t.work, at + SEEN + LANES, token)
    o, steep = spread(0.0, token), load(t.work, at + SLOPES, token)
    _, by_place = command(t, i, p, load(t.work, at + START, token) + rate / slope, rate, o, token)
    gain = (steep - by_place) / slope
    return where(steep, where(gain, gain, o), o)


@phase
def keep_laws(t, mask, token):
    """Forces of drives, limits and dry friction of the solution, in the lanes of the mask."""
    for r in range(t.plan[RATED]):
        i = t.plan[t.plan[PLAN_RATED] + r]
        if bound_by(t, i):
            for j in range(planned(t, i, TRANSLATIONS) + planned(t, i, ROTATIONS)):
                p = planned(t, i, FIRST) + j
                at = t.p + row(p, ELIMINATION, token)
                drive, stop, dry = three(t, at + ACTS, token)
                gain = gain_of(t, i, p, token) if planned(t, i, HAS_DRIVE) > 0 else 0.0 * drive
                then = load4(t.work, at + FOUND, token)
                drive, stop = where(mask, drive, then[0]), where(mask, stop, then[1])
                store4(t.work, at + FOUND, (drive, stop, where(mask, dry, then[2]), where(mask, gain, then[3])))


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
def laws_of(t, i, p, share, per_h, moved, f, token):
    """The three laws of freedom p with forces ``f`` and ``moved`` along it.

    Returns (projected forces, forces at no increment, slopes); ``share`` of the kept forces anchors them, and of the
    bounds holds.
    """
    at, c, m = t.p + row(p, ELIMINATION, token), t.c + row(p, COORDINATE, token), t.f + row(p, FREEDOM, token)
    rate, slope = load(t.work, at + SEEN, token), load(t.work, at + SEEN + LANES, token)
    told, stiff = load(t.work, at + SEEN + 2 * LANES, token), load(t.work, at + SEEN + 3 * LANES, token)
    low, up = load(t.work, at + SEEN + 4 * LANES, token), load(t.work, at + SEEN + 5 * LANES, token)
    rho, later, o = per_h * load(t.model, m + EASE, token), rate + slope * moved, spread(0.0, token)
    drive, stop, dry = (o, o, o), (o, o, o), (o, o, o)
    if planned(t, i, HAS_DRIVE) > 0:
        f0, most = share * load(t.state, c + DRIVE, token), share * load(t.model, m + STRONGEST, token)
        fastest = load(t.model, m + FASTEST, token)
        drive = drive_law(f[0], f0, told, stiff, rate, later, slope, rho, most, fastest, token)
    if planned(t, i, HAS_LIMIT) > 0:
        f0, by = share * load(t.state, c + STOP, token), per_h * moved
        stop = stop_law(f[1], f0, low, up, low + by, up - by, per_h, rho, token)
    if planned(t, i, HAS_DRY) > 0:
        f0, most = share * load(t.state, c + RUB, token), share * load(t.model, m + DRY, token)
        dry = dry_law(f[2], f0, rate, later, slope, rho, most, token)
    return (drive[0], stop[0], dry[0]), (drive[1], stop[1], dry[1]), (drive[2], stop[2], dry[2])


@inline
def three(t, at, token):
    """Three scalars of a work row."""
    return load(t.work, at, token), load(t.work, at + LANES, token), load(t.work, at + 2 * LANES, token)


@inline
def set_laws(t, i, p, share, weight, per_h, moved, token):
    """Add the three forces of freedom p to its load, and their slopes; returns the lanes in which one acts."""
    at = t.p + row(p, ELIMINATION, token)
    f = three(t, at + ACTS, token)
    _, gives, slopes = laws_of(t, i, p, share, per_h, moved, f, token)
    for_each = gives[0] + gives[1] + gives[2], slopes[0] + slopes[1] + slopes[2]
    store(t.work, at + GIVES, gives[0])
    store(t.work, at + GIVES + LANES, gives[1])
    store(t.work, at + GIVES + 2 * LANES, gives[2])
    store(t.work, at + SLOPES, slopes[0])
    store(t.work, at + SLOPES + LANES, slopes[1])
    store(t.work, at + SLOPES + 2 * LANES, slopes[2])
    store(t.work, at + LOAD, load(t.work, at + LOAD, token) - weight * for_each[0])
    store(t.work, at + COMPLIANCE, load(t.work, at + COMPLIANCE, token) + weight * for_each[1])
    one = spread(1.0, token)
    return where(slopes[1], one, one if planned(t, i, HAS_DRIVE) + planned(t, i, HAS_DRY) > 0 else 0.0 * one)


@phase
def follow_laws(t, share, per_h, token):
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
                to, _, _ = laws_of(t, i, p, share, per_h, moved, f, token)
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

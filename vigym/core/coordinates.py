"""Coordinates of joints, read from poses without trigonometry and counted through full turns.

A translation is kept as its value; an angle as (cosine, sine): of half the angle for a single rotation, whose turns are
then counted in pairs, of the angle itself for the universal joint; three free rotations as the relative quaternion (the
cosine of the first freedom holds w, the sines x, y, z).
"""

import math

from .algebra import cross, dot, load3, load4, tmul
from .jit import inline, phase
from .joint import joint_row, kept_quaternion, planned, relative_orientation, separation, translation_axis
from .lanes import above, arctan2, both, of_precision, row
from .quaternion import rotation, vector
from .simd import load, spread, store, where
from .tables import (
    AXIS_A,
    AXIS_B,
    BODY,
    COORDINATE,
    COSINE,
    FIRST,
    JOINTS,
    OFFSET,
    ROTATIONS,
    SEES,
    SINE,
    TRANSLATIONS,
    TURNS,
)  # fmt: skip

GRID = 1.5 * 2.0**-23  # of a sum: rounds what it lost so that double precision holds both
NO_TURN = 1e-150, 1e-18  # size of a quaternion's vector below which its square may vanish


@inline
def displacement(t, i, j, k, token):
    """Coordinate of free translation j [m]."""
    return dot(translation_axis(t, i, j, k, token), separation(t, i, k, token))


@inline
def angle(t, i, j, e, token):
    """(cosine, sine) of rotation j in the relative orientation e."""
    m, v = t.m + row(i, BODY, token), vector(e)
    b = load3(t.model, m + AXIS_B, token)
    if planned(t, i, ROTATIONS) == 1:
        return e[0], dot(b, v)
    # universal: e = exp(angle1 a) exp(angle2 b) with a, b perpendicular
    a = tmul(rotation(load4(t.model, m + OFFSET, token)), load3(t.model, m + AXIS_A, token))
    p, q, r = dot(a, v), dot(b, v), dot(cross(a, b), v)
    if j == 0:
        return e[0] * e[0] + q * q - (p * p + r * r), 2.0 * (e[0] * p + q * r)
    return e[0] * e[0] + p * p - (q * q + r * r), 2.0 * (e[0] * q + p * r)


@inline
def keep(t, at, value, mask, token):
    """Write to the state in the lanes of the mask."""
    store(t.state, at, where(mask, value, load(t.state, at, token)))


@inline
def gather(t, field, rest, amount, mask, token):
    """Add to a sum of the environment row, in the lanes of the mask.

    Single precision keeps what rounding takes of it in the field ``rest``: thousands of steps add up.
    """
    old, compensated = load(t.state, t.s + field, token), of_precision((False, True), token)
    if compensated:
        amount = amount + load(t.state, t.s + rest, token)
    total = old + amount
    keep(t, t.s + field, total, mask, token)
    if compensated:
        gained = total - old
        lost, grid = (old - (total - gained)) + (amount - gained), GRID * total
        keep(t, t.s + rest, (lost + grid) - grid, mask, token)


@inline
def note_angle(t, c, cosine, sine, mask, token):
    """Keep an angle, counting the turn when it crosses the cut of the arctangent."""
    old_c, old_s = load(t.state, c + COSINE, token), load(t.state, c + SINE, token)
    forward, o, one = old_c * sine - old_s * cosine, spread(0.0, token), spread(1.0, token)
    up = both(above(forward, o), both(above(o, sine), where(old_s, one, where(-old_s, o, one))))
    down = both(above(o, forward), both(where(sine, one, where(-sine, o, one)), above(o, old_s)))
    keep(t, c + TURNS, load(t.state, c + TURNS, token) + (up - down), mask, token)
    keep(t, c + COSINE, cosine, mask, token)
    keep(t, c + SINE, sine, mask, token)


@inline
def note_joint(t, i, k, mask, token):
    """Keep the coordinates of joint i at knot buffer k."""
    p, n, free = planned(t, i, FIRST), planned(t, i, TRANSLATIONS), planned(t, i, ROTATIONS)
    for j in range(n):
        keep(t, t.c + row(p + j, COORDINATE, token) + SINE, displacement(t, i, j, k, token), mask, token)
    if free > 0:
        e = relative_orientation(t, i, k, token)
        if free == 3:
            keep(t, t.c + row(p + n, COORDINATE, token) + COSINE, e[0], mask, token)
            keep(t, t.c + row(p + n, COORDINATE, token) + SINE, e[1], mask, token)
            keep(t, t.c + row(p + n + 1, COORDINATE, token) + SINE, e[2], mask, token)
            keep(t, t.c + row(p + n + 2, COORDINATE, token) + SINE, e[3], mask, token)
        else:
            for j in range(free):
                cosine, sine = angle(t, i, j, e, token)
                note_angle(t, t.c + row(p + n + j, COORDINATE, token), cosine, sine, mask, token)


@phase
def note_all(t, k, mask, token):
    """Keep the coordinates of every joint."""
    for joint in range(1, t.plan[JOINTS]):
        note_joint(t, joint_row(t, joint), k, mask, token)


@phase
def note_forced(t, k, mask, token):
    """Keep the coordinates that the next step's springs, dampers and armatures need."""
    for joint in range(1, t.plan[JOINTS]):
        i = joint_row(t, joint)
        if planned(t, i, SEES) > 0:
            note_joint(t, i, k, mask, token)


@inline
def rotation_vector(sine, kept, token):
    """Component of the rotation vector [rad] that belongs to component ``sine`` of the quaternion ``kept``."""
    w, x, y, z = kept
    size = math.sqrt(x * x + y * y + z * z)
    s = where(w, spread(2.0, token), spread(-2.0, token))  # q and -q: the shorter way round
    tiny, one = spread(of_precision(NO_TURN, token), token), spread(1.0, token)
    return s * sine * where(size - tiny, arctan2(size, s * 0.5 * w) / where(size - tiny, size, tiny), one)


@inline
def coordinate(t, i, j, token):
    """Kept coordinate of freedom j of joint i.

    A displacement [m], an angle with its full turns [rad], or a component of the rotation vector [rad].
    """
    n, free, first = planned(t, i, TRANSLATIONS), planned(t, i, ROTATIONS), planned(t, i, FIRST)
    c = t.c + row(first + j, COORDINATE, token)
    sine = load(t.state, c + SINE, token)
    if j < n:
        return sine
    if free == 3:
        return rotation_vector(sine, kept_quaternion(t, first + n, token), token)
    half = arctan2(sine, load(t.state, c + COSINE, token)) + 2.0 * math.pi * load(t.state, c + TURNS, token)
    return half * (3.0 - free)

"""Rates of the joints' freedoms over a step, and where it leads their coordinates."""

import math

from .coordinates import angle, displacement
from .jit import inline
from .joint import kept_quaternion, planned, relative_orientation
from .lanes import arctan2, row
from .quaternion import conjugate, product
from .simd import load
from .tables import COORDINATE, COSINE, FIRST, ROTATIONS, SINE, TRANSLATIONS


@inline
def angle_change(t, i, j, p, e, token):
    """(sine, cosine) of half the change of an angle since the kept knot."""
    c = t.c + row(p, COORDINATE, token)
    old_c, old_s = load(t.state, c + COSINE, token), load(t.state, c + SINE, token)
    cosine, sine = angle(t, i, j, e, token)
    s, c = sine * old_c - cosine * old_s, cosine * old_c + sine * old_s
    if planned(t, i, ROTATIONS) == 1:
        return s, c
    c = math.sqrt(0.5 * (1.0 + c))
    return 0.5 * s / c, c


@inline
def rate_of(t, i, j, k3, h, token):
    """(rate, its slope, momentum rate, its slope) of freedom j over the step from the kept knot to buffer k3."""
    n, p = planned(t, i, TRANSLATIONS), planned(t, i, FIRST) + j
    per_h = 1.0 / h
    if j < n:
        rate = per_h * (displacement(t, i, j, k3, token) - load(t.state, t.c + row(p, COORDINATE, token) + SINE, token))
        return rate, per_h, rate, per_h
    e = relative_orientation(t, i, k3, token)
    if planned(t, i, ROTATIONS) == 3:
        change = product(conjugate(kept_quaternion(t, p - (j - n), token)), e)
        x, y, z = 2.0 * per_h * change[1], 2.0 * per_h * change[2], 2.0 * per_h * change[3]
        rate = x if j == n else (y if j == n + 1 else z)
        return rate, per_h, rate, per_h
    s, c = angle_change(t, i, j - n, p, e, token)
    return 2.0 * per_h * s, per_h * c, 2.0 * per_h * s * c, per_h * (c * c - s * s)


@inline
def change_of(t, i, j, rate, slope, h):
    """Change of a coordinate over the step [m, rad].

    An angle's rate is (2/h) sin(change/2), its slope cos(change/2)/h.
    """
    if j < planned(t, i, TRANSLATIONS):
        return h * rate
    return 2.0 * arctan2(0.5 * h * rate, h * slope)


@inline
def has_angle(t, i, j):
    """Whether freedom j of joint i has a coordinate of its own: three free rotations share a quaternion."""
    return j < planned(t, i, TRANSLATIONS) or planned(t, i, ROTATIONS) < 3

"""A segment and a box, in the box's axes: the nearest point, the part over a face, the depth of a point inside.

With p(s) = p + s d, the segment, and e(s) what p(s) is outside of the box, the nearest point is the root of the rising,
piecewise linear e(s) . d, or an end.
"""

from .algebra import add, axpy, dot, sub
from .jit import inline
from .simd import absolute, spread, where

SEARCH = 10  # halvings or secants for the nearest point of a segment; it has at most seven pieces
LEVEL = 1e-5  # curvature that keeps the nearest point of a nearly level segment from running to its ends
FLAT = 1e-9  # of its size: a segment no steeper than that does not leave a slab


@inline
def beyond(x, half):
    """What a coordinate is outside of [-half, half]."""
    return where(x - half, x - half, where(-half - x, x + half, 0.0 * x))


@inline
def outside(p, half):
    """What a point is outside of a box, in its axes."""
    return beyond(p[0], half[0]), beyond(p[1], half[1]), beyond(p[2], half[2])


@inline
def steepness(e, d):
    """Derivative of e . d along the segment."""
    o = 0.0 * d[0]
    x, y = where(absolute(e[0]), d[0] * d[0], o), where(absolute(e[1]), d[1] * d[1], o)
    return x + y + where(absolute(e[2]), d[2] * d[2], o)


@inline
def nearest_of_segment(p, d, half, token):
    """Where from -1 to 1 the point p + s d comes nearest to the box; the middle of what is as near."""
    one, bent = spread(1.0, token), LEVEL * dot(d, d)
    low, high, s = -one, one, 0.0 * one
    starts, ends = dot(outside(sub(p, d), half), d) - bent, dot(outside(add(p, d), half), d) + bent
    for _ in range(SEARCH):
        e = outside(axpy(s, d, p), half)
        slope, steep = dot(e, d) + bent * s, steepness(e, d) + bent
        low, high = where(-slope, s, low), where(slope, s, high)
        guess = s - slope / where(steep, steep, one)
        middle = 0.5 * (low + high)
        s = where(absolute(slope), where(guess - low, where(high - guess, guess, middle), middle), s)
    return where(starts, -one, where(-ends, one, s))


@inline
def clipped_by(low, high, p, d, half):
    """The part of [low, high] in which a coordinate p + s d is inside [-half, half]; where half is zero, all of it."""
    steep = absolute(d) - FLAT * half
    middle, reach = -p / where(steep, d, 1.0 + 0.0 * d), half / where(steep, absolute(d), 1.0 + 0.0 * d)
    first, last = middle - reach, middle + reach
    clips = where(half, where(steep, 1.0 + 0.0 * d, 0.0 * d), 0.0 * d)
    low, high = where(clips, where(first - low, first, low), low), where(clips, where(high - last, last, high), high)
    return low, high


@inline
def over_box(s, p, d, half, token):
    """The part of the segment that is over the face (or along the segment) that its point s is nearest to."""
    one, e = spread(1.0, token), outside(axpy(s, d, p), half)
    x, y, z = absolute(e[0]), absolute(e[1]), absolute(e[2])
    first, last = -one, one
    most = where(x - y, where(x - z, x, z), where(y - z, y, z))
    for k in range(3):
        f, l = clipped_by(first, last, p[k], d[k], half[k])
        other = where(most - absolute(e[k]), one, 0.0 * one)
        first, last = where(other, f, first), where(other, l, last)
    empty = where(first - last, one, 0.0 * one)
    return where(empty, s, first), where(empty, s, last)


@inline
def least_depth(p, half, token):
    """(depth of a point inside a box under the nearest face, that face's normal) in its axes."""
    one, o = spread(1.0, token), spread(0.0, token)
    x, y, z = half[0] - absolute(p[0]), half[1] - absolute(p[1]), half[2] - absolute(p[2])
    depth, n = x, (where(-p[0], -one, one), o, o)
    second, third = y - depth, z - where(depth - y, y, depth)
    depth = where(-second, y, depth)
    n = where(-second, o, n[0]), where(-second, where(-p[1], -one, one), o), o
    depth = where(-third, z, depth)
    return depth, (
        where(-third, o, n[0]),
        where(-third, o, n[1]),
        where(-third, where(-p[2], -one, one), o),
    )

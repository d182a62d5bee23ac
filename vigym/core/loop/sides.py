"""Sides of a curve or surface joint: points, curves and surfaces with their derivatives.

A side is fixed in its body. Its place on it has parameters: none of a point, one of a curve, two of
a surface; of an ellipsoid the unit vector n that its semi-axes scale, moved along two tangents of
the unit sphere, so that there are no poles. A side is evaluated to

    (S, S_u, S_v, S_uu, S_uv, S_vv)    [world, derivatives by the parameters]

with zeros for parameters that it does not have.
"""

from vigym.core.compiler.kernel import inline
from vigym.core.compiler.lanes import cosine_sine, lane, rounded, with_lane
from vigym.core.compiler.simd import minimum, sqrt, where
from vigym.core.math.vectors import add, axpy, cross, dot, mat_vec, scale, select3, zero3
from vigym.core.tables.plan import (
    CURVE_SIDE,
    ELLIPSOID_SIDE,
    HELIX_SIDE,
    PATCH_SIDE,
    PLANE_SIDE,
)


@inline
def helix(d, side, place):
    """Evaluate (R cos t, R sin t, p t): a circle, a helix, or a line along z."""
    o = d.full(0.0)
    radius, rise, _ = side.sizes
    c, s = cosine_sine(place[0])
    point = radius * c, radius * s, rise * place[0]
    return point, (-radius * s, radius * c, rise), (-radius * c, -radius * s, o)


@inline
def whole_turns(d, closed, pieces, u):
    """Count the whole turns in a parameter that goes round; zero of an open one."""
    if closed > 0:
        return rounded(u / (1.0 * pieces) - 0.5)
    return d.full(0.0)


@inline
def piece_of_parameter(d, closed, pieces, u):
    """Find the piece that holds a parameter, which counts pieces, and the parameter in it.

    The ends of an open curve or patch go on.
    """
    u = u - whole_turns(d, closed, pieces, u) * (1.0 * pieces)
    piece, last = rounded(u - 0.5), pieces - 1.0
    piece = where(piece > 0.0, piece, 0.0)  # of a NaN, too
    piece = minimum(piece, last)
    return piece, u - piece


@inline
def coefficient_at(d, number):
    """Read a coefficient whose number differs by lane."""
    found = d.point(int(lane(number, 0))).coefficient
    for k in range(1, d.lane_count):
        other = d.point(int(lane(number, k))).coefficient
        found = (
            with_lane(found[0], k, lane(other[0], k)),
            with_lane(found[1], k, lane(other[1], k)),
            with_lane(found[2], k, lane(other[2], k)),
        )
    return found


@inline
def polynomial(d, side, piece, local):
    """Evaluate a piece of a curve at a parameter of its own: point and two derivatives."""
    size = side.degree + 1
    first_point = piece * (1.0 * size) + 1.0 * side.first_point
    point = zero3(d)
    first, second = point, point
    for j in range(side.degree, -1, -1):
        coefficient = coefficient_at(d, first_point + 1.0 * j)
        second = axpy(local, second, scale(2.0, first))
        first = axpy(local, first, point)
        point = axpy(local, point, coefficient)
    return point, first, second


@inline
def curve(d, side, place):
    """Evaluate a curve of polynomial pieces, each over [0, 1]; the parameter counts them."""
    piece, local = piece_of_parameter(d, side.closed, side.pieces, place[0])
    return polynomial(d, side, piece, local)


@inline
def patch(d, side, place):
    """Evaluate a patch of polynomial pieces over [0, 1] x [0, 1]; beyond its edges it goes on."""
    m, n = 1.0 * side.pieces, 1.0 * side.second_pieces
    piece, u = piece_of_parameter(d, side.closed, side.pieces, m * place[0])
    other, v = piece_of_parameter(d, side.second_closed, side.second_pieces, n * place[1])
    o = zero3(d)
    size = side.second_degree + 1
    first_point = (piece * n + other) * (1.0 * size * (side.degree + 1)) + 1.0 * side.first_point
    S = o
    S_u, S_v = o, o
    S_uu, S_vv = o, o
    S_uv = o
    for i in range(side.degree, -1, -1):
        p = o
        p_v, p_vv = o, o
        for j in range(side.second_degree, -1, -1):
            coefficient = coefficient_at(d, first_point + 1.0 * (i * size + j))
            p_vv = axpy(v, p_vv, scale(2.0, p_v))
            p_v = axpy(v, p_v, p)
            p = axpy(v, p, coefficient)
        S_uu = axpy(u, S_uu, scale(2.0, S_u))
        S_u = axpy(u, S_u, S)
        S = axpy(u, S, p)
        S_uv = axpy(u, S_uv, S_v)
        S_v = axpy(u, S_v, p_v)
        S_vv = axpy(u, S_vv, p_vv)
    return (
        S,
        scale(m, S_u),
        scale(n, S_v),
        scale(m * m, S_uu),
        scale(m * n, S_uv),
        scale(n * n, S_vv),
    )


@inline
def tangents(d, n):
    """Find two unit tangents of the unit sphere at n, perpendicular to each other."""
    o, one = d.full(0.0), d.full(1.0)
    flat = n[2] * n[2] < 0.5
    helper = select3(flat, (o, o, one), (one, o, o))
    t = cross(helper, n)
    t = scale(1.0 / sqrt(dot(t, t)), t)
    return t, cross(n, t)


@inline
def ellipsoid(d, side, place):
    """Evaluate an ellipsoid at a unit vector, in normal coordinates along two tangents."""
    a, b, c = side.sizes
    t1, t2 = tangents(d, place)
    S = a * place[0], b * place[1], c * place[2]
    S_u = a * t1[0], b * t1[1], c * t1[2]
    S_v = a * t2[0], b * t2[1], c * t2[2]
    bend = scale(-1.0, S)
    return S, S_u, S_v, bend, zero3(d), bend


@inline
def own_derivatives(d, side, place):
    """Evaluate a side in its own axes."""
    zero, one = d.full(0.0), d.full(1.0)
    o = zero3(d)
    kind = side.kind
    S = o
    S_u, S_v = o, o
    S_uu, S_vv = o, o
    S_uv = o
    if kind == HELIX_SIDE:
        S, S_u, S_uu = helix(d, side, place)
    elif kind == CURVE_SIDE:
        S, S_u, S_uu = curve(d, side, place)
    elif kind == PLANE_SIDE:
        S = place[0], place[1], zero
        S_u = one, zero, zero
        S_v = zero, one, zero
    elif kind == ELLIPSOID_SIDE:
        S, S_u, S_v, S_uu, S_uv, S_vv = ellipsoid(d, side, place)
    elif kind == PATCH_SIDE:
        S, S_u, S_v, S_uu, S_uv, S_vv = patch(d, side, place)
    return S, S_u, S_v, S_uu, S_uv, S_vv


@inline
def in_world(rotation, frame, vector):
    """Turn a vector of a side's own axes to the world's."""
    return mat_vec(rotation, mat_vec(frame, vector))


@inline
def evaluate_side(d, side, place, knot):
    """Evaluate a side at a knot, in the world."""
    pose, frame = d.pose(knot, side.body), side.frame
    rotation = pose.rotation
    S, S_u, S_v, S_uu, S_uv, S_vv = own_derivatives(d, side, place)
    origin = add(pose.position, mat_vec(rotation, side.origin))
    return (
        add(origin, in_world(rotation, frame, S)),
        in_world(rotation, frame, S_u),
        in_world(rotation, frame, S_v),
        in_world(rotation, frame, S_uu),
        in_world(rotation, frame, S_uv),
        in_world(rotation, frame, S_vv),
    )


@inline
def moved_place(d, side, place, du, dv):
    """Move a place by changes of its two parameters."""
    if side.kind == ELLIPSOID_SIDE:
        t1, t2 = tangents(d, place)
        n = axpy(dv, t2, axpy(du, t1, place))
        return scale(1.0 / sqrt(dot(n, n)), n)
    return place[0] + du, place[1] + dv, place[2]

"""Slides: coordinates along curves and patches that springs, dampers, motors or limits act on.

The coordinate s of a slide is the arc length of a curve, or a parameter of a patch in units of
length. It is a degree of freedom of its own, with a loop row that yields: s changes by f . shift +
m . rotation as body b moves, the place following, and its force acts with the wrench (f, m) on b
and the opposite one on a. Its force laws are those of joints.
"""

from vigym.core.compiler.kernel import inline, phase
from vigym.core.compiler.simd import sqrt
from vigym.core.loop.places import follow_places, place_derivatives, place_equations
from vigym.core.loop.sides import (
    coefficient_at,
    evaluate_side,
    piece_of_parameter,
    polynomial,
    whole_turns,
)
from vigym.core.math.vectors import dot, sub
from vigym.core.tables.plan import CURVE_SIDE, HELIX_SIDE

# nodes and weights of Gauss and Legendre over [0, 1], ten points
NODES = (
    0.013046735741414128,
    0.06746831665550773,
    0.16029521585048778,
    0.2833023029353764,
    0.4255628305091844,
    0.5744371694908156,
    0.7166976970646236,
    0.8397047841495122,
    0.9325316833444923,
    0.9869532642585859,
)
WEIGHTS = (
    0.03333567215434403,
    0.0747256745752903,
    0.10954318125799103,
    0.13463335965499817,
    0.14776211235737644,
    0.14776211235737644,
    0.13463335965499817,
    0.10954318125799103,
    0.0747256745752903,
    0.03333567215434403,
)


@inline
def curve_length_to(d, side, u):
    """Compute the arc length of a curve of polynomials up to a parameter [m]."""
    turns = whole_turns(d, side.closed, side.pieces, u)
    piece, local = piece_of_parameter(d, side.closed, side.pieces, u)
    first = side.first_point + side.pieces * (side.degree + 1)  # lengths up to the pieces
    start = coefficient_at(d, piece + 1.0 * first)[0]
    length = d.full(0.0)
    for k in range(len(NODES)):
        _, velocity, _ = polynomial(d, side, piece, NODES[k] * local)
        length = length + WEIGHTS[k] * sqrt(dot(velocity, velocity))
    total = d.point(first + side.pieces).coefficient[0]
    return turns * total + start + local * length


@inline
def slide_coordinate(d, slide, side, place, S):
    """Compute the coordinate of a slide, and its derivative by the parameter."""
    if side.kind == HELIX_SIDE:
        speed = sqrt(dot(S[1], S[1]))
        return speed * place[0], speed
    if side.kind == CURVE_SIDE:
        return curve_length_to(d, side, place[0]), sqrt(dot(S[1], S[1]))
    scaled = slide.per_parameter
    second = slide.parameter == 1 or slide.parameter == 3
    return scaled * (place[1] if second else place[0]), scaled


@inline
def selected_value(d, n, k, value):
    """Return the value if n is k, else zero."""
    return value if n == k else d.full(0.0)


@phase(needs="tracks")
def write_slides(d, knot):
    """Write coordinates and directions of all slides at a knot; the places there are found."""
    for k in range(d.slide_count):
        slide = d.slide(k)
        t, n = slide.track, slide.parameter
        if d.track(t).function != 0:
            continue  # written with its joint
        a, b = d.side(2 * t), d.side(2 * t + 1)
        A, B = evaluate_side(d, a, a.next_place, knot), evaluate_side(d, b, b.next_place, knot)
        pose = d.track_pose(knot, slide.loop)
        if n < 2:
            coordinate, slope = slide_coordinate(d, slide, a, a.next_place, A)
        else:
            coordinate, slope = slide_coordinate(d, slide, b, b.next_place, B)
        J, _ = place_equations(d, a, b, A, B)
        arm = sub(B[0], d.track_pose(knot, d.track(t).loop).track_anchor)
        by_places = (
            selected_value(d, n, 0, slope),
            selected_value(d, n, 1, slope),
            selected_value(d, n, 2, slope),
            selected_value(d, n, 3, slope),
        )
        f, m = follow_places(J, by_places, place_derivatives(d, a, arm, A, B))
        pose.row_0 = (f[0], f[1], f[2], m[0], m[1], m[2])
        pose.gaps = (coordinate, 0.0, 0.0, 0.0)

"""Readings of curve and surface joints: places, their rates, distance from singular ones."""

from vigym.core.compiler.kernel import inline, phase
from vigym.core.compiler.lanes import write_column, write_vector
from vigym.core.compiler.simd import absolute, sqrt
from vigym.core.loop.constraints import loop_newton_increment
from vigym.core.loop.custom import custom_rates
from vigym.core.loop.places import place_derivatives, place_equations, solve4
from vigym.core.loop.sides import evaluate_side, tangents
from vigym.core.math.vectors import add, dot, scale, sub
from vigym.core.tables.plan import ELLIPSOID_SIDE

# columns of a joint: places of both sides, their rates, regularity of the place
TRACK_PLACES, TRACK_RATES = 0, 6
TRACK_REGULARITY = 12
READ_TRACK = 13


@inline
def place_rate(d, side, place, du, dv):
    """Compute the rate of a place from those of two parameters."""
    if side.kind == ELLIPSOID_SIDE:
        t1, t2 = tangents(d, place)
        return add(scale(du, t1), scale(dv, t2))
    return du, dv, d.full(0.0)


@inline
def length4(a):
    """Compute the length of a vector (4,)."""
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3])


@inline
def regularity(J, determinant):
    """Compute the determinant over the lengths of the rows: 0 at a singular place, at most 1."""
    sizes = length4(J[0]) * length4(J[1]) * length4(J[2]) * length4(J[3])
    return absolute(determinant) / sizes


@phase(needs="tracks")
def read_tracks(d, knot, out, first, column):
    """Read the places of all curve and surface joints at the present knot, and their rates.

    The rates follow from the velocities of the bodies, in ``delta_position`` and
    ``delta_rotation``.
    """
    for t in range(d.track_count):
        a, b = d.side(2 * t), d.side(2 * t + 1)
        loop = d.track(t).loop
        p, q = a.next_place, b.next_place
        shift, rotation = loop_newton_increment(d, loop, knot)
        at = column + READ_TRACK * t
        write_vector(out, first, at + TRACK_PLACES, p)
        write_vector(out, first, at + TRACK_PLACES + 3, q)
        if d.track(t).function != 0:
            of_a, of_b = custom_rates(d, t, knot, (shift, rotation))
            write_vector(out, first, at + TRACK_RATES, of_a)
            write_vector(out, first, at + TRACK_RATES + 3, of_b)
            regular = d.track_pose(knot, loop).determinant
            write_column(out, first, at + TRACK_REGULARITY, regular)
            continue
        A, B = evaluate_side(d, a, p, knot), evaluate_side(d, b, q, knot)
        J, _ = place_equations(d, a, b, A, B)
        arm = sub(B[0], d.track_pose(knot, loop).track_anchor)
        g = place_derivatives(d, a, arm, A, B)
        rates = (
            dot(g[0][0], shift) + dot(g[0][1], rotation),
            dot(g[1][0], shift) + dot(g[1][1], rotation),
            dot(g[2][0], shift) + dot(g[2][1], rotation),
            dot(g[3][0], shift) + dot(g[3][1], rotation),
        )
        x, determinant = solve4(J, rates)
        write_vector(out, first, at + TRACK_RATES, place_rate(d, a, p, -x[0], -x[1]))
        write_vector(out, first, at + TRACK_RATES + 3, place_rate(d, b, q, -x[2], -x[3]))
        write_column(out, first, at + TRACK_REGULARITY, regularity(J, determinant))

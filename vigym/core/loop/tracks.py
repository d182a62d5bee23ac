"""Curve and surface joints: where two sides touch, and the rows that keep them there.

Two sides touch where, with r = S_b - S_a,

    r . S_a,i = 0  and  N . S_b,j = 0,    N = S_a,u x S_a,v of a surface a, else N = r,

for every parameter i of a and j of b: four equations at most, solved by Newton's method from the
place before. One row then keeps the distance r . w at the offset, w the unit vector along N; its
derivative is w, as the place follows without changing the distance to first order. A point b on a
curve a has two rows, r along two directions across the tangent, and with an axis that follows the
curve two more: the axis along the same directions. Joints of sides hold bodies wherever they are in
the tree: rows as those of loops.
"""

import math

from vigym.core.compiler.kernel import inline, phase, zero
from vigym.core.compiler.lanes import above, any_lane, both
from vigym.core.compiler.simd import absolute, maximum, where
from vigym.core.loop.sides import evaluate_side, moved_place, tangents
from vigym.core.math.vectors import (
    add,
    cross,
    dot,
    mat_vec,
    max_abs3,
    scale,
    select3,
    sub,
    zero3,
)

ITERATIONS = 30
STILL = 1e-7  # of the largest change: the next is its square
TINY = 1e-200


@inline
def solve4(J, f):
    """Solve J x = f of four equations by minors; J is a tuple of four rows of four."""
    a, b, c, e = J
    s0, s1, s2 = a[0] * b[1] - b[0] * a[1], a[0] * b[2] - b[0] * a[2], a[0] * b[3] - b[0] * a[3]
    s3, s4, s5 = a[1] * b[2] - b[1] * a[2], a[1] * b[3] - b[1] * a[3], a[2] * b[3] - b[2] * a[3]
    c5, c4, c3 = c[2] * e[3] - e[2] * c[3], c[1] * e[3] - e[1] * c[3], c[1] * e[2] - e[1] * c[2]
    c2, c1, c0 = c[0] * e[3] - e[0] * c[3], c[0] * e[2] - e[0] * c[2], c[0] * e[1] - e[0] * c[1]
    det = s0 * c5 - s1 * c4 + s2 * c3 + s3 * c2 - s4 * c1 + s5 * c0
    det = where(absolute(det) - TINY, det, 0.0 * det + TINY)
    x0 = (
        (b[1] * c5 - b[2] * c4 + b[3] * c3) * f[0]
        + (-a[1] * c5 + a[2] * c4 - a[3] * c3) * f[1]
        + (e[1] * s5 - e[2] * s4 + e[3] * s3) * f[2]
        + (-c[1] * s5 + c[2] * s4 - c[3] * s3) * f[3]
    )
    x1 = (
        (-b[0] * c5 + b[2] * c2 - b[3] * c1) * f[0]
        + (a[0] * c5 - a[2] * c2 + a[3] * c1) * f[1]
        + (-e[0] * s5 + e[2] * s2 - e[3] * s1) * f[2]
        + (c[0] * s5 - c[2] * s2 + c[3] * s1) * f[3]
    )
    x2 = (
        (b[0] * c4 - b[1] * c2 + b[3] * c0) * f[0]
        + (-a[0] * c4 + a[1] * c2 - a[3] * c0) * f[1]
        + (e[0] * s4 - e[1] * s2 + e[3] * s0) * f[2]
        + (-c[0] * s4 + c[1] * s2 - c[3] * s0) * f[3]
    )
    x3 = (
        (-b[0] * c3 + b[1] * c1 - b[2] * c0) * f[0]
        + (a[0] * c3 - a[1] * c1 + a[2] * c0) * f[1]
        + (-e[0] * s3 + e[1] * s1 - e[2] * s0) * f[2]
        + (c[0] * s3 - c[1] * s1 + c[2] * s0) * f[3]
    )
    return x0 / det, x1 / det, x2 / det, x3 / det


@inline
def normal_derivatives(A, r, is_surface):
    """Compute N and its derivatives by the two parameters of side a and (r alone) by S_b."""
    _, A_u, A_v, A_uu, A_uv, A_vv = A
    if is_surface:
        N = cross(A_u, A_v)
        N_u = add(cross(A_uu, A_v), cross(A_u, A_uv))
        return N, N_u, add(cross(A_uv, A_v), cross(A_u, A_vv)), 0.0
    return r, scale(-1.0, A_u), scale(-1.0, A_v), 1.0


@inline
def place_equations(d, a, b, A, B):
    """Compute the four equations of a place, and their derivatives."""
    _, A_u, A_v, A_uu, A_uv, A_vv = A
    _, B_u, B_v, B_uu, B_uv, B_vv = B
    r = sub(B[0], A[0])
    N, N_u, N_v, own = normal_derivatives(A, r, a.dimensions == 2)
    o = d.full(0.0)
    one = d.full(1.0)
    no_u, no_v = one if a.dimensions < 1 else o, one if a.dimensions < 2 else o
    no_s, no_t = one if b.dimensions < 1 else o, one if b.dimensions < 2 else o
    f = dot(r, A_u), dot(r, A_v), dot(N, B_u), dot(N, B_v)
    aa = dot(r, A_uv) - dot(A_u, A_v)
    bb = dot(N, B_uv) + own * dot(B_u, B_v)
    J = (
        (dot(r, A_uu) - dot(A_u, A_u) + no_u, aa, dot(B_u, A_u), dot(B_v, A_u)),
        (aa, dot(r, A_vv) - dot(A_v, A_v) + no_v, dot(B_u, A_v), dot(B_v, A_v)),
        (dot(N_u, B_u), dot(N_v, B_u), dot(N, B_uu) + own * dot(B_u, B_u) + no_s, bb),
        (dot(N_u, B_v), dot(N_v, B_v), bb, dot(N, B_vv) + own * dot(B_v, B_v) + no_t),
    )
    return J, f


@inline
def limited(change, longest):
    """Limit a change of a parameter."""
    size = absolute(change)
    return where(size - longest, change * longest / where(size, size, 1.0 + size), change)


@phase(needs="extras")
def find_places(d, t, knot):
    """Solve for the places where the sides of joint t touch at a knot, from ``next_place``."""
    a, b = d.side(2 * t), d.side(2 * t + 1)
    active = d.full(1.0)
    for _ in range(ITERATIONS):
        p, q = a.next_place, b.next_place
        J, f = place_equations(d, a, b, evaluate_side(d, a, p, knot), evaluate_side(d, b, q, knot))
        x = solve4(J, f)
        du, dv = limited(-x[0], a.longest_change), limited(-x[1], a.longest_change)
        ds, dt = limited(-x[2], b.longest_change), limited(-x[3], b.longest_change)
        a.next_place = select3(active, moved_place(d, a, p, du, dv), p)
        b.next_place = select3(active, moved_place(d, b, q, ds, dt), q)
        of_a, of_b = maximum(absolute(du), absolute(dv)), maximum(absolute(ds), absolute(dt))
        active = both(active, above(maximum(of_a, of_b), d.full(STILL)))
        if not any_lane(active):
            break


@inline
def six(f, m):
    """Join a force and a moment."""
    return f[0], f[1], f[2], m[0], m[1], m[2]


@inline
def set_surface_row(d, t, knot, A, B):
    """Write the row of a surface joint: the distance of both sides less their offset."""
    track, pose = d.track(t), d.track_pose(knot, d.track(t).loop)
    o = d.full(0.0)
    r = sub(B[0], A[0])
    w = r
    if d.side(2 * t).dimensions == 2:
        w = scale(track.sense, cross(A[1], A[2]))
    w = scale(1.0 / math.sqrt(dot(w, w)), w)
    pose.gaps = (dot(w, r) - track.offset, o, o, o)
    pose.row_0 = six(w, cross(sub(B[0], pose.track_anchor), w))


@inline
def set_curve_rows(d, t, knot, A, B):
    """Write the rows of a curve joint: across the tangent, and the axis that follows it."""
    track, b = d.track(t), d.side(2 * t + 1)
    pose = d.track_pose(knot, track.loop)
    o = d.full(0.0)
    arm, r = sub(B[0], pose.track_anchor), sub(B[0], A[0])
    speed = math.sqrt(dot(A[1], A[1]))
    tangent = scale(1.0 / speed, A[1])
    n1, n2 = tangents(d, tangent)
    axis = zero3(d)
    pose.row_0 = six(n1, cross(arm, n1))
    pose.row_1 = six(n2, cross(arm, n2))
    if track.row_count > 2:
        axis = mat_vec(d.pose(knot, b.body).rotation, track.track_axis)
        f1 = scale(-dot(axis, tangent) * dot(n1, A[3]) / (speed * speed), tangent)
        f2 = scale(-dot(axis, tangent) * dot(n2, A[3]) / (speed * speed), tangent)
        pose.row_2 = six(f1, add(cross(arm, f1), cross(axis, n1)))
        pose.row_3 = six(f2, add(cross(arm, f2), cross(axis, n2)))
    pose.gaps = (dot(r, n1), dot(r, n2), dot(axis, n1) + o, dot(axis, n2) + o)


@phase(needs="extras", otherwise=zero)
def place_tracks(d, knot):
    """Find all places at a knot, and write the rows there; returns the largest residual."""
    worst = d.full(0.0)
    for t in range(d.track_count):
        find_places(d, t, knot)
        a, b = d.side(2 * t), d.side(2 * t + 1)
        A, B = evaluate_side(d, a, a.next_place, knot), evaluate_side(d, b, b.next_place, knot)
        if d.track(t).row_count == 1:
            set_surface_row(d, t, knot, A, B)
        else:
            set_curve_rows(d, t, knot, A, B)
        gaps = d.track_pose(knot, d.track(t).loop).gaps
        worst = maximum(worst, maximum(absolute(gaps[0]), absolute(gaps[1])))
        worst = maximum(worst, maximum(absolute(gaps[2]), absolute(gaps[3])))
    return worst


@phase(needs="extras", otherwise=zero)
def find_jumps(d):
    """Find the lanes in which a place is far from where it was at the present knot.

    Newton then led to another place where the sides touch, as next to one that ends.
    """
    jumped = d.full(0.0)
    for s in range(2 * d.track_count):
        side = d.side(s)
        change = max_abs3(sub(side.next_place, side.place))
        jumped = maximum(jumped, above(change, side.longest_change))
    return jumped


@phase(needs="extras", otherwise=zero)
def start_tracks(d, knot):
    """Take the places at the present knot, and write the rows there; returns the worst residual."""
    for s in range(2 * d.track_count):
        side = d.side(s)
        side.next_place = side.place
    return place_tracks(d, knot)


@phase(needs="extras")
def store_places(d, mask):
    """Write the places at the knot that was reached, in the lanes of the mask."""
    for s in range(2 * d.track_count):
        side = d.side(s)
        side.place = select3(mask, side.next_place, side.place)


@phase(needs="extras")
def assemble_places(d):
    """Take the places at the assembly pose."""
    for s in range(2 * d.track_count):
        side = d.side(s)
        side.place = side.start_place
        side.next_place = side.start_place

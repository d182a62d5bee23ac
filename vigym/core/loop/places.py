"""Places where two sides of a curve or surface joint touch.

Two sides a and b touch where, with r = S_b - S_a,

    r . S_a,i = 0  and  N . S_b,j = 0,    N = S_a,u x S_a,v of a surface a, else N = r,

for every parameter i of a and j of b: four equations f at most, solved by Newton's method from the
place before. A place is singular where the derivative J of f by the parameters is: there the sides
fit so closely that the contact point is undetermined. The sign of the determinant of J differs on
both sides of singular places; a step that changes it fails.
"""

from vigym.core.compiler.kernel import inline, phase
from vigym.core.compiler.simd import absolute, maximum, where
from vigym.core.loop.sides import evaluate_side, moved_place
from vigym.core.math.vectors import add, cross, dot, scale, select3, sub, zero3

ITERATIONS = 30
STILL = 1e-7  # of the largest change: the next is its square
TINY = 1e-200


@inline
def minors(a, b):
    """Compute the determinants of all pairs of columns of two rows of four."""
    return (
        a[0] * b[1] - b[0] * a[1],
        a[0] * b[2] - b[0] * a[2],
        a[0] * b[3] - b[0] * a[3],
        a[1] * b[2] - b[1] * a[2],
        a[1] * b[3] - b[1] * a[3],
        a[2] * b[3] - b[2] * a[3],
    )


@inline
def solve4(J, f):
    """Solve J x = f of four equations by minors; returns x and the determinant of J."""
    a, b, c, e = J
    s0, s1, s2, s3, s4, s5 = minors(a, b)
    c0, c1, c2, c3, c4, c5 = minors(c, e)
    determinant = s0 * c5 - s1 * c4 + s2 * c3 + s3 * c2 - s4 * c1 + s5 * c0
    det = where(absolute(determinant) > TINY, determinant, TINY)
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
    return (x0 / det, x1 / det, x2 / det, x3 / det), determinant


@inline
def transpose4(J):
    """Compute the transpose of a matrix of four rows."""
    a, b, c, e = J
    return (
        (a[0], b[0], c[0], e[0]),
        (a[1], b[1], c[1], e[1]),
        (a[2], b[2], c[2], e[2]),
        (a[3], b[3], c[3], e[3]),
    )


@inline
def normal_derivatives(A, r, is_surface):
    """Compute N, its derivatives by the two parameters of side a, and (r alone) by S_b."""
    _, A_u, A_v, A_uu, A_uv, A_vv = A
    if is_surface:
        N = cross(A_u, A_v)
        N_u = add(cross(A_uu, A_v), cross(A_u, A_uv))
        return N, N_u, add(cross(A_uv, A_v), cross(A_u, A_vv)), 0.0
    return r, scale(-1.0, A_u), scale(-1.0, A_v), 1.0


@inline
def place_equations(d, a, b, A, B):
    """Compute the derivatives J of the four equations of a place, and their values."""
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
def place_derivatives(d, a, arm, A, B):
    """Compute how the four equations change as body b moves and the parameters stay.

    Args:
        d: data of the lane group.
        a: side a.
        arm: from the point that is shifted to the place on b [m, world].
        A: evaluated side a.
        B: evaluated side b.

    Returns:
        Four pairs (by the shift, by the rotation).
    """
    A_u, A_v = A[1], A[2]
    B_u, B_v = B[1], B[2]
    r = sub(B[0], A[0])
    first, second = (A_u, cross(arm, A_u)), (A_v, cross(arm, A_v))
    if a.dimensions == 2:
        N = cross(A_u, A_v)
        return first, second, (zero3(d), cross(B_u, N)), (zero3(d), cross(B_v, N))
    third = B_u, add(cross(arm, B_u), cross(B_u, r))
    return first, second, third, (B_v, add(cross(arm, B_v), cross(B_v, r)))


@inline
def follow_places(J, by_places, derivatives):
    """Compute how a quantity changes through the places, as body b moves.

    Args:
        J: derivatives of the equations of the place.
        by_places: derivatives of the quantity by the four parameters.
        derivatives: of the equations by the motion, of ``place_derivatives``.

    Returns:
        (by the shift, by the rotation).
    """
    factors, _ = solve4(transpose4(J), by_places)
    force, moment = scale(-factors[0], derivatives[0][0]), scale(-factors[0], derivatives[0][1])
    for k in range(1, 4):
        force = sub(force, scale(factors[k], derivatives[k][0]))
        moment = sub(moment, scale(factors[k], derivatives[k][1]))
    return force, moment


@inline
def limited(change, longest):
    """Limit a change of a parameter."""
    size = absolute(change)
    return where(size > longest, change * longest / where(size > 0.0, size, 1.0 + size), change)


@phase(needs="tracks")
def find_places(d, t, knot, lanes):
    """Solve for the places where the sides of joint t touch at a knot, from ``next_place``.

    Writes the determinants at the places; zero where they are not found. Other lanes keep their
    places: one more iteration would move them by their rounding.
    """
    a, b = d.side(2 * t), d.side(2 * t + 1)
    pose = d.track_pose(knot, d.track(t).loop)
    active, determinant = lanes, pose.determinant
    for _ in range(ITERATIONS):
        p, q = a.next_place, b.next_place
        J, f = place_equations(d, a, b, evaluate_side(d, a, p, knot), evaluate_side(d, b, q, knot))
        x, found = solve4(J, f)
        du, dv = limited(-x[0], a.longest_change), limited(-x[1], a.longest_change)
        ds, dt = limited(-x[2], b.longest_change), limited(-x[3], b.longest_change)
        a.next_place = select3(active, moved_place(d, a, p, du, dv), p)
        b.next_place = select3(active, moved_place(d, b, q, ds, dt), q)
        of_a, of_b = maximum(absolute(du), absolute(dv)), maximum(absolute(ds), absolute(dt))
        moving = maximum(of_a, of_b) > STILL
        determinant = where(active, where(moving, 0.0, found), determinant)
        active = active & moving
        if not active.any():
            break
    pose.determinant = determinant

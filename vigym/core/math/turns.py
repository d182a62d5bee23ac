"""Rotation over a step as a rate that agrees with the angle.

A step of size h turns a body by the quaternion (c, e), |e| the sine of half the angle. Its rate is

    omega = (2/h) 3 e / (2 + c) = 3 b w,    w = 2 e/h,    b = 1/(2 + c).

6 sin x / (2 + cos x) = 2x (1 - x^4/180) [Pade] is the angle 2x to 2e-3 at 1.5 rad. The kinetic
energy of the step, omega.J omega / 2, has at its first knot (+) and second (-) the momenta

    9 b^2 (c J w +- h/2 w x J w + b h^2/4 (w.J w) w)    [MC 26, 33 with another measure of rotation]

along the body's axes. About one axis that is 18 b^3 (1 + 2c) sin x J/h = 2x (1 - x^4/30) J/h, and
grows up to a turn of 2.8 rad.
"""

from vigym.core.compiler.kernel import inline
from vigym.core.math.vectors import (
    add,
    axpy,
    cross,
    dot,
    mat_add,
    mat_scale,
    mat_sub,
    mat_sub_outer,
    mat_vec,
    matmul_skew,
    scale,
    skew,
    skew_matmul,
)


@inline
def rotation_rate(w, c):
    """Compute omega from w = 2 e/h and c."""
    return scale(3.0 / (2.0 + c), w)


@inline
def step_momentum(Jw, w, c, half):
    """Compute the angular momentum of a step at a knot, ``half`` = h/2 at the first, -h/2 after."""
    b = 1.0 / (2.0 + c)
    along = b * half * half * dot(w, Jw)
    momentum = axpy(along, w, axpy(half, cross(w, Jw), scale(c, Jw)))
    return scale(9.0 * b * b, momentum)


@inline
def step_momentum_slope(J, c, e):
    """Compute the derivative of h times the momentum at the first knot by a rotation at the second.

    Both are along the body's axes at these knots. With S = c J + [e]J - [Je] + b (e.Je + 2 e Je^T):

        9 b^2 (S (c + [e]) + b ((c - 2) Je + 2 e x Je + 3 b (e.Je) e) e^T)
    """
    b = 1.0 / (2.0 + c)
    Je = mat_vec(J, e)
    d = b * dot(e, Je)
    S = mat_add(mat_scale(c, J), mat_sub(skew_matmul(e, J), skew(Je)))
    S = mat_sub_outer(S, scale(-2.0 * b, e), Je)
    S = S[0] + d, S[1], S[2], S[3], S[4] + d, S[5], S[6], S[7], S[8] + d
    K = mat_add(mat_scale(c, S), matmul_skew(S, e))
    row = add(scale(2.0, cross(e, Je)), axpy(3.0 * d, e, scale(c - 2.0, Je)))
    return mat_scale(9.0 * b * b, mat_sub_outer(K, scale(-b, row), e))


@inline
def angle_rate(s, c, per_h):
    """Compute rate and momentum rate of a single rotation, from sine s and cosine c of its half.

    Returns:
        omega and its slope by the angle, the momentum over the inertia and its slope.
    """
    b = 1.0 / (2.0 + c)
    grows = 1.0 + 2.0 * c
    bb = b * b * per_h
    cubed = 9.0 * b * bb
    bend = c + 2.0 * (c * c - s * s) + 3.0 * b * s * s * grows
    return 6.0 * per_h * b * s, 3.0 * bb * grows, 2.0 * cubed * s * grows, cubed * bend


@inline
def rotation_slope(direction, c, v):
    """Compute the derivative of direction . 6 b v by a rotation at knot 3 [world], v = e there."""
    b = 1.0 / (2.0 + c)
    slope = axpy(b * dot(v, direction), v, axpy(c, direction, cross(v, direction)))
    return scale(3.0 * b, slope)


@inline
def rolling_factor(c):
    """Compute the factor from v, the sine of half a step's turn, to the rolling distance.

    It is the distance of the body's momentum, over the radius. By the factor 18 b^3 (1 + 2c) a body
    accelerates as the law says, in steps of any size.
    """
    b = 1.0 / (2.0 + c)
    return 18.0 * b * b * b * (1.0 + 2.0 * c)


@inline
def rolling_factor_slope(c):
    """Compute the derivative of `rolling_factor` by c."""
    b = 1.0 / (2.0 + c)
    bb = b * b
    return 18.0 * bb * bb * (1.0 - 4.0 * c)


@inline
def rolling_slope(direction, c, v):
    """Compute the derivative of direction . rolling_factor(c) v by a rotation at knot 3 [world]."""
    b = 1.0 / (2.0 + c)
    slope = scale(1.0 + 2.0 * c, axpy(c, direction, cross(v, direction)))
    slope = axpy(b * (4.0 * c - 1.0) * dot(v, direction), v, slope)
    return scale(9.0 * b * b * b, slope)

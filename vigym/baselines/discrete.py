"""Discrete recursive Newton-Euler in joint coordinates on SE(3), compiled (LEE 4, appendix).

A step moves body i by dT_i, its mean twist is V = log(dT) / h and its momentum

    mu = dlog(h V)' J V                                                                  (LEE 21b)
    F  = mu - (momentum that it brings along) + sum over children of Ad(G_c^-1)' F_c      (LEE 21a)

S' F is the impulse that the step lacks, by which the root finders correct it (LEE 22).
"""

from typing import NamedTuple

import numpy as np

from vigym.baselines.recursion import momenta
from vigym.baselines.screws import (
    adjoint,
    adjoint_back,
    apply,
    dlog,
    dlog_series,
    dot,
    dual_bracket,
    log_pose,
    mul,
    tapply,
    tmul,
)
from vigym.core.compiler.kernel import entry


class Displacements(NamedTuple):
    """Displacements of all bodies in a step, in their axes at its first knot.

    Attributes:
        R, p: rotation and translation (n, 3, 3), (n, 3) [m].
        twist: its logarithm, h V (n, 6).
        momentum: mu (n, 6).
    """

    R: np.ndarray
    p: np.ndarray
    twist: np.ndarray
    momentum: np.ndarray


@entry
def displace(links, before, after, h):
    """Return the `Displacements` between the joints at two knots (LEE 10, 19, 21b)."""
    n = len(links.parent)
    R, p = np.zeros((n, 3, 3)), np.zeros((n, 3))
    twist, momentum = np.zeros((n, 6)), np.zeros((n, 6))
    for i in range(n):
        R[i], p[i] = after.R[i], after.p[i]
        k = links.parent[i]
        if k >= 0:
            R[i], p[i] = mul(R[k], after.R[i]), p[k] + apply(R[k], after.p[i])
        R[i], p[i] = tmul(before.R[i], R[i].copy()), tapply(before.R[i], p[i] - before.p[i])
        twist[i] = log_pose(R[i], p[i])
        momentum[i] = tapply(dlog(twist[i]), apply(links.inertia[i], twist[i])) / h
    return Displacements(R, p, twist, momentum)


@entry
def bring_along(moved):
    """Return the momenta (n, 6) of bodies in their axes at the end of a step: Ad(dT)' mu."""
    result = np.zeros_like(moved.momentum)
    for i in range(len(result)):
        result[i] = tapply(adjoint(moved.R[i], moved.p[i]), moved.momentum[i])
    return result


@entry
def drnea(links, before, moved, incoming):
    """Return the impulses (dofs,) that a step lacks (LEE 21 and 22, algorithm 2).

    Args:
        links: bodies.
        before: joints at the first knot.
        moved: displacements in the step.
        incoming: momenta that bodies bring along, and external impulses (n, 6).
    """
    return momenta(links, before, moved.momentum - incoming)


@entry
def dense_residual(links, before, moved, incoming):
    """Return the same by the Jacobian of each body, in O(n^2) as earlier integrators (LEE 2)."""
    f = np.zeros(len(before.S))
    for i in range(len(links.parent)):
        impulse = moved.momentum[i] - incoming[i]
        place = np.eye(6)  # Ad from body k to body i
        k = i
        while k >= 0:
            for j in range(links.start[k], links.start[k] + links.dofs[k]):
                f[j] += dot(apply(place, before.S[j]), impulse)
            place = mul(place, adjoint_back(before.R[k], before.p[k]))
            k = links.parent[k]
    return f


@entry
def momentum_slope(J, twist, R, p, h):
    """Return the derivative (6, 6) of mu by a displacement of the body at the second knot.

    With x = ad(h V)': mu = (1 - x/2 + A x^2 + B x^4) J V, and h V changes by dlog(h V) Ad(dT).
    """
    A, B, A_t, B_t = dlog_series(twist)
    m0 = apply(J, twist)
    m1 = dual_bracket(twist, m0)
    m2 = dual_bracket(twist, m1)
    m3 = dual_bracket(twist, m2)
    m4 = dual_bracket(twist, m3)
    slope = np.zeros((6, 6))
    for c in range(6):
        e = np.zeros(6)
        e[c] = 1.0
        first = dual_bracket(e, m0)
        second = dual_bracket(e, m1) + dual_bracket(twist, first)
        third = dual_bracket(e, m2) + dual_bracket(twist, second)
        fourth = dual_bracket(e, m3) + dual_bracket(twist, third)
        t = 2.0 * twist[c] if c < 3 else 0.0
        slope[:, c] = A * second + B * fourth - 0.5 * first + t * (A_t * m2 + B_t * m4)
    D = dlog(twist)
    return mul(tmul(D, J) + slope, mul(D, adjoint(R, p))) / h


@entry
def drnea_derivative(links, before, after, moved, h):
    """Return the derivative (dofs, dofs) of `drnea` by displacements at the second knot.

    The composite of a subtree, C = slope + sum of Ad(G_before^-1)' C_child Ad(G_after^-1), gives
    column and row of each degree of freedom on the way to the world, O(n^2) in all; the
    values are those of LEE's algorithm 4.
    """
    n, dofs = len(links.parent), len(before.S)
    C = np.zeros((n, 6, 6))
    result = np.zeros((dofs, dofs))
    for i in range(n - 1, -1, -1):
        C[i] += momentum_slope(links.inertia[i], moved.twist[i], moved.R[i], moved.p[i], h)
        if links.parent[i] >= 0:
            turned = mul(C[i], adjoint_back(after.R[i], after.p[i]))
            C[links.parent[i]] += tmul(adjoint_back(before.R[i], before.p[i]), turned)
        for d in range(links.start[i], links.start[i] + links.dofs[i]):
            column, row = apply(C[i], after.S[d]), tapply(C[i], before.S[d])
            k = i
            while k >= 0:
                for e in range(links.start[k], links.start[k] + links.dofs[k]):
                    result[e, d] = dot(before.S[e], column)
                    result[d, e] = dot(after.S[e], row)
                column = tapply(adjoint_back(before.R[k], before.p[k]), column)
                row = tapply(adjoint_back(after.R[k], after.p[k]), row)
                k = links.parent[k]
    return result

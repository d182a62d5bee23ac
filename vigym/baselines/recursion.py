"""Recursive dynamics of trees of bodies with general joints, compiled; every pass takes O(n) time.

SI: a joint is a transform G(q) from the child to its parent; its columns S = (G^-1 dG/dq) and their
derivative dS/dt are the only input of the recursions. Bodies are numbered parents first; twists and
wrenches of a body are in its own axes, about its centre of mass.

    v = Ad(G^-1) v_parent + S q'                                   (SI 8)
    f = J v' - ad(v)' J v + sum over children of Ad(G_c^-1)' f_c    (SI 14)
    M q'' = tau - (S' f at q'' = 0)                                 (SI 15 to 17)
"""

from typing import NamedTuple

import numpy as np

from vigym.baselines.screws import (
    adjoint,
    adjoint_back,
    apply,
    bracket,
    cross,
    dot,
    dual_bracket,
    inverse,
    mul,
    quaternion_matrix,
    tapply,
    tmul,
    turn,
)
from vigym.core.compiler.kernel import entry


class Links(NamedTuple):
    """Tree of bodies; those of lower numbers come first, the world is -1.

    Attributes:
        parent: number of the body that carries each (n,).
        start: first velocity of each body's joint (n,).
        dofs: number of velocities of it (n,).
        place: first position coordinate of it (n,).
        scalars: number of velocities that are the rate of one coordinate; the rest is a ball's.
        rotates: whether a degree of freedom is a rotation (dofs,).
        axis: of each in the joint frame (dofs, 3).
        R_a, p_a: joint frame in the parent (n, 3, 3), (n, 3) [m].
        R_b, p_b: joint frame in the child.
        inertia: about the centre of mass (n, 6, 6): moments of inertia, mass [kg m^2, kg].
    """

    parent: np.ndarray
    start: np.ndarray
    dofs: np.ndarray
    place: np.ndarray
    scalars: np.ndarray
    rotates: np.ndarray
    axis: np.ndarray
    R_a: np.ndarray
    p_a: np.ndarray
    R_b: np.ndarray
    p_b: np.ndarray
    inertia: np.ndarray


class Joints(NamedTuple):
    """Joints at given coordinates and rates.

    Attributes:
        R, p: pose of each body in its parent (n, 3, 3), (n, 3) [m].
        S: twist of the body at a unit rate of each degree of freedom (dofs, 6).
        dS: derivative of S by time (dofs, 6).
    """

    R: np.ndarray
    p: np.ndarray
    S: np.ndarray
    dS: np.ndarray


class Factors(NamedTuple):
    """Factors of the mass matrix, M^-1 = (1 - S'YP)' Omega^-1 (1 - S'YP) (SI 58).

    Attributes:
        back: Ad of the inverse pose of each body in its parent (n, 6, 6).
        gain: articulated inertia times S Omega^-1 (dofs, 6).
        omega: Omega^-1 of each joint, in the rows of its degrees of freedom (dofs, 6).
    """

    back: np.ndarray
    gain: np.ndarray
    omega: np.ndarray


@entry
def standard_joints(links, q, rates):
    """Return the `Joints` of types that are a row of translations and rotations, or end in a ball.

    A screw s that acts before others moves with them, by E: S = Ad(E^-1) s, dS/dt = -ad(v) S with
    the twist v of E.
    """
    n = len(links.parent)
    R, p = np.zeros((n, 3, 3)), np.zeros((n, 3))
    S, dS = np.zeros((len(rates), 6)), np.zeros((len(rates), 6))
    for i in range(n):
        first, ball = links.start[i], links.start[i] + links.scalars[i]
        E, shift = np.eye(3), np.zeros(3)
        after = np.zeros(6)
        if links.dofs[i] > links.scalars[i]:
            at = links.place[i] + links.scalars[i]
            E = quaternion_matrix(q[at : at + 4])
            for j in range(3):
                S[ball + j, j] = 1.0
                after[j] = rates[ball + j]
        for j in range(ball - 1, first - 1, -1):
            value = q[links.place[i] + j - first]
            screw = np.zeros(6)
            if links.rotates[j]:
                screw[:3] = links.axis[j]
            else:
                screw[3:] = links.axis[j]
            S[j] = apply(adjoint_back(E, shift), screw)
            dS[j] = -bracket(after, S[j])
            after += rates[j] * S[j]
            if links.rotates[j]:
                step = turn(links.axis[j], value)
                E, shift = mul(step, E), apply(step, shift)
            else:
                shift = shift + value * links.axis[j]
        in_body = adjoint(links.R_b[i], links.p_b[i])
        for j in range(first, first + links.dofs[i]):
            S[j], dS[j] = apply(in_body, S[j]), apply(in_body, dS[j])
        R[i] = mul(links.R_a[i], mul(E, links.R_b[i].T))
        p[i] = links.p_a[i] + apply(links.R_a[i], shift) - apply(R[i], links.p_b[i])
    return Joints(R, p, S, dS)


@entry
def integrate_rates(links, q, rates):
    """Return coordinates (n_q,) after unit time at constant rates (dofs,)."""
    moved = q.copy()
    for i in range(len(links.parent)):
        for k in range(links.scalars[i]):
            moved[links.place[i] + k] += rates[links.start[i] + k]
        if links.dofs[i] > links.scalars[i]:
            at, first = links.place[i] + links.scalars[i], links.start[i] + links.scalars[i]
            half = 0.5 * rates[first : first + 3]
            angle = np.sqrt(dot(half, half))
            c = np.cos(angle)
            half *= np.sin(angle) / angle if angle > 0.0 else 1.0
            w, v = q[at], q[at + 1 : at + 4].copy()
            moved[at] = c * w - dot(v, half)
            moved[at + 1 : at + 4] = c * v + w * half + cross(v, half)
    return moved


@entry
def twists(links, joints, rates):
    """Return the twists of all bodies (n, 6) (SI 8)."""
    v = np.zeros((len(links.parent), 6))
    for i in range(len(links.parent)):
        if links.parent[i] >= 0:
            v[i] = apply(adjoint_back(joints.R[i], joints.p[i]), v[links.parent[i]])
        for j in range(links.start[i], links.start[i] + links.dofs[i]):
            v[i] += rates[j] * joints.S[j]
    return v


@entry
def rnea(links, joints, rates, accelerations, gravity):
    """Return the joint forces (dofs,) of a motion: recursive Newton-Euler (SI 8, 11, 14, 15).

    Gravity (3,) [m/s^2] is an acceleration of the world upwards.
    """
    n = len(links.parent)
    v = twists(links, joints, rates)
    a, f = np.zeros((n, 6)), np.zeros((n, 6))
    tau = np.zeros(len(rates))
    for i in range(n):
        own, drift = np.zeros(6), np.zeros(6)
        before = np.zeros(6)
        for j in range(links.start[i], links.start[i] + links.dofs[i]):
            own += rates[j] * joints.S[j]
            drift += accelerations[j] * joints.S[j] + rates[j] * joints.dS[j]
        if links.parent[i] < 0:
            before[3:] = -gravity
        else:
            before[:] = a[links.parent[i]]
        a[i] = apply(adjoint_back(joints.R[i], joints.p[i]), before)
        a[i] += drift - bracket(own, v[i])
        f[i] = apply(links.inertia[i], a[i])
        f[i] -= dual_bracket(v[i], apply(links.inertia[i], v[i]))
    for i in range(n - 1, -1, -1):
        for j in range(links.start[i], links.start[i] + links.dofs[i]):
            tau[j] = dot(joints.S[j], f[i])
        if links.parent[i] >= 0:
            f[links.parent[i]] += tapply(adjoint_back(joints.R[i], joints.p[i]), f[i])
    return tau


@entry
def factor(links, joints):
    """Return the `Factors` of the mass matrix, by articulated inertias (SI 27 to 30)."""
    n, dofs = len(links.parent), len(joints.S)
    back = np.zeros((n, 6, 6))
    gain, omega = np.zeros((dofs, 6)), np.zeros((dofs, 6))
    inertia = links.inertia.copy()
    for i in range(n - 1, -1, -1):
        first, count = links.start[i], links.dofs[i]
        back[i] = adjoint_back(joints.R[i], joints.p[i])
        S = joints.S[first : first + count].copy()
        if count > 0:
            JS = mul(S, inertia[i])
            Omega = inverse(mul(JS, S.T.copy()))
            omega[first : first + count, :count] = Omega
            gain[first : first + count] = mul(Omega, JS)
            inertia[i] -= tmul(JS, gain[first : first + count])
        if links.parent[i] >= 0:
            inertia[links.parent[i]] += tmul(back[i], mul(inertia[i], back[i]))
    return Factors(back, gain, omega)


@entry
def solve(links, joints, factors, tau):
    """Return M^-1 tau (dofs,): accelerations from rest by joint forces (SI 31 to 35)."""
    n = len(links.parent)
    z, eta = np.zeros((n, 6)), np.zeros((n, 6))
    c = np.zeros(len(tau))
    for i in range(n - 1, -1, -1):
        for j in range(links.start[i], links.start[i] + links.dofs[i]):
            c[j] = tau[j] - dot(joints.S[j], z[i])
        for j in range(links.start[i], links.start[i] + links.dofs[i]):
            z[i] += c[j] * factors.gain[j]
        if links.parent[i] >= 0:
            z[links.parent[i]] += tapply(factors.back[i], z[i])
    result = np.zeros(len(tau))
    for i in range(n):
        if links.parent[i] >= 0:
            eta[i] = apply(factors.back[i], eta[links.parent[i]])
        given = eta[i].copy()
        for j in range(links.start[i], links.start[i] + links.dofs[i]):
            for k in range(links.dofs[i]):
                result[j] += factors.omega[j, k] * c[links.start[i] + k]
            result[j] -= dot(factors.gain[j], given)
            eta[i] += result[j] * joints.S[j]
    return result


@entry
def aba(links, joints, rates, tau, gravity):
    """Return accelerations (dofs,) by joint forces (dofs,): forward dynamics (SI 17)."""
    bias = rnea(links, joints, rates, np.zeros(len(rates)), gravity)
    return solve(links, joints, factor(links, joints), tau - bias)


@entry
def momenta(links, joints, wrenches):
    """Return S' of the sum of wrenches (n, 6) [N m s, N s] on all bodies that a joint carries."""
    total = wrenches.copy()
    result = np.zeros(len(joints.S))
    for i in range(len(links.parent) - 1, -1, -1):
        for j in range(links.start[i], links.start[i] + links.dofs[i]):
            result[j] = dot(joints.S[j], total[i])
        if links.parent[i] >= 0:
            back = adjoint_back(joints.R[i], joints.p[i])
            total[links.parent[i]] += tapply(back, total[i])
    return result


@entry
def poses(links, joints):
    """Return rotation matrices (n, 3, 3) and centres of mass (n, 3) [m] in the world."""
    R, p = joints.R.copy(), joints.p.copy()
    for i in range(len(links.parent)):
        k = links.parent[i]
        if k >= 0:
            R[i] = mul(R[k], joints.R[i])
            p[i] = p[k] + apply(R[k], joints.p[i])
    return R, p


@entry
def lagrangian_gradient(links, joints, rates, gravity):
    """Return the derivatives (dofs,) of the Lagrangian by coordinates and by rates.

    With pi the momentum and gamma the weight of all bodies that joint j carries, in its axes:
    dL/dq' = S' pi and dL/dq = (dS/dt + ad(v) S)' pi + S' gamma.
    """
    n = len(links.parent)
    v = twists(links, joints, rates)
    R, _ = poses(links, joints)
    pi, gamma = np.zeros((n, 6)), np.zeros((n, 6))
    by_q, by_rates = np.zeros(len(rates)), np.zeros(len(rates))
    for i in range(n - 1, -1, -1):
        pi[i] += apply(links.inertia[i], v[i])
        gamma[i, 3:] += links.inertia[i, 5, 5] * tapply(R[i], gravity)
        for j in range(links.start[i], links.start[i] + links.dofs[i]):
            S = joints.S[j]
            by_rates[j] = dot(S, pi[i])
            by_q[j] = dot(joints.dS[j] + bracket(v[i], S), pi[i]) + dot(S, gamma[i])
        if links.parent[i] >= 0:
            back = adjoint_back(joints.R[i], joints.p[i])
            pi[links.parent[i]] += tapply(back, pi[i])
            gamma[links.parent[i]] += tapply(back, gamma[i])
    return by_q, by_rates

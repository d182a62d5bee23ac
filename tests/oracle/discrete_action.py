"""Discrete action of a tree in joint coordinates on SE(3), with derivatives by complex steps.

Dense, plain numpy, for joints of translations and rotations and turns below a quarter: everything
is an analytic function, so that the imaginary part of a step 1e-30 is an exact derivative.
"""

from __future__ import annotations

import numpy as np

STEP = 1e-30


def skew(a):
    x, y, z = a
    return np.array([[0 * x, -z, y], [z, 0 * x, -x], [-y, x, 0 * x]])


def poses(links, q):
    """World poses (n, 4, 4) of all bodies."""
    found = []
    for i, parent in enumerate(links.parent):
        G = fixed(links.R_a[i], links.p_a[i])
        for k in range(links.scalars[i]):
            step, axis = np.eye(4, dtype=complex), links.axis[links.start[i] + k]
            value = q[links.place[i] + k]
            if links.rotates[links.start[i] + k]:
                K = skew(axis)
                step[:3, :3] = np.eye(3) + np.sin(value) * K + (1 - np.cos(value)) * K @ K
            else:
                step[:3, 3] = axis * value
            G = G @ step
        G = G @ np.linalg.inv(fixed(links.R_b[i], links.p_b[i]))
        found.append(G if parent < 0 else found[parent] @ G)
    return found


def fixed(R, p):
    pose = np.eye(4, dtype=complex)
    pose[:3, :3], pose[:3, 3] = R, p
    return pose


def log(T):
    """Twist (6,) of a pose; turns below a quarter."""
    R, p = T[:3, :3], T[:3, 3]
    w = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    angle = np.arcsin(np.sqrt(w @ w))
    w = w * angle / np.sin(angle)
    K, half = skew(w), 0.5 * angle
    inverse = np.eye(3) - 0.5 * K + (1 - half / np.tan(half)) / angle**2 * K @ K
    return np.append(w, inverse @ p)


def action(tree, q, after, h):
    """Integral of the Lagrangian over a step by the trapezoidal rule (LEE 9)."""
    total = 0.0
    for J, T, T_after in zip(
        tree.links.inertia, poses(tree.links, q), poses(tree.links, after), strict=True
    ):
        V = log(np.linalg.inv(T) @ T_after) / h
        total += h * 0.5 * V @ J @ V
        total += 0.5 * h * J[5, 5] * tree.gravity @ (T[:3, 3] + T_after[:3, 3])
    return total


def slopes(tree, q, after, h):
    """Derivatives (dofs,) of the action by the coordinates before and after the step."""
    steps = 1j * STEP * np.eye(len(q))
    before = [action(tree, q + step, after + 0j, h).imag / STEP for step in steps]
    behind = [action(tree, q + 0j, after + step, h).imag / STEP for step in steps]
    return np.array(before), np.array(behind)

"""Mobilities at points of bodies and along joints, at the assembly pose; joint forces that loops leave undetermined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from vigym.mechanism.elements.checks import Array
from vigym.mechanism.topology.joint_frames import number_bodies, split
from vigym.mechanism.topology.kinematics import Tree
from vigym.mechanism.topology.loop_constraints import System, constraint_rows
from vigym.spatial import cross, matrix

if TYPE_CHECKING:
    from vigym.mechanism.elements.collection import Listing

RANK = 1e-9  # singular values below this part of the largest one are none


class Mobility:
    """Inverse inertia of all freedoms of the tree, with the loops closed and the couplings held.

    Args:
        mechanism: bodies, joints, couplings.
    """

    def __init__(self, mechanism: Listing) -> None:
        self._tree = tree = Tree(mechanism)
        self._poses = tree.poses(mechanism.structure.assembly[None])
        self._numbers = number_bodies(mechanism)
        self._motions = tree.motions
        closing = mechanism.closing_joints
        if closing:
            halves = [split(mechanism, joint) for joint in closing]
            rows = [mechanism.structure.closures[joint.name] for joint in closing]
            system = System(tree, halves, rows, np.ones(len(closing)))
            derivatives = system.evaluate(self._poses)[1][0]
            _, values, vectors = np.linalg.svd(derivatives)
            free = vectors[int((values > RANK * values.max(initial=0.0)).sum()) :].T
            self._motions = self._motions @ free
        names, bodies = list(mechanism.bodies), mechanism.bodies.values()
        self._armatures = [joint.armature for joint in mechanism.tree_joints for _ in joint.prototype.velocities]
        self._speeds = self.velocities(names, np.zeros((len(names), 1, 3)))[:, 0]
        turning = self._tree.carried[1:, :, None] * self._poses.screws[0, :, 3:]  # world axes
        self._turning = (turning @ self._poses.R[0, 1:]).swapaxes(-1, -2)
        masses, inertias = np.array([b.mass for b in bodies]), np.array([b.inertia for b in bodies])
        self._inverse = self.inverse(masses, inertias)

    def inverse(self, masses: Array, inertias: Array) -> Array:
        """Rates of all freedoms that a unit impulse along each gives (freedoms, freedoms).

        Args:
            masses: of the bodies (n,) [kg].
            inertias: of the bodies (n, 3, 3) [kg m^2].
        """
        v, w, n = self._speeds, self._turning, self._tree.freedoms
        M = v.reshape(-1, n).T @ (masses[:, None, None] * v).reshape(-1, n)
        M += w.reshape(-1, n).T @ (inertias @ w).reshape(-1, n) + np.diag(self._armatures)
        T = self._motions
        inverse: Array = T @ np.linalg.solve(T.T @ M @ T, T.T) if T.size else np.zeros_like(M)
        return inverse

    def velocities(self, bodies: Sequence[str], points: Array) -> Array:
        """Velocities (n, k, 3, freedoms) of points (n, k, 3) in the frames of n bodies, per rate of each freedom."""
        numbers = np.array([self._numbers[body] for body in bodies], np.intp)
        places = self._poses.x[0, numbers, None] + points @ self._poses.R[0, numbers].swapaxes(-1, -2)
        screws = self._poses.screws[0]
        rates = screws[:, :3] + cross(np.broadcast_to(screws[:, 3:], (1, 1, *screws[:, 3:].shape)), places[:, :, None])
        moved: Array = (rates * self._tree.carried[numbers][:, None, :, None]).swapaxes(-1, -2)
        return moved

    def mass_at(self, body: str, points: Array) -> float:
        """Mass that a force at points (n, 3) of a body (its frame) moves [kg], least of all, in any direction."""
        v = self.velocities([body], points[None])[0]
        return float(inverted(np.linalg.eigvalsh(v @ self._inverse @ v.swapaxes(-1, -2)).max()))

    def inertia_along(self, freedom: int) -> float:
        """Inertia that a force along a freedom of the tree moves [kg, kg m^2]."""
        return float(inverted(self._inverse[freedom, freedom]))


def needs_mobility(mechanism: Listing) -> bool:
    """Whether anything of a mechanism touches, or sets forces on joints within bounds."""
    touching = mechanism.contact_names or mechanism.skates or mechanism.wheels or mechanism.motors
    return bool(touching) or any(j.limits is not None or j.friction > 0 for j in mechanism.joints.values())


def inverted(mobility: ArrayLike) -> Array:
    """What is moved by mobilities (...,): their inverses, 1 for what does not move."""
    rate = np.asarray(mobility, dtype=np.float64)
    return np.divide(1.0, rate, out=np.ones_like(rate), where=rate > 0.0)


def least_norm(mechanisms: Sequence[Listing], forces: Array, poses: Array) -> Array:
    """The least forces that hold the bodies as given ones do.

    Joints hold a body with G^T lam; joints that depend on each other can share that in many ways. Among these lam has
    the least norm.

    Args:
        mechanisms: with loops, one for each row.
        forces: (count, n_joints, 6) force on the child [N] and moment about the joint's anchor on it [N m].
        poses: (count, n_bodies, 7) centre of mass and orientation of each body.

    Returns:
        (count, n_joints, 6) as ``forces``.
    """
    # one memory layout, so that an environment of a batch rounds as it would alone
    rows = zip(mechanisms, np.ascontiguousarray(forces), np.ascontiguousarray(poses), strict=True)
    return np.array([_least(mechanism, wrenches, placed) for mechanism, wrenches, placed in rows])


def _least(mechanism: Listing, forces: Array, poses: Array) -> Array:
    names = list(mechanism.bodies)
    rows, starts = constraint_rows(mechanism, {name: (p[:3], p[3:]) for name, p in zip(names, poses, strict=True)})
    held, arms = np.zeros((len(names) + 1, 6)), []
    halves = [split(mechanism, joint) for joint in mechanism.ordered_joints]
    for half, wrench in zip(halves, forces, strict=True):
        x, R = poses[half.b - 1, :3], matrix(poses[half.b - 1, 3:][None])[0]
        arms.append(R @ half.anchor_b)
        for body, sign in ((half.b, 1.0), (half.a, -1.0)):
            arm = x + arms[-1] - (poses[body - 1, :3] if body else np.zeros(3))
            held[body] += sign * np.append(wrench[:3], wrench[3:] + np.cross(arm, wrench[:3]))
    multipliers = np.linalg.lstsq(rows.T, held[1:].ravel(), rcond=1e-9)[0]
    found = np.zeros_like(forces)
    for j, (half, arm) in enumerate(zip(halves, arms, strict=True)):
        span = slice(starts[j], starts[j + 1])
        wrench = multipliers[span] @ rows[span].reshape(-1, len(names), 6)[:, half.b - 1]
        found[j] = np.append(wrench[:3], wrench[3:] - np.cross(arm, wrench[:3]))
    return found

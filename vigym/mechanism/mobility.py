"""How heavy a mechanism is where it is pushed: at points of its bodies and along its joints, at the assembly pose."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vigym.mechanism.check import Array
from vigym.mechanism.closures import System
from vigym.mechanism.kinematics import Tree, number_bodies, split
from vigym.mechanism.quaternions import cross

if TYPE_CHECKING:
    from vigym.mechanism.listing import Listing

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
        M, T = self._inertia(mechanism), tree.motions
        closing = mechanism.closing_joints
        if closing:
            halves = [split(mechanism, joint) for joint in closing]
            rows = [mechanism.structure.closures[joint.name] for joint in closing]
            system = System(tree, halves, rows, np.ones(len(closing)))
            derivatives = system.evaluate(self._poses)[1][0]
            _, values, vectors = np.linalg.svd(derivatives)
            T = T @ vectors[int((values > RANK * values.max(initial=0.0)).sum()) :].T
        self._inverse: Array = T @ np.linalg.solve(T.T @ M @ T, T.T) if T.size else np.zeros_like(M)

    def _inertia(self, mechanism: Listing) -> Array:
        """Inertia of the tree's freedoms (freedoms, freedoms)."""
        M = np.zeros((self._tree.freedoms, self._tree.freedoms))
        for name, body in mechanism.bodies.items():
            b = self._numbers[name]
            R = self._poses.R[0, b]
            v, w = self._moving(b, self._poses.x[0, b])
            M += body.mass * v.T @ v + w.T @ (R @ body.inertia @ R.T) @ w
        armatures = [joint.armature for joint in mechanism.tree_joints for _ in joint.prototype.velocities]
        return M + np.diag(armatures)

    def _moving(self, b: int, points: Array) -> tuple[Array, Array]:
        """Velocities of points (..., 3) of body b, (..., 3, freedoms), and its angular velocity, (3, freedoms).

        They are per rate of each freedom.
        """
        screws = self._poses.screws[0]
        v, w = screws[:, :3], screws[:, 3:]
        carried = self._tree.carried[b][:, None]
        return ((v + cross(w, points[..., None, :])) * carried).swapaxes(-1, -2), (w * carried).T

    def mass_at(self, body: str, points: Array) -> float:
        """Mass that a force at points (n, 3) of a body (its frame) moves [kg], least of all, in any direction."""
        b = self._numbers[body]
        v, _ = self._moving(b, self._poses.x[0, b] + points @ self._poses.R[0, b].T)
        return _inverted(float(np.linalg.eigvalsh(v @ self._inverse @ v.swapaxes(-1, -2)).max()))

    def inertia_along(self, freedom: int) -> float:
        """Inertia that a force along a freedom of the tree moves [kg, kg m^2]."""
        return _inverted(float(self._inverse[freedom, freedom]))


def needs_mobility(mechanism: Listing) -> bool:
    """Whether anything of a mechanism touches, or sets forces on joints within bounds."""
    touching = mechanism.contact_names or mechanism.skates or mechanism.wheels or mechanism.motors
    return bool(touching) or any(j.limits is not None or j.friction > 0 for j in mechanism.joints.values())


def _inverted(mobility: float) -> float:
    return 1.0 / mobility if mobility > 0.0 else 1.0

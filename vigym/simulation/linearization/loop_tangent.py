"""Motions that closed loops and couplings allow at a knot, and their change with the pose."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vigym.mechanism.elements.checks import Array
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.topology.joint_frames import joint_frames
from vigym.mechanism.topology.kinematics import TreeKinematics
from vigym.mechanism.topology.loop_constraints import LoopSystem
from vigym.simulation.linearization.motion import STEP, gradient, perturb

# part of the largest singular value of the constraints, below which an independent one is lost
SINGULAR = 1e-6


class Knot(NamedTuple):
    """Joint coordinates and rates at a point in time; or at S of them, with a leading axis.

    Attributes:
        q: coordinates of the tree (n_q,).
        rates: rates of its dofs (tree dofs,).
        closing: coordinates of the loop-closing joints.
    """

    q: Array
    rates: Array
    closing: Array


class Tangent(NamedTuple):
    """Motions that the loops allow at a knot, over the independent dofs of the tree.

    Attributes:
        motions: (independent dofs, degrees of freedom) orthonormal.
        inverse: (independent dofs, rows) pseudo-inverse of the constraint Jacobian.
        curvature: (independent dofs, independent dofs) change of the rates, by a change of pose,
            that keeps them on the loops.
    """

    motions: Array
    inverse: Array
    curvature: Array


class Allowed(NamedTuple):
    """Constraint Jacobian of the loops, and the motions that it allows, at S poses.

    Attributes:
        K: (S, rows, independent dofs).
        motions: (S, independent dofs, degrees of freedom) orthonormal.
        inverse: (S, independent dofs, rows) pseudo-inverse of K.
    """

    K: Array
    motions: Array
    inverse: Array


class LoopJacobian:
    """Loop constraints of a mechanism over the independent dofs of its tree.

    Args:
        mechanism: mechanism with the loops.
        tree: kinematics of its tree.
    """

    def __init__(self, mechanism: Mechanism, tree: TreeKinematics) -> None:
        closing, structure = mechanism.closing_joints, mechanism.structure
        frames = [joint_frames(mechanism, joint) for joint in closing]
        rows = [structure.loop_constraints[joint.name] for joint in closing]
        self._system = LoopSystem(tree, frames, rows, np.ones(len(closing)))
        self._tree = tree
        self._dofs = structure.dofs
        self._rank = tree.velocity_map.shape[1] - structure.dofs
        self._independent_rates = np.linalg.pinv(tree.velocity_map)

    def evaluate(self, q: Array) -> Array:
        """Return K (S, rows, independent dofs) at coordinates (S, n_q), which may be complex."""
        return self._system.evaluate(self._tree.poses(q))[1]

    def allowed(self, q: Array) -> Allowed:
        """Return the motions that the loops allow at coordinates (S, n_q).

        Raises:
            ValueError: the loops allow more motions there than elsewhere.
        """
        K, rank = self.evaluate(q), self._rank
        if not rank:
            motions = np.tile(np.eye(K.shape[2]), (len(q), 1, 1))
            return Allowed(K, motions, np.zeros((len(q), K.shape[2], K.shape[1])))
        U, values, V = np.linalg.svd(K)
        if (values[:, rank - 1] < SINGULAR * values[:, 0]).any():
            raise ValueError(
                "state: found a singular pose of the loops, expected one where the mechanism has "
                f"its {self._dofs} degrees of freedom; take one next to it"
            )
        scaled = U[:, :, :rank] / values[:, None, :rank]
        inverse = V[:, :rank].swapaxes(1, 2) @ scaled.swapaxes(1, 2)
        return Allowed(K, V[:, rank:].swapaxes(1, 2), inverse)

    def turning(self, q: Array, rates: Array) -> Array:
        """Return the rate of K along rates, times them (S, rows).

        Args:
            q: (S, n_q) coordinates.
            rates: (S, tree dofs).
        """
        K = self.evaluate(perturb(self._tree, q, rates))
        independent = rates @ self._independent_rates.T
        return np.asarray((K @ independent[..., None])[..., 0].imag / STEP)

    def tangent(self, knot: Knot) -> Tangent:
        """Return the motions that the loops allow at a knot, and how they change with the pose.

        Raises:
            ValueError: the loops allow more motions there than elsewhere.
        """
        _, motions, inverse = (part[0] for part in self.allowed(knot.q[None]))
        if not self._rank:
            return Tangent(motions, inverse, np.zeros_like(motions))
        rates = self._independent_rates @ knot.rates
        turning = gradient(lambda q: self.evaluate(q) @ rates, self._tree, knot.q)
        return Tangent(motions, inverse, -inverse @ turning)

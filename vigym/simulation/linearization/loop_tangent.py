"""Motions that closed loops and couplings allow at a knot, and their change with the pose."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vigym.mechanism.elements.checks import Array
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.topology.joint_frames import joint_frames
from vigym.mechanism.topology.kinematics import TreeKinematics
from vigym.mechanism.topology.loop_constraints import LoopSystem
from vigym.simulation.linearization.motion import gradient

# part of the largest singular value of the constraints, below which an independent one is lost
SINGULAR = 1e-6


class Knot(NamedTuple):
    """Joint coordinates and rates at a point in time.

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
        self._dof = structure.dofs
        self._independent_rates = np.linalg.pinv(tree.velocity_map)

    def evaluate(self, q: Array) -> Array:
        """Return K (S, rows, independent dofs) at coordinates (S, n_q), which may be complex."""
        return self._system.evaluate(self._tree.poses(q))[1]

    def tangent(self, knot: Knot) -> Tangent:
        """Return the motions that the loops allow at a knot.

        Raises:
            ValueError: the loops allow more motions there than elsewhere.
        """
        dofs = self._tree.velocity_map.shape[1]
        K = self.evaluate(knot.q[None])[0]
        rank = dofs - self._dof
        if not rank:
            return Tangent(np.eye(dofs), np.zeros((dofs, len(K))), np.zeros((dofs, dofs)))
        U, values, V = np.linalg.svd(K)
        if values[rank - 1] < SINGULAR * values[0]:
            raise ValueError(
                "linearize: found a singular pose of the loops, "
                f"expected one where the mechanism has its {self._dof} degrees of freedom; "
                "linearise next to it"
            )
        inverse = V[:rank].T @ (U[:, :rank] / values[:rank]).T
        rates = self._independent_rates @ knot.rates
        turning = gradient(lambda q: self.evaluate(q) @ rates, self._tree, knot.q)
        return Tangent(V[rank:].T, inverse, -inverse @ turning)

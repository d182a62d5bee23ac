"""The motions that closed loops and couplings leave at a knot, and how they turn from pose to pose."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vigym.mechanism.elements.checks import Array
from vigym.mechanism.topology.joint_frames import split
from vigym.mechanism.topology.kinematics import Tree
from vigym.mechanism.topology.loop_constraints import System
from vigym.simulation.linearization.motion import gradient

if TYPE_CHECKING:
    from vigym.mechanism.elements.collection import Listing

SINGULAR = 1e-6  # part of the largest singular value of the loop rows below which one of those that count is none


class Knot(NamedTuple):
    """A knot.

    Attributes:
        q: coordinates of the tree (n_q,).
        rates: those of its freedoms (freedoms,).
        closing: coordinates of the closing joints.
    """

    q: Array
    rates: Array
    closing: Array


class Tangent(NamedTuple):
    """What the loops leave at a knot, over the freedoms of the tree that follow no other one.

    Attributes:
        motions: (leaders, degrees of freedom) orthonormal.
        inverse: (leaders, rows) pseudo-inverse of the loop rows.
        bend: (leaders, leaders) by a change of pose, the change of the rates that keeps them on the loops.
    """

    motions: Array
    inverse: Array
    bend: Array


class LoopRows:
    """The loop rows of a mechanism over the freedoms of the tree that follow no other one."""

    def __init__(self, mechanism: Listing, tree: Tree) -> None:
        closing, structure = mechanism.closing_joints, mechanism.structure
        halves, rows = [split(mechanism, j) for j in closing], [structure.closures[j.name] for j in closing]
        self._system = System(tree, halves, rows, np.ones(len(closing)))
        self._tree, self._dof = tree, structure.degrees_of_freedom
        self._leading = np.linalg.pinv(tree.motions)

    def rows(self, q: Array) -> Array:
        """K (S, rows, leaders) at tree coordinates (S, n_q), which may be complex."""
        return self._system.evaluate(self._tree.poses(q))[1]

    def tangent(self, knot: Knot) -> Tangent:
        """What the loops leave at a knot.

        Raises:
            ValueError: they leave more motions there than elsewhere.
        """
        leaders, K = self._tree.motions.shape[1], self.rows(knot.q[None])[0]
        rank = leaders - self._dof
        if not rank:
            return Tangent(np.eye(leaders), np.zeros((leaders, len(K))), np.zeros((leaders, leaders)))
        U, values, V = np.linalg.svd(K)
        if values[rank - 1] < SINGULAR * values[0]:
            raise ValueError(
                "linearize: found a pose where the loops leave more motions than elsewhere, expected one where the "
                f"mechanism has its {self._dof} degrees of freedom; linearise next to it"
            )
        inverse = V[:rank].T @ (U[:, :rank] / values[:rank]).T
        rates = self._leading @ knot.rates
        turning = gradient(lambda q: self.rows(q) @ rates, self._tree, knot.q)
        return Tangent(V[rank:].T, inverse, -inverse @ turning)

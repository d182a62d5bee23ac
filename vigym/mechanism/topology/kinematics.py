"""Where the bodies of a tree are, and how they move, from the coordinates of its joints: many poses at once, in numpy.

Used before anything is simulated, so nothing here is compiled. Leading axis S: poses; body 0 is the world.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.joints import IDENTITY
from vigym.mechanism.topology.dependent_dofs import leaders, motions, start
from vigym.mechanism.topology.graph import spanning_tree
from vigym.mechanism.topology.joint_frames import Halves, freedom_axes, orientation, pose_of, split
from vigym.spatial import conjugate, cross, matrix, product, turned

if TYPE_CHECKING:
    from vigym.mechanism.elements.collection import Listing


@dataclass(frozen=True, eq=False)
class Poses:
    """Poses of all bodies, the world first, and the screws of all freedoms there.

    Attributes:
        x: (S, n, 3) centres of mass [m].
        q: (S, n, 4) orientations, body to world.
        R: (S, n, 3, 3) the same as matrices.
        screws: (S, freedoms, 6) motion of what a freedom carries at rate one: velocity of the point at the world's
            origin, angular velocity, world axes.
    """

    x: Array
    q: Array
    R: Array
    screws: Array


class Tree:
    """Kinematics of the tree of a mechanism.

    Attributes:
        zero: tree coordinates of the assembly pose (n_q,), ordered as `mechanism.tree_joints`.
        carried: (bodies, freedoms) 1.0 where a freedom moves a body.
        turns: (freedoms,) whether a freedom is a rotation.
        freedoms: number of velocities of the tree's joints.
        start: tree coordinates next to zero at which all couplings hold (n_q,).
        leaders: (leaders,) numbers of the freedoms that follow no other one.
        motions: (freedoms, leaders) rates of all freedoms at a rate of one of each leader.
    """

    def __init__(self, mechanism: Listing) -> None:
        positions, velocities = _starts(mechanism)
        order = [split(mechanism, joint) for joint, _ in spanning_tree(mechanism)]
        self._order = [(half, positions[half.joint.name]) for half in order]
        self.freedoms = sum(len(half.prototype.velocities) for half in order)
        self.carried = np.zeros((len(mechanism.bodies) + 1, self.freedoms))
        self.turns = np.zeros(self.freedoms, bool)
        self._axis, self._anchor = np.zeros((self.freedoms, 3)), np.zeros((self.freedoms, 3))
        self._fixed_in, self._child = np.zeros(self.freedoms, int), np.zeros(self.freedoms, int)
        self._plain: list[tuple[int, int]] = []  # coordinates that are integrals of one rate
        self._quaternions: list[tuple[slice, slice]] = []
        self.zero = np.zeros(sum(span.stop - span.start for span in positions.values()))
        for half, span in self._order:
            self._add(mechanism, half, span, velocities[half.joint.name])
        self._hold(order, positions)
        self.start, self.leaders, self.motions = start(mechanism, self.zero), leaders(mechanism), motions(mechanism)

    def _add(self, mechanism: Listing, half: Halves, position: slice, velocity: slice) -> None:
        kind, n = half.prototype, len(half.prototype.translations)
        axes, fixed_in = freedom_axes(half)
        self.carried[half.b] = self.carried[half.a]
        self.carried[half.b, velocity] = 1.0
        self._child[velocity], self._anchor[velocity] = half.b, half.anchor_b
        turns = slice(velocity.start + n, velocity.stop)
        self.turns[turns] = True
        self._axis[velocity], self._fixed_in[velocity] = axes, fixed_in
        if not kind.has_quaternion:
            self._plain += zip(range(position.start, position.stop), range(velocity.start, velocity.stop), strict=True)
            return
        self._plain += [(position.start + i, velocity.start + i) for i in range(n)]
        self._quaternions.append((slice(position.stop - 4, position.stop), turns))
        self.zero[position.stop - 4] = 1.0
        if kind.type == "floating":
            (x_a, q_a), (x_b, q_b) = (pose_of(mechanism, name) for name in (half.joint.parent, half.joint.child))
            relative = product(conjugate(q_a)[None], q_b[None])[0]
            self.zero[position] = np.concatenate([matrix(q_a).T @ (x_b - x_a), relative])

    def _hold(self, order: list[Halves], positions: dict[str, slice]) -> None:
        """Note how bodies are held in their parents: by number, the world's row is the identity at the origin."""
        bodies = len(self.carried)
        self._above, self._ends = np.zeros(bodies, int), np.zeros((2, bodies, 3))
        self._offsets = np.tile(IDENTITY, (bodies, 1))
        for half in order:
            self._above[half.b], self._offsets[half.b] = half.a, half.offset
            self._ends[:, half.b] = half.anchor_a, half.anchor_b
        hinged = [h for h in order if len(h.prototype.rotations) == 1 and not h.prototype.has_quaternion]
        columns = np.array([positions[half.joint.name].stop - 1 for half in hinged], int)
        axes = np.array([half.frame_b[:, half.prototype.rotations[0]] for half in hinged]).reshape(-1, 3)
        self._hinged = np.array([half.b for half in hinged], int), columns, axes

    @property
    def plain(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Numbers of the coordinates that are integrals of one rate, and of those rates."""
        table = np.array(self._plain, np.int64).reshape(-1, 2)
        return table[:, 0], table[:, 1]

    @property
    def quaternions(self) -> list[tuple[slice, slice]]:
        """Columns of each quaternion among the coordinates, and of its rates."""
        return list(self._quaternions)

    def poses(self, coordinates: Array) -> Poses:
        """Poses of all bodies and screws of all freedoms at tree coordinates (S, n_q), which may be complex."""
        q, anchors = self._turns(coordinates), self._shifts(coordinates)
        for half, _ in self._order:
            q[:, half.b] = product(q[:, half.a], q[:, half.b])
        R = matrix(q)
        x = (R[:, self._above] @ anchors[..., None])[..., 0] - turned(R, self._ends[1])
        for half, _ in self._order:
            x[:, half.b] += x[:, half.a]
        return Poses(x, q, R, self._screws(x, R))

    def _turns(self, coordinates: Array) -> Array:
        """Orientation of each body in its parent (S, bodies, 4)."""
        result: Array = np.tile(self._offsets.astype(coordinates.dtype), (len(coordinates), 1, 1))
        bodies, columns, axes = self._hinged
        half = coordinates[:, columns, None] / 2.0
        small = np.concatenate([np.cos(half), np.sin(half) * axes], axis=-1)
        result[:, bodies] = product(self._offsets[bodies], small)
        for joint, span in self._order:
            if joint.prototype.has_quaternion or len(joint.prototype.rotations) > 1:
                turns = coordinates[:, span][:, len(joint.prototype.translations) :]
                result[:, joint.b] = orientation(joint, turns)
        return result

    def _shifts(self, coordinates: Array) -> Array:
        """Where each body is held in its parent (S, bodies, 3) [m]."""
        result: Array = np.tile(self._ends[0].astype(coordinates.dtype), (len(coordinates), 1, 1))
        for half, span in self._order:
            ways = half.frame_a.T[list(half.prototype.translations)]
            if len(ways):
                result[:, half.b] += coordinates[:, span][:, : len(ways)] @ ways
        return result

    def _screws(self, x: Array, R: Array) -> Array:
        axes, points = turned(R[:, self._fixed_in], self._axis), self._points(x, R)
        turns = self.turns[:, None]
        return np.concatenate([np.where(turns, cross(points, axes), axes), np.where(turns, axes, 0.0)], axis=-1)

    def _points(self, x: Array, R: Array) -> Array:
        return x[:, self._child] + turned(R[:, self._child], self._anchor)

    def anchors(self, poses: Poses) -> Array:
        """Where the joint of each freedom is anchored in its child (S, freedoms, 3) [m]."""
        return self._points(poses.x, poses.R)

    def move(self, coordinates: Array, rates: Array) -> Array:
        """Coordinates (S, n_q) after unit time at constant joint velocities (S, freedoms), each joint by itself."""
        result: Array = coordinates.copy()
        if self._plain:
            where, which = np.array(self._plain).T
            result[:, where] += rates[:, which]
        for span, which_turns in self._quaternions:
            half = rates[:, which_turns] / 2.0
            angle = np.linalg.norm(half, axis=1, keepdims=True)
            moved = product(result[:, span], np.hstack([np.cos(angle), np.sinc(angle / np.pi) * half]))
            moved /= np.linalg.norm(moved, axis=1, keepdims=True)
            result[:, span] = np.where(angle > 0.0, moved, result[:, span])
        return result


def _starts(mechanism: Listing) -> tuple[dict[str, slice], dict[str, slice]]:
    """Columns of each tree joint's positions and velocities."""
    spans: tuple[dict[str, slice], dict[str, slice]] = ({}, {})
    ends = [0, 0]
    for joint in mechanism.tree_joints:
        for i, names in enumerate((joint.prototype.positions, joint.prototype.velocities)):
            spans[i][joint.name] = slice(ends[i], ends[i] + len(names))
            ends[i] += len(names)
    return spans

"""Where the bodies of a tree are, and how they move, from the coordinates of its joints: many poses at once, in numpy.

Used before anything is simulated, so nothing here is compiled. Leading axis S: poses; body 0 is the world.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vigym.mechanism.check import Array
from vigym.mechanism.coupled import leaders, motions, start
from vigym.mechanism.graph import spanning_tree
from vigym.mechanism.joints import IDENTITY, Joint, Prototype, axis_frame
from vigym.mechanism.parts import WORLD
from vigym.mechanism.quaternions import conjugate, cross, matrix, product, turned

if TYPE_CHECKING:
    from vigym.mechanism.listing import Listing


@dataclass(frozen=True, eq=False)
class Halves:
    """A joint's two halves, each fixed in its body; bodies by number, the world is 0.

    Attributes:
        joint: the joint.
        a, b: parent and child.
        anchor_a, anchor_b: anchors in the bodies' frames (3,) [m].
        frame_a, frame_b: joint frames in the bodies' axes (3, 3), columns (e1, e2, axis).
        offset: orientation of the child in the parent where the joint's rotation is zero (4,).
    """

    joint: Joint
    a: int
    b: int
    anchor_a: Array
    anchor_b: Array
    frame_a: Array
    frame_b: Array
    offset: Array

    @property
    def prototype(self) -> Prototype:
        """The joint type's row of data."""
        return self.joint.prototype


def number_bodies(mechanism: Listing) -> dict[str, int]:
    """Numbers of the world (0) and of the bodies in their order."""
    return {name: i for i, name in enumerate([WORLD, *mechanism.bodies])}


def split(mechanism: Listing, joint: Joint) -> Halves:
    """Return the halves of any joint; those of a loop may lie apart at the assembly pose."""
    numbers = number_bodies(mechanism)
    a, b = numbers[joint.parent], numbers[joint.child]
    (x_a, q_a), (x_b, q_b) = (_pose(mechanism, name) for name in (joint.parent, joint.child))
    if joint.type == "floating":  # its coordinates are the child's pose in the parent, not since the assembly
        return Halves(joint, a, b, np.zeros(3), np.zeros(3), np.eye(3), np.eye(3), np.array(IDENTITY))
    R_a, R_b, between = matrix(q_a), matrix(q_b), matrix(joint.child_rotation)
    frame = axis_frame(joint.axis, joint.axis2)
    anchors = R_a.T @ (joint.position - x_a), R_b.T @ (joint.child_position - x_b)
    offset = product(conjugate(q_a)[None], q_b[None])[0]
    return Halves(joint, a, b, *anchors, R_a.T @ frame, R_b.T @ between @ frame, offset / np.linalg.norm(offset))


def _pose(mechanism: Listing, name: str) -> tuple[Array, Array]:
    if name == WORLD:
        return np.zeros(3), np.array(IDENTITY)
    return mechanism.bodies[name].position, mechanism.bodies[name].orientation


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
            (x_a, q_a), (x_b, q_b) = (_pose(mechanism, name) for name in (half.joint.parent, half.joint.child))
            relative = product(conjugate(q_a)[None], q_b[None])[0]
            self.zero[position] = np.concatenate([matrix(q_a).T @ (x_b - x_a), relative])

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
        count, bodies = len(coordinates), len(self.carried)
        shapes = (count, bodies, 3), (count, bodies, 4), (count, bodies, 3, 3)
        x, q, R = (np.zeros(shape, coordinates.dtype) for shape in shapes)
        q[:, 0, 0], R[:, 0] = 1.0, np.eye(3)
        for half, span in self._order:
            value, n = coordinates[:, span], len(half.prototype.translations)
            anchor = half.anchor_a + value[:, :n] @ half.frame_a.T[list(half.prototype.translations)]
            q[:, half.b] = product(q[:, half.a], _orientation(half, value[:, n:]))
            R[:, half.b] = matrix(q[:, half.b])
            x[:, half.b] = x[:, half.a] + (R[:, half.a] @ anchor[..., None])[..., 0] - R[:, half.b] @ half.anchor_b
        return Poses(x, q, R, self._screws(x, R))

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


def freedom_axes(half: Halves) -> tuple[Array, NDArray[np.int64]]:
    """Directions (freedoms, 3) of a joint's freedoms, translations first, and the body each is fixed in, by number."""
    kind = half.prototype
    turns = np.eye(3) if kind.has_quaternion else half.frame_b.T[list(kind.rotations)]
    axes = np.concatenate([half.frame_a.T[list(kind.translations)], turns])
    fixed_in = np.array([half.a] * len(kind.translations) + [half.b] * len(kind.rotations), np.int64)
    if kind.type == "universal":
        axes[0], fixed_in[0] = half.frame_a[:, 2], half.a
    return axes, fixed_in


def _starts(mechanism: Listing) -> tuple[dict[str, slice], dict[str, slice]]:
    """Columns of each tree joint's positions and velocities."""
    spans: tuple[dict[str, slice], dict[str, slice]] = ({}, {})
    ends = [0, 0]
    for joint in mechanism.tree_joints:
        for i, names in enumerate((joint.prototype.positions, joint.prototype.velocities)):
            spans[i][joint.name] = slice(ends[i], ends[i] + len(names))
            ends[i] += len(names)
    return spans


def _orientation(half: Halves, turns: Array) -> Array:
    """Orientation of the child in the parent (S, 4) from the joint's angles or quaternion."""
    result: Array = np.broadcast_to(half.offset, (len(turns), 4))
    if half.prototype.has_quaternion:
        return product(result, turns)
    for column, angle in zip(half.prototype.rotations, turns.T, strict=True):
        axis = half.frame_b[:, column]
        result = product(result, np.hstack([np.cos(angle / 2.0)[:, None], np.sin(angle / 2.0)[:, None] * axis]))
    return result

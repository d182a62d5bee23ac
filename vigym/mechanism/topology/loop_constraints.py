"""The rows that joints hold at zero: their values, derivatives and gaps at poses of the tree, and as wrenches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vigym.mechanism.elements.checks import Array, ReadOnly
from vigym.mechanism.elements.joints import IDENTITY
from vigym.mechanism.topology.joint_frames import Halves, split
from vigym.mechanism.topology.kinematics import Poses, Tree
from vigym.spatial import cross, matrix, turned

if TYPE_CHECKING:
    from vigym.mechanism.elements.collection import Listing


@dataclass(frozen=True, eq=False)
class ClosureRows(ReadOnly):
    """Rows that a closing joint imposes.

    Attributes:
        translations: (n, 3) directions fixed in the parent body along which the two anchors coincide.
        rotations: (m, 2, 3) pairs of a vector fixed in the parent body and one fixed in the child that stay
            perpendicular.
        implied: number of rows of the joint's type that no motion of the tree can change; they are not imposed.
        misfit: how far the implied rows are from zero, the largest value seen over random poses of the tree,
            (translations [m], rotations [rad]).
    """

    translations: Array
    rotations: Array
    implied: int
    misfit: tuple[float, float] = (0.0, 0.0)


def frozen(array: Array) -> Array:
    """The same array, read-only."""
    array.flags.writeable = False
    return array


def all_rows(half: Halves) -> ClosureRows:
    """All rows of a joint's type.

    A free rotation about n leaves e1.n_b = e2.n_b = 0, no free rotation also e1.e2_b = 0; a universal joint keeps its
    two axes perpendicular. All have derivatives of length one where the halves coincide.
    """
    kind = half.prototype
    held = [i for i in range(3) if i not in kind.translations]
    a, b = half.frame_a.T, half.frame_b.T
    pairs = {0: [(a[0], b[2]), (a[1], b[2]), (a[0], b[1])], 1: [(a[0], b[2]), (a[1], b[2])], 3: []}
    rotations = [(a[2], b[0])] if kind.type == "universal" else pairs[len(kind.rotations)]
    return ClosureRows(a[held], np.array(rotations).reshape(-1, 2, 3), 0)


def units(tree: Tree, halves: Sequence[Halves], sizes: Array) -> Array:
    """What a dimensionless rate of one is (freedoms,): one radian; of slides the size of their largest loop [m]."""
    result = np.zeros(tree.freedoms)
    for half, size in zip(halves, sizes, strict=True):
        result = np.maximum(result, size * np.abs(tree.carried[half.b] - tree.carried[half.a]))
    return np.where(tree.turns | (result == 0.0), 1.0, result)


class System:
    """Rows of several closing joints over the freedoms of the tree that follow no other one, made dimensionless.

    Translations are measured by the size of their own loop, rates by `units`.

    Args:
        tree: the tree's kinematics.
        halves: the closing joints.
        rows: the rows of each.
        sizes: (joints,) sizes of their loops [m].

    Attributes:
        tree: the tree's kinematics.
        freedoms: number of freedoms that follow no other one.
        moving: (freedoms,) whether a freedom, or one that follows it, belongs to a loop.
        count: number of rows.
        spans: rows of each joint, translations first.
    """

    def __init__(self, tree: Tree, halves: Sequence[Halves], rows: Sequence[ClosureRows], sizes: Array) -> None:
        self.tree, self.spans, self.count = tree, [], 0
        self.freedoms = len(tree.leaders)
        self._gains = tree.motions * units(tree, halves, sizes)[tree.leaders]
        slides, turns = [], []
        for half, row, size in zip(halves, rows, sizes, strict=True):
            start = self.count
            slides += [(start + i, half, t / size) for i, t in enumerate(row.translations)]
            start += len(row.translations)
            turns += [(start + i, half, pair) for i, pair in enumerate(row.rotations)]
            self.spans.append(slice(self.count, start + len(row.rotations)))
            self.count = self.spans[-1].stop
        self._n, owners = len(slides), [half for _, half, _ in slides + turns]
        self._order = np.argsort([row for row, *_ in slides + turns])
        self._a, self._b = np.array([half.a for half in owners], int), np.array([half.b for half in owners], int)
        self._t = np.array([t for *_, t in slides]).reshape(-1, 3)
        self._anchors = np.array([(half.anchor_a, half.anchor_b) for _, half, _ in slides]).reshape(-1, 2, 3)
        self._pairs = np.array([pair for *_, pair in turns]).reshape(-1, 2, 3)
        self._signs = tree.carried[self._b] - tree.carried[self._a]
        self.moving = (np.abs(self._signs) @ np.abs(self._gains) != 0.0).any(axis=0)

    def move(self, coordinates: Array, rates: Array) -> Array:
        """Coordinates (S, n_q) after unit time at dimensionless rates (S, freedoms)."""
        return self.tree.move(coordinates, rates @ self._gains.T)

    def evaluate(self, poses: Poses) -> tuple[Array, Array]:
        """Values (S, rows) and derivatives (S, rows, freedoms) of the rows, dimensionless."""
        n, a, b = self._n, self._a, self._b
        R_a, R_b, x = poses.R[:, a], poses.R[:, b], poses.x
        t = turned(R_a[:, :n], self._t)
        from_a = x[:, a[:n]] + turned(R_a[:, :n], self._anchors[:, 0])
        to_b = x[:, b[:n]] + turned(R_b[:, :n], self._anchors[:, 1])
        u, w = turned(R_a[:, n:], self._pairs[:, 0]), turned(R_b[:, n:], self._pairs[:, 1])
        values = np.concatenate([np.sum(t * (to_b - from_a), -1), np.sum(u * w, -1)], axis=1)
        # each row works like a wrench on the child, its opposite on the parent: force, moment about the world's origin
        forces = np.concatenate([t, np.zeros_like(u)], axis=1)
        moments = np.concatenate([cross(to_b, t), cross(w, u)], axis=1)
        wrenches = np.concatenate([forces, moments], axis=-1)
        derivatives: Array = (wrenches @ poses.screws.transpose(0, 2, 1) * self._signs) @ self._gains
        return values[:, self._order], derivatives[:, self._order]


def gaps(half: Halves, poses: Poses) -> tuple[Array, Array]:
    """How far a joint's two halves are apart along what the joint holds: (S,) [m] and (S,) [rad]."""
    R_a, R_b, kind = poses.R[:, half.a], poses.R[:, half.b], half.prototype
    apart = poses.x[:, half.b] + R_b @ half.anchor_b - poses.x[:, half.a] - R_a @ half.anchor_a
    held = [i for i in range(3) if i not in kind.translations]
    E = (R_a @ half.frame_a).transpose(0, 2, 1) @ (R_b @ half.frame_b)
    distance = np.linalg.norm((apart[:, None] @ R_a @ half.frame_a[:, held])[:, 0], axis=1)
    if kind.has_quaternion:
        return distance, np.zeros(len(distance))
    if kind.type == "universal":
        return distance, np.abs(np.arcsin(np.clip(E[:, 2, 0], -1.0, 1.0)))
    if kind.rotations:
        return distance, np.arctan2(np.hypot(E[:, 0, 2], E[:, 1, 2]), E[:, 2, 2])
    skew = np.stack([E[:, 2, 1] - E[:, 1, 2], E[:, 0, 2] - E[:, 2, 0], E[:, 1, 0] - E[:, 0, 1]])
    return distance, np.arctan2(np.linalg.norm(skew, axis=0), np.trace(E, axis1=1, axis2=2) - 1.0)


def constraint_rows(mechanism: Listing, poses: Mapping[str, tuple[Array, Array]]) -> tuple[Array, Array]:
    """Return the wrenches by which the joints, of the tree and of loops, hold the bodies at given poses.

    Args:
        mechanism: the mechanism.
        poses: of every body by name: centre of mass (3,) [m] and orientation (4,).

    Returns:
        (R, 6 n_bodies) one row per held direction, of length one for a force or moment on the child, in the order of
        `mechanism.bodies`: force (world axes), moment about the centre of mass (world axes); the parent has the
        opposite wrench, the world none; and (n_joints + 1,) where the rows of each of `mechanism.ordered_joints` start.
    """
    placed = [(np.zeros(3), np.array(IDENTITY)), *(poses[name] for name in mechanism.bodies)]
    x, R = np.array([x for x, _ in placed]), matrix(np.array([q for _, q in placed]))
    blocks, starts = [np.zeros((0, len(x), 6))], [0]
    for joint in mechanism.ordered_joints:
        half = split(mechanism, joint)
        rows = all_rows(half)
        t = rows.translations @ R[half.a].T
        turns = cross(rows.rotations[:, 1] @ R[half.b].T, rows.rotations[:, 0] @ R[half.a].T)
        point = x[half.b] + R[half.b] @ half.anchor_b
        block = np.zeros((len(t) + len(turns), len(x), 6))
        for body, sign in ((half.b, 1.0), (half.a, -1.0)):
            block[: len(t), body] = sign * np.hstack([t, cross(np.broadcast_to(point - x[body], t.shape), t)])
            block[len(t) :, body, 3:] = sign * turns
        blocks.append(block)
        starts.append(starts[-1] + len(block))
    return np.concatenate(blocks)[:, 1:].reshape(starts[-1], -1), np.array(starts)

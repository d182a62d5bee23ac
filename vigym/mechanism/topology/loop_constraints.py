"""Constraints of joints: values, derivatives, gaps and Jacobians of rows held at zero."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from vigym.mechanism.content import Elements
from vigym.mechanism.elements.checks import Array, ReadOnly
from vigym.mechanism.elements.joints import IDENTITY
from vigym.mechanism.topology.joint_frames import JointFrames, joint_frames
from vigym.mechanism.topology.kinematics import Poses, TreeKinematics
from vigym.spatial import batch_rotation_matrix, cross, rotate


@dataclass(frozen=True, eq=False)
class LoopConstraints(ReadOnly):
    """Constraint rows that a loop-closing joint imposes.

    Attributes:
        translations: (n, 3) directions fixed in the parent along which the two anchors coincide.
        rotations: (m, 2, 3) pairs of a vector fixed in the parent and one fixed in the child that
            stay perpendicular.
        redundant: number of rows of the joint's type that no motion of the tree can change; they
            are not imposed.
        misfit: largest values of the redundant rows over random poses of the tree, (translations
            [m], rotations [rad]).
    """

    translations: Array
    rotations: Array
    redundant: int
    misfit: tuple[float, float] = (0.0, 0.0)


def joint_type_constraints(frames: JointFrames) -> LoopConstraints:
    """Return all constraint rows of a joint's type.

    A free rotation about n leaves e1.n_b = e2.n_b = 0, no free rotation also e1.e2_b = 0; a
    universal joint keeps its two axes perpendicular. All have derivatives of length one where the
    joint frames coincide.
    """
    joint_type = frames.joint_type
    a, b = frames.frame_a.T, frames.frame_b.T
    perpendicular = [(a[0], b[2]), (a[1], b[2]), (a[0], b[1])]
    rotations = perpendicular[: (3, 2, 0, 0)[len(joint_type.rotations)]]
    if joint_type.needs_second_axis:
        rotations = [(a[2], b[0])]
    held = _held_translations(frames)
    return LoopConstraints(a[held], np.array(rotations).reshape(-1, 2, 3), 0)


def _held_translations(frames: JointFrames) -> list[int]:
    return [i for i in range(3) if i not in frames.joint_type.translations]


def rate_units(tree: TreeKinematics, loops: Sequence[JointFrames], sizes: Array) -> Array:
    """Return the unit of a dimensionless rate of each degree of freedom (dofs,).

    One radian; of translations the size of their largest loop [m].
    """
    result = np.zeros(tree.dofs)
    for frames, size in zip(loops, sizes, strict=True):
        on_loop = np.abs(tree.support[frames.b] - tree.support[frames.a])
        result = np.maximum(result, size * on_loop)
    return np.where(tree.is_rotation | (result == 0.0), 1.0, result)


class LoopSystem:
    """Dimensionless constraint rows of loop-closing joints over the independent degrees of freedom.

    Translations are measured by the size of their own loop, rates by `rate_units`.

    Args:
        tree: kinematics of the tree.
        loops: joint frames of the loop-closing joints.
        constraints: rows of each.
        sizes: (joints,) sizes of their loops [m].

    Attributes:
        tree: kinematics of the tree.
        dofs: number of independent degrees of freedom.
        moving: (dofs,) whether a degree of freedom, or one that follows it, belongs to a loop.
        gains: (tree dofs, dofs) rates of the tree at unit dimensionless rates.
        count: number of rows.
        spans: rows of each joint, translations first.
    """

    def __init__(
        self,
        tree: TreeKinematics,
        loops: Sequence[JointFrames],
        constraints: Sequence[LoopConstraints],
        sizes: Array,
    ) -> None:
        self.tree = tree
        self.dofs = len(tree.independent)
        self.count = 0
        self.spans: list[slice] = []
        self.gains = tree.velocity_map * rate_units(tree, loops, sizes)[tree.independent]
        translations, rotations = [], []  # row, joint frames, vectors
        for frames, rows, size in zip(loops, constraints, sizes, strict=True):
            start = self.count
            translations += [(start + i, frames, t / size) for i, t in enumerate(rows.translations)]
            start += len(rows.translations)
            rotations += [(start + i, frames, pair) for i, pair in enumerate(rows.rotations)]
            self.spans.append(slice(self.count, start + len(rows.rotations)))
            self.count = self.spans[-1].stop
        self._n_translations = len(translations)
        owners = [frames for _, frames, _ in translations + rotations]
        self._order = np.argsort([row for row, *_ in translations + rotations])
        self._a = np.array([frames.a for frames in owners], int)
        self._b = np.array([frames.b for frames in owners], int)
        self._t = np.array([t for *_, t in translations]).reshape(-1, 3)
        anchors = [(frames.anchor_a, frames.anchor_b) for _, frames, _ in translations]
        self._anchors = np.array(anchors).reshape(-1, 2, 3)
        self._pairs = np.array([pair for *_, pair in rotations]).reshape(-1, 2, 3)
        self._signs = tree.support[self._b] - tree.support[self._a]
        self.moving = (np.abs(self._signs) @ np.abs(self.gains) != 0.0).any(axis=0)

    def integrate_rates(self, coordinates: Array, rates: Array) -> Array:
        """Return coordinates (S, n_q) after unit time at dimensionless rates (S, dofs)."""
        return self.tree.integrate_rates(coordinates, rates @ self.gains.T)

    def evaluate(self, poses: Poses) -> tuple[Array, Array]:
        """Return dimensionless values (S, rows) and derivatives (S, rows, dofs) of the rows."""
        n = self._n_translations
        a = self._a
        b = self._b
        R_a, R_b = poses.R[:, a], poses.R[:, b]
        t = rotate(R_a[:, :n], self._t)
        from_a = poses.x[:, a[:n]] + rotate(R_a[:, :n], self._anchors[:, 0])
        to_b = poses.x[:, b[:n]] + rotate(R_b[:, :n], self._anchors[:, 1])
        u = rotate(R_a[:, n:], self._pairs[:, 0])
        w = rotate(R_b[:, n:], self._pairs[:, 1])
        values = np.concatenate([np.sum(t * (to_b - from_a), -1), np.sum(u * w, -1)], axis=1)
        # wrench of each row on the child about the world's origin; the parent has its opposite
        forces = np.concatenate([t, np.zeros_like(u)], axis=1)
        moments = np.concatenate([cross(to_b, t), cross(w, u)], axis=1)
        wrenches = np.concatenate([forces, moments], axis=-1)
        per_dof = wrenches @ poses.screws.transpose(0, 2, 1) * self._signs
        derivatives: Array = per_dof @ self.gains
        return values[:, self._order], derivatives[:, self._order]


def joint_gaps(frames: JointFrames, poses: Poses) -> tuple[Array, Array]:
    """Return the distances of a joint's frames along its constraints: (S,) [m] and (S,) [rad]."""
    R_a, R_b = poses.R[:, frames.a], poses.R[:, frames.b]
    point_b = poses.x[:, frames.b] + R_b @ frames.anchor_b
    apart = point_b - poses.x[:, frames.a] - R_a @ frames.anchor_a
    held = (apart[:, None] @ R_a @ frames.frame_a[:, _held_translations(frames)])[:, 0]
    E = (R_a @ frames.frame_a).transpose(0, 2, 1) @ (R_b @ frames.frame_b)
    return np.linalg.norm(held, axis=1), _rotation_gap(frames, E)


def closing_coordinates(frames: JointFrames, poses: Poses) -> Array:
    """Return the coordinates (S, dofs) [m, rad] of a closing joint with up to two rotations.

    Angles are in (-pi, pi].
    """
    kind, R_a = frames.joint_type, poses.R[:, frames.a]
    point_b = poses.x[:, frames.b] + poses.R[:, frames.b] @ frames.anchor_b
    apart = point_b - poses.x[:, frames.a] - R_a @ frames.anchor_a
    slides = (apart[:, None] @ R_a @ frames.frame_a[:, list(kind.translations)])[:, 0]
    E = (R_a @ frames.frame_a).transpose(0, 2, 1) @ (poses.R[:, frames.b] @ frames.frame_b)
    first, second = np.arctan2(E[:, 1, 0], E[:, 0, 0]), np.arctan2(E[:, 2, 1], E[:, 2, 2])
    turns = np.stack([first, second], axis=1)[:, : len(kind.rotations)]
    return np.concatenate([slides, turns], axis=1)


def _rotation_gap(frames: JointFrames, E: Array) -> Array:
    """Return the angle (S,) that a joint's type forbids of rotations E between its frames."""
    joint_type = frames.joint_type
    if joint_type.has_quaternion:
        return np.zeros(len(E))
    if joint_type.needs_second_axis:
        return np.asarray(np.abs(np.arcsin(np.clip(E[:, 2, 0], -1.0, 1.0))))
    if joint_type.rotations:
        return np.asarray(np.arctan2(np.hypot(E[:, 0, 2], E[:, 1, 2]), E[:, 2, 2]))
    skew = (E[:, 2, 1] - E[:, 1, 2], E[:, 0, 2] - E[:, 2, 0], E[:, 1, 0] - E[:, 0, 1])
    sine = np.linalg.norm(np.stack(skew), axis=0)
    return np.asarray(np.arctan2(sine, np.trace(E, axis1=1, axis2=2) - 1.0))


def constraint_jacobian(
    mechanism: Elements, poses: Mapping[str, tuple[Array, Array]]
) -> tuple[Array, Array]:
    """Return the constraint Jacobian of all joints, of the tree and of loops, at given poses.

    Args:
        mechanism: the mechanism.
        poses: of every body by name: centre of mass (3,) [m] and orientation (4,).

    Returns:
        (R, 6 n_bodies) one row per constraint, of length one for a force or moment on the child, in
        the order of `mechanism.bodies`: force, moment about the centre of mass (world axes); the
        parent has the opposite wrench, the world none; and (n_joints + 1,) the first row of each of
        `mechanism.ordered_joints`.
    """
    placed = [(np.zeros(3), np.array(IDENTITY)), *(poses[name] for name in mechanism.bodies)]
    x = np.array([x for x, _ in placed])
    R = batch_rotation_matrix(np.array([q for _, q in placed]))
    blocks, starts = [np.zeros((0, len(x), 6))], [0]
    for joint in mechanism.ordered_joints:
        frames = joint_frames(mechanism, joint)
        a, b = frames.a, frames.b
        rows = joint_type_constraints(frames)
        t = rows.translations @ R[a].T
        moments = cross(rows.rotations[:, 1] @ R[b].T, rows.rotations[:, 0] @ R[a].T)
        point = x[b] + R[b] @ frames.anchor_b
        block = np.zeros((len(t) + len(moments), len(x), 6))
        for body, sign in ((b, 1.0), (a, -1.0)):
            arms = np.broadcast_to(point - x[body], t.shape)
            block[: len(t), body] = sign * np.hstack([t, cross(arms, t)])
            block[len(t) :, body, 3:] = sign * moments
        blocks.append(block)
        starts.append(starts[-1] + len(block))
    return np.concatenate(blocks)[:, 1:].reshape(starts[-1], -1), np.array(starts)

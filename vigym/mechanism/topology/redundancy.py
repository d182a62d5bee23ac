"""Redundant constraints: rows of a loop-closing joint that no motion of the tree changes.

A planar four-bar of spatial hinges holds its plane by its tree already; three of the closing
hinge's five rows repeat that. Imposed, they would be redundant, and with axes that are a millionth
of a radian off they would lock the bars.
"""

from dataclasses import replace

import numpy as np

from vigym.mechanism.elements.checks import Array, read_only
from vigym.mechanism.elements.joints import joint_frame
from vigym.mechanism.topology.joint_frames import JointFrames
from vigym.mechanism.topology.kinematics import Poses, TreeKinematics
from vigym.mechanism.topology.loop_constraints import (
    LoopConstraints,
    LoopSystem,
    joint_type_constraints,
)

CONSTANT = 3e-5  # relative derivative below which a row is constant: files round angles to 1e-5 rad


def nonconstant_constraints(
    tree: TreeKinematics, frames: JointFrames, size: float, poses: Poses
) -> LoopConstraints:
    """Return the constraint rows of a loop-closing joint that motions of the tree change.

    Args:
        tree: kinematics of the tree.
        frames: joint frames of the loop-closing joint.
        size: of its loop [m].
        poses: random poses of the tree, loops open.
    """
    rows = joint_type_constraints(frames)
    if len(rows.rotations) == 3:
        aligned = joint_type_constraints(_align_with_only_axis(frames, tree, poses))
        rows = replace(rows, rotations=aligned.rotations)
    values, derivatives = _evaluate(tree, frames, rows, size, poses)
    n = len(rows.translations)
    smallest = CONSTANT * max(float(np.linalg.norm(derivatives, 2)), len(poses.x) ** 0.5)
    kept, dropped = _split_off_constant_rows(derivatives[:n], smallest)
    misfit = size * np.abs(dropped @ values[:n]).max(initial=0.0)
    translations = kept @ rows.translations
    rotations, angle_misfit = [], 0.0
    for group in _rows_by_child_vector(rows):
        kept, dropped = _split_off_constant_rows(derivatives[n:][group], smallest)
        angle_misfit = max(angle_misfit, np.abs(dropped @ values[n:][group]).max(initial=0.0))
        for parent_vector in kept @ rows.rotations[group, 0]:
            rotations.append((parent_vector, rows.rotations[group.start, 1]))
    return LoopConstraints(
        read_only(translations),
        read_only(np.array(rotations).reshape(-1, 2, 3)),
        n + len(rows.rotations) - len(translations) - len(rotations),
        (float(misfit), float(angle_misfit)),
    )


def _evaluate(
    tree: TreeKinematics, frames: JointFrames, rows: LoopConstraints, size: float, poses: Poses
) -> tuple[Array, Array]:
    """Return values (rows, S) and derivatives (rows, S * dofs) at all poses."""
    values, derivatives = LoopSystem(tree, [frames], [rows], np.array([size])).evaluate(poses)
    return values.T, derivatives.transpose(1, 0, 2).reshape(values.shape[1], -1)


def _rows_by_child_vector(rows: LoopConstraints) -> list[slice]:
    """Return the groups of rotation rows that can be combined: e1.n_b and e2.n_b."""
    if len(rows.rotations) < 2:
        return [slice(0, 1)]
    return [slice(0, 2), slice(2, 3)][: len(rows.rotations)]


def _split_off_constant_rows(derivatives: Array, smallest: float) -> tuple[Array, Array]:
    """Return orthonormal combinations (n, rows) of rows that change and of rows that do not."""
    squares, vectors = np.linalg.eigh(derivatives @ derivatives.T)
    changing = squares > smallest**2
    if changing.all():
        return np.eye(len(squares)), np.zeros((0, len(squares)))
    return _sparse_basis(vectors[:, changing]), _sparse_basis(vectors[:, ~changing])


def _sparse_basis(basis: Array) -> Array:
    """Return orthonormal rows that span the columns of `basis`, as near to unit rows as possible.

    They are equal on every machine.
    """
    projector, rows = basis @ basis.T, []
    for _ in range(basis.shape[1]):
        lengths = np.linalg.norm(projector, axis=0)
        row = projector[:, np.argmax(np.round(lengths, 6))]
        row = row / np.linalg.norm(row)
        projector = projector - np.outer(row, row @ projector)
        rows.append(row)
    return np.array(rows).reshape(-1, len(basis))


def _align_with_only_axis(frames: JointFrames, tree: TreeKinematics, poses: Poses) -> JointFrames:
    """Return the frames of a joint without rotation, turned to the only axis of its loop.

    The rows of such a joint mean the same in any frame; in this one two of them are constant.
    Without such an axis the frames are returned unchanged.
    """
    signs = tree.support[frames.b] - tree.support[frames.a]
    relative = poses.screws[..., 3:] * signs[:, None]
    flat = (relative @ poses.R[:, frames.a] @ frames.frame_a).reshape(-1, 3).T
    squares, vectors = np.linalg.eigh(flat @ flat.T)
    if squares[1] > CONSTANT**2 * max(squares[2], len(poses.x)) or squares[2] == 0.0:
        return frames
    axis = vectors[:, 2] * np.sign(vectors[np.argmax(np.abs(vectors[:, 2])), 2])
    turn = joint_frame(axis)
    return replace(frames, frame_a=frames.frame_a @ turn, frame_b=frames.frame_b @ turn)

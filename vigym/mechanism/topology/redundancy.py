"""Which rows of a closing joint do something: those that no motion of the tree changes are left out.

A planar four-bar of spatial hinges holds its plane by its tree already; three of the closing hinge's five rows repeat
that. Imposed, they would be redundant, and with axes that are a millionth of a radian off they would lock the bars.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.joints import axis_frame
from vigym.mechanism.topology.joint_frames import Halves
from vigym.mechanism.topology.kinematics import Poses, Tree
from vigym.mechanism.topology.loop_constraints import ClosureRows, System, all_rows, frozen

CONSTANT = 3e-5  # rows with derivatives below this part of the largest are constant: files round angles to 1e-5 rad


def impose(tree: Tree, half: Halves, size: float, poses: Poses) -> ClosureRows:
    """Return the rows of a closing joint that motions of the tree change.

    Args:
        tree: the tree's kinematics.
        half: the closing joint.
        size: of its loop [m].
        poses: random poses of the tree, loops open.
    """
    rows = all_rows(half)
    if len(rows.rotations) == 3:
        rows = replace(rows, rotations=all_rows(_along_the_turn(half, tree, poses)).rotations)
    values, derivatives = _evaluate(tree, half, rows, size, poses)
    n = len(rows.translations)
    least = CONSTANT * max(float(np.linalg.norm(derivatives, 2)), len(poses.x) ** 0.5)
    kept, dropped = _sort_out(derivatives[:n], least)
    misfit = size * np.abs(dropped @ values[:n]).max(initial=0.0)
    translations = kept @ rows.translations
    rotations, turn_misfit = [], 0.0
    for group in _same_child_vector(rows):
        kept, dropped = _sort_out(derivatives[n:][group], least)
        turn_misfit = max(turn_misfit, np.abs(dropped @ values[n:][group]).max(initial=0.0))
        rotations += [(u, rows.rotations[group.start, 1]) for u in kept @ rows.rotations[group, 0]]
    implied = n + len(rows.rotations) - len(translations) - len(rotations)
    pairs = np.array(rotations).reshape(-1, 2, 3)
    return ClosureRows(frozen(translations), frozen(pairs), implied, (float(misfit), float(turn_misfit)))


def _evaluate(tree: Tree, half: Halves, rows: ClosureRows, size: float, poses: Poses) -> tuple[Array, Array]:
    """Values (rows, S) and derivatives (rows, S * freedoms) at all poses."""
    values, derivatives = System(tree, [half], [rows], np.array([size])).evaluate(poses)
    return values.T, derivatives.transpose(1, 0, 2).reshape(values.shape[1], -1)


def _same_child_vector(rows: ClosureRows) -> list[slice]:
    """Rotation rows that can be combined: e1.n_b and e2.n_b."""
    return [slice(0, 2), slice(2, 3)][: len(rows.rotations)] if len(rows.rotations) > 1 else [slice(0, 1)]


def _sort_out(derivatives: Array, least: float) -> tuple[Array, Array]:
    """Orthonormal combinations (n, rows) of rows that change, and of those that do not."""
    squares, vectors = np.linalg.eigh(derivatives @ derivatives.T)
    changing = squares > least**2
    if changing.all():
        return np.eye(len(squares)), np.zeros((0, len(squares)))
    return _neat(vectors[:, changing]), _neat(vectors[:, ~changing])


def _neat(basis: Array) -> Array:
    """Rows that span the columns of `basis`, as near to single rows as can be; the same on every machine."""
    projector, rows = basis @ basis.T, []
    for _ in range(basis.shape[1]):
        lengths = np.linalg.norm(projector, axis=0)
        row = projector[:, np.argmax(np.round(lengths, 6))]
        row = row / np.linalg.norm(row)
        projector = projector - np.outer(row, row @ projector)
        rows.append(row)
    return np.array(rows).reshape(-1, len(basis))


def _along_the_turn(half: Halves, tree: Tree, poses: Poses) -> Halves:
    """Turn both frames of a joint without rotation so that its axis is the only one its loop can turn it about.

    The rows of such a joint mean the same in any frame; here two of them are then constant. Without such an axis the
    joint is returned as it is.
    """
    relative = poses.screws[..., 3:] * (tree.carried[half.b] - tree.carried[half.a])[:, None]
    flat = (relative @ poses.R[:, half.a] @ half.frame_a).reshape(-1, 3).T
    squares, vectors = np.linalg.eigh(flat @ flat.T)
    if squares[1] > CONSTANT**2 * max(squares[2], len(poses.x)) or squares[2] == 0.0:
        return half
    axis = vectors[:, 2] * np.sign(vectors[np.argmax(np.abs(vectors[:, 2])), 2])
    turn = axis_frame(axis)
    return replace(half, frame_a=half.frame_a @ turn, frame_b=half.frame_b @ turn)

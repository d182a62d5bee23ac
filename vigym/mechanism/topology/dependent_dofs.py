"""What couplings leave of the freedoms of a tree: who follows whom, and from which coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vigym.mechanism.elements.checks import Array

if TYPE_CHECKING:
    from vigym.mechanism.elements.collection import Listing


def leaders(mechanism: Listing) -> NDArray[np.int64]:
    """Velocities of the tree, by number, that follow no other one."""
    following = {coupling.joint for coupling in mechanism.couplings.values()}
    return np.array([i for i, name in enumerate(_velocities(mechanism)) if name not in following], np.int64)


def motions(mechanism: Listing) -> Array:
    """Velocities of the tree (freedoms, leaders) at a rate of one of each leader."""
    names, columns = _velocities(mechanism), leaders(mechanism)
    matrix: Array = np.eye(len(names))[:, columns]
    rows = {name: i for i, name in enumerate(names)}
    for follower, (leader, ratio, _) in _followed(mechanism).items():
        matrix[rows[follower]] = ratio * matrix[rows[leader]]
    return matrix


def start(mechanism: Listing, zero: Array) -> Array:
    """Tree coordinates (n_q,) at which all leaders are as at `zero` and the others follow."""
    names = [name for joint in mechanism.tree_joints for name in joint.coordinates(joint.prototype.positions)]
    columns, result = {name: i for i, name in enumerate(names)}, np.array(zero)
    for follower, (leader, ratio, offset) in _followed(mechanism).items():
        result[columns[follower]] = ratio * result[columns[leader]] + offset
    return result


def _velocities(mechanism: Listing) -> list[str]:
    return [name for joint in mechanism.tree_joints for name in joint.coordinates(joint.prototype.velocities)]


def _followed(mechanism: Listing) -> dict[str, tuple[str, float, float]]:
    """The leader, ratio and offset of each coordinate that follows one, straight from who follows nobody."""
    direct = {coupling.joint: coupling for coupling in mechanism.couplings.values()}
    found = {}
    for name in direct:
        leader, ratio, offset = name, 1.0, 0.0
        while leader in direct:
            step = direct[leader]
            leader, ratio, offset = step.other, ratio * step.ratio, offset + ratio * step.offset
        found[name] = leader, ratio, offset
    return found

"""Dependent degrees of freedom: those of a tree that follow others by couplings."""

import numpy as np
from numpy.typing import NDArray

from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.collection import Elements


def independent_dofs(mechanism: Elements) -> NDArray[np.int64]:
    """Return the numbers of the tree's velocities that follow no other one."""
    followers = {coupling.joint for coupling in mechanism.couplings.values()}
    names = _velocity_names(mechanism)
    return np.array([i for i, name in enumerate(names) if name not in followers], np.int64)


def velocity_map(mechanism: Elements) -> Array:
    """Return velocities of the tree (dofs, independent) at unit rates of the independent ones."""
    names = _velocity_names(mechanism)
    matrix: Array = np.eye(len(names))[:, independent_dofs(mechanism)]
    rows = {name: i for i, name in enumerate(names)}
    for follower, (leader, ratio, _) in _relations(mechanism).items():
        matrix[rows[follower]] = ratio * matrix[rows[leader]]
    return matrix


def coupled_start(mechanism: Elements, zero: Array) -> Array:
    """Return tree coordinates (n_q,) with independent ones as in `zero` and followers coupled."""
    names = [name for joint in mechanism.tree_joints for name in joint.position_names]
    columns = {name: i for i, name in enumerate(names)}
    result = np.array(zero)
    for follower, (leader, ratio, offset) in _relations(mechanism).items():
        result[columns[follower]] = ratio * result[columns[leader]] + offset
    return result


def _velocity_names(mechanism: Elements) -> list[str]:
    return [name for joint in mechanism.tree_joints for name in joint.velocity_names]


def _relations(mechanism: Elements) -> dict[str, tuple[str, float, float]]:
    """Return by follower: the independent coordinate at the end of its chain, ratio and offset."""
    couplings = {coupling.joint: coupling for coupling in mechanism.couplings.values()}
    relations = {}
    for follower in couplings:
        leader, ratio, offset = follower, 1.0, 0.0
        while leader in couplings:
            step = couplings[leader]
            offset += ratio * step.offset
            ratio *= step.ratio
            leader = step.other
        relations[follower] = leader, ratio, offset
    return relations

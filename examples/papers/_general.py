"""States of trees in joint coordinates, and their accelerations beside those by multipliers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vigym import Mechanism
from vigym.baselines import Multipliers, Tree, recursion

Array = NDArray[np.float64]
NUDGE = 1e-5  # [s] of the difference that gives accelerations of bodies


def bodies_at(tree: Tree, q: Array, rates: Array) -> tuple[Array, Array, Array]:
    """Return positions, rotations and velocities of the world and all bodies, in world axes."""
    joints = tree.joints(q, rates)
    R, x = recursion.poses(tree.links, joints)
    v = recursion.twists(tree.links, joints, rates)
    V = np.hstack([np.einsum("nij,nj->ni", R, part) for part in (v[:, 3:], v[:, :3])])
    places, turns = np.vstack([np.zeros((1, 3)), x]), np.concatenate([np.eye(3)[None], R])
    return places, turns, np.vstack([np.zeros((1, 6)), V])


def difference_to_multipliers(mech: Mechanism, tree: Tree, q: Array, rates: Array) -> float:
    """Return by how much accelerations of bodies differ from those by multipliers, relative.

    Constraint rows know nothing of the tree's coordinates; its accelerations of bodies are a
    difference over 20 us.

    Raises:
        AssertionError: the tree's poses and velocities do not satisfy the rows.
    """
    system = Multipliers(mech).system
    x, R, V = bodies_at(tree, q, rates)
    system.place(x, R)
    assert np.abs(system.rows.gaps).max() < 1e-12
    assert np.abs(system.rows.rates(V)).max() < 1e-12
    turning = np.einsum("nij,nj->ni", system.world_inertia, V[:, 3:])
    weight = system.mass[:, None] * mech.gravity
    forces = np.hstack([weight, -np.cross(V[:, 3:], turning)])
    expected = system.accelerate(forces, system.rows.drift(V))
    found = tree.accelerations(q, rates)
    later, earlier = (
        bodies_at(tree, q + e * rates + 0.5 * e**2 * found, rates + e * found)[2]
        for e in (NUDGE, -NUDGE)
    )
    away = np.abs((later - earlier) / (2.0 * NUDGE) - expected).max()
    return float(away / np.abs(expected).max())

"""Bodies without mass: links between joints, which move other bodies alone."""

import numpy as np

from vigym.mechanism.content import Elements
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.topology.analysis import Structure
from vigym.mechanism.topology.kinematics import TreeKinematics
from vigym.spatial import cross

LEAST = 1e-10  # of the inertias along the joints: an inertia that is rounding


def check_massless(mechanism: Elements, structure: Structure) -> None:
    """Raise MechanismError where bodies without mass have a motion that moves no mass.

    The inertia matrix along the joints, armatures included, has to have an inverse at assembly.

    Args:
        mechanism: bodies and joints.
        structure: of the mechanism.
    """
    obstacles = mechanism.obstacles  # these do not move
    if all(body.mass for name, body in mechanism.bodies.items() if name not in obstacles):
        return
    matrix = _mass_matrix(mechanism, structure)
    scale = np.sqrt(np.diagonal(matrix))
    still = np.flatnonzero(scale == 0.0)
    if len(still):
        weights = np.zeros(len(scale))
        weights[still[0]] = 1.0
    else:
        values, vectors = np.linalg.eigh(matrix / np.outer(scale, scale))
        if values[0] > LEAST:
            return
        weights = np.abs(vectors[:, 0])
    names = [name for joint in mechanism.tree_joints for name in joint.velocity_names]
    moving = ", ".join(repr(names[k]) for k in np.flatnonzero(weights > 0.1 * weights.max()))
    raise MechanismError(
        f"bodies without mass: found that a motion along {moving} moves no mass, expected mass on "
        "the last body of every chain and axes that are not parallel, or an armature"
    )


def _mass_matrix(mechanism: Elements, structure: Structure) -> Array:
    """Return the mass matrix of the open tree (dofs, dofs) at assembly."""
    tree = TreeKinematics(mechanism)
    poses = tree.poses(structure.assembly[None])
    armatures = [joint.armature for joint in mechanism.tree_joints for _ in range(joint.dofs)]
    matrix = np.diag(np.asarray(armatures, np.float64))
    linear, angular = np.split(poses.screws[0], 2, axis=1)
    for k, body in enumerate(mechanism.bodies.values(), start=1):
        own = np.flatnonzero(tree.support[k])  # of few where a file has many robots
        place = np.broadcast_to(poses.x[0, k], (len(own), 3))
        v, w = linear[own] + cross(angular[own], place), angular[own] @ poses.R[0, k]
        matrix[np.ix_(own, own)] += body.mass * v @ v.T + w @ body.inertia @ w.T
    return np.asarray(matrix)

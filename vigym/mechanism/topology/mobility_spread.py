"""Spread of mobilities in a loop: how much more easily one of its bodies moves than the rest.

All rows of a loop-closing joint move the bodies next to it. If one of these weighs almost nothing,
its mobility (inverse inertia) is so large that rounding hides the effect of the rows on the others:
loops close to about 1e-18 of their size times the spread, the ratio of the eigenvalues of K M^-1
K^T, rows K orthonormal.
"""

from typing import Any

import numpy as np

from vigym.mechanism.content import Elements
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.topology.analysis import Structure, loop_sizes
from vigym.mechanism.topology.effective_mass import RANK, Mobility
from vigym.mechanism.topology.joint_frames import joint_frames
from vigym.mechanism.topology.kinematics import TreeKinematics
from vigym.mechanism.topology.loop_constraints import LoopSystem

LARGEST_SPREAD = 1e8  # with which loops close to 1e-10 of their size


def check_mass_ratios(mechanism: Elements, structure: Structure) -> None:
    """Raise MechanismError where a body is too light for its loop.

    Args:
        mechanism: bodies and joints.
        structure: of the mechanism.
    """
    closing = mechanism.closing_joints
    if not closing:
        return
    tree = TreeKinematics(mechanism)
    frames = [joint_frames(mechanism, joint) for joint in closing]
    rows = [structure.loop_constraints[joint.name] for joint in closing]
    system = LoopSystem(tree, frames, rows, loop_sizes(mechanism, tree, frames))
    derivatives = system.evaluate(tree.poses(structure.assembly[None]))[1][0]
    masses = np.array([body.mass for body in mechanism.bodies.values()])
    inertias = np.array([body.inertia for body in mechanism.bodies.values()])
    mobilities = Mobility(mechanism, structure)
    M = mobilities.mass_matrix(masses, inertias)
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # found below
            mobility: Any = np.linalg.inv(system.gains.T @ M @ system.gains)
    except np.linalg.LinAlgError as error:
        raise mobilities.singular_mass_error(masses, inertias) from error
    if not np.isfinite(mobility).all():
        raise mobilities.singular_mass_error(masses, inertias)
    for joint, span in zip(closing, system.spans, strict=True):
        spread, rates = _mobility_ratio(derivatives[span], mobility)
        if spread > LARGEST_SPREAD:
            fastest = int(np.argmax(np.abs(rates)))
            lightest = _body_of_dof(mechanism, int(tree.independent[fastest]))
            raise MechanismError(
                f"joint {joint.name!r}: found that its loop moves body {lightest!r} {spread:.2g} "
                f"times as easily as the rest of it, expected {LARGEST_SPREAD:g} times at most: "
                "double precision cannot hold the loop closed; give that body more mass and "
                "inertia, or its joint an armature"
            )


def _mobility_ratio(rows: Array, mobility: Array) -> tuple[float, Array]:
    """Return the ratio of mobilities that rows (n, dofs) see, and the rates along the largest."""
    if 0 in rows.shape:
        return 1.0, np.zeros(len(mobility))
    _, values, vectors = np.linalg.svd(rows, full_matrices=False)
    seen = vectors[values > RANK * values[0]]
    if len(seen) == 0:
        return 1.0, np.zeros(len(mobility))
    moved = mobility @ seen.T
    squares, directions = np.linalg.eigh(seen @ moved)
    ratio = squares[-1] / squares[0] if squares[0] > 0.0 else np.inf
    return float(ratio), moved @ directions[:, -1]


def _body_of_dof(mechanism: Elements, dof: int) -> str:
    """Return the name of the body that a degree of freedom of the tree carries."""
    children = [joint.child for joint in mechanism.tree_joints for _ in range(joint.dofs)]
    return children[dof]

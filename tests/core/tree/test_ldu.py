"""Elimination along the tree: its increments are those of a dense solve along the joints' free directions."""

from functools import partial

import numpy as np
import pytest

from scenes.plain_python import TOLERANCE, data_of, dense_block, motions_by_dofs
from scenes.trees import TYPES, random_positions, random_rates, random_tree
from vigym import Mechanism, Simulator
from vigym.core.body.blocks import anchored_block
from vigym.core.body.dynamics import assemble_body_blocks, body_residuals
from vigym.core.joint.forces import assemble_joint_loads
from vigym.core.joint.geometry import rotation_axis, rotation_increment_axis
from vigym.core.math.vectors import sub
from vigym.core.model.context import knot_buffer
from vigym.core.solver.attempts import PROJECTIONS
from vigym.core.solver.iteration import Step
from vigym.core.solver.newton import start_attempt
from vigym.core.tables.plan import BALL_PIVOT
from vigym.core.tree import ldu

H, ONE = np.float64(0.01), np.float64(1.0)


def balls():
    """Bodies on three free rotations each that nothing acts on."""
    mech, rng = Mechanism(), np.random.default_rng(1)
    for k, parent in enumerate(("world", "b0", "b0")):
        mech.add_body(f"b{k}", 1.0 + k, (0.1, 0.2, 0.25), rng.normal(size=3), rng.normal(size=4))
        mech.add_joint(f"j{k}", "spherical", parent, f"b{k}", rng.normal(size=3))
    return mech


MADE = {
    f"{kind}, damping {damping}": partial(
        random_tree, 2, (kind, "revolute", kind), damping=damping, springs=damping > 0.0
    )
    for kind in TYPES
    for damping in (0.0, 0.5)
}
MADE["balls"] = balls
MADE["all types under a free root"] = partial(random_tree, 7, TYPES, damping=0.5, to_world=False)


def assembled(mech):
    """Data at a guess of knot 3, all equations assembled; knots 2 and 3."""
    sim = Simulator(mech, timestep=H)
    sim.reset(random_positions(3, sim.mechanism), random_rates(4, sim.mechanism, 2.0))
    assert sim.step(substeps=2).converged
    d = data_of(sim)
    knot2, knot3 = knot_buffer(d, 0), knot_buffer(d, -1)
    d.environment.iterations_left = 1.0
    step, method = Step(knot2, knot3, H, ONE), PROJECTIONS._replace(damped=True)
    start_attempt(d, step, np.True_, method, TOLERANCE)
    ldu.sum_joint_closures(d, knot3)
    assemble_joint_loads(d, knot3, H, ONE)
    assemble_body_blocks(d, knot2, knot3, H)
    body_residuals(d, knot2, knot3, H)
    return d, knot2, knot3


@pytest.mark.parametrize("name", MADE)
def test_increments_are_those_of_a_dense_solve(name):
    d, knot2, knot3 = assembled(MADE[name]())
    bodies = range(1, d.body_count)
    D = np.zeros((6 * len(bodies), 6 * len(bodies)))
    for k, i in enumerate(bodies):
        block = anchored_block(d.body(i), d.pose(knot2, i).arm, d.pose(knot3, i).arm)
        D[6 * k : 6 * k + 6, 6 * k : 6 * k + 6] = dense_block(block)
    r = np.ravel([(*d.body(i).force, *d.body(i).torque) for i in bodies])
    # three free rotations that nothing acts on are one pivot without loads
    whole = [d.body(i) for i in bodies if d.body(i).pivot_kind == BALL_PIVOT]
    assert bool(whole) == (name == "balls")
    free = {p for body in whole for p in range(body.first_dof, body.first_dof + 3)}
    loads = np.array([0.0 if p in free else d.dof(p).load for p in range(d.dof_count)])
    compliance = np.array([0.0 if p in free else d.dof(p).compliance for p in range(d.dof_count)])
    ldu.factorise(d, knot2, knot3)
    levers2 = {
        i: sub(d.pose(knot2, i).anchor, d.pose(knot2, d.body(i).parent).anchor) for i in bodies
    }
    levers3 = {i: d.body(i).lever3 for i in bodies}
    W = motions_by_dofs(d, knot2, levers2, rotation_axis)
    N = motions_by_dofs(d, knot3, levers3, rotation_increment_axis)
    s = np.linalg.solve(W.T @ D @ N + np.diag(compliance), -(W.T @ r + loads))
    ldu.solve_to_root(d, knot2)
    ldu.solve_to_leaves(d, knot3)
    found = np.ravel([(*d.body(i).delta_position, *d.body(i).delta_rotation) for i in bodies])
    expected = N @ s
    assert np.abs(expected).max() > 1e-6  # the guess is no solution yet
    assert found == pytest.approx(expected, abs=1e-12 * max(1.0, np.abs(expected).max()))

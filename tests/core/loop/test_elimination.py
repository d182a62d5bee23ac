"""Elimination of loop rows: increments and multipliers are those of a dense solve of all equations."""

import numpy as np
import pytest

from scenes.loops_space import closed_by
from scenes.plain_python import Fields, data_of, dense_block, motions_by_dofs
from vigym import Simulator
from vigym.core.body.blocks import anchored_block
from vigym.core.joint.geometry import rotation_axis, rotation_increment_axis
from vigym.core.kernels.close_loops import clear_wrenches
from vigym.core.kernels.knot_velocity import write_anchored_inertias
from vigym.core.loop import elimination
from vigym.core.loop.constraints import update_loop_anchors
from vigym.core.math.vectors import sub
from vigym.core.model.context import knot_buffer
from vigym.core.tables.plan import ORIENTATION_ROW
from vigym.core.tree import ldu

KINDS = "revolute", "prismatic", "universal", "spherical", "fixed"


def assembled(mech, rng):
    """Data with all equations at one knot, with inertias for blocks; wrenches, loads and residuals at random."""
    d = data_of(Simulator(mech))
    knot = knot_buffer(d, 0)
    update_loop_anchors(d, knot)
    ldu.sum_joint_closures(d, knot)
    write_anchored_inertias(d, knot)
    clear_wrenches(d)
    for p in range(d.dof_count):
        dof = d.dof(p)
        dof.load = rng.normal()
        dof.compliance, dof.increment_axis = 0.3, np.eye(3)[p % 3]
    for i in range(1, d.body_count):
        body, spins = d.body(i), range(3)
        d.body(i).force, d.body(i).torque = (tuple(v) for v in rng.normal(size=(2, 3)))
        for j in spins if body.rotation_count == 3 else ():
            d.dof(body.first_dof + body.translation_count + j).increment_axis = tuple(np.eye(3)[j])
    elimination.assemble_loop_rows(d, knot, knot)
    elimination.clear_multipliers(d, d.loop_row_count)
    for r in range(d.loop_row_count):
        d.loop_row(r).residual = rng.normal()
    return d, knot


def rows_of(d):
    """K and B (rows, 6 bodies), and the diagonal of rows that yield."""
    K, B = np.zeros((2, d.loop_row_count, d.body_count, 6))
    yields = np.zeros(d.loop_row_count)
    for r in range(d.loop_row_count):
        row = d.loop_row(r)
        closure = d.body(row.owner)
        for q, i in ((row.endpoint_a, closure.parent), (row.endpoint_b, closure.child)):
            if q >= 0:
                fill_in = d.fill_in(q)
                K[r, i] += (*fill_in.K_force, *fill_in.K_torque)
                B[r, i] += (*fill_in.B_force, *fill_in.B_torque)
        yields[r] = row.kind > ORIENTATION_ROW
    return K[:, 1:].reshape(len(K), -1), B[:, 1:].reshape(len(B), -1), np.diag(yields)


SCENES = {kind: lambda kind=kind: closed_by(kind) for kind in KINDS}


@pytest.mark.parametrize("name", SCENES)
def test_increments_and_multipliers_are_those_of_a_dense_solve(name):
    d, knot = assembled(SCENES[name](), np.random.default_rng(0))
    K, B, yields = rows_of(d)
    bodies = range(1, d.body_count)
    M = np.zeros((6 * len(bodies), 6 * len(bodies)))
    for k, i in enumerate(bodies):
        arm = d.pose(knot, i).arm
        M[6 * k : 6 * k + 6, 6 * k : 6 * k + 6] = dense_block(anchored_block(d.body(i), arm, arm))
    wrench = np.ravel([(*d.body(i).force, *d.body(i).torque) for i in bodies])
    tree = {p for i in bodies for p in range(d.body(i).first_dof, d.body(i).first_dof + 6)}
    levers = {i: sub(d.pose(knot, i).anchor, d.pose(knot, d.body(i).parent).anchor) for i in bodies}
    W = motions_by_dofs(d, knot, levers, rotation_axis)
    N = motions_by_dofs(d, knot, levers, rotation_increment_axis)
    own = [p for p in range(d.dof_count) if p in tree and np.abs(N[:, p]).any()]
    W, N = W[:, own], N[:, own]
    loads, compliance = np.array([(d.dof(p).load, d.dof(p).compliance) for p in own]).T
    gaps = np.array([d.loop_row(r).residual for r in range(d.loop_row_count)])
    system = np.block([[W.T @ M @ N + np.diag(compliance), -W.T @ B.T], [K @ N, yields]])
    solved = np.linalg.solve(system, -np.concatenate([W.T @ wrench + loads, gaps]))
    ldu.factorise(d, knot, knot)
    ldu.solve_to_root(d, knot)
    ldu.solve_to_leaves(d, knot)
    found = np.ravel([(*d.body(i).delta_position, *d.body(i).delta_rotation) for i in bodies])
    multipliers = [d.loop_row(r).multiplier for r in range(d.loop_row_count)]
    scale = np.abs(solved).max()
    assert multipliers == pytest.approx(solved[len(own) :], rel=1e-6, abs=1e-8 * scale)
    assert found == pytest.approx(N @ solved[: len(own)], rel=1e-6, abs=1e-8 * scale)


def test_multipliers_are_kept_and_restored():
    values = {"accepted_multiplier": -1.0, "unreduced_pivot": 6.0, "inverse_pivot": 0.5}
    rows = [Fields(multiplier=1.0 + r, **values) for r in range(2)]
    for row in rows:
        row.accepted_pivot_ratio = 0.0
    d = Fields(loop_row_count=2, loop_row=rows.__getitem__, features={"loops"})
    elimination.accept_multipliers(d, np.False_)
    assert rows[1].accepted_multiplier == -1.0
    elimination.accept_multipliers(d, np.True_)
    assert (rows[1].accepted_multiplier, rows[1].accepted_pivot_ratio) == (2.0, 3.0)
    elimination.save_multipliers(d)
    rows[1].accepted_multiplier = 9.0
    elimination.restore_multipliers(d, np.False_)
    assert rows[1].accepted_multiplier == 9.0
    elimination.restore_multipliers(d, np.True_)
    assert rows[1].accepted_multiplier == 2.0
    elimination.clear_multipliers(d, 1)
    assert [row.multiplier for row in rows] == [0.0, 2.0]

"""Poses, velocities and rows in numpy, against the slow twin's joints and against differences."""

import numpy as np
import pytest

from oracle.naive_joints import TwinJoint, conj, mul, rotate
from scenes.linkages import (
    add_slider_crank,
    bricard,
    five_bar,
    four_bar,
    ladder,
    quadruped,
    spatial_chain,
)
from scenes.trees import TYPES, random_positions, random_tree
from vigym.mechanism.elements.joint_types import JOINT_TYPES
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.topology.joint_frames import body_numbers, joint_frames
from vigym.mechanism.topology.kinematics import TreeKinematics
from vigym.mechanism.topology.loop_constraints import (
    LoopSystem,
    constraint_jacobian,
    joint_gaps,
    joint_type_constraints,
)
from vigym.spatial import batch_quaternion_product, batch_rotation_matrix, cross

STEP = 1e-6


def shuffled_tree(seed):
    """One joint of each type in random order, on the world or on a floating root."""
    return random_tree(
        seed, list(np.random.default_rng(seed).permutation(TYPES)), to_world=bool(seed % 2)
    )


def coordinates(mech, seed):
    """Random tree coordinates (1, n_q)."""
    values = random_positions(seed, mech)
    return np.concatenate(
        [np.atleast_1d(values.get(joint.name, ())) for joint in mech.tree_joints]
    )[None]


def named(mech, poses):
    return {name: (poses.x[0, i], poses.q[0, i]) for name, i in body_numbers(mech).items() if i}


def same_rotation(p, q):
    return min(np.abs(p - q).max(), np.abs(p + q).max()) < 1e-13


def test_products_and_matrices_are_those_of_the_twin():
    p, q, r = np.random.default_rng(0).normal(size=(3, 5, 4))
    p /= np.linalg.norm(p, axis=1, keepdims=True)
    assert np.abs(batch_quaternion_product(p, q) - mul(p, q)).max() < 1e-14
    assert (
        np.abs((batch_rotation_matrix(p) @ r[:, 1:, None])[..., 0] - rotate(p, r[:, 1:])).max()
        < 1e-14
    )


@pytest.mark.parametrize("seed", range(6))
def test_poses_are_those_of_the_twins_joints(seed):
    mech = shuffled_tree(seed)
    tree, values = TreeKinematics(mech), random_positions(seed, mech)
    poses = tree.poses(np.concatenate([tree.zero[None], coordinates(mech, seed)]))
    for i, body in enumerate(mech.bodies.values(), start=1):
        assert np.abs(poses.x[0, i] - body.position).max() < 1e-13
        assert same_rotation(poses.q[0, i], body.orientation)
    for joint in mech.tree_joints:
        a, b = (body_numbers(mech)[name] for name in (joint.parent, joint.child))
        zero = [(poses.x[0, i], poses.q[0, i]) for i in (a, b)]
        twin = TwinJoint(joint, a, b, *zero)
        x, q = twin.pose(poses.x[1, a], poses.q[1, a], np.atleast_1d(values.get(joint.name, ())))
        assert np.abs(x - poses.x[1, b]).max() < 1e-13
        assert same_rotation(q, poses.q[1, b])


@pytest.mark.parametrize("seed", range(6))
def test_screws_are_the_velocities_of_the_bodies(seed):
    mech = shuffled_tree(seed)
    tree, start = TreeKinematics(mech), coordinates(mech, seed)
    steps = STEP * np.eye(tree.dofs)
    ahead, back = (
        tree.poses(tree.integrate_rates(np.repeat(start, tree.dofs, axis=0), sign * steps))
        for sign in (1, -1)
    )
    screws = (
        tree.poses(start).screws[0][:, None] * tree.support.T[:, :, None]
    )  # (freedoms, bodies, 6)
    velocity = screws[..., :3] + cross(screws[..., 3:], tree.poses(start).x)
    assert np.abs((ahead.x - back.x) / (2 * STEP) - velocity).max() < 1e-8
    turn = mul(ahead.q, conj(back.q))[..., 1:] / STEP
    assert np.abs(turn - screws[..., 3:]).max() < 1e-8


def test_moving_keeps_quaternions_and_what_has_no_rate():
    mech = shuffled_tree(0)
    tree, start = TreeKinematics(mech), coordinates(mech, 0)
    assert np.array_equal(tree.integrate_rates(start, np.zeros((1, tree.dofs))), start)
    moved = tree.poses(
        tree.integrate_rates(start, np.random.default_rng(1).normal(size=(1, tree.dofs)))
    )
    assert np.abs(np.linalg.norm(moved.q, axis=-1) - 1.0).max() < 1e-14


@pytest.mark.parametrize("coupled", [False, True])
@pytest.mark.parametrize("closing", [kind for kind in TYPES if kind != "floating"])
def test_rows_of_loops_have_their_derivatives(closing, coupled):
    mech, _ = spatial_chain(3, closing)
    if coupled:
        first, second, third, *_ = mech.position_names
        mech.add_coupling("a", "gear", first, third, ratio=-0.5)
        mech.add_coupling("b", "gear", third, second, ratio=3.0, offset=0.2)
    tree, half = TreeKinematics(mech), joint_frames(mech, mech.joints["close"])
    system = LoopSystem(tree, [half], [joint_type_constraints(half)], np.array([1.7]))
    start = np.random.default_rng(2).uniform(-2.0, 2.0, (1, tree.dofs))
    derivatives = system.evaluate(tree.poses(start))[1][0]
    rates, starts = STEP * np.eye(system.dofs), np.repeat(start, system.dofs, axis=0)
    ahead, back = (
        system.evaluate(tree.poses(system.integrate_rates(starts, sign * rates)))[0]
        for sign in (1, -1)
    )
    assert system.dofs == tree.dofs - 2 * coupled
    assert derivatives.shape == (6 - half.joint_type.dofs, system.dofs)
    assert np.abs((ahead - back).T / (2 * STEP) - derivatives).max() < 1e-8


@pytest.mark.parametrize("closing", [kind for kind in TYPES if kind != "floating"])
def test_gaps_are_small_only_where_all_rows_are(closing):
    mech, angles = spatial_chain(4, closing)
    poses = TreeKinematics(mech).poses(np.stack([angles, 0.0 * angles]))
    distance, angle = joint_gaps(joint_frames(mech, mech.joints["close"]), poses)
    assert max(distance[0], angle[0]) < 1e-13  # seven hinges and 8 m round by 3e-15
    row = JOINT_TYPES[closing]
    assert (distance[1] > 1e-2) == (len(row.translations) < 3) or closing == "planar"
    assert (angle[1] > 1e-2) == (len(row.rotations) < 3)


def test_loops_are_measured_by_their_own_size():
    mech = Mechanism()
    add_slider_crank(mech, "A", (0, 0, 0), 1.0, apart=0.2)
    add_slider_crank(mech, "B", (5, 0, 0), 1e-3, apart=0.2)
    slide, *turns = np.split(mech.structure.assembly, 6)[:3]
    small = np.split(mech.structure.assembly, 6)[3:]
    assert slide < -0.01
    assert np.allclose(small[0], 1e-3 * slide, rtol=1e-6)
    assert np.allclose(small[1:], turns, rtol=1e-6)
    assert (mech.degrees_of_freedom, mech.redundant_constraints) == (2, 6)


def test_halves_turned_over_are_not_closed():
    for closing in ("revolute", "fixed"):
        mech = four_bar(
            closing=closing, child_rotation=(0.0, 1.0, 0.0, 0.0)
        )  # all rows are zero there
        poses = TreeKinematics(mech).poses(np.zeros((1, 3)))
        distance, angle = joint_gaps(joint_frames(mech, mech.joints["close"]), poses)
        assert distance[0] < 1e-14
        assert angle[0] == pytest.approx(np.pi)


@pytest.mark.parametrize("seed", range(6))
def test_the_wrenches_of_tree_joints_do_no_work_on_their_freedoms(seed):
    mech = shuffled_tree(seed)
    tree, poses = TreeKinematics(mech), TreeKinematics(mech).poses(coordinates(mech, seed))
    rows, starts = constraint_jacobian(mech, named(mech, poses))
    screws = poses.screws[0][:, None] * tree.support.T[:, 1:, None]
    linear = screws[..., :3] + cross(screws[..., 3:], poses.x[0, 1:])
    twists = np.concatenate([linear, screws[..., 3:]], axis=-1).reshape(tree.dofs, -1)
    assert np.abs(rows @ twists.T).max() < 1e-13
    assert np.linalg.matrix_rank(rows) == len(rows) == 6 * len(mech.bodies) - tree.dofs
    held = [6 - joint.dofs for joint in mech.ordered_joints]
    assert np.array_equal(starts, np.cumsum([0, *held]))


def test_wrenches_are_unit_forces_and_moments_that_cancel():
    mech = shuffled_tree(2)
    poses = named(mech, TreeKinematics(mech).poses(coordinates(mech, 1)))
    rows, starts = constraint_jacobian(mech, poses)
    centres = np.array([x for x, _ in poses.values()])
    for joint, start, end in zip(mech.ordered_joints, starts, starts[1:], strict=False):
        block = rows[start:end].reshape(-1, len(centres), 6)
        child = block[:, body_numbers(mech)[joint.child] - 1]
        forces = 3 - len(joint.joint_type.translations)
        assert np.allclose(np.linalg.norm(child[:forces, :3], axis=1), 1.0, atol=1e-14)
        assert np.allclose(child[forces:, :3], 0.0, atol=0.0)
        assert np.allclose(np.linalg.norm(child[forces:, 3:], axis=1), 1.0, atol=1e-14)
        if joint.parent != "world":
            total = np.hstack(
                [block[..., :3].sum(1), (block[..., 3:] + cross(centres, block[..., :3])).sum(1)]
            )
            assert np.abs(total).max(initial=0.0) < 1e-14
        else:
            assert np.count_nonzero(np.abs(block).sum(axis=(0, 2))) == (1 if len(block) else 0)


@pytest.mark.parametrize(
    "mech", [four_bar(), five_bar(), five_bar(spread=0.1), ladder(3), bricard(), quadruped(0.05)]
)
def test_the_wrenches_of_all_joints_leave_the_mechanisms_freedoms(mech):
    poses = TreeKinematics(mech).poses(mech.structure.assembly[None])
    rows, _ = constraint_jacobian(mech, named(mech, poses))
    rank = np.linalg.matrix_rank(rows, tol=1e-9)
    assert 6 * len(mech.bodies) - rank == mech.degrees_of_freedom
    assert len(rows) - rank == mech.redundant_constraints

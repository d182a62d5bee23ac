"""Pivots of joints: a hinge with less code and three rotations as one pivot do what single degrees of freedom do."""

import numpy as np
import pytest

from scenes.plain_python import Fields, dense_block, evaluated_step, random_vector
from scenes.trees import random_positions, random_rates, random_tree
from vigym import Simulator
from vigym.core.tree import pivots

H = 0.01
RNG = np.random.default_rng(0)


def evaluated(kind, **options):
    mech = random_tree(2, (kind,), **options)
    sim = Simulator(mech, timestep=H)
    sim.reset(random_positions(3, mech), random_rates(4, mech, 2.0))
    return evaluated_step(sim, H)


def random_block(rng):
    D = rng.normal(size=(6, 6)) + 5.0 * np.eye(6)
    parts = D[:3, :3], D[:3, 3:], D[3:, :3], D[3:, 3:]
    return tuple(tuple(part.ravel()) for part in parts)


def test_a_hinge_is_a_single_rotation():
    d, step, _ = evaluated("revolute")
    body, block = d.body(1), random_block(RNG)
    body.lever2, body.lever3 = random_vector(RNG), random_vector(RNG)
    one = dense_block(pivots.eliminate_hinge(d, 1, step.knot2, step.knot3, block))
    other = dense_block(pivots.eliminate_dofs(d, 1, step.knot2, step.knot3, block))
    assert one == pytest.approx(other)
    assert pivots.close_hinge(d, 1, step.knot3, 1.0) == pivots.close_joint(d, 1, step.knot3, 1.0)


@pytest.mark.parametrize(
    "kind", ["revolute", "prismatic", "cylindrical", "universal", "planar", "spherical"]
)
def test_what_is_left_of_a_block_resists_no_free_motion(kind):
    """Seen by the parent, at whose anchor the joint's free motions are none of its own. Loads are zero here."""
    d, step, _ = evaluated(kind, springs=False, armature=False)
    body, block = d.body(1), random_block(RNG)
    body.lever2 = body.lever3 = (0.0, 0.0, 0.0)
    dofs = [d.dof(body.first_dof + j) for j in range(body.translation_count + body.rotation_count)]
    for dof in dofs:
        dof.compliance = 0.0
    left = dense_block(pivots.eliminate_dofs(d, 1, step.knot2, step.knot3, block))
    assert np.linalg.matrix_rank(left, 1e-8) == 6 - len(dofs)
    for j in range(body.translation_count):
        axis = pivots.translation_axis(d, 1, j, step.knot3)
        assert left @ (*axis, 0.0, 0.0, 0.0) == pytest.approx(np.zeros(6), abs=1e-9)
    for j in range(body.rotation_count):
        axis = pivots.rotation_increment_axis(d, 1, j, step.knot3)
        assert left @ (0.0, 0.0, 0.0, *axis) == pytest.approx(np.zeros(6), abs=1e-9)


def test_a_ball_is_three_rotations():
    d, step, _ = evaluated("spherical", springs=False, armature=False)
    block, levers = random_block(RNG), {"lever2": random_vector(RNG), "lever3": random_vector(RNG)}
    wrench = {"force": random_vector(RNG), "torque": random_vector(RNG)}
    ball = Fields(parent=0, **levers, **wrench)
    parent = Fields(delta_position=random_vector(RNG), delta_rotation=random_vector(RNG))
    whole = dense_block(pivots.eliminate_ball(ball, block))
    f, tau, _ = pivots.reduce_ball(ball, np.float64(0.0))
    shift, rotation = pivots.solve_ball(Fields(body=lambda i: parent), ball)
    D = dense_block(block)
    P2, P3 = (np.eye(6) for _ in range(2))
    for P, lever in ((P2, levers["lever2"]), (P3, levers["lever3"])):
        P[:3, 3:] = -np.cross(lever, np.eye(3)).T
    rest = D[:, :3] - D[:, 3:] @ np.linalg.solve(D[3:, 3:], D[3:, :3])
    expected = np.hstack([rest, np.zeros((6, 3))])
    assert whole == pytest.approx(P2.T @ expected @ P3)
    r = np.array((*wrench["force"], *wrench["torque"]))
    reduced = r[:3] - D[:3, 3:] @ np.linalg.solve(D[3:, 3:], r[3:])
    assert (*f, *tau) == pytest.approx(P2.T @ (*reduced, 0.0, 0.0, 0.0))
    motion = P3 @ (*parent.delta_position, *parent.delta_rotation)
    assert shift == pytest.approx(motion[:3])
    assert rotation == pytest.approx(-np.linalg.solve(D[3:, 3:], r[3:] + D[3:, :3] @ motion[:3]))


def test_a_motion_that_closes_a_joint_is_added_to_the_parents():
    parent = Fields(position_correction=(1.0, 0.0, 0.0), rotation_correction=(0.0, 0.0, 1.0))
    body = Fields(parent=0)
    d = Fields(body=lambda i: (parent, body)[i])
    gap = pivots.add_closure(d, 1, ((0.0, -0.3, 0.0), (2.0, 0.0, 0.0)), (0.0, 0.0, 0.1), 2.0)
    assert body.position_correction == pytest.approx((1.0, 1.7, 0.0))
    assert body.rotation_correction == pytest.approx((0.0, 0.0, 1.1))
    assert gap == pytest.approx(0.6)

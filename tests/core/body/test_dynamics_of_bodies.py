"""Dynamics of a body over a step: blocks are derivatives of its wrench, predictions are polynomials of time."""

import numpy as np
import pytest

from scenes.plain_python import derivative_by_motion, evaluated_step, random_vector, solved_step
from scenes.trees import random_rates, random_tree
from vigym import Simulator
from vigym.core.body import dynamics
from vigym.core.body.blocks import anchored_block

H = 0.02
RNG = np.random.default_rng(0)


def tumbling(kind="floating"):
    mech = random_tree(3, (kind,), springs=False, armature=False)
    sim = Simulator(mech, timestep=H)
    sim.reset(velocities=random_rates(4, mech, 3.0))
    assert sim.step(substeps=2).converged
    return sim


def test_blocks_are_derivatives_of_wrenches():
    d, step, _ = evaluated_step(tumbling("spherical"), H)
    body = d.body(1)
    body.position_correction = body.rotation_correction = (0.0, 0.0, 0.0)
    dynamics.assemble_body_blocks(d, step.knot2, step.knot3, step.h)
    A, B, C, D = (
        np.reshape(part, (3, 3))
        for part in anchored_block(body, d.pose(step.knot2, 1).arm, d.pose(step.knot3, 1).arm)
    )
    shift, rotation = random_vector(RNG), random_vector(RNG)
    expected = np.concatenate([A @ shift + B @ rotation, C @ shift + D @ rotation])

    def wrench():
        body.position_correction = body.rotation_correction = (0.0, 0.0, 0.0)
        dynamics.body_residuals(d, step.knot2, step.knot3, step.h)
        return (*body.force, *body.torque)

    found = derivative_by_motion(d, step, {1: (shift, rotation)}, wrench)
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-3)
    wrench()
    before = np.array((*body.force, *body.torque))
    body.position_correction, body.rotation_correction = (
        tuple(1e-6 * np.array(v)) for v in (shift, rotation)
    )
    dynamics.body_residuals(
        d, step.knot2, step.knot3, step.h
    )  # that foresees the motion that closes the joints
    assert (np.array((*body.force, *body.torque)) - before) / 1e-6 == pytest.approx(
        expected, rel=1e-4, abs=1e-3
    )


@pytest.mark.parametrize("degree", range(4))
def test_velocities_are_extrapolated_exactly(degree):
    """Lines by the last difference, cubics by all three."""
    v = [tuple(np.array((1.0, -2.0, 0.5)) * t**degree + 1.0) for t in range(5)]
    found = dynamics.extrapolate_velocity(v[3], v[2], v[1], v[0], np.float64(1.0), np.float64(1.0))
    assert found == pytest.approx(v[4])
    line = dynamics.extrapolate_velocity(
        v[3], v[2], (np.nan,) * 3, (np.nan,) * 3, np.float64(1.0), np.float64(0.0)
    )
    assert (line == pytest.approx(v[4])) == (degree < 2)
    assert (
        dynamics.extrapolate_velocity(v[3], v[2], v[1], v[0], np.float64(0.0), np.float64(0.0))
        == v[3]
    )


def test_a_free_body_keeps_its_momenta():
    """Those of two steps that meet at a knot, but for the impulse of gravity."""
    d, step, _ = solved_step(tumbling(), H)
    body = d.body(1)
    body.position_correction = body.rotation_correction = (0.0, 0.0, 0.0)
    dynamics.write_history_wrenches_of_step(d, step.knot2, step.h, step.rho)
    dynamics.body_residuals(d, step.knot2, step.knot3, step.h)
    assert np.abs((*body.force, *body.torque)).max() < 1e-7
    v1, v2 = (np.array(d.pose(knot, 1).velocity) for knot in (step.knot2, step.knot3))
    assert v2 - v1 == pytest.approx(H * np.array(d.environment.gravity), abs=1e-9)


def test_increments_keep_quaternions_at_length_one_and_move_by_their_part():
    ends = []
    for length in (0.0, 0.5, 1.0):
        d, step, _ = evaluated_step(tumbling(), H)
        body = d.body(1)
        body.delta_position, body.delta_rotation = (0.1, 0.2, -0.3), (0.0, 0.0, 0.0)
        body.position_correction = body.rotation_correction = (0.0, 0.0, 0.0)
        dynamics.apply_increment(d, step.knot2, step.knot3, step.h, np.float64(length), np.True_)
        ends.append(np.array(d.pose(step.knot3, 1).position))
    ends = np.array(ends) - ends[0]
    assert ends[1] == pytest.approx(0.5 * np.array((0.1, 0.2, -0.3)))
    assert ends[2] == pytest.approx((0.1, 0.2, -0.3))
    body.delta_rotation = (5.0, -9.0, 3.0)
    dynamics.apply_increment(d, step.knot2, step.knot3, step.h, np.float64(1.0), np.True_)
    pose = d.pose(step.knot3, 1)
    e = 0.5 * H * np.array(pose.angular_velocity)
    assert pose.cosine**2 + e @ e == pytest.approx(1.0)
    body.delta_rotation = (0.0, 0.0, 0.0)
    expected = body.mass * 0.3 / H**2
    assert dynamics.increment_as_inertial_force(d, step.knot3, step.h, 1.0) == pytest.approx(
        expected
    )

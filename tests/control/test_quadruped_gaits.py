"""Gaits of the quadruped: targets, growth, a walk, and a trot whose feet move as commanded."""

import numpy as np
import pytest

import vigym
from vigym import Simulator, assets, load_urdf
from vigym.control.quadruped_gaits import (
    LIFT,
    STAND,
    STEP_RATE,
    SineGait,
    joint_angles,
    leg_angles,
    trot_angles,
)

LEGS = ("front_left", "back_left", "front_right", "back_right")


def test_targets_are_sines_with_diagonal_legs_in_phase():
    gait = SineGait(hip_lean=0.05, knee_lean=-0.02)
    for time in (1.0, 1.13, 1.29):
        change = (joint_angles(gait(np.zeros(0), {"time": time})) - STAND).reshape(4, 3)
        phase = 2.0 * np.pi * 2.5 * time
        expected = (0.0, 0.05 + 0.15 * np.sin(phase), -0.02 + 0.25 * np.sin(phase + 1.57))
        # actions are single-precision numbers
        assert change[0] == pytest.approx(expected, abs=1e-6)
        assert change[3] == pytest.approx(change[0], abs=1e-6)
        assert change[1] == pytest.approx(change[2], abs=1e-6)
        assert change[0] + change[1] == pytest.approx((0.0, 0.1, -0.04), abs=1e-6)


def test_amplitudes_grow_from_the_stand():
    gait = SineGait(ramp=2.0)
    assert not gait(np.zeros(0), {"time": 0.0}).any()
    half, whole = (SineGait(ramp=ramp)(np.zeros(0), {"time": 1.1}) for ramp in (2.2, 0.0))
    assert half == pytest.approx(0.5 * whole, abs=1e-6)


def test_a_batch_has_the_actions_of_its_environments():
    gait, times = SineGait(), np.array([0.1, 0.7, 3.0])
    together = gait(np.zeros((3, 0)), {"time": times})
    for row, time in zip(together, times, strict=True):
        np.testing.assert_array_equal(row, gait(np.zeros(0), {"time": time}))


def test_the_gait_walks():
    """The steps of the start of a search: 0.6 m/s, without a fall or an unsolved step."""
    scores = vigym.evaluate("vigym/Quadruped-v1", "sine_gait", episodes=2)
    assert not scores.column("failed").any()
    assert not scores.column("unconverged_steps").any()
    assert scores.column("distance").min() > 4.0


@pytest.fixture(scope="module")
def robot():
    return Simulator(load_urdf(assets.path("quadruped"), base="floating"), timestep=0.001)


def feet_at(robot, angles):
    """Return places of the feet (4, 3) [m] in axes of the trunk, which stands upright."""
    positions = dict(zip(robot.mechanism.actuator_names, angles, strict=True))
    robot.reset(positions=positions)
    feet = [robot.body_position(f"{leg}_foot") for leg in LEGS]
    return np.array(feet) - robot.body_position("trunk")


def test_angles_of_a_leg_put_its_foot_there(robot):
    x, y = np.array([0.05, -0.08, 0.0, 0.11]), np.array([0.1, 0.0838, -0.04, -0.15])
    z = np.array([-0.27, -0.2, -0.3, -0.25])
    home = feet_at(robot, STAND)
    away = np.stack((x, y - 0.0838 * np.array([1, 1, -1, -1]), z + 0.4 * np.cos(0.8)), axis=-1)
    found = feet_at(robot, leg_angles(x, y, z))
    assert found - home == pytest.approx(away, abs=1e-9)


def test_a_foot_out_of_reach_is_brought_nearer():
    angles = leg_angles(*(np.full(4, value) for value in (0.3, 0.3, -0.3)))
    assert np.isfinite(angles).all()


def test_feet_on_the_ground_move_against_the_velocity(robot):
    command = (0.4, 0.2, 0.5)
    at, dt = 2.03, 1e-3
    before, after = (feet_at(robot, trot_angles(at + t, *command)) for t in (0.0, dt))
    velocity = (after - before) / dt
    ahead, left, turn = command
    for leg in (0, 3):  # these are in their stance
        x, y = 0.1805 * (1, -1, 1, -1)[leg], (0.047 + 0.0838) * (1, 1, -1, -1)[leg]
        expected = (-(ahead - turn * y), -(left + turn * x), 0.0)
        assert velocity[leg] == pytest.approx(expected, abs=1e-6)
    assert before[1, 2] > before[0, 2] + 0.01
    half = 0.5 / STEP_RATE
    swing = [feet_at(robot, trot_angles(2.0 + half + t, *command)) for t in (0.0, 0.5 * half)]
    assert swing[1][0, 2] - swing[0][0, 2] == pytest.approx(LIFT, abs=1e-9)


def test_the_trot_grows_from_the_stand_and_works_on_batches():
    assert trot_angles(0.0, 0.5, 0.1, 0.2) == pytest.approx(STAND, abs=1e-12)
    rows = np.random.default_rng(0).uniform(-1.0, 2.0, (5, 4))
    together = trot_angles(*rows.T)
    assert together.shape == (5, 12)
    for row, angles in zip(rows, together, strict=True):
        np.testing.assert_array_equal(angles, trot_angles(*row.tolist()))

"""Resets: poses and velocities from coordinates and rates, cleared history, lanes that stay."""

import numpy as np
import pytest

from scenes.plain_python import data_of, random_vector
from scenes.touching_scenes import wheel_drive
from scenes.trees import TYPES, random_positions, random_rates, random_tree
from vigym import Simulator
from vigym.core.joint.geometry import position_closure, rotation_closure
from vigym.core.kernels import reset
from vigym.core.math.quaternions import rotation_matrix
from vigym.core.model.context import knot_buffer

RNG = np.random.default_rng(0)


def test_a_rotation_about_an_axis():
    axis = np.array(random_vector(RNG))
    axis /= np.linalg.norm(axis)
    R = np.reshape(rotation_matrix(reset.rotation_about(tuple(axis), np.float64(0.7))), (3, 3))
    assert R @ axis == pytest.approx(axis)
    across = np.cross(axis, (1.0, 0.0, 0.0))
    expected = np.cos(0.7) * across + np.sin(0.7) * np.cross(axis, across)
    assert R @ across == pytest.approx(expected)


@pytest.mark.parametrize("kind", TYPES)
def test_joints_are_closed_and_rates_move_along_them(kind):
    """A small step by the velocities leaves them closed to second order."""
    mech = random_tree(3, (kind, "revolute"), springs=False)
    sim = Simulator(mech)
    sim.reset(random_positions(3, mech), random_rates(4, mech, 1.0))
    d = data_of(sim)
    knot = knot_buffer(d, 0)
    for i in (1, 2):
        closing = np.ravel((position_closure(d, i, knot)[0], rotation_closure(d, i, knot)))
        assert closing == pytest.approx(0.0, abs=1e-12)
    h = 1e-5
    short = Simulator(mech, timestep=h)
    short.reset(random_positions(3, mech), random_rates(4, mech, 1.0))
    short.step()
    if kind in ("revolute", "prismatic", "universal", "cylindrical", "planar"):
        change = (np.array(short.joint_positions) - np.array(sim.joint_positions)) / h
        assert change == pytest.approx(np.array(sim.joint_velocities), abs=1e-2)


@pytest.mark.parametrize("angle", [0.3, 7.0, -20.0, 100.0])
def test_full_turns_of_given_angles_are_kept(angle):
    sim = Simulator(wheel_drive())
    sim.reset([angle])
    assert sim.joint_positions[0] == pytest.approx(angle)


def test_a_reset_clears_the_history_in_lanes_of_the_mask():
    sim = Simulator(wheel_drive(damping=0.3, stiffness=2.0), timestep=0.01)
    sim.reset([0.4], [3.0])
    sim.step(substeps=5)
    d = data_of(sim)
    moved = d.state.copy()
    arguments = d, np.array([[0.4]]), np.array([[3.0]]), 0
    reset.reset_group(*arguments, np.False_)
    np.testing.assert_array_equal(d.state, moved)
    reset.reset_group(*arguments, np.True_)
    environment, knot = d.environment, knot_buffer(d, 0)
    assert (environment.time, environment.history, environment.dissipated, environment.swept) == (
        0.0,
    ) * 4
    assert environment.first_part == 1.0
    assert d.dof(0).last_rate == 3.0
    assert d.dof(0).last_spring_force == pytest.approx(2.0 * 0.4)
    assert d.pose(knot, 1).angular_velocity == pytest.approx((0.0, 3.0, 0.0))


def test_a_quaternion_is_scaled_to_length_one():
    found = reset.unit_quaternion(tuple(map(np.float64, (2.0, 0.0, -2.0, 1.0))))
    assert found == pytest.approx(np.array((2.0, 0.0, -2.0, 1.0)) / 3.0)

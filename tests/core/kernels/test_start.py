"""Starts and pushes: velocities that constraints allow, and rebounds that give no energy."""

import numpy as np
import pytest

from scenes.plain_python import data_of
from scenes.touching_scenes import ball, pendulum, slider
from vigym import Simulator
from vigym.core.kernels import start
from vigym.core.model.context import knot_buffer

NO_SUMS = np.zeros((1, 0))


def velocity(sim):
    d = data_of(sim)
    return np.array(d.pose(knot_buffer(d, 0), 1).velocity)


@pytest.mark.parametrize(("restitution", "expected"), [(0.0, 0.0), (0.5, 0.5), (1.0, 1.0)])
def test_a_ball_that_starts_into_the_ground_rebounds(restitution, expected):
    sim = Simulator(ball(0.1, friction=0.0, restitution=restitution))
    sim.reset(velocities={"ball:floating": (0.5, 0.0, -1.0, 0.0, 0.0, 0.0)})
    assert velocity(sim) == pytest.approx((0.5, 0.0, expected), abs=1e-4)
    assert data_of(sim).contact(0).rebound_velocity == 0.0  # it was made


def test_what_is_slower_than_a_short_fall_does_not_rebound():
    sim = Simulator(ball(0.1, friction=0.0, restitution=1.0), timestep=0.01)
    sim.reset(velocities={"ball:floating": (0.0, 0.0, -1.9 * 0.01 * 9.81, 0.0, 0.0, 0.0)})
    assert velocity(sim)[2] == pytest.approx(0.0, abs=1e-4)


def test_a_push_in_the_middle_of_a_rod_turns_it_about_its_pin():
    """J l / (I + m l^2) = 3 J / 2 for 1 m, 1 kg; what the joint holds is lost."""
    sim = Simulator(pendulum())
    sim.reset()
    sim.push([(0.2, 0.7, 0.5)])
    assert sim.joint_velocities[0] == pytest.approx(-1.5 * 0.2, rel=1e-6)
    assert velocity(sim) == pytest.approx((0.15, 0.0, 0.0), abs=1e-9)


def test_a_restart_changes_velocities_and_clears_the_history():
    sim = Simulator(slider(), timestep=0.01)
    sim.reset(velocities={"rail": 1.0})
    sim.step(substeps=3)
    d = data_of(sim)
    start.restart(d, knot_buffer(d, 0), np.array([[0.5, 0.0, 0.0]]), np.array([[3.0, 4.0]]), 0)
    environment = d.environment
    assert velocity(sim)[0] == pytest.approx(1.5)
    assert (environment.dissipated, environment.work) == (3.0, 4.0)
    assert (environment.step_size, environment.history) == (0.0, 0.0)
    assert environment.time == pytest.approx(0.03)


def test_other_lanes_keep_their_state():
    sim = Simulator(slider(), timestep=0.01)
    sim.reset(velocities={"rail": 1.0})
    sim.step()
    d = data_of(sim)
    before = d.state.copy()
    start.start_group(d, np.False_, 0.01, np.array([[0.5, 0.0, 0.0]]), np.zeros((1, 2)), 0)
    np.testing.assert_array_equal(d.state, before)
    start.start_group(d, np.True_, 0.01, np.array([[0.5, 0.0, 0.0]]), np.zeros((1, 2)), 0)
    assert velocity(sim)[0] == pytest.approx(1.5)

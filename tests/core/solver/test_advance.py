"""Advancing by a step: parts make up the whole, and lanes that do not arrive stay where they are."""

import numpy as np
import pytest

from scenes.plain_python import TOLERANCE, data_of
from scenes.touching_scenes import double_pendulum, fixed_leg, hopper, slider
from vigym import Simulator
from vigym.core.model.context import knot_buffer
from vigym.core.solver.advance import advance

H = np.float64(0.01)
POSE = "position", "orientation", "velocity", "angular_velocity"


def swinging():
    sim = Simulator(double_pendulum(damping=0.1), timestep=H)
    sim.reset([0.5, -0.3], [1.0, 2.0])
    return sim


def landing():
    sim = Simulator(hopper(clearance=1e-3), timestep=H)
    sim.reset(velocities={"lift": -1.0})
    return sim


def driven():
    """A closed leg whose motors lead it from where it starts."""
    sim = Simulator(fixed_leg(), timestep=H)
    sim.step(targets=[0.3, 0.2])
    return sim


def knot_of(d):
    bodies = [d.pose(knot_buffer(d, 0), i) for i in range(1, d.body_count)]
    return np.concatenate([np.ravel(getattr(pose, name)) for pose in bodies for name in POSE])


@pytest.mark.parametrize("make", [swinging, driven])
def test_a_step_in_two_parts_is_two_steps(make):
    parts, steps = data_of(make()), data_of(make())
    parts.environment.first_part = 0.5
    alive, iterations, worst, halvings, _ = advance(parts, H, np.True_, TOLERANCE, 200.0)
    assert (alive, halvings) == (True, 1.0)
    counted = [advance(steps, 0.5 * H, np.True_, TOLERANCE, 200.0)[1] for _ in range(2)]
    np.testing.assert_allclose(knot_of(parts), knot_of(steps), rtol=0.0, atol=1e-9)
    assert iterations == sum(counted)
    assert worst < 1e3 * TOLERANCE
    for name in ("time", "dissipated", "work", "step_size"):
        one, other = (getattr(d.environment, name) for d in (parts, steps))
        assert one == pytest.approx(other, abs=1e-9), name


def test_parts_follow_a_prescribed_motion():
    """Its goal in each part is that of the time there."""
    mech = slider()
    mech.add_motion("rail", lambda t: 2.0 * t)
    sim = Simulator(mech, timestep=H)
    sim.reset(velocities={"rail": 2.0})
    d = data_of(sim)
    motion = d.motion(0)
    motion.start_value = 0.0
    motion.start_rate = 2.0
    motion.end_value, motion.end_rate = 2.0 * H, 2.0
    d.environment.first_part = 0.25
    assert advance(d, H, np.True_, TOLERANCE, 100.0)[0]
    assert d.pose(knot_buffer(d, 0), 1).position[0] == pytest.approx(2.0 * H)
    assert d.environment.step_size == 0.25 * H


def test_a_step_back_undoes_a_step():
    """Without damping; the method is symmetric in time."""
    sim = Simulator(double_pendulum(), timestep=H)
    sim.reset([0.5, -0.3], [1.0, 2.0])
    sim.step(substeps=3)
    d = data_of(sim)
    before = np.array(d.pose(knot_buffer(d, 0), 2).position)
    for size in (H, -H):
        assert advance(d, size, np.True_, TOLERANCE, 100.0)[0]
    assert d.pose(knot_buffer(d, 0), 2).position == pytest.approx(before, abs=1e-9)
    assert d.environment.time == pytest.approx(0.03)


def test_lanes_that_are_not_to_move_keep_their_state():
    d = data_of(swinging())
    before = d.state.copy()
    alive, iterations, *_ = advance(d, H, np.False_, TOLERANCE, 100.0)
    assert not alive
    assert iterations == 0.0
    np.testing.assert_array_equal(d.state, before)


def test_a_lane_without_a_budget_is_given_up_where_it_was():
    d = data_of(landing())
    before = knot_of(d)
    alive, iterations, *_ = advance(d, H, np.True_, TOLERANCE, 2.0)
    assert not alive
    assert iterations == 2.0
    np.testing.assert_array_equal(knot_of(d), before)
    assert d.environment.time == d.environment.step_size == 0.0


def test_history_counts_equal_steps_and_a_failure_ends_it():
    d = data_of(swinging())
    counts = []
    for size in (1.0, 1.0, 0.5, 0.5, 0.5):
        advance(d, size * H, np.True_, TOLERANCE, 100.0)
        counts.append(d.environment.history)
    assert counts == [1.0, 2.0, 1.0, 2.0, 3.0]
    assert (d.environment.step_size, d.environment.previous_step_size) == (0.5 * H, 0.5 * H)
    assert not advance(d, H, np.True_, TOLERANCE, 1.0)[0]
    assert d.environment.history == 0.0

"""Attempts at a step: what a lane keeps that an attempt does not solve."""

import numpy as np
import pytest

from scenes.plain_python import TOLERANCE, solved_step, step_of
from scenes.touching_scenes import ball, geared
from vigym import Simulator
from vigym.core.solver import attempts
from vigym.core.solver.attempts import INTERIOR_POINT, REFINING

H = 0.01


def landed():
    sim = Simulator(ball(0.1, friction=0.4), timestep=H)
    sim.reset(velocities={"ball:floating": (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)})
    return sim


def test_lanes_that_are_not_to_be_solved_keep_their_knot():
    d, step, _ = solved_step(landed(), H)
    before = d.state.copy()
    attempts.attempt_in_lanes(d, step, np.False_, INTERIOR_POINT, TOLERANCE)
    np.testing.assert_array_equal(d.state, before)


@pytest.mark.parametrize("converges", [True, False])
def test_a_solution_outlives_a_refinement_that_fails(monkeypatch, converges):
    sim = Simulator(geared(), timestep=H)
    sim.reset(velocities={"axle0": 1.0, "axle1": -2.0})
    d, step, solved = solved_step(sim, H)
    pose, row = d.pose(step.knot3, 1), d.loop_row(0)
    before, row.accepted_multiplier = pose.angular_velocity, 3.0

    def attempt(d, step, lanes, method, tolerance):
        pose.angular_velocity, row.accepted_multiplier = (9.0, 9.0, 9.0), 9.0
        return np.bool_(converges), np.float64(2.0), np.float64(0.5), np.True_

    monkeypatch.setattr(attempts, "attempt", attempt)
    after, done = attempts.refine(d, step, solved, np.True_, REFINING, TOLERANCE)
    assert done == converges
    assert after.done
    assert after.iterations == solved.iterations + 2.0
    assert after.residual == (0.5 if converges else solved.residual)
    assert row.accepted_multiplier == (9.0 if converges else 3.0)
    assert pose.angular_velocity == ((9.0, 9.0, 9.0) if converges else before)


def test_a_step_without_a_budget_fails():
    d, step = step_of(landed(), H)
    d.environment.iterations_left = 0.0
    solved = attempts.solve_step(d, step, np.True_, np.False_, TOLERANCE)
    assert solved.failed
    assert not solved.done
    assert solved.iterations == 0.0

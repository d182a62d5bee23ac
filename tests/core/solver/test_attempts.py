"""Attempts at a step: which method follows which, and what a lane keeps that an attempt does not solve."""

import numpy as np
import pytest

from scenes.plain_python import TOLERANCE, Fields, solved_step, step_of
from scenes.touching_scenes import ball, geared
from vigym import Simulator
from vigym.core.solver import attempts
from vigym.core.solver.attempts import BREAKING_CYCLES, INTERIOR_POINT, PROJECTIONS, REFINING

H = 0.01
METHODS = (PROJECTIONS, INTERIOR_POINT, BREAKING_CYCLES)


def tried(monkeypatch, succeeds, interior_point=0, turned=False):
    """Methods of attempts at a nonsmooth step of which one succeeds; and the solution."""
    made = []

    def attempt(d, step, lanes, method, tolerance):
        made.append(method)
        d.environment.rims_turned = np.bool_(turned)
        return np.bool_(method == succeeds), np.float64(3.0), np.float64(0.1), np.True_

    keeps = "save_knot", "restore_knot", "save_multipliers", "restore_multipliers"
    for name in (*keeps, "remember_held_lanes"):
        monkeypatch.setattr(attempts, name, lambda *given: None)
    for name in ("find_lanes_beyond_bounds", "find_lanes_to_release"):
        monkeypatch.setattr(attempts, name, lambda d: np.False_)
    monkeypatch.setattr(attempts, "attempt", attempt)
    d = Fields(
        environment=Fields(leads_back=1.0),
        interior_point=interior_point,
        contact_count=1,
        has_limits=0,
    )
    d.wide = d
    return made, attempts.solve_step(d, Fields(knot3=0), np.True_, TOLERANCE)


@pytest.mark.parametrize("last", range(3))
def test_one_method_follows_another_until_one_converges(monkeypatch, last):
    made, solved = tried(monkeypatch, METHODS[last])
    refined = [REFINING] if METHODS[last] is INTERIOR_POINT else []
    assert made == [*METHODS[: last + 1], *refined]
    assert solved.done
    assert not solved.failed
    assert solved.iterations == 3.0 * len(made)


def test_where_none_converges_rims_that_turn_begin_anew(monkeypatch):
    made, solved = tried(monkeypatch, None)
    assert made == list(METHODS)
    made, solved = tried(monkeypatch, None, turned=True)
    assert made == [PROJECTIONS, *METHODS[1:] * attempts.MOST_ROUNDS]
    assert solved.failed
    assert not solved.done


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
    after = attempts.polish(d, step, solved, np.True_, TOLERANCE)
    assert after.done
    assert after.iterations == solved.iterations + 2.0
    assert after.residual == (0.5 if converges else solved.residual)
    assert row.accepted_multiplier == (9.0 if converges else 3.0)
    assert pose.angular_velocity == ((9.0, 9.0, 9.0) if converges else before)


def test_a_step_without_a_budget_fails():
    d, step = step_of(landed(), H)
    d.environment.iterations_left = 0.0
    solved = attempts.solve_step(d, step, np.True_, TOLERANCE)
    assert solved.failed
    assert not solved.done
    assert solved.iterations == 0.0

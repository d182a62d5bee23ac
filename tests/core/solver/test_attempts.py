"""Attempts at a step: what a lane keeps that an attempt does not solve."""

import numpy as np
import pytest

from scenes.plain_python import TOLERANCE, solved_step, step_of
from scenes.touching_scenes import (
    ball,
    double_pendulum,
    geared,
    leaning_rates,
    leaning_wheel,
    puck,
    slider,
)
from vigym import Simulator
from vigym.core.solver import attempts
from vigym.core.solver.attempts import (
    BREAKING_CYCLES,
    INTERIOR_POINT,
    PROJECTIONS,
    REFINING,
    RESUMED_INTERIOR_POINT,
    SPLITTING,
    TIGHTENING,
)

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


def sliding():
    """A puck that slides and spins."""
    sim = Simulator(puck(torsion=0.02), timestep=H)
    sim.reset(velocities={"puck:floating": (1.0, 0.4, 0.0, 0.0, 0.0, 6.0)})
    return sim


def falling():
    """A ball that lands with a slip in this step."""
    sim = Simulator(ball(0.101, friction=0.4), timestep=H)
    sim.reset(velocities={"ball:floating": (1.0, 0.0, -0.5, 0.0, 3.0, 0.0)})
    return sim


def rolling():
    sim = Simulator(leaning_wheel(), timestep=H)
    sim.reset(velocities={"free": leaning_rates((0.1, 3.0, 0.8))})
    return sim


def driven():
    mech = slider(effort=5.0, friction=0.3)
    mech.add_motor("rail", kp=30.0, kd=0.5)
    sim = Simulator(mech, timestep=H)
    sim.reset(velocities={"rail": 1.0})
    return sim


def velocities_of(d, step):
    knots = (d.pose(step.knot3, i) for i in range(1, d.body_count))
    return np.array([(*pose.velocity, *pose.angular_velocity) for pose in knots])


OTHERS = {
    "interior point": (INTERIOR_POINT,),
    "resumed": (INTERIOR_POINT, RESUMED_INTERIOR_POINT),
    "tightened": (INTERIOR_POINT, TIGHTENING),
    "splitting": (SPLITTING,),
    "breaking cycles": (BREAKING_CYCLES,),
}


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (make, name)
        for make in (sliding, falling, rolling, driven)
        for name in OTHERS
        if (make, name) != (falling, "resumed")  # a landing continues nothing
    ],
)
def test_all_methods_find_the_same_step(make, name):
    d, step, _ = solved_step(make(), H)
    expected = velocities_of(d, step)
    d, step = step_of(make(), H)
    for method in OTHERS[name]:
        done, *_ = attempts.attempt(d, step, np.True_, method, TOLERANCE)
        assert done
    # the proximal term lets contacts move by 5e-8 m, the relaxation of the interior point by more
    accuracy = 1e-4 if any(method.interior_point for method in OTHERS[name]) else 5e-8 / H
    assert velocities_of(d, step) == pytest.approx(expected, abs=accuracy)


def follow_attempts(monkeypatch, solves=None):
    """Let each attempt fail but those by one method; return the list of methods that are tried."""
    tried = []

    def attempt(d, step, lanes, method, tolerance):
        tried.append(method)
        return np.bool_(method == solves), np.float64(2.0), np.float64(0.5), np.True_

    monkeypatch.setattr(attempts, "attempt", attempt)
    return tried


SLOW = [BREAKING_CYCLES, SPLITTING, REFINING]


def test_methods_follow_each_other(monkeypatch):
    """From the second failure in a row on, the next steps resume; whole steps are not split."""
    tried = follow_attempts(monkeypatch)
    d, step = step_of(landed(), H)
    resumed = [SLOW[0], INTERIOR_POINT, *SLOW[1:]]
    for methods in (
        [PROJECTIONS, INTERIOR_POINT, *SLOW],
        [PROJECTIONS, RESUMED_INTERIOR_POINT, *resumed],
        [RESUMED_INTERIOR_POINT, PROJECTIONS, *resumed],
    ):
        tried.clear()
        solved = attempts.solve_step(d, step, np.True_, np.True_, TOLERANCE)
        assert solved.failed
        assert tried == methods
        assert solved.iterations == 2.0 * len(tried)
    tried.clear()
    attempts.solve_step(d, step, np.True_, np.False_, TOLERANCE)
    assert tried[-2:] == [BREAKING_CYCLES, INTERIOR_POINT]


@pytest.mark.parametrize("method", [INTERIOR_POINT, BREAKING_CYCLES, SPLITTING])
def test_the_first_method_that_solves_a_step_is_the_last_of_them(monkeypatch, method):
    tried = follow_attempts(monkeypatch, method)
    d, step = step_of(landed(), H)
    assert attempts.solve_step(d, step, np.True_, np.True_, TOLERANCE).done
    polished = method in (INTERIOR_POINT, SPLITTING)
    assert tried[-1 - polished :] == [method, *[REFINING] * polished]


def test_bodies_that_overlap_are_released_in_the_end(monkeypatch):
    tried = follow_attempts(monkeypatch)
    monkeypatch.setattr(attempts, "find_lanes_to_release", lambda d: np.True_)
    d, step = step_of(landed(), H)
    attempts.solve_step(d, step, np.True_, np.True_, TOLERANCE)
    assert tried == [PROJECTIONS, INTERIOR_POINT, *SLOW, PROJECTIONS]


def test_bodies_that_cannot_be_led_back_are_held(monkeypatch):
    """Their failure says nothing of the first method."""
    tried = follow_attempts(monkeypatch)
    for name in ("find_lanes_led_back", "find_lanes_beyond_bounds"):
        monkeypatch.setattr(attempts, name, lambda d: np.True_)
    d, step = step_of(landed(), H)
    attempts.solve_step(d, step, np.True_, np.False_, TOLERANCE)
    assert tried[:3] == [PROJECTIONS, INTERIOR_POINT, PROJECTIONS]
    assert d.environment.missed_starts == 0.0


def test_where_forces_act_at_gaps_the_relaxation_is_tightened_in_place_of_a_refinement(monkeypatch):
    tried = follow_attempts(monkeypatch, INTERIOR_POINT)
    monkeypatch.setattr(attempts, "find_lanes_of_forces_at_gaps", lambda d, h: np.True_)
    d, step = step_of(landed(), H)
    assert attempts.solve_step(d, step, np.True_, np.False_, TOLERANCE).done
    assert tried == [PROJECTIONS, INTERIOR_POINT, TIGHTENING, REFINING]


def test_limits_without_contacts_have_the_interior_point_too(monkeypatch):
    tried = follow_attempts(monkeypatch)
    d, step = step_of(Simulator(double_pendulum((-0.2, 0.2)), timestep=H), H)
    attempts.solve_step(d, step, np.True_, np.False_, TOLERANCE)
    assert tried == [PROJECTIONS, INTERIOR_POINT, BREAKING_CYCLES]

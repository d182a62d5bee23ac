"""Prescribed motions: goals on the cubic between two ends, what a step misses, and work along a known motion."""

import numpy as np
import pytest

from scenes.plain_python import Fields, data_of, derivative, solved_step
from scenes.touching_scenes import slider
from vigym import Simulator
from vigym.core.loop import motions

H = np.float64(0.01)
ENDS = {"start_value": 0.2, "start_rate": 3.0, "end_value": 0.25, "end_rate": -1.0}


def data(**values):
    motion = Fields(**(ENDS | values))
    return Fields(motion_count=1, motion=lambda m: motion, features={"imposed"}), motion


def goal_at(part, h=H, **values):
    d, motion = data(**values)
    motions.set_goals(d, np.float64(part), h)
    return motion.goal, motion.goal_rate


def test_goals_are_values_and_rates_at_both_ends():
    assert goal_at(0.0) == pytest.approx((0.2, 3.0))
    assert goal_at(1.0) == pytest.approx((0.25, -1.0))


def test_rates_are_derivatives_of_the_goals_and_a_cubic_is_met():
    for part in (0.1, 0.5, 0.8):
        slope = derivative(lambda x, part=part: goal_at(part + x[0])[0], (1.0,)) / H
        assert goal_at(part)[1] == pytest.approx(slope, rel=1e-7)
    s = np.poly1d((2.0, -1.0, 0.5, 3.0))
    h = 0.4
    ends = {
        "start_value": s(0.0),
        "start_rate": s.deriv()(0.0),
        "end_value": s(h),
        "end_rate": s.deriv()(h),
    }
    assert goal_at(0.3, h, **ends) == pytest.approx((s(0.3 * h), s.deriv()(0.3 * h)))


def carried():
    mech = slider(2.0)
    mech.add_motion("rail", lambda t: 3.0 * t)
    sim = Simulator(mech, timestep=H)
    sim.reset(velocities={"rail": 3.0})
    assert sim.step(substeps=2).converged
    return sim


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_the_work_of_a_motion_is_the_change_of_energy(way):
    sim = carried()
    motion = data_of(sim).motion(0)
    before = motion.value
    motion.start_value, motion.end_value = before, before + (3.0 + way) * H
    d, step, _ = solved_step(sim, H)
    assert motions.motion_residuals(d, step.knot2, step.knot3, step.h) == pytest.approx(
        0.0, abs=1e-12
    )
    work, absolute_work = motions.motion_work(d, step.knot2, step.knot3, step.h)
    assert work == pytest.approx(0.5 * 2.0 * ((3.0 + way) ** 2 - 9.0), rel=1e-6)
    assert absolute_work == pytest.approx(abs(work))
    motions.store_motions(d, np.False_)
    assert motion.value == before
    motions.store_motions(d, np.True_)
    assert motion.value == pytest.approx(before + (3.0 + way) * H)
    motion.goal = motion.goal + 0.02
    assert motions.motion_residuals(d, step.knot2, step.knot3, step.h) == pytest.approx(0.02)
    assert d.loop_row(motion.loop_row).residual == pytest.approx(-0.02)


def test_targets_of_motions_lie_behind_those_of_motors():
    sim = carried()
    d = data_of(sim)
    motion = d.motion(0)
    motion.value, motion.value_rate = 0.5, 0.6
    motions.read_motions(d, np.array([[1.0, 2.0, 3.0, 4.0]]), 0, 1)
    found = motion.start_value, motion.start_rate, motion.end_value, motion.end_rate
    assert found == (0.5, 0.6, 3.0, 4.0)

"""Gait of the quadruped: actions that give its targets, growth, and a walk."""

import numpy as np
import pytest

import vigym
from vigym.control.quadruped_gaits import STAND, SineGait, joint_angles


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
    scores = vigym.evaluate("vigym/Quadruped-v0", "sine_gait", episodes=2)
    assert not scores.column("failed").any()
    assert not scores.column("unconverged_steps").any()
    assert scores.column("distance").min() > 4.0

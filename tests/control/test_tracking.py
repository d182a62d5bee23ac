"""Tracking of the exoskeleton: its law, its bounds, batches."""

import numpy as np
import pytest

from vigym.control.tracking import EFFORTS, Tracking


def observation(seed=0, rows=()):
    return np.random.default_rng(seed).uniform(-0.05, 0.05, (*rows, 12))


def test_torques_are_gains_times_errors():
    seen = observation()
    gains = {"shoulder_kp": 80.0, "shoulder_kd": 7.0, "elbow_kp": 30.0, "elbow_kd": 2.0}
    torques = EFFORTS * Tracking(**gains)(seen, {})
    expected = (
        80.0 * (seen[8] - seen[0]) + 7.0 * (seen[10] - seen[4]),
        -150.0 * seen[1] - 5.0 * seen[5],
        -20.0 * seen[2] - 0.5 * seen[6],
        30.0 * (seen[9] - seen[3]) + 2.0 * (seen[11] - seen[7]),
    )
    assert torques == pytest.approx(expected, rel=1e-5)  # actions are single-precision numbers


def test_torques_are_within_the_efforts():
    action = Tracking(elbow_kp=1e5)(observation(), {})
    assert abs(action[3]) == 1.0


def test_a_batch_has_the_actions_of_its_environments():
    many, tracking = observation(rows=(3,)), Tracking()
    for row, one in zip(tracking(many, {}), many, strict=True):
        np.testing.assert_array_equal(row, tracking(one, {}))

"""First guess of a step: a cubic through the last velocities of smooth motion, a line where torques jump."""

from __future__ import annotations

import numpy as np

from vigym import Mechanism, Simulator
from vigym.core.compiler.simd import LANES
from vigym.core.solver.residual import JERKY, STEPS_OF_CUBIC
from vigym.core.tables.state import ENVIRONMENT_STATE


def pendulum():
    mech = Mechanism()
    mech.add_body("upper", 1.0, (0.02, 0.02, 0.001), (0.0, 0.0, -0.25))
    mech.add_body("lower", 1.0, (0.02, 0.02, 0.001), (0.0, 0.0, -0.75))
    mech.add_joint("hip", "revolute", "world", "upper", (0, 0, 0), (0, 1, 0), effort=100.0)
    mech.add_joint("knee", "revolute", "upper", "lower", (0, 0, -0.5), (0, 1, 0), effort=100.0)
    return mech


def history(sim):
    """Return the count of equal smooth steps that the next guess follows."""
    return sim._plant.groups.state.ravel()[ENVIRONMENT_STATE.offset("history") * LANES]


def test_smooth_motion_is_predicted_by_a_cubic():
    sim = Simulator(pendulum(), timestep=0.002)
    sim.reset(positions={"hip": 0.4, "knee": -0.3})
    for k in range(200):
        sim.step()
        assert history(sim) == k + 1


def test_random_torques_are_predicted_by_a_line():
    """A step takes the mean of two torques: third differences are second ones plus as much other noise."""
    sim, rng = Simulator(pendulum(), timestep=0.002), np.random.default_rng(0)
    counts = []
    for _ in range(400):
        assert sim.step([rng.normal(), 0.0]).converged
        counts.append(history(sim))
    # the ratio of two equal normal numbers has Cauchy's distribution
    jerky = 1.0 - (np.arctan(1.0 + JERKY) - np.arctan(1.0 - JERKY)) / np.pi
    assert abs(np.mean(np.array(counts) < STEPS_OF_CUBIC) - jerky) < 0.08


def test_a_torque_that_jumps_once_is_followed_by_a_cubic_again():
    sim = Simulator(pendulum(), timestep=0.002)
    counts = []
    for k in range(60):
        sim.step([5.0 if k >= 30 else 0.0, 0.0])
        counts.append(history(sim))
    jerky = np.flatnonzero(np.array(counts[10:]) < STEPS_OF_CUBIC) + 10
    assert jerky.size > 0
    assert set(jerky.tolist()) <= {30, 31, 32, 33}

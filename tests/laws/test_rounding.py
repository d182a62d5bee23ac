"""The rounding of positions is no imbalance: of a loop that is held by a stop, of a chain in small steps."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest

from vigym import Mechanism, Simulator, load_urdf
from vigym.assets import path
from vigym.control.minitaur_gaits import trot


@pytest.mark.parametrize("loops", ["tail", "local"])
@pytest.mark.parametrize("h", [0.005, 0.001, 0.0002])
def test_a_leg_falls_onto_the_stop_of_its_slide(h, loops):
    """The rounding of a coordinate, times the stiffness of a stop, is no imbalance of the loop."""
    sim = Simulator(load_urdf(path("minitaur_leg")), timestep=h, loops=loops)
    for _ in range(round(0.6 / h)):
        status = sim.step()
        assert status.converged
        assert status.halvings == 0
    assert sim.constraint_residual() <= 1e-9


@pytest.mark.parametrize("h", [1e-3, 2e-4])
def test_a_robot_that_stands_takes_one_iteration(h):
    """The rounding of a place, times the stiffness of a contact, is no imbalance of its loops."""
    env = gym.make("vigym/Minitaur-v0", timestep=h, frame_skip=1)
    standing = trot(lift=0.0, swing=0.0)
    observation, info = env.reset(seed=0)
    iterations = []
    for _ in range(round(0.8 / h)):
        observation, _, _, _, info = env.step(standing(observation, info))
        assert info["solver_converged"]
        iterations.append(info["solver_iterations"])
    settled = iterations[round(0.6 / h) :]
    assert np.mean(settled) <= 1.2
    assert max(settled) <= 3


@pytest.mark.parametrize("h", [1e-4, 1e-5, 1e-6])
@pytest.mark.parametrize("rate", [1.0, 20.0])
def test_one_hinge_takes_small_steps(rate, h):
    mech = Mechanism()
    mech.add_body("link", 1.0, (1 / 12, 1 / 12, 1 / 12), position=(0.5, 0.0, 0.0))
    mech.add_joint("pin", "revolute", "world", "link", (0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0))
    sim = Simulator(mech, timestep=h)
    sim.reset(velocities={"pin": rate})
    start = sim.energy().total
    status = sim.step(substeps=20_000)
    assert status.converged
    assert status.iterations <= 2 * 20_000
    assert sim.energy().total == pytest.approx(start, rel=1e-6)

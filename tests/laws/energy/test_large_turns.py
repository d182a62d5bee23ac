"""Bodies that turn far in every step, and arms that swing for long: every step is solved, and no energy runs away."""

from __future__ import annotations

import math

import numpy as np
import pytest

from scenes.chains import rod_chain
from scenes.random_scenes import random_scene
from scenes.whirled import whirled_tree, whirling_rates
from vigym import Simulator

# the first thirty, and those of the first 400 that were found by search: energies that rose to fifty
# times what they were, and steps without solution
SEEDS = (*range(30), 39, 54, 163, 165, 209, 235, 255, 269, 270, 285, 302, 319, 344, 373)


def largest_rise(seed, sprung):
    """Throw a tree; return by how much its energy rises at most, in parts of the kinetic energy."""
    mech = whirled_tree(seed, sprung)
    sim = Simulator(mech, timestep=0.02)
    sim.reset(velocities=whirling_rates(mech, seed))
    found, kinetic = [], 0.0
    for _ in range(200):
        assert sim.step().converged, seed
        energy = sim.energy()
        found.append(energy.total)
        kinetic = max(kinetic, energy.kinetic)
    levels = np.median(np.array(found).reshape(-1, 10), axis=1)
    return (levels - np.minimum.accumulate(levels)).max() / kinetic


@pytest.mark.parametrize(("sprung", "most"), [(0.0, 0), (0.6, 3)])
def test_energy_of_whirled_trees_does_not_run_away(sprung, most):
    """Turns of a radian a step are not resolved; yet all is solved, and hardly any tree gains energy.

    Three of these with springs do: light links turn there by more than a radian in every step.
    """
    risen = [seed for seed in SEEDS if largest_rise(seed, sprung) > 0.07]
    assert len(risen) <= most, risen


@pytest.mark.parametrize("angle", [0.5, 1.57, 3.0])
def test_a_pendulum_of_sixteen_steps_a_period_is_not_halved(angle):
    """Its velocity changes much from step to step, and its energy in the middle of a step by 18 %."""
    sim = Simulator(rod_chain(1), timestep=0.1)
    sim.reset({"hinge0": angle})
    found = []
    for _ in range(2000):
        assert sim.step().halvings == 0
        found.append(sim.energy().total)
    swing = 0.5 * 9.81 * (1.0 - np.cos(angle))
    assert np.mean(found[-500:]) == pytest.approx(np.mean(found[:500]), abs=1e-3 * swing)


@pytest.mark.parametrize("timestep", [0.02, 0.05, 0.1])
@pytest.mark.parametrize("count", [2, 3, 5, 20])
def test_whipping_chains_gain_nothing(count, timestep):
    """Whipping ends turn by up to a radian in a step; what halved steps cost is energy, not a gain."""
    sim = Simulator(rod_chain(count), timestep=timestep)
    sim.reset({"hinge0": np.pi / 2})
    start = sim.energy().total
    fall = 9.81 * count * count / 2.0
    for _ in range(1000):
        assert sim.step().converged
        assert sim.energy().total - start < 0.6 * fall
    rest = [sim.energy().total - start for _ in range(200) if sim.step().converged]
    assert len(rest) == 200
    assert np.mean(rest) < 0.05 * fall


@pytest.mark.parametrize("timestep", [0.04, 0.05, 0.06, 0.07])
@pytest.mark.parametrize("seed", range(4))
def test_double_pendulums_at_large_steps_gain_nothing(seed, timestep):
    """They are nearly resolved: halving single steps of theirs would make energy."""
    rng = np.random.default_rng(seed)
    sim = Simulator(rod_chain(2), timestep=timestep)
    sim.reset({"hinge0": rng.uniform(0.5, 2.5), "hinge1": rng.uniform(-1.0, 1.0)})
    found, kinetic = [], 0.0
    for _ in range(1200):
        assert sim.step().converged
        energy = sim.energy()
        found.append(energy.total)
        kinetic = max(kinetic, energy.kinetic)
    levels = np.mean(np.reshape(found, (-1, 60)), axis=1)
    assert levels.max() - levels[0] <= 0.1 * kinetic


@pytest.mark.parametrize("timestep", [0.01, 0.02, 0.05])
@pytest.mark.parametrize("count", [2, 3, 5, 10, 20])
def test_a_whipping_chain_keeps_its_energy(count, timestep):
    """A chain falls from the horizontal, and its end whips: bodies turn by half a radian a step."""
    sim = Simulator(rod_chain(count), timestep=timestep)
    sim.reset({"hinge0": math.pi / 2})
    start = sim.energy().total
    fall = 9.81 * count * count / 2.0  # energy between the horizontal and the hanging chain
    for _ in range(round(20.0 / timestep)):
        assert sim.step().converged
        assert abs(sim.energy().total - start) < 0.5 * fall


def test_a_free_body_that_spins_fast_is_not_halved():
    """A constant rotation of more than half a radian a step is no kink."""
    sim = Simulator(rod_chain(1, gravity=(0.0, 0.0, 0.0)), timestep=0.01)
    sim.reset(velocities={"hinge0": 60.0})
    for _ in range(100):
        status = sim.step()
        assert status.converged
        assert status.halvings == 0
    assert sim.joint_velocities[0] == pytest.approx(60.0, rel=1e-12)


STEPS, SETTLED = 1500, 150  # steps, and those after which most bodies lie
READ = 5  # steps in which energy is read with an error that comes and goes
GAIN = 0.1  # of the largest kinetic energy after the fall


@pytest.mark.parametrize(
    ("seed", "h"), [(710084, 0.0176), (710166, 0.0171), (710224, 0.0179), (710316, 0.0168)]
)
def test_arms_of_boxes_on_the_ground_gain_no_energy(seed, h):
    """Steps that were halved in the same phase of each swing fed it: by up to 120 % in 800 steps.

    Single halves among whole steps give or take energy. Where one is asked for, the next steps are
    halved, too.
    """
    scene, _ = random_scene("drop", seed)
    sim = scene.simulator(h)
    energies, kinetic = [], 0.0
    for k in range(STEPS):
        assert scene.step(sim, k).converged
        if k >= SETTLED:
            energy = sim.energy()
            energies.append(energy.total)
            kinetic = max(kinetic, energy.kinetic)
    lasting = np.array([min(energies[i : i + READ]) for i in range(len(energies) - READ)])
    level = np.minimum.accumulate([max(energies[i : i + READ]) for i in range(len(lasting))])
    assert np.max(lasting - level) < GAIN * kinetic

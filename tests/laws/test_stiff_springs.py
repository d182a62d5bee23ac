"""Springs that no step resolves give no energy, whatever moves with them; those that steps resolve lose none."""

from __future__ import annotations

import numpy as np
import pytest

from scenes import touching_scenes as scenes
from scenes.sprung import sprung_chain, sprung_rates, sprung_robot
from scenes.touching import moving
from scenes.trees import unit
from vigym import Simulator

KINDS = ("revolute", "prismatic", "cylindrical", "universal", "spherical", "points")


def energies(mech, seed, timestep, steps):
    """Return the energies [J] at the start and after each step."""
    sim = Simulator(mech, timestep=timestep)
    sim.reset(velocities=sprung_rates(mech, seed))
    found = [sim.energy().total]
    for _ in range(steps):
        assert sim.step().converged
        found.append(sim.energy().total)
    return np.array(found)


@pytest.mark.parametrize("stiffness", [1e3, 1e4, 1e5])
@pytest.mark.parametrize("kind", KINDS)
def test_unresolved_springs_give_no_energy(kind, stiffness):
    """A spring that turns back in every step is in resonance with all slow motion."""
    for seed in range(12):
        found = energies(sprung_chain(kind, seed, stiffness), seed, 0.01, 1000)
        levels = found[1:].reshape(-1, 50).min(axis=1)
        assert levels.max() <= 1.02 * found[0], seed


@pytest.mark.parametrize("kind", KINDS)
def test_robots_with_stiff_springs_land_without_gain(kind):
    """Contacts excite what steps do not resolve at every landing."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        stiffness, timestep = 10.0 ** rng.uniform(2.0, 5.0), rng.choice([0.005, 0.01, 0.02])
        sim = Simulator(sprung_robot(kind, seed, stiffness, rng.choice([0.0, 0.5, 1.5])), timestep)
        rates = sprung_rates(sim.mechanism, seed)
        rates["free"] = (1.0, 0.0, -2.0, *rng.normal(size=3))
        turn = {"free": (0.0, 0.0, 0.0, *unit(rng.normal(size=4)))}
        sim.reset(turn, rates, place_on_ground=True)
        found = [sim.energy().total]
        for _ in range(round(3.0 / timestep)):
            assert sim.step().converged
            found.append(sim.energy().total)
        levels = np.array(found[:-1]).reshape(-1, 15).min(axis=1)
        assert (levels - np.minimum.accumulate(levels)).max() <= 0.01 * found[0], seed


@pytest.mark.parametrize("kind", KINDS)
def test_resolved_springs_keep_the_energy(kind):
    for seed in range(4):
        found = energies(sprung_chain(kind, seed, 30.0), seed, 0.001, 3000)
        assert np.abs(found / found[0] - 1.0).max() <= 5e-3, seed
        assert found[2000:].mean() == pytest.approx(found[:1000].mean(), rel=1e-3), seed


@pytest.mark.parametrize("turn", [0.5, 1.0])
def test_damping_falls_with_the_seventh_power_of_the_step(turn):
    """At h w = turn an energy falls by 4 pi times the damping ratio each period."""
    stiffness = 1e4
    timestep = turn / np.sqrt(stiffness / 0.1)
    sim, periods = moving(scenes.wheel_drive(stiffness=stiffness), timestep, {"axle": 1.0}), 20
    start = sim.energy().total
    sim.step(substeps=round(periods * 2.0 * np.pi / turn))
    x = 0.25 * turn**2
    ratio = 0.05 * turn * x**3 / (1.0 + x**3)
    lost = 1.0 - sim.energy().total / start
    assert lost == pytest.approx(1.0 - np.exp(-4.0 * np.pi * ratio * periods), rel=0.5)


def test_damping_of_a_spring_counts_with_the_parameters_of_an_environment():
    """A body of a hundredth of the mass is not resolved; in the same batch another one is."""
    batch = Simulator(scenes.slider(stiffness=100.0), timestep=0.02, batch=2)
    batch.set_parameters({"mass": {"cart": np.array([1.0, 1e-3])}})
    batch.reset(velocities={"rail": 1.0})
    start = batch.energy().total
    batch.step(substeps=500)
    left = batch.energy().total / start
    assert left[0] == pytest.approx(1.0, abs=0.02)
    assert left[1] <= 0.1

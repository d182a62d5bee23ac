"""Springs that start stretched, or are pulled far, give back what they stored: in long steps, parts and short ones."""

from __future__ import annotations

import numpy as np
import pytest

from scenes.sprung import box_link_box, sprung_chain, sprung_rates, stretched_positions
from vigym import Simulator

KINDS = ("revolute", "prismatic", "cylindrical", "universal", "spherical")


@pytest.mark.parametrize("kind", KINDS)
def test_stretched_springs_give_no_more_than_they_stored(kind):
    """Steps of all sizes, and springs of all stiffnesses: resolved, nearly resolved and not at all."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        stiffness, timestep = 10.0 ** rng.uniform(1.5, 5.5), 10.0 ** rng.uniform(-3.0, -1.7)
        mech = sprung_chain(kind, seed, stiffness)
        sim = Simulator(mech, timestep=timestep)
        sim.reset(stretched_positions(mech, kind, seed, 0.4), sprung_rates(mech, seed))
        found = [sim.energy().total]
        for _ in range(300):
            assert sim.step().converged, seed
            found.append(sim.energy().total)
        levels = np.array(found[1:]).reshape(-1, 15).min(axis=1)
        assert levels.max() <= 1.02 * found[0], seed


@pytest.mark.parametrize("order", [4, 6])
@pytest.mark.parametrize("kind", KINDS)
def test_parts_of_a_composition_damp_what_they_do_not_resolve(kind, order):
    """Parts that go back in time do not undo the damping of those that go forward."""
    for seed in range(6):
        mech = sprung_chain(kind, seed, 3e4)
        sim = Simulator(mech, timestep=0.01, order=order)
        sim.reset(stretched_positions(mech, kind, seed), sprung_rates(mech, seed))
        start = sim.energy().total
        for _ in range(40):
            assert sim.step().converged, seed
            assert sim.energy().total <= 1.02 * start, seed


@pytest.mark.parametrize("shorter", [2.0, 30.0, 1000.0])
@pytest.mark.parametrize("kind", KINDS)
def test_a_damped_vibration_stays_damped_in_shorter_steps(kind, shorter):
    """Half of a step's damping acts at its end, whatever the size of the next one."""
    for seed in range(6):
        mech = sprung_chain(kind, seed, 1e5)
        sim = Simulator(mech, timestep=0.01)
        sim.reset(stretched_positions(mech, kind, seed, 0.4))
        start = sim.energy().total
        assert sim.step().converged
        after = Simulator(mech, timestep=0.01 / shorter)
        after.state = sim.state
        assert after.step(substeps=20).converged
        assert after.energy().total <= start, seed


@pytest.mark.parametrize("stiffness", [90.0, 300.0])
@pytest.mark.parametrize("timestep", [0.002, 0.01])
def test_pulled_springs_beside_a_light_link_are_solved(timestep, stiffness):
    """A short part after a long one shows energy that the long one did not resolve."""
    for seed in range(25):
        mech, start = box_link_box(seed, 0.1, stiffness, rest=1.0)
        sim = Simulator(mech, timestep=timestep)
        sim.reset(**start, place_on_ground=True)
        for k in range(60):
            assert sim.step().converged, (seed, k)


@pytest.mark.parametrize("ratio", [0.05, 0.001])
def test_first_steps_with_stretched_springs_between_points_are_solved(ratio):
    """At the start the energy in springs explains what they release."""
    for seed in range(40):
        mech, start = box_link_box(seed, ratio, 0.0, rest=0.0)
        mech.add_spring("spring", "body", "load", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 1500.0, 0.12)
        sim = Simulator(mech, timestep=0.004)
        sim.reset(**start, place_on_ground=True)
        for k in range(60):
            assert sim.step().converged, (seed, k)

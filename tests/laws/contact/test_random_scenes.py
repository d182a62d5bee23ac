"""Random scenes of contact: every step is solved, no scene gains energy, and lanes move alone.

Sizes, mass ratios, friction and steps are those of `scenes/random_scenes.py`;
`tests/benchmarks/random_scenes.py` plays more seeds.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from scenes.batches import assert_moments_move_alone
from scenes.random_scenes import GRAVITY, KINDS, random_scene

READ = 4  # knots of an impact, whose energies are read with the mean of two velocities
GAIN, LEAST_GAIN = 0.05, 0.05  # of the kinetic energy, and of the weight times the size
SEEDS, LANE_SEEDS = 12, 15
LANES, APART = 7, 6  # moments of a scene, and the steps between them
TOGETHER = 4  # steps of the batch


@pytest.mark.parametrize("kind", KINDS)
def test_steps_are_solved_and_give_no_energy(kind):
    for seed in range(SEEDS):
        scene, h = random_scene(kind, seed)
        sim = scene.simulator(h)
        energies = [sim.energy().total]
        for k in range(80):
            assert scene.step(sim, k).converged, seed
            energy = sim.energy()
            most = max(energies[-READ:]) + GAIN * energy.kinetic
            if scene.targets is None:
                assert energy.total <= most + LEAST_GAIN * scene.weight * scene.size, seed
            energies.append(energy.total)


@pytest.mark.parametrize("kind", KINDS)
def test_moments_of_a_scene_move_side_by_side_as_alone(kind):
    """Lanes that need one attempt and lanes that need all of them change nothing in each other."""
    for seed in range(LANE_SEEDS):
        scene, h = random_scene(kind, seed)
        step = partial(scene.step, k=0)
        assert_moments_move_alone(scene.simulator(h), LANES, APART, TOGETHER, step)


@pytest.mark.parametrize(("kind", "seed"), [("legs", 9), ("legs", 37), ("drop", 3), ("drop", 39)])
def test_velocities_at_knots_are_not_those_of_steps(kind, seed):
    """Contacts that turn between stick and slip at a knot, by a thousandth of their law, still act there."""
    scene, h = random_scene(kind, seed)
    sim = scene.simulator(h)
    for k in range(100):
        before = sim.body_states[:, :3]
        status = scene.step(sim, k)
        assert status.converged
        states = sim.body_states
        if status.halvings == 0:
            change = np.abs(states[:, 7:10] - (states[:, :3] - before) / h).max()
            assert change > 1e-6 * GRAVITY * h

"""Random scenes of contact: every step is solved, no scene gains energy, and lanes move alone.

Sizes, mass ratios, friction and steps are those of `scenes/random_scenes.py`;
`tests/benchmarks/random_scenes.py` plays more seeds.
"""

from __future__ import annotations

import numpy as np
import pytest

from scenes.random_scenes import KINDS, random_scene
from vigym import Simulator

READ = 4  # knots of an impact, whose energies are read with the mean of two velocities
GAIN, LEAST_GAIN = 0.05, 0.05  # of the kinetic energy, and of the weight times the size
SEEDS, LANE_SEEDS = 12, 30
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
        one, states = scene.simulator(h), []
        for k in range(APART * LANES):
            if k % APART == 0:
                states.append(one.state)
            scene.step(one, k)
        batch = Simulator(scene.mech, timestep=h, batch=LANES)
        batch.state = np.array(states)
        rows = [(np.array(scene.step(batch, 0)), batch.state) for _ in range(TOGETHER)]
        for e, state in enumerate(states):
            one.state = state
            for status, found in rows:
                expected = scene.step(one, 0)
                np.testing.assert_array_equal(status[:, e], expected, err_msg=f"seed {seed}")
                np.testing.assert_array_equal(found[e], one.state, err_msg=f"seed {seed}")

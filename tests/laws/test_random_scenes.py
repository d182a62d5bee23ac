"""Random scenes of contact: every step is solved, and no scene gains energy.

Sizes, mass ratios, friction and steps are those of `scenes/random_scenes.py`;
`tests/benchmarks/random_scenes.py` plays more seeds.
"""

from __future__ import annotations

import pytest

from scenes.random_scenes import KINDS, random_scene

READ = 4  # knots of an impact, whose energies are read with the mean of two velocities
GAIN, LEAST_GAIN = 0.05, 0.05  # of the kinetic energy, and of the weight times the size
SEEDS = 12


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

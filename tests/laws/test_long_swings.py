"""Arms that swing for a long time on a body at rest gain no energy."""

import numpy as np
import pytest

from scenes.random_scenes import random_scene

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

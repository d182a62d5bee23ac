"""Steps end where the next increment is predicted to be small: they are those of a much smaller tolerance."""

from __future__ import annotations

import numpy as np
import pytest

from scenes import touching_scenes as scenes
from vigym import Simulator

H = 0.005
G = 9.81
SCENES = {
    "snake": (lambda: scenes.snake(4), 3),
    "quadruped": (lambda: scenes.quadruped(clearance=0.02), 8),
    "hopper": (lambda: scenes.hopper(clearance=0.02), 2),
}


@pytest.mark.parametrize("name", SCENES)
def test_a_smaller_tolerance_changes_no_step(name):
    build, motors = SCENES[name]
    usual, exact = (Simulator(build(), timestep=H, tolerance=t) for t in (1e-10, 1e-13))
    usual.reset()
    masses = [body.mass for body in usual.mechanism.bodies.values()]
    # a step leaves 1e-8 of the weight at most, which moves the lightest body most; its joints add to that
    most = 10.0 * 1e-8 * sum(masses) / min(masses) * G * H**2
    generator = np.random.default_rng(1)
    for k in range(200):
        if k % 10 == 0:
            targets = generator.uniform(-0.5, 0.5, motors)
        exact.reset()
        exact.state = usual.state
        assert usual.step(targets=targets).converged, k
        assert exact.step(targets=targets).converged, k
        change = usual.body_states[:, :7] - exact.body_states[:, :7]
        assert np.abs(change).max() <= most, k

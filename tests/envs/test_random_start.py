"""Random starts are within limits."""

import numpy as np

from vigym import Mechanism
from vigym.envs.random_start import RandomStart


def test_random_translations_beside_a_ball_are_within_limits():
    mech = Mechanism()
    mech.add_body("bead", 1.0, (0.1, 0.1, 0.1))
    mech.add_joint("wire", "point_on_line", "world", "bead", (0, 0, 0), limits=(-0.1, 0.2))
    start, rng = RandomStart(mech), np.random.default_rng(0)
    found = np.array([start(rng, 1.0)[0][0] for _ in range(20)])
    assert (found.min(), found.max()) == (-0.1, 0.2)

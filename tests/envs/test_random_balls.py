"""Random starts of ball joints are within their limits."""

import numpy as np

from scenes.balls import angles_of, ball_pendulum
from vigym.envs.random_start import RandomStart
from vigym.mechanism.mechanism import Mechanism


def test_random_rotations_are_within_limits():
    start, rng = (
        RandomStart(ball_pendulum(swing=0.2, twist=(0.0, 0.1))),
        np.random.default_rng(0),
    )
    found = angles_of(np.array([start(rng, 1.0)[0] for _ in range(100)]))
    assert 0.1 < found["swing"].max() <= 0.2
    assert found["twist"].min() >= 0.0
    assert 0.05 < found["twist"].max() <= 0.1


def test_random_translations_beside_a_ball_are_within_limits():
    mech = Mechanism()
    mech.add_body("bead", 1.0, (0.1, 0.1, 0.1))
    mech.add_joint("wire", "point_on_line", "world", "bead", (0, 0, 0), limits=(-0.1, 0.2))
    start, rng = RandomStart(mech), np.random.default_rng(0)
    found = np.array([start(rng, 1.0)[0][0] for _ in range(20)])
    assert (found.min(), found.max()) == (-0.1, 0.2)

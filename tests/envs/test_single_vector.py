"""Vector environments in single precision: their episodes go as those in double do."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest

import vigym  # noqa: F401  registers the environments

JOINTS = 1e-5  # [m, rad] what joints hold to


@pytest.mark.parametrize(
    "name", ["Pendulum", "CartPole", "InvertedDoublePendulum", "Acrobot", "PendulumChain"]
)
def test_vector_environments(name):
    """Episodes of 20 random actions from the same starts end where those in double precision do."""
    double, single = (
        gymnasium.make_vec(f"vigym/{name}-v0", 20, precision=p) for p in ("float64", "float32")
    )
    for envs in (double, single):
        envs.reset(seed=3)
    double.action_space.seed(0)
    going = np.ones(20, bool)
    for _ in range(20):
        actions = 0.5 * double.action_space.sample()
        expected, _, over, _, _ = double.step(actions)
        found, _, ended, _, infos = single.step(actions)
        going &= ~(over | ended)
        np.testing.assert_allclose(found[going], expected[going], atol=2e-3)
        assert infos["solver_converged"][going].all()
        assert infos["constraint_residual_max"].max() < JOINTS
    assert going.any()


def test_vector_environments_refuse_it_where_it_does_not_serve():
    with pytest.raises(ValueError, match='precision="float32": found joint '):
        gymnasium.make_vec("vigym/Minitaur-v0", 2, precision="float32")
    with pytest.raises(ValueError, match="precision: found 'single', expected"):
        gymnasium.make_vec("vigym/Pendulum-v0", 2, precision="single")


def test_randomised_vector_environments():
    options = {"randomization": {"mass": (0.8, 1.2)}, "pushes": (0.1, 1.0), "max_episode_steps": 5}
    double, single = (
        gymnasium.make_vec("vigym/Acrobot-v0", 33, precision=p, **options)
        for p in ("float64", "float32")
    )
    for envs in (double, single):
        envs.reset(seed=0)
    for _ in range(13):
        expected, found = (
            envs.step(np.zeros(envs.action_space.shape, np.float32))[0] for envs in (double, single)
        )
        np.testing.assert_allclose(found, expected, atol=1e-3)

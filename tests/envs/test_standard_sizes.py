"""Standard tasks without MuJoCo: sizes of spaces, control steps and masses are those of Gymnasium v5."""

import gymnasium as gym
import pytest

import vigym  # noqa: F401

# name: observations, actions, control step [s], mass [kg], episode [control steps]
SIZES = {
    "InvertedPendulum": (4, 1, 0.04, 15.490567, 1000),
    "StandardDoublePendulum": (9, 1, 0.05, 18.869453, 1000),
    "Reacher": (10, 2, 0.02, 0.078452, 50),
    "HalfCheetah": (17, 6, 0.05, 14.0, 1000),
    "Hopper": (11, 3, 0.008, 15.820013, 1000),
    "Walker2d": (17, 6, 0.008, 23.677137, 1000),
    "Ant": (105, 8, 0.05, 0.910880, 1000),
    "Humanoid": (348, 17, 0.015, 42.116030, 1000),
}


@pytest.mark.parametrize("name", SIZES)
def test_sizes_are_those_of_gymnasium(name):
    observations, actions, dt, mass, steps = SIZES[name]
    env = gym.make(f"vigym/{name}-v0")
    assert env.observation_space.shape == (observations,)
    assert env.action_space.shape == (actions,)
    assert env.unwrapped.dt == pytest.approx(dt, rel=1e-12)
    assert env.spec.max_episode_steps == steps
    bodies = env.unwrapped.mechanism.bodies.values()
    assert sum(body.mass for body in bodies) == pytest.approx(mass, abs=1e-6)

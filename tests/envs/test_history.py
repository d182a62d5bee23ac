"""Observations of several control steps in one: those of Gymnasium's frame stack, in every vector."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import FlattenObservation, FrameStackObservation

import vigym  # noqa: F401  registers the environments
from vigym.envs.robots.sensors import LastAction

ID = "vigym/CartPole-v0"
OPTIONS = {"observation_noise": 0.1, "sensors": (LastAction(),)}


def stacked(**options):
    env = gym.make(ID, max_episode_steps=7, **options)
    return FlattenObservation(FrameStackObservation(env, 3, padding_type="reset"))


def test_the_names_tell_the_step():
    env = gym.make(ID, history=3, sensors=(LastAction(),)).unwrapped
    names = gym.make(ID, sensors=(LastAction(),)).unwrapped.observation_names
    before = [f"{name}[-{age}]" for age in (2, 1) for name in names]
    assert env.observation_names == before + names
    assert env.observation_space.shape == (3 * len(names),)


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_vectors_stack_as_single_environments(mode):
    """Through ends of episodes, with noise and sensors: the first observation stands for all before."""
    own = gym.make_vec(
        ID,
        num_envs=2,
        vectorization_mode="vector_entry_point",
        history=3,
        max_episode_steps=7,
        autoreset_mode=mode,
        **OPTIONS,
    )
    singles = gym.vector.SyncVectorEnv([lambda: stacked(**OPTIONS)] * 2, autoreset_mode=mode)
    np.testing.assert_array_equal(own.reset(seed=5)[0], singles.reset(seed=5)[0])
    own.action_space.seed(0)
    for _ in range(20):
        action = own.action_space.sample()
        for found, expected in zip(own.step(action)[:4], singles.step(action)[:4], strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-12)


def test_environments_that_are_not_reset_keep_their_history():
    envs = gym.make_vec(ID, num_envs=2, vectorization_mode="vector_entry_point", history=2)
    envs.reset(seed=0)
    before = envs.step(np.ones((2, 1)))[0]
    after, _ = envs.reset(options={"reset_mask": np.array([True, False])})
    assert after[1].tolist() == before[1].tolist()
    assert after[0, :5].tolist() == after[0, 5:].tolist() != before[0, 5:].tolist()


@pytest.mark.parametrize("history", [0, 1.5, True, 1001])
def test_wrong_numbers_of_steps(history):
    with pytest.raises(ValueError, match="option history: found"):
        gym.make(ID, history=history)

"""Mean rates over a control step, which rewards of standard tasks have in place of present velocities."""

import gymnasium as gym
import numpy as np
import pytest

import vigym  # noqa: F401

NAME = "vigym/HalfCheetah-v0"
ROUNDING = 1e-12  # of places of a metre over 0.05 s


def moves(count, *shape):
    return np.random.default_rng(0).uniform(-1.0, 1.0, (count, *shape)).astype(np.float32)


def test_the_rate_is_the_way_of_a_control_step_over_its_length():
    env = gym.make(NAME)
    _, info = env.reset(seed=0)
    assert info["x_velocity"] == 0.0
    for action in moves(20, 6):
        before = info["x_position"]
        _, _, _, _, info = env.step(action)
        way = info["x_position"] - before
        assert info["x_velocity"] == pytest.approx(way / 0.05, abs=ROUNDING)
        assert info["reward_forward"] == info["x_velocity"]


def test_a_state_that_is_set_is_where_the_next_way_begins():
    env = gym.make(NAME)
    env.reset(seed=0)
    for action in moves(10, 6):
        _, _, _, _, info = env.step(action)
    _, info = env.reset(seed=1, options={"positions": {"root.x": 3.0}})
    assert info["x_velocity"] == 0.0
    _, _, _, _, info = env.step(moves(1, 6)[0])
    assert info["x_velocity"] == pytest.approx((info["x_position"] - 3.0) / 0.05, abs=ROUNDING)


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_episodes_of_a_vector_that_begin_anew_begin_with_none(mode):
    """The hopper falls within some twenty steps."""
    envs = gym.make_vec("vigym/Hopper-v0", 8, autoreset_mode=mode)
    _, infos = envs.reset(seed=0)
    begun = 0
    for actions in moves(60, 8, 3):
        before = infos["x_position"].copy()
        _, rewards, ended, _, infos = envs.step(actions)
        starts = infos["time"] == 0.0
        begun += starts.sum()
        assert not infos["x_velocity"][starts].any()
        expected = ((infos["x_position"] - before) / 0.008)[~starts]
        assert infos["x_velocity"][~starts] == pytest.approx(expected, abs=1e-10)
    assert begun > 8

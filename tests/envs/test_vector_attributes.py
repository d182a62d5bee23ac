"""What learners ask of a vector environment: its mode, attributes by name, and infos with few keys."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from scenes.env_cases import assert_same

ID = "vigym/InvertedDoublePendulum-v0"
COUNT = 3
SHORT = 6
MODES = list(AutoresetMode)


def made(**options):
    return gym.make_vec(ID, COUNT, max_episode_steps=SHORT, **options)


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.value)
def test_the_autoreset_mode_is_an_attribute(mode):
    envs = made(autoreset_mode=mode)
    assert envs.autoreset_mode is envs.metadata["autoreset_mode"] is mode


def test_attributes_and_methods_have_a_value_for_every_environment():
    many = made(render_mode="rgb_array", width=32, height=24)
    alone = SyncVectorEnv(
        [lambda: gym.make(ID, render_mode="rgb_array", width=32, height=24)] * COUNT
    )
    many.reset(seed=5), alone.reset(seed=5)
    for name in ("dt", "width", "observation_names", "action_space", "observation_space"):
        assert many.get_attr(name) == many.call(name) == alone.get_attr(name)
    assert many.get_attr("np_random_seed") == alone.get_attr("np_random_seed") == (5, 6, 7)
    drawn = lambda envs: [stream.random() for stream in envs.get_attr("np_random")]  # noqa: E731
    assert drawn(many) == drawn(alone)
    pictures = many.call("render")
    assert [picture.shape for picture in pictures] == [(24, 32, 3)] * COUNT
    assert_same(pictures, alone.call("render"))
    assert made().call("observation_names") == (many.observation_names,) * COUNT


def test_attributes_are_set_for_all():
    envs = made()
    envs.set_attr("width", 40)
    assert envs.get_attr("width") == (40,) * COUNT
    envs.set_attr("height", [30] * COUNT)
    assert envs.height == 30
    for values, message in (
        ([1, 2, 3], "attribute 'width': found different values, expected equal ones"),
        ([1], "attribute 'width': found 1 values, expected one for each of 3"),
    ):
        with pytest.raises(ValueError, match=message):
            envs.set_attr("width", values)
    assert envs.width == 40
    for name in ("num_envs", "action_space", "single_observation_space"):
        with pytest.raises(ValueError, match=f"'{name}': found a new value, expected that of"):
            envs.set_attr(name, 7)
    assert envs.num_envs == COUNT
    with pytest.raises(AttributeError, match="nothing"):
        envs.get_attr("nothing")
    for name in ("reset", "step"):
        with pytest.raises(
            ValueError, match=rf"call: found '{name}', expected {name}\(\) of the vector"
        ):
            envs.call(name)


@pytest.mark.parametrize(
    "keys", [(), ("tip_height",), ("joint_positions", "solver_converged")], ids=str
)
@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.value)
def test_infos_have_the_keys_that_are_asked_for_and_nothing_else_changes(mode, keys):
    few, full = (made(autoreset_mode=mode, info_keys=given) for given in (keys, None))
    assert (few.info_keys, full.info_keys) == (keys, None)
    assert_same(few.reset(seed=0), selected(full.reset(seed=0), keys))
    moves = np.random.default_rng(0).uniform(-1, 1, (3 * SHORT, COUNT, 1))
    ended = 0
    for action in moves:
        found, expected = few.step(action), full.step(action)
        assert_same(found, selected(expected, keys))
        done = expected[2] | expected[3]
        ended += done.sum()
        if mode == AutoresetMode.DISABLED and done.any():
            options = {"reset_mask": done}
            assert_same(few.reset(options=options), selected(full.reset(options=options), keys))
    assert ended >= COUNT


def selected(result, keys):
    """Return what `reset` or `step` returned, with some keys of its infos."""
    kept = {"final_obs", "_final_obs", "final_info", "_final_info"} | {
        k for key in keys for k in (key, f"_{key}")
    }
    infos = {key: value for key, value in result[-1].items() if key in kept}
    if "final_info" in infos:
        infos["final_info"] = {
            key: value for key, value in infos["final_info"].items() if key in kept
        }
    return (*result[:-1], infos)


@pytest.mark.parametrize("keys", [("tip_heigth",), "tip_height", 1], ids=str)
def test_unknown_keys_are_refused(keys):
    with pytest.raises(
        ValueError, match=r"option info_keys: found .*, expected None or a sequence of: acti"
    ):
        made(info_keys=keys)


def test_keys_change_no_random_numbers():
    noisy = {"observation_noise": 0.1}
    few, full = made(info_keys=(), **noisy), made(**noisy)
    assert np.array_equal(few.reset(seed=3)[0], full.reset(seed=3)[0])

"""Starts of episodes at given joint positions and velocities."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest

import vigym  # noqa: F401  registers the environments
from scenes.env_cases import CASES


def make(env_id, **options):
    return gym.make(env_id, disable_env_checker=True, **options).unwrapped


def test_given_values_are_taken_and_the_others_drawn():
    env = make("vigym/CartPole-v0")
    drawn = env.reset(seed=4)[1]
    name = env.mechanism.position_names[1]
    rate = env.mechanism.velocity_names[0]
    options = {"positions": {name: 0.3}, "velocities": {rate: -0.2}}
    info = env.reset(seed=4, options=options)[1]
    np.testing.assert_allclose(info["joint_positions"], [drawn["joint_positions"][0], 0.3])
    np.testing.assert_allclose(info["joint_velocities"], [-0.2, drawn["joint_velocities"][1]])


@pytest.mark.parametrize(("env_id", "options"), CASES)
def test_every_environment_starts_where_another_one_is(env_id, options):
    """Its own coordinates as arrays; floating bodies are not moved."""
    env = make(env_id, **options)
    env.reset(seed=1)
    env.action_space.seed(1)
    for _ in range(3):
        info = env.step(env.action_space.sample() * 0.1)[-1]
    options = {"positions": info["joint_positions"], "velocities": info["joint_velocities"]}
    if env.mechanism.closing_joints:
        drawn = env.task.initial(env.mechanism, np.random.default_rng(0))[0]
        at = env.mechanism.position_names  # joints of a loop follow from those that the task draws
        names = [name for joint in drawn for name in env.mechanism.joints[joint].position_names]
        options = {"positions": {name: info["joint_positions"][at.index(name)] for name in names}}
        found = env.reset(seed=2, options=options)[1]
        for name in names:
            k = at.index(name)
            assert found["joint_positions"][k] == pytest.approx(info["joint_positions"][k])
        return
    found = env.reset(seed=2, options=options)[1]
    np.testing.assert_allclose(found["joint_positions"], info["joint_positions"], atol=1e-12)
    # a start projects velocities on contacts, as exactly as three readings would
    off = 2e-5 if env.mechanism.ground else 1e-9
    np.testing.assert_allclose(found["joint_velocities"], info["joint_velocities"], atol=off)


def test_base_stays_where_it_is_put():
    env = make("vigym/Minitaur-v0")
    pose = (1.0, 2.0, 0.7, 1.0, 0.0, 0.0, 0.0)
    base = next(j.name for j in env.mechanism.tree_joints if j.type == "floating")
    info = env.reset(seed=1, options={"positions": {base: pose}})[1]
    np.testing.assert_allclose(info["joint_positions"][:7], pose)


@pytest.mark.parametrize("given", [{"x": 0.45}, {"qz": 1.0}, {"qx": 0.6, "qw": 0.8}])
def test_a_base_without_a_height_is_put_on_the_ground(given):
    env = make("vigym/Minitaur-v0")
    base = next(j.name for j in env.mechanism.tree_joints if j.type == "floating")
    positions = {f"{base}.{name}": value for name, value in given.items()}
    info = env.reset(seed=1, options={"positions": positions})[1]
    assert info["penetration"] < 1e-12
    lowest = env.sim.contacts.gap.min()
    assert lowest == pytest.approx(0.0, abs=1e-12)
    for name, value in given.items():
        k = env.mechanism.position_names.index(f"{base}.{name}")
        found = env.sim.joint_positions[k]
        assert found == pytest.approx(value if len(given) > 1 or name == "x" else np.sqrt(0.5))


@pytest.mark.parametrize("count", [None, 2])
@pytest.mark.parametrize(
    ("env_id", "joint"),
    [
        ("MinitaurLeg", "knee_front"),
        ("Minitaur", "back_left_knee_front"),
        ("FourBar", "pivot"),
        ("Exoskeleton", None),
    ],
)
def test_any_joint_of_a_loop_may_be_given(env_id, joint, count):
    """Those that the task draws follow it then, as many as have to."""
    kind = gym.make if count is None else lambda name: gym.make_vec(name, count)
    env = kind(f"vigym/{env_id}-v0").unwrapped
    mech = env.sim.mechanism
    if joint is None:
        joint = mech.tree_joints[-1].name
    k = mech.position_names.index(joint)
    at = env.reset(seed=0)[1]["joint_positions"][..., k].min() - 0.05
    info = env.reset(seed=0, options={"positions": {joint: at}})[1]
    np.testing.assert_allclose(info["joint_positions"][..., k], at, atol=1e-9)
    assert np.max(info["constraint_residual_max"]) < 1e-9
    if count is not None and mech.degrees_of_freedom > 1:  # the rest is drawn
        assert (info["joint_positions"][0] != info["joint_positions"][1]).any()


def test_given_velocities_of_a_loop_replace_drawn_ones_that_depend_on_them():
    env = make("vigym/FourBar-v0")
    k = env.mechanism.velocity_names.index("pivot")
    options = {"positions": {"drive": 0.3}, "velocities": {"pivot": 1.0}}
    info = env.reset(seed=0, options=options)[1]
    assert info["joint_velocities"][k] == pytest.approx(1.0)
    assert info["velocity_residual_max"] < 1e-9


def test_vector_takes_a_value_for_each_or_one_for_all():
    envs = gym.make_vec("vigym/CartPole-v0", 3)
    x, angle = envs.unwrapped.mechanism.position_names
    options = {"positions": {x: [0.1, 0.2, 0.3], angle: 0.05}}
    _, infos = envs.reset(seed=1, options=options)
    np.testing.assert_allclose(infos["joint_positions"][:, 0], [0.1, 0.2, 0.3])
    np.testing.assert_allclose(infos["joint_positions"][:, 1], 0.05)
    mask = np.array([False, True, False])
    options = {"positions": {x: 0.4}, "reset_mask": mask}
    envs.reset(options=options)
    positions = envs.unwrapped.sim.joint_positions[:, 0]
    np.testing.assert_allclose(positions, [0.1, 0.4, 0.3])
    for k, value in enumerate((0.1, 0.2, 0.3)):
        env = make("vigym/CartPole-v0")
        given = {"positions": {x: value, angle: 0.05}}
        _, info = env.reset(seed=1 + k, options=given)
        np.testing.assert_array_equal(info["joint_positions"], infos["joint_positions"][k])
        np.testing.assert_array_equal(info["joint_velocities"], infos["joint_velocities"][k])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"positions": {"hat": 1.0}}, "positions: found 'hat', expected names among"),
        ({"velocities": [1.0]}, r"velocities: found shape \(1,\), expected \(2,\)"),
        ({"positions": [np.nan, 0.0]}, "positions: found nan, expected finite numbers"),
        ({"positions": "here"}, "positions: found 'here', expected real numbers"),
        ({"position": [0.0, 0.0]}, "reset options: found"),
        ({"state": 1, "positions": [0.0, 0.0]}, "found 'state' as well as"),
    ],
)
def test_wrong_starts_change_nothing(options, message):
    env = make("vigym/CartPole-v0")
    env.reset(seed=1)
    state, random = env.sim.state, env.np_random.bit_generator.state
    with pytest.raises(ValueError, match=message):
        env.reset(seed=2, options=options)
    np.testing.assert_array_equal(env.sim.state, state)
    assert env.np_random.bit_generator.state == random

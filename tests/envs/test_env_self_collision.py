"""Snakes that touch themselves: what coils up does not pass through itself, and what stays apart moves as ever."""

import gymnasium as gym
import numpy as np
import pytest
from scipy.optimize import lsq_linear

from oracle.naive_joints import rotate

IDS = ("vigym/Snake-v0", "vigym/SnakeSidewinding-v0")
DEEPEST = 1e-6  # [m]


def overlap(env):
    """How far any two links that no joint holds together are in each other, by least squares over both axes [m]."""
    sim, deepest = env.unwrapped.sim, -np.inf
    shapes = [c for c in sim.mechanism.collisions.values() if c.shape is not None]
    x, q = sim.body_states[:, :3], sim.body_states[:, 3:7]
    middles = [x[i] + rotate(q[i], np.asarray(c.shape.position)) for i, c in enumerate(shapes)]
    halves = [
        rotate(q[i], np.array([0.5 * getattr(c.shape, "length", 0.0), 0.0, 0.0]))
        for i, c in enumerate(shapes)
    ]
    for i in range(len(shapes)):
        for j in range(i + 2, len(shapes)):
            apart = lsq_linear(
                np.column_stack([halves[i], -halves[j]]) + 0.0, middles[j] - middles[i], (-1.0, 1.0)
            )
            deepest = max(
                deepest, shapes[i].shape.radius + shapes[j].shape.radius - np.sqrt(2.0 * apart.cost)
            )
    return deepest


def coiled(steps=60, **options):
    """A planar snake after all its joints were told to bend by 1 rad, and the deepest overlap on the way."""
    env = gym.make(IDS[0], reset_noise_scale=0.0, **options)
    env.reset(seed=0)
    deepest = -np.inf
    for _ in range(steps):
        info = env.step(np.ones(env.action_space.shape, dtype=np.float32))[4]
        assert info["solver_converged"]
        deepest = max(deepest, overlap(env) if options else 0.0)
    return env, info, deepest


def test_a_snake_that_coils_up_does_not_pass_through_itself():
    env, info, deepest = coiled(self_collision=True)
    assert deepest <= DEEPEST
    assert info["penetration"] <= DEEPEST
    bent = info["joint_positions"][7:]
    assert bent.min() < 0.6  # where head and tail hold each other off
    sim = env.unwrapped.sim
    touching = sim.contacts.force[len(sim.mechanism.ground_contact_names) :]
    assert np.linalg.norm(touching, axis=-1).max() > 0.1


def test_without_it_links_pass_through_each_other():
    env, info, _ = coiled()
    assert env.unwrapped.mechanism.pairs == ()
    np.testing.assert_allclose(info["joint_positions"][7:], 1.0, atol=0.05)


@pytest.mark.parametrize("name", IDS)
def test_all_links_are_paired_that_no_joint_holds_together(name):
    mech = gym.make(name, links=6, self_collision=True).unwrapped.mechanism
    held = {frozenset((joint.parent, joint.child)) for joint in mech.joints.values()}
    assert len(mech.pairs) == 6 * 5 // 2 - 5
    assert not held & {frozenset(pair) for pair in mech.pairs}


@pytest.mark.parametrize("name", IDS)
def test_a_snake_that_stays_apart_moves_as_ever(name):
    """Contacts that sleep take no part: the ground's are the same.

    But a step with loop rows is asked for more, and where Newton is tried again the sidewinding
    snake rounds apart.
    """
    ends = []
    for options in ({}, {"self_collision": True}):
        env = gym.make(name, **options)
        env.reset(seed=3)
        for k in range(25):
            wave = 0.4 * np.sin(0.5 * k + np.arange(env.action_space.shape[0]))
            assert not env.step(wave.astype(np.float32))[2]
        ends.append(env.unwrapped.sim.body_states[:, :7])
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-9 if name == "vigym/Snake-v0" else 1e-5)


@pytest.mark.parametrize("name", IDS)
def test_random_actions_keep_it_apart(name):
    env = gym.make(name, self_collision=True)
    for seed in range(3):
        env.reset(seed=seed)
        rng = np.random.default_rng(seed)
        for action in np.repeat(rng.uniform(-1.0, 1.0, (10, *env.action_space.shape)), 5, axis=0):
            _, _, terminated, _, info = env.step(action.astype(np.float32))
            assert not terminated
            assert info["penetration"] <= DEEPEST


@pytest.mark.parametrize("name", IDS)
def test_other_values_are_refused(name):
    with pytest.raises(ValueError, match="option self_collision: found 1, expected True or False"):
        gym.make(name, self_collision=1)

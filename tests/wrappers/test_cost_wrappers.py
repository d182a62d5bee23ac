"""Wrappers that tell costs and objectives: the conventions of Safety-Gymnasium and MO-Gymnasium, single and vector."""

import pickle

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from scenes.env_cases import assert_same
from vigym.wrappers import EnergyReward, PhysicsCost, PhysicsVectorReward
from vigym.wrappers.terms import QUANTITIES

ID = "vigym/InvertedDoublePendulum-v0"
SNAKE = "vigym/Snake-v0"
COUNT = 3

each_mode = pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.value)


def moves(count, *shape):
    return np.random.default_rng(0).uniform(-1, 1, (count, *shape)).astype(np.float32)


def native(mode=AutoresetMode.NEXT_STEP, name=ID):
    return gym.make_vec(name, COUNT, max_episode_steps=4, autoreset_mode=mode)


def done_of(env, returned):
    done = returned[2] | returned[3]
    return done if env.metadata["autoreset_mode"] == AutoresetMode.DISABLED and done.any() else None


@pytest.mark.parametrize("kind", QUANTITIES)
def test_costs(kind):
    plain = gym.make(SNAKE)
    env = PhysicsCost(gym.make(SNAKE), kind)
    over = PhysicsCost(gym.make(SNAKE), kind, 1e-9)
    plain.reset(seed=0), over.reset(seed=0)
    assert env.reset(seed=0)[1]["cost"] == 0.0
    for move in moves(20, 8):
        expected, found = plain.step(move), env.step(move)
        assert type(found[4]["cost"]) is float
        assert found[4]["cost"] == found[4][f"cost_{kind}"] == abs(expected[4][QUANTITIES[kind]])
        assert found[1] == expected[1]
        assert over.step(move)[4]["cost"] == float(found[4]["cost"] > 1e-9)


def test_costs_add_up():
    env = PhysicsCost(PhysicsCost(gym.make(ID), "drift", limit=0.0), "torque_squared")
    env.reset(seed=0)
    info = env.step(moves(1, 1)[0])[4]
    assert info["cost"] == info["cost_drift"] + info["cost_torque_squared"]
    assert info["cost_drift"] == 1.0


@each_mode
def test_vector_of_costs(mode):
    copies = SyncVectorEnv(
        [lambda: PhysicsCost(gym.make(ID, max_episode_steps=4))] * COUNT, autoreset_mode=mode
    )
    many = PhysicsCost(native(mode))
    assert_same(many.reset(seed=0), copies.reset(seed=0))
    for move in moves(12, COUNT, 1):
        found, expected = many.step(move), copies.step(move)
        assert_same(found, expected)
        done = done_of(many, found)
        if done is not None:
            options = {"reset_mask": done}
            assert_same(many.reset(options=dict(options)), copies.reset(options=dict(options)))


def test_objectives_are_the_terms_of_the_reward():
    plain, env = gym.make(ID), PhysicsVectorReward(EnergyReward(gym.make(ID), 0.5))
    assert env.reward_space == env.unwrapped.reward_space
    assert env.reward_space.shape == (5,)
    plain.reset(seed=0), env.reset(seed=0)
    for move in moves(10, 1):
        _, reward, *_, info = env.step(move)
        names = ["alive", "tip", "rates", "control", "mechanical_power"]
        assert reward.dtype == np.float32
        assert reward in env.reward_space
        np.testing.assert_array_equal(
            reward, np.float32([info[f"reward_{name}"] for name in names])
        )
        assert reward[:4].sum() == pytest.approx(plain.step(move)[1], abs=1e-5)


def test_chosen_objectives():
    env = PhysicsVectorReward(gym.make(SNAKE), ["forward", "mechanical_power"])
    env.reset(seed=0)
    _, reward, *_, info = env.step(moves(1, 8)[0])
    assert reward.tolist() == np.float32([info["reward_forward"], -info["power_mech"]]).tolist()


@each_mode
def test_vector_of_objectives(mode):
    """Rewards of each step as single environments give them, zero where it was a reset."""
    plain, many = native(mode), PhysicsVectorReward(native(mode), ["alive", "tip", "drift"])
    plain.reset(seed=0), many.reset(seed=0)
    assert many.reward_space == many.unwrapped.reward_space
    before = np.zeros(COUNT, dtype=bool)
    for move in moves(12, COUNT, 1):
        expected, found = plain.step(move), many.step(move)
        assert_same(found[0], expected[0])
        assert_same(found[2:], expected[2:])
        done = expected[2] | expected[3]
        for k in range(COUNT):
            own = (
                expected[4]["final_info"]
                if mode == AutoresetMode.SAME_STEP and done[k]
                else expected[4]
            )
            values = [own["reward_alive"][k], own["reward_tip"][k], -abs(own["energy_balance"][k])]
            fresh = mode == AutoresetMode.NEXT_STEP and before[k]
            assert found[1][k].tolist() == ([0.0] * 3 if fresh else np.float32(values).tolist())
        before = done
        if mode == AutoresetMode.DISABLED and done.any():
            plain.reset(options={"reset_mask": done}), many.reset(options={"reset_mask": done})


@pytest.mark.parametrize(
    "wrap",
    [
        lambda env: PhysicsCost(env, "torque_squared", 0.1),
        lambda env: PhysicsVectorReward(env, ["alive", "drift"]),
    ],
)
def test_specs_and_pickles_rebuild(wrap):
    env = wrap(gym.make(ID))
    again, copy = gym.make(env.spec), pickle.loads(pickle.dumps(env))
    for twin in (again, copy):
        assert_same(twin.reset(seed=1), env.reset(seed=1))
        assert_same(twin.step(moves(1, 1)[0]), env.step(moves(1, 1)[0]))


@pytest.mark.parametrize(
    ("wrap", "kind", "error"),
    [
        (lambda env: PhysicsCost(env, "heat"), ValueError, "kind: found 'heat', expected one of"),
        (
            lambda env: PhysicsCost(env, "drift", -1.0),
            ValueError,
            "limit: found -1.0, expected a finite number >= 0",
        ),
        (
            lambda env: PhysicsVectorReward(env, ["tip", "heat"]),
            ValueError,
            "objectives: found 'heat', expected names",
        ),
        (
            lambda env: PhysicsVectorReward(env, []),
            ValueError,
            "objectives: found .., expected at least one name",
        ),
        (
            lambda env: PhysicsVectorReward(env, ["tip", "tip"]),
            ValueError,
            "objectives: found .*each once",
        ),
        (
            lambda env: PhysicsVectorReward(env, "tip"),
            TypeError,
            "objectives: found 'tip', expected a sequence",
        ),
    ],
)
def test_what_does_not_fit_is_refused(wrap, kind, error):
    with pytest.raises(kind, match=error):
        wrap(gym.make(ID))


def test_foreign_environments_are_refused():
    with pytest.raises(TypeError, match="expected a vigym environment"):
        PhysicsVectorReward(gym.make("CartPole-v1"))
    env = PhysicsCost(gym.make("CartPole-v1"), "slip")
    env.reset()
    with pytest.raises(KeyError, match=r"PhysicsCost needs info\['slip'\]"):
        env.step(0)

"""Wrappers that add a reward term: its sum with the others, specs and pickles, the vector form in every mode."""

import pickle
import re

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from vigym import wrappers
from vigym.wrappers import (
    ConstraintReward,
    CostOfTransportReward,
    EnergyReward,
    PhysicsCost,
    PhysicsVectorReward,
)

ID = "vigym/InvertedDoublePendulum-v0"
KINDS = {
    "mechanical_power": "power_mech",
    "torque_squared": "torque_squared",
    "drift": "energy_balance",
}
WRAPPERS = [
    *(
        (EnergyReward, {"weight": 0.5, "kind": kind}, kind, source)
        for kind, source in KINDS.items()
    ),
    (ConstraintReward, {"weight": 1e6}, "constraint", "constraint_residual_max"),
]
every = pytest.mark.parametrize(("wrap", "arguments", "name", "source"), WRAPPERS)


def moves(count, *shape):
    return np.random.default_rng(0).uniform(-1, 1, (count, *shape)).astype(np.float32)


def terms(info):
    return {key: value for key, value in info.items() if key.startswith("reward_")}


@every
def test_the_term_is_added_and_reported(wrap, arguments, name, source):
    plain, env = gym.make(ID), wrap(gym.make(ID), **arguments)
    _, before = plain.reset(seed=0)
    _, at_reset = env.reset(seed=0)
    assert data_equivalence(at_reset, {**before, f"reward_{name}": 0.0}, exact=True)
    for move in moves(20, 1):
        _, expected, *_, info = plain.step(move)
        _, reward, *_, wrapped = env.step(move)
        assert wrapped.keys() == at_reset.keys()
        assert type(reward) is float
        assert wrapped[f"reward_{name}"] == -arguments["weight"] * abs(info[source])
        assert reward == expected + wrapped[f"reward_{name}"]
        assert reward == pytest.approx(sum(terms(wrapped).values()), abs=1e-12)
    assert wrapped[f"reward_{name}"] < 0.0


def test_wrappers_stack():
    env = EnergyReward(EnergyReward(gym.make(ID), 1.0, "torque_squared"), 0.5, "torque_squared")
    env.reset(seed=0)
    _, reward, *_, info = env.step(moves(1, 1)[0])
    assert info["reward_torque_squared"] == pytest.approx(-1.5 * info["torque_squared"])
    assert reward == pytest.approx(sum(terms(info).values()))


@every
def test_specs_and_pickles_rebuild(wrap, arguments, name, source):
    env = wrap(gym.make(ID), **arguments)
    again = gym.make(env.spec)
    assert str(again) == str(env)
    assert str(env).startswith(f"<{wrap.__name__}<")
    assert EnvSpec.from_json(env.spec.to_json()) == again.spec == env.spec
    env.reset(seed=0)
    env.step(moves(1, 1)[0])
    copy = pickle.loads(pickle.dumps(env))
    assert data_equivalence(copy.step(moves(1, 1)[0]), env.step(moves(1, 1)[0]), exact=True)
    assert data_equivalence(again.reset(seed=1), env.reset(seed=1), exact=True)
    assert data_equivalence(again.step(moves(1, 1)[0]), env.step(moves(1, 1)[0]), exact=True)


def test_vectors_have_the_same_wrappers():
    for name in wrappers.__all__:
        assert getattr(wrappers.vector, name) is getattr(wrappers, name)
    assert wrappers.vector.__all__ == wrappers.__all__


def test_the_cost_of_transport_of_what_travels():
    env = CostOfTransportReward(gym.make("vigym/Snake-v0"), 0.1)
    env.reset(seed=0)
    _, reward, *_, info = env.step(moves(1, 8)[0])
    assert info["reward_cost_of_transport"] == -0.1 * info["cost_of_transport"] < 0.0
    assert reward == pytest.approx(sum(terms(info).values()))
    stays = CostOfTransportReward(gym.make(ID), 0.1)
    stays.reset(seed=0)
    with pytest.raises(KeyError, match=r"CostOfTransportReward needs info\['cost_of_transport'\]"):
        stays.step(moves(1, 1)[0])


@every
@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("native", [True, False])
def test_vector_form_equals_single_form(wrap, arguments, name, source, mode, native):
    def short():
        return gym.make(ID, max_episode_steps=4)

    wrapped = SyncVectorEnv([lambda: wrap(short(), **arguments)] * 3, autoreset_mode=mode)
    plain = gym.make_vec(ID, 3, max_episode_steps=4, autoreset_mode=mode) if native else None
    env = wrap(plain or SyncVectorEnv([short] * 3, autoreset_mode=mode), **arguments)
    expected, found = wrapped.reset(seed=0), env.reset(seed=0)
    assert data_equivalence(found, expected, exact=True)
    for move in moves(10, 3, 1):
        expected, found = wrapped.step(move), env.step(move)
        assert data_equivalence(found[:4], expected[:4], exact=True)
        assert infos_equal(found[4], expected[4])
        done = found[2] | found[3]
        if mode == AutoresetMode.DISABLED and done.any():
            expected = wrapped.reset(options={"reset_mask": done})
            found = env.reset(options={"reset_mask": done})
            assert data_equivalence(found, expected, exact=True)


def infos_equal(found, expected):
    if set(found) != set(expected):
        return False
    return all(
        infos_equal(found[key], expected[key])
        if isinstance(expected[key], dict)
        else np.array_equal(np.stack(list(found[key])), np.stack(list(expected[key])))
        for key in expected
        if key not in ("final_obs", "_final_obs")
    )


@pytest.mark.parametrize(
    ("wrap", "needed"),
    [
        (lambda env: EnergyReward(env, 0.1), ["power_mech"]),
        (lambda env: PhysicsCost(env, "slip"), ["slip"]),
        (lambda env: PhysicsVectorReward(env, ["alive", "drift"]), ["energy_balance"]),
    ],
)
def test_vectors_that_do_not_report_what_a_term_reads_are_refused(wrap, needed):
    envs = gym.make_vec(ID, 2, info_keys=("reward_alive", "time"))
    expected = f"found ['reward_alive', 'time'], expected {needed} in the option info_keys of gym"
    with pytest.raises(ValueError, match=re.escape(expected)):
        wrap(envs)
    env = wrap(gym.make_vec(ID, 2, info_keys=("reward_alive", *needed)))
    env.reset(seed=0)
    assert np.all(np.isfinite(env.step(moves(2, 1))[1]))


def test_terms_of_wrappers_below_need_not_be_reported():
    below = EnergyReward(gym.make_vec(ID, 2, info_keys=("power_mech",)), 0.5)
    env = PhysicsVectorReward(below, ["mechanical_power"])
    env.reset(seed=0)
    assert np.all(env.step(moves(2, 1))[1] < 0.0)


@pytest.mark.parametrize("weight", [np.float32(0.5), np.int64(2), 0])
def test_numbers_of_numpy_are_weights(weight):
    env = EnergyReward(gym.make(ID), weight)
    env.reset(seed=0)
    *_, info = env.step(moves(1, 1)[0])
    assert info["reward_mechanical_power"] == -weight * info["power_mech"]


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf, "1", True, np.float32(-1), 1j])
def test_weights_out_of_range_are_refused(weight):
    env = gym.make(ID)
    with pytest.raises(ValueError, match="weight of reward_constraint: found"):
        ConstraintReward(env, weight)
    with pytest.raises(ValueError, match="weight of reward_drift: found"):
        EnergyReward(env, weight, "drift")


def test_unknown_kinds_and_foreign_environments_are_refused():
    with pytest.raises(ValueError, match="kind: found 'heat', expected one of"):
        EnergyReward(gym.make(ID), 1.0, "heat")
    env = EnergyReward(gym.make("CartPole-v1"), 1.0)
    env.reset()
    with pytest.raises(KeyError, match=r"needs info\['power_mech'\]"):
        env.step(0)

"""Randomised mechanisms, noise, latency and pushes: the same for one environment and many, and nothing when off."""

from __future__ import annotations

import pickle
import re

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import vigym  # noqa: F401  registers the environments
from vigym import MechanismError
from vigym.metrics import momentum

ALL = {
    "randomization": {"mass": (0.8, 1.2), "strength": (0.5, 2.0), "gravity": (0.9, 1.1)}, "observation_noise": 0.05,
    "action_latency": 2, "pushes": (0.02, 0.2),
}  # fmt: skip
OFF = {"randomization": None, "observation_noise": 0.0, "action_latency": 0, "pushes": None}
NAMES = ["Pendulum", "FourBar", "MinitaurLeg", "Snake"]


def make(name="Pendulum", **options):
    version = "" if "-" in name else "-v0"
    return gym.make(f"vigym/{name}{version}", **options).unwrapped


def actions(shape, steps, seed=0):
    return np.random.default_rng(seed).uniform(-1.0, 1.0, (steps, *shape)).astype(np.float32)


def run(env, given, seed=0):
    observed = [env.reset(seed=seed)[0]]
    for action in given:
        observed.append(env.step(action)[0])
    return np.array(observed)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_off_changes_nothing(name):
    plain, off = make(name), make(name, **OFF)
    given = actions(plain.action_space.shape, 10)
    np.testing.assert_array_equal(run(plain, given), run(off, given))
    np.testing.assert_array_equal(plain.sim.state, off.sim.state)


@pytest.mark.parametrize("name", ["Minitaur-v0", "Quadruped-v1", "Snake-v0", "SnakeSidewinding-v0"])
def test_costs_of_transport_are_over_the_random_weight(name):
    """Of one environment and of many, bit for bit."""
    factors = {"mass": (0.5, 2.0), "gravity": (0.5, 0.9)}
    many = gym.make_vec(f"vigym/{name}", 3, randomization=factors)
    many.reset(seed=7)
    given = actions(many.action_space.shape, 2)
    infos = [many.step(action)[4] for action in given][-1]
    for e in range(3):
        env = make(name, randomization=factors)
        env.reset(seed=7 + e)
        info = [env.step(action[e])[4] for action in given][-1]
        assert info["cost_of_transport"] == infos["cost_of_transport"][e]
        weight = env.sim.body_inertias[0].sum() * np.linalg.norm(env.sim.parameters.gravity)
        speed = max(abs(info.get("speed", info["x_velocity"])), 0.01)
        assert info["cost_of_transport"] == pytest.approx(info["power"] / (weight * speed))
    factor = many.unwrapped.sim.parameters.weight_factor
    factor *= 2.0  # a copy
    assert (many.unwrapped.sim.parameters.weight_factor == 0.5 * factor).all()
    other = make(name, randomization={"friction": (0.5, 2.0)})
    other.reset(seed=0)
    assert other.sim.parameters.weight_factor == make(name).sim.parameters.weight_factor == 1.0


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_an_environment_of_many_is_the_single_one(name, mode):
    count = 3
    steps = 12
    limit = 5
    many = gym.make_vec(
        f"vigym/{name}-v0", count, max_episode_steps=limit, autoreset_mode=mode, **ALL
    )
    given = actions(many.action_space.shape, steps)
    observed = [many.reset(seed=7)[0], *(many.step(action)[0] for action in given)]
    for e in range(count):
        single = make(name, **ALL)
        found = []
        age = 0
        found.append(single.reset(seed=7 + e)[0])
        for action in given[:, e]:
            if age == limit:  # its episode is over
                found.append(single.reset()[0])
                age = 0
                if mode == AutoresetMode.NEXT_STEP:
                    continue
            age += 1
            seen = single.step(action)[0]
            found.append(
                single.reset()[0] if mode == AutoresetMode.SAME_STEP and age == limit else seen
            )
            age = 0 if mode == AutoresetMode.SAME_STEP and age == limit else age
        np.testing.assert_array_equal(np.array(observed)[:, e], np.array(found))
        np.testing.assert_array_equal(many.unwrapped.sim.state[e], single.sim.state)


def test_observations_of_others_stay_when_some_are_reset():
    many = gym.make_vec("vigym/Pendulum-v0", 3, autoreset_mode=AutoresetMode.DISABLED, **ALL)
    first, _ = many.reset(seed=0)
    again, _ = many.reset(options={"reset_mask": np.array([False, True, False])})
    np.testing.assert_array_equal(again[[0, 2]], first[[0, 2]])
    assert (again[1] != first[1]).all()


def test_factors_lie_within_their_ranges_and_change_with_every_episode():
    env = make(
        "FourBar",
        randomization={
            "mass": (0.8, 1.2),
            "length": {"crank": (0.97, 1.03)},
            "damping": (2.0, 2.0),
        },
    )
    seen = []
    for seed in (0, 0, 1, None):
        env.reset(seed=seed)
        parameters = env.sim.parameters.by_name
        seen.append([*parameters["mass"].values(), parameters["length"]["crank"]])
        assert all(0.8 <= factor <= 1.2 for factor in parameters["mass"].values())
        assert 0.97 <= parameters["length"]["crank"] <= 1.03
        assert set(parameters["damping"].values()) == {2.0}
        assert {factor for name, factor in parameters["length"].items() if name != "crank"} == {1.0}
        env.step(env.action_space.sample())
        assert env.sim.parameters.by_name == parameters
        assert env.sim.constraint_residual() < 1e-9
    assert seen[0] == seen[1]
    assert len({tuple(row) for row in seen}) == 3
    assert len(set(seen[0][:3])) == 3


def test_the_start_of_a_seed_stays_whatever_the_mechanism():
    plain, varied = make("CartPole"), make("CartPole", randomization={"mass": (0.5, 2.0)})
    for env in (plain, varied):
        env.reset(seed=3)
    np.testing.assert_array_equal(plain.sim.joint_positions, varied.sim.joint_positions)


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_strength_goes_with_the_torque_of_an_action(factor):
    plain, strong = make(), make(randomization={"strength": (factor, factor)})
    torques = []
    for env in (plain, strong):
        env.reset(seed=0)
        env.step(np.ones(1, np.float32))
        torques.append(env.sim.actuator_torques[0])
    assert torques[1] == pytest.approx(factor * torques[0])


@pytest.mark.parametrize("name", ["Pendulum", "Snake"])
def test_actions_act_late(name):
    plain, late = make(name), make(name, action_latency=3)
    given = actions(plain.action_space.shape, 10)
    delayed = np.concatenate([np.zeros((3, *given.shape[1:]), np.float32), given[:-3]])
    for _ in range(2):  # what waits is forgotten at a reset
        np.testing.assert_array_equal(run(plain, delayed), run(late, given))
        np.testing.assert_array_equal(plain.sim.state, late.sim.state)


def test_late_actions_are_forgotten_by_the_info_of_a_start():
    many = gym.make_vec("vigym/Pendulum-v0", 2, max_episode_steps=4, action_latency=1)
    many.reset(seed=0)
    infos = [many.step(np.ones((2, 1), np.float32))[4] for _ in range(6)]
    assert [bool(info["torque_squared"].all()) for info in infos] == [
        False,
        True,
        True,
        True,
        False,
        False,
    ]
    assert not infos[4][
        "torque_squared"
    ].any()  # a reset, with an action of the last episode still waiting


def test_noise_is_on_observations_alone():
    plain, noisy = make(), make(observation_noise=0.05)
    given = actions((1,), 400)
    exact, seen = run(plain, given), run(noisy, given)
    np.testing.assert_array_equal(plain.sim.state, noisy.sim.state)
    assert np.abs(seen[:, :2]).max(axis=0).tolist() == [1.0, 1.0]
    assert all(observation in noisy.observation_space for observation in seen)
    free = np.abs(exact) < 0.8  # where the bounds of cosine and sine cut nothing
    assert np.std((seen - exact)[free]) == pytest.approx(0.05, rel=0.1)
    assert abs(np.mean((seen - exact)[free])) < 0.01


def test_noise_by_name():
    name = make().observation_names[2]
    seen = run(make(observation_noise={name: 0.1}), actions((1,), 20)) - run(
        make(), actions((1,), 20)
    )
    assert (seen[:, 2] != 0.0).all()
    assert not seen[:, :2].any()


def test_pushes_strike_as_often_and_as_hard_as_told(monkeypatch):
    env = gym.make_vec("vigym/Snake-v0", 50, pushes=(0.3, 1.0), max_episode_steps=1000).unwrapped
    env.reset(seed=0)
    sizes, strike = [], type(env.sim).push

    def seen(sim, impulses):
        before = momentum(env.sim)[0]
        strike(sim, impulses)
        gained = momentum(env.sim)[0] - before
        struck = np.abs(impulses).max(axis=(1, 2)) > 0.0
        np.testing.assert_allclose(np.linalg.norm(impulses.sum(axis=1)[struck], axis=-1), 0.3)
        # the ground answers at the knot, but not along it
        assert np.abs(gained[~struck]).max(initial=0.0) < 1e-12
        sizes.append(struck.sum())

    monkeypatch.setattr(type(env.sim), "push", seen)
    for _ in range(100):
        env.step(np.zeros(env.action_space.shape, np.float32))
    expected = 50 * 100 * env.dt / 1.0
    assert sum(sizes) == pytest.approx(expected, abs=4.0 * np.sqrt(expected))


def test_a_push_is_an_impulse_and_no_work():
    env = make("InvertedDoublePendulum", reset_noise_scale=0.0)
    env.reset(seed=0)
    cart = list(env.mechanism.bodies).index(env.mechanism.tree_joints[0].child)
    before, impulses = momentum(env.sim)[0], np.zeros((3, 3))
    impulses[cart] = 0.5, 0.7, 0.0  # the rail holds against what goes across
    env.sim.push(impulses)
    np.testing.assert_allclose((momentum(env.sim)[0] - before)[:2], (0.5, 0.0), atol=1e-12)
    assert abs(env.sim.metrics()["energy_balance"]) < 1e-12
    assert env.sim.step(substeps=10).converged
    assert abs(env.sim.metrics()["energy_balance"]) < 1e-4
    for wrong in (np.zeros((2, 3)), np.full((3, 3), np.nan)):
        with pytest.raises(ValueError, match="impulses: found .* expected finite numbers of shape"):
            env.sim.push(wrong)


@pytest.mark.parametrize("name", ["Pendulum", "MinitaurLeg"])
def test_copies_go_on_alike(name):
    env = make(name, **ALL)
    given = actions(env.action_space.shape, 10)
    run(env, given[:5])
    other = pickle.loads(pickle.dumps(env))
    for action in given[5:]:
        np.testing.assert_array_equal(env.step(action)[0], other.step(action)[0])


def test_gymnasium_finds_nothing_wrong():
    check_env(gym.make("vigym/Acrobot-v0", **ALL).unwrapped, skip_render_check=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"observation_noise": -1.0},
            "option observation_noise: found -1.0, expected a number >= 0",
        ),
        (
            {"observation_noise": {"height": 0.1}},
            "option observation_noise: found ['height'], expected names among",
        ),
        ({"action_latency": 1.5}, "option action_latency: found 1.5, expected a whole number"),
        ({"action_latency": True}, "option action_latency: found True, expected a whole number"),
        ({"action_latency": -1}, "option action_latency: found -1, expected a whole number"),
        (
            {"action_latency": 10**9},
            "option action_latency: found 1000000000, expected a whole number of",
        ),
        ({"pushes": 3.0}, "option pushes: found 3.0, expected None or (impulse"),
        ({"pushes": (1.0, 0.0)}, "option pushes: found (1.0, 0.0), expected"),
        ({"randomization": 0.2}, "option randomization: found 0.2, expected None or {quantity"),
        (
            {"randomization": {"mass": (1.2, 0.8)}},
            "option randomization of mass: found (1.2, 0.8), expected factors",
        ),
        (
            {"randomization": {"mass": (0.0, 0.8)}},
            "option randomization of mass: found (0.0, 0.8), expected factors",
        ),
        (
            {"randomization": {"mass": {"rod": 1.2}}},
            "option randomization of mass: found 1.2, expected factors",
        ),
        ({"randomization": {"weight": (0.8, 1.2)}}, "parameters: found 'weight', expected gravity"),
        (
            {"randomization": {"friction": (0.8, 1.2)}},
            "parameters: found 'friction', of which the mechanism has none",
        ),
    ],
)
@pytest.mark.parametrize("count", [None, 3])
def test_wrong_options(options, message, count):
    with pytest.raises((ValueError, MechanismError), match=re.escape(message)):
        make(**options) if count is None else gym.make_vec("vigym/Pendulum-v0", count, **options)

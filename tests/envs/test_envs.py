"""Every registered environment: Gymnasium's conventions, bad input, exact repetition, and the hooks over batches."""

import copy
import os
import pickle
import warnings
from functools import partial

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence

from scenes.env_cases import CASES
from vigym.envs.env import TaskEnv
from vigym.envs.episode import EpisodeRunner

METRICS = {
    "energy_kinetic", "energy_potential", "energy_total", "energy_balance", "work_actuator", "dissipated", "power_mech",
    "constraint_residual_max", "velocity_residual_max", "solver_iterations", "solver_residual", "solver_converged",
}  # fmt: skip

every = pytest.mark.parametrize(
    ("name", "options"), CASES, ids=lambda value: value if isinstance(value, str) else ""
)


def actions(env, count, seed=0):
    return (
        np.random.default_rng(seed)
        .uniform(-1, 1, (count, *env.action_space.shape))
        .astype(np.float32)
    )


def play(env, moves):
    return [env.step(move) for move in moves]


def together(starts):
    """One array of all, or one by joint name."""
    if isinstance(starts[0], dict):
        return {name: np.array([start[name] for start in starts]) for name in starts[0]}
    return np.array(starts)


def same(one, other):
    return data_equivalence(one, other, exact=True)


@every
def test_checkers_have_nothing_to_say(name, options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # the standard tasks have the spaces of Gymnasium's own
        warnings.filterwarnings("ignore", r".*A Box observation space m\w+ value is -?infinity")
        env = gym.make(name, render_mode="rgb_array", width=64, height=48, **options)
        check_env(
            env.unwrapped, skip_render_check=not os.environ.get("DISPLAY")
        )  # it opens a window too
        env.reset(seed=1)  # through PassiveEnvChecker and OrderEnforcing
        env.render()
        play(env, actions(env, 20))
        env.close()


@every
def test_the_checker_of_stable_baselines3_has_nothing_to_say(name, options):
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gym.make(name, **options)
        checker.check_env(env.unwrapped)
        env.close()


@every
def test_same_seed_same_bits(name, options):
    first, second = gym.make(name, **options), gym.make(name, **options)
    assert same(first.reset(seed=3), second.reset(seed=3))
    assert same(play(first, actions(first, 50)), play(second, actions(second, 50)))
    assert same(first.reset(), second.reset())
    assert not same(first.reset(seed=3), second.reset(seed=4))


@every
def test_copies_continue_bit_for_bit(name, options):
    env = gym.make(name, **options)
    env.reset(seed=5)
    play(env, actions(env, 10))
    copies = pickle.loads(pickle.dumps(env)), copy.deepcopy(env)
    expected = play(env, actions(env, 20, seed=1)), env.reset()
    for twin in copies:
        assert same((play(twin, actions(env, 20, seed=1)), twin.reset()), expected)


@every
def test_restored_state_continues_bit_for_bit(name, options):
    env, other = gym.make(name, **options), gym.make(name, **options)
    env.reset(seed=6)
    now = play(env, actions(env, 10))[-1]
    observation, info = other.reset(seed=9, options={"state": env.unwrapped.sim.state})
    assert np.array_equal(observation, now[0])
    assert all(
        same(info[key], now[4][key])
        for key in ("joint_positions", "joint_velocities", "energy_balance")
    )
    assert same(play(env, actions(env, 20, seed=1)), play(other, actions(env, 20, seed=1)))


@every
def test_info_and_reward(name, options):
    env = gym.make(name, **options)
    _, at_reset = env.reset(seed=0)
    assert set(at_reset) >= METRICS | {"joint_positions", "joint_velocities"}
    for observation, reward, terminated, truncated, info in map(env.step, actions(env, 20)):
        assert type(reward) is float
        assert type(terminated) is bool
        assert type(truncated) is bool
        assert observation in env.observation_space
        assert info.keys() == at_reset.keys()
        total = 0.0  # `sum` compensates rounding in Python 3.12 and newer
        for value in (value for key, value in info.items() if key.startswith("reward_")):
            total += value
        assert reward == total
        assert info["solver_converged"] is True
        assert info["constraint_residual_max"] <= 1e-10
        assert np.array_equal(info["joint_positions"], env.unwrapped.sim.joint_positions)
    assert info["torque_squared"] > 0.0


@every
def test_reward_weights_are_options(name, options):
    task = gym.make(name, **options).unwrapped.task
    weights = {task.weight_names.get(term, f"{term}_weight"): 0.0 for term in task.weights}
    env = gym.make(name, **options, **weights)
    env.reset(seed=0)
    assert env.step(actions(env, 1)[0])[1] == 0.0


@every
@pytest.mark.parametrize("batch", [None, 2])
def test_every_environment_takes_options_of_the_simulator(name, options, batch):
    given = {"loops": "local", "tolerance": 1e-9, "max_iterations": 2000}
    given |= {"friction_cone": "pyramid", "contact_solver": "newton", "order": 2}
    make = gym.make if batch is None else partial(gym.make_vec, num_envs=batch)
    found = make(name, simulator=given, **options).unwrapped.sim.options
    assert {key: getattr(found, key) for key in given} == given


@every
def test_no_action_breaks_an_episode(name, options):
    env = gym.make(name, **options)
    random = actions(env, env.spec.max_episode_steps)
    for moves in (random, np.ones_like(random), -np.ones_like(random)):
        env.reset(seed=0)
        for observation, _, terminated, truncated, info in map(env.step, moves):
            assert info["solver_converged"]
            assert observation in env.observation_space
            if terminated or truncated:
                break
        assert terminated or truncated


@every
def test_bad_actions_are_refused_and_nothing_moves(name, options):
    env = gym.make(name, disable_env_checker=True, **options)
    twin = gym.make(name, **options)
    good = actions(env, 1)[0]
    for bad in (good * np.nan, good + np.inf, np.zeros(99), ["push"]):
        env.reset(seed=0), twin.reset(seed=0)
        with pytest.raises(ValueError, match="action: found"):
            env.step(bad)
        assert same(play(env, [good] * 5), play(twin, [good] * 5))


@every
def test_actions_beyond_one_are_clipped_and_flagged(name, options):
    env, twin = gym.make(name, **options), gym.make(name, **options)
    env.reset(seed=0), twin.reset(seed=0)
    beyond, most = (
        env.step(np.full(env.action_space.shape, 7.0)),
        twin.step(np.ones(env.action_space.shape)),
    )
    assert beyond[4].pop("action_clipped") is True
    assert most[4].pop("action_clipped") is False
    assert same(beyond, most)


@every
def test_without_noise_every_start_is_the_same(name, options):
    env = gym.make(name, reset_noise_scale=0.0, **options)
    assert same(env.reset(seed=0), env.reset(seed=1))
    assert np.abs(env.unwrapped.sim.joint_velocities).max() == 0.0


@every
def test_frame_skip_and_timestep(name, options):
    for timestep, skip in ((0.01, 1), (0.005, 3)):
        env = gym.make(name, timestep=timestep, frame_skip=skip, **options)
        env.reset(seed=0)
        env.step(actions(env, 1)[0])
        assert env.unwrapped.dt == pytest.approx(timestep * skip)
        assert float(env.unwrapped.sim.time) == pytest.approx(timestep * skip)
        assert env.metadata["render_fps"] == round(1.0 / (timestep * skip))


@every
def test_batch_gives_what_each_environment_gives_alone(name, options):
    env = gym.make(name, **options).unwrapped
    run = EpisodeRunner(type(env.task)(**options), batch=5)
    starts = [env.task.initial(env.mechanism, np.random.default_rng(seed)) for seed in range(5)]
    run.start(*map(together, zip(*starts, strict=True)))
    moves = np.random.default_rng(0).uniform(-1, 1, (20, 5, *env.action_space.shape))
    outcomes = [run.step(move) for move in moves]
    for lane, start in enumerate(starts):
        env._runner.start(*start)
        for outcome, move in zip(outcomes, moves, strict=True):
            observation, reward, terminated, _, info = env.step(move[lane])
            assert np.array_equal(observation, outcome.observation[lane])
            assert (reward, terminated) == (outcome.reward[lane], outcome.terminated[lane])
            held = outcome.read_info()
            assert all(np.array_equal(info[key], held[key][lane]) for key in info)


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_vector_of_single_environments(mode):
    many = gym.make_vec("vigym/Pendulum-v0", 3, vectorization_mode=mode)
    alone = [gym.make("vigym/Pendulum-v0") for _ in range(3)]
    observations, _ = many.reset(seed=7)
    assert np.array_equal(observations, [env.reset(seed=7 + k)[0] for k, env in enumerate(alone)])
    moves = np.random.default_rng(0).uniform(-1, 1, (3, 1)).astype(np.float32)
    expected = [env.step(move) for env, move in zip(alone, moves, strict=True)]
    observations, rewards, *_ = many.step(moves)
    assert np.array_equal(observations, [step[0] for step in expected])
    assert np.array_equal(rewards, [step[1] for step in expected])
    many.close()


@every
def test_pictures_follow_the_motion(name, options):
    env = gym.make(name, render_mode="rgb_array", width=96, height=64, **options)
    env.reset(seed=0)
    before = env.render()
    assert before.shape == (64, 96, 3)
    assert before.dtype == np.uint8
    play(env, np.ones((10, *env.action_space.shape), dtype=np.float32))
    assert not np.array_equal(env.render(), before)
    env.close()
    env.close()


@pytest.mark.skipif(not os.environ.get("DISPLAY"), reason="needs a display")
def test_window():
    env = gym.make("vigym/Pendulum-v0", render_mode="human")
    env.reset(seed=0)
    assert env.render() is None
    env.step(np.ones(1, dtype=np.float32))
    env.close()


def test_environments_tell_what_they_are():
    env = gym.make("vigym/Snake-v0", links=3)
    sizes = "observations=9, actions=2, dt=0.04 s)"
    assert repr(env.unwrapped) == f"TaskEnv(vigym/Snake-v0, {sizes}"
    assert (
        repr(gym.make_vec("vigym/Snake-v0", 4, links=3))
        == f"TaskVectorEnv(vigym/Snake-v0, num_envs=4, {sizes}"
    )
    assert repr(env.unwrapped.sim) == "Simulator('snake', bodies=3, timestep=0.01 s)"
    assert repr(TaskEnv(env.unwrapped.spec.kwargs["task"], links=3)) == f"TaskEnv(Snake, {sizes}"


def test_unknown_options_are_told_with_those_there_are():
    for name, message in (
        (
            "upright_weigth",
            "options of Pendulum: found 'upright_weigth', did you mean 'upright_weight'",
        ),
        (
            "gravity",
            "options of Pendulum: found 'gravity', expected one of: timestep, .*pushes, render_mode",
        ),
    ):
        for make in (gym.make, gym.make_vec):
            with pytest.raises(TypeError, match=message):
                make("vigym/Pendulum-v0", **{name: 3.0})
    with pytest.raises(
        TypeError, match="found 'autoreset_mode', expected it of .*; or in `vector_"
    ):
        gym.make_vec("vigym/Pendulum-v0", 2, vectorization_mode="sync", autoreset_mode="SameStep")
    with pytest.raises(TypeError, match="found 'processes', expected it of `gymnasium.make_vec`"):
        gym.make("vigym/Pendulum-v0", processes=2)
    with pytest.raises(TypeError, match="found 'max_episode_steps', expected it of `gymnasium.mak"):
        gym.make("vigym/Pendulum-v0").unwrapped.set_options(max_episode_steps=10)
    with pytest.raises(TypeError, match="options of Urdf: expected the option 'urdf'"):
        gym.make("vigym/Urdf-v0")

"""Bad input of the native vector environment: a clear error, and all environments are as they were."""

from dataclasses import dataclass

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode

from scenes.env_cases import CASES, assert_same
from vigym.envs.env import TaskEnv
from vigym.envs.tasks.pendulum import Pendulum
from vigym.envs.vector import TaskVectorEnv

ID = "vigym/CartPole-v0"

every = pytest.mark.parametrize(
    ("name", "options"), CASES, ids=lambda value: value if isinstance(value, str) else ""
)


@pytest.fixture
def many():
    env = gym.make_vec(ID, 4)
    env.reset(seed=0)
    return env


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"num_envs": 0}, "num_envs: found 0, expected a whole number of at least 1"),
        ({"num_envs": -1}, "num_envs: found -1"),
        ({"num_envs": True}, "num_envs: found True"),
        ({"num_envs": 2.0}, "num_envs: found 2.0"),
        ({"max_episode_steps": 0}, "max_episode_steps: found 0"),
        ({"max_episode_steps": 1.5}, "max_episode_steps: found 1.5"),
        (
            {"autoreset_mode": "never"},
            "option autoreset_mode: found 'never', expected one of .'NextStep'",
        ),
        ({"threads": 0}, "threads: found 0"),
        (
            {"render_mode": "human"},
            "option render_mode: found 'human', expected one of .None, 'rgb_array'",
        ),
        ({"frame_skip": 0}, "option frame_skip: found 0"),
    ],
)
def test_options(options, error):
    with pytest.raises(ValueError, match=error):
        gym.make_vec(ID, **{"num_envs": 2, **options})


def test_more_environments_than_there_is_memory_for():
    with pytest.raises(
        MemoryError,
        match=f"found {10**9} environments, whose states alone take .* GB, expected at",
    ):
        gym.make_vec(ID, 10**9)


@pytest.mark.parametrize("count", [None, 4])
@pytest.mark.parametrize(
    ("action", "error"),
    [
        (np.zeros(1, dtype=complex), "found complex128 values, expected real numbers"),
        ([0.5 + 0.0j], "found complex128 values"),
        ([True], "found bool values"),
        (["0.5"], "found <U3 values"),
        ([None], "found object values"),
    ],
)
def test_actions_that_are_not_real_numbers(action, error, count):
    env = gym.make(ID).unwrapped if count is None else gym.make_vec(ID, count)
    env.reset(seed=0)
    before = env.unwrapped.sim.state
    with pytest.raises(ValueError, match=f"action: {error}"):
        env.step(action if count is None else [action] * count)
    np.testing.assert_array_equal(env.unwrapped.sim.state, before)


def test_unknown_options():
    with pytest.raises(TypeError, match="speed"):
        gym.make_vec(ID, 2, speed=3)


@every
def test_actions(name, options):
    many, twin = (gym.make_vec(name, 3, **options) for _ in range(2))
    good = np.full(many.action_space.shape, 0.5, dtype=np.float32)
    nan, infinite = good.copy(), good.copy()
    nan[2, -1], infinite[2, -1] = np.nan, -np.inf
    not_finite = "action of environment 2: found .*, expected finite numbers"
    other_shape = r"action: found shape .*, expected \(3, "
    for wrong, error in (
        (nan, not_finite),
        (infinite, not_finite),
        (good[0], other_shape),
        (good[:2], other_shape),
        (["push"] * 3, "action: found .*, expected real numbers"),
    ):
        many.reset(seed=0), twin.reset(seed=0)
        with pytest.raises(ValueError, match=error):
            many.step(wrong)
        for _ in range(3):
            assert_same(many.step(good), twin.step(good))


def test_the_action_of_an_environment_that_is_reset_is_not_looked_at():
    many = gym.make_vec(ID, 2, max_episode_steps=1)
    many.reset(seed=0)
    many.step(np.zeros((2, 1)))
    observations, rewards, terminated, truncated, infos = many.step(np.full((2, 1), np.nan))
    assert np.isfinite(observations).all()
    assert rewards.tolist() == [0.0, 0.0]
    assert not (terminated | truncated).any()
    assert not infos["action_clipped"].any()
    with pytest.raises(ValueError, match="action of environment 0: found .nan."):
        many.step(np.full((2, 1), np.nan))


def test_step_before_reset():
    many = gym.make_vec(ID, 2)
    with pytest.raises(ResetNeeded, match="never reset"):
        many.step(np.zeros((2, 1)))
    with pytest.raises(ResetNeeded, match="never reset"):
        many.reset(options={"reset_mask": np.array([True, False])})


def test_without_autoreset_an_ended_episode_is_not_stepped():
    many = gym.make_vec(ID, 3, max_episode_steps=1, autoreset_mode=AutoresetMode.DISABLED)
    many.reset(seed=0)
    many.step(np.zeros((3, 1)))
    many.reset(options={"reset_mask": np.array([True, False, True])})
    with pytest.raises(ResetNeeded, match=r"environments \[1\] at the end of their episodes"):
        many.step(np.zeros((3, 1)))


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (
            {"reset_mask": [True] * 4},
            r"reset_mask: found \[True.*expected a bool array of shape \(4,\)",
        ),
        ({"reset_mask": np.ones(4)}, r"reset_mask: found float64 of shape \(4,\)"),
        ({"reset_mask": np.ones(3, dtype=bool)}, r"reset_mask: found bool of shape \(3,\)"),
        ({"reset_mask": np.zeros(4, dtype=bool)}, "reset_mask: found no environment"),
        (7, "reset options: found 7, expected a dictionary"),
        ({"noise": 1}, r"reset options: found \['noise'\], expected only 'reset_mask' and 'state'"),
        ({"state": np.zeros(3)}, r"state: found shape \(3,\)"),
    ],
)
def test_reset_options(many, options, error):
    with pytest.raises(ValueError, match=error):
        many.reset(options=options)


@pytest.mark.parametrize("count", [None, 4])
def test_a_state_that_does_not_fit_changes_nothing(count):
    env = gym.make(ID) if count is None else gym.make_vec(ID, count)
    env.reset(seed=0)
    before = env.unwrapped.sim.state
    wrong = before.copy()
    wrong[..., 0] = np.nan
    with pytest.raises(ValueError, match="state: found nan, expected finite numbers"):
        env.reset(seed=1, options={"state": wrong})
    np.testing.assert_array_equal(env.unwrapped.sim.state, before)
    assert env.unwrapped.np_random_seed == (0 if count is None else (0, 1, 2, 3))


@pytest.mark.parametrize("seed", [-1, [1, 2], [1, 2, 3, -4], 1.5, [0, 1, 2, "3"], True])
def test_seeds(many, seed):
    before = [stream.bit_generator.state for stream in many.np_random]
    with pytest.raises(ValueError, match="seed: found"):
        many.reset(seed=seed)
    assert before == [stream.bit_generator.state for stream in many.np_random]


@dataclass(frozen=True, kw_only=True)
class Mixed(Pendulum):
    """A pendulum whose hooks forget that there are many environments."""

    fault: str = "none"

    def quantities(self, sim):
        mean = {"mean": sim.joint_positions.mean()} if self.fault == "quantity" else {}
        return super().quantities(sim) | mean

    def rewards(self, now, action):
        found = super().rewards(now, action)
        return found | ({"upright": found["upright"].sum()} if self.fault == "term" else {})

    def terminated(self, now):
        return np.any(now["angle"] > 9.0) if self.fault == "end" else super().terminated(now)


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("quantity", r"quantity 'mean': found shape \(\), expected \(3,\) or one more axis"),
        ("term", r"reward term 'upright': found shape \(\), expected \(3,\): hooks"),
        ("end", r"hook 'terminated': found shape \(\), expected \(3,\): hooks"),
    ],
)
def test_hooks_that_mix_environments_up(fault, error):
    single, many = TaskEnv(Mixed, fault=fault), TaskVectorEnv(Mixed, 3, fault=fault)
    single.reset(seed=0)
    single.step(np.zeros(1))  # nothing to mix up
    with pytest.raises(ValueError, match=error):
        many.reset(seed=0), many.step(np.zeros((3, 1)))


@dataclass(frozen=True, kw_only=True)
class Wrong(Pendulum):
    """A pendulum whose hooks return other things than they should."""

    fault: str = "none"

    def observe(self, now):
        found = super().observe(now)
        return {"transposed": found.T, "short": found[..., :1]}.get(self.fault, found)

    def rewards(self, now, action):
        found = super().rewards(now, action)
        return {
            "more": found | {"speed": now["angular_velocity"]},
            "fewer": {"upright": found["upright"]},
            "sum": found["upright"],
        }.get(self.fault, found)


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("transposed", r"hook observe: found shape \(3, 2\), expected \(2, 3\): the entries of"),
        ("short", r"hook observe: found shape \(2, 1\), expected \(2, 3\): the entries of"),
        ("more", r"hook rewards: found terms \['.*'speed'.*\], expected those with a weight, \['"),
        ("fewer", r"hook rewards: found terms \['upright'\], expected those with a weight, \['"),
        ("sum", r"hook rewards: found array\(.*\), expected a dictionary of reward terms"),
    ],
)
def test_hooks_that_return_other_things(fault, error):
    many = TaskVectorEnv(Wrong, 2, fault=fault)
    with pytest.raises(ValueError, match=error):
        many.reset(seed=0), many.step(np.zeros((2, 1)))


@dataclass(frozen=True, kw_only=True)
class Aiming(Pendulum):
    """A pendulum with goals of any numbers."""

    faulty: bool = False

    def goal(self, rng):
        height = rng.random()
        if self.faulty and height > 0.7:
            return {"depth": height}
        return {"height": 0 if height < 0.7 else height}


def test_goals_are_numbers_with_fractions():
    """A first one that is whole makes no whole numbers of the others."""
    env = TaskEnv(Aiming)
    heights = [env.reset(seed=seed)[1]["height"] for seed in range(12)]
    assert len(set(heights)) > 2
    assert max(heights) < 1.0
    with pytest.raises(ValueError, match=r"hook goal: found \['depth'\], expected \['height'\] as"):
        TaskVectorEnv(Aiming, 12, faulty=True).reset(seed=0)


def test_a_goal_that_is_no_number():
    class Named(Aiming):
        def goal(self, rng):
            return {"height": "high"}

    with pytest.raises(ValueError, match="hook goal, height: found 'high', expected a finite num"):
        TaskEnv(Named)


@pytest.mark.parametrize("value", [True, np.bool_(True), 1, np.int64(1), np.float32(1.0)])
def test_goals_of_any_kind_of_number_are_floats(value):
    class Given(Aiming):
        def goal(self, rng):
            return {"height": value}

    assert type(TaskEnv(Given).reset(seed=0)[1]["height"]) is float

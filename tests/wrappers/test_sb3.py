"""The adapter for stable-baselines3: what learners see is what they see of single environments, bit for bit."""

import pickle

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import RecordEpisodeStatistics

pytest.importorskip(
    "stable_baselines3", reason="needs stable-baselines3: pip install 'vigym[train]'"
)

from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import EvalCallback
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor, VecNormalize

from scenes.env_cases import CASES, assert_same
from vigym.wrappers import EnergyReward, SB3VecEnv
from vigym.wrappers.wrapper import VectorPhysicsWrapper

ID = "vigym/InvertedDoublePendulum-v0"
COUNT = 3
SHORT = 9

every = pytest.mark.parametrize(
    ("name", "options"), CASES, ids=lambda value: value if isinstance(value, str) else ""
)


def adapted(name=ID, count=COUNT, limit=SHORT, info_keys=(), **options):
    envs = gym.make_vec(name, count, max_episode_steps=limit, autoreset_mode="SameStep", **options)
    return SB3VecEnv(envs, info_keys)


def copies(name=ID, count=COUNT, limit=SHORT, **options):
    return DummyVecEnv([lambda: gym.make(name, max_episode_steps=limit, **options)] * count)


def moves(env, steps=40):
    shape = (steps, env.num_envs, *env.action_space.shape)
    return np.random.default_rng(0).uniform(-1.2, 1.2, shape).astype(np.float32)


@every
def test_learners_see_what_they_see_of_single_environments(name, options):
    many, alone = adapted(name, info_keys=None, **options), copies(name, **options)
    many.seed(4), alone.seed(4)
    assert_same(many.reset(), alone.reset())
    assert_same(many.reset_infos, alone.reset_infos)
    ends = 0
    for action in moves(many, 2 * SHORT + 3):
        found, expected = many.step(action), alone.step(action)
        assert_same(found, expected)
        assert_same(many.reset_infos, alone.reset_infos)
        ends += expected[2].sum()
    assert ends >= 2 * COUNT


def test_infos_are_short_but_at_the_end():
    many, alone = adapted(info_keys=["tip_height"]), copies()
    many.seed(4), alone.seed(4)
    many.reset(), alone.reset()
    truncated = []
    for action in 0.1 * moves(many):
        _, _, done, infos = many.step(action)
        expected = alone.step(action)[3]
        for k in range(COUNT):
            if done[k]:
                assert_same(infos[k], expected[k])
                truncated.append(infos[k]["TimeLimit.truncated"])
            else:
                assert infos[k].keys() == {"tip_height", "TimeLimit.truncated"}
                assert infos[k] == {key: expected[k][key] for key in infos[k]}
    assert any(truncated)


def test_observations_are_fresh():
    many = adapted()
    first = many.reset()
    kept = first.copy()
    seen = many.step(moves(many, 1)[0])[0]
    assert np.array_equal(first, kept)
    assert not np.shares_memory(first, seen)


def test_a_learner_with_normalisation_monitor_and_evaluation(tmp_path):
    many = VecNormalize(VecMonitor(adapted(limit=30)))
    judge = VecNormalize(VecMonitor(adapted(limit=30)), training=False, norm_reward=False)
    model = PPO("MlpPolicy", many, n_steps=32, batch_size=48, n_epochs=1, seed=0, device="cpu")
    callback = EvalCallback(
        judge, eval_freq=32, n_eval_episodes=4, log_path=str(tmp_path), verbose=0
    )
    model.learn(192, callback=callback)
    assert len(model.ep_info_buffer) > 0
    assert all(0 < episode["l"] <= 30 for episode in model.ep_info_buffer)
    assert np.load(tmp_path / "evaluations.npz")["results"].shape == (2, 4)
    returns, lengths = evaluate_policy(model, judge, 5, return_episode_rewards=True)
    assert len(returns) == len(lengths) == 5
    many.save(str(tmp_path / "normalisation.pkl"))
    again = VecNormalize.load(str(tmp_path / "normalisation.pkl"), VecMonitor(adapted(limit=30)))
    assert np.array_equal(again.obs_rms.mean, many.obs_rms.mean)


def test_learning_is_the_same_as_on_single_environments():
    def learned(envs):
        model = PPO("MlpPolicy", envs, n_steps=32, batch_size=48, n_epochs=2, seed=0, device="cpu")
        return model.learn(192).get_parameters()["policy"]

    one, other = learned(adapted()), learned(copies())
    for name, values in one.items():
        assert np.array_equal(values.numpy(), other[name].numpy()), name


def test_wrapped_environments():
    envs = gym.make_vec(ID, COUNT, max_episode_steps=SHORT, autoreset_mode="SameStep")
    many = SB3VecEnv(RecordEpisodeStatistics(EnergyReward(envs, 0.5)), info_keys=None)
    many.seed(0)
    many.reset()
    assert "reward_mechanical_power" in many.reset_infos[0]
    done, infos = np.zeros(COUNT, dtype=bool), []
    while not done.any():
        _, rewards, done, infos = many.step(np.zeros((COUNT, 1)))
    lane = int(np.argmax(done))
    assert infos[lane]["reward_mechanical_power"] <= 0.0
    terms = sum(value for key, value in infos[lane].items() if key.startswith("reward_"))
    assert rewards[lane] == pytest.approx(terms)
    assert many.env_is_wrapped(VectorPhysicsWrapper) == [True] * COUNT
    assert many.env_is_wrapped(Monitor, indices=[0]) == [False]


def test_attributes_and_methods():
    many = adapted(render_mode="rgb_array", width=32, height=24)
    many.seed(5)
    many.reset()
    assert many.render_mode == "rgb_array"
    assert many.get_attr("dt", indices=[0, 2]) == [0.02, 0.02]
    assert many.get_attr("np_random_seed", 1) == [6]
    assert many.get_attr("action_space") == [many.action_space] * COUNT
    assert many.has_attr("task")
    assert not many.has_attr("nothing")
    many.set_attr("width", 40)
    assert many.get_attr("width") == [40] * COUNT
    assert many.env_method("__repr__") == [repr(many.env)] * COUNT
    pictures = many.env_method("render")
    assert [picture.shape for picture in pictures] == [(24, 40, 3)] * COUNT
    assert many.render().shape[2] == 3
    for call in (
        lambda: many.set_attr("width", 50, indices=0),
        lambda: many.env_method("close", indices=[1]),
    ):
        with pytest.raises(
            ValueError, match=r"found indices \[.\], expected all of 3 environments"
        ):
            call()
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        many.env_method("nothing")
    many.close()


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_environments_of_gymnasium_have_attributes_of_their_own(kind):
    """As `DummyVecEnv` has it."""
    mode = {"autoreset_mode": AutoresetMode.SAME_STEP}
    many = SB3VecEnv(gym.make_vec(ID, COUNT, kind, vector_kwargs=mode, wrappers=[Monitor]))
    many.seed(0)
    many.reset()
    assert many.get_attr("dt", indices=[0, 2]) == [0.02, 0.02]
    assert many.get_attr("np_random_seed") == [0, 1, 2]
    assert many.get_attr("action_space") == [many.action_space] * COUNT
    many.set_attr("mark", [1, 2])
    many.set_attr("mark", 7, indices=1)
    assert many.get_attr("mark") == [[1, 2], 7, [1, 2]]
    assert not hasattr(many.env.unwrapped, "mark")
    assert many.env_method("get_episode_rewards") == [[], [], []]
    assert many.env_is_wrapped(Monitor) == [True] * COUNT
    assert many.env_is_wrapped(RecordEpisodeStatistics, [0]) == [False]
    assert many.get_attr("num_envs") == [COUNT] * COUNT
    assert not many.has_attr("nothing")
    with pytest.raises(ValueError, match=r"found indices \[1\], expected all of 3 environments"):
        many.env_method("get_episode_rewards", indices=1)
    many.step(moves(many, 1)[0])
    many.close()


@pytest.mark.parametrize(
    ("reported", "keys", "message"),
    [
        (None, "time", r"info_keys: found 'time', expected a sequence of keys, \['time'\]"),
        (None, ["foo"], "option info_keys: found 'foo', expected None or a sequence of: action_c"),
        (("time",), ["foo"], "option info_keys: found 'foo', expected None or a sequence of: act"),
        (("time",), ["time", "slip"], r"found \['time'\] of the vector .*, expected \['slip'\] a"),
    ],
)
def test_keys_that_infos_do_not_have_are_refused(reported, keys, message):
    envs = gym.make_vec(ID, COUNT, autoreset_mode="SameStep", info_keys=reported)
    with pytest.raises(ValueError, match=message):
        SB3VecEnv(envs, keys)


def test_keys_of_wrappers_are_reported():
    envs = gym.make_vec(ID, COUNT, autoreset_mode="SameStep", info_keys=("power_mech",))
    many = SB3VecEnv(EnergyReward(envs, 0.5), ["reward_mechanical_power"])
    many.reset()
    assert many.step(moves(many, 1)[0])[3][0]["reward_mechanical_power"] < 0.0


def test_restored_states():
    many = adapted()
    many.seed(0)
    many.reset()
    many.step(moves(many, 1)[0])
    states = many.get_attr("sim")[0].state
    expected = many.step(moves(many, 2)[1])
    many.set_options([{"state": state} for state in states])
    many.reset()
    assert_same(many.step(moves(many, 2)[1])[:3], expected[:3])
    many.set_options({"noise": 1.0})
    with pytest.raises(ValueError, match=r"options: found \['noise'\], expected 'state'"):
        many.reset()


def test_pickles_continue():
    many = adapted()
    many.seed(0)
    many.reset()
    twin = pickle.loads(pickle.dumps(many))
    for action in moves(many, 12):
        assert_same(twin.step(action), many.step(action))


def test_what_does_not_fit_is_refused():
    with pytest.raises(
        ValueError, match='expected SAME_STEP: make it with autoreset_mode="SameStep"'
    ):
        SB3VecEnv(gym.make_vec(ID, 2))
    with pytest.raises(TypeError, match="expected a vector environment"):
        SB3VecEnv(gym.make(ID))


def test_the_learner_is_imported_on_first_use_only(run_python):
    check = "import sys, vigym, vigym.wrappers; assert 'stable_baselines3' not in sys.modules; vigym.wrappers.SB3VecEnv"
    assert run_python(check).returncode == 0

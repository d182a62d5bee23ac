"""Other people's learners on vectors of vigym: each library's own view of them, where it is installed."""

import gymnasium as gym
import numpy as np
import pytest

ID = "vigym/InvertedDoublePendulum-v0"
COUNT, SHORT = 3, 7


def vector(mode="SameStep", name=ID, **options):
    return gym.make_vec(name, COUNT, max_episode_steps=SHORT, autoreset_mode=mode, **options)


def moves(steps):
    return np.random.default_rng(0).uniform(-1.0, 1.0, (steps, COUNT, 1)).astype(np.float32)


@pytest.fixture
def rsl_rl():
    """Adapter to rsl_rl, with torch."""
    pytest.importorskip("tensordict")
    import torch

    from vigym.wrappers import RslRlVecEnv

    return RslRlVecEnv, torch


def test_rsl_rl_sees_the_vector(rsl_rl):
    adapter, torch = rsl_rl
    envs, plain = adapter(vector(), seed=4), vector()
    observation, _ = plain.reset(seed=4)
    assert (envs.num_envs, envs.num_actions, envs.max_episode_length) == (COUNT, 1, SHORT)
    assert envs.unwrapped is envs.env.unwrapped
    assert envs.cfg["task"] == gym.spec(ID).kwargs["task"]
    found = envs.get_observations()["policy"]
    ended = 0
    for action in moves(3 * SHORT):
        np.testing.assert_array_equal(found, observation.astype(np.float32))
        group, rewards, dones, extras = envs.step(torch.as_tensor(action))
        observation, reward, terminated, truncated, infos = plain.step(action)
        found = group["policy"]
        np.testing.assert_array_equal(rewards, reward.astype(np.float32))
        np.testing.assert_array_equal(dones, terminated | truncated)
        np.testing.assert_array_equal(extras["time_outs"], truncated & ~terminated)
        assert extras["log"]["/reward_alive"] == pytest.approx(infos["reward_alive"].mean())
        ended += dones.sum()
    assert ended >= COUNT
    assert found.dtype == torch.float32
    envs.close()


def test_rsl_rl_has_a_group_for_critics(rsl_rl):
    adapter, torch = rsl_rl
    options = {"name": "vigym/Quadruped-v1", "privileged": True}
    envs, plain = adapter(vector(info_keys=(), **options), seed=4), vector(**options)
    assert set(adapter(vector()).get_observations().keys()) == {"policy"}
    observation, infos = plain.reset(seed=4)
    groups = envs.get_observations()
    for _ in range(SHORT + 1):
        whole = np.concatenate((observation, infos["privileged"]), axis=1)
        np.testing.assert_array_equal(groups["critic"], whole.astype(np.float32))
        np.testing.assert_array_equal(groups["policy"], observation.astype(np.float32))
        groups, *_ = envs.step(torch.zeros(COUNT, 12))
        observation, *_, infos = plain.step(np.zeros((COUNT, 12), dtype=np.float32))


def test_rsl_rl_spreads_the_time_limits(rsl_rl):
    adapter, torch = rsl_rl
    envs = adapter(vector(), seed=0)
    envs.episode_length_buf = torch.tensor([0, SHORT - 1, SHORT - 2])
    ends = [envs.step(torch.zeros(COUNT, 1))[2].tolist() for _ in range(2)]
    assert ends == [[0, 1, 0], [0, 0, 1]]
    assert envs.episode_length_buf.tolist() == [2, 1, 0]


def test_rsl_rl_needs_a_vector_that_resets_in_the_same_step(rsl_rl):
    adapter, _ = rsl_rl
    with pytest.raises(
        ValueError, match='expected SAME_STEP: make it with autoreset_mode="SameStep"'
    ):
        adapter(vector("NextStep"))
    with pytest.raises(TypeError, match="found TaskEnv, expected a vector environment of vigym"):
        adapter(gym.make(ID))


@pytest.mark.parametrize("mode", ["Disabled", "SameStep"])
@pytest.mark.parametrize("info_keys", [None, ()], ids=["infos", "none"])
def test_torchrl_rolls_out(mode, info_keys):
    """Every step leads from its own observation; an episode of `SHORT` steps follows the other.

    The pendulum ends none before.
    """
    envs = pytest.importorskip("torchrl.envs")
    plain = vector(mode, "vigym/Pendulum-v0", info_keys=info_keys)
    wrapped = envs.GymWrapper(plain, device="cpu")
    wrapped.set_seed(0)
    steps = 3 * SHORT
    found = wrapped.rollout(steps, break_when_any_done=False)
    assert found.batch_size == (COUNT, steps)
    ends = found["next", "truncated"].squeeze(-1).numpy()
    np.testing.assert_array_equal(ends, np.tile(np.arange(1, steps + 1) % SHORT == 0, (COUNT, 1)))
    before, after = found["observation"].numpy(), found["next", "observation"].numpy()
    inside = ~ends[:, :-1]
    np.testing.assert_array_equal(after[:, :-1][inside], before[:, 1:][inside])
    assert (after[:, :-1][~inside] != before[:, 1:][~inside]).any(axis=-1).all()


def test_skrl_steps_and_draws():
    wrappers = pytest.importorskip("skrl.envs.wrappers.torch")
    import torch

    envs = wrappers.wrap_env(vector(render_mode="rgb_array", width=32, height=24), verbose=False)
    observation, _ = envs.reset()
    assert observation.shape == (COUNT, 8)
    for _ in range(SHORT):
        _, reward, terminated, truncated, _ = envs.step(torch.zeros(COUNT, 1))
        assert reward.shape == terminated.shape == (COUNT, 1)
    assert truncated.all()
    assert [picture.shape for picture in envs.render()] == [(24, 32, 3)] * COUNT
    envs.close()


def test_rllib_steps_vigym_s_own_vectors():
    """With infos and without: one dictionary for every environment and step, and none."""
    pytest.importorskip("ray.rllib")
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner

    for options, keys in (({}, 20), ({"info_keys": ()}, 0)):
        config = (
            PPOConfig()
            .environment(f"vigym:{ID}", env_config={"max_episode_steps": SHORT, **options})
            .env_runners(num_envs_per_env_runner=COUNT, gym_env_vectorize_mode="vector_entry_point")
        )
        runner = SingleAgentEnvRunner(config=config)
        episodes = runner.sample(num_episodes=2 * COUNT, random_actions=True)
        assert sum(len(episode) for episode in episodes) == SHORT * len(episodes)
        assert all(episode.is_truncated and not episode.is_terminated for episode in episodes)
        assert len(episodes[0].get_infos(-1)) >= keys
        assert options == {} or len(episodes[0].get_infos(-1)) == 0
        runner.stop()

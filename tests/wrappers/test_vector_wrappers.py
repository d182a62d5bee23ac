"""Gymnasium's vector wrappers on the native vector environment do what they do on copies side by side."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils import performance
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import vector as wrappers

from scenes.env_cases import assert_same

ID, COUNT = "vigym/InvertedDoublePendulum-v0", 3
MODES = list(AutoresetMode)


def both(mode=AutoresetMode.NEXT_STEP, **options):
    native = gym.make_vec(ID, COUNT, max_episode_steps=9, autoreset_mode=mode, **options)
    copies = [lambda: gym.make(ID, max_episode_steps=9, **options)] * COUNT
    return native, SyncVectorEnv(copies, autoreset_mode=mode)


def assert_same_play(one, other):
    """The same of both, but for what `infos` tells of the clock."""
    assert_same(one.reset(seed=0), other.reset(seed=0))
    for action in np.random.default_rng(0).uniform(-1.5, 1.5, (30, COUNT, 1)).astype(np.float32):
        found, expected = one.step(action), other.step(action)
        for infos in (found[4], expected[4]):
            if isinstance(infos, dict) and "episode" in infos:
                infos["episode"].pop("t"), infos["episode"].pop("_t", None)
        assert_same(found, expected)


@pytest.mark.parametrize(
    "mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP], ids=lambda mode: mode.value
)
@pytest.mark.parametrize(
    "wrap",
    [
        wrappers.RecordEpisodeStatistics,
        wrappers.NormalizeReward,
        wrappers.ClipAction,
        lambda env: wrappers.ClipReward(env, 0.0, 0.9),
        lambda env: wrappers.RescaleAction(env, -2.0, 2.0),
        lambda env: wrappers.TransformReward(env, lambda reward: 2.0 * reward),
        lambda env: wrappers.TransformAction(env, lambda action: -action),
        wrappers.DictInfoToList,
    ],
)
def test_wrappers(wrap, mode):
    native, copies = both(mode)
    assert_same_play(wrap(native), wrap(copies))


@pytest.mark.parametrize(
    "wrap",
    [
        wrappers.NormalizeObservation,
        wrappers.FlattenObservation,
        lambda env: wrappers.DtypeObservation(env, np.float32),
        lambda env: wrappers.TransformObservation(env, lambda observation: 2.0 * observation),
    ],
)
def test_wrappers_of_observations(wrap):
    native, copies = both()
    assert_same_play(wrap(native), wrap(copies))


def test_statistics_of_parts_that_are_reset():
    native = wrappers.RecordEpisodeStatistics(both(AutoresetMode.DISABLED)[0])
    native.reset(seed=0)
    lengths = []
    for _ in range(25):
        *_, terminated, truncated, infos = native.step(np.zeros((COUNT, 1)))
        done = terminated | truncated
        if done.any():
            lengths += infos["episode"]["l"][done].tolist()
            native.reset(options={"reset_mask": done})
    assert lengths == [9] * 2 * COUNT


def test_videos(tmp_path):
    native = both(render_mode="rgb_array", width=64, height=48)[0]
    env = wrappers.RecordVideo(
        native, str(tmp_path / "films"), episode_trigger=lambda episode: episode == 0
    )
    env.reset(seed=0)
    for _ in range(12):
        env.step(np.zeros((COUNT, 1)))
    env.close()
    (film,) = tmp_path.glob("films/*.mp4")
    assert film.stat().st_size > 500


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.value)
def test_gymnasium_can_time_it(mode):
    measure = getattr(performance, "benchmark_vector_step", None)
    assert measure is None or measure(both(mode)[0], target_duration=0.05, seed=0) > 0.0

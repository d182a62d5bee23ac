"""Export of runs: the policy in numpy is the model of stable-baselines3, and its card is true."""

import json
import shutil

import numpy as np
import pytest

pytest.importorskip("stable_baselines3", reason="needs vigym[train]")

import gymnasium as gym
from stable_baselines3 import PPO, SAC
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import VecNormalize

import vigym
from scenes.command_line import said
from vigym.cli.app import run
from vigym.evaluation.policies import Model, load_model
from vigym.training.export import network_of

PENDULUM = "vigym/Pendulum-v0"


def largest_difference(model, normalisation, space):
    """Return the largest difference of actions of the network and of the model."""
    network = network_of(Model(model, normalisation), {})
    # far beyond the clipping of normalised observations too
    observations = np.random.default_rng(0).normal(0.0, 20.0, (500, *space.shape))
    observations[:250] *= 0.02
    expected = Model(model, normalisation)(observations, {})
    assert np.ptp(expected) > 0.01
    return np.abs(network(observations, {}) - expected).max()


@pytest.mark.parametrize("normalised", [False, True])
@pytest.mark.parametrize("algorithm", [PPO, SAC])
def test_the_network_is_the_model_to_rounding(algorithm, normalised):
    envs = make_vec_env("vigym/Snake-v0", 2)
    if normalised:
        envs = VecNormalize(envs, clip_obs=5.0)
        envs.reset()
        for _ in range(20):
            envs.step(np.ones((2, envs.action_space.shape[0]), dtype=np.float32))
    sizes = {"n_steps": 8, "batch_size": 16} if algorithm is PPO else {"buffer_size": 10}
    model = algorithm("MlpPolicy", envs, device="cpu", seed=0, **sizes)
    # rounding of single precision (6e-8) in sums of up to 256 products, in three layers
    assert largest_difference(model, envs if normalised else None, envs.observation_space) < 1e-5


def test_other_policies_are_refused():
    envs = make_vec_env(PENDULUM, 1)
    from torch import nn

    odd = {"activation_fn": nn.ELU}
    model = PPO("MlpPolicy", envs, n_steps=8, batch_size=8, policy_kwargs=odd, device="cpu")
    with pytest.raises(ValueError, match="expected dense layers with one activation, tanh or ReLU"):
        network_of(Model(model, None), {})


def test_a_run_becomes_two_files(tmp_path, capsys):
    out, file = tmp_path / "run", tmp_path / "mine.safetensors"
    short = ("--episodes", 2, "--no-video", "-P", "n_envs=16", "-P", "n_steps=64")
    said(capsys, "train", PENDULUM, "--timesteps", 1024, *short, "--seed", 4, "--out", out)
    drawn = tmp_path / "mine.onnx"
    told = said(capsys, "export", out, "--out", file, "-n", 3, "--onnx", drawn)
    assert "mean return" in told
    assert drawn.is_file()
    policy, env = vigym.load_policy(file), gym.make(PENDULUM)
    observations = np.random.default_rng(0).standard_normal((100, 3))
    expected = load_model(out / "best" / "model.zip", env)(observations, {})
    # rounding of single precision (6e-8) in sums of 64 products of at most 1, in three layers
    assert np.abs(policy(observations, {}) - expected).max() < 1e-5
    training, evaluation = policy.card["training"], policy.card["evaluation"]
    assert (training["seed"], training["recipe"]["n_envs"]) == (4, 16)
    assert training["recipe"]["algorithm"]["n_steps"] == 64
    assert training["control_steps"] == json.loads((out / "results.json").read_text())["timesteps"]
    returns = vigym.evaluate(PENDULUM, policy, 3, evaluation["first_seed"]).column("return_")
    assert evaluation["mean_return"] == returns.mean()
    assert evaluation["lowest_return"] == returns.min()
    text = said(capsys, "evaluate", PENDULUM, "-c", file, "-n", 1, "--csv", "-")
    assert text.splitlines()[1].startswith(str(file))

    assert run(["export", str(out), "--out", str(file)]) == 2
    assert "exists: give another name, or --overwrite" in capsys.readouterr().err
    shutil.rmtree(out / "best")
    assert run(["export", str(out), "--out", str(tmp_path / "other.safetensors")]) == 1
    assert "found no best/model.zip, expected the folder of a finished" in capsys.readouterr().err

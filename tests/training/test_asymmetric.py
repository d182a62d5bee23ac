"""Critics with privileged observations: actors do not see them, exported policies do without."""

import numpy as np
import pytest

pytest.importorskip("stable_baselines3", reason="needs vigym[train]")

import gymnasium as gym
import torch

import vigym
from scenes.command_line import said
from vigym.cli.app import run
from vigym.evaluation.policies import load_model
from vigym.wrappers import AsymmetricPolicy, SB3VecEnv

QUADRUPED = "vigym/Quadruped-v1"
SHORT = ("--episodes", 2, "--no-video", "-P", "n_envs=4", "-P", "n_steps=16")
OPTIONS = (
    "-o",
    "max_episode_steps=20",
    "-o",
    "privileged=True",
    "-o",
    "randomization={'friction': (0.5, 1.5)}",
)


def vector(**options):
    return SB3VecEnv(gym.make_vec(QUADRUPED, 3, privileged=True, **options))


def test_observations_have_two_parts():
    """At an end they are those of the last step, beside those of the start."""
    limits = {"max_episode_steps": 2, "autoreset_mode": "SameStep"}
    envs, plain = vector(**limits), gym.make_vec(QUADRUPED, 3, privileged=True, **limits)
    envs.seed(4)
    seen = envs.reset()
    observed, infos = plain.reset(seed=4)
    rest = np.zeros((3, 12), dtype=np.float32)
    for _ in range(3):
        assert envs.observation_space["privileged"] == plain.unwrapped.privileged_space
        np.testing.assert_array_equal(seen["policy"], observed)
        np.testing.assert_array_equal(seen["privileged"], infos["privileged"])
        seen, _, done, told = envs.step(rest)
        observed, *_, infos = plain.step(rest)
        for lane in np.flatnonzero(done):
            last = told[lane]["terminal_observation"]
            np.testing.assert_array_equal(last["policy"], infos["final_obs"][lane])
            expected = infos["final_info"]["privileged"][lane]
            np.testing.assert_array_equal(last["privileged"], expected)
            assert envs.observation_space.contains(last)


def test_the_critic_sees_what_the_actor_does_not():
    space = vector(autoreset_mode="SameStep").observation_space
    actions = gym.make(QUADRUPED).action_space
    policy = AsymmetricPolicy(space, actions, lambda _: 1e-3, net_arch={"pi": [8], "vf": [16]})
    draw = np.random.default_rng(0)
    seen = {key: torch.as_tensor(draw.normal(size=(5, *space[key].shape))).float() for key in space}
    other = seen | {"privileged": seen["privileged"] + 1.0}
    (action, value, _), (same, differs, _) = (
        policy(one, deterministic=True) for one in (seen, other)
    )
    assert torch.equal(action, same)
    assert (value != differs).all()
    assert torch.equal(policy.evaluate_actions(seen, action)[0], value)
    assert torch.equal(policy.predict_values(seen), value)
    assert policy.mlp_extractor.policy_net[0].weight.shape == (8, 35)


def test_a_run_is_exported_with_the_actor_alone(tmp_path, capsys):
    out, file = tmp_path / "run", tmp_path / "walk.safetensors"
    said(capsys, "train", QUADRUPED, *OPTIONS, "--timesteps", 256, *SHORT, "--out", out)
    said(capsys, "train", QUADRUPED, "--timesteps", 384, "--resume", *SHORT, "--out", out)
    said(capsys, "export", out, "--out", file, "-n", 2, "--onnx", tmp_path / "walk.onnx")
    policy, env = vigym.load_policy(file), gym.make(QUADRUPED)
    assert policy.sizes[0] == 35
    observations = np.random.default_rng(0).standard_normal((100, 35))
    expected = load_model(out / "best" / "model.zip", env)(observations, {})
    # rounding of single precision (6e-8) in sums of 64 products of at most 1, in three layers
    assert np.abs(policy(observations, {}) - expected).max() < 1e-5
    model = str(out / "best" / "model.zip")
    returns = [vigym.evaluate(QUADRUPED, one, 2).column("return_") for one in (policy, model)]
    assert returns[0] == pytest.approx(returns[1], abs=1e-3)


def test_other_algorithms_are_refused(tmp_path, capsys):
    given = ["train", QUADRUPED, "-o", "privileged=True", "--algo", "sac", "--out", str(tmp_path)]
    assert run(given) == 1
    expected = "option privileged: found it with SAC, expected PPO of stable-baselines3"
    assert expected in capsys.readouterr().err

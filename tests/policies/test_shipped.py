"""Policies of the package: small, with cards that are true, played without torch."""

import math
import subprocess
import sys

import gymnasium as gym
import numpy as np
import pytest

import vigym
from scenes.env_cases import OF_FILES
from vigym.cli.app import run
from vigym.envs.registry import EARLIER, ENVIRONMENTS
from vigym.evaluation.builtin import BUILTIN
from vigym.policies.shipped import FOLDER, shipped_ids

IDS = shipped_ids()
EPISODES = 6
SEED = 3_000_000  # neither training nor the cards played these


@pytest.mark.parametrize("env_id", IDS)
def test_a_policy_reaches_the_return_of_its_card(env_id):
    card = vigym.load_policy(env_id).card["evaluation"]
    scores = vigym.evaluate(env_id, "trained", EPISODES, SEED)
    # Four deviations of the difference between the means of these episodes and of the card's.
    error = card["return_deviation"] * math.sqrt(1.0 / EPISODES + 1.0 / card["episodes"])
    assert scores.column("return_").mean() >= card["mean_return"] - 4.0 * error
    assert scores.unconverged_episodes == 0


@pytest.mark.parametrize("env_id", IDS)
def test_a_card_tells_of_training_and_of_other_episodes(env_id):
    policy = vigym.load_policy(env_id)
    training, evaluation = policy.card["training"], policy.card["evaluation"]
    assert policy.card["env_id"] == env_id
    assert training["options"] == {}  # else `-c trained` would play another environment
    assert training["control_steps"] >= training["recipe"]["n_timesteps"]
    assert training["seed"] < 1000 < evaluation["first_seed"]
    assert evaluation["episodes"] >= 100
    low, high = evaluation["lowest_return"], evaluation["highest_return"]
    assert low <= evaluation["mean_return"] <= high
    threshold = gym.spec(env_id).reward_threshold
    assert threshold is None or evaluation["mean_return"] >= threshold


def test_every_environment_has_one_but_that_of_files():
    assert set(IDS) == {entry.id for entry in (*ENVIRONMENTS, *EARLIER)} - set(OF_FILES)


def test_all_policies_are_small():
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) < 10e6


def test_nothing_of_the_learners_is_imported():
    code = (
        "import sys, gymnasium, vigym\n"
        "policy = vigym.load_policy('vigym/Pendulum-v0')\n"
        "env = gymnasium.make('vigym/Pendulum-v0')\n"
        "observation, info = env.reset(seed=0)\n"
        "env.step(policy(observation, info))\n"
        "print([name for name in ('torch', 'stable_baselines3') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip().splitlines()[-1] == "[]", done.stderr


def test_a_policy_is_a_controller_by_name_by_file_and_as_an_object():
    policy, file = vigym.load_policy("vigym/Pendulum-v0"), str(FOLDER / "Pendulum-v0.safetensors")
    by = [vigym.evaluate("vigym/Pendulum-v0", one, 2) for one in ("trained", file, policy)]
    assert len({tuple(one.column("return_")) for one in by}) == 1
    assert BUILTIN["trained"].ids == tuple(IDS)


def test_an_environment_without_a_policy_is_told_which_have_one(capsys):
    with pytest.raises(ValueError, match="found none of 'vigym/Urdf-v0', expected .*Pendulum-v0"):
        vigym.load_policy("vigym/Urdf-v0")
    robot = ("-o", f"urdf={vigym.assets.path('pendulum')}")
    assert run(["evaluate", "vigym/Urdf-v0", *robot, "-c", "trained"]) == 1
    assert "works with vigym/" in capsys.readouterr().err


def test_other_observations_are_refused():
    file = str(FOLDER / "Pendulum-v0.safetensors")
    with pytest.raises(ValueError, match=r"found observation space \(3,\), expected \(5,\)"):
        vigym.evaluate("vigym/CartPole-v0", file, 1)


def test_a_batch_plays_as_each_alone():
    policy = vigym.load_policy("vigym/Pendulum-v0")
    observations = np.random.default_rng(0).standard_normal((16, 3))
    assert np.array_equal(policy(observations, {})[5], policy(observations[5], {}))

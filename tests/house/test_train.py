"""The training script from a command line to its table, and the evaluation it ends with."""

import csv
import json
import pickle
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

from vigym.envs.registry import ENVIRONMENTS

pytest.importorskip(
    "stable_baselines3", reason="needs stable-baselines3: pip install 'vigym[train]'"
)

TRAIN = Path(__file__).resolve().parents[2] / "train"
FRESH = 1_000_000


@pytest.fixture
def train(monkeypatch):
    """Modules of the training folder."""
    monkeypatch.syspath_prepend(str(TRAIN))
    import evaluation
    import hyperparameters
    import learning

    return {"evaluation": evaluation, "hyperparameters": hyperparameters, "learning": learning}


def ppo(*arguments, script="ppo.py"):
    command = [sys.executable, str(TRAIN / script), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


def swing_up(observation, info):
    """Pump energy towards upright; near it hold with a spring and a damper."""
    cosine, sine, rate = observation
    angle = np.arctan2(sine, cosine)
    lack = (
        0.5 * 9.81 * (1.0 - cosine) - rate**2 / 6.0
    )  # energy still needed [J] of a rod of 1 kg and 1 m
    near = abs(angle) < 0.3 and abs(rate) < 2.0
    push = -8.0 * angle - 2.5 * rate if near else np.sign(rate) * np.clip(2.0 * lack, -1.0, 1.0)
    return np.clip([push], -1.0, 1.0)


def test_train_then_resume(tmp_path):
    out = tmp_path / "run"
    first = ppo("--env", "vigym/Pendulum-v0", "--timesteps", 4096, "--episodes", 2, "--out", out)
    assert first.returncode == 0, first.stderr
    for words in (
        "success rate",
        "energy balance",
        "constraint residual",
        "steps/s",
        "4096/4,096",
        "the learner took",
    ):
        assert words in first.stdout.replace("4,096/4,096", "4096/4,096")
    results = json.loads((out / "results.json").read_text())
    assert (results["env"], results["timesteps"], results["episodes"]) == (
        "vigym/Pendulum-v0",
        4096,
        2,
    )
    assert results["constraint_residual"] <= 1e-10
    assert results["speed"] is None
    assert {path.name for path in (out / "best").iterdir()} == {"model.zip", "normalisation.pkl"}
    assert (out / "curve.png").stat().st_size > 1000
    assert (out / "video.mp4").stat().st_size > 10_000

    again = ppo("--env", "vigym/Pendulum-v0", "--timesteps", 4096, "--out", out)
    assert again.returncode == 2
    assert "found an earlier run; add --resume" in again.stderr

    more = ppo(
        "--env",
        "vigym/Pendulum-v0",
        "--timesteps",
        8192,
        "--episodes",
        2,
        "--out",
        out,
        "--resume",
        "--no-video",
    )
    assert more.returncode == 0, more.stderr
    assert json.loads((out / "results.json").read_text())["timesteps"] == 8192
    with open(out / "curve.csv", newline="") as file:
        assert [row["steps"] for row in csv.DictReader(file)] == ["4096", "8192"]


class Saved:
    """Stand-in for a model and its normalisation; writing it may end half-way."""

    def __init__(self, text, breaks=False):
        self.text, self.breaks = text, breaks

    def get_vec_normalize_env(self):
        return Saved(self.text)

    def save(self, path):
        if str(path).endswith(".pkl"):
            Path(path).write_bytes(pickle.dumps(self.text))
            return
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("data", self.text)
        if self.breaks:
            raise KeyboardInterrupt


def content(folder):
    with zipfile.ZipFile(folder / "model.zip") as archive:
        model = archive.read("data").decode()
    return model, pickle.loads((folder / "normalisation.pkl").read_bytes())


def test_model_and_normalisation_are_replaced_together(train, tmp_path):
    save, restore = train["learning"].save, train["learning"].restore
    best = tmp_path / "best"
    save(Saved("first"), best)
    save(Saved("second"), best)
    assert content(best) == ("second", "second")
    with pytest.raises(KeyboardInterrupt):
        save(Saved("third", breaks=True), best)
    assert content(best) == ("second", "second")
    best.rename(tmp_path / "best.old")  # the process ended between two renames
    restore(best)
    assert content(best) == ("second", "second")
    save(Saved("fourth"), best)
    assert content(best) == ("fourth", "fourth")
    assert [path.name for path in tmp_path.iterdir()] == ["best"]


@pytest.mark.parametrize("name", ["model.zip", "normalisation.pkl"])
@pytest.mark.parametrize("kept", [0, 0.5, None])
def test_half_written_checkpoints_are_skipped(train, tmp_path, capsys, name, kept):
    learning, folder = train["learning"], tmp_path / "checkpoints"
    for steps in (4096, 8192, 16384):
        learning.save(Saved(str(steps)), folder / str(steps))
    with pytest.raises(KeyboardInterrupt):
        learning.save(Saved("half", breaks=True), folder / "32768")
    assert learning.newest_checkpoint(tmp_path).name == "16384"
    assert capsys.readouterr().err == ""
    file = folder / "16384" / name
    if kept is None:
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[: int(kept * file.stat().st_size)])
    assert learning.newest_checkpoint(tmp_path).name == "8192"
    err = capsys.readouterr().err
    assert "16384: found" in err
    assert "it is skipped" in err
    (folder / "4096" / name).write_bytes(b"")
    (folder / "8192" / name).write_bytes(b"")
    assert learning.newest_checkpoint(tmp_path) is None


def test_sac_resumes_with_its_replay_buffer(tmp_path):
    options = ["--env", "vigym/Pendulum-v0", "--episodes", 2, "--out", tmp_path, "--no-video"]
    first = ppo(*options, "--timesteps", 5120, script="sac.py")
    assert first.returncode == 0, first.stderr
    assert "the learner took" in first.stdout
    more = ppo(*options, "--timesteps", 5440, "--resume", script="sac.py")
    assert more.returncode == 0, more.stderr
    assert json.loads((tmp_path / "results.json").read_text())["timesteps"] == 5440
    assert (tmp_path / "replay.pkl").stat().st_size > 100_000


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--env", "vigym/Nothing-v0"], "invalid choice: 'vigym/Nothing-v0'"),
        (
            ["--env", "vigym/Pendulum-v0", "--timesteps", "0"],
            "--timesteps: found 0, expected a number >= 1",
        ),
        (
            ["--env", "vigym/Pendulum-v0", "--seed", "-1"],
            "--seed: found -1, expected a number >= 0",
        ),
        (
            ["--env", "vigym/Pendulum-v0", "--out", "nowhere", "--resume"],
            "nowhere: found no checkpoint",
        ),
    ],
)
def test_wrong_command_lines_say_what_to_mend(arguments, error):
    run = ppo(*arguments)
    assert run.returncode == 2
    assert error in run.stderr


def test_every_environment_with_a_threshold_has_settings_that_fit(train):
    settings, others = train["hyperparameters"].PPO, train["hyperparameters"].SAC
    solved = {entry.id for entry in ENVIRONMENTS if entry.reward_threshold is not None}
    assert solved <= set(settings) <= {entry.id for entry in ENVIRONMENTS}
    for name, setting in [*settings.items(), *others.items()]:
        env = gym.make(name, **setting.training)
        _, info = env.reset(seed=0)
        assert setting.success.low <= setting.success.high
        assert np.ndim(info[setting.success.quantity]) == 0
        assert (
            setting.success.seconds
            <= gym.make(name).spec.max_episode_steps * env.unwrapped.dt + 1e-9
        )
        if "n_steps" in setting.algorithm:
            rollout = setting.envs * setting.algorithm["n_steps"]
            assert rollout % setting.algorithm["batch_size"] == 0


def test_evaluation_tells_success_from_failure(train):
    evaluate = train["evaluation"].evaluate
    success = train["hyperparameters"].PPO["vigym/Pendulum-v0"].success
    good = evaluate("vigym/Pendulum-v0", swing_up, success, episodes=30, seed=FRESH).figures()
    assert good["episodes"] == 30
    assert good["success_rate"] == 1.0
    assert good["mean_length"] == 300.0
    assert good["solver_failures"] == 0
    assert good["energy_balance"] < 1e-2
    assert good["energy_change"] > 9.0  # from hanging to upright: 9.81 J, less the noise's share
    lazy = evaluate("vigym/Pendulum-v0", "zero", success, episodes=3, seed=FRESH).figures()
    assert (lazy["episodes"], lazy["success_rate"]) == (3, 0.0)
    assert lazy["mean_return"] < good["mean_return"]


def test_an_early_end_is_no_success(train):
    success = train["hyperparameters"].Success("tip_height", -9.0, 9.0, seconds=0.1)
    name = "vigym/InvertedDoublePendulum-v0"
    fallen = train["evaluation"].evaluate(name, lambda observation, info: [1.0], success, 2, 0)
    assert fallen.success_rate == 0.0
    assert fallen.figures()["mean_length"] < 1000


def test_success_for_a_share_of_the_time(train):
    evaluate = train["evaluation"].evaluate
    success = train["hyperparameters"].PPO["vigym/MinitaurLeg-v0"].success
    result = evaluate("vigym/MinitaurLeg-v0", "hop", success, episodes=2, seed=FRESH)
    assert result.success_rate == 1.0  # in flight, most of the time
    figures = result.figures()
    assert figures["speed"] is figures["slowest"] is figures["cost_of_transport"] is None
    always = replace(success, share=1.0)
    result = evaluate("vigym/MinitaurLeg-v0", "hop", always, episodes=2, seed=FRESH)
    assert result.success_rate == 0.0


def test_speed_power_and_cost_of_transport(train):
    success = train["hyperparameters"].PPO["vigym/Minitaur-v0"].success
    evaluate = train["evaluation"].evaluate
    figures = evaluate("vigym/Minitaur-v0", "trot", success, episodes=1, seed=FRESH).figures()
    assert (figures["success_rate"], figures["mean_length"]) == (1.0, 1000.0)
    speed, power = figures["speed"], figures["power"]
    assert speed == figures["slowest"] > 0.3
    assert 10.0 < power < 30.0
    assert figures["cost_of_transport"] == pytest.approx(power / (6.0 * 9.81 * speed))

"""The command `vigym train` from an environment to its table, and the evaluation it ends with."""

import csv
import io
import json
import pickle
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

pytest.importorskip("stable_baselines3", reason="needs vigym[train]")

from scenes.command_line import said
from vigym import assets
from vigym.cli.app import run
from vigym.envs.registry import EARLIER, ENVIRONMENTS
from vigym.files import restore_folder
from vigym.training.checkpoints import newest_checkpoint, save
from vigym.training.recipes import DEFAULTS, RECIPES, Success, recipe_of
from vigym.training.results import evaluate

ROOT = Path(__file__).resolve().parents[2]
FRESH = 1_000_000
PENDULUM, LEG = "vigym/Pendulum-v0", "vigym/MinitaurLeg-v0"


def success_of(name):
    return recipe_of(name, "ppo").success


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


SHORT = ("--episodes", 2, "--no-video", "-P", "n_envs=16", "-P", "n_steps=64")


def test_train_then_resume(tmp_path, capsys):
    out = tmp_path / "run"
    where = ("--out", out, "--timesteps", 2048)
    text = said(capsys, "train", PENDULUM, *where, *SHORT[:2], *SHORT[3:], "-o", "timestep=0.02")
    for words in ("success rate", "energy balance", "steps/s", "2,048/2,048", "the learner took"):
        assert words in text
    assert f"vigym evaluate {PENDULUM} -c {out}/best/model.zip -o timestep=0.02" in text
    results = json.loads((out / "results.json").read_text())
    assert (results["env"], results["timesteps"], results["episodes"]) == (PENDULUM, 2048, 2)
    assert results["constraint_residual"] <= 1e-10
    assert results["speed"] is None
    assert {path.name for path in (out / "best").iterdir()} == {"model.zip", "vecnormalize.pkl"}
    models = (out, out / "best" / "model.zip")
    assert (out / "curve.png").stat().st_size > 1000
    assert (out / "video.mp4").stat().st_size > 10_000

    by = [said(capsys, "evaluate", PENDULUM, "-c", what, "-n", 1, "--csv", "-") for what in models]
    assert len({text.splitlines()[1].partition(",")[2] for text in by}) == 1

    assert refused(capsys, "train", PENDULUM, *where) == (2, "found an earlier run; add --resume")
    other = ("train", PENDULUM, "--resume", *where, "-o", "timestep=0.03")
    assert refused(capsys, *other) == (2, "found timestep=0.03, expected timestep=0.02, with which")
    more = ("--timesteps", 4096, "--episodes", 2, "--no-video", "--resume")
    said(capsys, "train", PENDULUM, "--out", out, *more)
    configuration = json.loads((out / "config.json").read_text())
    assert configuration["options"] == {"timestep": 0.02}
    assert configuration["hyperparameters"] == {"n_envs": 16, "n_steps": 64, "n_timesteps": 4096}
    with open(out / "curve.csv", newline="") as file:
        steps = [int(row["steps"]) for row in csv.DictReader(file)]
    assert steps == sorted(steps)
    assert steps[-1] == json.loads((out / "results.json").read_text())["timesteps"] == 4096


def refused(capsys, *arguments):
    """Run a command that fails; return its exit code and what it found."""
    code = run([str(argument) for argument in arguments])
    err = capsys.readouterr().err
    return code, re.search(r"found [^,;]*(; add --resume|, expected [^,]*, with which)?", err)[0]


def test_the_script_is_the_command(tmp_path):
    options = ["--timesteps", "1024", *map(str, SHORT), "--out", str(tmp_path / "run")]
    command = [sys.executable, str(ROOT / "train" / "ppo.py"), "--env", PENDULUM, *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "run" / "config.json").read_text())["algo"] == "ppo"


def test_a_file_stands_for_its_robot(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(assets.path("minitaur_leg"), tmp_path / "leg.urdf")
    (tmp_path / "training_hooks.py").write_text(
        "def reward(info, action):\n    return -(info['joint_velocities'] ** 2).sum(axis=-1)\n"
    )
    options = ("-o", "ground=True", "-o", "control=position", "-o", "reward=training_hooks:reward")
    told = said(capsys, "train", "leg.urdf", *options, "--timesteps", 1024, *SHORT)
    best = Path("runs", "leg-seed0", "best", "model.zip")
    assert f"score it again: vigym evaluate leg.urdf -c {best} -o ground=True" in told
    out = tmp_path / "runs" / "leg-seed0"
    assert json.loads((out / "results.json").read_text())["env"] == "vigym/Robot-v0"
    model = out / "best" / "model.zip"
    played = ("evaluate", "vigym/Urdf-v0", "-o", "urdf=leg.urdf", *options, "-c", model, "-n", 1)
    assert "return" in said(capsys, *played)
    code = run(["train", "leg.urdf", "-o", "ground=True"])
    assert code == 2  # its folder has a run
    code = run(["train", "leg.urdf", "-o", "ground=True", "--out", "other"])
    assert code == 1
    assert "found a robot that does not float, expected reward=" in capsys.readouterr().err


OWN = """
import gymnasium
import numpy as np


class Reach(gymnasium.Env):
    observation_space = gymnasium.spaces.Dict(
        {"place": gymnasium.spaces.Box(-1, 1, (2,)), "goal": gymnasium.spaces.Discrete(3)}
    )
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        return {"place": np.zeros(2, np.float32), "goal": 1}, {}

    def step(self, action):
        return {"place": np.zeros(2, np.float32), "goal": 1}, float(action), False, False, {}


gymnasium.register("me/Reach-v0", Reach, max_episode_steps=20, reward_threshold=15.0)
"""


def test_ids_of_others(tmp_path, capsys, monkeypatch):
    """Observations in parts and choices as actions, of an id that a module of the user's registers."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "reach_of_mine.py").write_text(OWN)
    text = said(capsys, "train", "reach_of_mine:me/Reach-v0", "--timesteps", 8192, *SHORT)
    results = json.loads((tmp_path / "runs" / "Reach-v0-seed0" / "results.json").read_text())
    assert (results["mean_return"], results["success_rate"], results["mean_length"]) == (20, 1, 20)
    assert "success rate" in text
    assert run(["train", "me/Reach-v0", "--algo", "sac", "--out", "sac"]) == 1
    assert "SAC: The algorithm only supports" in capsys.readouterr().err


def test_mujoco_trains_too(tmp_path, capsys):
    pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    said(capsys, "train", "Swimmer-v5", "--timesteps", 2048, *SHORT, "--out", tmp_path / "run")


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
        weights = io.BytesIO()
        with zipfile.ZipFile(weights, "w") as archive:  # as torch does, an archive in the archive
            archive.writestr("weights", b"0" * 1000)
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("policy.pth", weights.getvalue())
            archive.writestr("data", self.text)
        if self.breaks:
            raise KeyboardInterrupt


def content(folder):
    with zipfile.ZipFile(folder / "model.zip") as archive:
        model = archive.read("data").decode()
    return model, pickle.loads((folder / "vecnormalize.pkl").read_bytes())


def test_model_and_normalisation_are_replaced_together(tmp_path):
    best = tmp_path / "best"
    save(Saved("first"), best)
    save(Saved("second"), best)
    assert content(best) == ("second", "second")
    with pytest.raises(KeyboardInterrupt):
        save(Saved("third", breaks=True), best)
    assert content(best) == ("second", "second")
    best.rename(tmp_path / "best.old")  # the process ended between two renames
    restore_folder(best)
    assert content(best) == ("second", "second")
    save(Saved("fourth"), best)
    assert content(best) == ("fourth", "fourth")
    assert [path.name for path in tmp_path.iterdir()] == ["best"]


@pytest.mark.parametrize("name", ["model.zip", "vecnormalize.pkl"])
@pytest.mark.parametrize("kept", [0, 0.5, None])
def test_half_written_checkpoints_are_skipped(tmp_path, capsys, name, kept):
    folder = tmp_path / "checkpoints"
    for steps in (4096, 8192, 16384):
        save(Saved(str(steps)), folder / str(steps))
    with pytest.raises(KeyboardInterrupt):
        save(Saved("half", breaks=True), folder / "32768")
    assert newest_checkpoint(tmp_path).name == "16384"
    assert capsys.readouterr().err == ""
    file = folder / "16384" / name
    if kept is None:
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[: int(kept * file.stat().st_size)])
    assert newest_checkpoint(tmp_path).name == "8192"
    err = capsys.readouterr().err
    assert "16384: found" in err
    assert "it is skipped" in err
    (folder / "4096" / name).write_bytes(b"")
    (folder / "8192" / name).write_bytes(b"")
    assert newest_checkpoint(tmp_path) is None


@pytest.mark.parametrize("folder", ["", "missing/"])
def test_a_name_that_no_folder_can_have_is_told(capsys, folder):
    for words in (["train", PENDULUM, "--out"], ["export"]):
        code, found = refused(capsys, *words, folder + "a" * 300)
        assert code == 2
        assert found.endswith("aaa...' (File name too long)")


@pytest.mark.parametrize("kept", range(1, 40))
def test_models_cut_anywhere_are_skipped(tmp_path, capsys, kept):
    """What is left may end like an archive, that of the weights inside of it."""
    save(Saved("4096"), tmp_path / "checkpoints" / "4096")
    file = tmp_path / "checkpoints" / "4096" / "model.zip"
    data = file.read_bytes()
    file.write_bytes(data[: len(data) * kept // 40])
    assert newest_checkpoint(tmp_path) is None
    assert "it is skipped" in capsys.readouterr().err


def test_sac_resumes_with_its_replay_buffer(tmp_path, capsys):
    options = ("--episodes", 2, "--out", tmp_path, "--no-video")
    few = ("-P", "learning_starts=512", "-P", "gradient_steps=1")
    said(capsys, "train", PENDULUM, *options, "--algo", "sac", *few, "--timesteps", 1024)
    said(capsys, "train", PENDULUM, *options, "--timesteps", 1152, "--resume")
    results = json.loads((tmp_path / "results.json").read_text())
    assert (results["algo"], results["timesteps"]) == ("sac", 1152)
    assert (tmp_path / "replay.pkl").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("arguments", "code", "error"),
    [
        (["vigym/Nothing-v0"], 1, "found 'vigym/Nothing-v0', did you mean"),
        (["nothing.urdf"], 2, "found no file 'nothing.urdf', expected a URDF, MJCF or SDF file"),
        ([PENDULUM, "--timesteps", "0"], 2, "0 is not in the range x>=1"),
        ([PENDULUM, "--seed", "-1"], 2, "-1 is not in the range x>=0"),
        ([PENDULUM, "--algo", "td3"], 2, "'td3' is not one of 'ppo', 'sac'"),
        ([PENDULUM, "-P", "n_step=5"], 1, "found 'n_step', did you mean 'n_steps'?"),
        ([PENDULUM, "-P", "_init_setup_model=False"], 1, "found '_init_setup_model', expected one"),
        ([PENDULUM, "-P", "n_timesteps=1e5"], 1, "n_timesteps: found 100000.0, expected a whole"),
        ([PENDULUM, "-P", "n_epochs=-1"], 1, "n_epochs: found -1, expected a whole number >= 1"),
        ([PENDULUM, "-P", "normalize=no"], 1, "normalize: found 'no', expected True or False"),
        ([PENDULUM, "-P", "use_sde=1"], 1, "use_sde: found 1, expected True or False"),
        ([PENDULUM, "-P", "gamma=x"], 1, "hyperparameter gamma: found 'x', expected a number"),
        ([PENDULUM, "-P", "policy_kwargs=3"], 1, "policy_kwargs: found 3, expected a dictionary"),
        ([PENDULUM, "-P", "learning_rate=fast"], 1, "learning_rate: found 'fast', expected a num"),
        (
            ["vigym/Snake-v0", "-o", "link=5"],
            1,
            "options of Snake: found 'link', did you mean 'links'?",
        ),
        (["vigym/Urdf-v0"], 1, "expected the option 'urdf'"),
    ],
)
def test_wrong_command_lines_say_what_to_mend(
    arguments, code, error, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert run(["train", *arguments]) == code
    assert error in capsys.readouterr().err


def test_every_environment_with_a_threshold_has_a_recipe_that_fits():
    solved = {entry.id for entry in ENVIRONMENTS if entry.reward_threshold is not None}
    assert solved <= set(RECIPES["ppo"]) <= {entry.id for entry in (*ENVIRONMENTS, *EARLIER)}
    for name, setting in [*RECIPES["ppo"].items(), *RECIPES["sac"].items()]:
        env = gym.make(name, **setting.training)
        _, info = env.reset(seed=0)
        assert setting.success.low <= setting.success.high
        assert np.ndim(info[setting.success.quantity]) == 0
        assert (
            setting.success.seconds
            <= gym.make(name).spec.max_episode_steps * env.unwrapped.dt + 1e-9
        )
        if "n_steps" in setting.algorithm:
            rollout = setting.n_envs * setting.algorithm["n_steps"]
            assert rollout % setting.algorithm["batch_size"] == 0
    assert recipe_of("anybody/Walker-v0", "sac") is DEFAULTS["sac"]
    other = recipe_of("vigym/Snake-v0", "sac")
    assert other.success == RECIPES["ppo"]["vigym/Snake-v0"].success
    assert other.algorithm == DEFAULTS["sac"].algorithm


def test_evaluation_tells_success_from_failure():
    success = success_of("vigym/Pendulum-v0")
    good = evaluate("vigym/Pendulum-v0", swing_up, success, episodes=30, seed=FRESH).figures
    assert good["episodes"] == 30
    assert good["success_rate"] == 1.0
    assert good["mean_length"] == 300.0
    assert good["solver_failures"] == 0
    assert good["energy_balance"] < 1e-2
    assert good["energy_change"] > 9.0  # from hanging to upright: 9.81 J, less the noise's share
    lazy = evaluate("vigym/Pendulum-v0", "zero", success, episodes=3, seed=FRESH).figures
    assert (lazy["episodes"], lazy["success_rate"]) == (3, 0.0)
    assert lazy["mean_return"] < good["mean_return"]


def test_an_early_end_is_no_success():
    success = Success("tip_height", -9.0, 9.0, seconds=0.1)
    name = "vigym/InvertedDoublePendulum-v0"
    fallen = evaluate(name, lambda observation, info: [1.0], success, 2, 0)
    assert fallen.success_rate == 0.0
    assert fallen.figures["mean_length"] < 1000


def test_success_for_a_share_of_the_time():
    success = success_of("vigym/MinitaurLeg-v0")
    result = evaluate("vigym/MinitaurLeg-v0", "hop", success, episodes=2, seed=FRESH)
    assert result.success_rate == 1.0  # in flight, most of the time
    figures = result.figures
    assert figures["speed"] is figures["slowest"] is figures["cost_of_transport"] is None
    always = replace(success, share=1.0)
    result = evaluate("vigym/MinitaurLeg-v0", "hop", always, episodes=2, seed=FRESH)
    assert result.success_rate == 0.0


def test_speed_power_and_cost_of_transport():
    success = success_of("vigym/Minitaur-v0")
    figures = evaluate("vigym/Minitaur-v0", "trot", success, episodes=1, seed=FRESH).figures
    assert (figures["success_rate"], figures["mean_length"]) == (1.0, 1000.0)
    speed, power = figures["speed"], figures["power"]
    assert speed == figures["slowest"] > 0.3
    assert 10.0 < power < 30.0
    assert figures["cost_of_transport"] == pytest.approx(power / (6.0 * 9.81 * speed))
    assert figures["return_deviation"] is None  # one return has no spread


@pytest.mark.parametrize("algo", ["ppo", "sac"])
def test_sbx_trains_resumes_and_is_evaluated(tmp_path, capsys, algo):
    pytest.importorskip("sbx", reason="SBX is not installed")
    sac = ("-P", "learning_starts=512", "-P", "gradient_steps=1")
    few = SHORT if algo == "ppo" else (*SHORT[:5], *sac)
    out = ("--out", tmp_path / "run")
    said(
        capsys,
        "train",
        PENDULUM,
        *out,
        *few,
        "--timesteps",
        2048,
        "--algo",
        algo,
        "--learner",
        "sbx",
    )
    said(
        capsys,
        "train",
        PENDULUM,
        *out,
        "--no-video",
        "--episodes",
        2,
        "--timesteps",
        4096,
        "--resume",
    )
    results = json.loads((tmp_path / "run" / "results.json").read_text())
    assert (results["learner"], results["algo"], results["timesteps"]) == ("sbx", algo, 4096)
    model = tmp_path / "run" / "best" / "model.zip"
    assert "return" in said(capsys, "evaluate", PENDULUM, "-c", model, "-n", 1)


def test_a_learner_that_is_not_installed_is_named(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "sbx", None)
    assert run(["train", PENDULUM, "--learner", "sbx", "--out", str(tmp_path / "run")]) == 1
    assert "pip install sbx-rl" in capsys.readouterr().err

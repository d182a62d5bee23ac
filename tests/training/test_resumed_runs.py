"""Runs that go on: the end is evaluated and kept, however few steps there are."""

import json
import pickle
from itertools import combinations

import numpy as np
import pytest

pytest.importorskip("stable_baselines3", reason="needs vigym[train]")

from scenes.command_line import said
from vigym.cli.app import run
from vigym.training import checkpoints
from vigym.training.checkpoints import newest_checkpoint, read_curve
from vigym.training.environments import TimedVecEnv
from vigym.training.run import FRESH_SEED, seed_after

PENDULUM = "vigym/Pendulum-v0"
SMALL = ("-P", "n_envs=4", "-P", "n_steps=16", "-P", "batch_size=64", "-P", "n_epochs=1")
STEPS = list(range(128, 1281, 128))


def steps_of(out):
    return [steps for steps, _ in read_curve(out / "curve.csv")]


def test_the_end_of_a_resumed_run_is_kept(tmp_path, capsys):
    """Steps that are fewer than those between two evaluations, and those after the last one."""
    where = ("--out", tmp_path, "--episodes", 1, "--no-video")
    said(capsys, "train", PENDULUM, *where, *SMALL, "--timesteps", 1280)
    fresh = [*STEPS]
    assert steps_of(tmp_path) == fresh
    for steps, points in ((1300, [1344]), (1344, []), (1700, [1512, 1680, 1728])):
        said(capsys, "train", PENDULUM, *where, "--timesteps", steps, "--resume")
        fresh += points
        assert steps_of(tmp_path) == fresh
        assert newest_checkpoint(tmp_path).name == str(fresh[-1])
        assert json.loads((tmp_path / "results.json").read_text())["timesteps"] == fresh[-1]


def test_steps_of_returns_are_no_length_of_rollouts(tmp_path, capsys):
    sac = ("--algo", "sac", "-P", "n_steps=5", "-P", "n_envs=16", "--timesteps", 64)
    said(capsys, "train", PENDULUM, *sac, "--out", tmp_path, "--episodes", 1, "--no-video")
    assert steps_of(tmp_path) == [16, 32, 48, 64]


def job(out):
    """Return the one command of a job that may be preempted."""
    where = ("--out", str(out), "--episodes", "1", "--no-video", "--seed", "5")
    return ["train", PENDULUM, *where, *SMALL, "--timesteps", "1280", "--resume"]


def preempt(monkeypatch, name, number):
    """Let a process end as it calls a function of `checkpoints` for the time of a number."""
    calls, function = [], getattr(checkpoints, name)

    def end(*given):
        calls.append(given)
        if len(calls) == number:
            raise KeyboardInterrupt
        return function(*given)

    monkeypatch.setattr(checkpoints, name, end)


@pytest.mark.parametrize("name", ["save", "write_file"])
def test_one_command_begins_goes_on_and_ends(name, tmp_path, capsys, monkeypatch):
    """Wherever it is preempted: rows of the curve are neither lost nor there twice."""
    ends = 0
    for number in (1, 2, 3, 4, 7):
        with monkeypatch.context() as patch:
            preempt(patch, name, number)
            ends += run(job(tmp_path)) == 130
        steps = steps_of(tmp_path)
        assert steps == STEPS[: len(steps)]
    assert ends >= 4
    assert run(job(tmp_path)) == 0
    assert steps_of(tmp_path) == STEPS
    results = (tmp_path / "results.json").read_text()
    assert (json.loads(results)["timesteps"], json.loads(results)["seed"]) == (1280, 5)
    times = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    capsys.readouterr()
    out = said(capsys, *job(tmp_path))
    assert out.strip() == f"{tmp_path}: found a finished run of 1280 steps"
    assert times == {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}


@pytest.mark.parametrize("learner", ["sb3", "sbx"])
@pytest.mark.parametrize("algo", ["ppo", "sac"])
def test_a_run_that_goes_on_sees_fresh_episodes(algo, learner, tmp_path, monkeypatch):
    if learner == "sbx":
        pytest.importorskip("sbx", reason="SBX is not installed")
    starts, seeds = [], []
    reset, seed = TimedVecEnv.reset, TimedVecEnv.seed

    def remember_start(envs):
        observations = reset(envs)
        starts.append((envs.num_envs, observations.copy()))
        return observations

    def remember_seed(envs, value=None):
        seeds.append((envs.num_envs, value))
        return seed(envs, value)

    monkeypatch.setattr(TimedVecEnv, "reset", remember_start)
    monkeypatch.setattr(TimedVecEnv, "seed", remember_seed)
    sac = ("-P", "learning_starts=32", "-P", "gradient_steps=1", "-P", "batch_size=32")
    few = ("-P", "n_envs=4", *(sac if algo == "sac" else SMALL[2:]))
    where = ("--out", str(tmp_path), "--episodes", "1", "--no-video", *few)
    begun = ["train", PENDULUM, *where, "--algo", algo, "--learner", learner, "--resume"]
    for steps in ("128", "256", "384"):
        assert run([*begun, "--timesteps", steps]) == 0
    trained = [found for count, found in starts if count == 4]
    assert len(trained) == 3
    assert not any(np.array_equal(a, b) for a, b in combinations(trained, 2))
    assert {value for count, value in seeds if count == 4} >= {0, *map(seed_of, (128, 256))}
    evaluated = {value for count, value in seeds if count == 16}
    assert evaluated >= {FRESH_SEED // 2 + value for value in (0, *map(seed_of, (128, 256)))}
    kept = pickle.loads((newest_checkpoint(tmp_path) / "vecnormalize.pkl").read_bytes())
    assert kept.obs_rms.count == pytest.approx(384, abs=20)  # of all processes, and of resets


def seed_of(steps):
    return seed_after(0, steps)


def test_seeds_of_runs_that_go_on_are_none_of_evaluations():
    seeds = {seed_after(seed, steps) for seed in range(30) for steps in range(30)}
    assert len(seeds) == 900
    assert 2**31 <= min(seeds) <= max(seeds) < 2**32  # what libraries take for a seed

"""Runs that go on: the end is evaluated and kept, however few steps there are."""

import json

import pytest

pytest.importorskip("stable_baselines3", reason="needs vigym[train]")

from scenes.command_line import said
from vigym.training.checkpoints import newest_checkpoint, read_curve

PENDULUM = "vigym/Pendulum-v0"


def steps_of(out):
    return [steps for steps, _ in read_curve(out / "curve.csv")]


def test_the_end_of_a_resumed_run_is_kept(tmp_path, capsys):
    """Steps that are fewer than those between two evaluations, and those after the last one."""
    where = ("--out", tmp_path, "--episodes", 1, "--no-video")
    small = ("-P", "n_envs=4", "-P", "n_steps=16", "-P", "batch_size=64", "-P", "n_epochs=1")
    said(capsys, "train", PENDULUM, *where, *small, "--timesteps", 1280)
    fresh = list(range(128, 1281, 128))
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

"""Workers: the same rows whoever plays the episodes, errors with their seed, lost workers replaced."""

import os
import signal
from functools import cache
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

import vigym
from scenes.command_line import said
from vigym.envs.registry import Entry
from vigym.evaluation import workers as sharing
from vigym.evaluation.blocks import Schedule
from vigym.evaluation.tables import as_row

ID = "vigym/Pendulum-v0"
SHORT = {"episodes": 5, "seed": 3, "together": 2, "options": {"max_episode_steps": 20}}


class Counter:
    """A controller with state, a new one for every episode."""

    def __init__(self):
        self.steps = 0

    def __call__(self, observation, info):
        self.steps += 1
        return [np.sin(self.steps * observation[0])]


class Breaker:
    """A controller that fails in the episode that starts somewhere."""

    def __init__(self, start):
        self.start = start

    def __call__(self, observation, info):
        if np.array_equal(observation, self.start):
            raise RuntimeError("broken")
        return [0.0]


class Killer:
    """A controller that ends its process, if a file is missing; the next one finds it."""

    def __init__(self, file):
        self.file = file

    def __call__(self, observation, info):
        if not self.file.exists():
            self.file.write_text("")
            os.kill(os.getpid(), signal.SIGKILL)
        return [-0.5 * observation[2]]


def rows(controller, name=ID, **settings):
    """Return all metrics of all episodes, and a trace."""
    scored = vigym.evaluate(name, controller, **SHORT, traces=("angle",), **settings)
    return [as_row(row) | {"angle": row.traces["angle"].tolist()} for row in scored.rows]


@cache
def alone(controller):
    return rows(controller)


@pytest.mark.parametrize(("episodes", "together"), [(1, 16), (20, 16), (33, 16), (5, 2), (7, 64)])
def test_blocks_hold_every_seed_once(episodes, together):
    plan = Schedule(
        env_id=ID,
        controller="zero",
        options={},
        traces=(),
        seed=9,
        episodes=episodes,
        together=together,
    )
    seeds = [plan.seeds(index) for index in range(plan.blocks)]
    assert sum(seeds, []) == list(range(9, 9 + episodes))
    assert all(1 <= len(block) <= plan.lanes <= together for block in seeds)


@pytest.mark.parametrize(
    ("controller", "workers"), [("random", 2), (Counter, 3)], ids=["name", "class"]
)
def test_rows_do_not_depend_on_the_number_of_workers(controller, workers):
    done = []
    assert rows(controller, workers=workers, progress=done.append) == alone(controller)
    assert done == pytest.approx([1 / 3, 2 / 3, 1.0])


def test_models_and_modules_of_ones_own(tmp_path, monkeypatch):
    """An environment registered here alone, a model file by its relative path, a module."""
    ppo = pytest.importorskip("stable_baselines3", reason="needs vigym[train]").PPO
    name = "OfWorkers-v0"
    Entry(name, "vigym.envs.tasks.pendulum:Pendulum", 20).register()
    monkeypatch.chdir(tmp_path)
    ppo("MlpPolicy", gym.make(ID), n_steps=8, batch_size=8, device="cpu", seed=0).save("model.zip")
    Path("of_mine.py").write_text(
        "def push(observation, info):\n    return [-0.1 * observation[2]]\n"
    )
    for controller in ("model.zip", "of_mine:push"):
        assert rows(controller, name, workers=2) == rows(controller, name)


def test_the_command_shares_episodes(capsys):
    arguments = ["evaluate", ID, "-n", 17, "-o", "max_episode_steps=5", "--csv", "-"]
    assert said(capsys, *arguments, "--workers", 2) == said(capsys, *arguments)


def test_an_error_names_controller_and_seed(capsys):
    env = gym.make(ID)
    start, _ = env.reset(seed=6)
    message = r"controller 'Breaker', seed 6: RuntimeError: broken \(test_workers.py, line \d+\)"
    with pytest.raises(ChildProcessError, match=message) as caught:
        rows(Breaker(start), workers=2)
    assert 'raise RuntimeError("broken")' in caught.value.__notes__[0]


def test_episodes_of_a_killed_worker_are_played_again(tmp_path):
    killer = Killer(tmp_path / "killed")
    found = rows(killer, workers=2)
    assert killer.file.exists()
    assert found == rows(killer)


def test_workers_that_are_killed_again_and_again_are_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(sharing, "RETRIES", 0)
    message = "controller 'Killer', seeds? .*: found processes that ended .* 1 times"
    with pytest.raises(ChildProcessError, match=message):
        rows(Killer(tmp_path / "killed"), workers=2)


@pytest.mark.parametrize(
    ("controller", "settings", "message"),
    [
        (
            lambda observation, info: [0.0],
            {"workers": 2},
            "controller '<lambda>': found function, expected a name, a file, .* pickled: workers",
        ),
        ("zeros", {"workers": 2}, "controller: found 'zeros', did you mean 'zero'?"),
        ("zero", {"workers": 0}, "workers: found 0, expected a whole number >= 1"),
        ("zero", {"backend": "rays"}, "backend: found 'rays', expected one of: processes, ray"),
    ],
)
def test_what_workers_cannot_play_is_refused(controller, settings, message):
    with pytest.raises(ValueError, match=message):
        rows(controller, **settings)

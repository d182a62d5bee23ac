"""Hyperparameters that learners refuse: one line names them, and faults of the package stay visible."""

import pytest

pytest.importorskip("stable_baselines3", reason="needs vigym[train]")

from stable_baselines3 import PPO

from vigym.cli.app import run
from vigym.training.learners import refusals_named
from vigym.wrappers.sb3 import SB3VecEnv

PENDULUM = "vigym/Pendulum-v0"


@pytest.mark.parametrize(
    ("algo", "given", "error"),
    [
        ("ppo", "policy_kwargs={'foo': 1}", "TypeError: ActorCriticPolicy.__init__() got an unexp"),
        ("ppo", "policy='MultiInputPolicy'", "AttributeError: 'Box' object has no attribute 'sp"),
        ("ppo", "rollout_buffer_class='foo'", "TypeError: 'str' object is not callable"),
        ("ppo", "target_kl='x'", "TypeError: "),
        ("ppo", "learning_rate=1000000000.0", "but found invalid values; expected"),
        ("sac", "train_freq=0", "SAC: Should at least collect one step or episode; expected"),
        ("sac", "train_freq=(1, 'episode')", "SAC: You must use only one env"),
    ],
)
def test_what_learners_refuse_is_told_in_a_line_with_the_hyperparameters(
    algo, given, error, tmp_path, capsys
):
    small = ("-P", "n_envs=4", "--timesteps", "64", "--out", str(tmp_path))
    rollouts = ("-P", "n_steps=16", "-P", "batch_size=64") if algo == "ppo" else ()
    assert run(["train", PENDULUM, "--algo", algo, *small, *rollouts, "-P", given]) == 1
    line = capsys.readouterr().err.splitlines()[-1]
    assert line.startswith(f"vigym: {algo.upper()}: ")
    assert error in line
    assert line.endswith(given)
    assert "; expected other values among n_envs=4, " in line
    assert len(line) < 500


@pytest.mark.parametrize("given", [(), ("-P", "gamma=0.9")])
def test_faults_of_the_package_keep_their_traceback(given, tmp_path, monkeypatch):
    monkeypatch.setattr(SB3VecEnv, "_step_info", None)
    with pytest.raises(TypeError, match="'NoneType' object is not callable"):
        run(["train", PENDULUM, "--out", str(tmp_path), "--timesteps", "64", *given])


@pytest.mark.parametrize("error", [OSError("No space left"), MemoryError(), ImportError("none")])
def test_errors_of_the_machine_name_no_hyperparameters(error):
    def fail():
        raise error

    foreign = compile("fail()", "elsewhere.py", "exec")
    with pytest.raises(type(error)), refusals_named(PPO, {"gamma": 0.9}):
        exec(foreign, {"fail": fail})


def test_episodes_that_never_end_are_refused_before_training(tmp_path, capsys):
    endless = ("-o", "max_episode_steps=-1", "--timesteps", "64", "--out", str(tmp_path / "run"))
    assert run(["train", PENDULUM, *endless]) == 1
    assert "'vigym/Pendulum-v0': found episodes without a limit" in capsys.readouterr().err
    assert not (tmp_path / "run" / "curve.csv").exists()

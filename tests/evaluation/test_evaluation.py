"""Scores: figures of episodes against episodes played by hand, controllers of every kind, wrong ones refused."""

import re
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

import vigym  # noqa: F401  registers the environments
from scenes.env_cases import OF_FILES
from vigym.control.minitaur_gaits import trot
from vigym.envs.registry import ENVIRONMENTS
from vigym.evaluation.builtin import BUILTIN
from vigym.evaluation.environments import make_env
from vigym.evaluation.evaluate import evaluate
from vigym.evaluation.plots import TRACES, draw
from vigym.evaluation.tables import as_row, summary_of, table_of
from vigym.evaluation.video import record_video

IDS = [entry.id for entry in ENVIRONMENTS if entry.id not in OF_FILES]


def push(observation, info):
    """A controller of one's own: brake."""
    return np.clip([-observation[2]], -1.0, 1.0)


class Counter:
    """A controller with state: pushes to and fro, every episode from its start."""

    def __init__(self, every=5):
        self.every, self.steps = every, 0

    def __call__(self, observation, info):
        self.steps += 1
        return [1.0 if (self.steps // self.every) % 2 else -1.0]


def made_for(env):
    """Make a controller of what the environment is."""
    return Counter(every=env.task.frame_skip)


def by_hand(name, controller, seed):
    """Play an episode with a single environment; return its infos and its return."""
    env = gym.make(name)
    observation, info = env.reset(seed=seed)
    infos = [info]
    total = 0.0
    done = False
    while not done:
        observation, reward, terminated, truncated, info = env.step(
            np.asarray(controller(observation, info))
        )
        infos.append(info)
        total, done = total + reward, terminated or truncated
    return infos, total


def test_figures_are_those_of_an_episode_played_by_hand():
    infos, total = by_hand("vigym/Minitaur-v0", trot(), 5)
    (row,) = evaluate("vigym/Minitaur-v0", "trot", episodes=1, seed=5).rows
    played = infos[1:]
    assert (row.seed, row.length, row.terminated, row.unconverged_steps) == (
        5,
        len(played),
        False,
        0,
    )
    assert row.return_ == pytest.approx(total, rel=1e-12)
    assert row.seconds == pytest.approx(10.0)
    assert row.distance == infos[-1]["x_position"] - infos[0]["x_position"]
    assert row.speed == pytest.approx(row.distance / row.seconds, rel=1e-12)
    assert row.power == pytest.approx(np.mean([now["power"] for now in played]), rel=1e-12)
    assert row.cost_of_transport == pytest.approx(row.power / (6.0 * 9.81 * row.speed), rel=1e-9)
    assert row.energy_balance == max(abs(now["energy_balance"]) for now in played)
    assert row.energy_change == max(
        abs(now["energy_total"] - infos[0]["energy_total"]) for now in played
    )
    assert row.constraint_residual == max(now["constraint_residual_max"] for now in played)
    assert row.penetration == max(now["penetration"] for now in played)
    assert row.solver_iterations == pytest.approx(
        np.mean([now["solver_iterations"] for now in played])
    )


@pytest.mark.parametrize("controller", [push, Counter, made_for, "random"])
def test_an_episode_does_not_depend_on_those_beside_it(controller):
    alone = [
        evaluate("vigym/Pendulum-v0", controller, episodes=1, seed=seed).rows[0]
        for seed in (3, 4, 5)
    ]
    for together in (2, 64):
        rows = evaluate("vigym/Pendulum-v0", controller, episodes=3, seed=3, together=together).rows
        assert [as_row(row) for row in rows] == [as_row(row) for row in alone]


def test_episodes_that_end_early_are_counted_to_their_end():
    infos, total = by_hand("vigym/InvertedDoublePendulum-v0", lambda observation, info: [1.0], 0)
    scored = evaluate(
        "vigym/InvertedDoublePendulum-v0", lambda observation, info: [1.0], episodes=4
    )
    assert all(row.terminated and row.failed and row.reached_goal is None for row in scored.rows)
    assert len({row.length for row in scored.rows}) > 1
    assert (scored.rows[0].length, scored.rows[0].return_) == (
        len(infos) - 1,
        pytest.approx(total, rel=1e-12),
    )


def test_traces_hold_the_start_and_every_step():
    infos, _ = by_hand("vigym/Pendulum-v0", push, 2)
    (row,) = evaluate(
        "vigym/Pendulum-v0", push, episodes=1, seed=2, traces=("angle", "joint_positions", "none")
    ).rows
    assert set(row.traces) == {"angle", "joint_positions"}
    assert np.array_equal(row.traces["angle"], [now["angle"] for now in infos])
    assert row.traces["joint_positions"].shape == (row.length + 1, 1)


@pytest.mark.parametrize("name", IDS)
def test_every_named_controller_drives_what_it_is_for(name):
    for entry in BUILTIN.values():
        if name in (entry.ids or (name,)):
            (row,) = evaluate(name, entry.name, 1, options={"max_episode_steps": 250}).rows
            assert row.length > 0
            assert row.unconverged_steps == 0


def test_named_parameters_reach_the_controller():
    fast, slow = (
        evaluate("vigym/Minitaur-v0", f"trot,frequency={f}", episodes=1) for f in (2.5, 1.0)
    )
    assert fast.rows[0].speed > 1.5 * slow.rows[0].speed


def test_options_reach_the_environment():
    rows = evaluate(
        "vigym/Snake-v0", "lateral_undulation", 1, options={"links": 5, "friction_across": 0.04}
    ).rows
    assert abs(rows[0].speed) < 0.05


def test_a_controller_by_module_and_name(tmp_path, monkeypatch):
    (tmp_path / "my_control.py").write_text(
        Path(__file__).read_text().partition("\nclass Counter")[0]
    )
    monkeypatch.chdir(tmp_path)
    ours = evaluate("vigym/Pendulum-v0", "my_control:push", 2)
    assert [as_row(row) for row in ours.rows] == [
        as_row(row) for row in evaluate("vigym/Pendulum-v0", push, 2).rows
    ]


def test_a_model_with_its_normalisation(tmp_path):
    pytest.importorskip("stable_baselines3", reason="needs vigym[train]")
    from stable_baselines3 import PPO, SAC
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.vec_env import VecNormalize

    envs = VecNormalize(make_vec_env("vigym/Pendulum-v0", 2))
    envs.reset()
    for _ in range(20):
        envs.step(np.ones((2, 1), dtype=np.float32))
    model = PPO("MlpPolicy", envs, n_steps=8, batch_size=16, device="cpu", seed=0)
    model.save(tmp_path / "model.zip")
    plain = evaluate("vigym/Pendulum-v0", str(tmp_path / "model.zip"), 1).rows[0]
    envs.save(str(tmp_path / "normalisation.pkl"))
    scaled = evaluate("vigym/Pendulum-v0", str(tmp_path / "model.zip"), 1).rows[0]

    def policy(observation, info):
        return model.predict(envs.normalize_obs(observation), deterministic=True)[0]

    assert scaled.return_ == pytest.approx(by_hand("vigym/Pendulum-v0", policy, 0)[1], rel=1e-9)
    assert scaled.return_ != plain.return_
    SAC("MlpPolicy", make_vec_env("vigym/Pendulum-v0", 1), buffer_size=10, device="cpu").save(
        tmp_path / "sac.zip"
    )
    assert evaluate("vigym/Pendulum-v0", str(tmp_path / "sac.zip"), 1).rows[0].length == 300
    with pytest.raises(ValueError, match=r"found observation space \(3,\), expected \(5,\)"):
        evaluate("vigym/CartPole-v0", str(tmp_path / "model.zip"), 1)


@pytest.mark.parametrize(
    ("name", "controller", "settings", "message"),
    [
        (
            "vigym/Pendulun-v0",
            "zero",
            {},
            "environment: found 'vigym/Pendulun-v0', did you mean 'vigym/Pendulum-v0'?",
        ),
        (
            "nowhere:vigym/Pendulum-v0",
            "zero",
            {},
            "No module named 'nowhere'; expected a module that registers it",
        ),
        (
            "CartPole-v1",
            "zero",
            {},
            "environment 'CartPole-v1': found CartPoleEnv, expected an environment of vigym",
        ),
        ("vigym/Pendulum-v0", "zeros", {}, "controller: found 'zeros', did you mean 'zero'?"),
        (
            "vigym/Pendulum-v0",
            "trot",
            {},
            "works with vigym/Minitaur-v0, not with vigym/Pendulum-v0; for vigym/Pendulum-v0 there are: zero, random",
        ),
        (
            "vigym/Minitaur-v0",
            "trot,speed=2",
            {},
            "found parameter 'speed', expected one of: frequency, extension, lift, swing, lean, ramp",
        ),
        (
            "vigym/Minitaur-v0",
            "trot,phases=1",
            {},
            "found parameter 'phases', expected one of: frequency, ",
        ),
        (
            "vigym/Minitaur-v0",
            "trot,frequncy=1",
            {},
            "found parameter 'frequncy', did you mean 'frequency'?",
        ),
        (
            "vigym/Pendulum-v0",
            "pd,foo=1",
            {},
            "found parameter 'foo', expected one of: target, kp, kd, torques",
        ),
        ("vigym/Pendulum-v0", "zero,foo=1", {}, "found parameter 'foo', expected none"),
        (
            "vigym/Acrobot-v0",
            "energy_swing_up,foo=1",
            {},
            "expected one of: energy, swing, push, pump, balance, catch",
        ),
        ("vigym/Minitaur-v0", "trot,2", {}, "found '2', expected parameter=value"),
        (
            "vigym/Minitaur-v0",
            "trot,frequency=2,frequency=3",
            {},
            "found 'frequency' twice, expected it once",
        ),
        ("vigym/Pendulum-v0", ":push", {}, "'' is no name of a module; expected a module that"),
        ("vigym/Pendulum-v0", ".mine:d", {}, "'.mine' is no name of a module; expected a module"),
        ("vigym/Pendulum-v0", "./mine:d", {}, "'./mine' is no name of a module; expected a modu"),
        ("./mine:me/X-v0", "zero", {}, "'./mine' is no name of a module; expected a module that"),
        ("vigym/Pendulum-v0", "energy_swing_up,energy=None", {}, "energy: found None, expected a"),
        ("vigym/Pendulum-v0", "energy_swing_up,pump=inf", {}, "pump: found 'inf', expected a fin"),
        ("vigym/Pendulum-v0", "nowhere:push", {}, "No module named 'nowhere'"),
        ("vigym/Pendulum-v0", "no-where:push", {}, "No module named 'no-where'"),
        ("vigym/Pendulum-v0", "math:sine", {}, "math has no 'sine', did you mean 'sin'?"),
        ("vigym/Pendulum-v0", "math:pi", {}, "found float, expected a callable"),
        (
            "vigym/Pendulum-v0",
            "math:sin",
            {},
            "'math:sin': must be real number, not TaskEnv; expected a callable of",
        ),
        (
            "vigym/Pendulum-v0",
            "math:sin,foo=1",
            {},
            "'math:sin,foo=1': found parameter 'foo', expected none",
        ),
        (
            "vigym/Pendulum-v0",
            "math:atan2",
            {},
            "expected a callable of observation, info that returns an action",
        ),
        ("vigym/Pendulum-v0", "builtins:int", {}, "expected a callable of observation, info"),
        ("vigym/Pendulum-v0", "nothing/model.zip", {}, "no readable file"),
        (
            "vigym/Pendulum-v0",
            "zero",
            {"options": {"time_step": 2}},
            "options of Pendulum: found 'time_step', did you mean 'timestep'?",
        ),
        (
            "vigym/Pendulum-v0",
            "zero",
            {"episodes": 0},
            "episodes: found 0, expected a whole number >= 1",
        ),
        ("vigym/Pendulum-v0", "zero", {"seed": -1}, "seed: found -1, expected a whole number >= 0"),
        (
            "vigym/Pendulum-v0",
            "zero",
            {"traces": "angle"},
            "traces: found 'angle', expected a tuple of names, ('angle',)",
        ),
        (
            "vigym/Pendulum-v0",
            lambda observation, info: [0.0, 0.0],
            {},
            "returned shape (2,), expected actions of",
        ),
        (
            "vigym/Pendulum-v0",
            lambda observation, info: None,
            {},
            "returned NoneType, expected actions of shape (1,)",
        ),
        (
            "vigym/Pendulum-v0",
            lambda a, b, c: 0,
            {},
            "found parameters a, b, c, expected a callable of observation, info",
        ),
        ("vigym/Pendulum-v0", lambda: 3, {}, "made int, expected a callable"),
    ],
)
def test_what_cannot_be_played_is_refused(name, controller, settings, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        evaluate(name, controller, **settings)


def test_saved_policies_have_no_parameters(tmp_path):
    (tmp_path / "run").mkdir()
    for name in ("model.zip", "policy.safetensors", "run"):
        controller = f"{tmp_path / name},foo=1"
        (tmp_path / name).touch()
        with pytest.raises(ValueError, match=f"{name},foo=1': found parameter 'foo', expected non"):
            evaluate("vigym/Pendulum-v0", controller, 1)


def test_numbers_of_numpy_are_counts():
    counts = {"seed": np.int64(3), "workers": np.int32(1), "together": np.uint8(2)}
    found = evaluate("vigym/Pendulum-v0", "zero", np.int64(2), **counts).rows
    assert [as_row(row) for row in found] == [
        as_row(row) for row in evaluate("vigym/Pendulum-v0", "zero", 2, seed=3).rows
    ]
    assert [type(row.seed) for row in found] == [int, int]


def test_a_file_that_is_no_model_is_refused(tmp_path):
    (tmp_path / "model.zip").write_text("nothing")
    with pytest.raises(ValueError, match="expected a file saved by stable-baselines3"):
        evaluate("vigym/Pendulum-v0", str(tmp_path / "model.zip"), 1)


def test_tables_leave_out_what_nobody_has():
    walks, stands = (evaluate(name, "zero", 2) for name in ("vigym/Snake-v0", "vigym/Pendulum-v0"))
    labels = {line[0] for line in table_of([stands])}
    assert "forward speed" not in labels
    assert {"return", "constraint residual, largest", "solver failures"} <= labels
    assert "forward speed" in {line[0] for line in table_of([walks])}
    summary = summary_of(stands)
    assert summary["speed"]["mean"] is None
    assert summary["return"]["mean"] == pytest.approx(stands.column("return_").mean())
    assert as_row(stands.rows[0])["distance"] is None


def test_pictures_and_films(tmp_path):
    several = ("random", "zero", "random", "zero", push)
    scored = [evaluate("vigym/Pendulum-v0", name, 3, traces=TRACES) for name in several]
    draw(scored, tmp_path / "scores.png")
    draw(
        [evaluate("vigym/Snake-v0", "lateral_undulation", 2, traces=TRACES)], tmp_path / "ways.png"
    )
    assert (
        (tmp_path / "scores.png").stat().st_size > (tmp_path / "ways.png").stat().st_size > 20_000
    )
    with pytest.raises(ValueError, match="found no traces"):
        draw([evaluate("vigym/Pendulum-v0", "zero", 1)], tmp_path / "none.png")

    from moviepy import VideoFileClip

    done = []
    record_video("vigym/Pendulum-v0", "random", tmp_path / "up.mp4", options={"width": 64, "height": 48}, seconds=1.0,
         progress=done.append)  # fmt: skip
    with VideoFileClip(str(tmp_path / "up.mp4")) as clip:
        assert clip.size == [64, 48]
        assert clip.fps == 20
        assert clip.duration == pytest.approx(1.05)
    assert done[-1] == 1.0
    with pytest.raises(ValueError, match="did you mean"):
        record_video("vigym/Pendulum-v0", "rando", tmp_path / "no.mp4")
    for seconds in (float("nan"), 0.0, -1.0):
        with pytest.raises(ValueError, match="video seconds: found .*, expected a number > 0"):
            record_video("vigym/Pendulum-v0", "random", tmp_path / "no.mp4", seconds=seconds)
    assert not (tmp_path / "no.mp4").exists()


def test_one_environment_with_options_it_does_not_take():
    with pytest.raises(
        ValueError,
        match="environment 'vigym/Pendulum-v0': options of Pendulum: found 'colour', expected one of: ",
    ):
        make_env("vigym/Pendulum-v0", {"colour": "red"})

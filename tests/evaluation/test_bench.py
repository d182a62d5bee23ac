"""Benchmarks give whole rows whose figures agree; what they time is not asserted."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from click.testing import CliRunner

from vigym.cli.app import app
from vigym.cli.bench import without_float32
from vigym.evaluation.speed import environments as bench
from vigym.evaluation.speed import mujoco_snakes

PENDULUM = "vigym/Pendulum-v0"


@pytest.fixture(autouse=True)
def few_steps(monkeypatch):
    monkeypatch.setattr(bench, "SAMPLE", 40)


def test_rows_of_single_environments_and_vectors():
    told: list[float] = []
    rows = bench.time_environments([PENDULUM], [1, 9], [1, 2], repeats=1, report=told.append)
    assert [(row["environments"], row["threads"]) for row in rows] == [
        (0, 1),
        (1, 1),
        (1, 2),
        (9, 1),
        (9, 2),
    ]
    assert told == [0.0, 1.0]
    for row in rows:
        assert row.keys() == rows[0].keys()
        assert (row["id"], row["engine"], row["physics_steps"], row["clock"]) == (
            PENDULUM,
            "vigym",
            5,
            "wall",
        )
        assert row["physics_steps_per_second"] == pytest.approx(
            5 * row["environment_steps_per_second"]
        )
        assert row["step_us"] == pytest.approx(1e6 / row["environment_steps_per_second"])
        assert row["median_environment_steps_per_second"] <= row["environment_steps_per_second"]
        assert row["physics_us"] > 0.0
        assert row["reset_us"] > 0.0
        assert row["memory_kb"] > 0.0


def test_precisions_of_vectors_where_they_serve():
    rows = bench.time_environments(
        [PENDULUM, "vigym/FourBar-v0"], [2], repeats=1, precisions=["float64", "float32"]
    )
    found = [(row["id"], row["environments"], row["precision"], row["lanes"]) for row in rows]
    lanes = bench.LANES
    pendulum = [
        (PENDULUM, 0, "float64", 1),
        (PENDULUM, 2, "float64", lanes),
        (PENDULUM, 2, "float32", 2 * lanes),
    ]
    assert found == [
        *pendulum,
        ("vigym/FourBar-v0", 0, "float64", 1),
        ("vigym/FourBar-v0", 2, "float64", lanes),
    ]


def test_peers_stand_beside_theirs():
    pytest.importorskip("mujoco")
    rows = bench.time_environments(["vigym/CartPole-v0"], [2], repeats=1)
    assert [row["engine"] for row in rows] == ["vigym", "mujoco"] * 2
    assert {row["clock"] for row in rows} == {"CPU"}
    assert rows[1]["id"] == rows[3]["id"] == "InvertedPendulum-v5"
    assert rows[1]["physics_us"] is rows[1]["memory_kb"] is None
    assert len(bench.time_environments(["vigym/CartPole-v0"], [2], repeats=1, peers=False)) == 2


@pytest.mark.parametrize("name", mujoco_snakes.SNAKES)
def test_peers_of_snakes_are_the_same_robots(name):
    pytest.importorskip("mujoco")
    ours, theirs = (bench.gym.make(one).unwrapped for one in (name, bench.PEERS[name]))
    mech, model = ours.task.mechanism(), theirs.model
    bodies, joints = list(mech.bodies.values()), list(mech.joints.values())
    np.testing.assert_array_equal(model.body_mass[1:], [body.mass for body in bodies])
    np.testing.assert_array_equal(model.body_inertia[1:], [np.diag(b.inertia) for b in bodies])
    np.testing.assert_array_equal(model.jnt_axis[1:], [joint.axis for joint in joints])
    motors = [mech.motors[joint.name] for joint in joints]
    np.testing.assert_array_equal(model.actuator_gainprm[:, 0], [motor.kp for motor in motors])
    assert theirs.action_space.shape == ours.action_space.shape
    assert theirs.frame_skip * model.opt.timestep == pytest.approx(ours.dt)


@pytest.mark.parametrize("name", mujoco_snakes.SNAKES)
def test_peers_of_snakes_stay_on_the_ground(name):
    """MuJoCo starts a robot that flies apart anew, with a warning; 0.1 m is a tenth of a snake."""
    pytest.importorskip("mujoco")
    env = bench.gym.make(bench.PEERS[name])
    env.reset(seed=0)
    env.action_space.seed(0)
    data = env.unwrapped.data
    for _ in range(50):
        observation, _, ended, _, _ = env.step(env.action_space.sample())
        assert not ended
        assert np.isfinite(observation).all()
        assert data.subtree_com[1, 2] < 0.1
    assert not any(warning.number for warning in data.warning)


def test_peers_that_are_not_installed_are_left_out(monkeypatch):
    def missing(name, **options):
        raise bench.gym.error.DependencyNotInstalled("no mujoco")

    monkeypatch.setattr(bench.gym, "make", missing)
    assert [subject for subject in bench.PEERS.values() if not bench._missing(subject)] == []


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("vigym/Pendul-v0", "found 'vigym/Pendul-v0', did you mean 'vigym/Pendulum-v0'"),
        ("CartPole-v1", "'CartPole-v1': found CartPoleEnv, expected an environment of vigym"),
    ],
)
def test_an_environment_that_cannot_be_timed(name, message):
    with pytest.raises(ValueError, match=message):
        bench.time_environments([name])


def test_tasks_of_ones_own_with_options(tmp_path, monkeypatch):
    (tmp_path / "rods.py").write_text(
        "from vigym.envs.registry import Entry\n"
        "Entry('me/Rods-v0', 'vigym.envs.tasks.pendulum_chain:PendulumChain', 100).register()\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    (row, _) = bench.time_environments(["rods:me/Rods-v0"], [2], repeats=1, options={"links": 2})
    assert (row["id"], row["physics_steps"]) == ("rods:me/Rods-v0", 4)
    with pytest.raises(ValueError, match="found 'link', did you mean 'links'"):
        bench.time_environments(["rods:me/Rods-v0"], [2], repeats=1, options={"link": 2})


def test_peers_leave_no_file_behind(tmp_path, monkeypatch):
    mujoco = pytest.importorskip("mujoco")
    monkeypatch.chdir(tmp_path)
    peer = bench.PEERS["vigym/InvertedDoublePendulum-v0"]
    before = mujoco.get_mju_user_warning()
    try:
        assert not bench._missing(peer)
        env = bench.gym.make(peer)
        env.reset(seed=0)
        env.unwrapped.data.qvel[:] = 1e200
        env.step(env.action_space.sample())
    finally:
        mujoco.set_mju_user_warning(before)
    assert list(tmp_path.iterdir()) == []


def test_the_command_writes_for_people_and_machines(tmp_path):
    files = tmp_path / "speed.json", tmp_path / "speed.csv"
    arguments = [
        "bench",
        PENDULUM,
        "-e",
        "3",
        "--repeats",
        "1",
        "--json",
        str(files[0]),
        "--csv",
        str(files[1]),
    ]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert "environment steps/s" in done.output
    written = json.loads(files[0].read_text())
    assert [row["environments"] for row in written["environments"]] == [0, 3]
    *parts, whole = written["start"]
    assert whole["stage"] == "all"
    assert whole["seconds"] == pytest.approx(sum(row["seconds"] for row in parts))
    assert all(row["compiling_seconds"] is None for row in written["start"])
    with files[1].open() as stream:
        assert [row["id"] for row in csv.DictReader(stream)] == [PENDULUM] * 2


@pytest.mark.parametrize("counts", ["0", "-1", "a", "1,,2", ""])
def test_numbers_of_environments_that_are_none(counts):
    done = CliRunner().invoke(app, ["bench", "-e", counts])
    assert done.exit_code == 2
    assert "expected whole numbers above 0" in done.output


def test_what_single_precision_does_not_serve_for_is_told():
    rows = [
        {"id": name, "engine": engine, "precision": precision}
        for name, engine, precision in (
            ("vigym/Acrobot-v0", "vigym", "float64"),
            ("vigym/Acrobot-v0", "vigym", "float32"),
            ("vigym/Minitaur-v0", "vigym", "float64"),
            ("InvertedPendulum-v5", "MuJoCo", "float64"),
        )
    ]
    assert without_float32(rows) == ["vigym/Minitaur-v0"]

"""Snakes: their figures, options that are refused, scripted gaits beside independent equations and MuJoCo."""

from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

from scenes.env_cases import random_steps
from vigym.control.serpenoid import (
    Serpenoid,
    Wave,
    lateral_undulation,
    linear_progression,
    rolling,
    sidewinding,
)
from vigym.envs.tasks import snake, snake_sidewinding

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
FRICTIONS = ((0.4, 0.4), (0.1, 0.2), (0.04, 0.4), (0.01, 0.4))
GRAVITY = 9.81
LIMIT, EFFORT = np.pi / 2.0, 0.5  # of a joint of the planar snake [rad, N m]


@pytest.fixture
def bench(monkeypatch):
    """The benchmark, with the equations and MuJoCo's models."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import snake as module  # beside the package's own vigym.envs.tasks.snake

    return module


def play(env, controller, steps, seed=0):
    """Infos of an episode, that of its start first."""
    observation, info = env.reset(seed=seed)
    infos = [info]
    for _ in range(steps):
        observation, _, terminated, _, info = env.step(controller(observation, info))
        infos.append(info)
        assert not terminated
    return infos


@pytest.mark.parametrize("links", [2, 9])
def test_links_are_solid_boxes_as_dense_as_water(links):
    mech = gym.make("vigym/Snake-v0", links=links).unwrapped.mechanism
    assert len(mech.bodies) == links
    for body in mech.bodies.values():
        assert body.mass == pytest.approx(0.15)
        assert np.diag(body.inertia) == pytest.approx(
            np.array([0.0034, 0.0109, 0.0125]) * 0.15 / 12.0
        )
    assert mech.degrees_of_freedom == 6 + links - 1
    assert len(mech.contact_names) == 2 * links
    assert mech.motor_names == [f"joint{k}" for k in range(1, links)]


def test_modules_are_those_of_the_published_robot():
    mech = gym.make("vigym/SnakeSidewinding-v0").unwrapped.mechanism
    assert sum(body.mass for body in mech.bodies.values()) == pytest.approx(16 * 0.205)
    anchors = np.array([joint.position for joint in mech.joints.values()])
    assert np.diff(anchors[:, 0]) == pytest.approx(-0.064)
    axes = np.array([joint.axis for joint in mech.joints.values()])
    assert np.array_equal(axes[0::2], np.tile((0.0, 0.0, 1.0), (8, 1)))
    assert np.array_equal(axes[1::2], np.tile((0.0, 1.0, 0.0), (7, 1)))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("Snake", {"links": 1}),
        ("Snake", {"links": 2.0}),
        ("Snake", {"friction_along": -0.1}),
        ("Snake", {"friction_across": np.nan}),
        ("Snake", {"skates": 1}),
        ("Snake", {"drive": "velocity"}),
        ("SnakeSidewinding", {"links": True}),
        ("SnakeSidewinding", {"friction": 0.0}),
        ("SnakeSidewinding", {"way": np.inf}),
    ],
)
def test_options_out_of_range_are_refused(name, options):
    (option,) = options
    with pytest.raises(ValueError, match=f"option {option}: found"):
        gym.make(f"vigym/{name}-v0", **options)


def test_it_starts_on_the_ground_and_rests_there():
    for name in ("Snake", "SnakeSidewinding"):
        env = gym.make(f"vigym/{name}-v0", reset_noise_scale=0.0)
        env.reset(seed=0)
        assert env.unwrapped.sim.contacts.gap == pytest.approx(0.0, abs=1e-12)
        for _ in range(20):
            info = env.step(np.zeros(env.action_space.shape, dtype=np.float32))[4]
        assert np.abs(env.unwrapped.sim.body_states[:, 7:]).max() < 1e-8
        assert info["penetration"] < 1e-9


def test_actions_are_angles():
    info = play(gym.make("vigym/Snake-v0"), lambda *_: 0.5 * np.ones(8, dtype=np.float32), 50)[-1]
    assert info["joint_positions"][7:] == pytest.approx(0.5 * snake.ACTION_SCALE, abs=0.1)
    assert 0.0 < info["torque_squared"] < 0.1 * 8 * EFFORT**2  # what friction holds


def test_actions_are_torques_where_asked():
    env = gym.make("vigym/Snake-v0", drive="torque")
    info = play(env, lambda *_: 0.5 * np.ones(8, dtype=np.float32), 50)[-1]
    assert info["joint_positions"][7:] == pytest.approx(
        LIMIT, abs=0.05
    )  # at the end stops, and not beyond
    assert info["joint_positions"][7:].max() <= LIMIT + 1e-8
    assert info["torque_squared"] == pytest.approx(8 * (0.5 * EFFORT) ** 2)


def test_what_info_says_of_the_way():
    env = gym.make("vigym/Snake-v0")
    for info in play(env, lateral_undulation(8, snake.ACTION_SCALE), 100)[50:]:
        states, mech = env.unwrapped.sim.body_states, env.unwrapped.mechanism
        weight = GRAVITY * sum(body.mass for body in mech.bodies.values())
        assert info["cost_of_transport"] == pytest.approx(
            info["power"] / (weight * abs(info["speed"]))
        )
        assert info["power"] == info["power_mech"]
        assert info["speed"] == info["x_velocity"]
    assert info["x_position"] == pytest.approx(states[:, 0].mean(), abs=1e-12)
    assert info["y_velocity"] == pytest.approx(states[:, 8].mean(), abs=1e-12)
    ahead = np.array([1.0 - 2.0 * states[:, 6] ** 2, 2.0 * states[:, 3] * states[:, 6]]).mean(
        axis=1
    )  # yaw alone
    assert info["heading"] == pytest.approx(np.arctan2(ahead[1], ahead[0]), abs=1e-6)


def test_a_link_on_a_skate_does_not_slip_sideways():
    """Over a step the middle of every link moves along the link's mean axis, to second order in how it turns."""
    env = gym.make("vigym/Snake-v0", skates=True, reset_noise_scale=0.5)
    env.reset(seed=0)
    sim, gait = env.unwrapped.sim, lateral_undulation(8, snake.ACTION_SCALE, ramp=0.0)
    sideways, farthest = 0.0, 0.0
    for _ in range(100):
        before = sim.body_states
        sim.step(targets=gait.angles(float(sim.time)))
        after = sim.body_states
        moved = after[:, :2] - before[:, :2]
        turn = np.arctan2(before[:, 6], before[:, 3]) + np.arctan2(after[:, 6], after[:, 3])
        sideways = max(
            sideways, np.abs(moved[:, 1] * np.cos(turn) - moved[:, 0] * np.sin(turn)).max()
        )
        farthest = max(farthest, np.abs(moved).max())
    assert farthest > 1e-3
    assert sideways < 1e-7


def test_friction_that_tells_along_from_across_moves_a_snake(bench):
    """Speeds are those of the equations, grow with the ratio, and vanish where there is nothing to tell."""
    speeds = []
    for friction in FRICTIONS:
        mech = bench.planar(friction)
        ours = bench.in_vigym(mech, bench.undulation(), seconds=5.0)
        exact = bench.in_the_plane(mech, bench.undulation(), timestep=5e-4, seconds=5.0)
        # The equations share the weight evenly; a rigid snake on 18 points leaves open how it is
        # shared.
        assert ours.speed == pytest.approx(exact.speed, abs=0.01 * exact.speed + 2e-3)
        assert ours.power == pytest.approx(exact.power, rel=0.2)
        assert ours.failures == 0
        assert ours.depth < 1e-9
        speeds.append(ours.speed)
    assert speeds == sorted(speeds)
    assert speeds[0] < 0.1
    assert speeds[2] > 5.0 * speeds[0]


def test_mujoco_s_snake_is_as_fast(bench):
    pytest.importorskip("mujoco")
    for friction in FRICTIONS[1::2]:
        mech = bench.planar(friction)
        ours = bench.in_vigym(mech, bench.undulation())
        theirs = bench.ENGINES["MuJoCo, equal loads"](mech)
        assert ours.speed == pytest.approx(theirs.speed, rel=0.25)
        assert ours.power == pytest.approx(theirs.power, rel=0.25)


def test_sidewinding_goes_to_the_left(bench):
    env = gym.make("vigym/SnakeSidewinding-v0", reset_noise_scale=0.0)
    infos = play(env, sidewinding(15, snake_sidewinding.ACTION_SCALE), 250)
    start, end = infos[50], infos[-1]
    y, x = end["y_position"] - start["y_position"], end["x_position"] - start["x_position"]
    assert np.hypot(x, y) / 8.0 == pytest.approx(0.24, rel=0.1)
    assert abs(np.arctan2(y, x) - np.pi / 2.0) < 0.3
    assert end["speed"] == pytest.approx(
        np.cos(1.5) * end["x_velocity"] + np.sin(1.5) * end["y_velocity"]
    )


def test_mujoco_s_sidewinding_snake_is_as_fast(bench):
    pytest.importorskip("mujoco")
    mech = snake_sidewinding.SnakeSidewinding().mechanism()
    gait = sidewinding(15, snake_sidewinding.ACTION_SCALE)
    ours = bench.in_vigym(mech, gait, timestep=0.005)
    theirs = bench.in_mujoco(bench.mujoco_snake(mech, bench.TIMESTEP), gait)
    assert ours.failures == 0
    assert np.linalg.norm(ours.velocity - theirs.velocity) < 0.25 * theirs.speed


def moved(gait, steps=250):
    """Way of the centre of mass (x, y) [m] after the gait has grown, and for how long [s]."""
    env = gym.make("vigym/SnakeSidewinding-v0", reset_noise_scale=0.0)
    infos = play(env, gait, steps)[50:]
    first, last = infos[0], infos[-1]
    way = [last[name] - first[name] for name in ("x_position", "y_position")]
    assert max(info["penetration"] for info in infos) <= 1e-6
    return np.array(way), last["time"] - first["time"]


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_rolling_goes_a_circumference_in_each_period(side):
    way, seconds = moved(rolling(15, snake_sidewinding.ACTION_SCALE, lag=side * np.pi / 2.0))
    circumference = np.pi * snake_sidewinding.DIAMETER
    assert way[1] == pytest.approx(-side * 0.5 * seconds * circumference, rel=0.1)
    assert abs(way[0]) < 0.02 * abs(way[1])


@pytest.mark.parametrize("step", [-0.9, 0.9])
def test_linear_progression_goes_where_its_wave_goes(step):
    way, seconds = moved(linear_progression(15, snake_sidewinding.ACTION_SCALE, step=step))
    assert -np.sign(step) * way[0] > 0.03 * seconds
    assert abs(way[1]) < 0.1 * abs(way[0])


@pytest.mark.parametrize("name", ["Snake", "SnakeSidewinding"])
def test_random_actions_press_nothing_into_the_ground(name):
    for info in random_steps(f"vigym/{name}-v0", 10_000):
        assert info["penetration"].max() <= 1e-6
        assert info["solver_converged"].all()  # an episode whose step is not solved ends


def test_the_serpenoid_s_waves():
    wave = Wave(amplitude=0.5, frequency=2.0, step=0.3, phase=0.1, offset=0.05)
    time = np.linspace(0.0, 1.0, 7)
    assert wave(time, np.arange(3.0))[:, 2] == pytest.approx(
        0.05 + 0.5 * np.sin(4.0 * np.pi * time - 0.6 + 0.1)
    )
    gait = Serpenoid(joints=4, action_scale=2.0, lateral=wave, dorsal=Wave(offset=3.0), ramp=0.5)
    assert gait.angles(time).shape == (7, 4)
    assert gait.angles(1.0)[[1, 3]] == pytest.approx(3.0)
    assert gait.angles(0.25)[0] == pytest.approx(0.5 * wave(0.25, np.zeros(1))[0])
    assert gait(None, {"time": 1.0}) == pytest.approx(np.clip(gait.angles(1.0) / 2.0, -1.0, 1.0))
    assert gait(None, {"time": 1.0}).dtype == np.float32

"""Quadruped: the published figures, its stand and mirror image, rewards and falls."""

import gymnasium as gym
import numpy as np
import pytest

import vigym
from vigym import assets, load_urdf
from vigym.control.quadruped_gaits import STAND, UNIT, SineGait, joint_angles, trot_angles
from vigym.envs.tasks.quadruped import Quadruped
from vigym.envs.tasks.quadruped_command import COMMANDS, QuadrupedCommand

LEGS = ("front_left", "back_left", "front_right", "back_right")


@pytest.fixture(scope="module")
def robot():
    return load_urdf(assets.path("quadruped"), base="floating", ground=True)


def test_masses_and_freedoms_are_the_published_ones(robot):
    masses = [body.mass for body in robot.bodies.values()]
    assert masses[0] == 6.0
    assert masses[1:] == pytest.approx([0.595, 0.888, 0.151 + 0.06] * 4, abs=1e-12)
    assert robot.degrees_of_freedom == 6 + 12
    parts = ("abduction", "hip", "knee")
    assert robot.actuator_names == [f"{leg}_{part}" for leg in LEGS for part in parts]


def test_the_robot_is_its_own_mirror_image(robot):
    flip = np.array([1.0, -1.0, 1.0])
    for name in (name for name in robot.bodies if "right" not in name):
        left, right = robot.bodies[name], robot.bodies[name.replace("left", "right")]
        assert left.position * flip == pytest.approx(right.position, abs=1e-12)
        turned = left.inertia * np.outer(flip, flip)
        assert turned == pytest.approx(right.inertia, abs=1e-12)


def test_targets_of_all_actions_are_within_the_limits(robot):
    for extreme in (-np.ones(12), np.ones(12)):
        angles = dict(zip(robot.actuator_names, joint_angles(extreme), strict=True))
        for name, angle in angles.items():
            ((lower, upper),) = robot.joints[name].limits
            assert lower < angle < upper


def test_the_stand_is_at_rest_with_the_feet_below_the_hips():
    """The motors give way a little under the weight: 0.3 rad at most of 30 N m over 100 N m/rad."""
    env = gym.make("vigym/Quadruped-v1", reset_noise_scale=0.0)
    _, info = env.reset()
    sim = env.unwrapped.sim
    assert info["height"] == pytest.approx(0.02 + 0.4 * np.cos(0.8) - 0.0005, abs=1e-9)
    for leg in LEGS:
        away = sim.body_position(f"{leg}_foot") - sim.body_position(f"{leg}_thigh")
        assert sim.body_position(f"{leg}_foot")[2] == pytest.approx(0.02, abs=1e-9)
        assert abs(away[0]) < 0.05
    for _ in range(100):
        _, _, terminated, _, info = env.step(np.zeros(12, dtype=np.float32))
    assert not terminated
    assert np.abs(info["joint_velocities"]).max() < 1e-2
    assert np.abs(info["joint_positions"][7:] - STAND).max() < 0.3
    assert info["upright"] > 0.99


def test_terms_of_the_reward():
    env = gym.make("vigym/Quadruped-v1", drift_weight=2.0)
    gait = SineGait()
    observation, info = env.reset(seed=0)
    start, forward = info["x_position"], 0.0
    for _ in range(100):
        observation, reward, _, _, info = env.step(gait(observation, info))
        assert info["reward_forward"] == pytest.approx(0.02 * info["x_velocity"])
        assert info["reward_energy"] == pytest.approx(-0.0005 * 0.02 * info["power"])
        assert info["reward_drift"] == pytest.approx(-2.0 * 0.02 * abs(info["y_velocity"]))
        assert info["reward_survival"] == pytest.approx(0.5 * 0.02)
        terms = ("reward_forward", "reward_survival", "reward_energy", "reward_drift")
        assert reward == pytest.approx(sum(info[term] for term in terms))
        assert np.abs(info["motor_torques"]).max() <= 33.5 + 1e-9
        forward += info["reward_forward"]
    # the velocity at the end of a step stands for its mean
    assert forward == pytest.approx(info["x_position"] - start, rel=0.1)


def test_what_is_a_fall():
    now = {"upright": np.array([1.0, 0.69, 0.9]), "height": np.array([0.3, 0.3, 0.15])}
    assert Quadruped().terminated(now).tolist() == [False, True, True]


def test_friction_has_to_be_a_number():
    with pytest.raises(ValueError, match="option friction: found 0"):
        Quadruped(friction=0.0)


def test_commands_are_drawn_for_every_episode():
    envs = gym.make_vec("vigym/QuadrupedCommand-v1", 4, max_episode_steps=2)
    _, infos = envs.reset(seed=3)
    first = {name: infos[name].copy() for name in COMMANDS}
    for name, (lower, upper) in COMMANDS.items():
        assert len(set(first[name])) == 4
        assert ((lower <= first[name]) & (first[name] <= upper)).all()
        alone = gym.make("vigym/QuadrupedCommand-v1").reset(seed=5)[1]
        assert alone[name] == first[name][2]
    rest = np.zeros((4, 12), dtype=np.float32)
    for step in range(3):
        observations, *_, infos = envs.step(rest)
        for column, name in enumerate(COMMANDS, start=33):
            np.testing.assert_array_equal(observations[:, column], infos[name])
            assert (infos[name] == first[name]).all() == (step < 2)


def test_a_state_continues_with_the_commands_that_are_there():
    env = gym.make("vigym/QuadrupedCommand-v1")
    _, before = env.reset(seed=0)
    _, after = env.reset(seed=1, options={"state": env.unwrapped.sim.state})
    _, drawn = env.reset(seed=1)
    assert [before[name] for name in COMMANDS] == [after[name] for name in COMMANDS]
    assert before["command_turn"] != drawn["command_turn"]


def test_what_follows_the_command_is_rewarded():
    env = gym.make("vigym/QuadrupedCommand-v1", command=(0.5, 0.0, 0.0), energy_weight=0.0)
    observation, info = env.reset(seed=0)
    rest = np.zeros(12, dtype=np.float32)
    for _ in range(50):
        observation, reward, _, _, info = env.step(rest)
        off = np.hypot(info["forward_velocity"] - 0.5, info["left_velocity"])
        assert info["reward_velocity"] == pytest.approx(1.0 / (1.0 + 9.0 * (off / 0.5) ** 2))
        turn = 0.5 / (1.0 + 9.0 * info["turning"] ** 2)
        assert info["reward_turn"] == pytest.approx(turn)
        assert reward == pytest.approx(info["reward_velocity"] + turn)


def test_actions_correct_a_trot():
    """Torques are those of motors with the trot's angles, corrected by the action, as targets."""
    command = (0.5, 0.1, -0.2)
    env = gym.make("vigym/QuadrupedCommand-v1", command=command, frame_skip=1, timestep=0.0005)
    _, info = env.reset(seed=0)
    action = np.tile(np.array([0.1, -0.05, 0.08], dtype=np.float32), 4)
    for _ in range(30):
        before = info
        _, _, _, _, info = env.step(action)
    targets = trot_angles(before["time"], *command) + 0.5 * UNIT * action
    angles = 0.5 * (before["joint_positions"][7:] + info["joint_positions"][7:])
    rates = 0.5 * (before["joint_velocities"][6:] + info["joint_velocities"][6:])
    expected = (100.0 * (targets - angles) - 2.0 * rates).clip(-33.5, 33.5)
    assert info["motor_torques"] == pytest.approx(expected, abs=1.0)


def test_the_trot_alone_follows_roughly():
    """At three quarters of the commanded velocity, without a fall."""
    scores = vigym.evaluate(
        "vigym/QuadrupedCommand-v1", "zero", 2, options={"command": (1.0, 0.0, 0.0)}
    )
    assert not scores.column("failed").any()
    assert 5.0 < scores.column("distance").min() < 10.0


@pytest.mark.parametrize("command", [(1.0, 0.0), (1.0, 0.0, 2.1), "fast", 1.0, (1.0, 0.0, None)])
def test_wrong_commands_are_refused(command):
    with pytest.raises(ValueError, match="option command: found"):
        QuadrupedCommand(command=command)

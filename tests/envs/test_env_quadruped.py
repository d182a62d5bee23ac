"""Quadruped: the published figures, its stand and mirror image, rewards and falls."""

import gymnasium as gym
import numpy as np
import pytest

from vigym import assets, load_urdf
from vigym.control.quadruped_gaits import STAND, SineGait, joint_angles
from vigym.envs.tasks.quadruped import Quadruped

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
    env = gym.make("vigym/Quadruped-v0", reset_noise_scale=0.0)
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
    env = gym.make("vigym/Quadruped-v0", drift_weight=2.0)
    gait = SineGait()
    observation, info = env.reset(seed=0)
    start, forward = info["x_position"], 0.0
    for _ in range(100):
        observation, reward, _, _, info = env.step(gait(observation, info))
        assert info["reward_forward"] == pytest.approx(0.02 * info["x_velocity"])
        assert info["reward_energy"] == pytest.approx(-0.002 * 0.02 * info["power"])
        assert info["reward_drift"] == pytest.approx(-2.0 * 0.02 * abs(info["y_velocity"]))
        terms = ("reward_forward", "reward_energy", "reward_drift")
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

"""Minitaur and its leg: the robot's figures, the leg map, rewards and falls, gaits and hops, random actions."""

from itertools import takewhile

import gymnasium as gym
import numpy as np
import pytest

from scenes.env_cases import random_steps
from vigym import assets, load_urdf
from vigym.control.hop import Hop
from vigym.control.minitaur_gaits import bound, pronk, trot
from vigym.control.minitaur_legs import (
    LOWER,
    UPPER,
    action_of,
    commanded,
    foot_distance,
    hip_angles,
)
from vigym.envs.tasks.minitaur import Minitaur

LEGS = ("front_left", "back_left", "front_right", "back_right")


def walk(env, controller, steps, seed=0):
    """Infos of an episode, the first of them of its start."""
    observation, info = env.reset(seed=seed)
    infos = [info]
    for _ in range(steps):
        observation, _, terminated, truncated, info = env.step(controller(observation, info))
        infos.append(info)
        if terminated or truncated:
            break
    return infos


def test_masses_and_freedoms_are_the_published_ones():
    mech = load_urdf(assets.path("minitaur"), ground=True)
    masses = [body.mass for body in mech.bodies.values()]
    assert sum(masses) == pytest.approx(6.0, abs=1e-12)
    assert len(masses) == 17
    assert masses[0] == pytest.approx(3.0 + 0.2 + 8 * 0.25)
    assert masses[1:] == pytest.approx([0.05] * 16)
    assert mech.degrees_of_freedom == 14
    assert [name.rpartition("_hip_")[0] for name in mech.actuator_names] == [
        leg for leg in LEGS for _ in range(2)
    ]
    assert {joint.effort for joint in mech.joints.values() if joint.actuated} == {3.5}


def test_the_robot_is_its_own_mirror_image():
    mech = load_urdf(assets.path("minitaur"), ground=True)
    flip = np.array([1.0, -1.0, 1.0])
    for end in ("front", "back"):
        for part in ("upper_front", "upper_rear", "lower_front", "lower_rear"):
            left, right = (mech.bodies[f"{end}_{side}_{part}"] for side in ("left", "right"))
            assert left.position * flip == pytest.approx(right.position, abs=1e-12)
            assert left.inertia == pytest.approx(right.inertia, abs=1e-12)
    assert mech.bodies["base"].position[:2] == pytest.approx([0.0, 0.0], abs=1e-12)


@pytest.mark.parametrize("name", ["minitaur", "minitaur_leg"])
def test_bars_are_the_solids_the_file_names(name):
    """Solid boxes of 0.05 kg, as long as the hinges are apart."""
    for body in load_urdf(assets.path(name), ground=True).bodies.values():
        size = (UPPER, 0.008, 0.02) if "upper" in body.name else (0.016, 0.006, LOWER)
        if "upper" in body.name or "lower" in body.name:
            moments = sorted(0.05 * (sum(s * s for s in size) - s * s) / 12.0 for s in size)
            assert np.linalg.eigvalsh(body.inertia) == pytest.approx(moments, rel=1e-9)


def test_the_leg_map_is_the_published_one():
    action = np.array([0.3, -0.2, 0.1, 0.0, -0.5, 0.4, 0.0, 1.0])
    swing, extension = commanded(action)
    motors = hip_angles(swing, extension) + 0.5 * np.pi
    for leg in range(4):
        middle, turn = np.pi - 0.25 * np.pi * (action[4 + leg] + 1.5), 0.25 * np.pi * action[leg]
        assert motors[2 * leg : 2 * leg + 2] == pytest.approx([middle - turn, middle + turn])
    assert action_of(swing, extension) == pytest.approx(action)


@pytest.mark.parametrize(("swing", "extension"), [(0.0, 2.0), (0.3, 1.7), (-0.4, 2.4)])
def test_positive_swing_brings_the_foot_forwards(swing, extension):
    env = gym.make("vigym/Minitaur-v0", reset_noise_scale=0.0).unwrapped
    hips = hip_angles(np.full(4, swing), np.full(4, extension))
    env.sim.reset(dict(zip(env.mechanism.motor_names, hips, strict=True)), place_on_ground=True)
    far = float(foot_distance(np.array(extension)))
    for leg in LEGS:
        hip = 0.5 * (
            env.sim.body_position(f"{leg}_motor_front") + env.sim.body_position(f"{leg}_motor_rear")
        )
        ahead, _, up = env.sim.body_position(f"{leg}_foot") - hip
        assert ahead == pytest.approx(far * np.sin(swing), abs=1e-9)
        assert up == pytest.approx(-far * np.cos(swing) * np.cos(0.0872665), abs=1e-9)
    assert env.sim.contacts.gap.min() == pytest.approx(0.0, abs=1e-12)


def test_the_start_stands_on_its_feet():
    env = gym.make("vigym/Minitaur-v0")
    for seed in range(3):
        _, info = env.reset(seed=seed)
        gaps = env.unwrapped.sim.contacts.gap
        assert np.flatnonzero(gaps < 1e-9).size >= 1
        assert gaps.min() >= -1e-12
        assert 0.2 < info["height"] < 0.27
        assert info["upright"] == 1.0


def test_terms_of_the_reward():
    env = gym.make("vigym/Minitaur-v0", drift_weight=2.0, shake_weight=3.0)
    infos = walk(env, trot(), 200)
    for info in infos[1:]:
        turn = info["joint_positions"][3:7]
        w, x, y, z = turn
        assert info["reward_forward"] == pytest.approx(0.01 * info["x_velocity"])
        assert info["reward_energy"] == pytest.approx(-0.005 * 0.01 * info["power"])
        assert info["reward_drift"] == pytest.approx(-2.0 * 0.01 * abs(info["y_velocity"]))
        up = 2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)
        assert np.linalg.norm(up) == pytest.approx(1.0)
        assert info["upright"] == pytest.approx(up[2])
        assert info["reward_shake"] == pytest.approx(-3.0 * abs(up[0] + up[1]))
    gone = infos[-1]["x_position"] - infos[0]["x_position"]
    assert sum(info["reward_forward"] for info in infos[1:]) == pytest.approx(gone, rel=0.02)


def test_power_is_what_the_motors_do():
    """In short steps the mean over one is half the sum of what torques and rates are at its ends."""
    infos = walk(gym.make("vigym/Minitaur-v0", timestep=0.001, frame_skip=1), trot(), 1000)
    powers = np.array(
        [np.abs(info["motor_torques"] * info["joint_velocities"][6:22:2]).sum() for info in infos]
    )
    told = np.array([info["power"] for info in infos])
    assert told[0] == 0.0
    assert told[1:].sum() == pytest.approx(0.5 * (powers[1:] + powers[:-1]).sum(), rel=0.02)
    for info in infos:
        assert np.abs(info["motor_torques"]).max() <= 3.5 + 1e-9
        speed = max(abs(info["x_velocity"]), 0.01)
        assert info["cost_of_transport"] == pytest.approx(info["power"] / (6.0 * 9.81 * speed))


def test_what_is_a_fall():
    now = {"upright": np.array([1.0, 0.84, 0.9]), "height": np.array([0.2, 0.2, 0.12])}
    assert Minitaur().terminated(now).tolist() == [False, True, True]


def test_a_robot_that_leans_falls():
    """Long legs on the left, short ones on the right, then all swung away."""
    env = gym.make("vigym/Minitaur-v0")
    lean = np.array([1.0, 1.0, 1.0, 1.0, -1.0, -1.0, 1.0, 1.0], dtype=np.float32)
    infos = walk(env, lambda *_: lean, 400)
    assert len(infos) < 400
    assert infos[-1]["solver_converged"]
    assert infos[-1]["upright"] < 0.85 or infos[-1]["height"] < 0.13


@pytest.mark.parametrize("timestep", [0.01, 0.005, 0.002])
def test_the_trot_walks_straight_with_closed_legs(timestep):
    env = gym.make("vigym/Minitaur-v0", timestep=timestep, frame_skip=round(0.01 / timestep))
    infos = walk(env, trot(), 1000, seed=1)
    assert len(infos) == 1001
    assert infos[-1]["x_position"] / 10.0 >= 0.30
    assert abs(infos[-1]["y_position"]) < 0.3
    assert np.mean([info["power"] for info in infos]) == pytest.approx(19.9, rel=0.5)
    assert max(info["constraint_residual_max"] for info in infos) <= 1e-8
    assert max(info["penetration"] for info in infos) <= 1e-6
    assert all(info["solver_converged"] for info in infos)


@pytest.mark.parametrize(("gait", "speed"), [(bound, 0.9), (pronk, 0.15)])
def test_other_gaits_go_forwards(gait, speed):
    infos = walk(gym.make("vigym/Minitaur-v0"), gait(), 500)
    assert len(infos) == 501
    assert infos[-1]["x_position"] / 5.0 > speed


def test_the_bound_goes_from_its_front_feet_to_its_back_feet_and_flies_between():
    env = gym.make("vigym/Minitaur-v0")
    gait, standing = bound(), set()
    observation, info = env.reset(seed=0)
    sim = env.unwrapped.sim
    names = sim.mechanism.contact_names
    for _ in range(300):
        observation, _, terminated, _, info = env.step(gait(observation, info))
        assert not terminated
        if info["time"] > 1.0:
            down = {
                name
                for name, force in zip(names, sim.contacts.force, strict=True)
                if np.abs(force).max() > 1e-6
            }
            standing.add(
                " ".join(
                    end for end in ("front", "back") if any(foot.startswith(end) for foot in down)
                )
            )
            assert not any(name.startswith("base") for name in down)
    assert {"", "front", "back"} <= standing


def test_gaits_have_parameters():
    assert trot(frequency=3.0).frequency == 3.0
    assert bound(lift=0.1).lift == 0.1
    swing, _ = bound(ramp=0.0, lean=0.1, swing=0.3).legs(0.0)
    assert swing[[0, 2]] == pytest.approx([0.1, 0.1])
    assert pronk(swing=0.1).swing == 0.1
    swing, extension = trot(ramp=0.0).legs(np.array([0.0, 0.125]))
    assert swing[1] == pytest.approx([-0.3, 0.3, 0.3, -0.3])
    assert extension[0] == pytest.approx([2.25, 1.75, 1.75, 2.25])


def test_voltage_motors_walk_too():
    """Gains of the pulse width and a stiffer law; the torque saturates at 3.5 N m."""
    infos = walk(gym.make("vigym/Minitaur-v0", motor="voltage"), trot(), 1000)
    assert len(infos) == 1001
    assert infos[-1]["x_position"] > 1.0
    assert max(np.abs(info["motor_torques"]).max() for info in infos) <= 3.5 + 1e-9
    assert max(info["constraint_residual_max"] for info in infos) <= 1e-8


@pytest.mark.parametrize("seed", range(3))
def test_the_leg_hops_to_the_height_it_is_asked(seed):
    env = gym.make("vigym/MinitaurLeg-v0")
    infos = walk(env, Hop(), 400, seed=seed)
    heights, feet = (
        np.array([info[key] for info in infos]) for key in ("hip_height", "foot_height")
    )
    tops = 1 + np.flatnonzero((heights[1:-1] > heights[:-2]) & (heights[1:-1] >= heights[2:]))
    tops = heights[[k for k in tops if feet[k] > 0.01]]
    assert len(tops) > 10
    assert tops[3:] == pytest.approx(0.45, abs=0.02)
    assert feet.min() >= -1e-6
    assert sum(info["reward_height"] + info["reward_energy"] for info in infos) > 240.0


def test_the_apex_is_that_of_free_flight():
    """From a drop: it is the height of the start until the foot lands."""
    env = gym.make("vigym/MinitaurLeg-v0")
    still = action_of(np.zeros(1), np.full(1, 2.0)).astype(np.float32)
    flight = list(
        takewhile(lambda info: info["foot_height"] > 1e-3, walk(env, lambda *_: still, 30, seed=3))
    )
    assert len(flight) > 3
    assert [info["apex"] for info in flight] == pytest.approx(
        [flight[0]["hip_height"]] * len(flight), abs=0.01
    )


@pytest.mark.parametrize("name", ["Minitaur", "MinitaurLeg"])
def test_random_actions_go_nowhere_near_through_the_ground(name):
    for info in random_steps(f"vigym/{name}-v0", 10_000):
        assert info["solver_converged"].all()
        assert info["penetration"].max() <= 1e-6
        assert info["constraint_residual_max"].max() <= 1e-8

"""Single environments: what their tasks promise, and options, states and mechanisms that are refused."""

import json

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from vigym import Mechanism, MechanismError, assets
from vigym.envs.env import TaskEnv
from vigym.envs.task import Task

URDF = {"urdf": str(assets.path("acrobot"))}
PUSH = np.ones(1, dtype=np.float32)


def test_a_failed_solve_ends_the_episode_with_the_state_before():
    env = gym.make(
        "vigym/Pendulum-v0", timestep=100.0, reset_noise_scale=0.0
    )  # no step of this size can be made
    observation, info = env.reset(seed=0)
    after, reward, terminated, truncated, failed = env.step(PUSH)
    assert (terminated, truncated, failed["solver_converged"]) == (True, False, False)
    assert np.array_equal(after, observation)
    assert failed["energy_total"] == info["energy_total"]
    assert np.isfinite(reward)
    assert env.reset(seed=0)[1]["solver_converged"]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"timestep": 0.0}, "option timestep: found 0.0"),
        ({"timestep": np.inf}, "option timestep: found inf"),
        ({"frame_skip": 0}, "option frame_skip: found 0"),
        ({"frame_skip": 2.5}, "option frame_skip: found 2.5"),
        ({"reset_noise_scale": -1.0}, "option reset_noise_scale: found -1.0"),
        ({"control_weight": np.nan}, "option control_weight: found nan"),
        ({"render_mode": "ascii"}, "option render_mode: found 'ascii'"),
    ],
)
def test_options_out_of_range_are_refused(options, error):
    with pytest.raises(ValueError, match=error):
        TaskEnv("vigym.envs.tasks.pendulum:Pendulum", **options)


def test_unknown_options_are_refused():
    with pytest.raises(TypeError, match="colour"):
        gym.make("vigym/Pendulum-v0", colour="red")
    env = gym.make("vigym/Pendulum-v0")
    with pytest.raises(ValueError, match=r"reset options: found \['stat'\]"):
        env.reset(options={"stat": 0})
    with pytest.raises(ValueError, match="state: found shape"):
        env.reset(options={"state": np.zeros(3)})
    assert env.reset(seed=0)[0] in env.observation_space


def test_the_pendulum_cannot_be_lifted_without_swinging():
    env = gym.make("vigym/Pendulum-v0", reset_noise_scale=0.0)
    env.reset(seed=0)
    assert min(abs(env.step(PUSH)[4]["angle"]) for _ in range(300)) > 0.5 * np.pi


@pytest.mark.parametrize(("joint", "per_joint"), [("revolute", 1), ("spherical", 3)])
@pytest.mark.parametrize("links", [1, 4])
def test_chains_have_the_asked_joints(joint, per_joint, links):
    env = gym.make("vigym/PendulumChain-v0", links=links, joint=joint)
    assert env.action_space.shape == (links * per_joint,)
    assert len(env.unwrapped.mechanism.bodies) == links
    _, info = gym.make(
        "vigym/PendulumChain-v0", links=links, joint=joint, reset_noise_scale=0.0
    ).reset()
    assert info["tip_height"] == pytest.approx(-1.0)


@pytest.mark.parametrize("options", [{"links": 0}, {"links": 1.5}, {"joint": "ball"}])
def test_impossible_chains_are_refused(options):
    with pytest.raises(ValueError, match="option (links|joint): found"):
        gym.make("vigym/PendulumChain-v0", **options)


def constant_reward(now, action):
    return 2.0 + 0.0 * action[..., 0]


def test_urdf_rewards():
    direct = gym.make("vigym/Urdf-v0", **URDF, reward=constant_reward, task_weight=0.5)
    named = gym.make("vigym/Urdf-v0", **URDF, reward=f"{__name__}:constant_reward", task_weight=0.5)
    again = gym.make(
        gym.envs.registration.EnvSpec.from_json(json.dumps(json.loads(named.spec.to_json())))
    )
    for env in (direct, named, again):
        env.reset(seed=0)
        assert env.step(PUSH)[1] == 1.0


def test_a_floating_robot_starts_where_the_file_puts_it(tmp_path):
    inertial = '<inertial>\n<mass value="1"/>\n<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>\n</inertial>'
    file = tmp_path / "hopper.urdf"
    file.write_text(
        f'<robot name="hopper">\n<link name="base">\n{inertial}\n</link>\n<link name="leg">\n{inertial}\n</link>\n'
        '<joint name="hip" type="continuous">\n<parent link="base"/>\n<child link="leg"/>\n<origin xyz="0 0 -1"/>\n'
        '<axis xyz="0 1 0"/>\n<limit effort="5" velocity="9"/>\n</joint>\n</robot>\n'
    )
    env = gym.make("vigym/Urdf-v0", urdf=str(file), base="floating", reset_noise_scale=0.0)
    _, info = env.reset()
    assert env.action_space.shape == (1,)
    assert np.array_equal(info["joint_positions"], [0, 0, 0, 1, 0, 0, 0, 0])
    _, noisy = gym.make("vigym/Urdf-v0", urdf=str(file), base="floating").reset(seed=0)
    assert 0.0 < np.abs(noisy["joint_positions"] - info["joint_positions"]).max() <= 0.1
    check_env(env.unwrapped, skip_render_check=True)


def passive(effort):
    mech = Mechanism(name="swing")
    mech.add_body("rod", 1.0, (0.1, 0.1, 0.1), position=(0, 0, -0.5))
    mech.add_joint(
        "hinge", "revolute", "world", "rod", position=(0, 0, 0), axis=(0, 1, 0), effort=effort
    )
    return mech


@pytest.mark.parametrize(
    ("effort", "error"),
    [
        (None, "'swing': found no actuated joint"),
        (np.inf, "joint 'hinge' effort: found inf, expected a finite one"),
    ],
)
def test_a_mechanism_that_cannot_be_driven_is_refused(monkeypatch, effort, error):
    monkeypatch.setattr(
        "vigym.envs.tasks.pendulum.Pendulum.mechanism", lambda self: passive(effort)
    )
    with pytest.raises(MechanismError, match=error):
        gym.make("vigym/Pendulum-v0")


def test_tasks_are_found_by_class_too():
    task = type(gym.make("vigym/Acrobot-v0").unwrapped.task)
    assert issubclass(task, Task)
    assert TaskEnv(task).observation_space.shape == (6,)

"""Options that change between episodes: from the next reset on environments are as if made with them."""

import gymnasium as gym
import numpy as np
import pytest

from scenes.env_cases import ROBOT, assert_same
from vigym.envs.env import TaskEnv
from vigym.envs.robots.privileged import Push
from vigym.envs.tasks.robot import Robot
from vigym.mechanism.elements.errors import MechanismError

ID = "vigym/Minitaur-v0"
NOISY = {
    "reset_noise_scale": 0.05,
    "forward_weight": 2.0,
    "randomization": {"mass": (0.8, 0.9), "friction": (0.5, 0.6)},
    "pushes": (0.5, 0.05),
    "observation_noise": 0.01,
}
OFF = {"randomization": None, "pushes": None, "observation_noise": 0.0}
CASES = [
    (ID, {}, NOISY),
    (ID, {**NOISY, "action_latency": 1}, {**OFF, "reset_noise_scale": 0.2}),
    ("vigym/QuadrupedCommand-v1", {}, {"command": ((0.0, 1.0), 0.0, 0.2), "turn_weight": 0.1}),
    (ID, {"terrain": "mixed", "terrain_level": 0.3}, {"terrain_level": 0.9}),
    ("vigym/FourBar-v0", {}, {"reset_noise_scale": 0.4}),
    ("vigym/Robot-v0", ROBOT, {"reset_noise_scale": 0.3, "randomization": {"mass": (0.8, 0.9)}}),
]


def made(name, several, options):
    if several:
        return gym.make_vec(name, 3, max_episode_steps=8, **options)
    return gym.make(name, **options)


def play(env, seed):
    """Return what an environment gives from a reset on."""
    draw = np.random.default_rng(seed)
    found = [env.reset(seed=seed)]
    for _ in range(12):
        found.append(env.step(draw.uniform(-1.0, 1.0, env.action_space.shape).astype(np.float32)))
    return found


@pytest.mark.parametrize("several", [False, True], ids=["single", "vector"])
@pytest.mark.parametrize(("name", "options", "changed"), CASES)
def test_changed_options_are_those_of_a_new_environment(name, options, changed, several):
    env, other = made(name, several, options), made(name, several, {**options, **changed})
    play(env, 5)
    env.unwrapped.set_options(**changed)
    assert_same(play(env, 7), play(other, 7))


def test_episodes_go_on_as_they_were_with_other_weights():
    env, other = made(ID, True, {}), made(ID, True, {})
    action = np.zeros(env.action_space.shape, np.float32)
    env.reset(seed=1), other.reset(seed=1)
    env.set_options(reset_noise_scale=0.3, energy_weight=0.0)
    found, expected = env.step(action), other.step(action)
    assert_same(found[0], expected[0])
    assert_same(found[4]["joint_positions"], expected[4]["joint_positions"])
    assert not found[4]["reward_energy"].any()
    assert expected[4]["reward_energy"].all()


def test_a_level_of_terrain_is_a_part_of_its_maps():
    env = gym.make_vec("vigym/Quadruped-v1", 120, terrain="mixed", terrain_level=0.0)
    for level, maps in ((0.0, 1), (0.25, 3), (1.0, 13)):
        env.set_options(terrain_level=level)
        env.reset(seed=0)
        assert set(env.sim.terrain_maps.tolist()) == set(range(maps))


def test_commands_are_drawn_from_ranges():
    env = gym.make_vec("vigym/QuadrupedCommand-v1", 20, command=((0.2, 0.4), -0.1, (-0.5, 0.0)))
    _, infos = env.reset(seed=0)
    forward, left, turn = (infos[f"command_{name}"] for name in ("forward", "left", "turn"))
    assert ((forward > 0.2) & (forward < 0.4)).all()
    assert (left == -0.1).all()
    assert ((turn > -0.5) & (turn < 0.0)).all()
    assert np.ptp(forward) > 0.1


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"friction": 0.3}, ValueError, "friction: found 0.3, expected 0.8, with which the env"),
        ({"terrain": "slope"}, ValueError, "terrain: found 'slope', expected None, with which"),
        ({"timestep": 0.1}, ValueError, "timestep: found 0.1, expected 0.005, with which the"),
        ({"commands": True}, ValueError, "found other observations or commands, expected those"),
        ({"action_latency": 2}, ValueError, "action_latency: found 2, expected 0: another needs"),
        ({"terrain_level": 1.1}, ValueError, "terrain_level: found 1.1, expected a number in"),
        ({"width": 32}, ValueError, "width: found 32, expected one of the task or of pert"),
        ({"reset_noise_scale": -1}, ValueError, "reset_noise_scale: found -1, expected a number"),
        ({"forward": 1}, TypeError, "of Minitaur: found 'forward', did you mean 'forward_weight'"),
        ({"randomization": {"weight": (1, 2)}}, MechanismError, "found 'weight', expected gravity"),
    ],
)
def test_options_that_need_a_new_environment_are_refused(changed, error, message):
    env, other = made(ID, True, {}), made(ID, True, {})
    with pytest.raises(error, match=message):
        env.set_options(forward_weight=3.0, **changed)
    assert_same(play(env, 3), play(other, 3))  # nothing has changed


class Prepared(Robot):
    """A task that looks its mechanism up when it is made."""

    def __post_init__(self):
        super().__post_init__()
        assert self.built.joints


def test_options_are_refused_though_a_task_has_read_its_mechanism():
    env = TaskEnv(Prepared, **ROBOT)
    assert env.mechanism is env.task.built
    with pytest.raises(ValueError, match="efforts: found 2.0, expected None, with which the en"):
        env.set_options(efforts=2.0)


def test_privileged_observations_follow_pushes_that_begin_later():
    env = made(ID, True, {"privileged": (Push("base"),)})
    env.reset(seed=0)
    env.set_options(pushes=(1.0, env.dt))  # one in every control step
    infos = env.step(env.action_space.sample())[-1]
    sizes = np.linalg.norm(infos["privileged"], axis=1)
    np.testing.assert_allclose(sizes, 1.0, rtol=1e-12)
    env.set_options(pushes=None)
    assert not env.step(env.action_space.sample())[-1]["privileged"].any()
    env = made(ID, True, {"privileged": True})
    with pytest.raises(ValueError, match="privileged: found True, expected the same parameters in"):
        env.set_options(pushes=(1.0, 1.0))

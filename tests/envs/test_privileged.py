"""Privileged observations: what they read is what the mechanism says, alone and in vectors."""

from __future__ import annotations

from functools import partial

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

from oracle.naive_joints import rotate
from scenes.env_cases import URDF, assert_same
from vigym import Ground, assets
from vigym.envs.robots.privileged import SCAN, Factors, Heights, Push, Velocity
from vigym.envs.robots.sensors import GroundContact
from vigym.metrics import momentum

QUADRUPED, COMMANDED = "vigym/Quadruped-v1", "vigym/QuadrupedCommand-v1"
BASES = {QUADRUPED: "trunk", COMMANDED: "trunk", "vigym/Minitaur-v0": "base"}
FACTORS = {"friction": (0.5, 1.2), "mass": (0.8, 1.2), "gravity": (0.9, 1.1)}
ROBOT = {"robot": str(assets.path("minitaur")), "base": "floating"}
RANDOM = {"randomization": FACTORS, "pushes": (1.0, 0.1)}
every_robot = pytest.mark.parametrize("name", BASES)


def make(name, privileged=True, **options):
    return gym.make(name, privileged=privileged, disable_env_checker=True, **options).unwrapped


def read(env, info, prefix):
    names = env.privileged_names
    return info["privileged"][[name.startswith(prefix) for name in names]]


def move(env):
    return np.random.default_rng(0).uniform(-1.0, 1.0, env.action_space.shape)


@every_robot
def test_a_velocity_is_the_change_of_place(name):
    """The mean of two velocities is the change over the time between, to the square of the step."""
    errors = []
    for step in (0.002, 0.001):
        env, body = make(name, timestep=step, frame_skip=1), BASES[name]
        found = []
        _, info = env.reset(seed=0)
        for _ in range(round(0.02 / step)):
            ends = []
            for _ in range(2):
                place, turn = env.sim.body_position(body), env.sim.body_orientation(body)
                ends.append((place, rotate(turn, read(env, info, "velocity"))))
                if len(ends) < 2:
                    *_, info = env.step(0.2 * move(env))
            (start, first), (end, last) = ends
            found.append(np.abs((end - start) / step - 0.5 * (first + last)).max())
        errors.append(np.mean(found))
    assert errors[1] < errors[0] / 3.0 < 1e-3


@pytest.mark.parametrize("name", [QUADRUPED, "vigym/Minitaur-v0"])
def test_contact_forces_carry_a_robot_at_rest(name):
    env = make(name, randomization=FACTORS)
    _, info = env.reset(seed=1)
    assert not read(env, info, "contact").any()
    for _ in range(200):
        *_, info = env.step(np.zeros(env.action_space.shape))
    weight = env.sim.body_inertias[0].sum() * np.linalg.norm(env.sim.parameters.gravity)
    # what moves still, 0.01 m/s at most in the last second, is far less than this
    assert read(env, info, "contact").sum() == pytest.approx(weight, rel=1e-4)


@every_robot
def test_factors_are_the_parameters(name):
    env = make(name, **RANDOM)
    for seed in (0, 1):
        _, info = env.reset(seed=seed)
        for quantity in FACTORS:
            expected = env.sim.parameters.by_name[quantity]
            found = dict(zip(env.privileged_names, info["privileged"], strict=True))
            for element, factor in expected.items():
                assert found[f"{quantity}_factor_of_{element}"] == factor != 1.0
    plain = make(name, (Factors(["mass"]),))
    assert (plain.reset(seed=0)[1]["privileged"] == 1.0).all()


def test_heights_are_above_the_ground_around_the_robot():
    env = make(QUADRUPED, terrain="rough")
    _, info = env.reset(seed=3)
    for _ in range(10):
        *_, info = env.step(move(env))
    x, y, z = env.sim.body_position("trunk")
    heading = info["heading"]
    turn = np.array([[np.cos(heading), -np.sin(heading)], [np.sin(heading), np.cos(heading)]])
    places = np.array(SCAN) @ turn.T + (x, y)
    ground = env.mechanism.ground.terrain.height(*places.T, env.sim.terrain_maps)
    np.testing.assert_allclose(read(env, info, "height"), z - ground, atol=1e-12)
    plane = make(QUADRUPED)
    _, info = plane.reset(seed=3)
    assert read(plane, info, "height") == info["height"]
    tilted = make("vigym/Robot-v0", ground=Ground(normal=(0.6, 0.0, 0.8), height=0.3), **ROBOT)
    _, info = tilted.reset(seed=3)
    assert 0.8 * read(tilted, info, "height") == pytest.approx(info["height"])


def test_a_push_is_the_change_of_momentum():
    """Of a robot in the air, beside that by its weight."""
    env = make(QUADRUPED, pushes=(1.0, 0.02))
    _, info = env.reset(options={"positions": {"trunk:floating": (0, 0, 3, 1, 0, 0, 0)}})
    assert not read(env, info, "push").any()
    weight = np.array([0.0, 0.0, -12.776 * 9.81])
    for _ in range(5):
        before = momentum(env.sim)[0]
        *_, info = env.step(move(env))
        turn = env.sim.body_orientation("trunk")
        change = momentum(env.sim)[0] - before - weight * env.dt
        np.testing.assert_allclose(rotate(turn, read(env, info, "push")), change, atol=1e-8)
        assert np.linalg.norm(change) == pytest.approx(1.0)
    _, info = env.reset()
    assert not read(env, info, "push").any()


@every_robot
@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_a_vector_reads_what_each_reads_alone(name, mode):
    options = {"max_episode_steps": 3, **RANDOM}
    many = gym.make_vec(name, 2, privileged=True, autoreset_mode=mode, info_keys=(), **options)
    alone = [gym.make(name, privileged=True, disable_env_checker=True, **options) for _ in "12"]
    _, infos = many.reset(seed=5)
    last = [env.reset(seed=5 + k)[1]["privileged"] for k, env in enumerate(alone)]
    np.testing.assert_array_equal(infos["privileged"], last)
    for _ in range(3):
        given = np.stack([move(alone[0].unwrapped)] * 2).astype(np.float32)
        *_, infos = many.step(given)
        last = [env.step(row)[4]["privileged"] for env, row in zip(alone, given, strict=True)]
        found = infos.get("final_info", infos)["privileged"]
        np.testing.assert_array_equal(found, last)
    if mode == AutoresetMode.NEXT_STEP:
        *_, infos = many.step(given)
    last = [env.reset()[1]["privileged"] for env in alone]
    np.testing.assert_array_equal(infos["privileged"], last)
    assert not (last[0] == last[1]).all()


@every_robot
def test_the_observation_is_as_without(name):
    plain, env = make(name, False, **RANDOM), make(name, **RANDOM)
    for one in (plain, env):
        one.reset(seed=2)
    for _ in range(3):
        (seen, *_, told), (observed, *_, info) = (one.step(move(env)) for one in (plain, env))
        assert_same(seen, observed)
        assert env.privileged_space.contains(info.pop("privileged"))
        assert_same(dict(told), dict(info))
    assert (plain.privileged_space, plain.privileged_names) == (None, [])
    check_env(env, skip_render_check=True)


def test_robots_of_files_have_them():
    env = make("vigym/Robot-v0", **ROBOT)
    _, info = env.reset(seed=0)
    assert info["privileged"].shape == env.privileged_space.shape == (3 + 1 + 5,)
    arm = make("vigym/Urdf-v0", randomization={"mass": (0.5, 2.0)}, **URDF)
    assert len(arm.privileged_names) == len(arm.mechanism.bodies)


@pytest.mark.parametrize(
    ("privileged", "message"),
    [
        (3, "option privileged: found 3, expected a tuple of sensors"),
        ((Velocity("tail"),), "Velocity body: found 'tail'"),
        ((Push("tail"),), "Push body: found 'tail'"),
        ((GroundContact(["trunk"]),) * 2, "expected every sensor once"),
        ((Factors(["colour"]),), "Factors: found .'colour'., expected names among gravity"),
        (partial(Heights, "trunk", [1.0, 2.0]), "Heights points: found"),
    ],
)
def test_wrong_ones_are_refused(privileged, message):
    with pytest.raises(ValueError, match=message):
        make(QUADRUPED, privileged() if isinstance(privileged, partial) else privileged)


def test_an_arm_of_which_all_is_known_has_none():
    with pytest.raises(ValueError, match="found True, expected sensors: the robot is fixed"):
        make("vigym/Urdf-v0", **URDF)

"""Sensors of robots with random parameters, pushes, latency and episodes that end, alone and in vectors."""

from __future__ import annotations

from functools import partial

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import DtypeObservation, FrameStackObservation

from oracle.naive_joints import conj, rotate
from vigym.envs.robots.sensors import GroundContact, Imu, LastAction, Ranges, Torques

MINITAUR, QUADRUPED = "vigym/Minitaur-v0", "vigym/Quadruped-v1"
RAYS = [(0, 0, -1), (1, 0.3, -0.5), (-0.4, 1, -1), (0, 0, 1)]
PERTURBED = {
    "randomization": {"mass": (0.7, 1.4), "gravity": (0.5, 1.5), "strength": (0.6, 1.0)},
    "pushes": (0.5, 0.1),
    "action_latency": 2,
}


def make(env_id, **options):
    return gym.make(env_id, disable_env_checker=True, **options).unwrapped


def bodies_of(env_id, **options):
    return list(make(env_id, **options).mechanism.bodies)


def every_sensor(body):
    return (Imu(body), GroundContact([body]), Ranges(body, RAYS), Torques(), LastAction())


def readings(env, observation, prefix):
    rows = [k for k, name in enumerate(env.observation_names) if name.startswith(prefix)]
    return observation[rows]


def felt_forces(env, observation):
    """Return mass times the acceleration that an Imu in every body feels, world axes (n, 3) [N]."""
    masses, _ = env.sim.body_inertias
    forces = []
    for name, mass in zip(env.mechanism.bodies, masses, strict=True):
        felt = readings(env, observation, f"imu_{name}_acceleration_")
        forces.append(mass * rotate(env.sim.body_orientation(name), felt))
    return np.array(forces)


@pytest.mark.parametrize(
    ("env_id", "options"),
    [
        (QUADRUPED, {}),
        (QUADRUPED, {"terrain": "rough"}),
        (MINITAUR, {"timestep": 0.002, "frame_skip": 7}),
        ("vigym/MinitaurLeg-v0", {}),
        ("vigym/PendulumChain-v0", {"links": 3, "joint": "spherical"}),
    ],
)
def test_imu_reads_differences_of_states_whatever_is_random(env_id, options):
    name = bodies_of(env_id, **options)[-1]
    env = make(env_id, sensors=(Imu(name),), **options, **PERTURBED)
    env.reset(seed=3)
    gravity = env.sim.parameters.by_name["gravity"]["all"] * np.array(env.mechanism.gravity)
    assert abs(gravity[2] + 9.81) > 0.1
    rng = np.random.default_rng(4)
    for _ in range(10):
        v0 = env.sim.body_velocity(name)
        observation, *_ = env.step(rng.uniform(-1, 1, env.action_space.shape))
        change = (env.sim.body_velocity(name) - v0) / env.dt
        expected = rotate(conj(env.sim.body_orientation(name)), change - gravity)
        felt = readings(env, observation, f"imu_{name}_acceleration")
        np.testing.assert_allclose(felt, np.clip(expected, -500, 500), atol=1e-9)
        spin = readings(env, observation, f"imu_{name}_angular")
        np.testing.assert_array_equal(spin, env.sim.body_angular_velocity(name))


def test_a_robot_in_the_air_feels_nothing_but_itself():
    """Forces within it add up to nothing, whatever gravity, masses and motors do.

    Momentum is kept to the tolerance of a step, 1e-8 of the weight times its length, over dt.
    """
    bodies = bodies_of(QUADRUPED)
    parameters = {name: PERTURBED["randomization"][name] for name in ("mass", "gravity")}
    sensors = tuple(map(Imu, bodies))
    env = make(QUADRUPED, sensors=sensors, randomization=parameters)
    env.reset(seed=2, options={"positions": {"trunk:floating": [0, 0, 5, 1, 0, 0, 0]}})
    rng = np.random.default_rng(1)
    for _ in range(5):
        observation, *_ = env.step(0.1 * rng.uniform(-1, 1, 12))
        forces = felt_forces(env, observation)
        assert abs(forces).max() > 1.0
        np.testing.assert_allclose(forces.sum(axis=0), 0.0, atol=1e-5)


@pytest.mark.parametrize("env_id", [MINITAUR, QUADRUPED])
def test_contacts_of_a_robot_that_stands_carry_its_weight(env_id):
    """What is left of its motion after three seconds is a thousandth of the weight."""
    touching = sorted(set(make(env_id).mechanism.ground_contact_bodies))
    env = make(
        env_id,
        sensors=(GroundContact(touching, 1000.0),),
        randomization={"mass": (1.2, 1.2), "gravity": (0.5, 0.9)},
    )
    env.reset(seed=1)
    for _ in range(round(3.0 / env.dt)):
        observation, *_ = env.step(np.zeros(env.action_space.shape))
    masses, _ = env.sim.body_inertias
    weight = -masses.sum() * env.sim.parameters.gravity[2]
    assert readings(env, observation, "contact_").sum() == pytest.approx(weight, rel=1e-3)


def test_ranges_of_a_vector_end_on_the_map_of_each():
    name = bodies_of(QUADRUPED)[0]
    envs = gym.make_vec(QUADRUPED, 4, terrain="boxes", sensors=(Ranges(name, RAYS, reach=1.5),))
    observations, _ = envs.reset(seed=8)
    sim, rays = envs.unwrapped.sim, np.array(RAYS) / np.linalg.norm(RAYS, axis=1)[:, None]
    terrain = sim.mechanism.ground.terrain
    for _ in range(8):
        for k, way in enumerate(observations[:, -4:]):
            world = np.array([rotate(sim.body_orientation(name)[k], ray) for ray in rays])
            ends = sim.body_position(name)[k] + way[:, None] * world
            heights = ends[:, 2] - terrain.height(ends[:, 0], ends[:, 1], sim.terrain_maps[k])
            np.testing.assert_allclose(heights[way < 1.5], 0.0, atol=1e-9)
            assert (heights > -1e-9).all()
        assert (observations[:, -4] < 1.0).all()  # down
        observations, *_ = envs.step(np.ones((4, 12), dtype=np.float32))


def test_torques_are_those_of_the_action_over_the_largest():
    env = make(
        "vigym/PendulumChain-v0",
        links=3,
        joint="spherical",
        sensors=(Torques(),),
        randomization={"strength": (0.3, 0.6)},
    )
    env.reset(seed=1)
    action = np.linspace(-0.9, 0.9, 9)
    observation, *_ = env.step(action)
    np.testing.assert_allclose(readings(env, observation, "torque_of_"), action, atol=1e-12)


def test_the_last_action_is_what_was_asked_for():
    """Whatever its latency, and clipped to what an action may be."""
    env = make(MINITAUR, sensors=(LastAction(),), action_latency=3)
    observation, _ = env.reset(seed=1)
    np.testing.assert_array_equal(readings(env, observation, "last_action_"), np.zeros(8))
    for size in (0.2, -0.4, 3.0):
        observation, *_ = env.step(np.full(8, size))
        seen = readings(env, observation, "last_action_")
        np.testing.assert_array_equal(seen, np.full(8, min(size, 1.0)))


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_sensors_in_a_vector_are_those_alone_through_many_episodes(mode):
    name = bodies_of(MINITAUR)[0]
    options = {"sensors": every_sensor(name), "observation_noise": 0.01, "terrain": "rough"}
    options |= PERTURBED | {"max_episode_steps": 6}
    envs = gym.make_vec(MINITAUR, 3, autoreset_mode=mode, **options)
    alone = [gym.make(MINITAUR, disable_env_checker=True, **options) for _ in range(3)]
    batch, _ = envs.reset(seed=5)
    single = np.array([env.reset(seed=5 + k)[0] for k, env in enumerate(alone)])
    np.testing.assert_array_equal(batch, single)
    rng, done = np.random.default_rng(2), np.zeros(3, dtype=bool)
    for _ in range(20):
        actions = rng.uniform(-1, 1, (3, 8)).astype(np.float32)
        if mode == "Disabled" and done.any():
            batch, _ = envs.reset(options={"reset_mask": done})
            for k in np.flatnonzero(done):
                single[k] = alone[k].reset()[0]
            np.testing.assert_array_equal(batch, single)
            done[:] = False
        batch, _, terminated, truncated, infos = envs.step(actions)
        for k, env in enumerate(alone):
            if done[k]:  # of NextStep
                single[k] = env.reset()[0]
                done[k] = False
                continue
            single[k], _, *ends, _ = env.step(actions[k])
            done[k] = any(ends)
            if done[k] and mode == "SameStep":
                np.testing.assert_array_equal(infos["final_obs"][k], single[k])
                single[k] = env.reset()[0]
        np.testing.assert_array_equal(batch, single)
        ended = terminated | truncated
        if mode == "SameStep":
            done[:] = False
        else:
            np.testing.assert_array_equal(ended, done)


@pytest.mark.filterwarnings("ignore:.*precision lowered")
def test_history_in_a_vector_is_that_of_each_alone():
    body = bodies_of(MINITAUR)[0]
    options = {"sensors": every_sensor(body), "commands": True}
    wrappers = [
        partial(FrameStackObservation, stack_size=3),
        partial(DtypeObservation, dtype=np.float32),
    ]
    stacked = gym.make_vec(MINITAUR, 2, vectorization_mode="sync", wrappers=wrappers, **options)
    native = gym.make_vec(MINITAUR, 2, **options)
    found, _ = stacked.reset(seed=4)
    native.action_space.seed(4)
    seen = [native.reset(seed=4)[0]] * 3
    for _ in range(5):
        np.testing.assert_array_equal(found, np.stack(seen[-3:], axis=1).astype(np.float32))
        action = native.action_space.sample()
        found, *_ = stacked.step(action)
        seen.append(native.step(action)[0])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("env_id", "options"),
    [
        (MINITAUR, {"terrain": "slope", "commands": True, "motor": "voltage"}),
        (MINITAUR, {"terrain": "steps"}),
        (QUADRUPED, {"terrain": "rough"}),
        ("vigym/QuadrupedCommand-v1", {"terrain": "boxes"}),
        ("vigym/MinitaurLeg-v0", {}),
        ("vigym/SnakeSidewinding-v0", {"self_collision": True}),
        ("vigym/PendulumChain-v0", {"links": 2, "joint": "spherical"}),
        ("vigym/FourBar-v0", {}),
    ],
)
def test_environment_checkers_pass_with_every_sensor(env_id, options):
    """With noise, and with all that is random where an environment may be random."""
    name = bodies_of(env_id, **options)[0]
    given = {"sensors": every_sensor(name), "observation_noise": 0.02, **options, **PERTURBED}
    check_env(make(env_id, **given), skip_render_check=True)
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    checker.check_env(make(env_id, **given))


def test_sensors_in_single_precision_are_those_in_double_to_its_rounding():
    """Positions hold to 1e-5 m, so velocities over 0.05 s to 2e-4 m/s, their rates to 4e-3 m/s^2."""
    options = {"sensors": (Imu("link2"), Torques(), LastAction()), "links": 3}
    seen = []
    for precision in ("float64", "float32"):
        envs = gym.make_vec("vigym/PendulumChain-v0", 2, precision=precision, **options)
        envs.reset(seed=1)
        rows = [envs.step(np.full((2, 3), 0.1 * k, dtype=np.float32))[0] for k in range(10)]
        seen.append(np.array(rows))
    np.testing.assert_allclose(seen[1], seen[0], atol=4e-3)
    assert (seen[0] != seen[1]).any()


@pytest.mark.parametrize("bodies", [[], "base"])
def test_contacts_of_no_list_of_bodies_are_refused(bodies):
    with pytest.raises(ValueError, match="GroundContact bodies: found"):
        GroundContact(bodies)

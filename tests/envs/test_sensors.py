"""Sensors against finite differences of states and against geometry; noise, batches, commands, given starts."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import vigym
from oracle.naive_joints import conj, rotate
from scenes.terrains import along_x, thrown
from vigym import Ground, Simulator
from vigym.envs.robots import sensors
from vigym.envs.robots.sensors import GroundContact, Imu, LastAction, Ranges, Torques
from vigym.mechanism.elements.ground import maps

DOWN = [(0, 0, -1), (1, 0, -1), (0, 1, -2)]
G = np.array([0.0, 0.0, -9.81])


def minitaur(**options):
    return gym.make("vigym/Minitaur-v0", disable_env_checker=True, **options).unwrapped


def body_of(env):
    return next(iter(env.mechanism.bodies))


def every_sensor(body):
    return (Imu(body), GroundContact([body]), Ranges(body, DOWN), Torques(), LastAction())


def read(env, observation, prefix):
    return np.array(
        [
            value
            for name, value in zip(env.observation_names, observation, strict=True)
            if name.startswith(prefix)
        ]
    )


def test_imu_reads_differences_of_states():
    body = body_of(minitaur())
    env = minitaur(sensors=(Imu(body),))
    observation, _ = env.reset(seed=1)
    q = env.sim.body_orientation(body)
    felt = read(env, observation, f"imu_{body}_acceleration")
    np.testing.assert_allclose(felt, rotate(conj(q), -G), atol=1e-12)
    rng = np.random.default_rng(2)
    for _ in range(5):
        v0 = env.sim.body_velocity(body)
        observation, *_ = env.step(rng.uniform(-1, 1, 8))
        q, change = env.sim.body_orientation(body), env.sim.body_velocity(body) - v0
        felt = read(env, observation, f"imu_{body}_acceleration")
        np.testing.assert_allclose(felt, rotate(conj(q), change / env.dt - G), atol=1e-9)


def test_imu_reads_the_rate_of_the_orientation():
    """Over one step of 1 ms the quaternion turns by the mean rate, to second order."""
    body = body_of(minitaur())
    env = minitaur(sensors=(Imu(body),), timestep=0.001, frame_skip=1)
    before, _ = env.reset(seed=1)
    for k in range(30):
        q0 = env.sim.body_orientation(body)
        after, *_ = env.step(np.full(8, 0.3))
        q1 = env.sim.body_orientation(body)
        w0, v0 = q0[0], -q0[1:]
        turn = w0 * q1[1:] + q1[0] * v0 + np.cross(v0, q1[1:])
        mean = 0.5 * (read(env, before, f"imu_{body}_ang") + read(env, after, f"imu_{body}_ang"))
        if k > 20:  # the feet have met the ground
            np.testing.assert_allclose(2.0 * turn / env.dt, mean, atol=0.02)
        before = after


def test_ground_contact_reads_normal_forces():
    env = minitaur()
    owners = np.array(env.mechanism.ground_contact_bodies)
    bodies = sorted(set(owners))
    env = minitaur(sensors=(GroundContact(bodies, 1000.0), Torques(), LastAction()))
    env.reset(seed=1)
    action = np.linspace(-0.5, 0.5, 8)
    for _ in range(30):
        observation, *_ = env.step(action)
    contacts = env.sim.contacts
    forces = {b: contacts.force[owners == b, 2].sum() for b in bodies}
    np.testing.assert_allclose(read(env, observation, "contact_"), list(forces.values()), atol=1e-9)
    assert sum(forces.values()) > 20.0
    np.testing.assert_array_equal(read(env, observation, "last_action_of_"), action)
    shares = env.sim.actuator_torques / env.sim.parameters.actuator_efforts
    np.testing.assert_array_equal(read(env, observation, "torque_of_"), shares)


def test_ground_contact_is_one_or_zero():
    bodies = sorted(set(minitaur().mechanism.ground_contact_bodies))
    env = minitaur(sensors=(GroundContact(bodies),))
    env.reset(seed=1)
    for _ in range(20):
        observation, *_ = env.step(np.zeros(8))
    seen = read(env, observation, "contact_")
    assert set(seen) == {0.0, 1.0}
    assert seen.sum() == 4.0  # feet


@pytest.mark.parametrize("angle", [0.0, 0.3])
def test_ranges_on_a_plane_and_the_same_as_heights(angle):
    normal = np.array([np.sin(angle), 0.0, np.cos(angle)])
    x = 0.25 * (np.arange(41) - 20)
    rays = np.random.default_rng(1).normal(size=(50, 3))
    rays /= np.linalg.norm(rays, axis=1)[:, None]
    found = []
    for ground in (Ground(normal=normal), Ground(terrain=along_x(-np.tan(angle) * x, 0.25))):
        sim = Simulator(thrown("ball", ground))
        start = np.tile([0.1, 0.2, 0.5], (1, 50, 1))
        found.append(sensors.distances_to_ground(sim, start, rays[None], 2.0)[0])
    fall = -(rays @ normal)
    height = normal @ [0.1, 0.2, 0.5]
    expected = np.where(fall > 0.0, np.minimum(height / np.maximum(fall, 1e-9), 2.0), 2.0)
    np.testing.assert_allclose(found[0], expected, atol=1e-12)
    np.testing.assert_allclose(found[1], expected, atol=1e-9)


def test_ranges_end_on_the_terrain():
    terrain = maps.rough(maps=1)
    sim = Simulator(thrown("ball", Ground(terrain=terrain)))
    rays = np.random.default_rng(1).normal(size=(200, 3)) * [1, 1, 0.3]
    rays /= np.linalg.norm(rays, axis=1)[:, None]
    start = np.array([0.9, 0.1, 0.08])
    ways = sensors.distances_to_ground(sim, np.tile(start, (1, 200, 1)), rays[None], 1.5)[0]
    hits = ways < 1.5
    assert 50 < hits.sum() < 200
    ends = start + ways[:, None] * rays
    heights = ends[:, 2] - terrain.height(ends[:, 0], ends[:, 1])
    np.testing.assert_allclose(heights[hits], 0.0, atol=1e-12)
    for part in np.linspace(0.0, 0.999, 200):  # nothing nearer
        points = start + part * ways[:, None] * rays
        assert (points[:, 2] > terrain.height(points[:, 0], points[:, 1])).all()


def test_vector_with_sensors_noise_terrain_and_commands_is_every_environment_alone():
    body = body_of(minitaur())
    options = {
        "sensors": every_sensor(body),
        "terrain": "rough",
        "commands": True,
        "observation_noise": {f"range_{body}_0": 0.01, f"imu_{body}_acceleration_x": 0.5},
    }
    envs = gym.make_vec("vigym/Minitaur-v0", 3, **options)
    alone = [minitaur(**options) for _ in range(3)]
    batch, infos = envs.reset(seed=5)
    rng = np.random.default_rng(1)
    single = [env.reset(seed=5 + k) for k, env in enumerate(alone)]
    assert len(set(np.asarray(envs.unwrapped.sim.terrain_maps).tolist())) > 1
    for _ in range(20):
        for k, (observation, info) in enumerate(single):
            np.testing.assert_array_equal(batch[k], observation)
            np.testing.assert_array_equal(infos["command_speed"][k], info["command_speed"])
        actions = rng.uniform(-1, 1, (3, 8)).astype(np.float32)
        batch, rewards, *_, infos = envs.step(actions)
        stepped = [env.step(action) for env, action in zip(alone, actions, strict=True)]
        np.testing.assert_array_equal(rewards, [result[1] for result in stepped])
        single = [(result[0], result[-1]) for result in stepped]


@pytest.mark.filterwarnings("error")
def test_environment_checkers_pass():
    body = body_of(minitaur())
    options = {"sensors": every_sensor(body), "terrain": "boxes", "commands": True}
    check_env(minitaur(**options), skip_render_check=True)
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    checker.check_env(minitaur(**options))


def test_commands_reward_what_obeys_them():
    env = minitaur(commands=True, energy_weight=0.0)
    _, info = env.reset(seed=3)
    speed, heading = info["command_speed"], info["command_heading"]
    assert -0.3 <= speed <= 0.6
    assert -0.8 <= heading <= 0.8
    task = env.task
    pose = np.zeros(7)
    pose[3], pose[6] = np.cos(heading / 2), np.sin(heading / 2)
    obeyed = {
        "joint_positions": pose,
        "command_speed": speed,
        "command_heading": heading,
        "x_velocity": speed * np.cos(heading),
        "y_velocity": speed * np.sin(heading),
        "power": 0.0,
    }
    assert task.rewards(obeyed, np.zeros(8))["forward"] == pytest.approx(env.dt)
    slower = obeyed | {"x_velocity": obeyed["x_velocity"] - 0.25}
    assert task.rewards(slower, np.zeros(8))["forward"] == pytest.approx(env.dt / np.e)


def test_gymnasium_wrappers_give_history_float32_and_delay():
    """What Gymnasium has already is not here."""
    env = gym.make("vigym/Minitaur-v0", sensors=(LastAction(),))
    env = gym.wrappers.DtypeObservation(gym.wrappers.FrameStackObservation(env, 3), np.float32)
    observation, _ = env.reset(seed=1)
    assert observation.shape == (3, 43)
    assert observation.dtype == np.float32
    assert env.observation_space.contains(observation)


def test_gymnasium_wrapper_makes_a_dictionary_with_a_goal():
    env = gym.make("vigym/Minitaur-v0", commands=True)
    own = env.observation_space
    low, high = own.low, own.high
    space = gym.spaces.Dict(
        observation=gym.spaces.Box(low[:-2], high[:-2], dtype=np.float64),
        desired_goal=gym.spaces.Box(low[-2:], high[-2:], dtype=np.float64),
    )
    env = gym.wrappers.TransformObservation(
        env, lambda seen: {"observation": seen[:-2], "desired_goal": seen[-2:]}, space
    )
    observation, info = env.reset(seed=1)
    assert space.contains(observation)
    assert observation["desired_goal"][0] == info["command_speed"]


def test_urdf_robot_on_terrain_is_at_its_height_above_it(tmp_path):
    robot = str(vigym.assets.path("minitaur"))
    ground = Ground(terrain=maps.slope(0.3, level=-5.0))
    env = gym.make("vigym/Urdf-v0", urdf=robot, ground=ground, disable_env_checker=True).unwrapped
    _, info = env.reset(seed=1)
    x, y = info["x_position"], info["y_position"]
    z = env.sim.body_position(next(iter(env.mechanism.bodies)))[2]
    assert info["height"] == pytest.approx(z - ground.terrain.height(x, y))
    assert ground.terrain.height(x, y) > 1.0
    assert env.sim.contacts.gap.min() == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (3, "option sensors: found 3"),
        ((Imu("tail"),), "sensors, Imu body: found 'tail', expected a name among"),
        ((Torques(), Torques()), "expected every sensor once"),
    ],
)
def test_wrong_sensors(option, message):
    with pytest.raises(ValueError, match=message):
        minitaur(sensors=option)
    with pytest.raises(ValueError, match="directions: found"):
        Ranges("a", [(0, 0, 0)])


@pytest.mark.parametrize("name", ["Quadruped-v1", "QuadrupedCommand-v1", "BennettQuadruped-v0"])
def test_quadrupeds_start_and_stay_up_on_terrain(name):
    """Without actions one stands, and those with commands trot, which takes them a little lower."""
    env = gym.make(f"vigym/{name}", terrain="rough", disable_env_checker=True).unwrapped
    _, info = env.reset(seed=1)
    assert env.sim.contacts.gap.min() == pytest.approx(0.0, abs=1e-9)
    height = info["height"]
    for _ in range(20):
        *_, terminated, _, info = env.step(np.zeros(12))
        assert not terminated
    assert abs(info["height"] - height) < (0.05 if name == "Quadruped" else 0.1)


def test_terrain_of_a_function_is_that_terrain(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = "from vigym.mechanism.elements.ground.maps import steps\n\n\ndef stairs():\n"
    (tmp_path / "hills.py").write_text(
        lines + "    return steps(0.05)\n\n\ndef plane():\n    return 0\n"
    )
    terrain = minitaur(terrain="hills:stairs").mechanism.ground.terrain
    np.testing.assert_array_equal(terrain.heights, maps.steps(0.05).heights)
    with pytest.raises(ValueError, match="option terrain: found 0, expected a Terrain from"):
        minitaur(terrain="hills:plane")
    with pytest.raises(ImportError, match="option terrain: found 'valleys:stairs'"):
        minitaur(terrain="valleys:stairs")


def test_wrong_terrain():
    with pytest.raises(ValueError, match="option terrain: found 'hills', expected None, a Terrain"):
        minitaur(terrain="hills")


def test_pictures_of_a_vector_show_each_map():
    envs = gym.make_vec(
        "vigym/Minitaur-v0", 2, terrain="rough", render_mode="rgb_array", width=160, height=120
    )
    envs.reset(seed=5)
    a, b = envs.render()
    assert a.shape == b.shape == (120, 160, 3)
    assert (a != b).any()


def test_mechanism_is_read_only_of_terrain():
    terrain = vigym.Terrain(np.zeros((3, 3)), 0.1)
    with pytest.raises(ValueError, match="read-only"):
        terrain.heights[0, 0, 0] = 1.0

"""Standard tasks beside Gymnasium's MuJoCo v5: figures, spaces, starts, observations, rewards, motion."""

import inspect
from dataclasses import fields

import gymnasium as gym
import numpy as np
import pytest

from vigym.spatial import rotation_matrix

mujoco = pytest.importorskip("mujoco")

# id: that of Gymnasium, ctrl of an action of 1
PEERS = {
    "vigym/InvertedPendulum-v0": ("InvertedPendulum-v5", 3.0),
    "vigym/StandardDoublePendulum-v0": ("InvertedDoublePendulum-v5", 1.0),
    "vigym/Reacher-v0": ("Reacher-v5", 1.0),
    "vigym/HalfCheetah-v0": ("HalfCheetah-v5", 1.0),
    "vigym/Hopper-v0": ("Hopper-v5", 1.0),
    "vigym/Walker2d-v0": ("Walker2d-v5", 1.0),
    "vigym/Ant-v0": ("Ant-v5", 1.0),
    "vigym/Humanoid-v0": ("Humanoid-v5", 0.4),
}
ANT, HUMANOID = "vigym/Ant-v0", "vigym/Humanoid-v0"
SPATIAL = (ANT, HUMANOID)
PLANAR = ("vigym/HalfCheetah-v0", "vigym/Hopper-v0", "vigym/Walker2d-v0")
ROUNDING = 1e-12  # of figures with 15 digits, in sums of some ten
STEP, SUBSTEPS = 0.02, 20  # control step of comparisons [s], its integrator steps
FINE = 4  # steps of MuJoCo in one
CLOSE = 0.2  # of velocities up to 20, after two control steps
every = pytest.mark.parametrize("name", PEERS)


@pytest.fixture(autouse=True)
def _own_folder(monkeypatch, tmp_path):
    """Keep the log that MuJoCo writes into the working directory elsewhere."""
    monkeypatch.chdir(tmp_path)


def pair(name, **options):
    """Return an environment and Gymnasium's."""
    return gym.make(name, **options).unwrapped, gym.make(PEERS[name][0], **options).unwrapped


def columns_of(env, size):
    """Return the places of what is observed among positions or velocities of the file."""
    columns = getattr(env.task, "_columns", (np.arange(size),))
    return next(each for each in columns if each.size == size)


def observed(env, values):
    """Return positions or velocities of the file in the order and with the signs of Gymnasium."""
    return (values * env.task.signs)[columns_of(env, values.size)]


def to_file(env, values):
    """Return the inverse of `observed`."""
    found = np.empty_like(values)
    found[columns_of(env, values.size)] = values
    return found * env.task.signs


def set_both(env, peer, positions, velocities):
    """Put both into a state, in the coordinates that are observed."""
    peer.set_state(positions, velocities)
    start = to_file(env, positions - env.task.zero), to_file(env, velocities)
    if hasattr(env.task, "hinges"):
        env.task._move_trunk(*start, 1.0)
    return env.reset(options=dict(zip(("positions", "velocities"), start, strict=True)))


def place(name, peer, rng):
    """Return a random state above the ground, within the limits."""
    model = peer.model
    low, high = np.where(model.jnt_limited, model.jnt_range.T, [[-0.3], [0.3]])
    middle, half = (low + high) / 2.0, 0.45 * (high - low)
    hinges = middle + half * rng.uniform(-1.0, 1.0, model.njnt)
    velocities = rng.uniform(-1.0, 1.0, model.nv)
    if name in SPATIAL:
        turn = rng.standard_normal(4)
        return np.array([0.3, -0.2, 3.0, *turn / np.linalg.norm(turn), *hinges[1:]]), velocities
    if name in PLANAR:
        hinges[1] = 2.0
    return hinges, velocities


@every
def test_figures_are_those_of_the_model(name):
    env, peer = pair(name)
    model, mechanism = peer.model, env.mechanism
    assert sum(body.mass for body in mechanism.bodies.values()) == pytest.approx(
        model.body_mass.sum(), rel=ROUNDING
    )
    found = np.sort([observed(env, limits) for limits in env.task._limits], axis=0).T
    expected = np.where(model.jnt_limited[:, None], model.jnt_range, [-np.inf, np.inf])
    assert np.allclose(found[-model.njnt :], expected, rtol=ROUNDING, atol=ROUNDING)
    efforts = [joint.effort for joint in mechanism.actuated_joints]
    assert efforts == pytest.approx(model.actuator_gear[:, 0] * PEERS[name][1], rel=ROUNDING)
    assert env.dt == pytest.approx(peer.dt, rel=ROUNDING)
    assert env.task.frame_skip == peer.frame_skip
    assert gym.spec(name).max_episode_steps == gym.spec(PEERS[name][0]).max_episode_steps


@every
def test_shapes_that_touch_are_those_of_the_model(name):
    env, peer = pair(name)
    model, data = peer.model, peer.data
    mujoco.mj_resetData(model, data)
    mujoco.mj_forward(model, data)
    set_both(env, peer, data.qpos.copy(), data.qvel.copy())
    (floor, *_) = [*np.flatnonzero(model.geom_type == mujoco.mjtGeom.mjGEOM_PLANE), -1]
    touching = range(model.ngeom) if model.geom_contype.any() else ()
    expected = [
        (*model.geom_size[k][:2], *data.geom_xpos[k], *np.abs(data.geom_xmat[k][2::3]),
         max(model.geom_friction[k][0], model.geom_friction[floor][0]))
        for k in touching if k != floor
    ]  # fmt: skip
    found = []
    for collision in env.mechanism.collisions.values():
        shape, turn = collision.shape, rotation_matrix(env.sim.body_orientation(collision.body))
        half = getattr(shape, "length", 0.0) / 2.0  # of a sphere none
        place = env.sim.body_position(collision.body) + turn @ shape.position
        axis = np.abs((turn @ rotation_matrix(shape.orientation))[:, 2])
        found.append((shape.radius, half, *place, *axis, collision.friction[0]))
    # the ant's legs have another order
    found, expected = (sorted(np.round(rows, 9).tolist()) for rows in (found, expected))
    assert np.allclose(found, expected, rtol=0.0, atol=1e-8)


@every
def test_accelerations_are_those_of_the_model(name):
    """Masses, inertias, lengths, armatures, dampers, springs, gears and gravity all appear in them."""
    env, peer = pair(name)
    model, data = peer.model, peer.data
    rng = np.random.default_rng(0)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    for _ in range(10):
        set_both(env, peer, *place(name, peer, rng))
        action = rng.uniform(-1.0, 1.0, model.nu)
        data.ctrl[:] = action * PEERS[name][1]
        mujoco.mj_forward(model, data)
        found = env.sim.dynamics.forward(action * env._runner.efforts)
        scale = np.abs(data.qacc).max()
        # of the trunk's place: that of its origin there, of its centre of mass here
        first = 3 if name == HUMANOID else 0
        differences = observed(env, found)[first:] - data.qacc[first:]
        assert np.abs(differences).max() <= 1e-9 * scale


@every
def test_spaces_are_those_of_gymnasium(name):
    env, peer = pair(name)
    assert env.observation_space == peer.observation_space
    assert env.action_space.shape == peer.action_space.shape
    assert np.array_equal(env.action_space.high * PEERS[name][1], peer.action_space.high)


@pytest.mark.parametrize("name", [*PLANAR, *SPATIAL])
def test_the_place_is_observed_where_it_is_asked_for(name):
    env, peer = pair(name, exclude_current_positions_from_observation=False)
    assert env.observation_space == peer.observation_space
    assert env.reset(seed=1)[0][0] == pytest.approx(peer.reset(seed=1)[0][0], abs=1e-12)


@every
def test_a_seed_gives_the_positions_of_gymnasium(name):
    """But for angles beyond limits and feet in the ground, which its soft ones allow."""
    env, peer = pair(name)
    limits = np.where(peer.model.jnt_limited[:, None], peer.model.jnt_range, [-np.inf, np.inf])
    for seed in range(20):
        env.reset(seed=seed)
        peer.reset(seed=seed)
        found = env.task.coordinates(env.sim)["_positions"]
        expected = peer.data.qpos.copy()
        expected[-peer.model.njnt :] = np.clip(expected[-peer.model.njnt :], *limits.T)
        if name in SPATIAL:
            expected[3:7] /= np.linalg.norm(expected[3:7])
        height = 2 if name in SPATIAL else 1
        if env.mechanism.ground is not None:
            assert env.sim.contacts.gap.min() >= -1e-9
            expected[height] = max(expected[height], found[height])
        assert np.allclose(found, expected, rtol=0.0, atol=1e-9)


def test_a_robot_that_would_start_in_the_ground_is_put_on_it():
    """Alone and in a vector, where others stay in the air."""
    name, seeds = "vigym/HalfCheetah-v0", range(20)
    gaps = []
    env, peer = pair(name)
    for seed in seeds:
        env.reset(seed=seed)
        peer.reset(seed=seed)
        depth = -min([contact.dist for contact in peer.data.contact], default=0.0)
        gaps.append(env.sim.contacts.gap.min())
        rise = env.task.coordinates(env.sim)["_positions"][1] - peer.data.qpos[1]
        assert rise == pytest.approx(max(depth, 0.0), abs=1e-9)
    assert min(gaps) == pytest.approx(0.0, abs=1e-9)
    assert max(gaps) > 0.05
    envs = gym.make_vec(name, len(seeds))
    envs.reset(seed=list(seeds))
    assert np.array_equal(envs.unwrapped.sim.contacts.gap.min(axis=1), gaps)


@every
def test_a_state_has_the_observation_of_gymnasium(name):
    env, peer = pair(name)
    rng = np.random.default_rng(1)
    for _ in range(10):
        observation, _ = set_both(env, peer, *place(name, peer, rng))
        assert np.allclose(observation, peer._get_obs(), rtol=0.0, atol=1e-9)


@every
def test_options_that_gymnasium_alone_has_are_named(name):
    env, peer = pair(name)
    own = {field.name for field in fields(env.task)}
    others = inspect.signature(type(peer)).parameters.keys() - own - {"kwargs"}
    assert {each for each in others if f"`{each}`" not in type(env.task).__doc__} == set()


@every
def test_info_has_all_that_gymnasium_has(name):
    env, peer = pair(name)
    infos = [[one.reset(seed=0)[1] for one in (env, peer)]]
    action = np.zeros(env.action_space.shape, dtype=np.float32)
    infos.append([one.step(action)[4] for one in (env, peer)])
    tendons = {"tendon_length", "tendon_velocity"} if name == HUMANOID else set()
    for found, expected in infos:
        assert expected.keys() - found.keys() == tendons


def test_the_double_pendulum_has_the_penalties_of_gymnasium():
    name = "vigym/StandardDoublePendulum-v0"
    env, peer = pair(name)
    set_both(env, peer, *place(name, peer, np.random.default_rng(3)))
    x, _, height = peer.data.site_xpos[0]
    expected = peer._get_rew(x, height, False)[1]
    found = env._runner.quantities()
    for key in ("distance_penalty", "velocity_penalty"):
        assert found[key] == pytest.approx(expected[key], rel=1e-9)


def test_ground_forces_of_a_robot_at_rest_carry_its_weight():
    """And have no torque about its centre of mass, in the places where Gymnasium has them."""
    env, peer = pair(ANT, contact_force_range=(-np.inf, np.inf))
    for one in (env, peer):
        one.reset(seed=0)
        for _ in range(80):
            observation, *_ = one.step(np.zeros(8, dtype=np.float32))
        wrenches = observation[27:].reshape(13, 6)
        weight = sum(body.mass for body in env.mechanism.bodies.values()) * 9.81
        total = [0.0, 0.0, 0.0, 0.0, 0.0, weight]
        assert np.allclose(wrenches.sum(axis=0), total, rtol=0.0, atol=0.02 * weight)
        assert set(np.flatnonzero(wrenches.any(axis=1))) == {3, 6, 9, 12}


def test_contact_forces_need_not_be_observed():
    env, peer = pair(ANT, include_cfrc_ext_in_observation=False)
    assert env.observation_space == peer.observation_space
    assert env.observation_space.shape == (27,)


@pytest.mark.parametrize("part", ["cinert", "cvel", "qfrc_actuator", "cfrc_ext"])
def test_parts_of_the_observation_of_the_humanoid_can_be_left_out(part):
    env, peer = pair(HUMANOID, **{f"include_{part}_in_observation": False})
    assert env.observation_space == peer.observation_space
    found, _ = set_both(env, peer, *place(HUMANOID, peer, np.random.default_rng(3)))
    assert np.allclose(found, peer._get_obs(), rtol=0.0, atol=1e-9)


def test_the_cost_of_contact_is_clipped():
    for weight, limits, expected in ((5e-7, (0.02, 0.03), 0.03), (0.0, (0.02, 0.03), 0.0)):
        options = {"contact_cost_weight": weight, "contact_cost_range": limits}
        env = gym.make(HUMANOID, **options)
        env.reset(seed=0)
        costs = [-env.step(np.zeros(17, dtype=np.float32))[4]["reward_contact"] for _ in range(15)]
        assert max(costs) == pytest.approx(expected, rel=1e-12)


@every
def test_motion_is_that_of_gymnasium_to_first_order(name):
    """Where nothing touches, differences of observations and rewards fall with the step."""
    peer = gym.make(PEERS[name][0], frame_skip=FINE * SUBSTEPS).unwrapped
    peer.model.opt.timestep = STEP / (FINE * SUBSTEPS)
    peer.model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    apart = []
    for substeps in (SUBSTEPS // 2, SUBSTEPS):
        rng = np.random.default_rng(2)
        env = gym.make(name, timestep=STEP / substeps, frame_skip=substeps).unwrapped
        set_both(env, peer, *place(name, peer, rng))
        differences = []
        for action in rng.uniform(-0.2, 0.2, (2, peer.model.nu)).astype(np.float32):
            observation, reward, ended, _, _ = env.step(action)
            expected = peer.step(action.astype(np.float64) * PEERS[name][1])
            assert ended == expected[2]
            differences.append((np.abs(observation - expected[0]).max(), abs(reward - expected[1])))
        apart.append(np.max(differences, axis=0))
    # half of them, but for terms of second order; MuJoCo's place is that of its last stage
    assert (apart[1] <= 0.7 * apart[0] + 1e-8).all()
    assert (apart[1] < CLOSE).all()


@pytest.mark.parametrize("name", [name for name in PLANAR if "Cheetah" not in name])
def test_a_fall_ends_episodes_as_in_gymnasium(name):
    env, peer = pair(name)
    for height, angle in (
        (2.1, 0.0),
        (1.0, 0.1),
        (1.0, 1.1),
        (0.6, 0.0),
        (1.0, -0.3),
        (0.75, 0.19),
    ):
        positions, velocities = np.zeros(peer.model.nq), np.zeros(peer.model.nv)
        positions[1:3] = height, angle
        set_both(env, peer, positions, velocities)
        quantities = env._runner.quantities()
        assert env.task.terminated(quantities) == (not peer.is_healthy)
        assert env.task.rewards(quantities, np.zeros(3))["survive"] == peer.healthy_reward


def test_a_fall_need_not_end_an_episode():
    env = gym.make("vigym/Hopper-v0", terminate_when_unhealthy=False)
    env.reset(seed=0)
    steps = [env.step(np.ones(3, dtype=np.float32)) for _ in range(100)]
    assert not any(step[2] for step in steps)
    assert [step[4]["reward_survive"] for step in steps][::99] == [1.0, 0.0]


def test_a_hopper_with_a_coordinate_out_of_range_has_failed():
    env = gym.make("vigym/Hopper-v0", healthy_state_range=(-1.0, 1.0))
    env.reset(seed=0)
    assert env.step(np.ones(3, dtype=np.float32))[2]
    assert not gym.make("vigym/Hopper-v0", healthy_state_range=(-100.0, 100.0)).reset()[1]["time"]


@pytest.mark.parametrize(
    "found", [None, 1.0, (1.0,), (1.0, 0.0), (0.0, np.nan), ("a", "b"), (True, 2)], ids=str
)
def test_wrong_ranges_are_refused(found):
    with pytest.raises(ValueError, match="option healthy_z_range: found"):
        gym.make("vigym/Walker2d-v0", healthy_z_range=found)


def test_ranges_of_numpy_s_numbers():
    for given in ((np.float32(0.5), np.int64(2)), np.array([0.5, 2.0])):
        assert gym.make("vigym/Walker2d-v0", healthy_z_range=given).reset(seed=0)[0].shape == (17,)

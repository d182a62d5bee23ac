"""The environment of any URDF file: ground, start, control, reward and end of an episode."""

import json
import warnings

import gymnasium as gym
import numpy as np
import pytest

import vigym
from scenes.env_cases import assert_same
from scenes.urdf_text import HINGE, INERTIAL, joint, link
from vigym import assets

URDF = "vigym/Urdf-v0"
BOX = '<collision><geometry><box size="0.4 0.2 0.1"/></geometry></collision>'
FOOT = '<collision><origin xyz="0 0 -0.5"/><geometry><sphere radius="0.05"/></geometry></collision>'
LIMITS = '<limit lower="0.2" upper="1.2" effort="9" velocity="4"/>'
OPEN = '<limit effort="9" velocity="4"/>'


@pytest.fixture
def walker(tmp_path):
    """A box on two legs: the left one turns about y, the right one only forwards of 0.2 rad."""
    text = (
        link("trunk", INERTIAL + BOX)
        + link("left", INERTIAL + FOOT)
        + link("right", INERTIAL + FOOT)
        + joint("a", "continuous", "trunk", "left", HINGE + OPEN + '<origin xyz="0 0.1 0"/>')
        + joint("b", "revolute", "trunk", "right", HINGE + LIMITS + '<origin xyz="0 -0.1 0"/>')
    )
    (tmp_path / "walker.urdf").write_text(f'<robot name="walker">{text}</robot>')
    return str(tmp_path / "walker.urdf")


@pytest.fixture
def arm(tmp_path):
    """An arm on the world; its finger follows the hinge, and its hand is a frame."""
    text = (
        link("world", "")
        + link("upper", INERTIAL + BOX)
        + link("finger", INERTIAL)
        + link("hand", "")
        + joint("hinge", "continuous", "world", "upper", HINGE + OPEN)
        + joint(
            "grip", "continuous", "upper", "finger", HINGE + '<mimic joint="hinge" multiplier="2"/>'
        )
        + joint("palm", "fixed", "finger", "hand", '<origin xyz="0 0 1"/>')
    )
    (tmp_path / "arm.urdf").write_text(f'<robot name="arm">{text}</robot>')
    return str(tmp_path / "arm.urdf")


def positions(env, info):
    return dict(
        zip(env.unwrapped.mechanism.position_names, info["joint_positions"].tolist(), strict=True)
    )


def test_a_robot_that_floats_stands_on_the_ground_and_is_paid_for_walking(walker):
    env = gym.make(URDF, urdf=walker, reset_noise_scale=0.0)
    _, info = env.reset(seed=0)
    sim = env.unwrapped.sim
    assert env.unwrapped.mechanism.ground is not None
    assert np.min(sim.contacts.gap) == pytest.approx(0.0, abs=1e-12)
    assert info["height"] == pytest.approx(0.55)  # legs of 0.5 m and a ball of 0.05 m
    assert info["upright"] == 1.0
    assert positions(env, info)["b"] == pytest.approx(0.7)  # the middle: its limits exclude zero
    _, reward, terminated, _, info = env.step(np.zeros(2, dtype=np.float32))
    assert not terminated
    assert info["reward_forward"] == info["x_velocity"]
    assert info["reward_alive"] == 0.2
    assert info["reward_energy"] == pytest.approx(-0.1 * info["power"] / (3.0 * 9.81))
    assert reward == sum(info[f"reward_{term}"] for term in ("forward", "alive", "energy", "task"))


def test_a_fall_ends_the_episode(walker):
    env = gym.make(URDF, urdf=walker)
    env.reset(seed=0)
    for _ in range(200):
        _, _, terminated, _, info = env.step(np.zeros(2, dtype=np.float32))
        fallen = info["upright"] < 0.5 or info["height"] < 0.275
        assert terminated == fallen
        if terminated:
            break
    assert terminated
    assert info["reward_alive"] == 0.0
    lying = gym.make(URDF, urdf=walker, min_upright=-1.0, min_height=-1.0)
    lying.reset(seed=0)
    assert not any(lying.step(np.zeros(2, dtype=np.float32))[2] for _ in range(100))


def test_the_height_is_the_distance_from_a_tilted_ground(walker):
    ground = vigym.Ground(height=0.3, normal=np.array([0.6, 0.0, 0.8]), friction=np.full(3, 0.4))
    env = gym.make(URDF, urdf=walker, ground=ground, reset_noise_scale=0.0)
    _, info = env.reset()
    assert np.min(env.unwrapped.sim.contacts.gap) == pytest.approx(0.0, abs=1e-12)
    trunk = env.unwrapped.sim.body_position("trunk")
    assert info["height"] == pytest.approx(trunk @ ground.normal - 0.3)
    assert info["upright"] == pytest.approx(1.0)
    assert env.unwrapped.mechanism.ground.friction.tolist() == [0.4] * 3
    own = gym.make(URDF, urdf=walker, ground=ground, friction=0.9)
    assert own.unwrapped.mechanism.ground.friction.tolist() == [0.9] * 3
    assert own.unwrapped.mechanism.ground.height == 0.3


def test_base_pose(walker):
    turned = (np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5))
    options = {"urdf": walker, "reset_noise_scale": 0.0, "base_orientation": turned}
    env = gym.make(URDF, base_position=(1.0, 2.0, 3.0), **options)
    _, info = env.reset()
    assert info["joint_positions"][:7] == pytest.approx([1.0, 2.0, 3.0, *turned])
    assert info["upright"] == pytest.approx(1.0)
    placed = gym.make(URDF, **options).reset()[1]
    assert placed["joint_positions"][3:7] == pytest.approx(turned)
    assert placed["height"] == pytest.approx(0.55)


def test_start_and_control_by_position(walker):
    options = {"urdf": walker, "control": "position", "start": {"a": 0.5, "b": 0.4}}
    env = gym.make(URDF, **options, kp=50.0, kd={"a": 2.0}, reset_noise_scale=0.0)
    start = positions(env, env.reset()[1])
    assert (start["a"], start["b"]) == pytest.approx((0.5, 0.4))
    task, motors = env.unwrapped.task, env.unwrapped.mechanism.motors
    assert [(motor.kp, motor.kd) for motor in motors.values()] == [(50.0, 2.0), (50.0, 2.0)]
    assert task.targets(np.zeros(2)) == pytest.approx([0.5, 0.4])  # zero keeps the start
    assert task.targets(np.ones(2)) == pytest.approx([0.5 + np.pi / 2, 1.2])
    assert task.targets(-np.ones(2)) == pytest.approx([0.5 - np.pi / 2, 0.2])
    half = gym.make(URDF, **options, action_scale=0.5).unwrapped
    assert half.task.targets(-np.ones(2)) == pytest.approx([0.5 - np.pi / 4, 0.3])
    motor = half.mechanism.motors["a"]
    assert (motor.kp, motor.kd) == pytest.approx((9.0 / 0.4, 0.04 * 9.0 / 0.4))
    noisy = [positions(half, half.reset(seed=seed)[1]) for seed in range(50)]
    assert all(0.3 <= each["b"] <= 0.5 for each in noisy)
    edge = gym.make(URDF, urdf=walker, start={"b": 0.2})
    edges = [positions(edge, edge.reset(seed=seed)[1])["b"] for seed in range(20)]
    assert min(edges) == pytest.approx(0.2, rel=1e-14)  # within its limits but for rounding
    assert max(edges) > 0.21


def test_control_by_velocity_reaches_the_rate(arm):
    env = gym.make(URDF, urdf=arm, control="velocity", ground=False)
    assert env.unwrapped.task.targets(np.full(1, 0.5)) == pytest.approx([2.0])
    env.reset(seed=0)
    for _ in range(400):
        info = env.step(np.full(1, 0.5, dtype=np.float32))[4]
    assert info["joint_velocities"][0] == pytest.approx(2.0, abs=0.01)
    assert info["joint_velocities"][1] == pytest.approx(2.0 * info["joint_velocities"][0])


def test_a_follower_keeps_to_its_leader_at_a_random_start(arm):
    env = gym.make(URDF, urdf=arm, ground=False)
    for seed in range(3):
        found = positions(env, env.reset(seed=seed)[1])
        assert found["grip"] == pytest.approx(2.0 * found["hinge"])
        assert 0.0 < abs(found["hinge"]) <= 0.1


def test_efforts_replace_those_of_the_file(walker):
    env = gym.make(URDF, urdf=walker, control="torque", efforts={"a": 0.0, "b": 3.0})
    assert env.unwrapped.mechanism.actuator_names == ["b"]
    env.reset(seed=0)
    assert env.step(np.ones(1, dtype=np.float32))[4]["actuator_torques"] == pytest.approx([3.0])
    both = gym.make(URDF, urdf=walker, efforts=2.0).unwrapped
    assert [both.mechanism.joints[name].effort for name in "ab"] == [2.0, 2.0]


HOOKS = """
import numpy as np

def reward(info, action):
    return info["height"] - (action * action).sum(axis=-1)

def observe(info):
    return np.concatenate((info["joint_positions"], info["left_position"]), axis=-1)

def late(info):
    return info["time"] > 0.05
"""


def test_hooks_by_name_and_single_as_in_a_vector(walker, tmp_path, monkeypatch):
    (tmp_path / "hooks_of_mine.py").write_text(HOOKS)
    monkeypatch.chdir(tmp_path)  # modules of the working directory are found
    options = {name: f"hooks_of_mine:{name}" for name in ("reward", "observe")}
    options |= {"terminated": "hooks_of_mine:late", "track": ("left",), "self_collision": True}
    env = gym.make(URDF, urdf=walker, **options)
    env = gym.make(gym.envs.registration.EnvSpec.from_json(env.spec.to_json()))
    assert env.observation_space.shape == (12,)
    envs = gym.make_vec(URDF, 3, urdf=walker, **options, autoreset_mode="Disabled")
    singles, _ = env.reset(seed=1)
    many, _ = envs.reset(seed=0)
    assert_same(many[1], singles)
    action = np.array([0.5, -0.25], dtype=np.float32)
    for _ in range(3):
        found = envs.step(np.tile(action, (3, 1)))
        observation, reward, terminated, _, info = env.step(action)
        assert_same(found[0][1], observation)
        assert (found[1][1], bool(found[2][1])) == (reward, terminated)
        assert found[4]["upright"][1] == info["upright"]
        assert reward == info["reward_task"] == info["height"] - 0.3125
    assert terminated
    assert info["time"] > 0.05
    assert info["left_position"] == pytest.approx(env.unwrapped.sim.body_position("left"))
    json.dumps(json.loads(env.spec.to_json()))


@pytest.mark.parametrize("option", ["reward", "observe"])
def test_hooks_that_return_no_numbers_are_refused(walker, option):
    def late(info, *action):
        value = np.where(info["time"] > 0.0, np.nan, 1.0)
        return value if action else value[..., None]

    for env in (
        gym.make(URDF, urdf=walker, **{option: late}),
        gym.make_vec(URDF, 2, urdf=walker, **{option: late}),
    ):
        env.reset(seed=0)
        with pytest.raises(
            ValueError, match=rf"option {option}: found 'a result .*nan.*', expected finite"
        ):
            env.step(env.action_space.sample())


def test_default_hooks_are_equal_in_a_vector(walker):
    env = gym.make(URDF, urdf=walker, control="position")
    envs = gym.make_vec(URDF, 3, urdf=walker, control="position")
    assert_same(envs.reset(seed=0)[0][2], env.reset(seed=2)[0])
    for action in np.random.default_rng(0).uniform(-1.0, 1.0, (5, 2)):
        found, alone = envs.step(np.tile(action, (3, 1))), env.step(action)
        for values, value in zip(found[:3], alone[:3], strict=True):
            assert_same(values[2], np.asarray(value)[()])


def told(**options):
    """Return the warnings of making an environment."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        gym.make(URDF, **options)
    return [str(each.message) for each in caught]


def test_shapes_that_touch_nothing_are_told(walker, arm, tmp_path):
    (text,) = told(urdf=arm)
    assert "'arm': 1 <collision> shapes touch nothing" in text
    assert told(urdf=arm, ground=True) == told(urdf=arm, ground=False) == told(urdf=walker) == []
    bare = tmp_path / "bare.urdf"
    with open(walker) as file:
        bare.write_text(file.read().replace(BOX, "").replace(FOOT, ""))
    (text,) = told(urdf=str(bare))
    assert "found no <collision> shape: the robot falls through the ground" in text
    assert told(urdf=walker, ground=False) == []


def test_a_fixed_robot_has_no_reward_of_its_own(arm):
    env = gym.make(URDF, urdf=arm, ground=False)
    env.reset(seed=0)
    assert not env.unwrapped.task.has_reward
    assert env.step(np.ones(1, dtype=np.float32))[1] == 0.0


def test_motors_that_others_of_their_loop_set_are_passive(tmp_path):
    text = assets.path("minitaur").read_text()
    limit = '<limit effort="1" velocity="9"/></joint>'
    for side in ("front", "rear"):
        knee = text.index(f'<joint name="front_left_knee_{side}"')
        text = text[:knee] + text[knee:].replace("</joint>", limit, 1)
    file = tmp_path / "knees.urdf"
    file.write_text(text)
    (told_once,) = told(urdf=str(file))
    assert "front_left_knee_front, front_left_knee_rear follow from other" in told_once
    count = {"passive": 8, "kept": 10}
    assert gym.make(URDF, urdf=str(file)).action_space.shape == (count["passive"],)
    for options in ({"control": "position"}, {"efforts": {"front_left_knee_rear": 2.0}}):
        assert told(urdf=str(file), **options) == []
        assert gym.make(URDF, urdf=str(file), **options).action_space.shape == (count["kept"],)


@pytest.mark.parametrize("driven", ["all", "no leader"])
def test_followers_of_mimic_are_passive_in_every_control(tmp_path, driven):
    """One motor for one freedom: the leader's, or without one the first; `efforts` keeps others."""
    effort = {"lead": "" if driven == "no leader" else OPEN}
    joints = [
        joint(name, "continuous", "world", name, HINGE + effort.get(name, OPEN) + follows)
        for name, follows in (
            ("late", '<mimic joint="early" multiplier="-2"/>'),
            ("early", '<mimic joint="lead"/>'),
            ("lead", ""),
            ("free", ""),
        )
    ]
    file = tmp_path / "hand.urdf"
    links = [link("world", ""), *map(link, ("late", "early", "lead", "free"))]
    file.write_text(f'<robot name="hand">{"".join(links + joints)}</robot>')
    motor = "lead" if driven == "all" else "late"
    for options in ({}, {"control": "position"}, {"control": "velocity"}, {"efforts": 2.0}):
        (warned,) = told(urdf=str(file), **options)
        assert "follow from other motors" in warned
        found = gym.make(URDF, urdf=str(file), **options).unwrapped.mechanism.actuator_names
        assert set(found) == {motor, "free"}
    assert told(urdf=str(file), efforts={"early": 1.0, "late": 1.0, "lead": 1.0}) == []


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"control": "force"}, "option control: found 'force', expected one of torque, position"),
        ({"control": "torque", "kp": 1.0}, "option kp: found 1.0, expected None with"),
        ({"control": "velocity", "kp": 1.0}, "option kp: found 1.0, expected None with"),
        ({"control": "position", "kp": {"c": 1.0}}, "option kp: found 'c', expected joints among"),
        ({"control": "position", "kd": -1.0}, "option kd of a: found -1.0, expected a number >= 0"),
        ({"control": "position", "action_scale": 2.0}, "option action_scale: found 2.0"),
        (
            {"control": "torque", "action_scale": 0.5},
            "option action_scale: found 0.5, expected 1 with",
        ),
        ({"efforts": {"c": 1.0}}, "option efforts: found 'c', expected joints among a, b"),
        ({"efforts": 0.0}, "found no actuated joint, expected a joint with an effort"),
        ({"start": {"b": 3.0}}, "option start of b: found 3.0, expected a position within its"),
        ({"start": {"c": 0.0}}, "option start: found 'c', expected names among a, b"),
        ({"ground": 0.5}, "option ground: found 0.5, expected True, False, None or a vigym"),
        ({"friction": -1.0}, "ground friction: found -1.0, expected a number >= 0"),
        ({"ground": False, "friction": 1.0}, "option friction: found 1.0, expected None: no gro"),
        ({"base_position": (0, 0)}, "option base_position: found \\(0, 0\\), expected 3 finite"),
        ({"base_orientation": (0, 0, 0, 0)}, "option base_orientation: found"),
        ({"base": "fixed", "base_position": (0, 0, 1)}, "expected None: the robot is fixed to"),
        ({"self_collision": 1}, "option self_collision: found 1, expected True or False"),
        ({"track": "left"}, "option track: found 'left', expected names of bodies"),
        ({"reward": "nothing"}, "option reward: found 'nothing', expected a callable or"),
        ({"reward": "json:nothing"}, "expected a callable of that name in module 'json'"),
        ({"observe": lambda info: 1.0}, "option observe: found 'a result of shape \\(\\)'"),
        ({"min_upright": None}, "option min_upright: found None, expected a finite number"),
    ],
)
def test_options_that_do_not_fit_are_refused(walker, options, error):
    with pytest.raises(ValueError, match=error):
        gym.make(URDF, **{"urdf": walker, **options})


def test_frames_are_told_among_what_can_be_tracked(arm):
    error = "body: found 'hnad', expected one of upper, finger, hand, world"
    env = gym.make(URDF, urdf=arm, ground=False, track=("hnad",))
    with pytest.raises(ValueError, match=error):
        env.reset()


def test_a_module_that_is_missing_is_told_with_its_option(walker):
    error = "option reward: found 'absent:reward': No module named 'absent'; expected a module"
    with pytest.raises(ImportError, match=error):
        gym.make(URDF, urdf=walker, reward="absent:reward")


def test_joints_of_a_loop_that_start_names_come_first():
    leg = {"urdf": str(assets.path("minitaur_leg")), "ground": False, "reset_noise_scale": 0.0}
    env = gym.make(URDF, **leg, start={"knee_front": 0.2, "hip_rear": -0.1})
    found = positions(env, env.reset()[1])
    assert (found["knee_front"], found["hip_rear"]) == pytest.approx((0.2, -0.1))
    both = {"knee_front": 0.2, "knee_rear": 0.0}  # neither moves when the leg swings
    with pytest.raises(ValueError, match="option start: found 'knee_rear', expected joints that"):
        gym.make(URDF, **leg, start=both, control="position")


def test_motors_of_the_file_drive_its_joints(tmp_path):
    servo = '<motor kp="9" kd="2" effort="30"><model voltage="16" resistance="0.2" torque_constant="0.1" {}/></motor>'
    servo = servo.format('currents="0 9" torques="0 1"')
    text = (
        link("world", "")
        + link("upper")
        + joint("j", "revolute", "world", "upper", HINGE + LIMITS + servo)
    )
    (tmp_path / "servo.urdf").write_text(f'<robot name="servo">{text}</robot>')
    env = gym.make("vigym/Robot-v0", robot=str(tmp_path / "servo.urdf"), reset_noise_scale=0.0)
    assert env.unwrapped.mechanism.motors == vigym.load(tmp_path / "servo.urdf").motors
    env.reset(seed=0)
    for _ in range(200):
        info = env.step(np.ones(1, dtype=np.float32))[-1]
    assert info["joint_positions"] == pytest.approx(1.2, abs=0.1)  # the largest target
    torques = gym.make("vigym/Robot-v0", robot=str(tmp_path / "servo.urdf"), control="torque")
    assert torques.unwrapped.mechanism.motors == {}


def test_a_motor_without_a_limit_drives_its_joint(tmp_path):
    """Beside a joint whose effort its limit has."""
    hinges = [
        joint("a", "continuous", "world", "upper", HINGE + '<limit effort="5"/>'),
        joint("b", "continuous", "upper", "lower", HINGE + '<motor kp="30" kd="1" effort="2"/>'),
    ]
    text = link("world", "") + link("upper") + link("lower") + "".join(hinges)
    (tmp_path / "two.urdf").write_text(f'<robot name="two">{text}</robot>')
    env = gym.make("vigym/Robot-v0", robot=str(tmp_path / "two.urdf"))
    efforts = {name: each.effort for name, each in env.unwrapped.mechanism.joints.items()}
    assert efforts == {"a": 5.0, "b": 2.0}
    assert env.action_space.shape == (2,)

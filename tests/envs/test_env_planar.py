"""`Robot-v0` of robots whose base moves in a plane: they stand, walk and fall as those that float."""

from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

import vigym  # noqa: F401  registers the environments
from scenes import sdf_pieces
from scenes.urdf_text import joint, link

GYMNASIUM = Path(gym.__file__).parent / "envs" / "mujoco" / "assets"
LIMIT = '<limit effort="0" velocity="9"/>'
KNEE = '<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="9" velocity="4"/>'
FOOT = '<collision><origin xyz="0 0 -0.5"/><geometry><sphere radius="0.05"/></geometry></collision>'
INERTIAL = '<inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>'
LEG = (
    link("trunk", INERTIAL)
    + link("leg", INERTIAL + FOOT)
    + joint("knee", "revolute", "trunk", "leg", KNEE)
)
PLANAR = link("world", "") + joint("root", "planar", "world", "trunk", '<axis xyz="0 1 0"/>')
SLIDES = "".join(
    (
        *(link(name, "") for name in ("world", "a", "b")),
        joint("x", "prismatic", "world", "a", '<axis xyz="1 0 0"/>' + LIMIT),
        joint("z", "prismatic", "a", "b", '<axis xyz="0 0 1"/>' + LIMIT),
        joint("pitch", "continuous", "b", "trunk", '<axis xyz="0 1 0"/>'),
    )
)
MASS = "<inertial><mass>1</mass><inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial>"
SDF = "".join(
    (
        *(sdf_pieces.link(name, "<inertial><mass>0</mass></inertial>") for name in "ab"),
        sdf_pieces.link("trunk", MASS),
        sdf_pieces.link(
            "leg",
            MASS
            + '<collision name="foot"><pose>0 0 -0.5 0 0 0</pose>'
            + "<geometry><sphere><radius>0.05</radius></sphere></geometry></collision>",
        ),
        sdf_pieces.joint(
            "x", "prismatic", "world", "a", sdf_pieces.axis("<effort>0</effort>", xyz="1 0 0")
        ),
        sdf_pieces.joint(
            "z", "prismatic", "a", "b", sdf_pieces.axis("<effort>0</effort>", xyz="0 0 1")
        ),
        sdf_pieces.joint("pitch", "revolute", "b", "trunk", sdf_pieces.axis("<effort>0</effort>")),
        sdf_pieces.joint(
            "knee",
            "revolute",
            "trunk",
            "leg",
            sdf_pieces.axis(
                "<lower>-1</lower><upper>1</upper><effort>9</effort><velocity>4</velocity>"
            ),
        ),
    )
)
TEXTS = {
    "planar.urdf": f'<robot name="hopper">{PLANAR}{LEG}</robot>',
    "slides.urdf": f'<robot name="hopper">{SLIDES}{LEG}</robot>',
    "slides.sdf": sdf_pieces.document(SDF),
}
FLOATING = f'<robot name="hopper">{LEG}</robot>'
BALL_AND_ARM = """<mujoco>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body name="arm" pos="0 0 1">
      <joint name="shoulder" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0.5 0 0" size="0.05"/>
    </body>
    <body name="ball" pos="2 0 1">{joints}<geom size="0.1"/></body>
  </worldbody>
  <actuator><motor joint="shoulder" gear="5" ctrlrange="-1 1"/></actuator>
</mujoco>"""
BALLS = {
    "planar": '<joint type="slide" axis="1 0 0"/><joint type="slide"/><joint axis="0 1 0"/>',
    "floating": "<freejoint/>",
}


def make(tmp_path, text, name="robot.urdf", **options):
    (tmp_path / name).write_text(text)
    return gym.make("vigym/Robot-v0", robot=str(tmp_path / name), **options).unwrapped


def lowest(env) -> float:
    return float(env.sim.contacts.gap.min())


@pytest.mark.parametrize("name", TEXTS)
def test_a_base_in_a_plane_is_observed_and_rewarded_as_one_that_floats(tmp_path, name):
    """From the same state, of a motion in the plane, all numbers are those of the floating robot."""
    plane = make(tmp_path, TEXTS[name], name)
    space = make(tmp_path, FLOATING, base="floating")
    assert plane.observation_names == space.observation_names
    plane.reset(seed=3)
    assert lowest(plane) == pytest.approx(0.0, abs=1e-12)
    state = plane.sim.body_states[list(plane.mechanism.bodies).index("trunk")]
    positions = {"trunk:floating": state[:7], "knee": plane.sim.joint_positions[-1]}
    velocities = {"trunk:floating": state[7:], "knee": plane.sim.joint_velocities[-1]}
    space.reset(options={"positions": positions, "velocities": velocities})
    plane.action_space.seed(0)
    for _ in range(5):
        action = plane.action_space.sample()
        one, other = plane.step(action), space.step(action)
        np.testing.assert_allclose(one[0], other[0], atol=1e-8)
        assert one[1:3] == (pytest.approx(other[1], abs=1e-8), other[2])


@pytest.mark.parametrize("model", ["hopper", "half_cheetah", "walker2d_v5"])
def test_planar_robots_of_gymnasium_start_on_the_ground(model):
    pytest.importorskip("mujoco")
    env = gym.make("vigym/Robot-v0", robot=str(GYMNASIUM / f"{model}.xml")).unwrapped
    assert env.observation_names[:2] == ["height", "orientation_w"]
    assert env.mechanism.actuator_names == [
        name for name in env.mechanism.position_names if not name.startswith("root")
    ]
    for seed in range(5):
        info = env.reset(seed=seed)[1]
        assert lowest(env) == pytest.approx(0.0, abs=1e-12)
    given = {"positions": {"rootz": 1.0, "rooty": 0.5}}
    assert env.reset(seed=0, options=given)[1]["upright"] == pytest.approx(np.cos(0.5))
    assert lowest(env) > 0.3
    info = env.step(env.action_space.sample())[-1]
    assert info["reward_forward"] == pytest.approx(info["x_velocity"])
    assert env.step(env.action_space.sample())[2] is False


def test_a_start_may_give_the_height(tmp_path):
    options = {"name": "slides.urdf", "reset_noise_scale": 0.0}
    env = make(tmp_path, TEXTS["slides.urdf"], start={"z": 2.0}, **options)
    env.reset(seed=0)
    assert lowest(env) == pytest.approx(2.0 - 0.55)
    env = make(tmp_path, TEXTS["slides.urdf"], start={"x": 2.0}, **options)
    env.reset(seed=0)
    assert lowest(env) == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(
        ValueError, match="base_position: .* None: `start` sets the joints of its base"
    ):
        make(tmp_path, TEXTS["slides.urdf"], base_position=(0, 0, 1), **options).reset(seed=0)


@pytest.mark.filterwarnings("ignore:.*touch nothing")
def test_a_level_plane_is_a_base_that_cannot_fall(tmp_path):
    text = TEXTS["planar.urdf"].replace(
        'child link="trunk"/><axis xyz="0 1 0"', 'child link="trunk"/><axis xyz="0 0 1"'
    )
    env = make(tmp_path, text)
    info = env.reset(seed=0)[1]
    assert env.mechanism.ground is None
    assert info["upright"] == pytest.approx(1.0)
    info = env.step(env.action_space.sample())[-1]
    assert info["reward_forward"] == pytest.approx(info["x_velocity"]) != 0.0


@pytest.mark.parametrize("joints", BALLS.values(), ids=BALLS)
def test_an_arm_beside_a_ball_stays_an_arm(tmp_path, joints):
    pytest.importorskip("mujoco")
    env = make(tmp_path, BALL_AND_ARM.format(joints=joints), "robot.xml", reset_noise_scale=0.0)
    info = env.reset(seed=0)[1]
    assert "upright" not in info
    assert lowest(env) == pytest.approx(0.9)
    assert not env.step(env.action_space.sample())[2]


def test_a_keyframe_has_the_poses_of_all_that_floats(tmp_path):
    pytest.importorskip("mujoco")
    text = BALL_AND_ARM.format(joints=BALLS["floating"])
    text = text.replace(
        "</mujoco>", '<keyframe><key qpos="0.5 1 2 3 0 1 0 0"/></keyframe></mujoco>'
    )
    env = make(tmp_path, text, "robot.xml", reset_noise_scale=0.0)
    found = env.reset(seed=0)[1]["joint_positions"]
    np.testing.assert_allclose(found, [0.5, 1, 2, 3, 0, 1, 0, 0])


def test_a_robot_without_weight_is_rewarded(tmp_path):
    pytest.importorskip("mujoco")
    text = BALL_AND_ARM.format(joints="").replace(
        "<worldbody>", '<option gravity="0 0 0"/><worldbody>'
    )
    text = text.replace(
        '<joint name="shoulder"', '<freejoint/><geom size="0.1"/><body><joint name="shoulder"'
    )
    env = make(tmp_path, text.replace("</body>", "</body></body>", 1), "robot.xml")
    env.reset(seed=0)
    assert env.step(env.action_space.sample())[-1]["reward_energy"] == 0.0

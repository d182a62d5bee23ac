"""`Robot-v0` of MJCF files: actuators of the file, keyframes as starts, its ground."""

import gymnasium as gym
import numpy as np
import pytest

import vigym
from vigym.envs.robots.actuation import with_actuators

pytest.importorskip("mujoco")

ROBOT = """
<mujoco model="hopper">
  <compiler angle="radian"/>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1" pos="0 0 0.1" friction="0.3"/>
    <body name="trunk" pos="0 0 1">
      <freejoint name="free"/>
      <geom type="box" size="0.2 0.2 0.1"/>
      <site name="imu" pos="0.1 0 0.1"/>
      <body name="leg" pos="0 0 -0.1">
        <joint name="hip" axis="0 1 0" range="-1 1"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.05"/>
        <body name="foot" pos="0 0 -0.3">
          <joint name="ankle" axis="0 1 0" range="-1 1"/>
          <geom type="sphere" size="0.06" pos="0 0 -0.05"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>{actuators}</actuator>
  <keyframe>
    <key name="crouch" qpos="0 0 0.8 1 0 0 0 0.5 -0.4"/>
    <key name="tall" qpos="0 0 1 1 0 0 0 0 0"/>
  </keyframe>
</mujoco>
"""
MOTORS = '<motor joint="hip" gear="20" ctrlrange="-1 1"/><motor joint="ankle" gear="5" ctrlrange="-1 1"/>'
SERVOS = """
<position joint="hip" kp="100" kv="2" ctrlrange="-0.5 0.8" forcerange="-40 40"/>
<position joint="ankle" kp="50" ctrlrange="-0.5 0.5"/>
"""


def make(tmp_path, actuators, **options):
    path = tmp_path / "robot.xml"
    path.write_text(ROBOT.format(actuators=actuators))
    return gym.make("vigym/Robot-v0", robot=str(path), reset_noise_scale=0.0, **options).unwrapped


def test_a_robot_without_motors_is_told_what_could_drive_it(tmp_path):
    (tmp_path / "robot.xml").write_text(ROBOT.format(actuators=""))
    mech = vigym.load(tmp_path / "robot.xml")
    error = (
        r"""with an effort \(URDF, SDF\) or an actuator \(MJCF\), or -o efforts='{"hip": 10}'$"""
    )
    with pytest.raises(ValueError, match=error):
        with_actuators(mech, None, automatic=True)
    assert with_actuators(mech, {"hip": 10.0}, automatic=True).actuator_names == ["hip"]


def test_torques_of_the_file_are_the_actions(tmp_path):
    env = make(tmp_path, MOTORS)
    env.reset(seed=0)
    info = env.step(np.array([1.0, -0.5]))[-1]
    assert env.mechanism.motor_names == []
    np.testing.assert_allclose(info["actuator_torques"], [20.0, -2.5])


def test_servos_of_the_file_are_the_motors(tmp_path):
    env = make(tmp_path, SERVOS)
    hip, ankle = env.mechanism.motors.values()
    assert (hip.kp, hip.kd, hip.effort) == (100.0, 2.0, 40.0)
    assert (ankle.kp, ankle.kd) == (50.0, 0.0)
    start = 0.5  # of the keyframe: the middle of the actions
    np.testing.assert_allclose(env.task.targets(np.array([1.0, 0.0]))[0], 0.8)
    np.testing.assert_allclose(env.task.targets(np.array([0.0, 0.0]))[0], start)
    np.testing.assert_allclose(env.task.targets(np.array([-1.0, 0.0]))[0], -0.5)
    own = make(tmp_path, SERVOS, kp={"hip": 7.0}).mechanism.motors
    assert (own["hip"].kp, own["ankle"].kp) == (7.0, 50.0)


def test_keyframes_are_starts(tmp_path):
    env = make(tmp_path, MOTORS)
    info = env.reset(seed=0)[1]
    named = dict(zip(env.mechanism.position_names, info["joint_positions"], strict=True))
    assert (named["hip"], named["ankle"]) == pytest.approx((0.5, -0.4))
    tall = make(tmp_path, MOTORS, start="tall").reset(seed=0)[1]["joint_positions"]
    np.testing.assert_allclose(tall[-2:], 0.0)
    with pytest.raises(
        ValueError,
        match="option start: found 'low', expected positions by joint, or a state: crouch, tall",
    ):
        make(tmp_path, MOTORS, start="low").reset(seed=0)


def test_the_ground_is_that_of_the_file(tmp_path):
    env = make(tmp_path, MOTORS)
    assert env.mechanism.ground.height == pytest.approx(0.1)
    # MuJoCo takes the larger friction of both, and the geoms have its default
    assert {float(one.friction[0]) for one in env.mechanism.collisions.values()} == {1.0}
    assert make(tmp_path, MOTORS, friction=0.2).mechanism.ground.friction[0] == 0.2
    env.reset(seed=0)
    assert env.sim.contacts.gap.min() == pytest.approx(0.0, abs=1e-6)

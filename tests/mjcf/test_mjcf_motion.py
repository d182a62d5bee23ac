"""MJCF models beside MuJoCo: where nothing touches, motions converge to the same."""

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")

from vigym import Simulator, load_mjcf  # noqa: E402

DOUBLE_PENDULUM = """
<mujoco model="double pendulum">
  <worldbody>
    <body name="upper" pos="0 0 2">
      <joint name="shoulder" axis="0 1 0" damping="0.05" armature="0.01"/>
      <geom type="capsule" fromto="0 0 0 0.3 0 -0.4" size="0.04"/>
      <body name="lower" pos="0.3 0 -0.4" euler="0 0 20">
        <joint name="elbow" axis="1 1 0" stiffness="2" springref="30"/>
        <geom type="box" size="0.05 0.1 0.2" pos="0 0 -0.2"/>
        <body name="tool" pos="0 0.1 -0.4"><geom type="sphere" size="0.05"/></body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor joint="shoulder" gear="2" ctrlrange="-3 3"/>
    <position joint="elbow" kp="8" kv="0.5" ctrlrange="-1 1"/>
  </actuator>
</mujoco>
"""
SLIDES = """
<mujoco model="slides and hinges">
  <worldbody>
    <body name="cart" pos="0.1 0.2 0.3" euler="10 20 30">
      <joint name="x" type="slide" axis="1 0 0" damping="0.1"/>
      <joint name="z" type="slide" axis="0 0 1" stiffness="40" ref="0.2"/>
      <joint name="yaw" axis="0 1 0" pos="0.1 0 0.2"/>
      <geom type="box" size="0.1 0.2 0.3" pos="0.02 0.05 0"/>
      <body pos="0.2 0 0.3">
        <joint name="tilt" axis="1 0 0" pos="0 0 0.05"/>
        <joint name="turn" axis="0 1 0" armature="0.02"/>
        <geom type="cylinder" size="0.05 0.2" pos="0 0 -0.2"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
BALL = """
<mujoco model="ball">
  <worldbody>
    <body name="base" pos="0 0 1" quat="0.9 0.1 0.3 -0.2">
      <freejoint name="free"/>
      <geom type="box" size="0.1 0.2 0.15" pos="0.03 0 0.02"/>
      <body name="arm" pos="0.2 0 0.1" euler="0 40 0">
        <joint name="ball" type="ball" damping="0.02"/>
        <geom type="capsule" fromto="0 0 0 0.4 0.1 0" size="0.05"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
LOOP = """
<mujoco model="four-bar">
  <option><flag contact="disable"/></option>
  <worldbody>
    <body name="crank">
      <joint name="crank" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 0.3" size="0.03"/>
      <body name="coupler" pos="0 0 0.3">
        <joint name="coupler" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0.6 0 0.2" size="0.03"/>
        <body name="rocker" pos="0.6 0 0.2">
          <joint name="rocker" axis="0 1 0" damping="0.02"/>
          <geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.03"/>
        </body>
      </body>
    </body>
  </worldbody>
  <equality>
    <connect body1="rocker" body2="world" anchor="0 0 -0.5" solref="0.0002 1"
             solimp="0.9999 0.99999 0.0001"/>
  </equality>
</mujoco>
"""
TIME = 0.3  # [s]
# the motor's torque is the control times the gear; the servo has no torque of its own
CASES = {
    "double pendulum": (DOUBLE_PENDULUM, (1.0, -2.0), (1.5, 0.5), ([3.0, 0.0], [0.5])),
    "slides and hinges": (SLIDES, (0.5, -0.3, 2.0, 1.0, -1.5), (), (None, None)),
    "ball": (BALL, (0.3, -0.2, 1.0, 1.0, 2.0, -1.0, 2.0, -1.0, 0.5), (), (None, None)),
    "loop": (LOOP, (2.0, -2.0, 1.2), (), (None, None)),
}
BODIES = {"upper", "cart", "base", "arm", "crank", "coupler", "rocker"}


def reference(model, velocities, controls):
    """Return places (n, 3) of the bodies at the end, by small steps of MuJoCo."""
    model.opt.timestep = 5e-5 if model.neq else 2e-4
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    data = mujoco.MjData(model)
    data.qvel[:], data.ctrl[:] = velocities, controls
    mujoco.mj_step(model, data, round(TIME / model.opt.timestep))
    mujoco.mj_kinematics(model, data)
    names = [model.body(number).name for number in range(model.nbody)]
    return np.array([data.body(name).xipos for name in names if name in BODIES])


def rates(mech, model, velocities):
    """Return the velocities by name: that of a floating body is its centre's."""
    given = dict(zip(mech.velocity_names, velocities, strict=False))
    if "free.vx" in given:
        data, velocity = mujoco.MjData(model), np.zeros(6)
        data.qvel[:] = velocities
        mujoco.mj_forward(model, data)
        kind = mujoco.mjtObj.mjOBJ_BODY
        mujoco.mj_objectVelocity(model, data, kind, model.body("base").id, velocity, 0)
        given |= dict(zip(("free.vx", "free.vy", "free.vz"), velocity[3:], strict=True))
    return given


@pytest.mark.parametrize("case", CASES)
def test_motion_converges_to_that_of_mujoco(case, tmp_path):
    xml, velocities, controls, inputs = CASES[case]
    path = tmp_path / "robot.xml"
    path.write_text(xml)
    mech, model = load_mjcf(path), mujoco.MjModel.from_xml_string(xml)
    right, errors = reference(model, velocities, controls), []
    for h in (0.01, 0.005):
        sim = Simulator(mech, timestep=h)
        sim.reset(velocities=rates(mech, model, velocities))
        for _ in range(round(TIME / h)):
            assert sim.step(*inputs).converged
        places = [sim.body_position(name) for name in mech.bodies if name in BODIES]
        errors.append(np.abs(np.array(places) - right).max())
    assert errors[0] < 0.005
    # to first order at least; MuJoCo's loop is soft, by 1e-5 m
    assert errors[1] < max(0.6 * errors[0], 2e-5 if model.neq else 0.0)

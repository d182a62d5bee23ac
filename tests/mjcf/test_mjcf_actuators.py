"""Actuators, keyframes and welds: what they mean, and notes on what is not as in the file."""

import gymnasium as gym
import numpy as np
import pytest

pytest.importorskip("mujoco")

import vigym  # noqa: E402, F401  registers the environments
from vigym import MechanismError, load_mjcf  # noqa: E402

BODY = """<body name="b" pos="0 0 1"><joint name="j" axis="0 1 0" {more}/>
<geom type="capsule" size=".05" fromto="0 0 0 .3 0 0"/></body>"""


def write(tmp_path, content, more=""):
    path = tmp_path / "robot.xml"
    body = BODY.format(more=more)
    path.write_text(f"<mujoco><worldbody>{body}</worldbody>{content}</mujoco>")
    return path


def notes(mech):
    return {note.element: note.message for note in mech.notes}


@pytest.mark.parametrize(
    ("actuator", "more", "effort", "lopsided"),
    [
        ('motor ctrlrange="0 2"', "", 2, True),
        ('motor ctrlrange="-2 2" forcerange="-1 5"', "", 2, True),
        ('motor ctrlrange="-1 1" forcerange="-1 5"', "", 1, False),
        ('motor ctrlrange="-3 3"', 'actuatorfrcrange="-1 2"', 2, True),
        ('motor ctrlrange="-3 3" gear="-2" forcerange="-1 1"', "", 2, False),
        ('position kp="9" forcerange="-1 4" ctrlrange="-1 1"', "", 4, True),
        ('position kp="9" forcerange="-4 4" ctrlrange="0 1"', "", 4, False),
        ('velocity kv="9" forcerange="-4 4" ctrlrange="0 1"', "", 4, True),
    ],
)
def test_ranges_that_are_made_symmetric_have_a_note(tmp_path, actuator, more, effort, lopsided):
    content = f'<actuator><{actuator} name="a" joint="j"/></actuator>'
    mech = load_mjcf(write(tmp_path, content, more))
    assert mech.joints["j"].effort == effort
    assert ("not symmetric" in notes(mech).get("actuators: a", "")) == lopsided


@pytest.mark.parametrize(
    "option", ['actuatorgroupdisable="1"/>', '><flag actuation="disable"/></option>']
)
def test_disabled_actuators_drive_nothing(tmp_path, option):
    motor = '<motor name="a" joint="j" group="1" ctrlrange="-1 1"/>'
    mech = load_mjcf(write(tmp_path, f"<option {option}<actuator>{motor}</actuator>"))
    assert mech.actuator_names == []
    assert "disabled" in notes(mech)["actuators: a"]


@pytest.mark.parametrize(("scale", "kind"), [("0", "spherical"), ("0.5", "fixed")])
def test_a_weld_without_torques_is_a_ball(tmp_path, scale, kind):
    weld = f'<weld name="w" body1="b" anchor="0.3 0 1" torquescale="{scale}"/>'
    mech = load_mjcf(write(tmp_path, f"<equality>{weld}</equality>"))
    assert mech.joints["w"].type == kind
    np.testing.assert_allclose(mech.joints["w"].position, (0.3, 0.0, 1.0))


def test_keyframes_are_finite_and_within_limits_or_noted(tmp_path):
    key = '<keyframe><key name="k" qpos="{}"/></keyframe>'
    for value in ("nan", "inf"):
        with pytest.raises(MechanismError, match=rf"robot.xml: key 'k', joint 'j': found {value}"):
            load_mjcf(write(tmp_path, key.format(value)))
    limits = 'range="-60 60"'
    assert "joints of key 'k': j" in notes(load_mjcf(write(tmp_path, key.format(2), limits)))
    assert "joints of key 'k': j" not in notes(load_mjcf(write(tmp_path, key.format(1), limits)))


def test_the_note_on_limits_without_zero_says_where_starts_are(tmp_path):
    mech = load_mjcf(write(tmp_path, "", 'range="30 90"'))
    sim = vigym.Simulator(mech)
    np.testing.assert_allclose(sim.joint_positions, np.pi / 3.0)
    assert "in the middle" in notes(mech)["joints: j"]


def test_targets_need_no_largest_force_and_torques_say_how_to_give_one(tmp_path):
    position = '<actuator><position joint="j" kp="10"/></actuator>'
    path = str(write(tmp_path, position))
    for options in ({}, {"control": "position"}, {"control": "position", "kp": 3.0}):
        env = gym.make("vigym/Robot-v0", robot=path, **options).unwrapped
        env.reset(seed=0)
        env.step(np.array([1.0]))
        motor = env.mechanism.motors["j"]
        assert (motor.kp, motor.effort) == (options.get("kp", 10.0), np.inf)
    match = r"-o efforts='\{\"j\": 5\}'"
    with pytest.raises(MechanismError, match=match):
        gym.make("vigym/Robot-v0", robot=path, control="torque")
    path = str(write(tmp_path, '<actuator><motor joint="j"/></actuator>'))
    with pytest.raises(MechanismError, match=match):
        gym.make("vigym/Robot-v0", robot=path)

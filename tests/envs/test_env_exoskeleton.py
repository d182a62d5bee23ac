"""Exoskeleton: its loops and figures, references, rewards, comfort of both arms with two gains."""

import gymnasium as gym
import numpy as np
import pytest

import vigym
from vigym.envs.tasks.exoskeleton import MOTORS, Exoskeleton

ADAPTED = "tracking,elbow_kp=12,elbow_kd=0.5"


def play(controller, patient):
    names = ("elbow_torque", "elbow_error", "constraint_residual_max")
    scores = vigym.evaluate(
        "vigym/Exoskeleton-v0", controller, episodes=1, options={"patient": patient}, traces=names
    )
    (row,) = scores.rows
    assert row.unconverged_steps == 0
    assert not row.failed
    return {name: np.abs(row.traces[name]).max() for name in names}


def test_two_loops_leave_the_arm_and_its_cuffs_free():
    """Eight freedoms of arm and motors, six less by the cuffs, of whose rows four follow from others."""
    mech = Exoskeleton().mechanism()
    assert [joint.name for joint in mech.closing_joints] == ["upper_cuff", "lower_cuff"]
    assert {joint.type for joint in mech.closing_joints} == {"planar"}
    assert mech.degrees_of_freedom == 6
    assert mech.redundant_constraints == 4
    assert mech.actuator_names == [*MOTORS]


def test_a_spastic_elbow_is_stiffer_and_damped():
    healthy, spastic = (Exoskeleton(patient=name).mechanism() for name in ("healthy", "spastic"))
    assert (healthy.joints["elbow"].stiffness, healthy.joints["elbow"].damping) == (0.0, 0.1)
    assert (spastic.joints["elbow"].stiffness, spastic.joints["elbow"].damping) == (2.0, 1.0)


def test_the_arm_moves_with_the_exoskeleton():
    """Elbows that fit badly and springs of cuffs: angles differ by a little, loops do not open."""
    env = gym.make("vigym/Exoskeleton-v0")
    observation, info = env.reset(seed=0)
    tracking = vigym.control.tracking.Tracking()
    for _ in range(400):
        observation, *_, info = env.step(tracking(observation, info))
        assert info["constraint_residual_max"] < 1e-10
    arm, motor = info["joint_positions"][4], info["joint_positions"][8]
    assert motor > 1.1
    assert arm == pytest.approx(motor, abs=0.05)
    assert abs(arm - motor) > 0.0


def test_references_are_sines_with_their_rates():
    env = gym.make("vigym/Exoskeleton-v0", period=2.0)
    _, info = env.reset(seed=0)
    for _ in range(100):
        before = info
        _, _, _, _, info = env.step(np.zeros(4, dtype=np.float32))
        for name in ("shoulder_reference", "elbow_reference"):
            change = (info[name] - before[name]) / 0.005
            middle = 0.5 * (info[f"{name}_rate"] + before[f"{name}_rate"])
            # the trapezoidal rule: its error is dt^2 / 12 times the third derivative, 0.6 pi^3
            assert change == pytest.approx(middle, abs=0.6 * np.pi**3 * 0.005**2 / 6.0)
        time = info["time"]
        assert info["shoulder_reference"] == pytest.approx(0.3 * (1.0 - np.cos(np.pi * time)))
        assert info["elbow_reference"] == pytest.approx(0.6 * (1.0 - np.cos(np.pi * time)))
        assert info["elbow_error"] == info["joint_positions"][8] - info["elbow_reference"]


def test_terms_of_the_reward():
    env = gym.make("vigym/Exoskeleton-v0", torque_limit=2.0)
    env.reset(seed=0)
    for torque in (0.05, 0.2, -0.3):
        _, reward, _, _, info = env.step(np.array([0.0, 0.0, 0.0, torque], dtype=np.float32))
        assert info["elbow_torque"] == pytest.approx(20.0 * torque, rel=1e-6)
        assert info["excess_torque"] == pytest.approx(max(abs(20.0 * torque) - 2.0, 0.0), rel=1e-6)
        own = info["shoulder_error"], info["elbow_error"]
        errors = np.array([*own, *info["joint_positions"][6:8]])
        tracking = 1.0 - np.mean(np.abs(errors)) / 0.5
        assert reward == pytest.approx(tracking - 5.0 * info["excess_torque"])


def test_an_arm_that_is_turned_aside_ends_the_episode():
    env = gym.make("vigym/Exoskeleton-v0")
    env.reset(seed=0)
    for _ in range(400):
        _, _, terminated, _, info = env.step(np.array([0.0, 0.0, 0.2, 0.0], dtype=np.float32))
        aside = np.abs(info["joint_positions"][6:8]).max()
        assert terminated == (aside > 1.0)
        if terminated:
            break
    assert terminated


def test_original_gains_are_comfortable_for_the_healthy_arm_alone():
    assert play("tracking", "healthy")["elbow_torque"] < 5.0
    assert play("tracking", "spastic")["elbow_torque"] > 5.3


def test_adapted_gains_are_comfortable_for_both():
    for patient in ("healthy", "spastic"):
        felt = play(ADAPTED, patient)
        assert felt["elbow_torque"] < 4.95
        assert felt["elbow_error"] < 0.5
        assert felt["constraint_residual_max"] < 1e-10


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"patient": "tired"}, "option patient: found 'tired', expected one of"),
        ({"period": 0.0}, "option period: found 0"),
        ({"torque_limit": -1.0}, "option torque_limit: found -1"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Exoskeleton(**options)

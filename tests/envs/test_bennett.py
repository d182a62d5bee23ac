"""Quadruped on Bennett linkages: the law of the linkage, its closed forms, and its trot."""

import gymnasium as gym
import numpy as np
import pytest

from vigym import Simulator, assets, load_urdf
from vigym.control.kinematics.bennett import LENGTH, STAND_BEND, TWIST, half_angle, leg_angles
from vigym.control.quadruped_gaits import ALONG, OFFSET, SIDE

LEGS = ("front_left", "back_left", "front_right", "back_right")
SAMPLES = 10
SMALL = 1e-9  # loops are closed to 1e-10 m


@pytest.fixture(scope="module")
def robot():
    return load_urdf(assets.path("bennett"))


@pytest.fixture(scope="module")
def poses(robot):
    """Angles of the motors (12,), and corners of the legs (4, 4, 3) from their abductions [m].

    Corners are hip, front knee, foot, rear knee. Centres of mass are in the middle of links.
    """
    sim, draw = Simulator(robot, timestep=0.002), np.random.default_rng(0)
    found = []
    for _ in range(SAMPLES):
        opening = half_angle(draw.uniform(0.3, 1.2, 4)) - half_angle(np.array(STAND_BEND))
        swing = draw.uniform(-0.4, 0.4, 4)
        abduction = draw.uniform(-0.5, 0.5, 4)
        motors = np.stack((abduction, swing - opening, swing + opening), axis=-1).ravel()
        sim.reset(dict(zip(robot.actuator_names, motors, strict=True)))
        corners = []
        for k, leg in enumerate(LEGS):
            place = np.array((ALONG[k], SIDE[k] * 0.047, 0.0))
            out = SIDE[k] * OFFSET
            hip = np.array((0.0, out * np.cos(abduction[k]), out * np.sin(abduction[k])))
            parts = ("front_upper", "rear_upper", "rear_lower")
            front, rear, lower = (sim.body_position(f"{leg}_{part}") - place for part in parts)
            knee = 2.0 * rear - hip
            corners.append((hip, 2.0 * front - hip, 2.0 * lower - knee, knee))
        found.append((motors, np.array(corners)))
    return found


def test_a_robot_that_counting_makes_rigid_has_its_twelve_motions(robot):
    hinges = len(robot.joints)
    assert 6 * len(robot.bodies) - 5 * hinges == 6  # that of a rigid body
    assert robot.degrees_of_freedom == 6 + len(robot.actuator_names) == 18
    assert robot.redundant_constraints == 18 - 6


def test_angles_of_the_links_obey_the_law_of_bennett(poses):
    """tan(t1/2) tan(t2/2) = sin((b + a)/2) / sin((b - a)/2), opposite angles equal; b = pi - a."""
    twists = np.array((TWIST, np.pi - TWIST))
    expected = np.sin(0.5 * twists.sum()) / np.sin(0.5 * np.diff(twists)[0])
    for _, corners in poses:
        after, before = (np.roll(corners, -shift, axis=1) - corners for shift in (1, -1))
        lengths = np.linalg.norm(after, axis=-1)
        assert lengths == pytest.approx(np.full((4, 4), LENGTH), abs=SMALL)
        inner = np.arccos((after * before).sum(axis=-1) / LENGTH**2)
        assert inner[:, :2] == pytest.approx(inner[:, 2:], abs=100.0 * SMALL)
        outer = np.tan(0.5 * (np.pi - inner))
        assert outer[:, 0] * outer[:, 1] == pytest.approx(np.full(4, expected), rel=1e-6)


def test_the_closed_form_leads_from_the_feet_to_the_motors(poses):
    for motors, corners in poses:
        feet = corners[:, 2]
        assert leg_angles(*feet.T) == pytest.approx(motors, abs=1e-7)


@pytest.mark.parametrize(
    ("command", "name"),
    [((0.5, 0.0, 0.0), "forward_velocity"), ((0.0, 0.3, 0.0), "left_velocity")],
)
def test_the_trot_walks_forwards_and_sideways(command, name):
    """The motors give way, so that steps are shorter than they are meant."""
    env = gym.make("vigym/BennettQuadruped-v0", command=command)
    env.reset(seed=0)
    found = []
    for _ in range(100):
        *_, terminated, _, info = env.step(np.zeros(12, dtype=np.float32))
        assert not terminated
        found.append(info[name])
    assert 0.6 * max(command) < np.mean(found[50:]) <= max(command)

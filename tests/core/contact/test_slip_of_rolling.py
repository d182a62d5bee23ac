"""Slip of contacts: none of what rolls or moves as one, odd in time, and slopes that are its derivatives."""

import numpy as np
import pytest

from scenes.pair_scenes import meeting, started
from scenes.plain_python import Fields, data_of, derivative, random_vector, turn
from scenes.touching_scenes import ball
from vigym.core.body.pose import set_pose, step_pose
from vigym.core.contact import rolling
from vigym.core.contact.kinematics import place_contact
from vigym.core.contact.segment_box import segment_parameter
from vigym.core.math.quaternions import quaternion_product, rotation_matrix
from vigym.core.math.vectors import dot
from vigym.core.model.context import knot_buffer
from vigym.core.tables.plan import BALL_CONTACT

H = np.float64(0.02)
RNG = np.random.default_rng(0)


def moved(velocity, spin):
    """A ball of 0.1 m on the ground after a step with these velocities; its contact, and knots."""
    d = data_of(started(ball(0.1)))
    knot2, knot3 = knot_buffer(d, 0), knot_buffer(d, -1)
    contact = d.contact(0)
    place_contact(d, contact, knot2, H, 0.0)
    half = 0.5 * H * np.array(spin)
    cosine = np.sqrt(1.0 - half @ half)
    step_pose(
        d.body(1), d.pose(knot2, 1), d.pose(knot3, 1), tuple(velocity), tuple(spin), cosine, H
    )
    contact.arm_lowest = (0.0, 0.0, -0.1)
    return d, contact, knot2, knot3


@pytest.mark.parametrize("spin", [(0.0, 5.0, 0.0), (3.0, -4.0, 20.0)])
def test_a_ball_that_rolls_does_not_slip(spin):
    """It rolls by its turn, to 3e-6 of it at 0.2 rad; whatever it slides besides is its slip."""
    rolls = np.cross(spin, (0.0, 0.0, 0.1)) * (np.linalg.norm(spin) < 10.0)
    d, contact, knot2, knot3 = moved(rolls + (0.0, 0.3, 0.0), spin)
    slip = rolling.evaluate_slip(d, contact, knot2, knot3, 1.0 / H)
    expected = rolls + (0.0, 0.3, 0.0) + np.cross(spin, (0.0, 0.0, -0.1))
    assert slip == pytest.approx(
        expected, abs=0.02 * np.linalg.norm(expected - (0.0, 0.3, 0.0)) + 2e-3
    )


def test_slip_is_odd_in_time():
    """Also where the ground tilts from one knot to the other: the mean of both spokes counts."""
    velocity = (1.0, 0.5, 0.2)
    spin, last = (3.0, -4.0, 2.0), (0.1 * np.sin(0.5), 0.0, -0.1 * np.cos(0.5))
    d, contact, knot2, knot3 = moved(velocity, spin)
    contact.arm_lowest = last
    ahead = rolling.evaluate_slip(d, contact, knot2, knot3, 1.0 / H)
    contact.touching_point = tuple(np.reshape(d.pose(knot3, 1).rotation, (3, 3)).T @ last)
    contact.arm_lowest = (0.0, 0.0, -0.1)
    pose = d.pose(knot2, 1)
    pose.velocity, pose.angular_velocity = (tuple(-np.array(v)) for v in (velocity, spin))
    pose.cosine = d.pose(knot3, 1).cosine
    back = rolling.evaluate_slip(d, contact, knot3, knot2, 1.0 / H)
    assert back == pytest.approx(-np.array(ahead))


def test_slopes_are_derivatives_by_a_rotation():
    d, contact, knot2, knot3 = moved((1.0, 0.5, 0.2), (3.0, -4.0, 2.0))
    q = d.pose(knot3, 1).orientation
    rolling.evaluate_slip(d, contact, knot2, knot3, 1.0 / H)
    slopes = rolling.slip_slopes(contact)
    before = d.pose(knot2, 1).orientation
    frame = contact.tangent_1, contact.tangent_2
    for axis in np.eye(3):
        found = derivative(
            lambda r: slip_over_step(d, contact, knot2, knot3, frame, r, q, before), axis
        )
        assert found == pytest.approx([np.dot(s, axis) for s in slopes], abs=1e-7)


def slip_over_step(d, contact, knot2, knot3, frame, rotation, q, before):
    """Slip [m] along the tangents, the body turned by a small rotation at knot 3."""
    pose, after = d.pose(knot3, 1), np.array(turn(q, rotation))
    after = tuple(after / np.linalg.norm(after))
    step = quaternion_product((before[0], *(-np.array(before[1:]))), after)
    set_pose(d.body(1), pose, pose.position, after)
    pose.velocity = tuple(np.subtract(pose.position, d.pose(knot2, 1).position) / H)
    pose.cosine, pose.angular_velocity = step[0], tuple(2.0 / H * np.array(step[1:]))
    slip = rolling.evaluate_slip(d, contact, knot2, knot3, 1.0 / H)
    return [H * dot(slip, t) for t in frame]


def test_bodies_that_move_as_one_do_not_slip():
    d = data_of(started(meeting("ball-ball", apart=0.2)[0]))
    contact = d.contact(0)
    knot2, knot3 = knot_buffer(d, 0), knot_buffer(d, -1)
    place_contact(d, contact, knot2, H, segment_parameter(d, contact, knot2))
    q, shift = turn((1.0, 0.0, 0.0, 0.0), (0.1, -0.05, 0.2)), np.array(random_vector(RNG))
    q = tuple(np.array(q) / np.linalg.norm(q))
    R = np.reshape(rotation_matrix(q), (3, 3))
    for i in (1, 2):
        pose2, pose3 = d.pose(knot2, i), d.pose(knot3, i)
        set_pose(
            d.body(i),
            pose3,
            tuple(shift + R @ pose2.position),
            quaternion_product(q, pose2.orientation),
        )
        back = (pose2.orientation[0], *(-np.array(pose2.orientation[1:])))
        step = np.array(quaternion_product(back, pose3.orientation))
        pose3.cosine, pose3.angular_velocity = step[0], tuple(2.0 / H * step[1:])
        pose3.velocity = tuple(np.subtract(pose3.position, pose2.position) / H)
    contact.normal3 = tuple(R @ contact.normal2)
    touching = np.add(d.pose(knot2, contact.body).anchor, contact.arm2)
    gap = contact.gap2
    for name, i, sign in (
        ("arm_lowest", contact.body, 1.0),
        ("partner_arm_lowest", contact.partner, -1.0),
    ):
        at = shift + R @ (touching + 0.5 * sign * gap * np.array(contact.normal2))
        setattr(contact, name, tuple(at - np.array(d.pose(knot3, i).anchor)))
    slip = np.array(rolling.evaluate_pair_slip(d, contact, knot2, knot3, 1.0 / H, np.float64(0.0)))
    mean = np.add(contact.normal2, contact.normal3)
    mean = mean / np.linalg.norm(mean)
    assert np.linalg.norm(slip - mean * (mean @ slip)) == pytest.approx(0.0, abs=1e-9)


def test_a_direction_in_the_plane_has_the_slope_of_its_parts():
    contact = Fields(kind=BALL_CONTACT, tangent_1=(1.0, 0.0, 0.0), tangent_2=(0.0, 1.0, 0.0))
    slopes = (1.0, 2.0, 3.0), (-1.0, 0.5, 2.0)
    expected = np.array((0.6, 0.8)) @ slopes
    assert rolling.slope_along(contact, slopes, (0.6, 0.8, 0.0)) == pytest.approx(expected)
    contact.slip_slope_1, contact.slip_slope_2 = slopes
    assert rolling.slip_change(contact, (1.0, 2.0, 9.0), (1.0, 0.0, 0.0)) == pytest.approx(
        (2.0, 1.0, 0.0)
    )

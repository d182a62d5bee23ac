"""Poses over a step, and what follows from them."""

import numpy as np
import pytest

from scenes.plain_python import Fields, random_quaternion, random_vector
from vigym.core.body import pose
from vigym.core.math.quaternions import conjugate, quaternion_product, rotation_matrix

RNG = np.random.default_rng(0)
H = 0.1
BODY = Fields(
    child_anchor=random_vector(RNG),
    child_axis=(0.0, 0.6, 0.8),
    inertia=(1.0, 2.0, 3.0, 0.1, 0.2, 0.3),
)


def placed():
    found = Fields()
    pose.set_pose(BODY, found, random_vector(RNG), random_quaternion(RNG))
    return found


def test_what_follows_from_a_pose():
    found = placed()
    R = np.reshape(found.rotation, (3, 3))
    assert found.rotation == rotation_matrix(found.orientation)
    assert found.anchor == pytest.approx(found.position + R @ BODY.child_anchor)
    assert found.axis == pytest.approx(R @ BODY.child_axis)
    assert np.reshape(pose.inertia_matrix(BODY), (3, 3))[1] == pytest.approx((0.1, 2.0, 0.3))


def test_a_step_and_back():
    """Velocities turned round lead back: q3 (c, -e) = q2."""
    first = placed()
    second, third = Fields(), Fields()
    v, w = np.array(random_vector(RNG)), np.array(random_vector(RNG))
    e = 0.5 * H * w
    c = np.sqrt(1.0 - e @ e)
    pose.step_pose(BODY, first, second, tuple(v), tuple(w), c, H)
    turn = quaternion_product(conjugate(first.orientation), second.orientation)
    assert turn == pytest.approx((c, *e), abs=1e-15)
    pose.step_pose(BODY, second, third, tuple(-v), tuple(-w), c, H)
    assert third.position == pytest.approx(first.position, abs=1e-15)
    assert third.orientation == pytest.approx(first.orientation, abs=1e-15)
    angle = 2.0 * np.arctan2(np.linalg.norm(e), c)
    rate = np.linalg.norm(pose.mean_rotation_rate(second))
    assert rate * H == pytest.approx(angle, rel=angle**4 / 1000.0)


def test_second_differences():
    assert pose.second_difference((9.0, 1.0, 0.0), (4.0, 1.0, 1.0), (1.0, 1.0, 2.0)) == (
        2.0,
        0.0,
        0.0,
    )

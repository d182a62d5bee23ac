"""Contacts with the ground: lowest points, tangents, and rims that do not roll."""

import numpy as np
import pytest

from scenes.plain_python import Fields, random_rotation
from vigym.core.contact import plane
from vigym.core.math.vectors import cross, dot
from vigym.core.tables.plan import (
    BALL_CONTACT,
    RIM_CONTACT,
    RIM_HALF_CONTACT,
    RIM_QUARTER_CONTACT,
    RIM_THREE_QUARTER_CONTACT,
    SKATE,
    WHEEL,
)

RNG = np.random.default_rng(0)
RADIUS, CENTRE = 0.3, (0.1, -0.2, 0.05)
AXIS, SIDE = (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)
NORMAL = (0.0, 0.6, 0.8)
RIMS = (RIM_CONTACT, RIM_QUARTER_CONTACT, RIM_HALF_CONTACT, RIM_THREE_QUARTER_CONTACT)


def shape(kind):
    return Fields(kind=kind, point=CENTRE, rim_axis=AXIS, rim_side=SIDE, radius=RADIUS)


def points_of_rim(R):
    angle = np.linspace(0.0, 2.0 * np.pi, 2001)
    ring = np.column_stack([np.cos(angle), np.sin(angle), 0.0 * angle])
    return (CENTRE + RADIUS * ring) @ np.reshape(R, (3, 3)).T


@pytest.mark.parametrize("kind", [RIM_CONTACT, WHEEL])
def test_no_point_of_a_rim_is_lower(kind):
    for _ in range(20):
        R = random_rotation(RNG)
        point = plane.lowest_point(shape(kind), R, NORMAL)
        others = points_of_rim(R)
        assert np.linalg.norm(others - point, axis=1).min() < 1e-3  # it is on the rim
        assert dot(NORMAL, point) <= (others @ NORMAL).min() + 1e-12


def test_points_of_a_rim_are_a_quarter_turn_apart():
    R = random_rotation(RNG)
    points = np.array([plane.lowest_point(shape(kind), R, NORMAL) for kind in RIMS])
    centre = np.reshape(R, (3, 3)) @ CENTRE
    assert points.mean(axis=0) == pytest.approx(centre)
    assert np.linalg.norm(points - centre, axis=1) == pytest.approx([RADIUS] * 4)
    assert (points[0] - centre) @ (points[1] - centre) == pytest.approx(0.0, abs=1e-15)


def test_a_flat_rim_has_a_lowest_point_too():
    R = tuple(np.eye(3).ravel())
    assert plane.lowest_point(shape(RIM_CONTACT), R, AXIS) == pytest.approx(
        (CENTRE[0] - RADIUS, *CENTRE[1:])
    )


def test_the_lowest_point_of_balls_and_skates():
    R = random_rotation(RNG)
    centre = np.reshape(R, (3, 3)) @ CENTRE
    assert plane.lowest_point(shape(BALL_CONTACT), R, NORMAL) == pytest.approx(
        centre - RADIUS * np.array(NORMAL)
    )
    assert plane.lowest_point(shape(SKATE), R, NORMAL) == pytest.approx(centre)


def test_a_rolled_rim_has_the_point_of_one_that_did_not_roll():
    R2 = random_rotation(RNG)
    turn = np.reshape(R2, (3, 3)) @ [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    point = (CENTRE[0] + RADIUS, *CENTRE[1:])
    found = plane.rim_point_without_roll(shape(RIM_CONTACT), R2, tuple(turn.ravel()), point)
    spoke = np.reshape(R2, (3, 3)) @ np.subtract(point, CENTRE)
    assert found == pytest.approx(turn @ CENTRE + spoke)


def test_tangents_lie_in_the_plane():
    d = Fields(terrain_columns=0, environment=Fields(ground_tangent=(1.0, 0.0, 0.0)))
    R = random_rotation(RNG)
    for follows in (0, 1):
        contact = Fields(kind=BALL_CONTACT, direction=SIDE, tangents_follow_body=follows)
        t1, t2 = plane.plane_tangents(d, contact, R, NORMAL)
        assert (dot(t1, NORMAL), dot(t1, t1)) == pytest.approx((0.0, 1.0), abs=1e-15)
        assert t2 == pytest.approx(cross(NORMAL, t1))
    along = np.reshape(R, (3, 3)) @ SIDE
    assert np.array(along) - dot(along, NORMAL) * np.array(NORMAL) == pytest.approx(
        np.array(t1) * dot(along, t1)
    )


def test_a_direction_along_the_normal_has_no_projection():
    other = (1.0, 0.0, 0.0)
    assert plane.project_on_plane(NORMAL, NORMAL, other) == other

"""Bodies that overlap: points that are held apart move with both bodies, and where which kind of overlap begins."""

import numpy as np
import pytest

from scenes.pair_scenes import MEETS, meeting, started
from scenes.plain_python import Fields, data_of, random_quaternion, random_vector
from vigym.core.body.pose import set_pose
from vigym.core.contact import overlaps
from vigym.core.contact.kinematics import place_contact
from vigym.core.contact.segment_box import segment_parameter
from vigym.core.math.quaternions import quaternion_product, rotation_matrix
from vigym.core.model.context import knot_buffer
from vigym.core.tables.plan import (
    PAIR_BALL_CONTACT,
    PAIR_HEAD_CONTACT,
    PAIR_NEAREST_CONTACT,
    PAIR_TAIL_CONTACT,
)

H = np.float64(0.01)
RNG = np.random.default_rng(0)


@pytest.mark.parametrize("kinds", [MEETS[0], MEETS[1], MEETS[4]])
def test_held_points_move_with_both_bodies(kinds):
    """Here both move as one: gap and points stay; a shift along the normal opens the gap by as much."""
    d = data_of(started(meeting(kinds, apart=0.15)[0]))
    contact = d.contact(0)
    knot2, knot3 = knot_buffer(d, 0), knot_buffer(d, -1)
    place_contact(d, contact, knot2, H, segment_parameter(d, contact, knot2))
    assert contact.gap2 < -0.001
    q, shift = random_quaternion(RNG), np.array(random_vector(RNG))
    R = np.reshape(rotation_matrix(q), (3, 3))
    for i in (1, 2):
        pose = d.pose(knot2, i)
        set_pose(
            d.body(i),
            d.pose(knot3, i),
            tuple(shift + R @ pose.position),
            quaternion_product(q, pose.orientation),
        )
    gap, normal, arm, partner_arm = overlaps.held_touching_points(d, contact, knot2, knot3)
    assert gap == pytest.approx(contact.gap2)
    assert normal == pytest.approx(R @ contact.normal2)
    own, partner = (np.array(d.pose(knot3, i).position) for i in (contact.body, contact.partner))
    assert own + arm == pytest.approx(partner + partner_arm)
    pose = d.pose(knot3, contact.body)
    set_pose(d.body(contact.body), pose, tuple(own + 0.1 * np.array(normal)), pose.orientation)
    assert overlaps.held_touching_points(d, contact, knot2, knot3)[0] == pytest.approx(gap + 0.1)


@pytest.mark.parametrize(
    ("kind", "share"), [(PAIR_BALL_CONTACT, 0.5), (PAIR_NEAREST_CONTACT, 0.02)]
)
def test_how_deep_is_deep(kind, share):
    row = Fields(kind=kind, index=0, radius=0.1, box_radius=0.3, active=np.True_)
    d = Fields(contact=lambda c: row, environment=Fields(releases=np.True_))
    for gap, deep in (
        (-0.39 * share, False),
        (-0.41 * share, True),
        (-0.003, False),
    ):
        row.gap2 = np.float64(gap)
        assert (
            bool(overlaps.is_deep(d, row, row.gap2))
            == bool(overlaps.find_deep_lanes(d, row))
            == deep
        )
        assert bool(overlaps.find_released_lanes(d, row)) == (gap < -0.004)
    row.gap2, row.active = np.float64(-1.0), np.False_
    assert not overlaps.find_deep_lanes(d, row)


def test_ends_belong_to_the_contact_of_the_nearest_points():
    rows = [
        Fields(kind=k, index=3 + n)
        for n, k in enumerate((PAIR_NEAREST_CONTACT, PAIR_HEAD_CONTACT, PAIR_TAIL_CONTACT))
    ]
    d = Fields(contact=lambda c: rows[c - 3])
    assert [overlaps.nearest_contact(d, row).index for row in rows] == [3, 3, 3]
    assert [overlaps.is_end(row) for row in rows] == [False, True, True]


@pytest.mark.parametrize(("gap", "half"), [(-0.2, -0.1), (0.0, 0.0), (0.3, 0.0)])
def test_half_of_an_overlap(gap, half):
    assert overlaps.half_overlap(np.float64(gap)) == half


def test_a_deep_end_is_held_apart_from_the_plane_at_the_nearest_points():
    """Its gap is that of the nearest points, and how much further its place is along their normal."""
    d = data_of(started(meeting("rod-brick", apart=0.15)[0]))
    knot = knot_buffer(d, 0)
    nearest, end = d.contact(0), d.contact(1)
    there = segment_parameter(d, nearest, knot)
    place_contact(d, nearest, knot, H, there)
    found = overlaps.points_of_deep_end(
        d,
        end,
        knot,
        np.float64(1.0),
        (0.0, (0.0,) * 3, (0.0,) * 3, (0.0,) * 3),
        (there, nearest.gap2, nearest.normal2),
    )
    half = np.reshape(d.pose(knot, end.body).rotation, (3, 3)) @ end.segment
    assert found[0] == pytest.approx(nearest.gap2 + (1.0 - there) * half @ nearest.normal2)
    assert found[1] == pytest.approx(nearest.normal2)
    own, partner = (np.array(d.pose(knot, i).position) for i in (end.body, end.partner))
    between = own + found[2] - partner - found[3]
    assert between == pytest.approx(found[0] * np.array(nearest.normal2))

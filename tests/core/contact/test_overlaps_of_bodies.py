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


def deep_rods():
    """Two rods that overlap so far that their touching points are held; data, contacts, knots 2 and 3."""
    d = data_of(started(meeting("rod-rod", apart=0.03)[0]))
    knot2, knot3 = knot_buffer(d, 0), knot_buffer(d, -1)
    rows = [d.contact(c) for c in range(d.contact_count)]
    nearest = next(row for row in rows if row.kind == PAIR_NEAREST_CONTACT)
    nearest.active = np.True_
    place_contact(d, nearest, knot2, H, segment_parameter(d, nearest, knot2))
    assert overlaps.find_deep_lanes(d, nearest)
    for i in (1, 2):
        pose = d.pose(knot2, i)
        set_pose(d.body(i), d.pose(knot3, i), pose.position, pose.orientation)
    return d, rows, nearest, (knot2, knot3)


def test_in_deep_overlaps_an_end_is_held_along_the_normal_of_the_nearest_points():
    d, rows, nearest, (knot2, _) = deep_rods()
    own, partner = (np.array(d.pose(knot2, i).position) for i in (nearest.body, nearest.partner))
    *_, there = overlaps.touching_points_at_knot2(d, nearest, knot2, nearest.segment_parameter)
    for end in rows:
        if not overlaps.is_end(end):
            continue
        place = end.segment_parameter
        gap, normal, arm, partner_arm = overlaps.touching_points_at_knot2(d, end, knot2, place)
        assert normal == pytest.approx(nearest.normal2)
        assert own + arm - partner - partner_arm == pytest.approx(gap * np.array(normal))
        # above the plane through the nearest point of the partner
        assert np.dot(own + arm - partner - there, normal) == pytest.approx(gap)
        nearest.active = np.False_
        other = overlaps.touching_points_at_knot2(d, end, knot2, place)
        nearest.active = np.True_
        assert other[1] != pytest.approx(normal)


def test_in_deep_overlaps_the_points_of_knot_2_stay_those_that_touch():
    """Also where the bodies have turned, and others would be nearest."""
    d, rows, nearest, (knot2, knot3) = deep_rods()
    pose = d.pose(knot3, nearest.body)
    turned = quaternion_product((np.cos(0.3), 0.0, 0.0, np.sin(0.3)), pose.orientation)
    set_pose(d.body(nearest.body), pose, pose.position, turned)
    found = overlaps.touching_points_at_knot3(d, nearest, knot2, knot3)
    held = overlaps.held_touching_points(d, nearest, knot2, knot3)
    assert found[0] == held[0]
    assert found[1:] == held[1:]
    nearest.active = np.False_
    assert overlaps.touching_points_at_knot3(d, nearest, knot2, knot3)[1] != pytest.approx(held[1])

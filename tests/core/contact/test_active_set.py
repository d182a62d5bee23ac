"""Contacts that a step missed are activated, and forces that move between contacts stay the same in all."""

import numpy as np
import pytest

from scenes import terrains
from scenes.plain_python import Fields, solved_step
from scenes.touching_scenes import ball
from vigym import Simulator
from vigym.core.body.pose import set_pose
from vigym.core.contact import active_set
from vigym.core.tables.plan import (
    PAIR_HEAD_CONTACT,
    PAIR_NEAREST_CONTACT,
    PAIR_TAIL_CONTACT,
    PLANES,
)
from vigym.mechanism.elements.bodies import Ground

H = np.float64(0.01)


def row(force, place=0.0, kind=PAIR_NEAREST_CONTACT, index=0, active=True):
    forces = {
        "force": (np.float64(force), 1.0, 2.0, 3.0),
        "anchor_force": (np.float64(2.0 * force), 0.0, 0.0, 0.0),
    }
    place = np.float64(place)
    more = {"dual": (1.0, 2.0), "active": np.bool_(active), "segment_parameter": place}
    return Fields(kind=kind, index=index, **forces, **more)


@pytest.mark.parametrize(
    ("move", "expected"),
    [
        ("add_force_to_contact", 7.0),
        ("merge_force_into_contact", 7.0),
        ("move_force_to_contact", 5.0),
    ],
)
def test_a_force_goes_from_one_contact_to_another(move, expected):
    one, other = row(5.0), row(2.0)
    getattr(active_set, move)(one, other, np.False_)
    assert (one.force[0], other.force[0]) == (5.0, 2.0)
    getattr(active_set, move)(one, other, np.True_)
    assert (one.force, one.anchor_force) == ((0.0,) * 4, (0.0,) * 4)
    assert (other.force[0], other.anchor_force[0]) == (expected, 2.0 * expected)
    assert bool(one.active) == (move != "merge_force_into_contact")


@pytest.mark.parametrize("place", [0.8, -0.8])
def test_a_loaded_contact_of_nearest_points_leaves_its_force_at_the_end_behind(monkeypatch, place):
    rows = [
        row(5.0, 0.1),
        row(0.0, 1.0, PAIR_HEAD_CONTACT, 1, False),
        row(0.0, -1.0, PAIR_TAIL_CONTACT, 2, False),
    ]
    monkeypatch.setattr(
        active_set, "place_contact", lambda d, c, knot2, h, at: setattr(c, "segment_parameter", at)
    )
    d = Fields(contact=rows.__getitem__)
    active_set.relocate_contact(d, rows[0], 0, H, np.float64(place), np.True_)
    behind, ahead = (rows[2], rows[1]) if place > 0.0 else (rows[1], rows[2])
    assert rows[0].segment_parameter == place
    assert (behind.segment_parameter, behind.force[0], bool(behind.active)) == (0.1, 5.0, True)
    assert (rows[0].force[0], ahead.force[0], bool(ahead.active)) == (0.0, 0.0, False)
    assert rows[0].dual[0] == 0.0


def test_a_loaded_end_at_the_new_place_gives_its_force_to_the_contact(monkeypatch):
    rows = [
        row(5.0, 0.1),
        row(0.0, 1.0, PAIR_HEAD_CONTACT, 1, False),
        row(3.0, -1.0, PAIR_TAIL_CONTACT, 2),
    ]
    monkeypatch.setattr(
        active_set, "place_contact", lambda d, c, knot2, h, at: setattr(c, "segment_parameter", at)
    )
    active_set.relocate_contact(
        Fields(contact=rows.__getitem__), rows[0], 0, H, np.float64(-1.0), np.True_
    )
    assert [r.force[0] for r in rows] == [3.0, 5.0, 0.0]
    assert [bool(r.active) for r in rows] == [True, True, False]


@pytest.mark.parametrize(("height", "missed"), [(0.11, False), (0.09, True)])
def test_a_contact_that_was_missed_is_activated(height, missed):
    sim = Simulator(ball(1.0), timestep=H)
    sim.reset()
    d, step, _ = solved_step(sim, H)
    assert not d.contact(0).active
    pose = d.pose(step.knot3, 1)
    set_pose(d.body(1), pose, (0.0, 0.0, height), pose.orientation)
    assert not active_set.activate_missed_contacts(d, step.knot2, step.knot3, step.h, np.False_)
    found = active_set.activate_missed_contacts(d, step.knot2, step.knot3, step.h, np.True_)
    assert (bool(found), bool(d.contact(0).active)) == (missed, missed)
    assert not active_set.activate_missed_contacts(
        d, step.knot2, step.knot3, step.h, np.True_
    )  # once


@pytest.mark.parametrize(("force", "moves"), [(0.9e4, False), (1.1e4, True)])
def test_anchors_move_where_the_proximal_term_lets_a_body_sink(force, moves):
    """A force f lets it sink by prox h^2 f / m, and by 5e-8 m at most."""
    d, contact = Fields(environment=Fields(leads_back=1.0)), row(force)
    contact.anchor_force, contact.effective_mass = (0.0,) * 4, 2.0
    assert bool(active_set.reanchor_contact(d, contact, H, np.float64(1e-7), np.True_)) == moves
    assert contact.anchor_force == (contact.force if moves else (0.0,) * 4)


def test_planes_that_are_nearly_parallel_hand_over_their_force():
    up = (0.0, 0.0, 1.0)
    tilted, steep = (0.0, np.sin(0.3), np.cos(0.3)), (1.0, 0.0, 0.0)
    rows = [row(n, index=k) for k, n in enumerate((5.0, 2.0, 0.0))]
    for each, normal in zip(rows, (up, steep, tilted), strict=True):
        each.normal2 = normal
    d = Fields(contact=rows.__getitem__)
    active_set.take_force_of_planes(d, 0, rows[2], np.True_)
    assert [r.force[0] for r in rows] == [0.0, 2.0, 5.0]
    assert not active_set.lanes_without_plane(d, 0, steep, np.True_)
    assert active_set.lanes_without_plane(d, 0, (0.0, 1.0, 0.0), np.True_)


def above_a_slope(height=1.0):
    """Data and step of a ball in the air over terrain that rises by a half along x."""
    slope = Ground(terrain=terrains.along_x(0.5 * 0.25 * np.arange(9), 0.25))
    sim = Simulator(terrains.thrown("ball", slope, height), timestep=H)
    sim.reset()
    d, step, _ = solved_step(sim, H)
    return d, step


def normals_of_active(d):
    rows = [d.contact(n) for n in range(PLANES)]
    return [np.array(row.normal2) for row in rows if row.active]


def test_a_missed_plane_gets_a_contact_once():
    """It is placed at knot 2, has no force yet, and its gap there is that of the ball."""
    d, step = above_a_slope()
    assert normals_of_active(d) == []
    pose, up = d.pose(step.knot3, 1), np.array((-0.5, 0.0, 1.0)) / np.sqrt(1.25)
    x, _, z = d.pose(step.knot2, 1).position
    foot = np.array((x, 0.03, 0.5 * (x + 1.0)))
    on_ground = tuple(foot + (0.05 - 1e-3) * up)
    d.contact(0).force = d.contact(0).anchor_force = (9.0,) * 4
    set_pose(d.body(1), pose, on_ground, pose.orientation)

    def activate(mask):
        return active_set.activate_missed_contacts(d, step.knot2, step.knot3, step.h, mask)

    assert not activate(np.False_)
    assert activate(np.True_)
    (normal,) = normals_of_active(d)
    assert normal == pytest.approx(up)
    row = next(d.contact(n) for n in range(PLANES) if d.contact(n).active)
    assert row.gap2 == pytest.approx(up[2] * (z - foot[2]) - 0.05)
    assert row.arm2 == pytest.approx(tuple(-0.05 * up))
    assert (row.force, row.anchor_force) == ((0.0,) * 4, (0.0,) * 4)
    assert not activate(np.True_)


def test_other_lanes_keep_the_place_of_their_contact():
    d, step = above_a_slope()
    row = d.contact(0)
    names = ("gap_target", "gap2", "touching_point", "arm2", "normal2", "tangent_1", "tangent_2")
    row.plane = (0.6, 0.0, 0.8, 0.0, 1.0)
    before = [getattr(row, name) for name in names]
    active_set.place_in_lanes(d, row, step.knot2, step.h, np.False_)
    assert [getattr(row, name) for name in names] == before
    active_set.place_in_lanes(d, row, step.knot2, step.h, np.True_)
    assert row.normal2 == (0.6, 0.0, 0.8)
    assert row.gap2 == pytest.approx(0.6 * 0.0 + 0.8 * d.pose(step.knot2, 1).position[2] - 0.05)

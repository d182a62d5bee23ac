"""Rims that turn: where a rim is held between two directions, and contacts that stay a quarter turn apart."""

import numpy as np
import pytest

from scenes.plain_python import Fields, solved_step
from scenes.touching_scenes import cylinder, turned
from vigym import Simulator
from vigym.core.body.pose import set_pose
from vigym.core.contact import rims
from vigym.core.contact.plane import plane_gap
from vigym.core.math.vectors import mat_vec

H = np.float64(0.01)


@pytest.mark.parametrize(
    ("turns", "expected"), [((1.0, 1.0), 0.5), ((3.0, 1.0), 0.25), ((1.0, 0.0), None)]
)
def test_between_two_directions_the_nearer_one_counts_more(turns, expected):
    """Each is divided by the turn from there: small angles are bisected in proportion to the turns."""
    angle = 0.02
    first, last = (np.array((np.cos(a), np.sin(a), 0.0)) for a in (0.0, angle))
    first = tuple(first / turns[0] if turns[0] else first * 0.0)
    last = tuple(last / turns[1] if turns[1] else last * 0.0)
    if expected is None:
        assert not rims.hold_between(first, last)[1]
        return
    direction, found = rims.hold_between(first, last)
    assert found
    assert np.linalg.norm(direction) == pytest.approx(1.0)
    share = np.arctan2(direction[1], direction[0]) / angle
    assert share == pytest.approx(turns[0] / sum(turns), abs=1e-4)


def test_opposite_directions_have_no_middle():
    o = np.float64(0.0)
    assert not rims.hold_between((o + 1.0, o, o), (o - 1.0, o + 0.1, o))[1]


def lying():
    """A can that stands, tilted a little; data, step, its rim of four contacts."""
    tilt = 0.02
    sim = Simulator(
        cylinder(0.15 * np.cos(tilt) + 0.1 * np.sin(tilt), turned(tilt, (1, 0, 0))), timestep=H
    )
    sim.reset()
    d, step, _ = solved_step(sim, H)
    first = next(c for c in range(d.contact_count) if abs(d.contact(c).gap2) < 1e-6)
    return d, step, first - first % 4


def test_contacts_of_a_rim_turn_together():
    """The first takes all forces, and they stay a quarter turn apart."""
    d, step, c = lying()
    rows = [d.contact(c + k) for k in range(4)]
    for k, row in enumerate(rows):
        row.force = row.anchor_force = (1.0 + k, 0.0, 0.0, 0.0)
    rotation = d.pose(step.knot2, 1).rotation
    rows[0].rim_arm = mat_vec(rotation, (0.06, 0.08, 0.0))
    rims.turn_rim(d, c, step.knot2, H, np.True_)
    assert [row.force[0] for row in rows] == [10.0, 0.0, 0.0, 0.0]
    arms = np.array([np.subtract(row.touching_point, row.point) for row in rows])
    assert arms[0] == pytest.approx((0.06, 0.08, 0.0))
    assert arms.sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-12)
    assert arms[0] @ arms[1] == pytest.approx(0.0, abs=1e-12)
    assert all(row.active for row in rows)
    pose = d.pose(step.knot2, 1)
    for row in rows[1:]:
        assert row.gap2 == pytest.approx(
            plane_gap(d, row, pose, mat_vec(rotation, row.touching_point))
        )


def test_a_rim_that_dips_is_found_and_turned_and_forgotten_before_the_next_step():
    d, step, c = lying()
    rim = d.contact(c)
    pose = d.pose(step.knot3, 1)
    assert not rims.turn_dipping_rims(d, step.knot2, step.knot3, H, np.True_)
    tilted = turned(
        0.02, (0, 1, 0)
    )  # the lowest point has run by a quarter, and is below the ground
    set_pose(d.body(1), pose, (0.0, 0.0, 0.15), tuple(tilted))
    assert not rims.turn_dipping_rims(d, step.knot2, step.knot3, H, np.False_)
    assert rims.turn_dipping_rims(d, step.knot2, step.knot3, H, np.True_)
    assert np.linalg.norm(rim.rim_arm) == pytest.approx(rim.radius)
    rims.clear_turned_rims(d)
    assert rim.rim_arm == (0.0, 0.0, 0.0)


def test_on_terrain_each_point_of_a_rim_has_contacts_of_its_own():
    assert rims.rim_stride(Fields(terrain_columns=0)) == 1
    assert rims.rim_stride(Fields(terrain_columns=5)) == rims.PLANES


@pytest.mark.parametrize("turned_before", [True, False])
def test_rims_that_turned_in_an_attempt_turn_again_in_the_next_one(turned_before):
    d, step, c = lying()
    rows = [d.contact(k) for k in range(d.contact_count)]
    for row in rows:
        row.rim_arm = (0.0, 0.0, 0.0)
    rotation, first = d.pose(step.knot2, 1).rotation, d.contact(c)
    if turned_before:
        first.rim_arm = mat_vec(rotation, (0.06, 0.08, 0.0))
    before = [row.arm2 for row in rows]
    rims.turn_rims_again(d, step.knot2, H)
    changed = [k for k, row in enumerate(rows) if row.arm2 != before[k]]
    assert changed == ([c + k for k in range(4)] if turned_before else [])
    if turned_before:
        place = np.add(mat_vec(rotation, first.point), first.rim_arm)
        assert first.arm2 == pytest.approx(place - d.pose(step.knot2, 1).arm)

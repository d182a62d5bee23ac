"""Contacts at a knot alone: which touch, what they start from, and the work of their impulses."""

import numpy as np
import pytest

from scenes.pair_scenes import started
from scenes.plain_python import Fields, data_of
from scenes.touching_scenes import ball
from vigym.core.contact import at_knot
from vigym.core.model.context import knot_buffer

H = 0.01


@pytest.mark.parametrize(
    ("height", "force", "active"),
    [(0.1, 0.0, True), (0.1001, 0.0, False), (0.1001, 9.0, True), (0.101, 0.02, False)],
)
def test_what_touches_or_was_loaded_is_active(height, force, active):
    """Where h^2 f outweighs the mass times the gap."""
    d = data_of(started(ball(height)))
    d.environment.step_size = 0.1
    contact, knot = d.contact(0), knot_buffer(d, 0)
    contact.last_force = (force, 0.4 * force, 0.0, 0.0)
    at_knot.start_contacts_at_knot(d, knot, 0.25, np.True_)
    assert bool(contact.active) == active
    assert (
        contact.force
        == contact.anchor_force
        == pytest.approx((0.25 * force, 0.1 * force, 0.0, 0.0))
    )
    assert contact.arm2 == pytest.approx((0.0, 0.0, -0.1))
    at_knot.start_contacts_at_knot(d, knot, 0.25, np.False_)
    assert not contact.active


def test_the_velocity_that_chooses_is_extrapolated_to_the_knot():
    """From two steps: half of the change of the slip from one to the other is made up to there."""
    d = data_of(started(ball(0.1)))
    contact, knot = d.contact(0), knot_buffer(d, 0)
    for back, speed, spin in ((0, 1.0, 2.0), (1, 0.6, 1.0)):
        pose = d.pose(knot_buffer(d, back), 1)
        pose.velocity = (speed, 0.0, -5.0 * speed)
        pose.angular_velocity, pose.cosine = (0.0, spin, 0.0), 1.0
    at_knot.set_contact_at_knot(d, contact, knot, 1.0)
    slips = [1.0 - 0.1 * 2.0, 0.6 - 0.1 * 1.0]
    assert contact.velocity_seen[1] == pytest.approx(
        slips[0] + 0.5 * (slips[0] - slips[1]), abs=1e-9
    )
    assert contact.velocity_seen[0] == pytest.approx(-5.0)  # the slip alone


def test_rebounds_of_a_start_are_due_at_the_knot():
    for size, expected in ((0.0, -2.0), (H, 0.0)):
        d = data_of(started(ball(0.1)))
        d.environment.step_size = size
        d.contact(0).rebound_velocity = 2.0
        at_knot.extrapolate_branch_velocity(d, d.contact(0), knot_buffer(d, 0), (0.0, 0.0, 1.0))
        assert d.contact(0).velocity[0] == expected


@pytest.mark.parametrize("active", [True, False])
def test_the_work_of_an_impulse_is_that_change_of_energy(active):
    """It acts on the mean of the velocities before and after it."""
    d = data_of(started(ball(0.1, torsion=0.05)))
    contact = d.contact(0)
    knot, body = knot_buffer(d, 0), d.body(1)
    at_knot.start_contacts_at_knot(d, knot, 1.0, np.True_)
    contact.scaled_tangent_1, contact.scaled_tangent_2 = contact.tangent_1, contact.tangent_2
    contact.affine_force, contact.active = (2.0, 0.5, -0.3, 0.4), active
    before = np.array((1.0, -0.4, -3.0)), np.array((0.5, 2.0, 1.0))
    pose = d.pose(knot, 1)
    pose.velocity, pose.angular_velocity = map(tuple, before)
    pose.cosine = 1.0
    normal, t1, t2 = map(np.array, (contact.normal2, contact.tangent_1, contact.tangent_2))
    impulse = 2.0 * normal + 0.5 * t1 - 0.3 * t2
    turning = np.cross((0.0, 0.0, -0.1), impulse) + 0.05 * 0.4 * normal
    inertia = 0.4 * 0.1**2
    after = before[0] + impulse, before[1] + turning / inertia
    body.delta_position, body.delta_rotation = (tuple(v) for v in after)
    energies = [0.5 * v @ v + 0.5 * inertia * w @ w for v, w in (before, after)]
    found = at_knot.work_of_contacts_at_knot(d, knot)
    assert found == pytest.approx((energies[1] - energies[0]) * active, rel=1e-3)


def test_depth_that_all_contacts_share_does_not_open_any():
    contact = Fields(
        kind=1,
        body=1,
        gap2=np.float64(-0.01),
        active=np.True_,
        last_force=(0.0,),
        effective_mass=1.0,
    )
    d = Fields(environment=Fields(step_size=H), body=lambda i: Fields(depth=np.float64(0.02)))
    at_knot.find_active_lanes(d, contact, np.True_)
    assert not contact.active  # another one is deeper
    contact.active, contact.gap2 = np.True_, np.float64(-0.02)
    at_knot.find_active_lanes(d, contact, np.True_)
    assert contact.active

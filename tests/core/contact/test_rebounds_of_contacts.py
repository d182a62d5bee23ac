"""Rebounds: their velocities, and the energy that landings took and rebounds may give."""

import numpy as np
import pytest

from scenes.pair_scenes import meeting, started
from scenes.plain_python import Fields, data_of
from vigym.core.contact import rebounds
from vigym.core.contact.kinematics import place_contact, touching_velocity
from vigym.core.model.context import knot_buffer
from vigym.core.tables.plan import BALL_CONTACT, SKATE

RNG = np.random.default_rng(0)
O = np.float64(0.0)


@pytest.mark.parametrize("kinds", ["ball-ball", "rod-brick"])
def test_a_unit_impulse_makes_the_mobility(kinds):
    """Added to the velocities of both bodies it changes the normal velocity by that much."""
    d = data_of(started(meeting(kinds, apart=0.3)[0]))
    contact, knot = d.contact(0), knot_buffer(d, 0)
    place_contact(d, contact, knot, 0.01, np.float64(0.3))
    before, normal = touching_velocity(d, contact, knot, knot)[0], np.array(contact.normal2)
    ends = (contact.body, 1.0, contact.arm2), (contact.partner, -1.0, contact.partner_arm2)
    for i, sign, arm in ends:
        body, pose = d.body(i), d.pose(knot, i)
        R = np.reshape(pose.rotation, (3, 3))
        xx, yy, zz, xy, xz, yz = body.inertia
        J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        pose.velocity = tuple(pose.velocity + sign * normal / body.mass)
        torque = np.cross(np.add(arm, pose.arm), sign * normal)
        pose.angular_velocity = tuple(pose.angular_velocity + np.linalg.solve(J, R.T @ torque))
        pose.cosine = 1.0
    change = touching_velocity(d, contact, knot, knot)[0] - before
    assert rebounds.mobility_along_normal(d, contact, knot) == pytest.approx(change, rel=1e-6)


def row(force=1.0, last=0.0, approach=-2.0, restitution=0.5, kind=BALL_CONTACT, power=O, rebound=O):
    forces = {"converged_force": (np.float64(force),), "last_force": (np.float64(last),)}
    values = {
        "approach": np.float64(approach),
        "power": np.float64(power),
        "rebound_velocity": np.float64(rebound),
    }
    return Fields(kind=kind, restitution=restitution, normal2=(0.0, 0.0, 1.0), **forces, **values)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, 1.0),
        ({"force": 0.0}, 0.0),
        ({"last": 3.0}, 0.0),
        ({"approach": -0.09}, 0.0),
        ({"restitution": 1.0}, 2.0),
    ],
)
def test_what_lands_fast_rebounds_by_newtons_law(values, expected):
    contact = row(**values)
    rebounds.store_rebound(contact, 0.1, (O, O, O), np.False_)
    assert contact.rebound_velocity == 0.0
    rebounds.store_rebound(contact, 0.1, (O, O, O), np.True_)
    assert contact.rebound_velocity == expected
    rebounds.store_rebound(
        contact, 0.1, (O, O, np.float64(-0.2)), np.True_
    )  # after a reset, with its fall
    assert contact.rebound_velocity == (0.9 * expected if expected else 0.0)


def data(*rows, energy=2.0):
    environment = Fields(rebound_energy=np.float64(energy), force_scale=10.0, length_scale=0.5)
    return Fields(
        contact_count=len(rows),
        contact=rows.__getitem__,
        environment=environment,
        features={"contacts"},
    )


def test_energy_of_landings_is_kept_for_rebounds_and_no_more_than_is_left():
    rows = row(power=3.0, rebound=1.0), row(power=9.0), row(power=7.0, rebound=1.0, kind=SKATE)
    for most, kept in ((10.0, 1.5), (1.0, 1.0), (-1.0, 0.0)):
        d = data(*rows)
        rebounds.store_rebound_energy(d, 0.5, np.float64(most), np.True_)
        assert d.environment.rebound_energy == kept
    assert rebounds.energy_allowed_to_rebounds(d, 0.1) == pytest.approx(0.1 * 5.0)
    assert rebounds.energy_left_to_rebounds(data(), -3.0) == 0.0
    assert rebounds.energy_left_to_rebounds(data(), 1.0) == 3.0


def test_rebounds_are_scaled_and_found():
    d = data(row(rebound=1.0), row())
    assert rebounds.find_lanes_that_rebound(d)
    rebounds.scale_rebounds(d, np.True_, 0.25)
    assert d.contact(0).rebound_velocity == 0.25
    rebounds.scale_rebounds(d, np.True_, 0.0)
    assert not rebounds.find_lanes_that_rebound(d)
    assert rebounds.find_lanes_of_landings(data(row(last=1.0), row()))
    assert not rebounds.find_lanes_of_landings(data(row(last=1.0), row(force=0.0)))


@pytest.mark.parametrize("most", [1e9, 0.3])
def test_a_landing_that_took_energy_had_the_speed_for_it(monkeypatch, most):
    """m/2 (approach^2 - after^2) is what it took, or its share of what there was."""
    monkeypatch.setattr(rebounds, "touching_velocity", lambda *given: (np.float64(0.4), None, None))
    monkeypatch.setattr(rebounds, "mobility_along_normal", lambda *given: 0.5)
    rows = row(power=3.0, approach=-0.1), row(power=1.0, approach=-9.0)
    d = data(*rows)
    rebounds.raise_approaches(d, 0, 0, 0.01, np.float64(0.2), np.float64(most))
    taken = min(0.2 * 4.0, most) * 3.0 / 4.0
    assert 0.5 / 0.5 * (rows[0].approach ** 2 - 0.4**2) == pytest.approx(taken)
    assert rows[0].approach < 0.0
    assert rows[1].approach == -9.0

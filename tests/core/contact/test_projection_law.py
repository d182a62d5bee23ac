"""Projection law of a contact: projections on the friction cone, and the derivative of the force by the velocity."""

import numpy as np
import pytest

from scenes.plain_python import Fields, derivative
from vigym.core.contact.laws import projection_law as law
from vigym.core.tables.plan import BALL_CONTACT, SKATE

CONE, PYRAMID = (Fields(pyramid=p, environment=Fields(length_scale=0.5)) for p in (0, 1))
PROX, MASS = 0.2, 0.3
PER_H = 100.0
AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
ANCHOR = (5.0, 0.3, -0.2, 0.1)
# (n, x, y, z, spin) [m/s, rad/s]
RISING, STICKING = (0.5, 0.0, 0.0, 0.0, 0.0), (-0.01, 0.001, 0.002, 0.0, 0.001)
SLIPPING = (-0.01, 0.9, -0.4, 0.0, 1.0)


def contact_at(velocity, force=ANCHOR, kind=BALL_CONTACT, **fields):
    values = {
        "friction_along": 0.6,
        "friction_backward": 0.6,
        "friction_across": 0.4,
        "torsional_friction": 0.05,
        "has_torsion": 1,
        "law_scale": 1.0,
        "effective_mass": MASS,
        "branch": 0.0,
        "branch_turns": 0.0,
        "slip_turns": 0.0,
        "active": np.True_,
    }
    tangents = {"tangent_1": AXES[0], "tangent_2": AXES[1]}
    motion = {
        "velocity": velocity,
        "velocity_seen": velocity,
        "force": force,
        "anchor_force": ANCHOR,
    }
    return Fields(kind=kind, **(values | tangents | motion | fields))


def solved(d, velocity, **fields):
    """The force that equals its own projection at a velocity, by iterations that shrink errors to 1 - PROX."""
    contact = contact_at(velocity, **fields)
    rho, prox = law.law_scales(contact, PER_H, PROX)
    force = ANCHOR
    for _ in range(200):
        contact.force = force
        t1, t2, rho_t = law.scale_tangents_by_friction(d, contact, velocity, rho)
        u = law.scaled_velocity(contact, velocity, t1, t2)
        z = law.force_before_projection(d, contact, force, u, rho, rho_t, prox)
        r = max(z[0], 0.0)
        force = (r, *law.project_tangential(d, z[1:3], r), law.clamp_symmetric(z[3], r))
    return force


@pytest.mark.parametrize("d", [CONE, PYRAMID], ids=["cone", "pyramid"])
def test_a_projection_is_the_nearest_force(d):
    rng = np.random.default_rng(0)
    for z in rng.normal(size=(50, 2)):
        found = np.array(law.project_tangential(d, tuple(z), 0.8))
        others = rng.uniform(-0.8, 0.8, size=(200, 2))
        inside = np.abs(others).max(axis=1) if d.pyramid else np.linalg.norm(others, axis=1)
        others = others[inside <= 0.8]
        assert np.linalg.norm(z - found) <= np.linalg.norm(z - others, axis=1).min() + 1e-15
        assert law.project_tangential(d, tuple(found * (1.0 - 1e-12)), 0.8) == pytest.approx(found)


@pytest.mark.parametrize("d", [CONE, PYRAMID], ids=["cone", "pyramid"])
@pytest.mark.parametrize("velocity", [RISING, STICKING, SLIPPING], ids=["open", "stick", "slip"])
def test_the_affine_force_is_the_force_and_its_derivative(d, velocity):
    contact = contact_at(velocity, solved(d, velocity))
    loaded, distance = law.linearize_projection_law(d, contact, PER_H, PROX, False)
    assert loaded == (velocity is not RISING)
    assert distance == pytest.approx(0.0, abs=1e-12)
    assert contact.affine_force == pytest.approx(contact.force, abs=1e-9)
    t1, t2 = contact.scaled_tangent_1, contact.scaled_tangent_2
    for k, axis in enumerate(np.eye(5)[[0, 1, 2, 4]]):
        change = law.scaled_velocity(contact, tuple(axis), t1, t2)
        slopes = (
            contact.slope_nn * change[0],
            contact.slope_1n * change[0]
            + contact.slope_11 * change[1]
            + contact.slope_12 * change[2],
            contact.slope_2n * change[0]
            + contact.slope_12 * change[1]
            + contact.slope_22 * change[2],
            contact.slope_sn * change[0] + contact.slope_ss * change[3],
        )
        found = derivative(lambda v: solved(d, tuple(np.add(velocity, v))), axis)
        assert -np.array(slopes) == pytest.approx(found, rel=1e-6, abs=1e-5), k


def test_slip_dissipates_most():
    """Friction is opposite to the slip, each direction by the square of its coefficient."""
    force = solved(CONE, SLIPPING, anchor_force=(5.0, 0.0, 0.0, 0.0))
    along, across = 0.6 * force[1], 0.4 * force[2]  # in newtons
    assert np.hypot(force[1], force[2]) == pytest.approx(force[0])
    assert along / across == pytest.approx(0.36 * SLIPPING[1] / (0.16 * SLIPPING[2]), rel=1e-6)


def test_what_slips_backwards_has_the_friction_of_that_way():
    for speed, expected in ((0.9, 0.6), (-0.9, 0.1)):
        contact = contact_at(
            (-0.01, speed, 0.0, 0.0, 0.0),
            (5.0, 0.0, 0.0, 0.0),
            friction_along=0.1,
            friction_backward=0.6,
        )
        tangent, _, _ = law.scale_tangents_by_friction(CONE, contact, contact.velocity, 30.0)
        assert tangent[0] == pytest.approx(0.7 - expected)


def test_a_skate_holds_whatever_it_takes():
    contact = contact_at((0.0, 0.02, 0.0, 0.0, 0.0), (0.0, 3.0, 0.0, 0.0), SKATE)
    active, distance = law.linearize_projection_law(CONE, contact, PER_H, PROX, False)
    assert (active, distance) == (1.0, 0.0)
    stiffness = PER_H * MASS / PROX
    assert contact.affine_force == pytest.approx((0.0, 3.0 - stiffness * 0.02, 0.0, 0.0))
    assert (contact.slope_11, contact.slope_22) == pytest.approx((stiffness, stiffness))


def test_a_contact_that_turns_between_two_branches_takes_the_third():
    contact = contact_at(RISING)
    for turn in range(4):
        loaded = np.bool_(turn % 2)  # open, and slipping where it is pushed into the ground
        sticks, opens = law.choose_third_branch(CONE, contact, (np.float64(9.0), 0.0), 1.0, loaded)
    assert (sticks, opens) == (1.0, 0.0)

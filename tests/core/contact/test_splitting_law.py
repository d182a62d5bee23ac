"""Splitting of contacts from the equations of motion: each law solved by itself is obeyed."""

import numpy as np
import pytest

from scenes.plain_python import Fields
from vigym.core.contact.laws import splitting_law as law
from vigym.core.tables.plan import BALL_CONTACT

D = Fields(pyramid=0, environment=Fields(length_scale=0.5))
RHO = 20.0


def contact_with(force):
    """A contact with a force of the equations at no velocity of its own."""
    return Fields(
        kind=BALL_CONTACT,
        friction_along=0.5,
        friction_backward=0.5,
        friction_across=0.5,
        torsional_friction=0.05,
        tangent_1=(1.0, 0.0, 0.0),
        tangent_2=(0.0, 1.0, 0.0),
        velocity_seen=(0.0,) * 5,
        force=force,
        affine_force=force,
        law_velocity=(0.0,) * 4,
        active=np.True_,
    )


@pytest.mark.parametrize(
    ("force", "moves"),
    [
        ((-2.0, 0.5, 0.1, 0.0), "away"),
        ((3.0, 0.5, 0.1, 0.2), "not"),
        ((3.0, 4.0, -1.0, 5.0), "aside"),
    ],
)
def test_forces_and_velocities_obey_the_law(force, moves):
    contact = contact_with(force)
    law.solve_contact_law(D, contact, RHO)
    f, z = np.array(contact.affine_force), np.array(contact.law_velocity)
    assert min(f[0], z[0]) >= 0.0
    assert f[0] * z[0] == 0.0  # complementarity
    assert np.hypot(f[1], f[2]) <= f[0] + 1e-12
    assert abs(f[3]) <= f[0]
    assert {"away": z[0] > 0.0, "not": not z.any(), "aside": z[0] == 0.0 and z[1:].all()}[moves]
    if moves == "aside":  # friction is opposite to the slip, with the largest force
        assert np.hypot(f[1], f[2]) == pytest.approx(f[0])
        assert f[1:3] / f[0] == pytest.approx(-z[1:3] / np.hypot(z[1], z[2]))


def test_a_solution_stays_one():
    contact = contact_with((3.0, 4.0, -1.0, 5.0))
    law.solve_contact_law(D, contact, RHO)
    f, z = contact.affine_force, contact.law_velocity
    contact.force = f
    # the equations answer with the same force, at the velocity that the law chose
    law.solve_contact_law(D, contact, RHO)
    assert contact.affine_force == pytest.approx(f)
    assert contact.law_velocity == pytest.approx(z)


def test_slopes_follow_what_lags_behind():
    number = law.PERIOD - 1
    assert law.balance_penalty(1.0, 0, 9.0, 1.0) == 1.0
    assert law.balance_penalty(1.0, number, 9.0, 1.0) == law.FASTER
    assert law.balance_penalty(1.0, number, 1.0, 9.0) == 1.0 / law.FASTER
    assert law.balance_penalty(1.0, number, 1.0, 1.0) == 1.0

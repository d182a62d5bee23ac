"""Interior-point law of a contact: the relaxed conditions, their derivative, and what stays inside the cones."""

import numpy as np
import pytest

from scenes.plain_python import derivative
from vigym.core.contact.laws import interior_point_law as law

KAPPA = 1e-3
VELOCITY = (0.02, 0.3, -0.1)  # normal, and tangential times the coefficients of friction


def solved(u, kappa=KAPPA):
    """Force (n, 1, 2) and psi that satisfy the relaxed conditions at a velocity."""
    s = u[0]
    gamma, slip = kappa / s, np.hypot(u[1], u[2])
    # gamma psi + beta . eta = kappa with beta = -gamma eta / psi is quadratic in psi
    psi = 0.5 * (kappa / gamma + np.sqrt((kappa / gamma) ** 2 + 4.0 * slip**2))
    return (gamma, -gamma * u[1] / psi, -gamma * u[2] / psi), psi


def test_the_linearized_law_has_the_solution_and_its_derivative():
    force, psi = solved(VELOCITY)
    found, slopes, dual = law.linearize_relaxed_complementarity(
        force, VELOCITY, VELOCITY[0], psi, KAPPA
    )
    assert found == pytest.approx(force, rel=1e-10)
    assert dual[0] == pytest.approx(psi, rel=1e-10)
    nn, n1, n2, k11, k12, k21, k22 = slopes
    K = np.array([(nn, 0.0, 0.0), (n1, k11, k12), (n2, k21, k22)])
    for k, axis in enumerate(np.eye(3)):
        moved = derivative(lambda v: solved(tuple(np.add(VELOCITY, v)))[0], axis)
        assert -K[:, k] == pytest.approx(moved, rel=1e-6)
        moved = derivative(lambda v: solved(tuple(np.add(VELOCITY, v)))[1], axis)
        assert dual[1 + k] == pytest.approx(moved, rel=1e-6, abs=1e-9)


def test_less_relaxation_is_coulombs_law():
    force, _ = solved((1e-12, *VELOCITY[1:]), 1e-12)
    assert np.hypot(force[1], force[2]) == pytest.approx(force[0], rel=1e-8)
    assert force[1] / force[2] == pytest.approx(VELOCITY[1] / VELOCITY[2])


def test_a_step_to_the_boundary_ends_there():
    rng = np.random.default_rng(0)
    cut = 0
    for _ in range(200):
        aside = rng.uniform(-0.6, 0.6, 2)
        x, dx = np.array((1.0, *aside)), 3.0 * rng.normal(size=3)
        share = law.step_to_cone_boundary(tuple(x), tuple(dx))
        end = x + share * dx
        distance = end[0] - np.hypot(end[1], end[2])
        assert 0.0 < share <= 1.0
        assert distance > -1e-12
        if share < 1.0:
            cut += 1
            assert distance < 1e-12
    assert 50 < cut < 200


def test_a_first_iterate_lies_inside_the_cones():
    for u in (VELOCITY, (-0.5, 2.0, 0.0)):
        f, s, psi = law.choose_first_iterate((0.0, 0.0, 0.0), u, 0.0, 0.0, KAPPA, 0.1, 0.01)
        assert (f[0] > np.hypot(f[1], f[2]), s > 0.0, psi > np.hypot(u[1], u[2])) == (True,) * 3


def test_relaxation_falls_after_long_steps_and_rises_next_to_the_boundary():
    tight = 1e-6
    assert law.adapt_relaxation(KAPPA, 0.9, 1.0, tight) == law.CENTRED * KAPPA
    assert law.adapt_relaxation(KAPPA, 0.3, 0.3, tight) == KAPPA
    assert law.adapt_relaxation(KAPPA, 0.01, 0.01, tight) == law.RAISED * KAPPA
    assert law.adapt_relaxation(tight, 0.9, 1.0, tight) == tight

"""Potentials: their forces act at knots, halves of both steps, and their energies are summed."""

import numpy as np
import pytest

from scenes.plain_python import Fields, random_rotation, random_vector
from vigym.core.body import potentials
from vigym.core.math.vectors import mat_t_vec

RNG = np.random.default_rng(0)
ENERGY = 2.5
FORCE, TORQUE = random_vector(RNG), random_vector(RNG)


@pytest.fixture
def d(monkeypatch):
    """Data of a body in two potentials, each of the same energy and force."""
    monkeypatch.setattr(
        potentials, "call_potential", lambda function, pose: (np.float64(function), FORCE, TORQUE)
    )
    pose = Fields(
        position=(0.0,) * 3,
        orientation=(1.0, 0.0, 0.0, 0.0),
        rotation=random_rotation(RNG),
        arm=(0.1, 0.2, 0.3),
    )
    zero = (0.0, 0.0, 0.0)
    body = Fields(history_force=zero, history_torque=zero, force=zero, torque=zero)
    rows = Fields(body=1, function=ENERGY), Fields(body=1, function=2.0 * ENERGY)
    return Fields(
        potential_count=2,
        potential=rows.__getitem__,
        body=lambda i: body,
        pose=lambda k, i: pose,
        features={"imposed"},
    )


@pytest.mark.parametrize("rho", [0.0, 1.0, 2.0])
def test_forces_act_by_the_halves_of_both_steps(d, rho):
    largest = potentials.add_potential_forces(d, 0, rho)
    weight, body = 0.5 * (1.0 + rho), d.body(1)
    assert body.history_force == pytest.approx(-2.0 * weight * np.array(FORCE))
    own = mat_t_vec(d.pose(0, 1).rotation, TORQUE)
    assert body.history_torque == pytest.approx(-2.0 * weight * np.array(own))
    assert largest == np.abs(FORCE).max()


def test_at_a_knot_there_is_half_an_impulse_about_the_anchor(d):
    potentials.add_potential_impulses(d, 0, 0.4)
    body = d.body(1)
    assert body.force == pytest.approx(-0.4 * np.array(FORCE))
    moment = np.subtract(TORQUE, np.cross(d.pose(0, 1).arm, FORCE))
    assert body.torque == pytest.approx(-0.4 * moment)


@pytest.mark.parametrize(
    ("energy", "fails"), [(1.0, False), (-1e9, False), (np.nan, True), (np.inf, True)]
)
def test_energies_are_summed_and_a_function_that_fails_is_found(d, energy, fails):
    assert potentials.sum_potential_energies(d, 0) == 3.0 * ENERGY
    d.potential(1).function = energy
    assert bool(potentials.find_lanes_without_potential(d, 0)) == fails

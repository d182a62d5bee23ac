"""The slow twin tested alone, so that agreement with it means something."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import null_space

from oracle.naive import Twin
from oracle.naive_joints import rotate
from oracle.reference import (
    DOUBLE_PENDULUM,
    DOUBLE_PENDULUM_ERRORS,
    DOUBLE_PENDULUM_START,
    absolute,
    double_pendulum,
)
from scenes.trees import TYPES, random_positions, random_rates, random_tree


def start(seed, types, **options):
    mech = random_tree(seed, types, **options)
    twin = Twin(mech)
    twin.reset(random_positions(seed, mech), random_rates(seed, mech))
    return mech, twin


def finite_difference_rows(twin, eps=1e-6):
    """Derivatives of constraints and of free coordinates along every body velocity, by central differences."""
    columns = []
    for direction in np.eye(6 * twin.n).reshape(-1, twin.n, 6):
        up, down = (
            twin.ahead(sign * direction[:, :3], sign * direction[:, 3:], eps)
            for sign in (1.0, -1.0)
        )
        constraint = twin.constraint(*up) - twin.constraint(*down)
        change = twin.rates(*up, eps)[2] - twin.rates(*down, eps)[2]
        columns.append(np.append(constraint, change) / (2.0 * eps))
    return np.split(np.array(columns).T, [len(constraint)])


@pytest.mark.parametrize("seed", range(3))
def test_rows_are_derivatives_of_constraints_and_coordinates(seed):
    _, twin = start(seed, np.random.default_rng(seed).permutation(TYPES))
    G, J = twin.rows()
    fd_G, fd_J = finite_difference_rows(twin)
    np.testing.assert_allclose(G, fd_G, atol=1e-8)
    np.testing.assert_allclose(J, fd_J, atol=1e-8)
    assert np.linalg.matrix_rank(np.vstack([G, J])) == 6 * twin.n


@pytest.mark.parametrize("kind", TYPES)
def test_reset_meets_constraints_and_reads_back(kind):
    mech, twin = start(1, [kind, "revolute"])
    assert np.abs(twin.constraint(twin.x, twin.q)).max() < 1e-14
    np.testing.assert_allclose(twin.knot_velocities()[1], random_rates(1, mech), atol=1e-13)


@pytest.mark.parametrize("seed", range(3))
def test_small_steps_obey_newton_and_euler(seed):
    """Mass times dv/dt = f and J dw/dt + w x J w = t along every direction that the joints leave free."""
    mech, twin = start(seed, np.random.default_rng(seed).permutation(TYPES), damping=0.3)
    u = random_rates(seed + 1, mech, 3.0)
    h = 1e-4
    after = []
    for twin.h in (h, -h):
        twin.reset(random_positions(seed, mech), random_rates(seed, mech))
        twin.step(u)
        after.append(twin.knot_velocities())
    acceleration, joint_acceleration = ((after[0][k] - after[1][k]) / (2.0 * h) for k in range(2))
    twin.reset(random_positions(seed, mech), random_rates(seed, mech))
    G, J = twin.rows()
    V, rates = twin.knot_velocities()
    along = twin.mass[:, None] * (acceleration[:, :3] - mech.gravity)
    about = np.einsum("nij,nj->ni", twin.inertia, acceleration[:, 3:])
    about += np.cross(V[:, 3:], np.einsum("nij,nj->ni", twin.inertia, V[:, 3:]))
    force = (
        u
        - twin.damping * rates
        - twin.stiffness * twin.stretch()
        - twin.armature * joint_acceleration
    )
    missing = np.hstack([along, about]).ravel() - force @ J
    np.testing.assert_allclose(null_space(G).T @ missing, 0.0, atol=1e-5 * np.abs(missing).max())


@pytest.mark.parametrize("h", [0.02, 0.01])
def test_double_pendulum_has_the_errors_of_the_reference(h):
    twin = Twin(double_pendulum(), h)
    twin.reset(DOUBLE_PENDULUM_START[0], list(DOUBLE_PENDULUM_START[1].values()))
    for _ in range(round(2.0 / h)):
        twin.step()
    angles = [twin.angles[name][0] for name in ("shoulder", "elbow")]
    error = absolute(angles, twin.knot_velocities()[1]) - DOUBLE_PENDULUM
    np.testing.assert_allclose(error, DOUBLE_PENDULUM_ERRORS[h], rtol=5e-3)


def held(twin, order, h, forces, hold=0.04):
    """Positions, rates and work balance [J] after forces (k, n_free) that are held for `hold` seconds each."""
    twin.h, twin.order = h, order
    before = sum(twin.energy())
    for u in forces:
        for _ in range(round(hold / h)):
            twin.step(u)
    balance = sum(twin.energy()) - before - twin.work + twin.dissipated()
    return np.append(twin.x.ravel(), twin.knot_velocities()[1]), balance


@pytest.mark.parametrize(
    ("damping", "order", "h", "factor"),
    [(0.0, 2, 0.02, 4.0), (0.0, 4, 0.02, 16.0), (1.0, 2, 0.01, 2.0)],
    ids=["second", "fourth", "damped"],
)
def test_forced_motion_converges_with_its_order(damping, order, h, factor):
    """Springs, armature and held forces keep the order; a damper, implicit, is of first order."""
    states, balances = [], []
    for step in (h, h / 2.0, h / 4.0):
        mech, twin = start(4, ["universal", "spherical"], damping=damping)
        state, balance = held(
            twin, order, step, random_rates(5, mech, 2.0)[None] * [[1.0], [-0.5], [0.7]]
        )
        states.append(state)
        balances.append(balance)
    coarse, fine = np.abs(np.diff(states, axis=0)).max(axis=1)
    assert coarse / fine == pytest.approx(factor, rel=0.1)
    assert balances[1] / balances[2] == pytest.approx(2.0**order, rel=0.1)


def test_energy_and_momentum_of_a_free_chain():
    """A floating root with springs and ball joints: momentum is kept, energy only oscillates."""
    mech = random_tree(3, ["spherical", "universal"], gravity=(0.0, 0.0, 0.0), to_world=False)
    twin = Twin(mech, 0.01)
    twin.reset(random_positions(3, mech), random_rates(3, mech))
    rng = np.random.default_rng(0)
    energies = []
    momenta = []
    for k in range(100):
        u = (
            np.append(np.zeros(6), rng.normal(size=5)) if k < 20 else None
        )  # internal: nothing pushes on the root
        twin.step(u)
        V, _ = twin.knot_velocities()
        linear = twin.mass[:, None] * V[:, :3]
        spins = rotate(twin.q[1:], np.einsum("nij,nj->ni", twin.inertia, V[:, 3:]))
        momenta.append(
            np.append(linear.sum(axis=0), (np.cross(twin.x[1:], linear) + spins).sum(axis=0))
        )
        energies.append(sum(twin.energy()))
    np.testing.assert_allclose(momenta - momenta[0], 0.0, atol=1e-12 * np.abs(momenta[0]).max())
    assert np.ptp(energies[20:]) < 1e-4 * energies[-1]

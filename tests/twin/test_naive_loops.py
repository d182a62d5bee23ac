"""The slow twin with loops and springs tested alone: derivatives, laws of motion, a known motion, known numbers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import null_space

from oracle.naive import Twin
from oracle.reference import falling_row
from scenes.closing import closed_state
from scenes.loops_plane import (
    double_four_bar,
    five_bar,
    general_four_bars,
    parallel_motion,
    slider_crank,
)
from scenes.loops_space import (
    bricard,
    closed_by,
    minitaur,
    random_loops,
    spatial_four_bar,
    twice_hinged,
)
from scenes.trees import TYPES

CLOSING = [kind for kind in TYPES if kind != "floating"]


def moving_twin(mech, seed=0, h=0.01):
    twin = Twin(mech, h)
    assert twin.reset(*closed_state(mech, seed))
    return twin


def along(function, twin, eps=1e-6):
    """Derivatives of function(x, q) along every body velocity, by central differences."""
    columns = []
    for direction in np.eye(6 * twin.n).reshape(-1, twin.n, 6):
        up, down = (
            function(*twin.ahead(s * direction[:, :3], s * direction[:, 3:], eps))
            for s in (1.0, -1.0)
        )
        columns.append((up - down) / (2.0 * eps))
    return np.array(columns).T


@pytest.mark.parametrize("kind", CLOSING)
def test_rows_of_closing_joints_and_springs_are_derivatives(kind):
    twin = moving_twin(closed_by(kind))
    np.testing.assert_allclose(twin.rows()[0], along(twin.constraint, twin), atol=1e-8)
    np.testing.assert_allclose(
        twin.springs.rows(twin.x, twin.q), along(twin.springs.lengths, twin), atol=1e-8
    )
    change = along(lambda x, q: twin.rates(x, q, 1.0)[2], twin)
    np.testing.assert_allclose(twin.rows()[1], change, atol=1e-8)


@pytest.mark.parametrize(
    "build", [general_four_bars, slider_crank, bricard, spatial_four_bar, minitaur]
)
def test_newton_goes_along_the_derivative_of_the_poses(build):
    """The analytic derivative of a step's end, which the Jacobian is made of."""
    twin = moving_twin(build(1) if build is general_four_bars else build())
    ahead = twin.ahead(twin.v, twin.w, 0.05)
    V = np.hstack([twin.v, twin.w]).ravel()
    h = 0.05
    exact = twin.rows(*ahead)[0] @ twin.turned(twin.w, h)
    for direction in np.random.default_rng(0).normal(size=(5, len(V))):
        probes = (V + sign * 1e-6 * direction for sign in (1.0, -1.0))
        ends = (np.split(probe.reshape(twin.n, 6), 2, axis=1) for probe in probes)
        up, down = (twin.constraint(*twin.ahead(*end, h)) for end in ends)
        np.testing.assert_allclose((up - down) / (2e-6 * h), exact @ direction, atol=1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_small_steps_obey_newton_and_euler(seed):
    """The missing force is one of the constraints, with springs and dampers along their lines."""
    mech = random_loops(
        seed, ["spherical", "universal", "revolute", "cylindrical"], ["revolute"], damping=0.3
    )
    start = closed_state(mech, seed)
    u = 2.0 * np.ones(7)
    h = 1e-4
    after = []
    twin = Twin(mech)
    for twin.h in (h, -h):
        twin.reset(*start)
        twin.step(u)
        after.append(twin.knot_velocities())
    acceleration, joint_acceleration = ((after[0][k] - after[1][k]) / (2.0 * h) for k in range(2))
    twin.reset(*start)
    (G, J) = twin.rows()
    S = twin.springs.rows(twin.x, twin.q)
    (V, rates) = twin.knot_velocities()
    balance = twin.mass[:, None] * (acceleration[:, :3] - mech.gravity)
    about = np.einsum("nij,nj->ni", twin.inertia, acceleration[:, 3:])
    about += np.cross(V[:, 3:], np.einsum("nij,nj->ni", twin.inertia, V[:, 3:]))
    force = (
        np.append(u, np.zeros(len(rates) - 7))
        - twin.damping * rates
        - twin.stiffness * twin.stretch()
    )
    pull = twin.springs.stiffness * (twin.springs.lengths(twin.x, twin.q) - twin.springs.rest)
    pull += twin.springs.damping * (S @ V.ravel())
    missing = (
        np.hstack([balance, about]).ravel()
        - (force - twin.armature * joint_acceleration) @ J
        + pull @ S
    )
    np.testing.assert_allclose(null_space(G).T @ missing, 0.0, atol=1e-5 * np.abs(missing).max())


@pytest.mark.parametrize("windows", [1, 2])
def test_double_four_bar_moves_as_its_one_freedom(windows):
    """Through the singular pose and on: the bars stay parallel, the step is that of the reduced system."""
    twin = Twin(double_four_bar(windows), 0.02)
    assert twin.reset(*by_vector(twin, *parallel_motion(windows)))
    angles = []
    for _ in range(75):
        twin.step()
        angles.append([-twin.angles[f"ground{i}"][0] for i in range(windows + 1)])
        assert np.abs(twin.constraint(twin.x, twin.q)).max() < 1e-11
    assert angles[-1][0] > 1.5 * np.pi  # fell through both poses with all bars in line
    expected = falling_row(windows, 0.02, 75)[0]
    np.testing.assert_allclose(angles, np.tile(expected[:, None], windows + 1), atol=1e-10)


def by_vector(twin, positions, rates):
    """Rates by joint as the vector of tree freedoms, which here has one for each joint."""
    return positions, [rates[joint.name] for joint in twin.tree]


@pytest.mark.parametrize(
    "build", [bricard, twice_hinged, five_bar], ids=lambda build: build.__name__
)
def test_multipliers_of_dependent_rows_are_the_least(build):
    twin = moving_twin(build())
    twin.step()
    dependent = null_space(twin.G.T, rcond=1e-9)
    assert dependent.shape[1] > 0
    np.testing.assert_allclose(dependent.T @ twin.lam, 0.0, atol=1e-9 * np.abs(twin.lam).max())


@pytest.mark.parametrize("order", [2, 4])
def test_motion_and_energy_with_loops_and_springs_converge_with_the_order(order):
    states, drifts = [], []
    mech = random_loops(
        4, ["spherical", "universal", "revolute", "cylindrical"], ["spherical"], armature=False
    )
    start = closed_state(mech, 4)
    for h in (0.04, 0.02, 0.01):
        twin = Twin(mech, h, order)
        twin.reset(*start)
        before = sum(twin.energy())
        for _ in range(round(0.16 / h)):
            twin.step()
        states.append(np.append(twin.x.ravel(), twin.knot_velocities()[1]))
        drifts.append(abs(sum(twin.energy()) - before))
    coarse, fine = np.abs(np.diff(states, axis=0)).max(axis=1)
    assert coarse / fine == pytest.approx(2.0**order, rel=0.1)
    assert drifts[1] / drifts[2] == pytest.approx(2.0**order, rel=0.15)

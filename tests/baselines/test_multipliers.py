"""Acceleration-level multipliers: factors of H, auxiliary rows, drift; and the GGL method."""

import os

import numpy as np
import pytest

from scenes.chains import ball_tree, rod_chain
from scenes.linkages import four_bar, ladder
from scenes.trees import random_tree
from vigym.baselines import METHODS, mechanism_tree
from vigym.baselines.multipliers import Auxiliary, MaximalSystem, Multipliers
from vigym.spatial import batch_rotation_matrix

KINDS = ("revolute", "spherical", "universal", "prismatic", "planar", "cylindrical", "fixed")


def plain_tree(seed=3, kinds=KINDS, **options):
    return random_tree(seed, kinds, springs=False, armature=False, **options)


def moving(mech, seed=0):
    """A method at a random state, and random forces on its bodies."""
    rng = np.random.default_rng(seed)
    method = Multipliers(mech)
    n = len(mech.velocity_names)
    method.reset(velocities=rng.normal(size=n))
    for _ in range(3):
        method.step()
    method.system.place(method._x, batch_rotation_matrix(method._q))
    return method, rng.normal(size=(len(mech.bodies) + 1, 6))


def dense(system):
    """Matrices M (6 n, 6 n) and J (rows, 6 n) of a system."""
    rows, count = system.rows, len(system.mass)
    M, J = np.zeros((count, 6, count, 6)), np.zeros((len(rows.a), count, 6))
    for i in range(1, count):
        M[i, :3, i, :3] = system.mass[i] * np.eye(3)
        M[i, 3:, i, 3:] = system.world_inertia[i]
    for k in range(len(rows.a)):
        J[k, rows.a[k]] += rows.on_a[k]
        J[k, rows.b[k]] += rows.on_b[k]
    size = 6 * (count - 1)
    return M[1:, :, 1:].reshape(size, size), J[:, 1:].reshape(-1, size)


@pytest.mark.parametrize("seed", range(3))
def test_solution_of_a_tree_satisfies_the_whole_system(seed):
    method, F = moving(plain_tree(seed, to_world=seed > 0), seed)
    c = np.random.default_rng(1).normal(size=len(method.system.rows.a))
    V, multipliers = method.system.solve(F, c)
    M, J = dense(method.system)
    v = V[1:].ravel()
    assert M @ v - J.T @ multipliers == pytest.approx(F[1:].ravel(), abs=1e-10)
    assert J @ v == pytest.approx(-c, abs=1e-10)


def test_accelerations_are_those_of_the_articulated_bodies():
    mech = plain_tree(5)
    tree = mechanism_tree(mech)
    rng = np.random.default_rng(0)
    rates = rng.normal(size=tree.dofs)
    method = Multipliers(mech)
    method.reset(velocities=rates)
    h, q = 1e-5, method.positions
    y = np.hstack([method._x, method._q, method._V])
    method._x, method._q, method._V = np.split(y + h * method._slope(y), [3, 7], axis=1)
    found = (method.velocities - rates) / h
    expected = tree.accelerations(q, rates)
    assert found == pytest.approx(expected, abs=1e-3 * np.abs(expected).max())  # of order h


def test_factors_have_the_blocks_of_the_matrix_alone():
    """Each block row has one block beside its diagonal: none is filled, and their number is O(n)."""
    counts = []
    for levels in (3, 4, 5):
        system = Multipliers(ball_tree(levels)).system
        system.place(np.zeros((2**levels, 3)), np.tile(np.eye(3), (2**levels, 1, 1)))
        H, factors = system.H, system.factors
        for i, k in enumerate(H.parent):
            assert k == -1 or k > i
        assert factors.diagonal.shape == H.diagonal.shape
        counts.append(len(H.parent))
    assert counts == [2 * (2**levels - 1) for levels in (3, 4, 5)]


def test_auxiliary_rows_take_one_solution_each():
    for count in (1, 2, 4):
        system = Multipliers(ladder(count)).system
        auxiliary = int((~system.primary).sum())
        before = system.solutions
        system.place(*still(system))
        system.accelerate(np.zeros((len(system.mass), 6)), np.zeros(len(system.rows.a)))
        assert system.solutions - before == auxiliary + 1


def still(system):
    return np.zeros((len(system.mass), 3)), np.tile(np.eye(3), (len(system.mass), 1, 1))


@pytest.mark.parametrize("mech", [four_bar(), ladder(3)], ids=["four-bar", "ladder"])
def test_loops_are_the_dense_solution(mech):
    method, F = moving(mech)
    rows = method.system.rows
    V = method.system.accelerate(F, rows.drift(method._V))
    M, J = dense(method.system)
    drift = rows.drift(method._V)
    inverse = np.linalg.inv(M)
    force = F[1:].ravel()
    multipliers = np.linalg.solve(J @ inverse @ J.T, -(J @ inverse @ force + drift))
    assert V[1:].ravel() == pytest.approx(inverse @ (force + J.T @ multipliers), abs=1e-9)
    assert J @ V[1:].ravel() == pytest.approx(-drift, abs=1e-10)


def test_general_rows_tie_bodies_that_no_joint_joins():
    """The speed of one rod is twice that of another; a row that pushes elsewhere does so too."""
    method, F = moving(ball_tree(3))
    system, count = method.system, len(method.system.mass)
    J, K = np.zeros((2, count, 6)), np.zeros((2, count, 6))
    J[0, 4, 0], J[0, 6, 0] = 1.0, -2.0
    J[1, 5, 4] = 1.0
    K[0, 4, 0], K[1, 3, 4] = 1.0, 1.0
    tree, c = system.rows.drift(method._V), np.array([0.3, -0.2])
    for push in (None, K):
        V = Auxiliary(system, J.copy(), push).correct(system.solve(F, tree)[0], c)
        assert np.einsum("inc,nc->i", J, V) == pytest.approx(-c, abs=1e-10)
        M, rows = dense(system)
        v, forces = V[1:].ravel(), (J if push is None else push)[:, 1:].reshape(2, -1)
        assert rows @ v == pytest.approx(-tree, abs=1e-10)
        multipliers = np.linalg.lstsq(np.vstack([rows, forces]).T, M @ v - F[1:].ravel())[0]
        assert rows.T @ multipliers[:-2] + forces.T @ multipliers[-2:] == pytest.approx(
            M @ v - F[1:].ravel(), abs=1e-9
        )


def drifts(name, steps=120):
    method = METHODS[name](four_bar(), timestep=0.01)
    method.reset(velocities={"j0": 2.0})
    gaps = []
    for _ in range(steps):
        method.step()
        gaps.append(method.gap())
    return np.array(gaps)


def test_gaps_drift_without_feedback_and_not_with_it():
    free, led = drifts("multipliers"), drifts("baumgarte")
    held = drifts("ggl", 60)
    assert free[90:].max() > 2.0 * free[30:60].max() > 1e-9
    assert led[90:].max() < 2.0 * led[:60].max() < 1e-5
    assert held.max() <= 3**0.5 * 1e-10  # a distance of three rows


def test_ggl_keeps_rates_within_the_constraints_too():
    method = METHODS["ggl"](four_bar(), timestep=0.01)
    method.reset(velocities={"j0": 2.0})
    for _ in range(50):
        method.step()
        method.system.rows.place(method._x, batch_rotation_matrix(method._q))
        assert np.abs(method.system.rows.rates(method._V)).max() <= 1e-10


def test_ggl_passes_poses_where_all_bars_are_in_line():
    method = METHODS["ggl"](ladder(2), timestep=0.01)
    method.reset(velocities={"g0": 3.0})
    start, angles = method.energy().total, []
    for _ in range(100):
        method.step()
        angles.append(method.positions[0])
    assert np.ptp(angles) > 1.5 * np.pi  # lies at a quarter of a turn on either side
    assert method.gap() <= 3**0.5 * 1e-10
    assert method.energy().total == pytest.approx(start, abs=0.1)


def test_systems_of_a_floating_body_have_no_rows():
    system = MaximalSystem(plain_tree(1, (), to_world=False))
    system.place(*still(system))
    weight = np.zeros((2, 6))
    weight[1, 2] = -9.81 * system.mass[1]
    assert system.accelerate(weight, np.zeros(0))[1, 2] == pytest.approx(-9.81)


def test_chains_of_any_length_are_factorised_once_a_stage():
    for count in (1, 5):
        method = METHODS["multipliers"](rod_chain(count))
        method.step()
        assert method.factorisations == 4


def test_a_kernel_calls_one_that_was_loaded(run_python, tmp_path):
    """Kernels of baselines call each other, also those that an earlier process compiled."""
    settings = {"env": os.environ | {"VIGYM_CACHE_DIR": str(tmp_path / "kernels")}}
    screws = "import numpy as np; from vigym.baselines.screws import mul; mul(np.eye(6), np.eye(6))"
    solve = """
import numpy as np
from vigym.baselines.sparse import Blocks, sparse_factor
each, size = np.array([2.0 * np.eye(6)] * 2), np.array([6, 6])
print(sparse_factor(Blocks(np.array([1, -1]), size, each, 0.5 * each)).diagonal[:, 0, 0].tolist())
"""
    assert run_python(screws, **settings).returncode == 0
    for _ in range(2):
        assert run_python(solve, **settings).stdout == "[0.5, 0.6666666666666666]\n"

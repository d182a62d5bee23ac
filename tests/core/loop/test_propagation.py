"""Loop rows on their way up the tree: what a row is for a parent's motion, its degrees of freedom at their best."""

import numpy as np
import pytest

from scenes.plain_python import Fields, random_vector
from vigym.core.loop import propagation

RNG = np.random.default_rng(0)


def test_a_row_seen_by_the_parent_is_the_row_by_its_motion():
    """A body that moves with its parent shifts by what the parent's rotation makes of the lever."""
    lever3, lever2 = random_vector(RNG), random_vector(RNG)
    K, B = ((random_vector(RNG), random_vector(RNG)) for _ in range(2))
    seen_K, seen_B = propagation.shift_row_to_parent_anchor(
        Fields(lever3=lever3, lever2=lever2), K, B
    )
    shift, rotation = np.array(random_vector(RNG)), np.array(random_vector(RNG))
    for row, seen, lever in ((K, seen_K, lever3), (B, seen_B, lever2)):
        own = np.dot(row[0], shift + np.cross(rotation, lever)) + np.dot(row[1], rotation)
        assert np.dot(seen[0], shift) + np.dot(seen[1], rotation) == pytest.approx(own)


def test_a_dof_that_is_eliminated_leaves_its_schur_complement():
    D = RNG.normal(size=(6, 6))
    N, W = RNG.normal(size=6), RNG.normal(size=6)
    K, B = RNG.normal(size=(2, 6))
    pivot = W @ D @ N + 0.7
    u, w = D @ N, D.T @ W
    dof = Fields(
        inverse_pivot=1.0 / pivot, row_force=tuple(w[:3] / pivot), row_torque=tuple(w[3:] / pivot)
    )
    dof.column_force, dof.column_torque = tuple(u[:3]), tuple(u[3:])
    fill_in = Fields(K_dof=np.zeros(6), B_dof=np.zeros(6))
    halves = (tuple(K[:3]), tuple(K[3:])), (tuple(B[:3]), tuple(B[3:]))
    left = propagation.eliminate_dof_from_row(dof, fill_in, 2, K @ N, W @ B, *halves)
    bordered = np.block([[D, B[:, None]], [K[None], np.zeros((1, 1))]])
    column, row = np.append(u, K @ N), np.append(w, W @ B)
    expected = bordered - np.outer(column, row) / pivot
    assert np.ravel(left[0]) == pytest.approx(expected[6, :6])
    assert np.ravel(left[1]) == pytest.approx(expected[:6, 6])
    coupling = propagation.sum_over_dofs(Fields(), fill_in, fill_in, 6)
    assert coupling == pytest.approx(-expected[6, 6])


def test_rows_are_written_or_added():
    values = dict.fromkeys(("K_force", "K_torque", "B_force", "B_torque"), (1.0, 2.0, 3.0))
    K, B = ((4.0, 0.0, 0.0), (5.0, 0.0, 0.0)), ((6.0, 0.0, 0.0), (7.0, 0.0, 0.0))
    for adds, more in ((0, 0.0), (1, 1.0)):
        above = Fields(**values)
        d = Fields(fill_in=lambda q, above=above: above)
        propagation.propagate_row_to_parent(d, Fields(parent_fill_in=-1, adds=adds), K, B)
        assert above.K_force == (1.0, 2.0, 3.0)
        propagation.propagate_row_to_parent(d, Fields(parent_fill_in=3, adds=adds), K, B)
        firsts = above.K_force[0], above.K_torque[0], above.B_force[0], above.B_torque[0]
        assert firsts == (4.0 + more, 5.0 + more, 6.0 + more, 7.0 + more)


def test_a_dof_that_friction_holds_counts_as_free_for_the_shift():
    """K N (W B) over the pivot without what holds it: pivot - compliance."""
    inertia, holding = 2.0, 50.0
    dof = Fields(compliance=holding, inverse_pivot=1.0 / (inertia + holding))
    row = Fields(K_dof=[3.0], B_dof=[4.0 * dof.inverse_pivot])
    d, body = Fields(dof=lambda p: dof), Fields(first_dof=0)
    assert propagation.sum_over_free_dofs(d, row, body, 1) == pytest.approx(3.0 * 4.0 / inertia)
    dof.compliance, dof.inverse_pivot = np.inf, 0.0
    assert np.isfinite(propagation.sum_over_free_dofs(d, row, body, 1))

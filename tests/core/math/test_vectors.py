"""Vectors and matrices as tuples do what numpy's do."""

import numpy as np
import pytest

from vigym.core.math import vectors

RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(2, 3, 3))
a, b = RNG.normal(size=(2, 3))
UNIT_LOWER = np.tril(A, -1) + np.eye(3)


def flat(x):
    return tuple(np.ravel(x))


def cross_matrix(x):
    return np.cross(x, np.eye(3)).T


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("add", (a, b), a + b),
        ("sub", (a, b), a - b),
        ("scale", (2.5, a), 2.5 * a),
        ("axpy", (2.5, a, b), 2.5 * a + b),
        ("dot", (a, b), a @ b),
        ("cross", (a, b), np.cross(a, b)),
        ("mat_vec", (A, a), A @ a),
        ("mat_t_vec", (A, a), A.T @ a),
        ("matmul", (A, B), A @ B),
        ("matmul_t", (A, B), A @ B.T),
        ("mat_add", (A, B), A + B),
        ("mat_sub", (A, B), A - B),
        ("mat_scale", (2.5, A), 2.5 * A),
        ("skew", (a,), cross_matrix(a)),
        ("matmul_skew", (A, a), A @ cross_matrix(a)),
        ("skew_matmul", (a, A), cross_matrix(a) @ A),
        ("mat_sub_outer", (A, a, b), A - np.outer(a, b)),
        ("symmetric_matrix", (np.arange(6.0),), [[0, 3, 4], [3, 1, 5], [4, 5, 2]]),
        ("max_abs3", (a,), np.abs(a).max()),
    ],
)
def test_as_numpy_does(name, arguments, expected):
    given = [x if np.ndim(x) == 0 else flat(x) for x in arguments]
    assert flat(getattr(vectors, name)(*given)) == pytest.approx(flat(expected), rel=1e-14)


def test_the_cross_product_matrix_is_one():
    assert cross_matrix(a) @ b == pytest.approx(np.cross(a, b))


def test_factors_solve():
    F = vectors.lu_factors(flat(A))
    x = vectors.solve_upper(F, vectors.solve_lower(F, flat(b)))
    assert A @ x == pytest.approx(b, rel=1e-13)
    y = np.array(vectors.solve_upper_t(F, flat(b)))
    upper = np.array([[1 / F[0], F[1], F[2]], [0, 1 / F[4], F[5]], [0, 0, 1 / F[8]]])
    assert y @ upper == pytest.approx(b, rel=1e-13)
    lower = np.array([[1, 0, 0], [F[3], 1, 0], [F[6], F[7], 1]])
    assert lower @ upper == pytest.approx(A, rel=1e-13)
    Y = np.reshape(vectors.mat_solve_lower(F, flat(B)), (3, 3))
    assert lower @ Y == pytest.approx(B, rel=1e-13)
    Y = np.reshape(vectors.mat_solve_upper(flat(B), F), (3, 3))
    assert Y @ upper == pytest.approx(B, rel=1e-13)


@pytest.mark.parametrize(
    ("name", "size"), [("select3", 3), ("select4", 4), ("select6", 6), ("select9", 9)]
)
def test_masks_select(name, size):
    one, other = tuple(range(size)), tuple(range(size, 2 * size))
    select = getattr(vectors, name)
    assert (select(True, one, other), select(False, one, other)) == (one, other)

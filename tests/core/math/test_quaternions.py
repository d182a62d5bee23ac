"""Unit quaternions are rotations."""

import numpy as np
import pytest

from scenes.plain_python import random_quaternion
from vigym.core.math.quaternions import conjugate, quaternion_product, renormalised, rotation_matrix

RNG = np.random.default_rng(1)
p, q = random_quaternion(RNG), random_quaternion(RNG)


def matrix(x):
    return np.reshape(rotation_matrix(x), (3, 3))


def test_matrices_are_rotations():
    R = matrix(q)
    assert pytest.approx(np.eye(3), abs=1e-15) == R @ R.T
    assert np.linalg.det(R) == pytest.approx(1.0)
    quarter = (np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5))
    assert matrix(quarter) @ (1, 0, 0) == pytest.approx([0, 1, 0], abs=1e-15)


def test_products_are_those_of_matrices():
    assert matrix(quaternion_product(p, q)) == pytest.approx(matrix(p) @ matrix(q), abs=1e-15)
    assert quaternion_product(q, conjugate(q)) == pytest.approx((1, 0, 0, 0), abs=1e-15)


def test_lengths_are_kept_at_one():
    off = tuple((1.0 + 1e-8) * x for x in q)
    assert np.linalg.norm(renormalised(off)) == pytest.approx(1.0, abs=1e-15)

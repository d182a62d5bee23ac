"""Spring of three free rotations: its moments are derivatives of a discrete potential, and have exact slopes."""

import numpy as np
import pytest

from scenes.plain_python import Fields, derivative
from vigym.core.joint import ball_spring
from vigym.core.joint.coordinates import rotation_vector_component
from vigym.core.math.quaternions import conjugate, quaternion_product

RNG = np.random.default_rng(3)


def near(q, size):
    turn = size * RNG.normal(size=3)
    w = np.sqrt(1.0 - turn @ turn)
    return quaternion_product(q, (w, *turn))


E2 = near((1.0, 0.0, 0.0, 0.0), 0.3)
E3 = near(E2, 0.1)


def turned(e, phi):
    """Turn by a small rotation vector about the child's axes."""
    return quaternion_product(e, (1.0, *(0.5 * np.array(phi))))


def mean(e2, e3):
    """Rotation vector of the mean of two quaternions, and (w, x, y, z), a multiple of it."""
    q = tuple(np.add(e2, e3))
    return np.array([rotation_vector_component(q[k], q) for k in (1, 2, 3)]), q


def moments(e2, e3):
    """Moments at both knots for a unit stiffness."""
    phi, _ = mean(e2, e3)
    c, *v = quaternion_product(conjugate(e2), e3)
    w = np.array(v) / (1.0 + c)
    return phi + np.cross(w, phi), phi - np.cross(w, phi), w


def test_moments_are_derivatives_of_the_potential():
    """Of |phi|^2 / 2, half of each; by a turn of the child at a knot."""
    before, after, _ = moments(E2, E3)

    def potential(e2, e3):
        phi, _ = mean(e2, e3)
        return 0.5 * phi @ phi

    for k, axis in enumerate(np.eye(3)):
        by_first = derivative(lambda phi: potential(turned(E2, phi), E3), axis)
        by_last = derivative(lambda phi: potential(E2, turned(E3, phi)), axis)
        assert (by_first, by_last) == pytest.approx((0.5 * before[k], 0.5 * after[k]), rel=1e-7)


def test_slope_of_the_moment():
    phi, q = mean(E2, E3)
    b = ball_spring.second_order_coefficient(tuple(phi), q[0], np.linalg.norm(q[1:]))
    _, _, w = moments(E2, E3)
    for axis in np.eye(3):
        found = derivative(lambda turn: moments(E2, turned(E3, turn))[0], axis)
        slope = ball_spring.moment_derivative(tuple(phi), tuple(w), b, tuple(axis))
        assert slope == pytest.approx(2.0 * found, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("angle", [1e-3, 0.5, 2.5])
def test_the_coefficient_of_second_order(angle):
    phi = (angle, 0.0, 0.0)
    found = ball_spring.second_order_coefficient(phi, np.cos(0.5 * angle), np.sin(0.5 * angle))
    exact = (1.0 - 0.5 * angle / np.tan(0.5 * angle)) / angle**2
    assert found == pytest.approx(exact, rel=1e-6)


def test_unit_vectors():
    assert np.array([ball_spring.unit_vector(Fields(), j) for j in range(3)]) == pytest.approx(
        np.eye(3)
    )


def test_increment_axes_make_loads_grow_alone():
    """With P the slope of the loads, P times the axes is the diagonal of P, however unlike it is."""
    dofs = [Fields(increment_axis=None, compliance=None) for _ in range(3)]
    d = Fields(dof=lambda p: dofs[p])
    phi, q = mean(E2, E3)
    c, *v = quaternion_product(conjugate(E2), E3)
    b = ball_spring.second_order_coefficient(tuple(phi), q[0], np.linalg.norm(q[1:]))
    motion = tuple(phi), c, tuple(v), b
    own = (3e5, 0.2, 0.1)
    ball_spring.write_ball_increment_axes(d, 0, own, 2.0, motion)
    P = np.array(
        [ball_spring.ball_load_jacobian_column(d, j, own, 2.0, motion) for j in range(3)]
    ).T
    axes = np.array([dof.increment_axis for dof in dofs]).T
    slopes = np.array([dof.compliance for dof in dofs])
    assert slopes == pytest.approx(np.diag(P), rel=1e-12)
    assert (P @ axes) / slopes[:, None] == pytest.approx(np.eye(3), abs=1e-12)

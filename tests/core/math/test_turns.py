"""Rates, momenta and rolling over a step: their series, their symmetry, and their slopes."""

import numpy as np
import pytest

from scenes.plain_python import derivative, random_vector
from vigym.core.math import turns
from vigym.core.math.quaternions import conjugate, quaternion_product

RNG = np.random.default_rng(2)
E = 0.3 * RNG.normal(size=3)
C = np.sqrt(1.0 - E @ E)
S = RNG.normal(size=(3, 3))
J = S @ S.T
H = 0.01


def step_turned_in_world(phi):
    """The step's quaternion (c, e) after a small rotation in the world at its end.

    e is the same in the world and in the body at the first knot if that is not turned.
    """
    c, *e = quaternion_product((1.0, *(0.5 * np.array(phi))), (C, *E))
    return c, np.array(e)


def step_turned_in_body(phi):
    c, *e = quaternion_product((C, *E), (1.0, *(0.5 * np.array(phi))))
    return c, np.array(e)


def test_a_rate_is_the_angle_over_the_step():
    for angle in (1e-3, 0.5, 1.5):
        x = 0.5 * angle
        w = (2.0 / H * np.sin(x), 0.0, 0.0)
        rate = turns.rotation_rate(w, np.cos(x))[0]
        assert rate * H == pytest.approx(angle, rel=x**4 / 150.0 + 1e-12)
        assert turns.angle_rate(np.sin(x), np.cos(x), 1.0 / H)[0] == pytest.approx(rate)


@pytest.mark.parametrize(("half", "is_end"), [(0.5 * H, False), (-0.5 * H, True)])
def test_momenta_are_derivatives_of_the_kinetic_energy(half, is_end):
    """The momentum at a knot is that of the step's action, h omega.J omega / 2, by a turn there."""

    def action(phi):
        turn = (1.0, *(0.5 * np.array(phi)))
        step = (C, *E)
        c, *e = (
            quaternion_product(step, turn) if is_end else quaternion_product(conjugate(turn), step)
        )
        omega = np.array(turns.rotation_rate(tuple(2.0 * np.array(e) / H), c))
        return 0.5 * H * omega @ J @ omega

    w = tuple(2.0 * E / H)
    slope = np.array([derivative(action, axis) for axis in np.eye(3)])
    expected = slope if is_end else -slope
    assert turns.step_momentum(tuple(J @ w), w, C, half) == pytest.approx(expected, rel=1e-8)


def test_slope_of_the_momentum():
    def momentum(phi):
        c, e = step_turned_in_body(phi)
        w = tuple(2.0 * e / H)
        return H * np.array(turns.step_momentum(tuple(J @ w), w, c, 0.5 * H))

    K = np.reshape(turns.step_momentum_slope(tuple(J.ravel()), C, tuple(E)), (3, 3))
    expected = np.array([derivative(momentum, axis) for axis in np.eye(3)]).T
    assert pytest.approx(expected, rel=1e-7, abs=1e-8) == K


def test_slopes_of_a_single_rotation():
    x = 0.4
    _, slope, _, momentum_slope = turns.angle_rate(np.sin(x), np.cos(x), 1.0 / H)

    def values(change):
        y = x + 0.5 * change[0]
        rate, _, momentum, _ = turns.angle_rate(np.sin(y), np.cos(y), 1.0 / H)
        return rate, momentum

    assert derivative(values, (1.0,)) == pytest.approx((slope, momentum_slope), rel=1e-7)


@pytest.mark.parametrize(
    ("slope", "factor"),
    [
        (turns.rotation_slope, lambda c: 6.0 / (2.0 + c)),
        (turns.rolling_slope, turns.rolling_factor),
    ],
)
def test_slopes_by_a_turn_at_the_end(slope, factor):
    direction = random_vector(RNG)

    def along(phi):
        c, e = step_turned_in_world(phi)
        return factor(c) * np.dot(direction, e)

    expected = [derivative(along, axis) for axis in np.eye(3)]
    assert slope(direction, C, tuple(E)) == pytest.approx(expected, rel=1e-8)


def test_slope_of_the_rolling_factor():
    expected = derivative(lambda x: turns.rolling_factor(C + x[0]), (1.0,))
    assert turns.rolling_factor_slope(C) == pytest.approx(expected, rel=1e-8)

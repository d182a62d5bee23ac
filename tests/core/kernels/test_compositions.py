"""Compositions of steps: parts that add up to one, are the same backwards, and cancel the leading errors."""

import numpy as np
import pytest

from vigym.core.kernels import compositions


@pytest.mark.parametrize("order", [2, 4, 6])
def test_parts_add_up_and_are_the_same_backwards(order):
    count = compositions.stage_count(order)
    parts = np.array([compositions.stage_fraction(order, stage) for stage in range(count)])
    assert parts.sum() == pytest.approx(1.0, abs=1e-15)
    np.testing.assert_array_equal(parts, parts[::-1])
    assert (parts**3).sum() == pytest.approx(0.0 if order > 2 else 1.0, abs=1e-14)
    assert (abs((parts**5).sum()) < 1e-14) == (order == 6)


@pytest.mark.parametrize(("order", "shrinks"), [(2, 4.0), (4, 16.0), (6, 64.0)])
def test_errors_fall_with_the_order(order, shrinks):
    """Of a pendulum by leapfrog steps, halved."""

    def end(steps):
        angle = 1.0
        rate, h = 0.0, 2.0 / steps
        for number in range(steps * compositions.stage_count(order)):
            dt = h * compositions.stage_fraction(order, number % compositions.stage_count(order))
            rate -= 0.5 * dt * np.sin(angle)
            angle += dt * rate
            rate -= 0.5 * dt * np.sin(angle)
        return angle

    errors = [abs(end(steps) - end(400)) for steps in (8, 16)]
    assert errors[0] / errors[1] == pytest.approx(shrinks, rel=0.3)

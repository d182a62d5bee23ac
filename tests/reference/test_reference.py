"""Published and independently computed solutions, met with the errors that the order predicts."""

from __future__ import annotations

import numpy as np
import pytest

from oracle.reference import (
    DOUBLE_PENDULUM,
    DOUBLE_PENDULUM_ERRORS,
    DOUBLE_PENDULUM_START,
    HEAVY_TOP,
    HEAVY_TOP_START,
    SIMPLE_PENDULUM,
    absolute,
    double_pendulum,
    heavy_top,
    simple_pendulum,
)
from vigym import Simulator

ON_GRID = {time: SIMPLE_PENDULUM[time] for time in (1.0, 10.0)}  # whole steps of 20 ms


def run(mech, start, h, times, read, order=2):
    """What `read` finds at each of the times [s]; every step has to converge with nothing clipped."""
    sim = Simulator(mech, timestep=h, order=order, tolerance=1e-12)
    sim.reset(*start)
    found, done = [], 0
    for time in times:
        steps = round(time / h) - done
        status = sim.step(substeps=steps)
        assert status.converged
        assert not status.clipped
        assert status.halvings == 0
        done += steps
        assert sim.time == pytest.approx(time, abs=1e-9)
        found.append(read(sim))
    return np.array(found)


def double_pendulum_error(h, order=2):
    found = run(
        double_pendulum(),
        DOUBLE_PENDULUM_START,
        h,
        (2.0,),
        lambda sim: absolute(sim.joint_positions, sim.joint_velocities),
        order,
    )
    return np.abs(found[0] - DOUBLE_PENDULUM)


def test_double_pendulum_is_second_order_in_angles_and_rates():
    errors = {h: double_pendulum_error(h) for h in DOUBLE_PENDULUM_ERRORS}
    for h, known in DOUBLE_PENDULUM_ERRORS.items():
        np.testing.assert_allclose(errors[h], np.abs(known), rtol=0.05)
    coarse, fine = errors[0.02] / errors[0.01], errors[0.01] / errors[0.005]
    assert np.all((coarse > 3.5) & (coarse < 4.6)), coarse
    assert np.all((fine > 3.8) & (fine < 4.2)), fine


def test_double_pendulum_is_fourth_order_with_order_4():
    coarse, fine = (double_pendulum_error(h, order=4) for h in (0.01, 0.005))
    np.testing.assert_allclose(np.log2(coarse / fine), 4.0, atol=0.2)
    assert np.all(fine < np.abs(DOUBLE_PENDULUM_ERRORS[0.005]) / 30.0)


@pytest.mark.parametrize(
    ("build", "start", "reference", "h", "order", "left"),
    [
        (heavy_top, HEAVY_TOP_START, HEAVY_TOP, 0.001, 2, 0.05),
        (simple_pendulum, (), SIMPLE_PENDULUM, 0.01, 2, 0.05),
        (heavy_top, HEAVY_TOP_START, HEAVY_TOP, 0.004, 4, 0.1),
        (simple_pendulum, (), ON_GRID, 0.02, 4, 0.1),
    ],
    ids=["heavy_top-2", "simple_pendulum-2", "heavy_top-4", "simple_pendulum-4"],
)
def test_solution_is_met_with_the_error_of_the_order(build, start, reference, h, order, left):
    """Halving the step divides the error by 2^order; what is left without that part is small.

    With order 4 it is more: the references have eight and ten digits, so that steps must be large.
    """
    mech = build()
    expected = np.array(list(reference.values()))
    factor = 2.0**order
    (body,), size = mech.bodies, expected.shape[1]

    def read(sim):
        return sim.body_position(body)[:size]

    coarse, fine = (
        run(mech, start, step, reference, read, order) - expected for step in (h, h / 2.0)
    )
    assert np.abs(coarse).max() / np.abs(fine).max() == pytest.approx(factor, rel=0.1)
    assert np.abs(factor * fine - coarse).max() / (factor - 1.0) < left * np.abs(fine).max()

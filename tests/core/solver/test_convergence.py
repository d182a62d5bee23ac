"""Convergence: predicted residuals bound those that are measured next, and when a lane is solved."""

import numpy as np
import pytest

from scenes.plain_python import TOLERANCE, Fields, derivative, step_of
from scenes.trees import TYPES, random_positions, random_rates, random_tree
from vigym import Simulator
from vigym.core.solver import convergence
from vigym.core.solver.attempts import INTERIOR_POINT, PROJECTIONS
from vigym.core.solver.iteration import Evaluation, Iteration, LawErrors
from vigym.core.solver.line_search import take_step
from vigym.core.solver.newton import increment_rotation, start_attempt
from vigym.core.solver.residual import PROX, evaluate_iterate

H = 0.01
ONE, O = np.float64(1.0), np.float64(0.0)
D = Fields(loop_row_count=0, environment=Fields(force_scale=10.0))


@pytest.mark.parametrize("rates", [1.0, 4.0])
def test_the_next_residual_of_a_chord_is_below_its_prediction(rates):
    """But for the first prediction: after Newton's own increment the chord contracts by half as much, in theory."""
    mech = random_tree(3, TYPES[:9], damping=0.3)
    sim = Simulator(mech, timestep=H)
    sim.reset(random_positions(5, mech, 0.1), random_rates(4, mech, rates))
    d, step = step_of(sim, H)
    lanes, slack, stalled = start_attempt(d, step, np.True_, PROJECTIONS, TOLERANCE)
    bounds = []
    residuals, previous = [], ONE
    for number in range(5):
        iteration = Iteration(number, PROJECTIONS, PROX, O, O, ONE, slack, stalled, TOLERANCE)
        found = evaluate_iterate(d, step, lanes, np.bool_(number == 0), np.False_, iteration)
        rotation = increment_rotation(d, step.knot3, found)
        take_step(d, step, ONE, lanes, False)
        contraction, previous = found.residual / previous, found.residual
        bounds.append(
            convergence.predict_residual(d, found, contraction, rotation, ONE, iteration)[0]
        )
        residuals.append(found.residual)
    assert residuals[0] > 1e-4
    for bound, measured, share in zip(bounds[1:], residuals[2:], (3.0, 1.0, 1.0), strict=False):
        assert measured < share * bound + 1e-12
        assert bound < 10.0 * measured + 1e-12  # it is not only large


def found(residual, nonsmooth=False, gap=0.0):
    errors = LawErrors(O, O, ONE, O, O)
    return Evaluation(np.float64(residual), O, np.float64(gap), O, np.bool_(nonsmooth), O, errors)


def is_converged(*given, number=1, contraction=0.01, active=True, method=PROJECTIONS, **changed):
    values = {
        "prox": PROX,
        "kappa": O,
        "tight": O,
        "scale": ONE,
        "slack": ONE,
        "stalled_slack": ONE,
    } | changed
    iteration = Iteration(number=number, method=method, tolerance=TOLERANCE, **values)
    return bool(
        convergence.converged(
            D, found(*given), np.float64(contraction), np.bool_(active), iteration
        )
    )


def test_a_lane_is_solved_whose_residual_and_gap_are_small():
    assert is_converged(0.9 * TOLERANCE)
    assert not is_converged(1.1 * TOLERANCE)
    assert not is_converged(0.9 * TOLERANCE, False, 1.1 * TOLERANCE)
    assert not is_converged(0.9 * TOLERANCE, active=False)
    assert is_converged(1.1 * TOLERANCE, slack=np.float64(2.0))


def test_nonsmooth_lanes_may_be_rougher_but_not_relaxed_or_soft():
    assert is_converged(50.0 * TOLERANCE, True)
    assert not is_converged(50.0 * TOLERANCE, False)
    assert not is_converged(50.0 * TOLERANCE, True, prox=0.1)
    relaxed = {"method": INTERIOR_POINT, "kappa": np.float64(2.0), "tight": ONE}
    assert not is_converged(50.0 * TOLERANCE, True, **relaxed)
    assert is_converged(50.0 * TOLERANCE, True, **(relaxed | {"kappa": ONE}))


def test_a_residual_that_stopped_falling_may_keep_its_rounding():
    stalled = {"stalled_slack": np.float64(10.0)}
    assert is_converged(5.0 * TOLERANCE, contraction=0.9, **stalled)
    assert not is_converged(5.0 * TOLERANCE, contraction=0.1, **stalled)


def test_rounding_loosens_the_tolerance_in_proportion_to_the_term():
    assert convergence.rounding_tolerance_factor(D, ONE, TOLERANCE) == 1.0
    large = [
        convergence.rounding_tolerance_factor(D, np.float64(1e10 * k), TOLERANCE)
        for k in (1.0, 3.0)
    ]
    assert large[1] == pytest.approx(3.0 * large[0])
    assert large[0] * TOLERANCE * 10.0 == pytest.approx(convergence.ROUND_OFF[0] * 1e10)


def test_the_slope_of_a_prediction_by_the_residual_is_its_contraction():
    iteration = Iteration(1, PROJECTIONS, PROX, O, O, ONE, ONE, ONE, TOLERANCE)
    slope = derivative(
        lambda x: convergence.predict_residual(D, found(1e-5 + x[0]), 0.01, O, ONE, iteration)[0],
        (1.0,),
        1e-7,
    )
    assert slope == pytest.approx(convergence.SAFETY * 0.01)

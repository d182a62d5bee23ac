"""Assembly: given coordinates are held, loops are closed, and nothing else of the state changes."""

import numpy as np
import pytest

from scenes.plain_python import data_of
from scenes.touching_scenes import fixed_leg, geared
from vigym import Simulator
from vigym.core.kernels import assemble


def assembled(mech, given, rates=None):
    """Outcome and arrays of an assembly, and whether the state stayed as it was."""
    d = data_of(Simulator(mech))
    start = np.zeros((1, d.position_count))
    wanted = np.full((1, d.position_count), np.nan)
    wanted[0, list(given)] = list(given.values())
    given_rates = np.full((1, d.velocity_count), np.nan)
    given_rates[0, list(rates or {})] = list((rates or {}).values())
    first = np.nan_to_num(given_rates)
    arrays = assemble.Assembly(start.copy(), start.copy(), wanted, start, first, given_rates)
    outcome, before = np.zeros((1, assemble.JOINT_GAPS + d.joint_count)), d.state.copy()
    assemble.assemble_group(d, arrays, outcome, 0)
    np.testing.assert_array_equal(d.state, before)
    return d, arrays, outcome[0]


@pytest.mark.parametrize("angle", [0.0, 0.4, -0.6])
def test_a_leg_closes_at_given_angles_of_its_hips(angle):
    _, arrays, outcome = assembled(fixed_leg(), {0: angle, 2: 0.1})
    assert arrays.positions[0, 0] == pytest.approx(angle)
    assert outcome[assemble.GAP_LEFT] < 1e-12
    assert outcome[assemble.JOINT_GAPS] < 1e-10
    assert outcome[assemble.RATE_LEFT] < 1e-10
    assert outcome[assemble.WEAK_ROWS] == 0.0


def test_coordinates_and_rates_of_a_gear_follow_those_given():
    _, arrays, _ = assembled(geared(-2.0), {0: 0.3}, {1: 1.0})
    assert arrays.positions[0] == pytest.approx((0.3, -0.6))
    assert arrays.rates[0] == pytest.approx((-0.5, 1.0))


def test_changes_are_made_in_stages():
    d = data_of(Simulator(geared(-2.0)))
    start, given = np.zeros((1, 2)), np.array([[np.nan, -1.5]])
    assert assemble.largest_given_change(d, start, given, 0) == 1.5
    positions, before = np.array([[0.2, 0.1]]), np.array([[0.1, 0.0]])
    assemble.move_towards_given(d, positions, before, start, given, np.float64(0.5), np.True_, 0)
    assert positions[0] == pytest.approx((0.2, 0.1))
    before[:] = (0.1, 0.0)
    assemble.move_towards_given(d, positions, before, start, given, np.float64(0.5), np.False_, 0)
    assert positions[0] == pytest.approx(
        (0.3, -0.75)
    )  # one is extrapolated, the other half of its way
    assert before[0] == pytest.approx((0.2, 0.1))

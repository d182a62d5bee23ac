"""Closing of loops: the motion of least kinetic energy, which moves no coordinate that is held."""

import numpy as np
import pytest

from scenes.plain_python import data_of
from scenes.touching_scenes import fixed_leg, geared
from vigym import Simulator
from vigym.core.kernels import close_loops
from vigym.core.model.context import knot_buffer
from vigym.core.tree.ldu import sum_joint_closures

NONE = np.array([[np.nan, np.nan]])


def closing(given):
    """Motion of two geared flywheels whose coupling is off by 0.3 rad."""
    d = data_of(Simulator(geared(-2.0)))
    knot = knot_buffer(d, 0)
    close_loops.hold_given(d, given, False, np.True_, 0)
    sum_joint_closures(d, knot)
    d.loop_row(0).residual = 0.3
    largest = close_loops.closing_motion(d, knot)
    return d.dof(0).increment, d.dof(1).increment, largest


def test_the_lighter_flywheel_moves_more():
    """Of 0.1 and 0.02 kg m^2: the least of 0.1 a^2 + 0.02 b^2 with b + 2 a = -0.3."""
    a, b, largest = closing(NONE)
    grid = np.linspace(-0.3, 0.3, 600001)
    energy = 0.1 * grid**2 + 0.02 * (-0.3 - 2.0 * grid) ** 2
    assert a == pytest.approx(grid[energy.argmin()], abs=2e-6)
    assert b == pytest.approx(-0.3 - 2.0 * a)
    assert largest == pytest.approx(max(abs(a), abs(b)))


@pytest.mark.parametrize("held", [0, 1])
def test_a_given_coordinate_does_not_move(held):
    given = NONE.copy()
    given[0, held] = 0.0
    a, b, _ = closing(given)
    assert (a, b)[held] == pytest.approx(0.0, abs=1e-12)
    assert b + 2.0 * a == pytest.approx(-0.3)


def test_newtons_method_closes_a_leg():
    d = data_of(Simulator(fixed_leg()))
    positions = np.array([[0.2, -0.1, 0.1, 0.05]])[:, : d.position_count]
    given = np.full(positions.shape, np.nan)
    given[0, 0] = 0.2
    gap = close_loops.close_loops(d, knot_buffer(d, 0), positions, given, np.True_, np.True_, 0)
    assert gap < close_loops.CLOSED
    assert positions[0, 0] == 0.2
    kept = positions.copy()
    positions[0, 1] += 0.1
    open_gap = close_loops.close_loops(
        d, knot_buffer(d, 0), positions, given, np.True_, np.False_, 0
    )
    assert open_gap > 1e-3  # lanes that are not active stay
    assert positions[0, 1] == kept[0, 1] + 0.1


def test_errors_of_couplings_at_coordinates():
    d = data_of(Simulator(geared(-2.0)))
    assert close_loops.coupling_errors(d, np.array([[0.3, -0.6]]), 0) == pytest.approx(0.0)
    assert close_loops.coupling_errors(d, np.array([[0.3, -0.5]]), 0) == pytest.approx(0.1)
    assert [bool(close_loops.find_given_lanes(d, np.float64(x))) for x in (0.0, -3.0, np.nan)] == [
        True,
        True,
        False,
    ]


def test_prescribed_rows_have_no_error_at_coordinates():
    """The coordinate is given."""
    mech = geared(-2.0)
    mech.add_motion("axle0", lambda t: 0.7 + t)
    d = data_of(Simulator(mech))
    for r in range(d.loop_row_count):
        d.loop_row(r).residual = 9.0
    assert close_loops.coupling_errors(d, np.array([[0.3, -0.6]]), 0) == pytest.approx(0.0)
    assert [d.loop_row(r).residual for r in range(d.loop_row_count)] == pytest.approx([0.0, 0.0])

"""Multipliers in the solves: a gear shares a torque, shifts are taken back, and rounding is measured."""

import numpy as np
import pytest

from scenes.loops_space import closed_by
from scenes.plain_python import Fields, data_of
from scenes.touching_scenes import geared
from vigym import Simulator
from vigym.core.kernels.close_loops import clear_wrenches
from vigym.core.kernels.knot_velocity import write_anchored_inertias
from vigym.core.loop import solve
from vigym.core.loop.elimination import assemble_loop_rows, clear_multipliers
from vigym.core.model.context import knot_buffer
from vigym.core.tables.plan import ORIENTATION_ROW
from vigym.core.tree import ldu


@pytest.mark.parametrize("gap", [0.0, 0.3])
def test_a_gear_shares_a_torque(gap):
    """Flywheels of 0.1 and 0.02 kg m^2, the second -2 times as fast: one of 0.1 + 4 x 0.02."""
    d = data_of(Simulator(geared(-2.0)))
    knot, row = knot_buffer(d, 0), d.loop_row(0)
    ldu.sum_joint_closures(d, knot)
    write_anchored_inertias(d, knot)
    clear_wrenches(d)
    for p in range(d.dof_count):
        d.dof(p).load = d.dof(p).compliance = 0.0
    first = d.dof(row.other_dof)
    first.load = -1.0
    assemble_loop_rows(d, knot, knot)
    clear_multipliers(d, 1)
    row.residual = gap
    ldu.factorise(d, knot, knot)
    ldu.solve_to_root(d, knot)
    ldu.solve_to_leaves(d, knot)
    leader, follower = first.increment, d.dof(row.dof).increment
    assert follower == pytest.approx(-2.0 * leader - gap)
    assert row.multiplier == pytest.approx(0.02 * follower)
    assert 0.1 * leader == pytest.approx(1.0 + 2.0 * row.multiplier)
    assert solve.dof_motion_by_multipliers(d, 2, 0) != 0.0


def test_the_force_of_a_shift_is_taken_back():
    rows = [Fields(dual_shift=0.1, multiplier=3.0, residual=1.0)]
    d = Fields(loop_row_count=1, loop_row=rows.__getitem__, features={"loops"}, contact_row_count=0)
    d.environment = Fields(any_active=np.False_)
    solve.subtract_dual_shift_force(d)
    assert rows[0].residual == pytest.approx(0.7)
    rows[0].residual, d.contact_row_count = 1.0, 1  # rows of contacts, none active
    solve.subtract_dual_shift_force(d)
    assert rows[0].residual == 1.0


@pytest.mark.parametrize(("held", "expected"), [(0, 8.0), (1, 2.0)])
def test_a_held_dof_counts_for_the_force_without_what_holds_it(held, expected):
    dof = Fields(inverse_pivot=1.0 / 4.0, compliance=3.0)
    d = Fields(has_bounded_forces=held)
    assert solve.force_on_dof(d, dof, np.float64(-2.0)) == expected


def test_rounding_of_multipliers_grows_as_the_pivot_of_a_row_falls():
    d = data_of(Simulator(closed_by("revolute")))
    for r in range(d.loop_row_count):
        d.loop_row(r).inverse_pivot = 0.0
    for p in range(d.dof_count):
        d.dof(p).inverse_pivot = 1.0
    for q in range(d.fill_in_count):
        d.fill_in(q).B_dof[:] = 1.0
    assert solve.multiplier_rounding_residual(d) == 0.0
    noise = []
    held = next(r for r in range(d.loop_row_count) if d.loop_row(r).kind <= ORIENTATION_ROW)
    for inverse in (1e3, -1e4):
        d.loop_row(held).inverse_pivot = inverse
        noise.append(solve.multiplier_rounding_residual(d))
    assert noise[1] == pytest.approx(10.0 * noise[0])
    assert noise[0] > 0.0
    assert solve.find_rounded_multipliers(d, np.True_, 0.9 * noise[1])
    assert not solve.find_rounded_multipliers(d, np.True_, 1.1 * noise[1])


def test_rows_of_contacts_that_are_not_active_round_nothing():
    """No body is looked at."""
    environment = Fields(any_active=np.False_, length_scale=1.0)
    d = Fields(contact_row_count=3, loop_row_count=3, environment=environment, features={"loops"})
    assert solve.multiplier_rounding_residual(d) == 0.0

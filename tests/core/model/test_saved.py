"""Saved copies: save, spoil and restore leave everything as it was, in lanes of the mask."""

import numpy as np
import pytest

from scenes.plain_python import data_of, evaluated_step
from scenes.touching_scenes import double_pendulum, geared
from vigym import Mechanism, Simulator
from vigym.core.model import saved
from vigym.core.model.context import advance_knot_buffers, knot_buffer
from vigym.core.tables.plan import BALL_PIVOT

H = 0.01


def moved():
    sim = Simulator(double_pendulum(), timestep=H)
    sim.reset([0.5, -0.3], [1.0, 2.0])
    sim.step(substeps=3)
    return data_of(sim)


def knots_of(d):
    return [[d.pose(knot_buffer(d, back), i).position for i in (1, 2)] for back in range(4)]


@pytest.mark.parametrize("turns", range(3))
def test_a_state_is_restored_whichever_buffer_is_the_present_one(turns):
    d = moved()
    expected, time = knots_of(d), d.environment.time
    saved.save_state(d)
    for _ in range(turns):
        advance_knot_buffers(d)
    for i in (1, 2):
        d.pose(knot_buffer(d, 0), i).position = (9.0, 9.0, 9.0)
    d.environment.time = 7.0
    spoiled = d.state.copy()
    saved.restore_state(d, np.False_)
    np.testing.assert_array_equal(d.state, spoiled)
    saved.restore_state(d, np.True_)
    assert knots_of(d) == expected
    assert d.environment.time == time


@pytest.mark.parametrize("slot", [0, 1])
def test_a_knot_is_restored_and_the_other_slot_stays(slot):
    d = moved()
    knots = knot_buffer(d, 0), knot_buffer(d, 1)
    for each, knot in zip((slot, 1 - slot), knots, strict=True):
        saved.save_knot(d, knot, each)
    before = [d.pose(knot, 1).position for knot in knots]
    for knot in knots:
        d.pose(knot, 1).position = (9.0, 9.0, 9.0)
    saved.restore_knot(d, knots[0], slot, np.False_)
    assert d.pose(knots[0], 1).position == (9.0, 9.0, 9.0)
    saved.restore_knot(d, knots[0], slot, np.True_)
    saved.restore_knot(d, knots[1], 1 - slot, np.True_)
    assert [d.pose(knot, 1).position for knot in knots] == before


def test_knots_of_lanes_that_did_not_move_stay_behind_each_other():
    d = moved()
    before = knots_of(d)
    saved.save_knot(d, knot_buffer(d, -1), saved.OLDEST)
    d.pose(knot_buffer(d, -1), 1).position = (9.0, 9.0, 9.0)  # of the step that failed
    saved.copy_idle_knots(d, np.True_, np.True_)
    advance_knot_buffers(d)
    assert knots_of(d)[:3] == before[:3]


def test_factors_are_restored():
    d, _, _ = evaluated_step(Simulator(geared(), timestep=H), H)
    factors = (
        d.dof(0).inverse_pivot,
        d.dof(0).row_torque,
        d.loop_row(0).inverse_pivot,
        d.body(1).rotational_block,
    )
    saved.save_factors(d)
    d.dof(0).inverse_pivot = 9.0
    d.dof(0).row_torque, d.loop_row(0).inverse_pivot = (9.0,) * 3, 9.0
    d.body(1).rotational_block = (9.0,) * 9
    saved.restore_factors(d, np.False_)
    assert d.dof(0).inverse_pivot == 9.0
    saved.restore_factors(d, np.True_)
    found = (
        d.dof(0).inverse_pivot,
        d.dof(0).row_torque,
        d.loop_row(0).inverse_pivot,
        d.body(1).rotational_block,
    )
    assert found == factors


def test_factors_of_a_ball_joint_that_nothing_acts_on_are_restored():
    """Its block is one of them."""
    mech = Mechanism()
    mech.add_body("bob", 1.0, (0.1, 0.2, 0.25), (0.3, 0.0, -0.5))
    mech.add_joint("pivot", "spherical", "world", "bob", (0.0, 0.0, 0.0))
    d, _, _ = evaluated_step(Simulator(mech, timestep=H), H)
    body, names = d.body(1), [f"block_{k}" for k in "abcd"]
    assert body.pivot_kind == BALL_PIVOT
    factors = [getattr(body, name) for name in names]
    saved.save_factors(d)
    spoiled = (9.0,) * 9
    for name in names:
        setattr(body, name, spoiled)
    saved.restore_factors(d, np.False_)
    assert [getattr(body, name) for name in names] == [spoiled] * 4
    saved.restore_factors(d, np.True_)
    assert [getattr(body, name) for name in names] == factors


@pytest.mark.parametrize("moves", [True, False])
def test_the_oldest_velocities_are_kept_where_a_lane_is_idle(moves):
    d = moved()
    knot = knot_buffer(d, -1)
    saved.save_knot(d, knot_buffer(d, 0), saved.OLDEST)  # of another step
    oldest = d.pose(knot, 1).velocity
    saved.copy_oldest_velocities(d, knot, np.bool_(moves))
    saved.restore_knot(d, knot, saved.OLDEST, np.True_)
    assert (d.pose(knot, 1).velocity == oldest) == (not moves)

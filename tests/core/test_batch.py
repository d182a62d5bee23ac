"""A batch is nothing but its environments: every one of them moves bit for bit as it would alone."""

from __future__ import annotations

from operator import attrgetter

import numpy as np
import pytest

from scenes.batches import alone, assert_same_rows, batch_of, signals, stacked, starts, step_both
from scenes.moving import whip
from scenes.trees import TYPES, random_tree
from vigym import Mechanism, Simulator

SIZES = (1, 2, 3, 5, 9, 17)


@pytest.mark.parametrize("count", SIZES)
def test_every_environment_moves_as_it_would_alone(count):
    types = np.random.default_rng(count).permutation(TYPES)
    mech = random_tree(count, types, damping=0.2, to_world=bool(count % 2))
    given = starts(mech, count)
    batch, singles = batch_of(mech, given), alone(mech, given)
    assert_same_rows(batch, singles)
    for torques in signals(mech, 50, count):
        step_both(batch, singles, torques)
        assert batch.readings.status.converged.all()
    assert_same_rows(batch, singles)
    for what in ("joint_positions", "joint_velocities", "time", "body_states", "readings.scalars"):
        found = np.asarray(attrgetter(what)(batch))
        expected = np.array([attrgetter(what)(single) for single in singles]).reshape(found.shape)
        np.testing.assert_array_equal(found, expected, err_msg=what)


@pytest.mark.parametrize("count", [3, 9])
@pytest.mark.parametrize("substeps", [2, 7])
def test_several_steps_in_one_call(count, substeps):
    mech = random_tree(count, TYPES, damping=0.2)
    given = starts(mech, count)
    batch, singles = batch_of(mech, given), alone(mech, given)
    for torques in signals(mech, 10, count):
        step_both(batch, singles, torques, substeps)
    assert_same_rows(batch, singles)


@pytest.mark.parametrize("count", [2, 9])
def test_fourth_order(count):
    mech = random_tree(count, TYPES)
    given = starts(mech, count)
    batch, singles = batch_of(mech, given, order=4), alone(mech, given, order=4)
    for torques in signals(mech, 50, count):
        step_both(batch, singles, torques)
        assert batch.readings.status.converged.all()
    assert_same_rows(batch, singles)


def test_a_neighbour_whose_steps_are_halved_or_fail_changes_nothing():
    """The struck environments differ in how hard: at rest, moved, halved, beyond what any step can follow."""
    mech = whip()
    count = 9
    seen = set()
    strengths = np.array([0.0, 0.01, 0.03, 0.1, 0.3, 1.0, 0.05, 1e6, 0.2])
    given = starts(mech, count, 0.1)
    batch, singles = batch_of(mech, given), alone(mech, given)
    for torques in signals(mech, 25, count, 1.0) * strengths[:, None]:
        step_both(batch, singles, torques)
        converged, _, _, halvings, _ = batch.readings.status
        seen |= set(zip(converged, halvings > 0, strict=True))
        assert_same_rows(batch, singles)
        assert converged[0]
    assert seen == {(True, False), (True, True), (False, True)}


def test_a_neighbour_that_fails_every_step_stays_where_it_is():
    mech, count = random_tree(2, TYPES), 5
    given = starts(mech, count)
    batch, singles = batch_of(mech, given), alone(mech, given)
    first = batch.state[1, : -batch.readings.status_rows.shape[1]]
    for torques in signals(mech, 10, count):
        torques[1] = 1e9
        step_both(batch, singles, torques, substeps=3)
        assert batch.readings.status.converged.tolist() == [True, False, True, True, True]
        np.testing.assert_array_equal(batch.state[1, : -batch.readings.status_rows.shape[1]], first)
    assert_same_rows(batch, singles)
    for torques in signals(mech, 10, count):  # and goes on when it can
        step_both(batch, singles, torques)
        assert batch.readings.status.converged.all()
    assert_same_rows(batch, singles)


def test_a_neighbour_that_is_not_a_number_any_more_changes_nothing():
    mech, count = random_tree(3, TYPES), 3
    given = starts(mech, count)
    given[2][1][mech.velocity_names[0]] = (1e100,)
    batch, singles = batch_of(mech, given), alone(mech, given)
    for torques in signals(mech, 10, count):
        step_both(batch, singles, torques)
        assert batch.readings.status.converged.tolist() == [True, True, False]
    assert_same_rows(batch, singles, [True, True, False])


@pytest.mark.parametrize("count", SIZES)
def test_reset_of_some_environments(count):
    mech = random_tree(count, TYPES, damping=0.2)
    given, mask = starts(mech, 2 * count), np.arange(count) % 3 == 1
    batch, singles = batch_of(mech, given[:count]), alone(mech, given[:count])
    drive = signals(mech, 20, count)
    for torques in drive[:10]:
        step_both(batch, singles, torques)
    again = given[count:]
    before = batch.state
    batch.reset(stacked([p for p, _ in again]), stacked([v for _, v in again]), mask=mask)
    np.testing.assert_array_equal(batch.state[~mask], before[~mask])
    for e in np.flatnonzero(mask):
        singles[e].reset(*again[e])
    assert_same_rows(batch, singles)
    np.testing.assert_array_equal(batch.time[mask], 0.0)
    for torques in drive[10:]:
        step_both(batch, singles, torques)
    assert_same_rows(batch, singles)
    assert batch.energy().total.tolist() == [single.energy().total for single in singles]
    assert batch.metrics()["energy_balance"].tolist() == [
        single.metrics()["energy_balance"] for single in singles
    ]


@pytest.mark.parametrize("count", SIZES)
def test_states_put_into_some_environments(count):
    """Also states that a simulator of one environment gave."""
    mech = random_tree(count, TYPES, damping=0.2)
    given, mask = starts(mech, count), np.arange(count) % 2 == 0
    batch, singles = batch_of(mech, given), alone(mech, given)
    drive = signals(mech, 20, count)
    for torques in drive[:10]:
        step_both(batch, singles, torques)
    others = alone(mech, given[::-1])
    for single in others:
        single.step(substeps=5)
    before = batch.state
    batch.set_state([single.state for single in others], mask)
    np.testing.assert_array_equal(batch.state[~mask], before[~mask])
    mixed = [others[e] if mask[e] else singles[e] for e in range(count)]
    assert_same_rows(batch, mixed)
    for torques in drive[10:]:
        step_both(batch, mixed, torques)
    assert_same_rows(batch, mixed)


def test_environments_far_round_count_their_turns_alone():
    """Fast spinning ones cross many turns while their neighbours hardly move."""
    mech = random_tree(5, ["revolute", "universal", "planar", "cylindrical"], springs=False)
    rates = np.array([0.0, 40.0, -40.0, 1.0, 15.0])[:, None] * np.ones(mech.degrees_of_freedom)
    batch, singles = Simulator(mech, batch=5), [Simulator(mech) for _ in rates]
    batch.reset(velocities=rates)
    for single, row in zip(singles, rates, strict=True):
        single.reset(velocities=row)
    for _ in range(20):
        step_both(batch, singles, np.zeros((5, len(mech.actuator_names))), substeps=3)
        assert_same_rows(batch, singles)
    assert (
        np.abs(batch.joint_positions[1]).max()
        > 4.0 * np.pi
        > 2.0 * np.abs(batch.joint_positions[0]).max()
    )


def test_torques_are_clipped_in_their_own_environment_only():
    mech = Mechanism()
    mech.add_body("arm", 1.0, 0.1 * np.eye(3), (0.0, 0.0, -0.5))
    mech.add_joint("pin", "revolute", "world", "arm", (0.0, 0.0, 0.0), axis=(0, 1, 0), effort=2.0)
    batch, singles = Simulator(mech, batch=3), [Simulator(mech) for _ in range(3)]
    step_both(batch, singles, np.array([[1.0], [5.0], [-5.0]]))
    assert batch.readings.status.clipped.tolist() == [False, True, True]
    assert_same_rows(batch, singles)

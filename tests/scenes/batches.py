"""Batches beside the same environments alone: different starts, the same torques, states compared bit for bit."""

from __future__ import annotations

import numpy as np

from scenes.trees import by_joint, random_positions, random_rates
from vigym import Simulator


def starts(mech, count, scale=0.4):
    """A different random start for every environment: arguments of reset."""
    return [
        (random_positions(100 + e, mech, scale), by_joint(mech, random_rates(200 + e, mech, scale)))
        for e in range(count)
    ]


def stacked(dicts):
    """Per-environment dicts as one dict of arrays (batch, ...)."""
    return {name: np.array([np.atleast_1d(values[name]) for values in dicts]) for name in dicts[0]}


def batch_of(mech, given, **options):
    sim = Simulator(mech, batch=len(given), **options)
    sim.reset(
        stacked([positions for positions, _ in given]),
        stacked([velocities for _, velocities in given]),
    )
    return sim


def alone(mech, given, **options):
    sims = [Simulator(mech, **options) for _ in given]
    for sim, (positions, velocities) in zip(sims, given, strict=True):
        sim.reset(positions, velocities)
    return sims


def signals(mech, steps, count, strength=2.0):
    """Torques (steps, count, n_actuated), different for every environment."""
    return strength * np.random.default_rng(0).normal(size=(steps, count, len(mech.actuator_names)))


def assert_same_rows(batch, singles, chosen=None):
    rows = batch.state
    for e, single in enumerate(singles):
        if chosen is None or chosen[e]:
            np.testing.assert_array_equal(
                rows[e], single.state, err_msg=f"environment {e} of {len(singles)}"
            )
            assert [field[e] for field in batch.readings.status] == list(single.readings.status)


def step_both(batch, singles, torques, substeps=1):
    batch.step(torques, substeps=substeps)
    for single, row in zip(singles, torques, strict=True):
        single.step(row, substeps=substeps)


def assert_batch_moves_as_alone(mech, given, steps, **options):
    """Assert that a batch without torques moves, from given starts, bit for bit as its environments alone."""
    batch, singles = batch_of(mech, given, **options), alone(mech, given, **options)
    for _ in range(steps):
        batch.step()
        for single in singles:
            single.step()
        assert_same_rows(batch, singles)


def assert_moments_move_alone(one, moments, apart, together, step):
    """Assert that moments of a motion move side by side, as a batch, bit for bit as alone.

    Args:
        one: simulator at the start of the motion.
        moments: number of states taken from it.
        apart: steps between them.
        together: steps of the batch.
        step: function that makes a step of a simulator, and returns its status.
    """
    states = []
    for k in range(moments * apart):
        if k % apart == 0:
            states.append(one.state)
        step(one)
    batch = Simulator(one.mechanism, timestep=one.timestep, batch=moments)
    batch.state = np.array(states)
    rows = [(np.array(step(batch)), batch.state) for _ in range(together)]
    for e, state in enumerate(states):
        one.state = state
        for status, found in rows:
            np.testing.assert_array_equal(status[:, e], step(one))
            np.testing.assert_array_equal(found[e], one.state)

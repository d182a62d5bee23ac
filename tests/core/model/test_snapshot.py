"""Snapshots: packed rows, unpacked, are the state that they came from, whatever buffer was the present one."""

import numpy as np
import pytest

from scenes.features import SCENES
from scenes.plain_python import data_of
from scenes.touching_scenes import double_pendulum, slider
from vigym import Simulator
from vigym.core.model import snapshot
from vigym.core.model.context import knot_buffer

NAMES = "position", "orientation", "velocity", "angular_velocity"


@pytest.mark.parametrize("make", SCENES, ids=lambda make: make.__name__)
def test_a_state_is_packed_and_unpacked(make):
    d = data_of(Simulator(make()))
    rng = np.random.default_rng(0)
    present = d.environment.present_knot
    d.state[:] = rng.normal(size=d.state.shape)
    d.environment.present_knot = present
    rows = snapshot.pack(d.plan, d.state, True, 1)
    assert rows.shape == (1, snapshot.packed_width(d.plan))
    other = np.zeros_like(d.state)
    snapshot.unpack(d.plan, other, rows, True)
    np.testing.assert_array_equal(snapshot.pack(d.plan, other, True, 1), rows)
    assert len(np.unique(rows)) > 0.99 * rows.size  # each number once


@pytest.mark.parametrize("steps", range(1, 5))
def test_poses_are_those_of_the_present_knot(steps):
    sim = Simulator(double_pendulum(), timestep=0.01)
    sim.reset([0.5, -0.3], [1.0, 2.0])
    sim.step(substeps=steps)
    d = data_of(sim)
    expected = [[getattr(d.pose(knot_buffer(d, 0), i), name) for name in NAMES] for i in (1, 2)]
    before = [d.pose(knot_buffer(d, back), 2).velocity for back in range(4)]
    rows = snapshot.pack(d.plan, d.state, True, 1)
    orientations = snapshot.packed_orientations(d.plan, rows)
    assert orientations[0] == pytest.approx(np.array([poses[1] for poses in expected]))
    d.state[:] = 0.0
    snapshot.unpack(d.plan, d.state, rows, True)
    assert [
        [getattr(d.pose(knot_buffer(d, 0), i), name) for name in NAMES] for i in (1, 2)
    ] == expected
    assert [d.pose(knot_buffer(d, back), 2).velocity for back in range(4)] == before


def test_held_wrenches_have_columns_of_their_own():
    sim = Simulator(double_pendulum())
    sim.forces.apply("lower", (1.0, 2.0, 3.0))
    d = data_of(sim)
    wrenches = snapshot.read_wrenches(d.plan, d.state, True, 1)
    assert wrenches[0, 2, :3] == pytest.approx((1.0, 2.0, 3.0))
    assert not wrenches[0, :2].any()
    given = np.arange(1.0 * snapshot.HELD)[None]
    snapshot.write_wrenches(d.plan, d.state, given, 1, True)
    assert d.wrench(1).force == (0.0, 1.0, 2.0)
    assert d.wrench(2).force == (1.0, 2.0, 3.0)
    packed = snapshot.pack(d.plan, d.state, True, 1)[:, snapshot.wrench_columns(d.plan)]
    assert set(range(snapshot.HELD)) <= set(packed[0])


@pytest.mark.parametrize("batch", [None, 2])
def test_multipliers_are_the_forces_of_motions_times_the_step(batch):
    """A cart of 2 kg that is prescribed to move at 3 t^2 needs 12 N."""
    mech = slider(2.0)
    mech.add_motion("rail", lambda t: 3.0 * t * t)
    sim = Simulator(mech, timestep=0.01, batch=batch)
    sim.reset()
    assert np.all(sim.step(substeps=5).converged)
    count = batch or 1
    groups = sim._plant.groups
    plan, _, state, _ = groups.tables
    multipliers, sizes = snapshot.read_multipliers(plan, state, batch is None, count)
    assert sizes == pytest.approx(np.full((count, 2), 0.01))
    assert np.abs(multipliers) == pytest.approx(np.full((count, 1), 12.0), rel=1e-6)

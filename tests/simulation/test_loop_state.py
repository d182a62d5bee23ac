"""States of mechanisms with loops and springs: batches, saving, pickling, steps that are not taken."""

from __future__ import annotations

import copy
import pickle
from operator import attrgetter

import numpy as np
import pytest

from scenes.batches import alone, assert_same_rows, batch_of, signals, step_both
from scenes.closing import closed_state
from scenes.loops_plane import crossed_ladder, five_bar, general_four_bars
from scenes.loops_space import closed_by, minitaur, twice_hinged
from scenes.moving import motion
from scenes.squeezer import squeezer
from scenes.trees import by_joint
from vigym import Simulator

BUILDERS = {
    "row": lambda: general_four_bars(3, damping=0.1),
    "ladder": crossed_ladder,
    "quadruped": minitaur,
    "twice hinged": twice_hinged,
    "random": lambda: closed_by("cylindrical", damping=0.2),
}


def starts(mech, count):
    """A different assembled start for every environment: arguments of reset."""
    states = [closed_state(mech, seed) for seed in range(count)]
    return [(positions, by_joint(mech, rates)) for positions, rates in states]


def moving(mech, steps=10, **options):
    sim = Simulator(mech, **options)
    sim.reset(*starts(mech, 1)[0])
    drive(sim, steps)
    return sim


def drive(sim, steps):
    shape = np.shape(sim.time) + (len(sim.mechanism.actuator_names),)
    for torques in 0.2 * np.random.default_rng(1).normal(size=(steps, *shape)):
        assert np.all(sim.step(torques).converged)


@pytest.mark.parametrize("loops", ["tail", "local"])
@pytest.mark.parametrize("name", BUILDERS)
def test_every_environment_moves_as_it_would_alone(name, loops):
    mech = BUILDERS[name]()
    given = starts(mech, 9)
    batch, singles = batch_of(mech, given, loops=loops), alone(mech, given, loops=loops)
    assert_same_rows(batch, singles)
    for torques in signals(mech, 30, 9, 0.2):
        step_both(batch, singles, torques)
        assert batch.readings.status.converged.all()
    assert_same_rows(batch, singles)
    for what in ("joint_positions", "joint_velocities", "body_states", "readings.scalars"):
        expected = np.array([attrgetter(what)(single) for single in singles])
        np.testing.assert_array_equal(
            attrgetter(what)(batch), expected.reshape(attrgetter(what)(batch).shape), err_msg=what
        )
    np.testing.assert_array_equal(
        batch.joint_forces(), [single.joint_forces() for single in singles]
    )


def test_a_neighbour_whose_steps_are_halved_or_fail_changes_nothing():
    mech, count = five_bar(), 9
    given = starts(mech, count)
    batch, singles = batch_of(mech, given), alone(mech, given)
    strengths = np.array([0.0, 0.01, 0.1, 1.0, 10.0, 1e6, 3.0, 0.3, 30.0])
    for torques in signals(mech, 15, count, 1.0) * strengths[:, None]:
        step_both(batch, singles, torques)
        assert_same_rows(batch, singles)
    assert batch.readings.status.converged[0]
    assert not batch.readings.status.converged[5]


@pytest.mark.parametrize("batch", [None, 3])
@pytest.mark.parametrize("loops", ["tail", "local"])
@pytest.mark.parametrize("way", ["state", "pickle", "deepcopy"])
def test_a_copy_continues_bit_for_bit(way, loops, batch):
    mech = closed_by("revolute", damping=0.1)
    sim = moving(mech, batch=batch, loops=loops)
    if way == "state":
        other = moving(mech, 3, batch=batch, loops=loops)
        other.state = sim.state
    else:
        other = copy.deepcopy(sim) if way == "deepcopy" else pickle.loads(pickle.dumps(sim))
    assert other.options.loops == loops
    np.testing.assert_array_equal(other.state, sim.state)
    np.testing.assert_array_equal(other.readings.scalars, sim.readings.scalars)
    drive(sim, 20)
    assert not np.array_equal(other.state, sim.state)  # nothing is shared
    drive(other, 20)
    np.testing.assert_array_equal(other.state, sim.state)
    for name, value in sim.metrics().items():
        np.testing.assert_array_equal(other.metrics()[name], value, err_msg=name)


@pytest.mark.parametrize("name", ["row", "quadruped"])
def test_both_plans_agree_on_long_motions(name):
    mech = BUILDERS[name]()
    sims = [moving(mech, 200, loops=loops, tolerance=1e-13) for loops in ("tail", "local")]
    np.testing.assert_allclose(sims[0].joint_positions, sims[1].joint_positions, atol=1e-9)
    np.testing.assert_allclose(sims[0].joint_velocities, sims[1].joint_velocities, atol=1e-9)


def test_a_plan_is_chosen_by_the_number_of_closures():
    few, many = general_four_bars(5), general_four_bars(6)
    for mech, expected in ((few, "tail"), (many, "local")):
        auto, named = (moving(mech, 20, loops=loops) for loops in ("auto", expected))
        np.testing.assert_array_equal(motion(auto), motion(named))


def test_several_steps_in_one_call_and_after_a_restart():
    sims = [Simulator(squeezer(), timestep=1e-4) for _ in range(3)]
    drive(sims[2], 7)
    sims[2].reset()
    sims[0].step([0.033], substeps=20)
    for _ in range(20):
        sims[1].step([0.033])
        sims[2].step([0.033])
    for sim in sims[1:]:
        np.testing.assert_array_equal(motion(sim), motion(sims[0]))


def test_a_failed_step_leaves_the_state():
    sim = moving(five_bar())
    before = motion(sim)
    status = sim.step([1e7, -1e7])
    assert not status.converged
    np.testing.assert_array_equal(motion(sim), before)
    assert sim.step([0.0, 0.0]).converged

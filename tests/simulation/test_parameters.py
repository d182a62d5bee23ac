"""Environments that differ by factors: each is a simulator of such a mechanism, and nobody else's business."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from scenes.batches import starts
from scenes.linkages import five_bar, four_bar
from scenes.rods import COUNT, factors, puck, rod, row
from scenes.shapes import SOLIDS, sample
from scenes.trees import TYPES, random_tree
from vigym import AssemblyError, Mechanism, Simulator
from vigym.mechanism.elements.contacts import contact_features
from vigym.metrics import momentum
from vigym.simulation.parameters.quantities import with_factors


@pytest.mark.parametrize(
    ("mech", "low", "high"),
    [
        (rod(), 0.3, 3.0),
        (random_tree(3, TYPES, damping=0.2), 0.7, 1.4),
        (four_bar(), 0.95, 1.05),
        (puck(), 0.5, 2.0),
    ],
    ids=["rod", "tree", "four_bar", "puck"],
)
def test_every_environment_is_the_single_one_with_its_factors(mech, low, high):
    batch = Simulator(mech, timestep=0.005, batch=COUNT, threads=2)
    parameters = factors(batch, low, high)
    batch.set_parameters(parameters)
    drive = np.random.default_rng(1).normal(size=(COUNT, len(mech.actuator_names)))
    targets = np.random.default_rng(2).normal(size=(COUNT, len(mech.motor_names)))
    batch.reset(place_on_ground=True)
    for _ in range(5):
        assert batch.step(drive, targets, substeps=8).converged.all()
    forces = batch.joint_forces()
    for e in range(COUNT):
        single = Simulator(mech, timestep=0.005)
        single.set_parameters(row(parameters, e))
        single.reset(place_on_ground=True)
        for _ in range(5):
            single.step(drive[e], targets[e], substeps=8)
        np.testing.assert_array_equal(batch.state[e], single.state)
        np.testing.assert_array_equal(batch.readings.scalars[e], single.readings.scalars[0])
        np.testing.assert_array_equal(forces[e], single.joint_forces())
        for ours, theirs in zip(momentum(batch), momentum(single), strict=True):
            np.testing.assert_array_equal(ours[e], theirs)
    assert len(np.unique(batch.energy().total)) == COUNT


@pytest.mark.parametrize(
    ("parameters", "built"),
    [
        ({"gravity": 0.4}, {"gravity": 9.81 * 0.4}),
        ({"mass": 2.5}, {"mass": 1.2 * 2.5, "inertia": 0.1 * 2.5}),
        ({"inertia": {"rod": 0.5}}, {"inertia": 0.05}),
        ({"damping": 3.0}, {"damping": 0.3 * 3.0}),
        ({"stiffness": {"pin": 0.1}}, {"stiffness": 0.2}),
        ({"strength": 0.5}, {"effort": 2.0}),
        ({"length": 2.0}, {"anchor": 1.0, "inertia": 0.4}),
    ],
    ids=lambda values: next(iter(values)),
)
@pytest.mark.parametrize("motor", [True, False])
def test_factors_make_the_mechanism_that_a_person_would_build(parameters, built, motor):
    varied, expected = Simulator(rod(motor=motor)), Simulator(rod(**built, motor=motor))
    varied.set_parameters(parameters)
    start = []
    for sim in (varied, expected):
        sim.reset({"pin": 0.5})
        start.append(sim.energy().total)
        for _ in range(50):
            sim.step([3.0], [1.0] if motor else None)
    np.testing.assert_allclose(varied.joint_positions, expected.joint_positions, rtol=1e-11)
    np.testing.assert_allclose(varied.joint_velocities, expected.joint_velocities, rtol=1e-10)
    np.testing.assert_allclose(varied.actuator_torques, expected.actuator_torques, rtol=1e-10)
    gains = [
        sim.energy().total - energy for sim, energy in zip((varied, expected), start, strict=True)
    ]
    assert gains[0] == pytest.approx(gains[1], rel=1e-10)
    assert abs(gains[0]) > 1e-3


@pytest.mark.parametrize("ground", [None, "own"])
def test_friction_holds_a_slope_s_worth(ground):
    """A sliding puck is slowed by mu g, of the contacts or of the ground that replaces it."""
    from vigym import Ground

    mech = puck(0.3) if ground is None else puck(0.9, ground=Ground(friction=0.3))
    sim = Simulator(mech, timestep=0.005, batch=3)
    sim.set_parameters({"friction": [1.0, 0.5, 2.0]})
    sim.reset(base={"puck": {"velocity": (2.0, 0.0, 0.0)}}, place_on_ground=True)
    sim.step(substeps=40)
    slowed = 2.0 - sim.body_velocity("puck")[:, 0]
    np.testing.assert_allclose(slowed, 0.3 * 9.81 * 0.2 * np.array([1.0, 0.5, 2.0]), rtol=2e-3)


def test_bars_of_other_lengths_close_their_loop():
    mech = four_bar()
    sim = Simulator(mech, batch=3)
    crank = mech.tree_joints[0].child
    sim.set_parameters({"length": {crank: [1.0, 0.9, 1.05]}})
    assert sim.constraint_residual().max() < 1e-9
    sim.reset(velocities={mech.tree_joints[0].name: 1.0})
    assert sim.step(substeps=100).converged.all()
    assert sim.constraint_residual().max() < 1e-9
    assert len(set(sim.joint_positions[:, 1])) == 3


def test_bars_of_other_lengths_start_as_they_do_alone():
    mech, draw = four_bar(), np.random.default_rng(0)
    motor = mech.tree_joints[0]
    for count in (1, 3, 11):  # never a whole group of lanes
        for _ in range(5):
            lengths, angles = draw.uniform(0.95, 1.05, count), draw.uniform(-0.5, 0.5, count)
            rates = draw.normal(0.0, 10.0, count)
            sim, alone = Simulator(mech, batch=count), Simulator(mech)
            sim.set_parameters({"length": {motor.child: lengths}})
            sim.reset({motor.name: angles}, {motor.name: rates})
            alone.set_parameters({"length": {motor.child: lengths[-1]}})
            alone.reset({motor.name: angles[-1]}, {motor.name: rates[-1]})
            np.testing.assert_array_equal(sim.state[-1], alone.state)


def test_bars_that_cannot_meet_change_nothing():
    mech = four_bar()
    sim = Simulator(mech, batch=3)
    sim.step(substeps=3)
    before = sim.state
    with pytest.raises(AssemblyError, match="parameters of environment 1: joint .* apart"):
        sim.set_parameters({"length": {mech.tree_joints[0].child: [1.0, 30.0, 1.0]}})
    np.testing.assert_array_equal(sim.state, before)


def test_coordinates_of_closing_joints_start_other_masses_too():
    mech = five_bar()
    closing = mech.closing_joints[0].name
    sim, heavy = Simulator(mech, batch=2), Simulator(mech)
    body = mech.tree_joints[-1].child
    sim.set_parameters({"mass": {body: [1.0, 3.0]}})
    heavy.set_parameters({"mass": {body: 3.0}})
    for one in (sim, heavy):
        one.reset(velocities={closing: 0.5})
        assert np.max(one.constraint_residual()) < 1e-9
    np.testing.assert_array_equal(sim.state[1], heavy.state)
    assert np.abs(sim.joint_velocities[0] - sim.joint_velocities[1]).max() > 1e-3


def test_others_stay_as_they_are():
    mech, mask = random_tree(2, TYPES, damping=0.1), np.arange(COUNT) % 4 == 1
    sim, other = Simulator(mech, batch=COUNT), Simulator(mech, batch=COUNT)
    for one in (sim, other):
        one.reset(velocities={mech.velocity_names[0]: np.linspace(0, 1, COUNT)})
        one.step(substeps=5)
    sim.set_parameters({"mass": 1.5, "gravity": 0.5}, mask)
    n = other.state.shape[1]
    np.testing.assert_array_equal(sim.state[~mask, :n], other.state[~mask])
    np.testing.assert_array_equal(sim.time, np.where(mask, 0.0, other.time))
    assert sim.parameters.by_name["gravity"]["all"].tolist() == np.where(mask, 0.5, 1.0).tolist()
    sim.step(substeps=5)
    other.step(substeps=5)
    np.testing.assert_array_equal(sim.state[~mask, :n], other.state[~mask])
    sim.set_parameters({})
    assert (sim.parameters.by_name["mass"][next(iter(mech.bodies))] == 1.0).all()


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda sim: pickle.loads(pickle.dumps(sim))], ids=["copy", "pickle"]
)
def test_copies_go_on_with_their_factors(copied):
    sim = Simulator(four_bar(), batch=COUNT)
    sim.set_parameters(factors(sim, 0.97, 1.03))
    sim.step(substeps=5)
    other = copied(sim)
    for one in (sim, other):
        one.step(substeps=5)
    np.testing.assert_array_equal(other.state, sim.state)
    np.testing.assert_array_equal(other.energy().total, sim.energy().total)


def test_a_state_tells_its_factors():
    sim = Simulator(rod(), batch=3)
    single = Simulator(rod())
    plain = Simulator(rod(), batch=3)
    sim.set_parameters({"mass": [0.5, 1.0, 2.0], "gravity": [1.0, 0.7, 1.0]})
    sim.step(substeps=5)
    single.state = sim.state[2]
    assert single.parameters.by_name["mass"]["rod"] == 2.0
    for one in (sim, single):
        one.step(substeps=5)
    np.testing.assert_array_equal(single.state, sim.state[2])
    plain.step(substeps=5)
    kept = sim.state
    sim.set_state(plain.state, np.array([False, False, True]))
    np.testing.assert_array_equal(sim.state[:2], kept[:2])
    assert sim.parameters.by_name["mass"]["rod"].tolist() == [0.5, 1.0, 1.0]
    sim.step(substeps=5)
    plain.step(substeps=5)
    np.testing.assert_array_equal(sim.state[2, : plain.state.shape[1]], plain.state[2])


def test_lengths_and_held_wrenches_go_together():
    """Room for wrenches was taken for another structure of the mechanism."""
    sims = [Simulator(rod(), timestep=0.005) for _ in range(2)]
    for sim, wrench_first in zip(sims, (True, False), strict=True):
        if wrench_first:
            sim.forces.apply("rod", force=(0.0, 0.0, 5.0))
        sim.set_parameters({"length": 1.2})
        if not wrench_first:
            sim.forces.apply("rod", force=(0.0, 0.0, 5.0))
        sim.reset()
        sim.forces.apply("rod", force=(0.0, 0.0, 5.0))
        sim.step(substeps=5)
    np.testing.assert_array_equal(sims[0].state, sims[1].state)
    fresh = Simulator(rod(), timestep=0.005)
    fresh.set_state(sims[0].state)
    sims[0].step()
    fresh.step()
    np.testing.assert_array_equal(fresh.state, sims[0].state)


def test_linearised_steps_of_other_mechanisms():
    mech = random_tree(1, ["revolute", "prismatic", "universal"])
    sim = Simulator(mech, batch=2)
    sim.set_parameters({"mass": [1.0, 1.7], "length": {next(iter(mech.bodies)): [1.0, 1.3]}})
    positions, rates = starts(mech, 1)[0]
    sim.reset(positions, rates)
    A, B = sim.linearize()
    for e, (mass, length) in enumerate(((1.0, 1.0), (1.7, 1.3))):
        single = Simulator(mech)
        single.set_parameters({"mass": mass, "length": {next(iter(mech.bodies)): length}})
        single.reset(positions, rates)
        ours = single.linearize()
        np.testing.assert_array_equal(A[e], ours[0])
        np.testing.assert_array_equal(B[e], ours[1])
    assert np.abs(A[0] - A[1]).max() > 1e-6


@pytest.mark.parametrize("kind", SOLIDS)
def test_every_shape_grows_with_its_body(kind):
    """All that touches is twice as far from the centre of mass: all sizes of a shape are lengths."""
    mech = Mechanism()
    mech.add_body("a", 1.0, (1.0, 1.0, 1.0))
    mech.add_collision("skin", "a", sample(kind))
    longer = with_factors(mech, {"length": {"a": 2.0}})
    found = [contact_features(each.collisions["skin"]) for each in (mech, longer)]
    for part, other in zip(*found, strict=True):
        np.testing.assert_array_equal(other.point, 2.0 * part.point)
        assert (other.kind, other.radius) == (part.kind, 2.0 * part.radius)
        np.testing.assert_array_equal(other.axis, part.axis)

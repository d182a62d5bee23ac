"""What a person does with a simulator: save, restore, step, see it fail, read."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from oracle.naive_joints import conj, mul, rotation_vector
from scenes.moving import assert_works_as_before, drive, motion, moving, pendulum, tree, whip
from scenes.trees import by_joint, random_positions, random_rates, random_tree
from vigym import Mechanism, Simulator


@pytest.mark.parametrize("batch", [None, 3])
@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("way", ["state", "pickle", "deepcopy"])
def test_a_copy_continues_bit_for_bit(way, order, batch):
    sim = moving(tree(), order=order, batch=batch, tolerance=1e-11)
    if way == "state":
        other = moving(tree(), steps=3, seed=5, order=order, batch=batch, tolerance=1e-11)
        other.state = sim.state
    else:
        other = copy.deepcopy(sim) if way == "deepcopy" else pickle.loads(pickle.dumps(sim))
    np.testing.assert_array_equal(other.state, sim.state)
    np.testing.assert_array_equal(other.readings.scalars, sim.readings.scalars)
    assert (other.timestep, other.options.order, other.options.tolerance, other.batch) == (
        0.01,
        order,
        1e-11,
        batch,
    )
    drive(sim, 20)
    assert not np.array_equal(other.state, sim.state)  # nothing is shared
    drive(other, 20)
    np.testing.assert_array_equal(other.state, sim.state)
    for name, value in sim.metrics().items():
        np.testing.assert_array_equal(other.metrics()[name], value, err_msg=name)


def test_from_one_environment_to_a_batch_and_back():
    mech = tree(damping=0.2)
    sim = moving(mech)
    batch = Simulator(mech, batch=5)
    last = Simulator(mech)
    rows = batch.state
    rows[3] = sim.state
    batch.state = rows
    torques = np.random.default_rng(2).normal(size=(20, 5, len(mech.actuator_names)))
    for k, all_torques in enumerate(torques):
        if k == 10:
            last.state = batch.state[3]
        sim.step(all_torques[3])
        batch.step(all_torques)
        last.step(all_torques[3])
    np.testing.assert_array_equal(batch.state[3], sim.state)
    np.testing.assert_array_equal(last.state, sim.state)


def test_what_is_returned_is_a_copy():
    sim = moving(tree())
    first = sim.state
    for name in ("state", "joint_positions", "joint_velocities", "body_states"):
        getattr(sim, name)[...] = 7.0
    sim.body_position("b1")[:] = 7.0
    np.testing.assert_array_equal(sim.state, first)
    assert not (sim.joint_positions == 7.0).any()
    assert not (sim.body_states == 7.0).any()


def test_substeps_are_steps():
    one, many = moving(tree()), moving(tree())
    torques = np.ones(len(one.mechanism.actuator_names))
    status = one.step(torques, substeps=5)
    each = [many.step(torques) for _ in range(5)]
    np.testing.assert_allclose(motion(one), motion(many), rtol=0.0, atol=1e-13)
    assert status.iterations == sum(s.iterations for s in each)
    assert status.residual == max(s.residual for s in each)


@pytest.mark.parametrize("strength", [1e8, 1e12, 1e300])
@pytest.mark.parametrize("order", [2, 4])
def test_a_failed_step_is_reported_and_leaves_the_state(order, strength):
    sim = moving(tree(), order=order)
    before, readings = motion(sim), sim.readings.scalars
    status = sim.step(np.full(len(sim.mechanism.actuator_names), strength), substeps=3)
    assert status.converged is False
    assert status.halvings >= 1
    assert status.iterations >= 1
    assert not status.residual <= sim.options.tolerance
    assert sim.readings.status == status or np.isnan(status.residual)
    np.testing.assert_array_equal(sim.readings.scalars, readings)
    assert sim.metrics()["solver_converged"] is False
    assert_works_as_before(sim, before)


@pytest.mark.parametrize("timestep", [1e3, 1e10, 1e300, 1e-300])
def test_impossible_timesteps_are_reported(timestep):
    sim = Simulator(tree(), timestep=timestep)
    before = motion(sim)
    assert not sim.step().converged
    np.testing.assert_array_equal(motion(sim), before)


def test_motion_too_fast_for_any_step_is_reported():
    mech, sim = tree(), Simulator(tree())
    sim.reset(velocities=np.full(mech.degrees_of_freedom, 1e12))
    before = motion(sim)
    assert not sim.step().converged
    np.testing.assert_array_equal(motion(sim), before)
    sim.reset()
    drive(sim, 3)


def test_a_step_that_is_halved_twice_arrives():
    """Time moves by the whole step, whatever parts it was made of."""
    sim = Simulator(whip())
    rng = np.random.default_rng(0)
    halvings = []
    for _ in range(25):
        before, status = sim.time, sim.step(rng.normal(size=12))
        assert sim.time - before == pytest.approx(0.01 * status.converged, abs=1e-12)
        # 256 parts at most, each tried twice, with at most 52 increments
        assert status.iterations <= 52 * (256 + status.halvings)
        halvings.append(status.converged * status.halvings)
    assert max(halvings) >= 2


def test_status_says_what_was_done():
    sim = moving(tree())
    status = sim.step()
    assert status == sim.readings.status
    assert [type(value) for value in status] == [bool, int, float, int, bool]
    assert status.converged
    assert 1 <= status.iterations <= 12
    assert 0.0 < status.residual <= sim.options.tolerance
    assert (status.halvings, status.clipped) == (0, False)
    sim.reset()
    assert sim.readings.status == (True, 0, 0.0, 0, False)


def test_a_tighter_tolerance_takes_more_increments_and_leaves_less():
    loose, tight = (moving(tree(), tolerance=tolerance) for tolerance in (1e-4, 1e-13))
    assert loose.step().iterations < tight.step().iterations
    assert tight.readings.status.residual <= 1e-13 < loose.readings.status.residual <= 1e-4
    assert loose.constraint_residual() <= 1e-3


def test_torques_beyond_the_effort_are_clipped_and_flagged():
    sim, other = Simulator(pendulum(effort=2.0)), Simulator(pendulum(effort=2.0))
    for sign in (1.0, -1.0):
        for torque, clipped in ((2.0, False), (2.0000001, True), (5.0, True), (1e300, True)):
            sim.reset()
            other.reset()
            assert sim.step([sign * torque]).clipped is clipped
            assert not other.step([sign * 2.0]).clipped
            np.testing.assert_array_equal(motion(sim), motion(other))
    assert not sim.step([0.0]).clipped


def test_time_counts_steps():
    sim = Simulator(pendulum(), timestep=0.02)
    assert sim.time == 0.0
    sim.step()
    sim.step(substeps=4)
    assert sim.time == pytest.approx(0.1)
    fourth = Simulator(pendulum(), timestep=0.02, order=4)
    fourth.step(substeps=5)
    assert fourth.time == pytest.approx(0.1)
    sim.reset()
    assert sim.time == 0.0


def knot(sim):
    """Body positions, orientations, velocities and angular velocities, and the joints' coordinates and rates."""
    table, mech = sim.body_states, sim.mechanism
    single = [
        name for name in mech.position_names if name in mech.velocity_names
    ]  # all but floating and quaternions
    at, rates = (
        [mech.position_names.index(n) for n in single],
        [mech.velocity_names.index(n) for n in single],
    )
    bodies = table[:, :3], table[:, 3:7], table[:, 7:10], table[:, 10:]
    return *bodies, sim.joint_positions[at], sim.joint_velocities[rates]


def gaps_to_central_differences(h):
    """Largest error of the velocities, angular velocities and joint rates at 0.05 s."""
    mech = tree(damping=0.05)
    sim = Simulator(mech, timestep=h, tolerance=1e-13)
    sim.reset(random_positions(3, mech), by_joint(mech, random_rates(3, mech)))
    sim.step(substeps=round(0.05 / h) - 1)
    before = knot(sim)
    sim.step()
    now = knot(sim)
    sim.step()
    after = knot(sim)
    turns = np.array(
        [rotation_vector(mul(conj(p), q)) for p, q in zip(before[1], after[1], strict=True)]
    )
    changes = after[0] - before[0], turns, after[4] - before[4]
    return [
        np.abs(d / (2.0 * h) - v).max()
        for d, v in zip(changes, (now[2], now[3], now[5]), strict=True)
    ]


def test_readings_are_the_derivatives_of_each_other():
    """Central differences along the trajectory approach the velocities at the knot with the square of the step."""
    coarse, fine = gaps_to_central_differences(2e-3), gaps_to_central_differences(1e-3)
    assert max(fine) < 1e-3
    np.testing.assert_allclose(np.array(coarse) / fine, 4.0, rtol=0.25)


def test_body_readings_and_the_table_of_all_bodies_agree():
    for batch in (None, 3):
        sim = moving(tree(), batch=batch)
        for i, name in enumerate(sim.mechanism.bodies):
            parts = (
                sim.body_position,
                sim.body_orientation,
                sim.body_velocity,
                sim.body_angular_velocity,
            )
            row = np.concatenate([read(name) for read in parts], axis=-1)
            np.testing.assert_array_equal(sim.body_states[..., i, :], row)
            assert np.linalg.norm(sim.body_orientation(name), axis=-1) == pytest.approx(
                1.0, abs=1e-12
            )


def test_reset_gives_back_what_was_asked_for():
    mech, sim = tree(), Simulator(tree())
    positions, rates = random_positions(4, mech), random_rates(4, mech)
    sim.reset(positions, by_joint(mech, rates))
    np.testing.assert_allclose(
        sim.joint_positions, np.concatenate(list(positions.values())), atol=1e-12
    )
    np.testing.assert_allclose(sim.joint_velocities, rates, atol=1e-11)
    array = Simulator(mech)
    array.reset(np.concatenate(list(positions.values())), rates)
    np.testing.assert_array_equal(array.state, sim.state)
    assert sim.constraint_residual() <= 1e-12


@pytest.mark.parametrize("batch", [None, 3])
def test_components_of_a_quaternion_that_are_not_named_are_as_assembled(batch):
    mech = random_tree(1, ["spherical"], to_world=False)
    sim = Simulator(mech, batch=batch)
    (ball,) = (joint.name for joint in mech.joints.values() if joint.type == "spherical")
    root = "root:floating"
    value = 0.6 if batch is None else np.full(batch, 0.6)
    sim.reset({f"{ball}.qx": value, f"{ball}.qw": 0.8, f"{root}.qz": 1.0})
    q = dict(zip(mech.position_names, np.atleast_2d(sim.joint_positions)[-1], strict=True))
    names = [f"{ball}.q{axis}" for axis in "wxyz"]
    np.testing.assert_allclose([q[name] for name in names], [0.8, 0.6, 0.0, 0.0], atol=1e-12)
    w, *others = (q[f"{root}.q{axis}"] for axis in "wxyz")
    assembled = Simulator(mech).joint_positions
    first = mech.position_names.index(f"{root}.qw")
    expected = np.array([*assembled[first : first + 3], 1.0])
    np.testing.assert_allclose([w, *others], expected / np.linalg.norm(expected), atol=1e-12)


def test_base_places_a_floating_body():
    sim, q = (
        Simulator(random_tree(1, ["revolute"], to_world=False)),
        np.array([0.5, -0.5, 0.5, 0.5]),
    )
    pose, rates = (
        {"position": (1, 2, 3), "orientation": 3.0 * q},
        {"velocity": (4, 5, 6), "angular_velocity": (1, 0, 2)},
    )
    sim.reset(base={"root": pose | rates})
    np.testing.assert_allclose(sim.body_position("root"), (1, 2, 3), atol=1e-12)
    np.testing.assert_allclose(sim.body_orientation("root"), q, atol=1e-12)  # made of length one
    np.testing.assert_allclose(sim.body_velocity("root"), (4, 5, 6), atol=1e-12)
    np.testing.assert_allclose(sim.body_angular_velocity("root"), (1, 0, 2), atol=1e-12)


def test_a_mechanism_without_freedoms_or_actuators_steps():
    mech = Mechanism()
    mech.add_body("post", 1.0, np.eye(3), (0.0, 0.0, 1.0))
    mech.add_joint("weld", "fixed", "world", "post", (0.0, 0.0, 0.0))
    sim = Simulator(mech)
    assert all(sim.step(torques).converged for torques in (None, np.zeros(0)))
    assert sim.joint_positions.shape == sim.joint_velocities.shape == (0,)
    np.testing.assert_allclose(sim.body_position("post"), (0.0, 0.0, 1.0), atol=1e-12)


def test_later_changes_to_the_mechanism_are_not_seen():
    mech = pendulum()
    sim, other = Simulator(mech), Simulator(pendulum())
    mech.add_body("hat", 1.0, np.eye(3), (0.0, 0.0, 1.0))
    assert sim.step() == other.step()
    np.testing.assert_array_equal(sim.body_position("arm"), other.body_position("arm"))
    np.testing.assert_array_equal(sim.state, other.state)

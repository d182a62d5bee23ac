"""Steps in single precision: near those in double, the same in every lane, refused where they would not hold."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from scenes import touching_scenes as scenes
from scenes.batches import batch_of, signals, starts
from scenes.linkages import four_bar
from scenes.moving import motion, pendulum, whip
from scenes.trees import TYPES, random_tree
from vigym import Mechanism, Simulator

JOINTS = 1e-5  # [m, rad] what joints hold to
SINGLE = {"precision": "float32"}


def pair(mech, count, **options):
    """The same batch in double and in single precision."""
    given = starts(mech, count)
    return batch_of(mech, given, **options), batch_of(mech, given, **SINGLE, **options)


def chain(links, joint="revolute", **values):
    """Bars of 1 m and 1 kg that hang down."""
    mech = Mechanism()
    for k in range(links):
        mech.add_body(f"link{k}", 1.0, (0.085, 0.085, 0.003), (0.0, 0.0, -0.5 - k))
        parent = f"link{k - 1}" if k else "world"
        mech.add_joint(
            f"joint{k}", joint, parent, f"link{k}", (0.0, 0.0, -k), axis=(0, 1, 0), **values
        )
    return mech


@pytest.mark.parametrize("seed", range(6))
def test_all_joint_types_move_as_in_double_precision(seed):
    mech = random_tree(
        seed,
        np.random.default_rng(seed).permutation(TYPES)[:6],
        damping=0.2,
        to_world=bool(seed % 2),
    )
    double, single = pair(mech, 17)
    for torques in signals(mech, 100, 17):
        for sim in (double, single):
            assert sim.step(torques).converged.all()
        assert single.constraint_residual().max() < JOINTS
    # Bodies up to 8 m away round by 5e-7 m, so rates by 5e-5 in a step of 10 ms. In 100 steps these
    # add up at random to 5e-4, and in their 1 s to as much of a way.
    found, expected = single.body_states, double.body_states
    np.testing.assert_allclose(found[..., :7], expected[..., :7], atol=1e-3)
    np.testing.assert_allclose(found[..., 7:], expected[..., 7:], atol=2e-3)
    np.testing.assert_allclose(single.time, double.time, rtol=1e-7)


@pytest.mark.parametrize(("links", "joint"), [(5, "revolute"), (20, "revolute"), (10, "spherical")])
def test_ten_thousand_steps_of_calm_motion(links, joint):
    """Joints hold, energy does not drift: less than a thousandth of the motion's own, as much as it swings anyway."""
    mech = chain(links, joint)
    sim = Simulator(mech, batch=16, **SINGLE)
    rates = np.random.default_rng(0).normal(scale=0.5 / links, size=(16, len(mech.velocity_names)))
    sim.reset(velocities=rates)
    moving, energies = sim.energy().kinetic, [sim.energy().total]
    for _ in range(50):
        assert sim.step(substeps=200).converged.all()
        assert sim.constraint_residual().max() < JOINTS
        energies.append(sim.energy().total)
    half = len(energies) // 2
    drift = np.mean(energies[half:], axis=0) - np.mean(energies[:half], axis=0)
    assert np.abs(drift / moving).max() < 1e-3
    np.testing.assert_allclose(sim.time, 100.0, rtol=1e-7)


@pytest.mark.parametrize(
    ("values", "near"),
    [
        ({"limits": (-0.2, 0.3)}, 2e-3),  # where it hits, small differences grow
        ({"friction": 0.5}, 2e-3),
        ({"stiffness": 20.0, "damping": 1.0, "armature": 0.1}, 1e-5),
        ({"damping": 500.0}, 1e-5),
    ],
)
def test_limits_friction_springs_and_dampers(values, near):
    mech = chain(3, **values)
    sims = [Simulator(mech, batch=4, precision=p) for p in ("float64", "float32")]
    for sim in sims:
        sim.reset(velocities={"joint0": np.array([0.3, 1.0, 2.0, -2.0])})
        for _ in range(30):
            assert sim.step(substeps=10).converged.all()
            if "limits" in values:
                positions = sim.joint_positions
                assert positions.min() > -0.2 - JOINTS
                assert positions.max() < 0.3 + JOINTS
    double, single = sims
    np.testing.assert_allclose(single.joint_positions, double.joint_positions, atol=near)
    balance = [sim.metrics()["energy_balance"] for sim in sims]
    np.testing.assert_allclose(balance[1], balance[0], atol=10.0 * near)


def test_motors():
    mech = chain(2, effort=50.0)
    mech.add_motor("joint0", 100.0, 10.0, 30.0)
    mech.add_motor("joint1", 100.0, 10.0, 30.0)
    sims = [Simulator(mech, batch=3, precision=p) for p in ("float64", "float32")]
    for k in range(200):
        for sim in sims:
            assert sim.step(targets=np.tile([0.5 * np.sin(k / 20), 0.3], (3, 1))).converged.all()
    np.testing.assert_allclose(sims[1].joint_positions, sims[0].joint_positions, atol=1e-5)
    np.testing.assert_allclose(sims[1].actuator_torques, sims[0].actuator_torques, atol=1e-2)


@pytest.mark.parametrize("count", [1, 2, 16, 17, 33])
@pytest.mark.parametrize("threads", [1, 3])
def test_an_environment_is_the_same_in_every_place_of_every_batch(count, threads, eager):
    mech = random_tree(3, TYPES, damping=0.2)
    given, torques = starts(mech, 33), signals(mech, 20, 33)
    whole = batch_of(mech, given, **SINGLE)
    some = batch_of(mech, given[-count:][::-1], threads=threads, **SINGLE)
    for u in torques:
        whole.step(u, substeps=3)
        some.step(u[-count:][::-1], substeps=3)
    np.testing.assert_array_equal(some.state[::-1], whole.state[-count:])
    np.testing.assert_array_equal(some.readings.scalars[::-1], whole.readings.scalars[-count:])


def test_neighbours_that_fail_or_are_halved_change_nothing():
    mech, count = whip(), 20
    strengths = np.resize([0.0, 0.01, 0.1, 1e6, 1.0], count)
    given, seen = starts(mech, count, 0.1), set()
    batch = batch_of(mech, given, **SINGLE)
    alone = [batch_of(mech, given[e : e + 1], **SINGLE) for e in range(count)]
    for torques in signals(mech, 15, count, 1.0) * strengths[:, None]:
        batch.step(torques)
        for e, sim in enumerate(alone):
            sim.step(torques[e : e + 1])
        seen |= set(
            zip(batch.readings.status.converged, batch.readings.status.halvings > 0, strict=True)
        )
        np.testing.assert_array_equal(batch.state, np.concatenate([sim.state for sim in alone]))
    assert seen >= {(True, False), (True, True), (False, True)}


def test_reading_and_resets_of_others_change_nothing():
    mech, count = random_tree(1, TYPES, damping=0.2), 20
    given = starts(mech, count)
    quiet, busy = batch_of(mech, given, **SINGLE), batch_of(mech, given, **SINGLE)
    others = np.arange(count) % 3 == 1
    for torques in signals(mech, 20, count):
        quiet.step(torques)
        busy.step(torques)
        busy.joint_forces()
        busy.reset(mask=others)
    np.testing.assert_array_equal(busy.state[~others], quiet.state[~others])
    np.testing.assert_array_equal(busy.readings.scalars[~others], quiet.readings.scalars[~others])
    assert (busy.time[others] == 0.0).all()


def restored(sim):
    other = Simulator(sim.mechanism, batch=sim.batch, **SINGLE)
    other.state = sim.state
    return other


@pytest.mark.parametrize(
    "again", [restored, copy.deepcopy, lambda sim: pickle.loads(pickle.dumps(sim))]
)
def test_a_saved_state_continues_bit_for_bit(again):
    mech = random_tree(2, TYPES, damping=0.2)
    sim, torques = batch_of(mech, starts(mech, 5), **SINGLE), signals(mech, 40, 5)
    for u in torques[:20]:
        sim.step(u)
    other = again(sim)
    assert other.options.precision == "float32"
    for u in torques[20:]:
        sim.step(u)
        other.step(u)
        np.testing.assert_array_equal(other.state, sim.state)
        np.testing.assert_array_equal(other.readings.scalars, sim.readings.scalars)


def test_environments_with_parameters_of_their_own():
    mech = chain(3)
    factors = {"mass": np.linspace(0.5, 2.0, 40), "length": np.linspace(0.8, 1.2, 40)}
    sims = [Simulator(mech, batch=40, precision=p) for p in ("float64", "float32")]
    for sim in sims:
        sim.set_parameters(factors)
        sim.set_parameters({"gravity": 2.0}, mask=np.arange(40) == 39)
        sim.reset({"joint0": 0.3})
        sim.step(substeps=100)
        assert sim.readings.status.converged.all()
    np.testing.assert_allclose(sims[1].joint_positions, sims[0].joint_positions, atol=2e-5)


def test_pushes():
    mech, impulses = chain(3), np.zeros((20, 3, 3))
    impulses[:, 1, 0] = np.linspace(0.0, 0.5, 20)
    sims = [Simulator(mech, batch=20, precision=p) for p in ("float64", "float32")]
    for sim in sims:
        sim.step(substeps=10)
        sim.push(impulses)
        sim.step(substeps=20)
    np.testing.assert_allclose(sims[1].joint_positions, sims[0].joint_positions, atol=1e-5)
    assert sims[1].joint_positions[0].max() < JOINTS < np.abs(sims[1].joint_positions[-1]).max()


def test_what_a_simulator_tells():
    sim = Simulator(pendulum(), batch=2, **SINGLE)
    assert (sim.options.precision, sim.options.tolerance) == ("float32", 1e-5)
    assert (Simulator(pendulum()).options.precision, Simulator(pendulum()).options.tolerance) == (
        "float64",
        1e-10,
    )
    sim.step(substeps=3)
    assert {sim.state.dtype, sim.joint_positions.dtype, sim.body_states.dtype} == {
        np.dtype(np.float64)
    }
    np.testing.assert_array_equal(motion(sim)[0], motion(sim)[1])


def sprung():
    mech = pendulum()
    mech.add_spring(
        "string", "world", "arm", (0.0, 0.0, 0.0), (0.0, 0.0, -0.1), stiffness=5.0, rest_length=0.1
    )
    return mech


@pytest.mark.parametrize(
    ("mech", "options", "parts"),
    [
        (pendulum, {"batch": None}, ("precision", "one environment", "batch")),
        (pendulum, {"order": 4}, ("order", "4", "float32", "2")),
        (pendulum, {"tolerance": 1e-9}, ("tolerance", "1e-09", "float32", "1e-06")),
        (pendulum, {"timestep": 1e-4}, ("timestep", "0.0001", "float32", "0.0005")),
        (pendulum, {"precision": "float16"}, ("precision", "float16", "float64", "float32")),
        (four_bar, {}, ("float32", "closes a loop", "open chain")),
        (sprung, {}, ("float32", "string", "two points")),
        (scenes.geared, {}, ("float32", "coupling")),
        (scenes.puck, {}, ("float32", "contact", "foot0")),
    ],
)
def test_what_single_precision_does_not_serve_for_is_refused(mech, options, parts):
    with pytest.raises(ValueError, match="found") as caught:
        Simulator(mech(), **{"batch": 2, **SINGLE, **options})
    assert all(part in str(caught.value) for part in parts), str(caught.value)

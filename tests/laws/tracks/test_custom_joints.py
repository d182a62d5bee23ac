"""Joints of one's own: as built-in ones, energy, order, reversal, forces along coordinates."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from scenes.custom_joints import JOINTS, SAME, built_in, hanging_chain, held, hinge, screw
from vigym import MINITAUR_MOTOR, Mechanism, Simulator
from vigym.mechanism.tracks.slides import Slide

GAP = 1e-10  # [m or rad]


def stepped(sim, steps, **inputs):
    """The simulator after steps that converged."""
    assert sim.step(substeps=steps, **inputs).converged
    return sim


@pytest.mark.parametrize("name", SAME)
def test_they_move_as_built_in_joints(name):
    """The same discrete equations: equal but for what Newton's method leaves."""
    own, other = (Simulator(mech, tolerance=1e-12) for mech in (held(name), built_in(name)))
    for sim in (own, other):
        stepped(sim, 100)
    np.testing.assert_allclose(own.body_states, other.body_states, atol=1e-8)
    assert own.mechanism.degrees_of_freedom == other.mechanism.degrees_of_freedom
    assert own.constraint_residual() <= GAP


@pytest.mark.parametrize("name", JOINTS)
def test_motion_converges_with_the_square_of_the_step(name):
    ends = []
    for h in (0.005, 0.0025, 0.00125):
        sim = stepped(Simulator(held(name), timestep=h), round(0.2 / h))
        assert sim.constraint_residual() <= GAP
        ends.append(sim.body_states[0, :7])
    coarse, fine = (np.abs(end - ends[2]).max() for end in ends[:2])
    assert coarse / fine == pytest.approx(5.0, rel=0.2)  # (16 - 1) / (4 - 1)


@pytest.mark.parametrize("mech", [held("skewed"), held("waves"), hanging_chain()])
def test_the_energy_has_no_trend(mech):
    sim = Simulator(mech, timestep=0.004)
    start, kinetic = sim.energy().total, 0.0
    errors = []
    for _ in range(40):
        stepped(sim, 50)
        assert sim.constraint_residual() <= GAP
        errors.append(sim.energy().total - start)
        kinetic = max(kinetic, sim.energy().kinetic)
    first, second = np.array_split(np.array(errors), 2)
    assert np.abs(errors).max() < 0.02 * kinetic
    assert abs(second.mean() - first.mean()) < 0.006 * kinetic


@pytest.mark.parametrize("order", [4, 6])
def test_higher_orders_are_more_accurate(order):
    worst = []
    for each in (2, order):
        sim = Simulator(held("waves"), timestep=0.01, order=each)
        start = sim.energy().total
        worst.append(abs(stepped(sim, 40).energy().total - start))
    assert worst[1] < 0.02 * worst[0]


@pytest.mark.parametrize("name", ["waves", "five"])
def test_motion_is_reversed(name):
    """From the velocities reversed it goes back to where it came from, to rounding."""
    sim = Simulator(held(name), timestep=0.005)
    start = sim.joint_positions
    stepped(sim, 60)
    sim.reset(sim.joint_positions, -sim.joint_velocities)
    stepped(sim, 60)
    # the momentum at a knot is that of both steps beside it but for terms of the square of h
    np.testing.assert_allclose(sim.joint_positions, start, atol=1e-7)


@pytest.mark.parametrize("name", JOINTS)
def test_rates_of_coordinates_are_those_of_their_changes(name):
    """Central differences over two steps, of the square of the step."""
    sim = stepped(Simulator(held(name), timestep=1e-4), 200)
    assert sim.tracks.position("own").shape == np.shape(np.atleast_1d(JOINTS[name][1]))
    before = sim.tracks.position("own")
    rates = stepped(sim, 1).tracks.velocity("own")
    after = stepped(sim, 1).tracks.position("own")
    np.testing.assert_allclose(rates, (after - before) / 2e-4, atol=1e-4)
    place, _ = JOINTS[name][0](after)
    transform = sim.mechanism.tracks["own"].side_b
    point = sim.body_position("body") + rotated(sim.body_orientation("body"), transform.position)
    np.testing.assert_allclose(point, np.asarray(place) + JOINTS[name][2], atol=1e-9)


def rotated(q, vector):
    """A vector turned by a quaternion."""
    w, u = q[0], q[1:]
    return vector + 2.0 * np.cross(u, np.cross(u, vector) + w * vector)


def lifting(slides=None):
    """A body of 1 kg on a screw without gravity: its inertia along the coordinate is known."""
    mech = Mechanism(gravity=(0.0, 0.0, 0.0))
    mech.add_body("body", 1.0, (0.02, 0.02, 0.02))
    mech.tracks.add_custom("own", "world", "body", screw, slides=slides)
    return mech


INERTIA_OF_SCREW = 0.02 + 0.05**2


def test_a_spring_along_a_coordinate_is_an_oscillator():
    sim = stepped(Simulator(lifting(Slide(stiffness=0.5, rest=0.4)), timestep=1e-3), 500)
    phase = 0.5 * np.sqrt(0.5 / INERTIA_OF_SCREW)
    angle = 0.4 * (1.0 - np.cos(phase))
    assert sim.tracks.position("own")[0] == pytest.approx(angle, abs=1e-5)
    assert sim.energy().total == pytest.approx(0.5 * 0.5 * 0.4**2, abs=1e-6)


def test_dampers_and_friction_take_their_energy():
    sim = Simulator(lifting(Slide(damping=0.02, friction=0.01)))
    sim.reset(velocities=np.array([0.0, 0.0, 0.05, 0.0, 0.0, 1.0]))
    stepped(sim, 300)
    assert abs(sim.metrics()["energy_balance"]) < 1e-5 * 0.5 * INERTIA_OF_SCREW
    assert sim.metrics()["dissipated"] == pytest.approx(0.5 * INERTIA_OF_SCREW, rel=1e-4)


def test_limits_hold():
    sim = Simulator(lifting(Slide(limits=(-0.1, 0.2))))
    sim.reset(velocities=np.array([0.0, 0.0, 0.05, 0.0, 0.0, 1.0]))
    stepped(sim, 60)
    assert sim.tracks.position("own")[0] == pytest.approx(0.2, abs=1e-8)
    assert sim.energy().kinetic < 1e-9


def test_motors_drive_coordinates():
    mech = held("cylindrical", gravity=(0.0, 0.0, 0.0))
    mech.add_motor("own:1", kp=2.0, kd=0.6, effort=5.0)
    mech.add_motor("own:0", kp=80.0, kd=20.0, effort=10.0)
    assert mech.motor_names == ["own:0", "own:1"]
    sim = stepped(Simulator(mech), 800, targets=[0.4, -0.3])
    np.testing.assert_allclose(sim.tracks.position("own"), [0.4, -0.3], atol=1e-5)


@pytest.mark.parametrize("model", [None, MINITAUR_MOTOR], ids=["controller", "electric"])
def test_motors_are_those_of_built_in_joints(model):
    """A hinge of one's own and a built-in one, each with the same motor, saturated and not."""
    found = []
    for mech, start in ((held("hinge"), JOINTS["hinge"][1]), (built_in("hinge"), 0.0)):
        mech.add_motor("own", kp=3.0, kd=0.2, effort=2.0, model=model)
        sim = Simulator(mech, timestep=0.002)
        rows = []
        for target in (0.6, -0.3):
            stepped(sim, 100, targets=[start + target])
            readings = sim.metrics()["work_actuator"], *sim.forces.motors
            rows.append([*sim.body_states.ravel(), *readings])
        found.append(rows)
    # both rates are those of the angle, of the built-in hinge to the fourth power of its turn
    np.testing.assert_allclose(*found, atol=1e-5)


def test_they_act_on_both_bodies():
    """The momentum of two free bodies that a screw joins."""
    mech = Mechanism(gravity=(0.0, 0.0, 0.0))
    mech.add_body("nut", 2.0, (0.1, 0.2, 0.15))
    mech.add_body("bolt", 1.0, (0.01, 0.02, 0.015), (0.2, 0.1, 0.0))
    mech.tracks.add_custom("own", "nut", "bolt", screw, slides=Slide(stiffness=1.0, rest=0.5))
    sim = Simulator(mech)
    sim.reset(velocities={"nut:floating": (0.1, 1.0, 0.1, 0.2, 0.0, 0.3)})
    before = momentum(sim)
    stepped(sim, 200)
    np.testing.assert_allclose(momentum(sim), before, atol=1e-9)
    assert sim.constraint_residual() <= GAP
    assert sim.tracks.position("own")[0] > 0.1


def momentum(sim):
    """Linear and angular momentum of all bodies."""
    masses, inertias = sim.body_inertias
    found = np.zeros(6)
    for state, mass, inertia in zip(sim.body_states, masses, inertias, strict=True):
        q, linear = state[3:7], mass * state[7:10]
        found += np.append(linear, np.cross(state[:3], linear) + rotated(q, inertia @ state[10:]))
    return found


@pytest.mark.parametrize(
    ("timestep", "hardest"),
    [(0.01, 2.0), pytest.param(0.03, 150.0, id="some_need_further_attempts")],
)
def test_a_batch_is_its_environments_bit_for_bit(timestep, hardest):
    batch = Simulator(hanging_chain(), timestep, batch=5)
    pushes = np.linspace(0.0, hardest, 5)
    batch.forces.apply("b2", force=np.stack([0 * pushes, pushes, 0 * pushes], axis=1))
    states = []
    for _ in range(40):
        batch.step()
        states.append(batch.state)
    for e, push in enumerate(pushes):
        one = Simulator(hanging_chain(), timestep)
        one.forces.apply("b2", force=(0.0, push, 0.0))
        for state in states:
            one.step()
            np.testing.assert_array_equal(state[e], one.state)
        np.testing.assert_array_equal(batch.tracks.velocity("j1")[e], one.tracks.velocity("j1"))


def test_saved_states_go_on_bit_for_bit():
    sim = stepped(Simulator(held("five")), 30)
    others = [Simulator(held("five")), copy.deepcopy(sim), pickle.loads(pickle.dumps(sim))]
    others[0].state = sim.state
    stepped(sim, 30)
    for other in others:
        np.testing.assert_array_equal(stepped(other, 30).state, sim.state)


def test_a_singular_place_ends_in_a_failed_step_that_says_so():
    """A crank whose pin moves down: at the dead point its rail moves it alike, and ends."""
    mech = Mechanism(gravity=(0.0, 0.0, 0.0))
    mech.add_body("body", 1.0, (0.02, 0.03, 0.025))
    mech.tracks.add_custom("own", "world", "body", crank, (0.0, 1.0))
    sim = Simulator(mech)
    sim.reset(velocities=np.array([0.0, -0.5, 0.0, 0.0, 0.0, 0.0]))
    with pytest.warns(RuntimeWarning, match="joint 'own' next to coordinates that move the child"):
        assert any(not sim.step().converged for _ in range(200))
    assert sim.constraint_residual() <= GAP


def crank(q):
    """Shift along x, and go round a circle of 1 m in the plane of x and y."""
    return (q[0] + np.sin(q[1]), 1.0 - np.cos(q[1]), 0.0), (1.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize("batch", [None, 2])
def test_a_coordinate_that_moves_nothing_ends_in_a_warning(batch):
    mech = Mechanism(gravity=(0.0, 0.0, 0.0))
    mech.add_body("body", 1.0, (0.02, 0.03, 0.025), (0.25, 0.0, 0.0))
    mech.tracks.add_custom("own", "world", "body", ending, 0.5)
    sim = Simulator(mech, batch=batch)
    sim.reset(velocities=np.array([-0.5, 0.0, 0.0, 0.0, 0.0, 0.0]))
    with pytest.warns(RuntimeWarning, match="joint 'own' next to .*or not at all"):
        assert any(not np.all(sim.step().converged) for _ in range(200))
    assert np.max(sim.constraint_residual()) <= GAP


def ending(q):
    """Shift along x by the square of the coordinate: at zero it moves nothing."""
    return (q[0] * q[0], 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)


def test_a_hinge_passes_many_turns():
    mech = Mechanism(gravity=(0.0, 0.0, 0.0))
    mech.add_body("rod", 1.0, (0.002, 0.084, 0.084), (0.5, 0.0, 0.0))
    mech.tracks.add_custom("own", "world", "rod", hinge)
    sim = Simulator(mech)
    sim.reset(velocities=np.array([0.0, 0.0, -2.5, 0.0, 5.0, 0.0]))
    stepped(sim, 1000)
    # the chord of a step turns by less than the arc, by the square of the step
    assert sim.tracks.position("own")[0] == pytest.approx(50.0, rel=1e-3)

"""Held wrenches and prescribed motions: work, momentum, order, reversal, batches, saved states."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from scenes.loops_plane import five_bar, general_four_bars
from vigym import Mechanism, Simulator
from vigym.mechanism.elements.errors import MechanismError

G = 9.81
UP = (0.0, 1.0, 0.0)


def pendulum(gravity=G, kind="universal"):
    """Two bodies below each other."""
    mech = Mechanism(gravity=(0.0, 0.0, -gravity))
    mech.add_body("upper", 1.0, (0.1, 0.2, 0.15), (0.0, 0.0, -0.5))
    mech.add_body("lower", 0.7, (0.05, 0.02, 0.05), (0.0, 0.0, -1.5))
    mech.add_joint("shoulder", "revolute", "world", "upper", (0.0, 0.0, 0.0), UP, effort=10.0)
    axes = {"axis2": (1.0, 0.0, 0.0)} if kind == "universal" else {}
    mech.add_joint("elbow", kind, "upper", "lower", (0.0, 0.0, -1.0), UP, **axes)
    return mech


def stepped(sim, steps):
    """The simulator after steps that converged."""
    assert sim.step(substeps=steps).converged
    return sim


def test_held_weights_are_gravity():
    """Their work is what gravity's potential loses."""
    weighed, falling = Simulator(pendulum(0.0)), Simulator(pendulum())
    for sim in (weighed, falling):
        sim.reset({"shoulder": 1.0})
    for name, body in weighed.mechanism.bodies.items():
        weighed.forces.apply(name, (0.0, 0.0, -G * body.mass))
    start = falling.energy().potential
    for _ in range(100):
        stepped(weighed, 1)
        stepped(falling, 1)
        np.testing.assert_allclose(weighed.body_states, falling.body_states, atol=1e-9)
    loss = start - falling.energy().potential
    assert weighed.metrics()["work_actuator"] == pytest.approx(loss, abs=1e-9)


def test_a_torque_on_a_body_is_one_of_its_actuator():
    one, other = Simulator(pendulum()), Simulator(pendulum())
    one.forces.apply("upper", torque=(0.0, 2.0, 0.0))
    for _ in range(50):
        assert one.step().converged
        assert other.step([2.0]).converged
        np.testing.assert_allclose(one.body_states, other.body_states, atol=1e-10)
    works = [sim.metrics()["work_actuator"] for sim in (one, other)]
    assert works[0] == pytest.approx(works[1], rel=1e-3)  # sin(angle) for angles, over steps


def test_the_balance_of_energy_falls_with_the_square_of_the_step():
    missing = []
    for h in (0.01, 0.005):
        sim = Simulator(pendulum(), timestep=h)
        sim.forces.apply("lower", (1.0, 0.5, 0.2), (0.1, 0.0, 0.2), (0.0, 0.1, -0.3))
        sim.forces.apply("upper", (2.0, 0.0, 0.0), (0.0, 0.1, 0.5), (0.1, 0.0, 0.0), frame="body")
        stepped(sim, round(1.0 / h))
        assert abs(sim.metrics()["work_actuator"]) > 0.3
        missing.append(abs(sim.metrics()["energy_balance"]))
    assert missing[0] < 1e-3
    assert missing[0] / missing[1] == pytest.approx(4.0, rel=0.1)


def test_a_force_at_a_point_gives_its_momentum():
    """A free body: linear momentum F t; without gravity its angular momentum about the origin F x r."""
    mech = Mechanism(gravity=(0.0, 0.0, 0.0))
    mech.add_body("body", 2.0, (0.1, 0.2, 0.15))
    sim = Simulator(mech)
    sim.forces.apply("body", (1.0, -2.0, 0.5), point=(0.0, 0.1, 0.2))
    stepped(sim, 100)
    np.testing.assert_allclose(sim.body_velocity("body"), np.array([0.5, -1.0, 0.25]), atol=1e-12)
    sim.reset()
    stepped(sim, 10)  # a reset clears it
    assert np.abs(sim.body_states[0, 7:]).max() == 0.0


def test_motions_are_reversible():
    """Forward, then back with the rates turned round, under a wrench that is fixed in the world."""
    sim = Simulator(pendulum(kind="revolute"), timestep=0.02, tolerance=1e-13)
    sim.reset({"shoulder": 0.5}, {"elbow": 1.0})
    given = ("lower", (1.0, 0.0, 3.0), (0.0, 0.1, 0.0), (0.0, 0.0, -0.4))
    start = sim.joint_positions
    sim.forces.apply(*given)
    stepped(sim, 100)
    end = sim.joint_positions, -sim.joint_velocities
    sim.reset(*end)
    sim.forces.apply(*given)
    stepped(sim, 100)
    np.testing.assert_allclose(sim.joint_positions, start, atol=1e-9)
    np.testing.assert_allclose(sim.joint_velocities, (0.0, -1.0), atol=1e-9)


def moved(h=0.01, motion=lambda t: 0.4 * np.sin(5.0 * t), **options):
    """The pendulum with its shoulder moved."""
    mech = pendulum()
    mech.add_motion("shoulder", motion)
    return Simulator(mech, timestep=h, **options)


def test_a_motion_is_met_and_its_force_is_that_of_inverse_dynamics():
    sim = moved(h=1e-3)
    for _ in range(200):
        stepped(sim, 1)
        assert sim.joint_positions[0] == pytest.approx(0.4 * np.sin(5.0 * sim.time), abs=1e-12)
        assert sim.joint_velocities[0] == pytest.approx(2.0 * np.cos(5.0 * sim.time), abs=1e-9)
    other = Simulator(pendulum())
    other.reset(sim.joint_positions, sim.joint_velocities)
    free = np.zeros(3)
    base = other.dynamics.inverse(free, actuated=False)
    mass = other.dynamics.mass_matrix()
    wished = -10.0 * np.sin(5.0 * sim.time)
    rest = np.linalg.solve(mass[1:, 1:], -base[1:] - mass[1:, 0] * wished)
    force = (base + mass @ np.append(wished, rest))[0]
    stepped(sim, 1)  # its force is where this step began
    assert sim.forces.motions[0] == pytest.approx(force, rel=2e-5)


def test_moved_mechanisms_converge_with_the_square_of_the_step():
    ends = []
    for h in (0.01, 0.005, 0.000625):
        sim = moved(h)
        stepped(sim, round(0.5 / h))
        ends.append(np.append(sim.body_states, sim.metrics()["work_actuator"]))
        balance = abs(sim.metrics()["energy_balance"])
        assert balance < 20.0 * h**2
    coarse, fine = (np.abs(end - ends[2]) for end in ends[:2])
    assert coarse.max() / fine.max() == pytest.approx(4.0, rel=0.1)


def test_samples_are_followed():
    times = np.linspace(0.0, 1.0, 201)
    sim = moved(motion=(times, 0.4 * np.sin(5.0 * times)))
    smooth = moved()
    for _ in range(90):
        stepped(sim, 1)
        stepped(smooth, 1)
        assert sim.joint_positions[0] == pytest.approx(smooth.joint_positions[0], abs=1e-5)
    stepped(sim, 100)
    assert sim.joint_positions[0] == pytest.approx(0.4 * np.sin(5.0), abs=1e-12)  # rest behind


@pytest.mark.parametrize("loops", ["tail", "local"])
def test_a_motion_drives_a_loop(loops):
    """A five-bar with one hip turned all the way and the other one held; the gap stays closed."""
    mech = five_bar(damping=0.0)
    mech.add_motion("left_hip", lambda t: 0.5 * np.sin(2.0 * t), lambda t: np.cos(2.0 * t))
    mech.add_motion("right_hip", lambda t: 0.0)
    sim = Simulator(mech, loops=loops)
    start = sim.energy().total
    for _ in range(300):
        stepped(sim, 1)
        assert sim.constraint_residual() <= 1e-10
    metrics = sim.metrics()
    assert metrics["work_actuator"] != 0.0
    assert abs(metrics["energy_balance"]) < 1e-2 * abs(start)
    assert sim.forces.motions.shape == (2,)


def test_motions_against_a_loop_or_a_motor_are_refused():
    mech = general_four_bars(1)
    names = [joint.name for joint in mech.tree_joints]
    mech.add_motion(names[0], lambda t: 0.1 * t)
    mech.add_motion(names[1], lambda t: 0.1 * t)
    with pytest.raises(MechanismError, match=f"motion of '{names[1]}': found a coordinate that lo"):
        Simulator(mech)
    other = pendulum()
    with pytest.raises(MechanismError, match="motion of 'elbow': found 'elbow', expected one of"):
        other.add_motion("elbow", lambda t: t)
    other.add_motion("shoulder", np.sin)
    with pytest.raises(MechanismError, match="found a prescribed motion on it, expected none"):
        other.add_motor("shoulder", kp=1.0)
    with pytest.raises(MechanismError, match="motion"):
        other.to_urdf()
    with pytest.raises(ValueError, match="order=4: found the prescribed motion of 'shoulder'"):
        Simulator(other, order=4)
    with pytest.raises(ValueError, match="linearize: found the prescribed motion of 'shoulder'"):
        Simulator(other).linearize()
    for query in (Simulator(other).dynamics.forward, lambda: inverse_at_rest(Simulator(other))):
        with pytest.raises(
            ValueError, match="dynamics..*: found the prescribed motion of 'shoulder'"
        ):
            query()
    with pytest.raises(MechanismError, match="motion of 'shoulder': found a start at 1, expected"):
        Simulator(other).reset({"shoulder": 1.0})


@pytest.mark.parametrize(
    ("motion", "message"),
    [
        (3.0, "found 3.0, expected a function of time, or"),
        (([0.0, 1.0], [1.0]), "expected .* of one length"),
        (([0.0, 0.0], [1.0, 2.0]), "times that increase"),
        (([0.0, np.nan], [1.0, 2.0]), "expected .times, values."),
        (lambda t: "x", "motion of 'shoulder' at 0 s: found 'x', expected a finite number"),
        (lambda t: np.inf, "found inf, expected a finite number"),
    ],
)
def test_wrong_motions_are_refused(motion, message):
    mech = pendulum()
    with pytest.raises(MechanismError, match=message):
        mech.add_motion("shoulder", motion)
    assert not mech.motions


def test_wrong_wrenches_are_refused():
    sim = Simulator(pendulum())
    before = sim.state
    with pytest.raises(MechanismError, match="apply: body"):
        sim.forces.apply("nobody", (1.0, 0.0, 0.0))
    for given in ({"force": (1.0, 2.0)}, {"torque": (np.nan, 0.0, 0.0)}, {"point": "x"}):
        with pytest.raises(ValueError, match=next(iter(given))):
            sim.forces.apply("upper", **given)
    with pytest.raises(MechanismError, match="apply: frame"):
        sim.forces.apply("upper", frame="ground")
    single = Simulator(pendulum(kind="revolute"), batch=2, precision="float32")
    with pytest.raises(ValueError, match="float32"):
        single.forces.apply("upper", (1.0, 0.0, 0.0))
    np.testing.assert_array_equal(sim.state, before)
    sim.forces.apply("upper", (1.0, 0.0, 0.0))
    with pytest.raises(ValueError, match="linearize: found a held wrench"):
        sim.linearize()
    for query in (sim.dynamics.forward, lambda: inverse_at_rest(sim)):
        with pytest.raises(ValueError, match="dynamics..*: found a held wrench"):
            query()


def inverse_at_rest(sim):
    """Joint forces that hold a simulator's mechanism without acceleration."""
    return sim.dynamics.inverse(0.0 * sim.joint_velocities)


def driven(batch=None):
    """A simulator with a motion, a wrench, a damper and a start of its own."""
    mech = pendulum()
    mech.add_motion("shoulder", lambda t: 0.4 * np.sin(5.0 * t))
    return Simulator(mech, batch=batch)


def test_a_batch_is_its_environments_bit_for_bit():
    """Eleven environments, more than a register has lanes; one of them is later in time."""
    forces = np.random.default_rng(0).normal(size=(11, 3))
    batch = driven(11)
    batch.step(substeps=3)
    late = np.arange(11) != 4
    batch.reset(mask=late)
    batch.forces.apply("lower", forces, point=(0.0, 0.1, 0.0))
    batch.forces.apply("upper", torque=(0.1, 0.2, 0.3), frame="body", mask=late)
    batch.step(substeps=40)
    for e, force in enumerate(forces):
        one = driven()
        if e == 4:
            one.step(substeps=3)
        one.forces.apply("lower", force, point=(0.0, 0.1, 0.0))
        if e != 4:
            one.forces.apply("upper", torque=(0.1, 0.2, 0.3), frame="body")
        one.step(substeps=40)
        np.testing.assert_array_equal(batch.state[e], one.state)
        np.testing.assert_array_equal(batch.body_states[e], one.body_states)


def test_saved_states_go_on_bit_for_bit():
    """With a wrench into a simulator that has none yet, and back; also pickled."""
    sim = Simulator(pendulum())
    bare = sim.state
    sim.forces.apply("lower", (1.0, 0.5, 0.2))
    stepped(sim, 10)
    saved = sim.state
    assert len(saved) > len(bare)
    others = [Simulator(pendulum()), pickle.loads(pickle.dumps(sim))]
    others[0].state = saved
    stepped(sim, 10)
    for other in others:
        stepped(other, 10)
        np.testing.assert_array_equal(other.state, sim.state)
    sim.state = bare
    fresh = Simulator(pendulum())
    stepped(sim, 5)
    stepped(fresh, 5)
    np.testing.assert_array_equal(sim.body_states, fresh.body_states)

"""Constraints of velocities of any bodies: what they hold, work, momentum, order, reversal."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from scenes.loops_plane import five_bar
from scenes.moving_bodies import two_bodies
from vigym import Mechanism, Simulator

UP = (0.0, 0.0, 1.0)
NONE = (0.0, 0.0, 0.0)
MASS, MOMENT = 2.0, 0.3
OFFSET = 0.2


def spinning(mech, h=0.01, **options):
    """A simulator of two free bodies that spin."""
    sim = Simulator(mech, timestep=h, **options)
    sim.reset(velocities=[0.5, 0.1, -0.2, 1.0, 2.0, 0.3, 1.0, 0.0, 0.3, -1.0, 0.5, 2.0])
    return sim


def stepped(sim, steps=1):
    """The simulator after steps that converged."""
    assert sim.step(substeps=steps).converged
    return sim


def weighted(sim):
    """The sum of a simulator's first velocity constraint at the knot, in its frame."""
    (constraint,) = sim.mechanism.velocity_constraints.values()
    total = 0.0
    for body, weights in constraint.terms.items():
        frame = constraint.frame_of(body)
        turn = np.eye(3) if frame == "world" else rotation(sim.body_orientation(frame))
        w = rotation(sim.body_orientation(body)) @ sim.body_angular_velocity(body)
        total += turn @ weights[:3] @ sim.body_velocity(body) + turn @ weights[3:] @ w
    return total


def rotation(q):
    """Rotation matrix of a quaternion."""
    w, v = q[0], q[1:]
    skew = np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
    return np.eye(3) + 2.0 * w * skew + 2.0 * skew @ skew


def test_one_free_body_is_twice_as_fast_as_another():
    """The impulse of a force is shared as by one body of m1 + 4 m2; places keep their ratio too."""
    sim = spinning(two_bodies((0.0, 0.0, -9.81)))
    start = sim.body_position("first")[0], sim.body_position("second")[0]
    sim.forces.apply("first", (3.0, 0.0, 0.0))
    for _ in range(100):
        stepped(sim)
        assert 2.0 * sim.body_velocity("first")[0] == pytest.approx(
            sim.body_velocity("second")[0], abs=1e-12
        )
    away = sim.body_position("first")[0] - start[0], sim.body_position("second")[0] - start[1]
    assert away[1] == pytest.approx(2.0 * away[0], abs=1e-11)
    assert sim.body_velocity("first")[0] == pytest.approx(0.5 + 3.0 / 9.0, abs=1e-11)
    np.testing.assert_allclose(sim.forces.velocity_constraints, [-4.0 / 3.0], atol=1e-9)


def test_starts_are_projected_in_the_metric_of_masses():
    sim = Simulator(two_bodies())
    sim.reset(velocities=[1.0, *[0.0] * 11])
    assert sim.joint_velocities[0] == pytest.approx(1.0 / 9.0, abs=1e-14)
    assert sim.joint_velocities[6] == pytest.approx(2.0 / 9.0, abs=1e-14)
    stepped(sim, 10)
    assert sim.energy().total == pytest.approx(0.5 / 9.0, abs=1e-12)
    assert np.abs(sim.forces.velocity_constraints).max() < 1e-10


def test_a_screw_between_bodies_that_share_no_joint():
    """A nut on a rail and a bolt on a hinge: m g = (m + J / p^2) a; the load turns the bolt."""
    pitch = 0.5  # [m/rad]
    mech = Mechanism()
    mech.add_body("nut", 2.0, (0.1, 0.1, 0.1))
    mech.add_body("bolt", 1.0, (3.0, 3.0, 5.0), (1.0, 0.0, 0.0))
    mech.add_joint("rail", "prismatic", "world", "nut", (0.0, 0.0, 0.0), UP)
    mech.add_joint("hinge", "continuous", "world", "bolt", (1.0, 0.0, 0.0), UP)
    terms = {"nut": (UP, NONE), "bolt": (NONE, (0.0, 0.0, -pitch))}
    mech.add_velocity_constraint("thread", terms)
    sim = stepped(Simulator(mech), 100)
    fall = -2.0 * 9.81 / (2.0 + 5.0 / pitch**2)
    np.testing.assert_allclose(sim.joint_velocities, [fall, fall / pitch], rtol=1e-4)
    force = 2.0 * (fall + 9.81)
    np.testing.assert_allclose(sim.forces.velocity_constraints, [force], rtol=1e-4)
    assert abs(sim.metrics()["energy_balance"]) < 1e-3


def differential(kind):
    """Three shafts about one axis in space, the third turning at the mean of the others."""
    axis = np.array([1.0, 2.0, 2.0]) / 3.0
    mech = Mechanism()
    for k, name in enumerate(("left", "right", "case")):
        mech.add_body(name, 1.0, (0.02, 0.03, 0.04), (0.0, 0.3 * k, 0.1))
        mech.add_joint(name, "continuous", "world", name, (0.0, 0.3 * k, 0.0), axis)
    if kind == "world":
        terms = {name: (NONE, axis * k) for name, k in (("left", 1), ("right", 1), ("case", -2))}
        mech.add_velocity_constraint("gears", terms)
    else:
        terms = {name: (NONE, axis * k) for name, k in (("left", 1), ("right", 1), ("case", -2))}
        mech.add_velocity_constraint("gears", terms, frame=kind)
    return mech


@pytest.mark.parametrize("kind", ["world", "body", "left"])
def test_a_differential(kind):
    """All frames are the same here: the axis is fixed in space and in every shaft."""
    sim, like = Simulator(differential(kind)), Simulator(differential("world"))
    for each in (sim, like):
        each.reset(velocities={"left": 3.0, "right": -1.0, "case": 1.0})
    for _ in range(100):
        stepped(sim)
        stepped(like)
        left, right, case = sim.joint_velocities
        assert left + right == pytest.approx(2.0 * case, abs=1e-10)
        np.testing.assert_allclose(sim.body_states, like.body_states, atol=1e-9)
    assert abs(sim.metrics()["energy_balance"]) < 1e-2


def sleigh(rate=0.0, **options):
    """Chaplygin's sleigh: a planar body whose velocity at a blade, in its own axes, is set."""
    mech = Mechanism(gravity=(0.0, 0.0, 0.0))
    mech.add_body("sleigh", MASS, (0.1, 0.2, MOMENT))
    mech.add_joint("plane", "planar", "world", "sleigh", (0.0, 0.0, 0.0), UP)
    across = {"sleigh": ((0.0, 1.0, 0.0), (0.0, 0.0, -OFFSET))}  # the blade is behind by the offset
    mech.add_velocity_constraint("blade", across, rate, frame="body", **options)
    return mech


def sleigh_rates(_, y):
    """Chaplygin's equations for (speed along the blade, spin, heading, x, y) of the centre of mass."""
    u, w, angle = y[:3]
    side = OFFSET * w
    return [OFFSET * w**2, -MASS * OFFSET * u * w / (MOMENT + MASS * OFFSET**2), w,
            u * np.cos(angle) - side * np.sin(angle), u * np.sin(angle) + side * np.cos(angle)]  # fmt: skip


@pytest.mark.parametrize("start", [(1.0, 1.0), (-1.0, 2.0)])
def test_chaplygins_sleigh_moves_by_its_equations(start):
    exact = solve_ivp(sleigh_rates, (0.0, 2.0), [*start, 0.0, 0.0, 0.0], rtol=1e-11, atol=1e-12)
    errors = []
    for h in (0.02, 0.01, 0.005):
        sim = Simulator(sleigh(), timestep=h)
        sim.reset(velocities=[start[0], OFFSET * start[1], start[1]])
        stepped(sim, round(2.0 / h))
        errors.append(np.abs(sim.body_position("sleigh")[:2] - exact.y[3:, -1]).max())
        assert abs(weighted(sim)) < 1e-12
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.25)
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.15)


def in_space(frame="body", gravity=2.0):
    """A free body and a pendulum of two balls; a sum over all three follows nothing but zero."""
    mech = Mechanism(gravity=(0.0, 0.0, -gravity))
    for k, name in enumerate(("upper", "lower", "free")):
        place = (0.0, 0.1 * k, -0.5 - k)
        mech.add_body(name, 1.0 + 0.3 * k, (0.1, 0.12 + 0.02 * k, 0.15), place)
    mech.add_joint("shoulder", "spherical", "world", "upper", (0.0, 0.0, 0.0))
    mech.add_joint("elbow", "spherical", "upper", "lower", (0.0, 0.0, -1.0))
    rng = np.random.default_rng(1)
    terms = {name: rng.normal(size=(2, 3)) for name in mech.bodies}
    mech.add_velocity_constraint("sum", terms, frame=frame)
    return mech


def thrown(h, frame, tolerance=None, gravity=2.0):
    """A simulator of `in_space` that moves."""
    sim = Simulator(in_space(frame, gravity), timestep=h, tolerance=tolerance)
    rates = np.random.default_rng(2).normal(size=len(sim.mechanism.velocity_names))
    sim.reset(velocities=rates)
    return sim


@pytest.mark.parametrize("frame", ["world", "body", "upper"])
def test_sums_hold_without_work(frame):
    """At every knot, forward and backward; the error of the energy falls with the square of the step."""
    errors = []
    for h in (0.02, 0.01):
        sim, found = thrown(h, frame, tolerance=1e-13), []
        start = sim.body_states
        for _ in range(round(2.0 / h)):
            stepped(sim)
            assert abs(weighted(sim)) < 1e-11
            found.append(sim.energy().total)
        errors.append(np.ptp(found))
        assert sim.metrics()["work_actuator"] == 0.0
    assert errors[0] / errors[1] > 3.0
    sim.reset(sim.joint_positions, -sim.joint_velocities)
    stepped(sim, 200)
    np.testing.assert_allclose(sim.body_states[:, :3], start[:, :3], atol=1e-8)
    np.testing.assert_allclose(sim.body_states[:, 7:], -start[:, 7:], atol=1e-8)


@pytest.mark.parametrize("frame", ["world", "body", "upper"])
def test_the_energy_has_no_trend(frame):
    sim = thrown(0.02, frame, gravity=0.0)
    found = [stepped(sim, 5).energy().total for _ in range(1000)]
    first, second = np.reshape(found, (2, -1)).mean(axis=1)
    assert abs(second - first) < 1e-3 * found[0]
    assert np.ptp(found) < 2e-3 * found[0]


def test_momentum_is_kept_by_pairs_of_weights():
    """Along an axis of the one body; linear and angular momentum, to rounding."""
    mech = Mechanism(gravity=(0.0, 0.0, 0.0))
    mech.add_body("first", 1.0, (0.1, 0.2, 0.15))
    mech.add_body("second", 2.0, (0.2, 0.25, 0.15), (1.0, 0.0, 0.0))
    spin = np.array([0.3, -0.5, 0.8])
    mech.add_velocity_constraint(
        "same spin", {"first": (NONE, spin), "second": (NONE, -spin)}, frame="first"
    )
    sim = spinning(mech, tolerance=1e-13)
    start = momenta(sim)
    stepped(sim, 300)
    assert abs(weighted(sim)) < 1e-12
    np.testing.assert_allclose(momenta(sim), start, atol=1e-10)


def momenta(sim):
    """Linear and angular momentum about the origin of all bodies."""
    total = np.zeros(6)
    for name, body in sim.mechanism.bodies.items():
        p, x = body.mass * sim.body_velocity(name), sim.body_position(name)
        turn = rotation(sim.body_orientation(name))
        spin = turn @ body.inertia @ sim.body_angular_velocity(name)
        total += np.append(p, np.cross(x, p) + spin)
    return total


@pytest.mark.parametrize("kind", ["function", "samples"])
def test_prescribed_speeds_take_the_force_that_they_need(kind):
    """One body: m dc/dt; the way is the integral, and the work is that of the force."""
    times = np.linspace(0.0, 2.0, 401)
    rate = np.sin if kind == "function" else (times, np.sin(times))
    mech = Mechanism(gravity=(0.0, 0.0, 0.0))
    mech.add_body("body", 3.0, (0.1, 0.2, 0.15))
    mech.add_velocity_constraint("speed", {"body": ((0.0, 2.0, 0.0), NONE)}, rate)
    sim = Simulator(mech)
    for k in range(100):
        stepped(sim)
        assert 2.0 * sim.body_velocity("body")[1] == pytest.approx(np.sin(sim.time), abs=1e-7)
        force = 3.0 * 0.25 * np.cos(0.01 * k)  # 2 lam = m dv/dt, v = sin(t) / 2
        if k:
            assert sim.forces.velocity_constraints[0] == pytest.approx(force, abs=1e-4)
    way = 0.5 * (1.0 - np.cos(1.0))
    assert sim.body_position("body")[1] == pytest.approx(way, abs=1e-8)
    kinetic = 0.5 * 3.0 * (0.5 * np.sin(1.0)) ** 2
    assert sim.metrics()["work_actuator"] == pytest.approx(kinetic, rel=1e-4)


def test_a_shaft_that_turns_steadily_is_a_prescribed_motion():
    """The same torque and hinge forces, at an angle a step that is the same, to (h w)^4 / 2880."""
    h, rate = 0.01, 4.0

    def crank():
        mech = Mechanism()
        mech.add_body("crank", 1.0, (0.02, 0.03, 0.04), (0.4, 0.0, 0.1))
        mech.add_joint("hinge", "continuous", "world", "crank", (0.0, 0.0, 0.0), (0.0, 1.0, 0.0))
        return mech

    moved, held = crank(), crank()
    speed = rate * (1.0 + (h * rate) ** 4 / 2880.0)
    moved.add_motion("hinge", lambda t: speed * t, lambda t: rate)
    held.add_velocity_constraint("turns", {"crank": (NONE, (0.0, 1.0, 0.0))}, rate)
    one, other = Simulator(moved, timestep=h), Simulator(held, timestep=h)
    other.reset(velocities={"hinge": rate})
    for _ in range(100):
        stepped(one)
        stepped(other)
        np.testing.assert_allclose(one.joint_forces(), other.joint_forces(), atol=1e-8)
        np.testing.assert_allclose(
            one.forces.motions, other.forces.velocity_constraints, rtol=1e-8, atol=1e-8
        )
    assert other.metrics()["energy_balance"] == pytest.approx(0.0, abs=2e-2)


def test_pushes_of_ones_own_do_work():
    """The second body is to be as fast as the first, and only the first is pushed: it is slowed."""
    missing = []
    for h in (0.01, 0.005):
        terms = {"first": ((1.0, 0.0, 0.0), NONE), "second": ((-1.0, 0.0, 0.0), NONE)}
        mech = Mechanism(gravity=(0.0, 0.0, 0.0))
        mech.add_body("first", 1.0, (0.1, 0.2, 0.15))
        mech.add_body("second", 2.0, (0.2, 0.25, 0.15), (1.0, 0.0, 0.0))
        pushes = {"first": ((1.0, 0.0, 0.0), (0.0, 0.3, 0.0))}
        mech.add_velocity_constraint("follow", terms, pushes=pushes)
        sim = spinning(mech, h)
        sim.forces.apply("second", (1.0, 0.0, 0.0))
        stepped(sim, round(1.0 / h))
        first, second = sim.body_velocity("first"), sim.body_velocity("second")
        assert first[0] == pytest.approx(second[0], abs=1e-12)
        assert second[0] == pytest.approx(1.0 + 0.5, abs=1e-10)
        assert sim.forces.velocity_constraints[0] == pytest.approx(0.5, abs=1e-8)
        missing.append(abs(sim.metrics()["energy_balance"]))
    assert missing[0] < 1e-3
    assert missing[0] / missing[1] == pytest.approx(4.0, rel=0.2)


@pytest.mark.parametrize("loops", ["tail", "local"])
def test_constraints_and_prescribed_motions_together(loops):
    """A crank is moved, and a free body is as fast as its end; both forces do work."""
    balances = []
    for h in (0.01, 0.005):
        mech = Mechanism()
        mech.add_body("crank", 1.0, (0.02, 0.03, 0.04), (0.4, 0.0, 0.1))
        mech.add_body("block", 2.0, (0.1, 0.1, 0.1), (1.0, 0.0, 0.0))
        mech.add_joint("hinge", "revolute", "world", "crank", (0.0, 0.0, 0.0), (0.0, 1.0, 0.0))
        mech.add_motion("hinge", lambda t: 0.5 * np.sin(4.0 * t), lambda t: 2.0 * np.cos(4.0 * t))
        terms = {"crank": ((1.0, 0.0, 0.0), NONE), "block": ((-1.0, 0.0, 0.0), NONE)}
        mech.add_velocity_constraint("rod", terms, lambda t: 0.2 * np.sin(t))
        sim = Simulator(mech, timestep=h, loops=loops)
        for _ in range(round(1.0 / h)):
            stepped(sim)
            assert sim.joint_positions[-1] == pytest.approx(0.5 * np.sin(4.0 * sim.time), abs=1e-12)
            assert weighted(sim) == pytest.approx(0.2 * np.sin(sim.time), abs=1e-11)
        assert sim.forces.motions.shape == sim.forces.velocity_constraints.shape == (1,)
        balances.append(abs(sim.metrics()["energy_balance"]))
    assert balances[0] < 2e-2
    assert balances[0] / balances[1] == pytest.approx(4.0, rel=0.3)


@pytest.mark.parametrize("loops", ["tail", "local"])
def test_a_constraint_over_loops(loops):
    """A five-bar, two of whose bars turn against each other; the gap stays closed."""
    mech = five_bar(damping=0.0)
    one, *_, other = mech.bodies
    axis = mech.tree_joints[0].axis
    mech.add_velocity_constraint("opposite", {one: (NONE, axis), other: (NONE, 0.7 * axis)})
    sim = Simulator(mech, loops=loops)
    sim.reset(velocities=np.linspace(1.0, 2.0, len(mech.velocity_names)))
    start = sim.energy().total
    for _ in range(200):
        stepped(sim)
        assert abs(weighted(sim)) < 1e-10
        assert sim.constraint_residual() <= 1e-10
    assert abs(sim.energy().total - start) < 0.05 * abs(start) + 0.05


def driven(batch=None):
    """A simulator with constraints of all kinds."""
    mech = in_space("upper")
    terms = {"free": ((1.0, 0.0, 0.0), NONE)}
    mech.add_velocity_constraint("speed", terms, lambda t: 0.3 * np.sin(3.0 * t))
    mech.add_velocity_constraint("spin", {"lower": (NONE, UP)}, 0.5, frame="body")
    return Simulator(mech, batch=batch)


def test_a_batch_is_its_environments_bit_for_bit():
    """Eleven environments, more than a register has lanes; one of them is later in time."""
    rates = np.random.default_rng(0).normal(size=(11, 12))
    batch = driven(11)
    batch.step(substeps=3)
    late = np.arange(11) != 4
    batch.reset(velocities=rates, mask=late)
    batch.step(substeps=30)
    for e, own in enumerate(rates):
        one = driven()
        if e == 4:
            one.step(substeps=3)
        else:
            one.reset(velocities=own)
        one.step(substeps=30)
        np.testing.assert_array_equal(batch.state[e], one.state)
        np.testing.assert_array_equal(batch.body_states[e], one.body_states)
        np.testing.assert_array_equal(
            batch.forces.velocity_constraints[e], one.forces.velocity_constraints
        )


def test_saved_states_go_on_bit_for_bit():
    sim = Simulator(two_bodies())
    stepped(sim, 10)
    others = [Simulator(two_bodies()), pickle.loads(pickle.dumps(sim))]
    others[0].state = sim.state
    stepped(sim, 10)
    for other in others:
        stepped(other, 10)
        np.testing.assert_array_equal(other.state, sim.state)

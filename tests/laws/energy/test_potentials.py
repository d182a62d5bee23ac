"""Potentials of one's own: energy, momentum, order, reversal, batches, errors."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

from scenes.fields import CENTRE, add_bowl, bowl_energy, bowl_forces
from vigym import Mechanism, Simulator
from vigym.core.kernels import step
from vigym.mechanism.elements.errors import MechanismError

G, MASS = 9.81, 1.3


def body(gravity=0.0):
    """A free body."""
    mech = Mechanism(gravity=(0.0, 0.0, -gravity))
    mech.add_body("body", MASS, (0.1, 0.2, 0.15))
    return mech


def in_bowl(h=0.01, **options):
    """A simulator of a body that circles in the bowl and swings about the compass."""
    mech = body()
    add_bowl(mech, "body")
    sim = Simulator(mech, timestep=h, **options)
    sim.reset(velocities=[0.5, -0.4, 0.8, 1.0, 0.5, -0.7])
    return sim


def stepped(sim, steps=1):
    """The simulator after steps that converged."""
    assert sim.step(substeps=steps).converged
    return sim


def weight_energy(position, orientation):
    return MASS * G * position[2]


def weight(position, orientation):
    return (0.0, 0.0, -MASS * G), (0.0, 0.0, 0.0)


def test_a_uniform_field_is_gravity():
    """On a pendulum: poses, energies and the forces of the hinge."""

    def pendulum(gravity):
        mech = Mechanism(gravity=(0.0, 0.0, -gravity))
        mech.add_body("bar", MASS, (0.1, 0.2, 0.15), (0.5, 0.0, 0.0))
        mech.add_joint("hinge", "revolute", "world", "bar", (0.0, 0.0, 0.0), (0.0, 1.0, 0.0))
        return mech

    fields = pendulum(0.0)
    fields.add_potential("weight", "bar", weight_energy, weight)
    one, other = Simulator(fields), Simulator(pendulum(G))
    for _ in range(100):
        stepped(one)
        stepped(other)
        np.testing.assert_allclose(one.body_states, other.body_states, atol=1e-10)
        np.testing.assert_allclose(one.joint_forces(), other.joint_forces(), atol=1e-8)
        np.testing.assert_allclose(one.energy(), other.energy(), atol=1e-10)


def test_the_energy_has_no_trend():
    """Over 1000 s; what it swings by falls with the square of the step."""
    swings = []
    for h in (0.02, 0.01):
        sim = in_bowl(h)
        found = [stepped(sim, 10).energy().total for _ in range(round(100.0 / h))]
        first, second = np.reshape(found, (2, -1)).mean(axis=1)
        swings.append(np.ptp(found))
        assert abs(second - first) < 0.02 * swings[-1]
        assert sim.metrics()["work_actuator"] == 0.0
    assert swings[0] / swings[1] == pytest.approx(4.0, rel=0.2)


@pytest.mark.parametrize("order", [2, 4])
def test_states_converge_with_the_order(order):
    ends = []
    for h in (0.04, 0.02, 0.0025):
        ends.append(stepped(in_bowl(h, order=order), round(1.0 / h)).body_states)
    coarse, fine = (np.abs(end - ends[2]).max() for end in ends[:2])
    assert coarse / fine == pytest.approx(2.0**order, rel=0.25)


def test_motions_are_reversible():
    sim = in_bowl(0.02, tolerance=1e-13)
    start = sim.body_states
    stepped(sim, 200)
    sim.reset(sim.joint_positions, -sim.joint_velocities)
    stepped(sim, 200)
    np.testing.assert_allclose(sim.body_states[:, :7], start[:, :7], atol=1e-9)
    np.testing.assert_allclose(sim.body_states[:, 7:], -start[:, 7:], atol=1e-9)


def central_energy(position, orientation):
    r = position - CENTRE
    return -2.0 / math.sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2])


def central_forces(position, orientation):
    r = position - CENTRE
    distance = math.sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2])
    return -2.0 / distance**3 * r, np.zeros(3)


def test_a_central_field_keeps_angular_momentum():
    """About its centre, of an orbit, to rounding."""
    mech = body()
    mech.add_potential("sun", "body", central_energy, central_forces)
    sim = Simulator(mech)
    sim.reset([1.2, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.3, 0.0, 0.0, 0.0])
    moment = np.cross(sim.body_position("body") - CENTRE, sim.body_velocity("body"))
    for _ in range(20):
        stepped(sim, 50)
        now = np.cross(sim.body_position("body") - CENTRE, sim.body_velocity("body"))
        np.testing.assert_allclose(now, moment, atol=1e-9)


def test_kernels_stay_as_they_are():
    """Another potential compiles its own functions alone."""
    stepped(in_bowl())
    before = len(step.step.signatures)
    mech = body()
    mech.add_potential(
        "weight", "body", lambda x, q: 2.0 * x[0], lambda x, q: ((-2, 0, 0), (0, 0, 0))
    )
    sim = stepped(Simulator(mech), 100)
    assert sim.body_position("body")[0] == pytest.approx(-1.0 / MASS, rel=1e-12)
    assert len(step.step.signatures) == before


def test_a_batch_is_its_environments_bit_for_bit():
    mech = body(G)
    add_bowl(mech, "body")
    rates = np.random.default_rng(0).normal(size=(11, 6))
    batch = Simulator(mech, batch=11, threads=2)
    batch.reset(velocities=rates)
    batch.step(substeps=50)
    for e, own in enumerate(rates):
        one = Simulator(mech)
        one.reset(velocities=own)
        one.step(substeps=50)
        np.testing.assert_array_equal(batch.state[e], one.state)
        np.testing.assert_array_equal(batch.readings.scalars[e], one.readings.scalars[0])


def test_saved_states_go_on_bit_for_bit():
    sim = stepped(in_bowl(), 10)
    others = [in_bowl(), pickle.loads(pickle.dumps(sim))]
    others[0].state = sim.state
    stepped(sim, 10)
    for other in others:
        stepped(other, 10)
        np.testing.assert_array_equal(other.state, sim.state)


def with_objects(position, orientation):
    return float(str(position[0])) * {"x": 1.0}["x"]


WRONG = {
    "unknown body": (("moon", bowl_energy, bowl_forces), "'moon', expected one of: body"),
    "no function": (("body", 3.0, bowl_forces), "energy: found 3.0, expected a function of"),
    "energy": (("body", lambda x, q: "low", bowl_forces), "energy: found 'low', expected a finite"),
    "one vector": (
        ("body", bowl_energy, lambda x, q: x),
        r"forces: found .*, expected .force, tor",
    ),
    "other forces": (("body", bowl_energy, weight), "expected minus the derivatives of its energy"),
    "other torques": (
        ("body", bowl_energy, lambda x, q: (bowl_forces(x, q)[0], (1.0, 0.0, 0.0))),
        "expected minus the derivatives of its energy",
    ),
}


@pytest.mark.parametrize(("given", "message"), WRONG.values(), ids=WRONG.keys())
def test_wrong_potentials_are_refused_and_change_nothing(given, message):
    mech = body()
    with pytest.raises(MechanismError, match=message):
        mech.add_potential("new", *given)
    assert not mech.potentials


def test_functions_that_are_not_compiled_are_refused():
    mech = body()
    mech.add_potential(
        "text", "body", with_objects, lambda x, q: ((-1.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    )
    with pytest.raises(MechanismError, match="'text': found functions that numba does not compile"):
        Simulator(mech)


def test_a_potential_that_is_no_number_ends_the_step():
    mech = body()
    walls = lambda x, q: ((0.0 if x[0] < 0.5 else math.nan, 0.0, 0.0), (0.0, 0.0, 0.0))  # noqa: E731
    mech.add_potential("walls", "body", lambda x, q: 0.0, walls)
    sim = Simulator(mech)
    sim.reset(velocities=[1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    stepped(sim, 45)
    assert not sim.step(substeps=20).converged
    assert sim.body_position("body")[0] == pytest.approx(0.45)


def test_what_does_not_know_them_says_so():
    mech = body(G)
    add_bowl(mech, "body")
    name = "potential 'bowl of body'"
    with pytest.raises(ValueError, match=f"float32.*found {name}"):
        Simulator(mech, batch=2, precision="float32")
    with pytest.raises(MechanismError, match=name):
        mech.to_urdf()
    sim = Simulator(mech)
    with pytest.raises(ValueError, match=f"found {name}"):
        sim.linearize()
    assert "bowl of body  of body  by bowl_energy" in mech.summary()

"""Curve and surface joints: energy, gaps, order, batches, saved states, and what is refused."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from scenes.tracks import CURVES, SURFACES, hanging, sliding, torus_chain
from vigym import Mechanism, Simulator
from vigym.mechanism.elements.errors import AssemblyError, MechanismError
from vigym.mechanism.tracks.sides import (
    Bezier,
    BSpline,
    Curve,
    Cylinder,
    Ellipsoid,
    Fitted,
    Helix,
    Patch,
    Plane,
    Point,
    Torus,
)

GAP = 1e-10  # [m, or 1 of directions]


def stepped(sim, steps):
    """The simulator after steps that converged."""
    assert sim.step(substeps=steps).converged
    return sim


@pytest.mark.parametrize("count", [3, 10])
def test_a_torus_chain_keeps_its_energy_and_its_gaps(count):
    """A swing of 20 s: the energy stays in a band of the square of the step."""
    sim = Simulator(torus_chain(count))
    assert sim.mechanism.degrees_of_freedom == 6 * count - 3 - (count - 1)
    sim.reset(velocities={"pin": (0.2, 0.0, 0.0)})
    start, energies = sim.energy(), []
    for _ in range(100):
        stepped(sim, 20)
        assert sim.constraint_residual() <= GAP
        energies.append(sim.energy().total - start.total)
    assert np.abs(energies).max() < 0.02 * start.kinetic
    first, second = np.reshape(energies, (2, -1))
    assert abs(second.mean() - first.mean()) < 0.005 * start.kinetic


@pytest.mark.parametrize("name", SURFACES)
def test_sliding_on_surfaces_converges_with_the_square_of_the_step(name):
    ends = []
    for h in (0.01, 0.005, 0.00125):
        sim = Simulator(hanging(name), timestep=h)
        start = sim.energy().total
        stepped(sim, round(0.2 / h))
        assert sim.constraint_residual() <= GAP
        assert abs(sim.energy().total - start) < 100.0 * h**2
        ends.append(sim.body_states[0, :7])
    coarse, fine = (np.abs(end - ends[2]).max() for end in ends[:2])
    assert coarse / fine == pytest.approx(4.2, rel=0.15)  # (64 - 1) / (16 - 1)


@pytest.mark.parametrize("axis", [None, (0.8, 0.3, 0.5)], ids=["free", "axis"])
@pytest.mark.parametrize("name", CURVES)
def test_sliding_on_curves_keeps_the_energy(name, axis):
    missing = []
    for h in (0.005, 0.0025):
        sim = Simulator(sliding(name, axis), timestep=h)
        start = sim.energy().total
        stepped(sim, round(0.25 / h))
        assert sim.constraint_residual() <= GAP
        missing.append(abs(sim.energy().total - start))
    assert missing[0] < 200.0 * 0.005**2
    assert missing[1] < 0.4 * missing[0] + 1e-9


def test_a_bead_on_a_circle_is_a_pendulum():
    """Off its centre of mass by nothing: that of a hinge whose body does not turn."""
    mech = Mechanism()
    mech.add_body("bead", 1.0, (0.1, 0.1, 0.1), (0.4, 0.0, -0.3))
    mech.add_curve_joint(
        "ring", "world", "bead", Helix(0.5, orientation=(0.5**0.5, 0.5**0.5, 0, 0))
    )
    sim = Simulator(mech, timestep=1e-3)
    stepped(sim, 1000)
    angle, rate = np.arctan2(0.4, 0.3), 0.0
    h = 1e-4
    for _ in range(10000):  # leapfrog of a mathematical pendulum of 0.5 m
        rate -= 0.5 * h * 9.81 / 0.5 * np.sin(angle)
        angle += h * rate
        rate -= 0.5 * h * 9.81 / 0.5 * np.sin(angle)
    place = 0.5 * np.array([np.sin(angle), 0.0, -np.cos(angle)])
    np.testing.assert_allclose(sim.body_position("bead"), place, atol=1e-5)


def test_a_curve_joint_on_a_body_of_a_chain_acts_on_both():
    """Momentum of two free bodies, one of which slides on a curve of the other."""
    mech = Mechanism(gravity=(0.0, 0.0, 0.0))
    mech.add_body("rail", 2.0, (0.1, 0.2, 0.15))
    mech.add_body("bead", 1.0, (0.01, 0.02, 0.015), (0.5, 0.0, 0.0))
    mech.add_curve_joint("on", "rail", "bead", Helix(0.5, 0.05))
    sim = Simulator(mech)
    sim.reset(velocities={"bead:floating": (0.0, 1.0, 0.1, 0.0, 0.0, 0.0)})

    def momentum():
        states, (masses, inertias) = sim.body_states, sim.body_inertias
        linear = masses[:, None] * states[:, 7:10]
        spins = [
            sim_rotation(state[3:7]) @ inertia @ state[10:]
            for state, inertia in zip(states, inertias, strict=True)
        ]
        return np.append(linear.sum(0), (np.cross(states[:, :3], linear) + spins).sum(0))

    before = momentum()
    stepped(sim, 300)
    np.testing.assert_allclose(momentum(), before, atol=1e-9)
    assert sim.constraint_residual() <= GAP


def sim_rotation(q):
    """Rotation matrix of a quaternion."""
    w, x, y, z = q
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + 2.0 * w * K + 2.0 * K @ K


def test_a_batch_is_its_environments_bit_for_bit():
    rates = np.linspace(0.05, 0.3, 5)
    batch = Simulator(torus_chain(4), batch=5)
    batch.reset(velocities={"pin": np.stack([rates, 0 * rates, 0 * rates], axis=1)})
    batch.step(substeps=40)
    for e, rate in enumerate(rates):
        one = Simulator(torus_chain(4))
        one.reset(velocities={"pin": (rate, 0.0, 0.0)})
        one.step(substeps=40)
        np.testing.assert_array_equal(batch.state[e], one.state)
        assert batch.energy().total[e] == one.energy().total


def test_saved_states_go_on_bit_for_bit():
    sim = Simulator(sliding("closed spline"))
    stepped(sim, 30)
    saved = sim.state
    others = [
        Simulator(sliding("closed spline")),
        copy.deepcopy(sim),
        pickle.loads(pickle.dumps(sim)),
    ]
    others[0].state = saved
    stepped(sim, 30)
    for other in others:
        stepped(other, 30)
        np.testing.assert_array_equal(other.state, sim.state)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Bezier([(0, 0, 0), (0, 0, 0), (1, 0, 0), (1, 1, 0)]),
            "found no tangent at 0, exp",
        ),
        (lambda: Bezier([(1, 0, 0), (1, 0, 0)]), "found no tangent"),
        (lambda: Bezier([(0, 0, np.nan), (1, 0, 0)]), "Bezier points: found"),
        (lambda: Curve(np.zeros((1, 9, 3))), "found shape .1, 9, 3., expected"),
        (lambda: BSpline([(0, 0, 0), (1, 0, 0)]), "BSpline points: found"),
        (lambda: Fitted([(0, 0, 0), (1, 0, 0)]), "Fitted points: found"),
        (lambda: Patch(np.zeros((3, 3, 3))), "found a place without a normal"),
        (lambda: Patch(np.zeros((3, 3))), "Patch points: found"),
        (lambda: Torus(0.1, 0.2), "Torus tube: found 0.2, expected less than 0.1"),
        (lambda: Helix(0.0), "found radius 0 and rise 0"),
        (lambda: Ellipsoid((1.0, 0.0, 1.0)), "Ellipsoid semi_axes"),
    ],
)
def test_wrong_sides_are_refused(make, message):
    with pytest.raises(MechanismError, match=message):
        make()


def test_wrong_joints_are_refused():
    mech = Mechanism()
    mech.add_body("body", 1.0, (0.1, 0.1, 0.1), (0.0, 0.0, -0.3))
    with pytest.raises(MechanismError, match="curve joint 'on' curve: found Plane, expected a cu"):
        mech.add_curve_joint("on", "world", "body", Plane())
    with pytest.raises(MechanismError, match="expected a surface"):
        mech.add_surface_joint("on", "world", "body", 3, Plane())
    with pytest.raises(MechanismError, match="without a surface, expected one"):
        mech.add_surface_joint("on", "world", "body", Cylinder(), Point())
    with pytest.raises(MechanismError, match="found 'body' twice"):
        mech.add_surface_joint("on", "body", "body", Plane(), Point())
    with pytest.raises(MechanismError, match="body: found 'nobody'"):
        mech.add_curve_joint("on", "world", "nobody", Helix(1.0))
    mech.add_surface_joint("on", "world", "body", Plane(), Point(radius=0.1))
    assert "Point of body on Plane of world" in mech.summary()
    with pytest.raises(MechanismError, match="curve or surface joint 'on': found one, which URDF"):
        mech.to_urdf()
    with pytest.raises(ValueError, match="linearize: found curve or surface joint 'on'"):
        Simulator(mech).linearize()
    with pytest.raises(ValueError, match="curve or surface joint 'on'"):
        Simulator(mech, batch=2, precision="float32")


def test_sides_that_cannot_meet_are_refused():
    mech = Mechanism()
    mech.add_body("body", 1.0, (0.1, 0.1, 0.1), (0.0, 0.0, 5.0))
    mech.add_joint("slide", "prismatic", "world", "body", (0.0, 0.0, 5.0), (1.0, 0.0, 0.0))
    mech.add_surface_joint("on", "world", "body", Torus(0.5, 0.1), Point(radius=0.1))
    with pytest.raises(AssemblyError, match=r"curve or surface joint \(on\) open by"):
        Simulator(mech)

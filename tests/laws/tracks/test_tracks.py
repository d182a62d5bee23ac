"""Curve and surface joints: energy, gaps, order, reversal, forces along them, batches, refusals."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from scenes.tracks import (
    CURVES,
    SURFACE_CASES,
    board,
    bump,
    hanging,
    sliding,
    spline_chain,
    torus_chain,
    turning,
    windmill,
)
from vigym import Mechanism, Simulator
from vigym.mechanism.elements.errors import AssemblyError
from vigym.mechanism.tracks.curves import Bezier, Circle, Helix, Line
from vigym.mechanism.tracks.slides import Slide
from vigym.mechanism.tracks.surfaces import Ellipsoid, Sphere, Torus

GAP = 1e-10  # [m, or 1 of directions]
KICK = 0.1, 0.05, 0.05, 0.1, 0.2, 0.3  # [m/s, rad/s] start of a single body


def stepped(sim, steps, **inputs):
    """The simulator after steps that converged."""
    assert sim.step(substeps=steps, **inputs).converged
    return sim


def energy_errors(sim, seconds, pieces=40):
    """Changes of the total energy since the start, the gaps closed."""
    start, found = sim.energy().total, []
    for _ in range(pieces):
        stepped(sim, round(seconds / pieces / sim.timestep))
        assert sim.constraint_residual() <= GAP
        found.append(sim.energy().total - start)
    return np.array(found)


def assert_energy_without_trend(sim, seconds, part):
    """It stays in a band, a part of the kinetic energy at the start, and does not wander there."""
    band = part * sim.energy().kinetic
    errors = energy_errors(sim, seconds)
    assert np.abs(errors).max() < band
    first, second = np.array_split(errors, 2)
    assert abs(second.mean() - first.mean()) < 0.3 * band


def test_a_torus_chain_keeps_its_energy():
    """SI's TC10: 38 degrees of freedom, the turn about each normal locked."""
    mech = torus_chain(10)
    assert mech.degrees_of_freedom == 38
    sim = Simulator(mech, timestep=0.005)
    sim.reset(velocities={"pin": (0.5, 0.3)})
    assert_energy_without_trend(sim, 20.0, 0.02)
    assert all(sim.tracks.place(name).regularity > 0.9 for name in mech.tracks)


def test_a_windmill_keeps_its_energy():
    """SI's windmill, of 73 degrees of freedom."""
    mech = windmill()
    assert mech.degrees_of_freedom == 73
    sim = Simulator(mech)
    sim.reset(velocities=turning(mech, 4.0))
    assert_energy_without_trend(sim, 8.0, 1e-4)


@pytest.mark.parametrize(("mech", "share"), [(spline_chain(5), 0.05), (board(), 0.01)])
def test_sliding_chains_and_boards_keep_their_energy(mech, share):
    """SI's figures 3 and 4, from rest: in parts of the largest kinetic energy."""
    sim = Simulator(mech, timestep=0.005)
    start, kinetic = sim.energy().total, 0.0
    errors = []
    for _ in range(40):
        stepped(sim, 20)
        assert sim.constraint_residual() <= GAP
        kinetic = max(kinetic, sim.energy().kinetic)
        errors.append(abs(sim.energy().total - start))
    assert max(errors) < share * kinetic


@pytest.mark.parametrize(("name", "spin"), SURFACE_CASES)
def test_the_energy_error_on_surfaces_falls_with_the_square_of_the_step(name, spin):
    worst = []
    for h in (0.004, 0.002):
        sim = Simulator(hanging(name, spin), timestep=h)
        sim.reset(velocities=np.array(KICK))
        worst.append(np.abs(energy_errors(sim, 0.2, 10)).max())
    assert worst[0] / worst[1] == pytest.approx(4.0, rel=0.1)


@pytest.mark.parametrize("axis", [None, (0.8, 0.3, 0.5)], ids=["free", "axis"])
@pytest.mark.parametrize("name", CURVES)
def test_motion_on_curves_converges_with_the_square_of_the_step(name, axis):
    ends = []
    for h in (0.005, 0.0025, 0.00125):
        sim = Simulator(sliding(name, axis), timestep=h)
        stepped(sim, round(0.2 / h))
        assert sim.constraint_residual() <= GAP
        ends.append(sim.body_states[0, :7])
    coarse, fine = (np.abs(end - ends[2]).max() for end in ends[:2])
    assert coarse / fine == pytest.approx(5.0, rel=0.2)  # (16 - 1) / (4 - 1)


def test_motion_is_reversed():
    """From the velocities reversed it goes back to where it came from, to rounding."""
    sim = Simulator(torus_chain(3), timestep=0.005)
    sim.reset(velocities={"pin": (0.5, 0.3)})
    start = sim.joint_positions
    stepped(sim, 100)
    sim.reset(sim.joint_positions, -sim.joint_velocities)
    stepped(sim, 100)
    # the momentum at a knot is that of both steps beside it but for terms of the square of h
    np.testing.assert_allclose(sim.joint_positions, start, atol=1e-8)


@pytest.mark.parametrize("order", [4, 6])
def test_higher_orders_are_more_accurate(order):
    worst = []
    for each in (2, order):
        sim = Simulator(sliding("circle"), timestep=0.01, order=each)
        worst.append(np.abs(energy_errors(sim, 0.4, 4)).max())
    assert worst[1] < 0.02 * worst[0]


def test_a_bead_on_a_circle_is_a_pendulum():
    """Its centre of mass on the circle: that of a hinge whose body does not turn."""
    mech = Mechanism()
    mech.add_body("bead", 1.0, (0.1, 0.1, 0.1), (0.4, 0.0, -0.3))
    half = 0.5**0.5
    mech.tracks.add_curve("ring", "world", "bead", Circle(0.5, orientation=(half, half, 0, 0)))
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


def test_a_curve_joint_between_two_bodies_acts_on_both():
    """The momentum of two free bodies, one of which slides on a curve of the other."""
    mech = Mechanism(gravity=(0.0, 0.0, 0.0))
    mech.add_body("rail", 2.0, (0.1, 0.2, 0.15))
    mech.add_body("bead", 1.0, (0.01, 0.02, 0.015), (0.5, 0.0, 0.0))
    slide = Slide(damping=0.5, stiffness=2.0)
    mech.tracks.add_curve("on", "rail", "bead", Helix(0.5, 0.05), slide=slide)
    sim = Simulator(mech)
    sim.reset(velocities={"bead:floating": (0.0, 1.0, 0.1, 0.0, 0.0, 0.0)})

    def momentum():
        states = sim.body_states
        masses, inertias = sim.body_inertias
        linear = masses[:, None] * states[:, 7:10]
        spins = [
            rotation(state[3:7]) @ inertia @ state[10:]
            for state, inertia in zip(states, inertias, strict=True)
        ]
        return np.append(linear.sum(0), (np.cross(states[:, :3], linear) + spins).sum(0))

    before = momentum()
    stepped(sim, 300)
    np.testing.assert_allclose(momentum(), before, atol=1e-9)
    assert sim.constraint_residual() <= GAP
    assert sim.metrics()["dissipated"] > 0.01


def rotation(q):
    """Rotation matrix of a quaternion."""
    w, x, y, z = q
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + 2.0 * w * K + 2.0 * K @ K


def on_a_line(slide=None, curve=None, gravity=(0.0, 0.0, 0.0)):
    """A body of 2 kg whose centre slides along x."""
    mech = Mechanism(gravity=gravity)
    mech.add_body("body", 2.0, (0.1, 0.1, 0.1))
    half = 0.5**0.5
    along = Line(orientation=(half, 0.0, half, 0.0))
    mech.tracks.add_curve("rail", "world", "body", curve or along, slide=slide)
    return mech


def test_a_spring_along_a_curve_is_an_oscillator():
    sim = Simulator(on_a_line(Slide(stiffness=50.0, rest=0.3)), timestep=1e-3)
    stepped(sim, 500)
    phase = 5.0 * 0.5  # sqrt(50 / 2) over half a second; the error is of the square of the step
    assert sim.tracks.position("rail") == pytest.approx(0.3 - 0.3 * np.cos(phase), abs=1e-5)
    assert sim.tracks.velocity("rail") == pytest.approx(1.5 * np.sin(phase), abs=1e-4)
    assert sim.energy().total == pytest.approx(0.5 * 50.0 * 0.3**2, abs=1e-9)


def test_a_damper_along_a_curve_takes_its_energy():
    sim = Simulator(on_a_line(Slide(damping=4.0)), timestep=1e-3)
    sim.reset(velocities=np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0]))
    stepped(sim, 500)
    assert sim.tracks.velocity("rail") == pytest.approx(np.exp(-1.0), abs=1e-3)
    assert abs(sim.metrics()["energy_balance"]) < 1e-10


def test_friction_along_a_curve_stops():
    sim = Simulator(on_a_line(Slide(friction=3.0)))
    sim.reset(velocities=np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0]))
    stepped(sim, 100)
    assert sim.tracks.position("rail") == pytest.approx(1.0 / 3.0, abs=1e-3)  # m v^2 / (2 F)
    assert abs(sim.tracks.velocity("rail")) < 1e-9


def test_a_motor_drives_along_a_curve():
    mech = on_a_line()
    mech.add_motor("rail", kp=80.0, kd=20.0, effort=10.0)
    assert mech.motor_names == ["rail"]
    sim = Simulator(mech)
    stepped(sim, 1, targets=[0.4])
    assert sim.forces.motors == pytest.approx([10.0])  # saturated
    stepped(sim, 60, targets=[0.4])
    before = sim.tracks.position("rail")
    after = stepped(sim, 1, targets=[0.4]).tracks.position("rail")
    pull = 80.0 * (0.4 - after) - 20.0 * (after - before) / sim.timestep
    assert sim.forces.motors == pytest.approx([pull], rel=1e-6)
    stepped(sim, 438, targets=[0.4])
    assert sim.tracks.position("rail") == pytest.approx(0.4, abs=1e-6)
    assert abs(sim.metrics()["energy_balance"]) < 1e-6


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_ends_of_a_curve_are_limits(way):
    sim = Simulator(on_a_line(curve=Bezier([(-0.3, 0, 0), (0.0, 0.1, 0), (0.4, 0, 0)])))
    length = sim.mechanism.tracks["rail"].side_a.length
    sim.reset(velocities=np.array([way, 0.0, 0.0, 0.0, 0.0, 0.0]))
    before = sim.energy().kinetic
    stepped(sim, 100)
    end = length if way > 0.0 else 0.0
    assert sim.tracks.position("rail") == pytest.approx(end, abs=1e-8)
    assert sim.energy().kinetic < 1e-9
    assert sim.metrics()["dissipated"] == pytest.approx(before, rel=1e-2)


def test_given_limits_hold_on_an_endless_curve():
    sim = Simulator(on_a_line(Slide(limits=(-0.1, 0.2))))
    sim.reset(velocities=np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0]))
    stepped(sim, 50)
    assert sim.tracks.position("rail") == pytest.approx(0.2, abs=1e-8)


def test_edges_of_a_patch_are_limits():
    mech = Mechanism(gravity=(40.0, 0.0, -9.81))
    mech.add_body("ball", 1.0, (0.02, 0.03, 0.025), (0.5, 0.2, -0.05))
    mech.tracks.add_surface("rolls", "world", "ball", bump(-0.2), Sphere(0.1))
    sim = Simulator(mech, timestep=0.005)
    seen = []
    for _ in range(200):
        stepped(sim, 1)
        seen.append(sim.tracks.place("rolls").first)
    seen = np.array(seen)
    assert seen[:, 0].max() == pytest.approx(1.0, abs=1e-7)
    assert seen.min() >= -1e-7
    assert sim.constraint_residual() <= GAP


def test_a_closed_curve_is_passed_many_times():
    mech = sliding("closed spline", slide=Slide())
    sim = Simulator(mech)
    mech.gravity = np.zeros(3)
    sim.reset(velocities=np.array([0.0, 8.0, 0.0, 0.0, 0.0, 0.0]))
    length = mech.tracks["rail"].side_a.length
    path = 0.0
    for _ in range(400):
        before = sim.tracks.place("rail").point
        stepped(sim, 1)
        path += np.linalg.norm(sim.tracks.place("rail").point - before)
    assert path > 3.5 * length
    # chords are shorter than arcs, by at most the square of the step
    assert abs(sim.tracks.position("rail")) == pytest.approx(path, rel=0.05)


def test_rates_of_places_are_those_of_their_changes():
    """Central differences over two steps, of the square of the step."""
    for name, spin in SURFACE_CASES[1:6]:
        sim = Simulator(hanging(name, spin), timestep=1e-4)
        sim.reset(velocities=np.array(KICK))
        stepped(sim, 1)
        before = sim.tracks.place("touch")
        stepped(sim, 1)
        rates = sim.tracks.place("touch")
        stepped(sim, 1)
        after = sim.tracks.place("touch")
        change = (after.first - before.first) / 2e-4
        np.testing.assert_allclose(rates.first_rates, change, atol=1e-4)
        change = (after.second - before.second) / 2e-4
        np.testing.assert_allclose(rates.second_rates, change, atol=1e-4)


def test_a_singular_place_ends_in_a_failed_step_that_says_so():
    """Two linked tori that turn about their normal until both fit along a curve."""
    mech = Mechanism(gravity=(0.0, 0.0, -9.81))
    half = 0.5**0.5
    mech.add_body("upper", 1.0, (0.05, 0.05, 0.09), (0.0, 0.0, 0.0), (half, half, 0.0, 0.0))
    mech.add_joint("fixed", "fixed", "world", "upper", (0.0, 0.0, 0.0))
    place = (0.0, 0.0, -0.36)
    mech.add_body("lower", 1.0, (0.05, 0.05, 0.09), place, (half, 0.0, half, 0.0))
    torus = Torus(0.3, 0.12)
    mech.tracks.add_surface("link", "upper", "lower", torus, torus)
    sim = Simulator(mech, timestep=0.002)
    sim.reset(velocities={"lower:floating": (0.0, 0.0, 0.0, -1.0, 0.0, 0.0)})
    with pytest.warns(RuntimeWarning, match="joint 'link' next to a singular place of touch"):
        assert any(not sim.step().converged for _ in range(3000))
    assert not sim.readings.status.converged
    assert sim.tracks.place("link").regularity < 0.1
    assert sim.constraint_residual() <= GAP  # the state is the one before


@pytest.mark.parametrize(
    ("timestep", "fastest"),
    [(0.01, 0.3), pytest.param(0.02, 20.0, id="some_need_further_attempts")],
)
def test_a_batch_is_its_environments_bit_for_bit(timestep, fastest):
    rates = np.linspace(0.05, fastest, 5)
    batch = Simulator(torus_chain(4), timestep, batch=5)
    batch.reset(velocities={"pin": np.stack([rates, 0 * rates], axis=1)})
    states = []
    for _ in range(40):
        batch.step()
        states.append(batch.state)
    for e, rate in enumerate(rates):
        one = Simulator(torus_chain(4), timestep)
        one.reset(velocities={"pin": (rate, 0.0)})
        for state in states:
            one.step()
            np.testing.assert_array_equal(state[e], one.state)
        np.testing.assert_array_equal(
            batch.tracks.place("c1").first[e], one.tracks.place("c1").first
        )
        assert batch.energy().total[e] == one.energy().total


@pytest.mark.parametrize("name", ["closed spline", "Bezier"])
def test_saved_states_go_on_bit_for_bit(name):
    sim = Simulator(sliding(name))
    stepped(sim, 30)
    saved = sim.state
    others = [Simulator(sliding(name)), copy.deepcopy(sim), pickle.loads(pickle.dumps(sim))]
    others[0].state = saved
    stepped(sim, 30)
    for other in others:
        stepped(other, 30)
        np.testing.assert_array_equal(other.state, sim.state)


def test_sides_that_cannot_meet_are_refused():
    mech = Mechanism()
    mech.add_body("body", 1.0, (0.1, 0.1, 0.1), (0.0, 0.0, 5.0))
    mech.add_joint("slide", "prismatic", "world", "body", (0.0, 0.0, 5.0), (1.0, 0.0, 0.0))
    mech.tracks.add_surface("on", "world", "body", Torus(0.5, 0.1), Sphere(0.1))
    with pytest.raises(AssemblyError, match=r"curve or surface joint \(on\) open by"):
        Simulator(mech)


def test_poles_and_singular_places_at_the_assembly_are_refused():
    mech = Mechanism()
    mech.add_body("body", 1.0, (0.1, 0.1, 0.1), (0.0, 0.0, -0.3))
    pole = Sphere(0.1)
    mech.tracks.add_surface("on", "world", "body", Ellipsoid((0.5, 0.3, 0.2)), pole, spin=False)
    with pytest.raises(AssemblyError, match="joint 'on' spin: found a place of touch at a pole"):
        Simulator(mech)
    mech = Mechanism()
    mech.add_body("body", 1.0, (0.1, 0.1, 0.1))
    mech.tracks.add_surface("on", "world", "body", Torus(0.5, 0.1), Torus(0.3, 0.1))
    with pytest.raises(AssemblyError, match="joint 'on': found a singular place of touch"):
        Simulator(mech)

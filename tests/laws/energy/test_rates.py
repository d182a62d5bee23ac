"""Rates agree with angles: what a step turns by is what is read, driven and held, to (turn/2)^4/30."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from oracle.naive_joints import conj, mul, rotate, rotation_vector
from vigym import Mechanism, Simulator

H = 0.01
MOMENTS = np.array([0.01, 0.02, 0.03])
TURNS = [0.1, 0.5, 1.0]  # [rad] a step; larger ones are made in parts


def missing(turn):
    """Part by which a rate misses the angle of a step: of the momentum, by its series."""
    return turn**4 / 480.0 + turn**6 / 1e4 + 1e-9


def wheel(kind="continuous", moment=0.02, **options):
    """One kilogram on an axle through its centre of mass, along y."""
    mech = Mechanism(gravity=(0.0, 0.0, 0.0))
    mech.add_body("wheel", 1.0, (moment,) * 3)
    axis = () if kind == "spherical" else ((0.0, 1.0, 0.0),)
    mech.add_joint("axle", kind, "world", "wheel", (0.0, 0.0, 0.0), *axis, **options)
    return mech


def turned(sim, steps):
    """Angle about y by which the wheel turns in so many steps, counted step by step."""
    total, before = 0.0, sim.body_orientation("wheel")
    for _ in range(steps):
        assert sim.step().converged
        after = sim.body_orientation("wheel")
        total += rotation_vector(mul(conj(before), after))[1]
        before = after
    return total


@pytest.mark.parametrize("turn", [*TURNS, 1.6, 3.0])
@pytest.mark.parametrize("armature", [0.0, 5.0])
def test_a_wheel_turns_by_the_rate_that_is_read(armature, turn):
    """Its energy is that rate's, and stays; by its armature alone it is a rotor as well."""
    sim, rate = Simulator(wheel(armature=armature), timestep=H), turn / H
    sim.reset(velocities={"axle": rate})
    assert turned(sim, 50) == pytest.approx(50 * turn, rel=missing(min(turn, 1.0)))
    assert sim.joint_velocities[0] == pytest.approx(rate, rel=1e-10)
    assert sim.energy().total == pytest.approx(0.5 * (0.02 + armature) * rate**2, rel=1e-9)


@pytest.mark.parametrize("turn", TURNS)
def test_a_wheel_on_a_ball_joint_turns_by_its_rate(turn):
    sim = Simulator(wheel("spherical"), timestep=H)
    sim.reset(velocities={"axle": (0.0, turn / H, 0.0)})
    assert turned(sim, 50) == pytest.approx(50 * turn, rel=missing(turn))


@pytest.mark.parametrize("turn", TURNS)
def test_what_holds_a_rate_turns_by_it(turn):
    """A motor and a constraint of velocities, to a sixth of what the momentum misses."""
    driven = wheel()
    driven.add_motor("axle", 0.0, 1e6, np.inf)
    held = wheel()
    held.add_velocity_constraint("turns", {"wheel": ((0.0, 0.0, 0.0), (0.0, 1.0, 0.0))}, turn / H)
    for mech, targets in ((driven, [turn / H]), (held, None)):
        sim = Simulator(mech, timestep=H)
        sim.reset(velocities={"axle": turn / H})
        total, before = 0.0, sim.body_orientation("wheel")
        for _ in range(50):
            assert sim.step(targets=targets).converged
            after = sim.body_orientation("wheel")
            total += rotation_vector(mul(conj(before), after))[1]
            before = after
        assert total == pytest.approx(50 * turn, rel=missing(turn) / 5.0 + 1e-7)


@pytest.mark.parametrize("kind", ["continuous", "spherical"])
def test_a_damper_takes_what_it_books_of_a_fast_wheel(kind):
    """Its force is of order one in time; its books are of order two: to a percent of a half."""
    sim = Simulator(wheel(kind, damping=0.2), timestep=H)
    rate = 80.0 if kind == "continuous" else (0.0, 80.0, 0.0)
    sim.reset(velocities={"axle": rate})
    start = sim.energy().total
    for _ in range(10):
        assert sim.step().converged
    assert sim.energy().total < 0.3 * start
    assert sim.metrics()["energy_balance"] == pytest.approx(0.0, abs=2e-3 * start)


def test_a_torque_gives_a_fast_wheel_the_energy_of_its_way():
    """By an actuator and by a torque on the body; both turn it alike."""
    mech = wheel(effort=10.0)
    one, other = Simulator(mech, timestep=H), Simulator(mech, timestep=H)
    other.forces.apply("wheel", torque=(0.0, 2.0, 0.0))
    for _ in range(90):
        assert one.step(torques=[2.0]).converged
        assert other.step().converged
    rate = 2.0 / 0.02 * 0.9
    for sim in (one, other):
        assert sim.joint_velocities[0] == pytest.approx(rate, rel=1e-9)
        assert sim.joint_positions[0] == pytest.approx(0.5 * rate * 0.9, rel=1e-3)
        work = 0.5 * 0.02 * rate**2
        assert sim.metrics()["work_actuator"] == pytest.approx(work, rel=2e-3)
        assert sim.metrics()["energy_balance"] == pytest.approx(0.0, abs=2e-3 * work)


@pytest.mark.parametrize("share", [0.0, 0.75, 1.0])
def test_an_arm_falls_behind_its_angle_by_its_share_of_chords(share):
    """Its centre of mass moves along chords: by a sixth of the turn's square, times the share of m r^2."""
    turn, inertia = 0.2, 0.04
    mech = Mechanism(gravity=(0.0, 0.0, 0.0))
    own = max((1.0 - share) * inertia, 1e-9)
    mech.add_body("arm", 1.0, (own,) * 3, (np.sqrt(share * inertia), 0.0, 0.0))
    mech.add_joint("axle", "continuous", "world", "arm", (0.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    sim = Simulator(mech, timestep=H)
    sim.reset(velocities={"axle": turn / H})
    for _ in range(50):
        assert sim.step().converged
    ahead = sim.joint_positions[0] / (50 * turn) - 1.0
    assert ahead == pytest.approx(share * turn**2 / 6.0, rel=0.03, abs=1e-5)


def euler(_, y):
    """Rates of a free body: angular velocity in it, and quaternion."""
    w, q = y[:3], y[3:]
    return np.append(-np.cross(w, MOMENTS * w) / MOMENTS, 0.5 * mul(q, np.append(0.0, w)))


def test_a_free_asymmetric_body_turns_at_order_two():
    """Its momentum is exact; measured by the angle its error is a twelfth of that by the half angle's sine."""
    w = np.array([4.0, 10.0, 3.0])
    exact = solve_ivp(euler, (0.0, 1.0), [*w, 1.0, 0.0, 0.0, 0.0], rtol=1e-11, atol=1e-12).y[:, -1]
    errors = []
    for h in (0.02, 0.01, 0.005):
        mech = Mechanism(gravity=(0.0, 0.0, 0.0))
        mech.add_body("top", 1.0, MOMENTS)
        sim = Simulator(mech, timestep=h)
        sim.reset(velocities={"top:floating": (0.0, 0.0, 0.0, *w)})
        for _ in range(round(1.0 / h)):
            assert sim.step().converged
        q, spin = sim.body_orientation("top"), sim.body_angular_velocity("top")
        np.testing.assert_allclose(rotate(q, MOMENTS * spin), MOMENTS * w, atol=1e-9)
        errors.append(np.linalg.norm(rotation_vector(mul(conj(q), exact[3:]))))
        energy = 0.5 * w @ (MOMENTS * w)
        assert sim.energy().total == pytest.approx(energy, rel=0.1 * (h * 11.0) ** 2)
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.05)
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.05)
    assert errors[1] < 3e-3  # 0.025 by w = 2 e/h

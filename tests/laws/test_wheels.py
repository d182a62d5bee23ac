"""Wheels carry: they stand on the ground, roll on it without slip, and may lift."""

from __future__ import annotations

import numpy as np
import pytest

from scenes.touching_scenes import turned
from vigym import Ground, Mechanism, MechanismError, Simulator

G = 9.81
RADIUS = 0.1
SPIN = 0.005  # about the axle of one kilogram [kg m^2]: half of m r^2


def lone_wheel(height=RADIUS, turn=(1.0, 0.0, 0.0, 0.0), **options):
    """One kilogram on a wheel alone, its axle along y."""
    mech = Mechanism(**options)
    mech.add_body("disc", 1.0, (0.003, SPIN, 0.003), (0.0, 0.0, height), turn)
    mech.add_wheel("tyre", "disc", (0.0, 0.0, 0.0), (0, 1, 0), RADIUS)
    return mech


def car():
    """Ten kilograms on four driven wheels of half a kilogram, the middle 0.1 m ahead of their middle."""
    mech = Mechanism(ground=True)
    mech.add_body("chassis", 10.0, (0.5, 1.0, 1.2), (0.1, 0.0, 0.2))
    for name, x, y in (("fl", 0.4, 0.3), ("fr", 0.4, -0.3), ("rl", -0.4, 0.3), ("rr", -0.4, -0.3)):
        place = (x, y, RADIUS)
        mech.add_body(name, 0.5, (SPIN / 4.0, SPIN / 2.0, SPIN / 4.0), place)
        mech.add_joint(f"{name}_axle", "continuous", "chassis", name, place, (0, 1, 0), effort=10.0)
        mech.add_wheel(f"{name}_tyre", name, (0.0, 0.0, 0.0), (0, 1, 0), RADIUS)
    return mech


def rolling(speed):
    """Velocities of all that rolls along x."""
    return (speed, 0.0, 0.0, 0.0, speed / RADIUS, 0.0)


@pytest.mark.parametrize("turn", [0.02, 0.2, 0.7])
def test_a_wheel_alone_carries_its_body_and_rolls(turn):
    """It turns by its way over its radius: to (turn/2)^4/30 of it."""
    h = 0.01
    sim = Simulator(lone_wheel(), timestep=h)
    sim.reset(velocities={"disc:floating": rolling(RADIUS * turn / h)})
    total, before = 0.0, sim.body_orientation("disc")
    for _ in range(90):
        assert sim.step().converged
        after = sim.body_orientation("disc")
        total += 2.0 * np.arccos(np.clip(abs(before @ after), 0.0, 1.0))
        before = after
    assert sim.body_position("disc")[2] == pytest.approx(RADIUS, abs=1e-8)
    assert sim.body_position("disc")[0] == pytest.approx(RADIUS * total, rel=1e-5 + turn**4 / 470)
    assert dict(zip(sim.mechanism.contact_names, sim.contacts.force[:, 2], strict=True)) == {
        "tyre:0": pytest.approx(G, rel=1e-6), **{f"tyre:{i}": 0.0 for i in (1, 2, 3)}
    }  # fmt: skip
    # the rim is a little soft as it takes the load: 5e-9 m of way of the weight
    assert sim.metrics()["energy_balance"] == pytest.approx(0.0, abs=1e-8 * G)


def test_a_wheel_rolls_down_a_slope_as_the_law_says():
    angle, t = 0.3, 0.5
    normal = (np.sin(angle), 0.0, np.cos(angle))
    mech = lone_wheel(ground=Ground(normal=normal))
    sim = Simulator(mech)
    sim.reset(place_on_ground=True)
    start = sim.body_position("disc")
    for _ in range(50):
        assert sim.step().converged
    down = np.array([np.cos(angle), 0.0, -np.sin(angle)])
    way = 0.5 * G * np.sin(angle) / 1.5 * t * t
    np.testing.assert_allclose(sim.body_position("disc") - start, way * down, atol=1e-7)


def test_a_car_stands_and_drives_on_four_wheels():
    """Loads are those of the lever; torques of all wheels drive its mass and the wheels' spin."""
    sim = Simulator(car())
    for _ in range(100):
        assert sim.step(torques=[0.5] * 4).converged
    inertia = 12.0 + 4.0 * (SPIN / 2.0) / RADIUS**2
    a = 4.0 * 0.5 / RADIUS / inertia
    assert sim.body_position("chassis")[0] - 0.1 == pytest.approx(0.5 * a, rel=1e-4)
    assert sim.body_position("chassis")[2] == pytest.approx(0.2, abs=1e-7)
    loads = sim.contacts.force[::4, 2]
    assert loads.sum() == pytest.approx(12.0 * G, rel=1e-6)
    # about the middle of the wheels: the weight ahead of it, and what the chassis 0.2 m high and the wheels need
    moment = 10.0 * G * 0.1 - a * (10.0 * 0.2 + 2.0 * RADIUS) - 4.0 * (SPIN / 2.0) * a / RADIUS
    assert loads[:2].sum() - loads[2:].sum() == pytest.approx(moment / 0.4, rel=1e-3)


def test_a_wheel_in_the_air_does_not_roll_until_it_lands():
    """It lands with 1 m/s and no spin, and keeps its momentum about where it touches."""
    sim = Simulator(lone_wheel(height=0.3), timestep=0.005)
    sim.reset(velocities={"disc:floating": (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)})
    energies = [sim.energy().total]
    for _ in range(100):
        assert sim.step().converged
        energies.append(sim.energy().total)
        if sim.body_position("disc")[2] > RADIUS + 1e-3:
            assert sim.body_velocity("disc")[0] == pytest.approx(1.0, abs=1e-12)
    assert np.diff(energies).max() < 1e-7 * G  # the rim is a little soft as it takes the load
    assert sim.body_velocity("disc")[0] == pytest.approx(1.0 / 1.5, rel=1e-6)
    assert sim.body_angular_velocity("disc")[1] == pytest.approx(1.0 / 1.5 / RADIUS, rel=1e-6)
    assert sim.metrics()["energy_balance"] == pytest.approx(0.0, abs=1e-3 * energies[0])


def test_a_fast_wheel_that_leans_wobbles_without_a_trend_of_energy():
    """Its error is of order two, and as large after ten seconds as before."""
    errors = []
    for h in (0.01, 0.005):
        sim = Simulator(lone_wheel(turn=turned(0.1, (1, 0, 0))), timestep=h)
        sim.reset(velocities={"disc:floating": rolling(3.0)}, place_on_ground=True)
        found = []
        for _ in range(round(20.0 / h)):
            assert sim.step().converged
            found.append(sim.energy().total)
        errors.append(np.ptp(found))
        trend = np.polyfit(np.arange(len(found)), found, 1)[0] * len(found)
        assert abs(trend) < 0.02 * errors[-1]
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)


def test_a_wheel_that_falls_on_its_side_does_not_sink():
    sim = Simulator(lone_wheel(turn=turned(0.2, (1, 0, 0))), timestep=0.005)
    sim.reset(place_on_ground=True)
    deepest = 0.0
    for _ in range(400):
        assert sim.step().converged
        deepest = max(deepest, sim.metrics()["penetration"])
    assert deepest < 1e-6
    assert sim.body_position("disc")[2] < 0.2 * RADIUS


def test_a_wheel_has_a_ground_and_names_of_its_own():
    mech = lone_wheel()
    assert mech.contact_names == [f"tyre:{i}" for i in range(4)]
    with pytest.raises(MechanismError, match="contact 'tyre:0'"):
        mech.add_contact("tyre:0", "disc", (0.0, 0.0, 0.0))
    mech.ground = False
    with pytest.raises(MechanismError, match="wheel 'tyre'.*without ground"):
        Simulator(mech)

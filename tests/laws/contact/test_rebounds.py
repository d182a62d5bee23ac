"""Restitution with friction and with several contacts: rebounds give no more than landings took."""

from __future__ import annotations

import numpy as np
import pytest

from scenes.legged import GRAVITY, random_legged_robot
from scenes.sprung import hopping_chain
from scenes.trees import unit
from vigym import Ground, Mechanism, Simulator
from vigym.mechanism.elements.shapes import Box, Cylinder, Sphere

READ = 4  # knots of an impact, whose energies are read with the mean of two velocities
# part of weight times size by which a reading of the energy may rise, as in other falls
GAIN = 0.01
SHAPES = {
    "cube": (Box((1.0, 1.0, 1.0)), (0.17, 0.17, 0.17)),
    "plate": (Box((1.0, 0.6, 0.3)), (0.04, 0.09, 0.11)),
    "cylinder": (Cylinder(0.4, 1.0), (0.12, 0.12, 0.08)),
}


def assert_no_gain(sim, steps, scale):
    """Step, and assert that no reading of the energy is above those before, nor ever above the start."""
    energies = [sim.energy().total]
    for _ in range(steps):
        assert sim.step().converged
        energies.append(sim.energy().total)
        assert energies[-1] - max(energies[-1 - READ : -1]) < GAIN * scale
    assert max(energies) < energies[0] + GAIN * scale


@pytest.mark.parametrize("friction", [0.0, 0.5, 1.4, 5.0])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_thrown_body_that_rebounds_gains_no_energy(shape, friction):
    """Newton's law alone does [Kane 1984]: friction turns round within an impact."""
    skin, inertia = SHAPES[shape]
    mech = Mechanism(ground=True)
    mech.add_body("body", 1.0, inertia, position=(0.0, 0.0, 2.0))
    mech.add_collision("skin", "body", skin, friction=friction, restitution=0.9)
    sim = Simulator(mech, timestep=0.005)
    for seed in range(12):
        rng = np.random.default_rng(seed)
        orientation, velocity = unit(rng.normal(size=4)), 2.0 * rng.normal(size=3)
        thrown = {"orientation": orientation, "velocity": velocity - (0.0, 0.0, 2.0)}
        thrown["angular_velocity"] = 5.0 * rng.normal(size=3)
        sim.reset(base={"body": thrown}, place_on_ground=True)
        assert_no_gain(sim, 150, GRAVITY)


@pytest.mark.parametrize("seed", range(8))
def test_closed_legs_that_rebound_gain_no_energy(seed):
    rng = np.random.default_rng(seed)
    mech, size = random_legged_robot(rng, restitution=0.9)
    sim = Simulator(mech, timestep=0.002 * np.sqrt(size))
    turn = unit(np.array([1.0, 0.0, 0.0, 0.0]) + rng.normal(size=4) * [0.0, 0.4, 0.4, 0.4])
    twist = np.concatenate([rng.normal(size=3), 4.0 * rng.normal(size=3)])
    sim.reset({"base": (0.0, 0.0, 0.0, *turn)}, {"base": twist}, place_on_ground=True)
    weight = GRAVITY * sum(body.mass for body in mech.bodies.values())
    assert_no_gain(sim, 400, size * weight)


@pytest.mark.parametrize("seed", [2, 6, 10, 14, 1582, 1826])
def test_rebounds_in_short_parts_give_no_energy(seed):
    """With friction that holds, rebounds of one contact hit others; hard steps are made in parts."""
    mech, timestep, rates, turn = hopping_chain("spherical", seed)
    sim = Simulator(mech, timestep=timestep)
    sim.reset(turn, rates, place_on_ground=True)
    found, kinetic = [], 0.0
    for _ in range(round(1.5 / timestep) // 10 * 10):
        assert sim.step().converged
        energy = sim.energy()
        found.append(energy.total)
        kinetic = max(kinetic, energy.kinetic)
    levels = np.reshape(found, (-1, 10)).max(axis=1)  # at impacts readings fall back for a knot
    # in flight a link turns by 0.3 rad a step, whose error is of the square of that
    assert (levels - np.minimum.accumulate(levels)).max() <= 0.01 * kinetic


def thrown_leg(seed):
    """A body whose leg strikes the ground while it turns by a third of a radian a step; its knee is locked."""
    rng = np.random.default_rng(seed)
    mech = Mechanism(ground=Ground(friction=rng.uniform(0.3, 1.0)))
    mech.add_body("trunk", 1.5, (0.01, 0.005, 0.01))
    mech.add_body("thigh", 0.15, (2e-4, 2e-4, 1e-5), position=(0.2, 0.0, -0.08))
    mech.add_body("shank", 0.05, (1e-4, 1e-4, 1e-6), position=(0.2, 0.0, -0.24))
    mech.add_joint("hip", "revolute", "trunk", "thigh", (0.2, 0.0, 0.0), (0, 1, 0))
    knee, locked = (0.2, 0.0, -0.16), (0.0, 0.0)
    mech.add_joint("knee", "revolute", "thigh", "shank", knee, (0, 1, 0), limits=locked)
    mech.add_contact("foot", "shank", position=(0.0, 0.0, -0.08), radius=0.0, restitution=0.5)
    sim = Simulator(mech, timestep=0.01)
    thrown = {"orientation": unit(rng.normal(size=4))}
    angle, rate = rng.uniform(-1.5, 1.5), rng.uniform(15.0, 35.0) * rng.choice([-1.0, 1.0])
    sim.reset(positions={"hip": angle}, base={"trunk": thrown}, place_on_ground=True)
    thrown["position"] = sim.body_position("trunk") + (0.0, 0.0, rng.uniform(0.02, 0.3))
    thrown["velocity"], thrown["angular_velocity"] = rng.normal(size=3), 3.0 * rng.normal(size=3)
    sim.reset(positions={"hip": angle}, velocities={"hip": rate}, base={"trunk": thrown})
    return sim


WORK_OF_FAR_TURNS = pytest.mark.xfail(
    reason="its landing books 3.1 J of work for a loss of 2.4 J, which its rebound gives back",
    strict=True,
)


@pytest.mark.parametrize("seed", [34, 84, pytest.param(215, marks=WORK_OF_FAR_TURNS), *range(9)])
def test_a_leg_that_turns_far_in_a_step_rebounds_with_no_more_than_a_tenth(seed):
    """Contacts work at velocities that such steps know roughly: energy rose by half at seed 215."""
    sim = thrown_leg(seed)
    energies, kinetic = [sim.energy().total], sim.energy().kinetic
    for _ in range(40):
        assert sim.step().converged
        energies.append(sim.energy().total)
        assert energies[-1] - max(energies[-1 - READ : -1]) <= 0.1 * kinetic


@pytest.mark.parametrize("h", [1e-4, 1e-3, 1e-2])
@pytest.mark.parametrize("gap", [0.0, -1e-8, -1e-2])
def test_a_ball_that_starts_on_the_ground_rebounds_with_all_of_its_speed(gap, h):
    radius, speed = 0.1, 1.0
    mech = Mechanism(ground=True)
    mech.add_body("ball", 1.0, (0.004, 0.004, 0.004), position=(0.0, 0.0, radius + gap))
    mech.add_contact("skin", "ball", position=(0.0, 0.0, 0.0), radius=radius, restitution=1.0)
    sim = Simulator(mech, timestep=h)
    sim.reset(base={"ball": {"velocity": (0.0, 0.0, -speed)}})
    for _ in range(5):
        assert sim.step().halvings == 0
    # the start is the impact; then it flies
    assert sim.body_velocity("ball")[2] == pytest.approx(speed - 5.0 * 9.81 * h, abs=1e-9)


@pytest.mark.parametrize("h", [1e-3, 5e-3, 1e-2])
@pytest.mark.parametrize("speed", [0.5, 2.0])
def test_a_ball_that_starts_on_the_ground_rises_no_higher_than_its_speed_brings_it(speed, h):
    """What approaches is read in the middle of a step: at a reset half a step of free fall is taken off."""
    radius = 0.1
    mech = Mechanism(ground=True)
    mech.add_body("ball", 1.0, (0.004, 0.004, 0.004), position=(0.0, 0.0, radius))
    mech.add_contact("skin", "ball", position=(0.0, 0.0, 0.0), radius=radius, restitution=1.0)
    sim = Simulator(mech, timestep=h)
    sim.reset(base={"ball": {"velocity": (0.0, 0.0, -speed)}})
    start = sim.energy().total
    for _ in range(round(1.5 * speed / GRAVITY / h)):
        sim.step()
        assert sim.energy().total <= start + speed * 1e-7 / h  # contacts hold to 5e-8 m
    assert sim.energy().total >= start - (GRAVITY * h) ** 2  # of second order in the step


@pytest.mark.parametrize("shape", SHAPES)
def test_rebounds_without_loss_give_no_energy(shape):
    """Lifting a body is work of its rebound: while it was free these gained 0.017 to 0.037."""
    skin, inertia = SHAPES[shape]
    mech = Mechanism(ground=True)
    mech.add_body("body", 1.0, inertia, position=(0.0, 0.0, 2.0))
    mech.add_collision("skin", "body", skin, friction=0.5, restitution=1.0)
    sim = Simulator(mech, timestep=0.005)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        thrown = {"orientation": unit(rng.normal(size=4)), "velocity": 0.5 * rng.normal(size=3)}
        thrown["angular_velocity"] = 3.0 * rng.normal(size=3)
        sim.reset(base={"body": thrown}, place_on_ground=True)
        highest, kinetic = [sim.energy().total], sim.energy().kinetic
        lowest = np.inf
        for _ in range(300):
            assert sim.step().converged
            energy = sim.energy()
            kinetic, highest = max(kinetic, energy.kinetic), [*highest[-READ + 1 :], energy.total]
            lowest = min(lowest, max(highest))
            assert energy.total - lowest <= 0.01 * kinetic


def add_balls(mech, masses, places):
    """Add balls of 5 cm that rebound without loss; neighbours touch each other."""
    for i, (mass, place) in enumerate(zip(masses, places, strict=True)):
        moment = 0.001 * mass
        mech.add_body(f"ball{i}", mass, (moment, moment, moment), position=place)
        skin = Sphere(radius=0.05)
        mech.add_collision(f"ball{i}", f"ball{i}", skin, friction=0.0, restitution=1.0)
        if i > 0:
            mech.add_pair(f"ball{i - 1}", f"ball{i}")


def row_of_unlike_balls(masses, gaps, h):
    """Return (simulator, energy before): balls in a row, the first at 1 m/s."""
    mech = Mechanism(gravity=(0.0, 0.0, 0.0), ground=False)
    along = np.append(0.0, np.cumsum(0.1 + np.asarray(gaps)))
    add_balls(mech, masses, [(x, 0.0, 0.0) for x in along])
    sim = Simulator(mech, timestep=h)
    sim.reset(base={"ball0": {"velocity": (1.0, 0.0, 0.0)}})
    return sim, sim.energy().total


def row_of_balls(count, gap, h):
    """Return (simulator, energy before): balls of 1 kg in a row of equal gaps, the first at 1 m/s."""
    return row_of_unlike_balls([1.0] * count, [gap] * (count - 1), h)


@pytest.mark.parametrize(("count", "gap"), [(3, 0.0), (3, 1e-4), (5, 1e-4), (3, 0.02), (5, 0.02)])
@pytest.mark.parametrize("h", [0.005, 0.01])
def test_a_row_of_balls_keeps_its_energy(count, gap, h):
    """Where a rebound was reduced, the next part of its step allowed it next to nothing: 36 % were left."""
    sim, before = row_of_balls(count, gap, h)
    for _ in range(round(0.3 / h)):
        assert sim.step().converged
    assert 0.95 * before <= sim.energy().total <= 1.001 * before


@pytest.mark.parametrize("h", [0.001, 0.005])
def test_what_a_rebound_hits_gains_no_energy(h):
    """What hits the next ball by a rebound gave all of that again: up to 5 % more than there was."""
    rng = np.random.default_rng(0)
    for gap in rng.uniform(0.0, 2.0 * h, 30):
        sim, before = row_of_balls(3, gap, h)
        for _ in range(40):
            assert sim.step().converged
            assert sim.energy().total <= 1.002 * before


def test_rows_of_unlike_balls_keep_most_of_their_energy():
    """What a rebound threw against the next ball within a step rebounded too slowly: 11 % were lost."""
    rng, left = np.random.default_rng(3), []
    for _ in range(60):
        count = rng.integers(3, 6)
        masses, gaps = 10.0 ** rng.uniform(-1, 1, count), 10.0 ** rng.uniform(-5, -1.5, count - 1)
        h = 10.0 ** rng.uniform(-3.0, -2.0)
        sim, before = row_of_unlike_balls(masses, gaps, h)
        for _ in range(round(0.4 / h)):
            assert sim.step().converged
        left.append(sim.energy().total / before)
    assert np.mean(left) > 0.93
    assert max(left) < 1.002


@pytest.mark.parametrize(("h", "gap"), [(0.001, 0.01), (0.002, 0.02), (0.01, 0.1)])
def test_a_light_ball_leaps_off_a_heavy_one_without_loss_of_energy(h, gap):
    """The heavy one rebounds from the ground and meets the light one in the same step: up to 25 % were lost."""
    mech = Mechanism(ground=True)
    add_balls(mech, [10.0, 1.0], [(0.0, 0.0, 1.0), (0.0, 0.0, 1.1 + gap)])
    sim = Simulator(mech, timestep=h)
    before, highest = sim.energy().total, 0.0
    for _ in range(round(1.5 / h)):
        assert sim.step().converged
        highest = max(highest, sim.body_position("ball1")[2])
    assert 0.98 * before < sim.energy().total < 1.002 * before
    assert highest > 3.0

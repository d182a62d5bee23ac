"""Impacts that ask much of the solver: jams of friction, mass ratios, rims, spins.

Every step converges, forces stay in their cones, nothing sinks, and no step gains energy.
"""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest

from scenes import touching_scenes as scenes
from scenes.shapes import box_inertia
from vigym import Mechanism, Simulator
from vigym.mechanism.elements.shapes import Box, Capsule, Cylinder, Shape, Sphere

G = 9.81
SUNK = 1e-7  # no contact is deeper by more [m]


def unit_quaternion(generator):
    q = generator.normal(size=4)
    return q / np.linalg.norm(q)


def assert_contacts_hold(sim, friction):
    """Assert that no contact is deep, and that all forces are in their cones."""
    contacts = sim.contacts
    assert contacts.gap.min() >= -SUNK
    normal, slip = contacts.force[:, 2], np.linalg.norm(contacts.force[:, :2], axis=1)
    scale = 1.0 + np.abs(normal).max()
    assert normal.min() >= -1e-7 * scale
    assert (slip - friction * normal).max() <= 1e-7 * scale


def run_converged(sim, seconds, friction):
    for _ in range(round(seconds / sim.timestep)):
        assert sim.step().converged
        assert_contacts_hold(sim, friction)


def box_with_arm(friction):
    mech = Mechanism(ground=True)
    mech.add_body("box", 27.0, (1.0, 1.0, 1.0), position=(0.0, 0.0, 2.0))
    mech.add_collision("faces", "box", Box(size=(1.0, 1.0, 1.0)), friction=friction)
    mech.add_body("arm", 1.0, (1.0, 1.0, 1.0), position=(0.1, -0.1, 2.1))
    mech.add_joint("hinge", "revolute", "box", "arm", (0.0, -0.15, 2.3), axis=(1.0, 0.0, 0.0))
    return mech


@pytest.mark.parametrize("h", [0.01, 0.002, 0.0005])
@pytest.mark.parametrize("friction", [0.0, 0.8, 2.0, 5.0])
def test_a_box_with_an_arm_lands(friction, h):
    """An impulse of friction may exceed what slipping allows: then the corner sticks."""
    sim = Simulator(box_with_arm(friction), timestep=h)
    for seed in range(8):
        generator = np.random.default_rng(seed)
        spin = generator.normal(size=3)
        sim.reset(
            positions={"hinge": generator.uniform(-0.5, 0.5)},
            velocities={"hinge": 3.0 * generator.normal()},
            base={"box": {"orientation": unit_quaternion(generator), "angular_velocity": spin}},
            place_on_ground=True,
        )
        run_converged(sim, 0.15, friction)


def rod(tilt, friction):
    half = tilt / 2.0
    mech = Mechanism(ground=True)
    mech.add_body(
        "rod",
        1.0,
        (1.7e-5, 0.0833, 0.0833),
        position=(0.0, 0.0, 0.5 * np.sin(tilt)),
        orientation=(np.cos(half), 0.0, np.sin(half), 0.0),
    )
    mech.add_contact("lower", "rod", (0.5, 0.0, 0.0), friction=friction)
    mech.add_contact("upper", "rod", (-0.5, 0.0, 0.0), friction=friction)
    return mech


@pytest.mark.parametrize("friction", [0.8, 1.4, 2.0, 4.0])
def test_a_tilted_rod_that_slides_jams_or_goes_on(friction):
    """Above a friction of 4/3 slipping has no solution at some tilts [Painleve's paradox]."""
    for tilt in np.linspace(0.6, 1.4, 5):
        for speed in (-2.0, 2.0):
            sim = Simulator(rod(tilt, friction), timestep=0.002)
            sim.reset(base={"rod": {"velocity": (speed, 0.0, 0.0)}}, place_on_ground=True)
            start = sim.energy().total
            run_converged(sim, 0.5, friction)
            assert sim.energy().total <= start + 1e-9


@pytest.mark.parametrize(("h", "seed"), [(0.005, 14), (0.0005, 38), (0.01, 23)])
def test_a_disc_that_settles_on_its_rim_gains_no_energy(h, seed):
    """Its lowest point runs round faster and faster; steps are halved where its force would work."""
    mech = Mechanism(ground=True)
    mech.add_body("disc", 1.0, (0.0658, 0.0658, 0.125), position=(0.0, 0.0, 2.0))
    mech.add_collision("rim", "disc", Cylinder(radius=0.5, length=0.2), friction=0.3)
    sim, generator = Simulator(mech, timestep=h), np.random.default_rng(seed)
    orientation = unit_quaternion(generator)
    velocity, spin = 2.0 * generator.normal(size=3), 5.0 * generator.normal(size=3)
    motion = {"orientation": orientation, "velocity": velocity, "angular_velocity": spin}
    sim.reset(base={"disc": motion}, place_on_ground=True)
    start = before = sim.energy().total
    for _ in range(round(2.0 / h)):
        assert sim.step().converged
        now = sim.energy().total
        assert now <= before + 0.01 * start  # what a knot at an impact reads
        before = now
    assert before <= start


PARTS: dict[str, tuple[Shape, tuple[float, float, float]]] = {
    "ball": (Sphere(radius=0.5), (0.8, 0.8, 0.8)),
    "box": (Box(size=(1.0, 0.6, 0.3)), (1.0, 0.6, 0.3)),
}


def pair_above_the_ground(upper, lower, ratio):
    """A body of 1 kg and one of ``ratio`` kg above it."""
    mech = Mechanism(ground=True)
    for name, mass, part, height in (("low", 1.0, lower, 1.0), ("high", ratio, upper, 2.5)):
        shape, sizes = PARTS[part]
        mech.add_body(name, mass, box_inertia(mass, sizes), position=(0.0, 0.0, height))
        mech.add_collision(f"{name} shape", name, shape, friction=0.6)
    mech.add_pair("high", "low")
    return mech


def lift_pair(sim, seed):
    """Place the two bodies above each other, turned at random."""
    generator = np.random.default_rng(seed)
    aside = 0.05 * generator.normal(size=2)
    low = {"position": (0.0, 0.0, 1.0), "orientation": unit_quaternion(generator)}
    high = {"position": (*aside, 2.5), "orientation": unit_quaternion(generator)}
    sim.reset(base={"low": low, "high": high})


@pytest.mark.parametrize("ratio", [1.0, 100.0])
@pytest.mark.parametrize(("upper", "lower"), [("box", "ball"), ("ball", "box"), ("ball", "ball")])
def test_masses_of_any_ratio_fall_on_each_other(upper, lower, ratio):
    sim = Simulator(pair_above_the_ground(upper, lower, ratio), timestep=0.004)
    for seed in range(4):
        lift_pair(sim, seed)
        for _ in range(400):
            assert sim.step().converged
            assert sim.contacts.gap.min() >= -SUNK


@pytest.mark.parametrize("seed", [0, 3, 4])
def test_a_box_is_squeezed_between_the_ground_and_a_ball_of_10_t(seed):
    """These steps need more than the first method."""
    sim = Simulator(pair_above_the_ground("ball", "box", 1e4), timestep=0.004)
    lift_pair(sim, seed)
    for _ in range(400):
        assert sim.step().converged
        assert sim.metrics()["penetration"] <= SUNK


def test_a_leg_whose_targets_jump_gets_off_the_ground():
    """Where it can neither stick nor slip in the way that it pushes, it opens."""
    sim = Simulator(gym.make("vigym/MinitaurLeg-v0").unwrapped.mechanism, timestep=0.001)
    sim.reset(place_on_ground=True)
    generator = np.random.default_rng(0)
    for _ in range(30):
        targets = generator.uniform(-3.0, 3.0, 2)
        for _ in range(200):
            assert sim.step(targets=targets).converged


THROWN = {
    "box": (Box(size=(1.0, 0.6, 0.3)), (1.0, 0.6, 0.3)),
    "capsule": (Capsule(radius=0.1, length=1.0), (0.2, 0.2, 1.2)),
    "cylinder": (Cylinder(radius=0.4, length=1.0), (0.8, 0.8, 1.0)),
    "ball": PARTS["ball"],
}


@pytest.mark.parametrize("h", [0.01, 0.005, 0.001])
@pytest.mark.parametrize("friction", [0.0, 0.8])
@pytest.mark.parametrize("part", THROWN)
def test_no_impact_of_a_thrown_body_gives_energy(part, friction, h):
    """Gains would last; the reading of one step within an impact mixes the two halves about it."""
    shape, sizes = THROWN[part]
    mech = Mechanism(ground=True)
    mech.add_body("body", 1.0, box_inertia(1.0, sizes), position=(0.0, 0.0, 3.0))
    mech.add_collision("skin", "body", shape, friction=friction)
    sim = Simulator(mech, timestep=h)
    for seed in range(6):
        generator = np.random.default_rng(seed)
        throw = {
            "position": (0.0, 0.0, 3.0),
            "orientation": unit_quaternion(generator),
            "velocity": 2.0 * generator.normal(size=3) - (0.0, 0.0, 2.0),
            "angular_velocity": 5.0 * generator.normal(size=3),
        }
        sim.reset(base={"body": throw})
        before, lost = 0.0, 0.0
        for _ in range(round(1.2 / h)):
            assert sim.step().converged
            now = sim.metrics()["dissipated"]
            assert now >= min(before, lost) - 1e-3 * G * max(sizes)
            before, lost = lost, now


def test_bodies_that_fall_in_a_batch_move_as_they_would_alone():
    """To the last digit, with what is dissipated: other lanes' further attempts change nothing."""
    lanes = 8
    single = Simulator(pair_above_the_ground("box", "ball", 20.0), timestep=0.01)
    batch = Simulator(single.mechanism, timestep=0.01, batch=lanes)
    generator = np.random.default_rng(3)
    turns = [unit_quaternion(generator) for _ in range(2 * lanes)]
    low = {"position": (0.0, 0.0, 1.0), "orientation": np.array(turns[:lanes])}
    high = {"position": (0.05, 0.02, 2.2), "orientation": np.array(turns[lanes:])}
    batch.reset(base={"low": low, "high": high})
    halved, found = np.zeros(lanes), []
    for _ in range(100):
        halved += batch.step().halvings
        found.append((batch.state.copy(), batch.metrics()["dissipated"].copy()))
    assert halved.any()
    for i in range(lanes):
        own = {"low": low | {"orientation": turns[i]}}
        own["high"] = high | {"orientation": turns[lanes + i]}
        single.reset(base=own)
        for states, dissipated in found:
            single.step()
            np.testing.assert_array_equal(single.state, states[i])
            assert single.metrics()["dissipated"] == dissipated[i]


def plates_on_legs(legs=8):
    """Two plates with hinged legs around each."""
    mech = Mechanism(ground=True)
    for plate, x in (("left", 0.0), ("right", 1.0)):
        mech.add_body(plate, 2.0, (0.02, 0.03, 0.04), position=(x, 0.0, 0.3))
        for k in range(legs):
            side, across = np.cos(2.0 * np.pi * k / legs), np.sin(2.0 * np.pi * k / legs)
            hip, leg = np.array([x + 0.3 * side, 0.3 * across, 0.35]), f"{plate}_leg{k}"
            mech.add_body(leg, 0.15, (1e-3, 1.2e-3, 4e-4), position=hip - [0.0, 0.0, 0.05])
            mech.add_joint(f"{leg}_hip", "revolute", plate, leg, hip, (side, across, 0.0))
            mech.add_contact(f"{leg}_foot", leg, (0.0, 0.0, -0.05), radius=0.02, friction=0.6)
    return mech


@pytest.mark.parametrize("seed", range(4))
def test_a_lane_that_is_solved_waits_for_others_unchanged(seed):
    """Where the interior point solves a lane before its neighbours, projections go on from it."""
    generator, lanes = np.random.default_rng(seed), 8
    mech = plates_on_legs()
    single, batch = (Simulator(mech, timestep=1e-6, batch=size) for size in (None, lanes))
    bounds = {"mass": (0.5, 2.0), "gravity": (0.5, 1.2), "friction": (0.5, 1.5)}
    factors = {name: generator.uniform(*ends, lanes) for name, ends in bounds.items()}
    swings = {name: 3.0 * generator.normal() for name in mech.joints if name.endswith("_hip")}
    batch.set_parameters(factors)
    batch.reset(velocities=swings, place_on_ground=True)
    batch.step()
    for lane in range(lanes):
        single.set_parameters({name: float(factor[lane]) for name, factor in factors.items()})
        single.reset(velocities=swings, place_on_ground=True)
        single.step()
        np.testing.assert_array_equal(single.body_states, batch.body_states[lane])


def test_what_lands_below_the_ground_rebounds_from_there():
    """It takes up no energy beyond that of its rebound, and is led back by 1e-6 m a step."""
    sim = Simulator(scenes.ball(0.08, restitution=0.5), timestep=0.005)
    sim.reset(velocities={"ball:floating": (0, 0, -2.0, 0, 0, 0)})
    heights = []
    for _ in range(4):
        assert sim.step().converged
        heights.append(sim.body_position("ball")[2])
    assert sim.energy().kinetic < 0.5 * (0.5 * 2.0) ** 2 + 1e-3
    # it starts with the rebound: 1 m/s for all steps, less gravity
    assert heights[-1] < 0.08 + 4 * 0.005 * 1.0 + 1e-5

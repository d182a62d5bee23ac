"""Power over the steps, not at their ends, against closed forms; and gains of energy that forces explain."""

from __future__ import annotations

import pickle

import gymnasium as gym
import numpy as np
import pytest

from scenes import touching_scenes as scenes
from scenes.shapes import box_inertia
from scenes.touching import moving
from vigym import Mechanism, Simulator
from vigym.control.minitaur_gaits import trot
from vigym.mechanism.elements.shapes import Box, Sphere

MOMENT, MASS = 0.1, 2.0  # of what turns, of what slides [kg m^2, kg]
BOOKS = ("work_absolute", "power_mech")


def ball():
    mech = Mechanism(gravity=(0.0, 0.0, 0.0))
    mech.add_body("ball", 1.0, (MOMENT,) * 3)
    mech.add_joint("socket", "spherical", "world", "ball", (0.0, 0.0, 0.0), effort=5.0)
    return mech


def cart():
    mech = Mechanism(gravity=(0.0, 0.0, 0.0))
    mech.add_body("cart", MASS, (0.1, 0.1, 0.1))
    mech.add_joint("rail", "prismatic", "world", "cart", (0.0, 0.0, 0.0), (1, 0, 0), effort=20.0)
    return mech


THROWN = [
    (scenes.wheel_drive(effort=5.0), "axle", -2.0, [0.5], MOMENT, 2),
    (
        scenes.wheel_drive(effort=5.0, damping=0.0, armature=0.05),
        "axle",
        -2.0,
        [0.75],
        MOMENT + 0.05,
        2,
    ),
    (scenes.wheel_drive(effort=5.0), "axle", -2.0, [0.5], MOMENT, 4),
    (cart(), "rail", -2.0, [10.0], MASS, 2),
    (ball(), "socket", (0.0, -2.0, 0.0), [0.0, 0.5, 0.0], MOMENT, 2),
]


@pytest.mark.parametrize(("mech", "joint", "rate", "torques", "inertia", "order"), THROWN)
@pytest.mark.parametrize("substeps", [1, 5, 100])
def test_a_force_pays_for_braking_and_for_driving(
    mech, joint, rate, torques, inertia, order, substeps
):
    """Brought to rest in 0.4 s and driven back: E joules are taken, then 2.25 E given: 3.25 E, not 1.25 E."""
    sim = moving(mech, 0.01, {joint: rate}, order=order)
    effort, start = max(torques), 0.5 * inertia * 2.0**2
    for _ in range(100 // substeps):
        sim.step(torques, substeps=substeps)
    metrics = sim.metrics()
    assert effort / inertia * 0.4 == pytest.approx(2.0)
    assert metrics["work_absolute"] == pytest.approx(3.25 * start, rel=1e-3)
    assert metrics["work_actuator"] == pytest.approx(1.25 * start, rel=1e-3)
    assert metrics["power_mech"] == pytest.approx(
        mean_power(effort, inertia, 1.0 - 0.01 * substeps), rel=2e-3
    )


def mean_power(effort, inertia, begin, end=1.0):
    """Mean of |effort * (effort / inertia * t - 2)| over the last call [W]."""
    times = begin + (end - begin) * (np.arange(100000) + 0.5) / 100000
    return np.abs(effort * (effort / inertia * times - 2.0)).mean()


@pytest.mark.parametrize("h", [0.02, 0.005])
def test_a_motor_that_brakes_spends_what_it_takes(h):
    mech = scenes.wheel_drive()
    mech.add_motor("axle", 0.0, 1.0, np.inf)
    sim = moving(mech, h, {"axle": 4.0})
    sim.step(targets=[0.0], substeps=round(2.0 / h))
    metrics, energy = sim.metrics(), 0.5 * MOMENT * 4.0**2
    assert metrics["work_actuator"] == pytest.approx(-energy, rel=2e-3)
    assert metrics["work_absolute"] == pytest.approx(energy, rel=2e-3)
    assert metrics["power_mech"] == pytest.approx(0.5 * energy, rel=2e-3)


def test_motors_of_a_leg_do_not_help_each_other():
    """Thrown about by both motors: every one pays, by itself, for what it gives and for what it takes."""
    sim = Simulator(scenes.fixed_leg(kp=5.0, kd=0.1, effort=2.0), timestep=0.002)
    aims = np.random.default_rng(0).uniform(-0.6, 0.6, (10, 2))
    by_hand = 0.0
    work = 0.0
    hips = [sim.mechanism.velocity_names.index(name) for name in sim.mechanism.motor_names]
    rates = sim.joint_velocities[hips]
    for k in range(1000):
        sim.step(targets=aims[k // 100])
        by_hand += (
            0.002 * np.abs(sim.actuator_torques * rates).sum()
        )  # at the knot where the step began
        rates = sim.joint_velocities[hips]
        work = max(work, abs(sim.metrics()["work_actuator"]))
    assert sim.metrics()["work_absolute"] == pytest.approx(by_hand, rel=0.02)
    assert by_hand > 2.0 * work


def test_calls_add_up_whatever_their_length():
    rng = np.random.default_rng(1)
    aims = rng.uniform(-0.6, 0.6, (20, 2))
    whole, parts = (Simulator(scenes.fixed_leg(kp=5.0, kd=0.1, effort=2.0)) for _ in range(2))
    spent = 0.0
    for aim in aims:
        whole.step(targets=aim, substeps=5)
        powers = []
        for _ in range(5):
            parts.step(targets=aim)
            powers.append(parts.metrics()["power_mech"])
        assert whole.metrics()["work_absolute"] == parts.metrics()["work_absolute"]
        assert whole.metrics()["power_mech"] == pytest.approx(np.mean(powers), rel=1e-9)
        spent += 0.05 * whole.metrics()["power_mech"]
    assert whole.metrics()["work_absolute"] == pytest.approx(spent, rel=1e-12)
    whole.reset()
    assert [whole.metrics()[name] for name in BOOKS] == [0.0, 0.0]


def test_states_and_lanes_carry_the_books():
    mech = scenes.fixed_leg(kp=5.0, kd=0.1, effort=2.0)
    many, aims = Simulator(mech, batch=5), np.random.default_rng(2).uniform(-0.6, 0.6, (5, 2))
    many.step(targets=aims, substeps=30)
    for lane, aim in enumerate(aims):
        one = Simulator(mech)
        one.step(targets=aim, substeps=30)
        other = pickle.loads(pickle.dumps(one))
        third = Simulator(mech)
        third.state = one.state
        for name in BOOKS:
            assert (
                one.metrics()[name]
                == many.metrics()[name][lane]
                == other.metrics()[name]
                == third.metrics()[name]
            )
            assert one.metrics()[name] > 0.0


@pytest.mark.parametrize(
    "name", ["Minitaur", "MinitaurLeg", "Snake", "SnakeSidewinding", "Pendulum"]
)
def test_environments_tell_the_mean_over_the_control_step(name):
    env = gym.make(f"vigym/{name}-v0")
    _, info = env.reset(seed=0)
    dt, spent = env.unwrapped.dt, 0.0
    assert [info[book] for book in BOOKS] == [0.0, 0.0]
    for action in np.random.default_rng(0).uniform(-1.0, 1.0, (20, *env.action_space.shape)):
        info = env.step(action.astype(np.float32))[-1]
        spent += dt * info["power_mech"]
        assert info.get("power", info["power_mech"]) == info["power_mech"] > 0.0
    assert info["work_absolute"] == pytest.approx(spent, rel=1e-12)


def test_the_minitaur_pays_for_its_energy():
    env = gym.make("vigym/Minitaur-v0")
    _, info = env.reset(seed=0)
    gait, paid = trot(), 0.0
    for _ in range(100):
        _, _, _, _, info = env.step(gait(None, info))
        paid -= info["reward_energy"]
    assert paid == pytest.approx(0.005 * info["work_absolute"], rel=1e-12)
    assert info["work_absolute"] > 5.0


def test_a_motor_that_gives_all_it_can_is_flagged():
    mech = scenes.wheel_drive(effort=1.0)
    mech.add_motor("axle", 10.0, 1.0)
    sim = Simulator(mech)
    assert sim.step(targets=[3.0]).clipped
    assert sim.step(targets=[3.0], substeps=500).clipped  # in the first of its steps
    assert not sim.step(targets=[3.0], substeps=10).clipped
    assert not sim.step().clipped
    many = Simulator(mech, batch=3)
    assert many.step(targets=[[3.0], [0.01], [-3.0]]).clipped.tolist() == [True, False, True]


def arm_beside_a_puck(armature=0.0):
    """A puck lies on the ground, so that the step is nonsmooth; an arm with dry friction turns above."""
    mech = Mechanism(ground=True)
    mech.add_body("puck", 1.0, (0.01, 0.01, 0.01), (2.0, 0.0, 0.1))
    mech.add_collision("puck", "puck", Sphere(0.1), friction=0.5)
    mech.add_body("arm", 1.0, (0.02, 0.02, 0.02), (0.0, 0.0, 1.0))
    hinge = (0.0, 0.0, 1.0), (0.0, 1.0, 0.0)
    drive = {"effort": 10.0, "friction": 1e-3, "armature": armature}
    mech.add_joint("hinge", "revolute", "world", "arm", *hinge, **drive)
    return mech


@pytest.mark.parametrize("torque", [0.5, 2.0, 5.0])
def test_a_torque_that_is_switched_off_explains_the_step_after(torque):
    """Half of its impulse belongs to that step."""
    sim = Simulator(arm_beside_a_puck(), timestep=0.01)
    for k in range(40):
        status = sim.step([torque if k % 2 == 0 else 0.0])
        assert status.converged
        assert status.halvings == 0


@pytest.mark.parametrize("stiffness", [1e2, 1e3])
def test_a_preloaded_spring_explains_the_first_step(stiffness):
    """A box with a weight on a spring inside falls on its corner: the spring has no force before the first step."""
    mech = Mechanism(ground=True)
    place = (0.0, 0.0, 0.2)
    mech.add_body("box", 1.0, box_inertia(1.0, (0.3, 0.25, 0.2)), place)
    mech.add_body("weight", 0.2, (1e-3, 1e-3, 1e-3), place)
    spring = {"stiffness": stiffness, "rest": 0.1}
    mech.add_joint("slide", "prismatic", "box", "weight", place, (1.0, 0.0, 0.0), **spring)
    mech.add_collision("box", "box", Box((0.3, 0.25, 0.2)), friction=0.6)
    sim = Simulator(mech, timestep=0.01)
    for seed in range(10):
        rng = np.random.default_rng(seed)
        turn = rng.normal(size=4)
        fall = {"orientation": turn / np.linalg.norm(turn), "velocity": (0.0, 0.0, -1.0)}
        sim.reset(base={"box": fall}, place_on_ground=True)
        status = sim.step()
        assert status.converged
        assert status.halvings == 0, seed


@pytest.mark.parametrize("armature", [0.0, 0.02, 0.5])
def test_an_armature_gives_back_what_it_stored(armature):
    """A motor that turns the arm to and fro brakes the armature, and the arm goes on."""
    mech = arm_beside_a_puck(armature)
    mech.add_motor("hinge", kp=20.0, kd=0.1)
    sim = Simulator(mech, timestep=0.01)
    for k in range(100):
        status = sim.step(targets=[0.5 if k % 20 < 10 else -0.5])
        assert status.converged
        assert status.halvings == 0


@pytest.mark.parametrize(
    ("rate", "effort"), [(1.0, 0.5), (1.0, 10.0), (5.0, 2.0), (20.0, 10.0), (50.0, 10.0)]
)
def test_a_contact_gives_what_a_motor_takes_in_the_same_step(rate, effort):
    """A motor turns a rising rod round and thrusts its tip into the ground, all in one step.

    Both impulses act at one knot, at the mean of the rates before and after it.
    """
    mech, height = Mechanism(ground=True), 0.1
    length, mass = 0.3, 0.01
    moment = mass * length**2 / 12.0
    mech.add_body("rod", mass, (1e-6, moment, moment), (length / 2.0, 0.0, height))
    hinge = (0.0, 0.0, height), (0.0, 1.0, 0.0)
    mech.add_joint("hinge", "revolute", "world", "rod", *hinge, effort=effort)
    mech.add_motor("hinge", kp=100.0 * effort, kd=0.1 * effort)
    mech.add_contact("tip", "rod", (length / 2.0, 0.0, 0.0), friction=0.5)
    sim = Simulator(mech, timestep=0.01)
    sim.reset({"hinge": np.arcsin((height - 1e-3) / length)}, {"hinge": -rate})
    for _ in range(3):
        status = sim.step(targets=[0.6])
        assert status.converged
        assert status.halvings == 0
    assert abs(sim.contacts.gap[0]) < 1e-8

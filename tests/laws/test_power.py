"""Power over the steps, not at their ends: against closed forms, over calls, through saved states, in environments."""

from __future__ import annotations

import pickle

import gymnasium as gym
import numpy as np
import pytest

from scenes import touching_scenes as scenes
from scenes.touching import moving
from vigym import Mechanism, Simulator
from vigym.control.minitaur_gaits import trot

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

"""Springs and dampers between points, in and out of loops; dry friction that no motion tells in locked joints."""

from __future__ import annotations

import numpy as np
import pytest

from scenes.loops_plane import five_bar
from scenes.moving import momentum, oscillation
from scenes.trees import unit
from vigym import Mechanism, Simulator


def two_masses(stiffness, damping=0.0, length=1.0, off=1.0):
    """Two free bodies tied by a spring, at points off their centres of mass or at these (`off` 0)."""
    mech = Mechanism(gravity=(0.0, 0.0, 0.0))
    mech.add_body("one", 1.0, (0.01, 0.02, 0.025), (0.0, 0.0, 0.0))
    mech.add_body("two", 2.0, (0.03, 0.02, 0.04), (1.0, 0.2, 0.0))
    ends = off * np.array([(0.1, 0.0, 0.05), (-0.1, 0.05, 0.0)])
    mech.add_spring("spring", "one", "two", *ends, stiffness, length, damping)
    return mech


def test_energy_of_a_spring_has_no_trend_and_momentum_is_kept():
    """Regular motion: with the ends off the centres of mass it is chaotic, and wanders between levels of the error."""
    mech = two_masses(50.0, off=0.0)
    sim = Simulator(mech)
    sim.reset(velocities={"one:floating": (0.1, 0.5, 0.0, 0.3, 0.0, 1.0)})
    first = momentum(sim)
    times, energies = oscillation(sim, 500.0, 5)
    assert abs(np.polyfit(times, energies, 1)[0]) * 500.0 < 0.1 * 0.5 * np.ptp(energies)
    np.testing.assert_allclose(momentum(sim), first, rtol=0.0, atol=1e-9 * np.abs(first).max())


@pytest.mark.parametrize("stiffness", [1e3, 1e6, 1e9])
def test_a_spring_of_any_stiffness_is_stable(stiffness):
    """At h = 0.01 s the stiffest turns a thousand radians a step; its length then stays where it was."""
    mech = two_masses(stiffness, length=float(np.linalg.norm((0.8, 0.25, -0.05))))
    sim = Simulator(mech, timestep=0.01)
    sim.reset(velocities={"one:floating": (0.1, 0.5, 0.0, 0.3, 0.0, 1.0)})
    before = sim.energy().total
    for _ in range(2000):
        assert sim.step().converged
        assert sim.energy().total < 1.1 * before  # rounding of 1e9 N/m makes some percent
    assert sim.energy().total > 0.8 * before  # the motion across the spring stays


@pytest.mark.parametrize("stiffness", [1e4, 1e9])
def test_a_stiff_spring_across_a_loop_is_stable(stiffness):
    """A five-bar whose knees are held apart, swinging with the freedom that is left."""
    mech = five_bar(damping=0.0)
    ends = [mech.bodies[f"{side}_lower"].position for side in ("left", "right")]
    still = (0.0, 0.0, 0.0)
    mech.add_spring(
        "stay",
        "left_lower",
        "right_lower",
        still,
        still,
        stiffness,
        float(np.linalg.norm(ends[1] - ends[0])),
    )
    sim = Simulator(mech, timestep=0.01)
    sim.reset(velocities={"left_hip": 1.0})
    before, energies = sim.energy().total, []
    for _ in range(2000):
        assert sim.step().converged
        energies.append(sim.energy().total)
        assert sim.constraint_residual() <= 1e-10
    assert max(energies) < before + 1e-3 * abs(before)
    assert min(energies) > before - 0.01 * abs(before)  # of the spring's vibration


def test_a_spring_with_a_damper_takes_the_energy_that_is_booked():
    mech, balances = two_masses(200.0, damping=3.0), []
    for h in (0.002, 0.001):
        sim = Simulator(mech, timestep=h)
        sim.reset(velocities={"one:floating": (0.5, 0.0, 0.0, 0.0, 0.0, 2.0)})
        first = sim.energy().total
        assert sim.step(substeps=round(3.0 / h)).converged
        lost, balance = sim.metrics()["dissipated"], sim.metrics()["energy_balance"]
        assert 0.3 * first < lost < first
        assert balance == pytest.approx(sim.energy().total - first + lost, abs=1e-12)
        balances.append(balance)
    assert balances[0] / balances[1] == pytest.approx(4.0, rel=0.05)


@pytest.mark.parametrize("damping", [1e2, 1e6])
def test_any_damper_between_points_is_stable(damping):
    mech = five_bar()
    still = (0.0, 0.0, 0.0)
    mech.add_spring("damper", "left_upper", "right_lower", still, still, 10.0, 0.1, damping)
    sim, energies = Simulator(mech, timestep=0.02), []
    for _ in range(200):
        assert sim.step().converged
        assert sim.constraint_residual() <= 1e-10
        energies.append(sim.energy().total)
    assert max(np.diff(energies)) < 1e-3
    assert energies[-1] < energies[0]


SECOND = ("planar", "spherical", "cylindrical", "universal", "revolute", "prismatic")


def locked_pair(kind, second, friction, seed):
    """Two free bodies that a joint with dry friction and a second joint make one rigid body."""
    rng = np.random.default_rng(seed)
    mech = Mechanism(gravity=(0.0, 0.0, 0.0))
    mech.add_body("a", 1.0, (0.01, 0.012, 0.015))
    mech.add_body("b", 0.5, (0.01, 0.005, 0.008), (0.3, 0.1, 0.2))
    mech.add_joint("free", "floating", "world", "a", (0.0, 0.0, 0.0))
    place = 0.1 * rng.normal(size=3)
    mech.add_joint("joint", kind, "a", "b", place, axis=unit(rng.normal(size=3)), friction=friction)
    axis = unit(rng.normal(size=3))
    axes = {} if second == "spherical" else {"axis": axis}
    if second == "universal":
        axes["axis2"] = unit(np.cross(axis, rng.normal(size=3)))
    mech.add_joint("second", second, "a", "b", place + 0.2 * rng.normal(size=3), **axes)
    return mech


@pytest.mark.parametrize("second", SECOND)
@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_locked_joints_with_dry_friction_take_few_iterations(kind, second):
    """The pair tumbles as one body: without its friction a step takes one iteration."""
    for seed in range(5):
        for friction in (0.1, 10.0):
            sim = Simulator(locked_pair(kind, second, friction, seed), timestep=0.01)
            sim.reset(velocities={"free": (1.0, 0.0, 0.0, 1.0, 2.0, 3.0)})
            start, iterations = sim.energy().total, 0
            for _ in range(50):
                status = sim.step()
                assert status.converged
                assert status.halvings == 0
                iterations += status.iterations
            assert iterations <= 4 * 50
            assert sim.energy().total == pytest.approx(start, rel=1e-4)
            assert sim.constraint_residual() < 1e-8


def almost_parallel_pair(kind, second, tilt, driven):
    """Two free bodies on a hinge and a slide whose axes are off by a tilt [rad], and a motor on the second."""
    axis, place = unit(np.array([0.66, 0.7, -0.28])), np.array([0.16, -0.12, 0.17])
    mech = Mechanism(gravity=(0.0, 0.0, 0.0))
    mech.add_body("a", 1.9, (0.038, 0.04, 0.042))
    mech.add_body("b", 0.9, (0.02, 0.017, 0.016), (0.3, 0.1, 0.2))
    mech.add_joint("free", "floating", "world", "a", (0.0, 0.0, 0.0))
    mech.add_joint("joint", kind, "a", "b", place, axis=axis)
    axis, place = axis + tilt * np.array([0.3, -0.5, 0.8]), place + tilt * np.array([1.0, 1.0, 0.0])
    effort = {"effort": 1.3} if driven else {}
    mech.add_joint("second", second, "a", "b", place, axis=axis, **effort)
    if driven:
        mech.add_motor("second", kp=2.0, kd=0.026)
    return mech


@pytest.mark.parametrize("driven", [False, True])
@pytest.mark.parametrize("tilt", [0.0, 1e-7, 2e-5, 5e-5, 1e-4, 3e-4, 1e-3, 1e-2])
@pytest.mark.parametrize("kinds", [("revolute", "prismatic"), ("prismatic", "revolute")])
def test_a_hinge_and_a_slide_that_are_almost_parallel_take_few_iterations(kinds, tilt, driven):
    """The slide's constraints of position feel the hinge by the tilt alone, those of orientation fully."""
    sim = Simulator(almost_parallel_pair(*kinds, tilt, driven), timestep=0.0084)
    sim.reset(velocities={"free": (-4.4, -9.4, -5.5, -6.2, -4.7, 0.44)})
    start, iterations = sim.energy().kinetic, 0
    for _ in range(40):
        status = sim.step(targets=[0.5]) if driven else sim.step()
        assert status.converged
        assert status.halvings == 0
        iterations += status.iterations
    assert iterations <= 5 * 40
    assert sim.energy().kinetic == pytest.approx(start, rel=1e-2)
    assert sim.constraint_residual() < 1e-5 * max(tilt, 1e-5) + 1e-9


def door(tilt, away):
    """A body on a ball joint and on a hinge away from it [m] along an axis that is off by a tilt [rad]."""
    axis = unit(np.array([0.6755, 0.4653, 0.5719]))
    across = unit(np.cross(axis, (0.0, 0.0, 1.0)))
    mech = Mechanism()
    mech.add_body("door", 27.0, (1.0, 1.2, 0.9), (-0.12, 0.11, 0.47))
    mech.add_joint("ball", "spherical", "world", "door", (0.0, 0.0, 0.0))
    hinge = axis + tilt * across
    mech.add_joint("hinge", "revolute", "world", "door", away * axis, axis=hinge)
    return mech


@pytest.mark.parametrize("timestep", [0.01, 0.001, 0.00017])
@pytest.mark.parametrize("tilt", [0.0, 1e-5, 1e-4, 1e-3])
@pytest.mark.parametrize("away", [0.3, -0.3, 1.5])
def test_a_hinge_that_misses_a_ball_joint_by_little_locks_it(tilt, away, timestep):
    """Gravity turns the door until forces of 1 / tilt hold it: the loop's weakest row has a pivot of tilt^2."""
    sim = Simulator(door(tilt, away), timestep=timestep)
    for _ in range(100):
        status = sim.step()
        assert status.converged
        assert status.iterations <= 60
    assert sim.constraint_residual() < 1e-9
    if tilt > 0.0:
        assert np.abs(sim.joint_positions[:4] - (1.0, 0.0, 0.0, 0.0)).max() < 1e-3


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("h", [0.01, 0.02])
def test_a_locked_triangle_with_a_light_arm_flies_in_whole_steps(h, seed):
    """The multipliers of a locked loop are not determined: huge ones were taken for a pull on the arm."""
    rng = np.random.default_rng(seed)
    mech = Mechanism()
    places = 0.2 * rng.normal(size=(4, 3))
    for i, mass in enumerate((5.0, 1.0, 0.1, 20.0)):
        moment = 0.02 * mass
        mech.add_body(f"body{i}", mass, (moment, moment, moment), position=places[i])
    for name, i, j in (("a", 0, 1), ("arm", 1, 2), ("b", 1, 3), ("closing", 0, 3)):
        hinge = 0.5 * (places[i] + places[j]), rng.normal(size=3)
        mech.add_joint(name, "revolute", f"body{i}", f"body{j}", *hinge)
    sim = Simulator(mech, timestep=h)
    thrown = {"velocity": rng.normal(size=3), "angular_velocity": 3.0 * rng.normal(size=3)}
    sim.reset(base={"body0": thrown})
    status = [sim.step() for _ in range(60)]
    assert all(each.converged for each in status)
    assert sum(each.halvings for each in status) == 0
    assert np.mean([each.iterations for each in status]) < 3.0

"""Swings of bodies that are pulled: the squared rates of pendulums, and of masses on springs."""

import numpy as np
import pytest

from scenes.plain_python import Fields, data_of, random_vector, solved_step
from scenes.touching_scenes import double_pendulum, pendulum, rod, slider
from vigym import Mechanism, Simulator
from vigym.core.tree import tension

H = 0.01
RNG = np.random.default_rng(0)


def hanging(make):
    sim = Simulator(make(), timestep=H)
    sim.reset()
    assert sim.step(substeps=4).converged
    return solved_step(sim, H)


def heavy():
    """A rod of 1 m and 3 kg on a hinge."""
    mech = Mechanism()
    rod(mech, "arm", (0.0, 0.0, 0.0), mass=3.0)
    mech.add_joint("pin", "revolute", "world", "arm", (0.0, 0.0, 0.0), (0, 1, 0))
    return mech


def test_a_rod_that_hangs_swings_as_a_pendulum():
    """Of 1 m: m g l / (I + m l^2) = 3 g / 2."""
    d, step, _ = hanging(heavy)
    most, _, across, _ = tension.find_swings(d, step)
    assert most == pytest.approx(
        1.5 * 9.81, rel=0.02
    )  # the slender rod has a little inertia along itself
    assert across == 0.0


def test_the_upper_of_two_rods_is_pulled_by_both():
    """Forces in joints are the weights below them."""
    d, step, _ = hanging(double_pendulum)
    tension.find_swings(d, step)
    assert -d.body(2).force[2] == pytest.approx(-9.81, rel=1e-6)
    assert d.body(1).force[2] == pytest.approx(2.0 * 9.81, rel=1e-6)


def test_a_swing_that_moves_is_found_in_its_jerks():
    """Rayleigh's quotient of a pendulum is its own squared rate."""
    sim = Simulator(pendulum(), timestep=H)
    sim.reset([0.1])
    assert sim.step(substeps=10).converged
    d, step, _ = solved_step(sim, H)
    _, in_jerks, _, energy = tension.find_swings(d, step)
    assert energy > 0.0
    assert in_jerks == pytest.approx(1.5 * 9.81, rel=0.1)


def test_a_spring_between_points_resists_motion_across_it():
    """By its tension over its length, here of a cart of 2 kg; never by more than its stiffness, nor where slack."""
    mech = slider(2.0)
    mech.add_spring("spring", "world", "cart", (0.0, 0.0, -0.5), (0.0, 0.0, 0.0), 20.0, 0.1)
    d, step, _ = hanging(lambda: mech)
    assert tension.largest_swing_of_springs(d, step) == pytest.approx(
        20.0 * 0.4 / 0.5 / 2.0, rel=1e-6
    )
    dof = next(d.dof(p) for p in range(d.dof_count) if d.dof(p).stiffness > 0.0)
    for load, expected in ((1e9, 20.0), (-1.0, 0.0), (3.0, 6.0)):
        dof.accepted_load, dof.sine = load, 0.5
        assert tension.stiffness_across(d, dof, 1.0) == pytest.approx(expected)


def test_the_energy_of_jerks_is_that_of_second_differences():
    sim = Simulator(pendulum(), timestep=H)
    sim.reset([0.5])
    sim.step(substeps=3)
    d, step, _ = solved_step(sim, H)
    knots = [
        step.knot3,
        step.knot2,
        d.state_knots + d.knot_size * ((int(d.environment.present_knot) + 3) % 4),
    ]
    v, w = (
        np.array([getattr(d.pose(k, 1), n) for k in knots])
        for n in ("velocity", "angular_velocity")
    )
    change, turn = (0.5 * (x[0] - 2.0 * x[1] + x[2]) for x in (v, w))
    expected = 0.5 * (change @ change + turn[1] ** 2 / 12.0)
    assert tension.energy_of_jerks(d, step) == pytest.approx(expected)


def test_a_force_along_its_arm_does_not_do_this_work():
    """Turned by a small rotation its arm ends lower by half of the square: that times two, times the force."""
    arm = np.array(random_vector(RNG))
    turn = np.cross(arm, random_vector(RNG))
    assert tension.work_of_turning(tuple(turn), tuple(arm), tuple(3.0 * arm)) == pytest.approx(
        3.0 * turn @ turn * arm @ arm
    )
    assert tension.work_of_turning(tuple(arm), tuple(arm), tuple(3.0 * arm)) == pytest.approx(
        0.0, abs=1e-12
    )


def test_damping_makes_longer_steps_stable():
    for damping, expected in ((0.0, 1.0), (4.0, 2.0 / 6.0)):
        dofs = Fields(damping=damping * 100.0, kd=0.0)
        body = Fields(rotation_count=1, translation_count=0, first_dof=0)
        d = Fields(body=lambda i, body=body: body, dof=lambda p, dofs=dofs: dofs)
        assert tension.damped_share(d, 1, 1.0, H) == pytest.approx(expected)


def test_pulling_forces_are_bounded_by_loads():
    d = data_of(Simulator(slider(effort=9.0), timestep=H))
    for load in (-3.0, 3.0):
        d.dof(0).accepted_load = load
        assert tension.largest_pull(d, 1.0) == pytest.approx(
            3.0 * max(1.0, 1.0 / d.environment.length_scale)
        )


def test_a_held_force_adds_to_what_a_joint_carries():
    sim = Simulator(heavy(), timestep=H)
    sim.reset()
    sim.forces.apply("arm", (0.0, 0.0, -7.0))
    assert sim.step(substeps=4).converged
    d, step, _ = solved_step(sim, H)
    tension.find_swings(d, step)
    assert d.body(1).force[2] == pytest.approx(3.0 * 9.81 + 7.0, rel=1e-6)


def test_only_jerks_across_a_spring_are_resisted_by_its_tension():
    """By the stiffness T/l: of a cart of which both ends of the step's velocities are given."""
    mech = Mechanism(gravity=(0.0, 0.0, 0.0))
    mech.add_body("mass", 2.0, (0.1, 0.2, 0.3), (0.0, 0.0, -1.0))
    mech.add_spring("spring", "world", "mass", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 20.0, 0.4)
    sim = Simulator(mech, timestep=H)
    sim.reset()
    assert sim.step(substeps=4).converged
    d, step, _ = solved_step(sim, H)
    loop, pose = tension.first_point_spring(d), d.pose(step.knot3, 1)
    dof = d.dof(d.body(loop).first_dof)
    arm_a, arm_b, line = tension.spring_arms(d, loop, step.knot2)
    assert np.allclose((arm_a, arm_b), 0.0)
    kept = np.array(pose.velocity)
    before = tension.jerk_of_body(d, 1, step)[0]
    assert tension.work_across_spring(d, loop, step) == pytest.approx(0.0, abs=1e-12)
    stiffness = tension.stiffness_across(d, dof, step.rho)
    for change, across in (((0.0, 0.0, 0.3), 0.0), ((0.3, -0.4, 0.2), 0.5)):
        pose.velocity = tuple(kept + change)
        jerk = np.subtract(tension.jerk_of_end(d, 1, step, arm_b), before)
        assert jerk == pytest.approx(0.5 * np.array(change))  # over two equal steps
        expected = stiffness * (0.5 * across) ** 2
        assert tension.work_across_spring(d, loop, step) == pytest.approx(expected, abs=1e-12)
    length = np.linalg.norm(line)
    assert stiffness == pytest.approx(20.0 * (length - 0.4) / length, rel=1e-3)
    pose.velocity = tuple(kept + (0.3, -0.4, 0.0) - 2.0 * np.array(before))
    across = tension.find_swings(d, step)[2]  # Rayleigh's quotient of a jerk across
    assert across == pytest.approx(stiffness / 2.0)


def test_the_end_of_an_arm_has_the_jerk_of_its_turn_too():
    d, step, _ = hanging(heavy)
    pose, arm = d.pose(step.knot3, 1), (0.2, -0.1, 0.5)
    before = np.array(tension.jerk_of_end(d, 1, step, arm))
    pose.angular_velocity = tuple(np.add(pose.angular_velocity, (0.0, 0.6, 0.0)))
    found = np.subtract(tension.jerk_of_end(d, 1, step, arm), before)
    assert found == pytest.approx(np.cross((0.0, 0.3, 0.0), arm))

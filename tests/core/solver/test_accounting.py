"""Accounting: losses and work are the change of energy, from the middle of one step to that of the next."""

import numpy as np
import pytest

from scenes.plain_python import Fields, data_of, solved_step
from scenes.touching_scenes import hopper, point_mass, slider
from vigym import Mechanism, Simulator
from vigym.core.model.context import knot_buffer, knot_weight
from vigym.core.solver import accounting

H = 0.01


def driven():
    mech = slider(damping=0.4, armature=0.3, effort=5.0)
    mech.add_motor("rail", kp=30.0, kd=0.5)
    return mech


def sprung():
    mech = slider(armature=0.3)
    mech.add_spring("spring", "world", "cart", (-1.0, 0.0, 0.0), (0.0, 0.0, 0.0), 20.0, 0.8, 0.7)
    return mech


SCENES = {
    "damper": (lambda: slider(damping=0.7), "rail"),
    "springs": (lambda: slider(stiffness=30.0, rest=0.1, armature=0.3), "rail"),
    "dry friction": (lambda: slider(friction=2.0), "rail"),
    "limit": (lambda: slider(limits=(-0.02, 0.02)), "rail"),
    "motor": (driven, "rail"),
    "spring between points": (sprung, "rail"),
    "sliding": (lambda: point_mass(0.0, friction=0.3), "mass:floating"),
}


def balance(d):
    """Energy in the middle of the last step, less the work that was done and with what was lost [J]."""
    pose, energy = (
        d.pose(knot_buffer(d, 0), 1),
        0.5 * d.body(1).mass * np.square(d.pose(knot_buffer(d, 0), 1).velocity),
    )
    energy = energy.sum() - d.body(1).mass * np.dot(d.environment.gravity, pose.position)
    for p in range(d.dof_count):
        dof = d.dof(p)
        energy += 0.5 * dof.armature * dof.last_rate**2
        energy += 0.5 * dof.last_spring_force**2 / dof.stiffness if dof.stiffness > 0.0 else 0.0
    return energy, d.environment.dissipated - d.environment.work


@pytest.mark.parametrize("name", SCENES)
def test_what_is_lost_or_done_changes_the_energy(name):
    make, joint = SCENES[name]
    sim = Simulator(make(), timestep=H)
    sim.reset(velocities={joint: 1.0 if joint == "rail" else (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)})
    assert sim.step().converged
    d, moved = data_of(sim), 0.0
    for _ in range(4):
        energy, taken = balance(d)
        before = d.environment.dissipated
        assert sim.step().converged
        after, more = balance(d)
        assert after + more == pytest.approx(
            energy + taken, abs=1e-6 if name == "sliding" else 1e-10
        )
        assert d.environment.dissipated >= before - 1e-12
        moved = max(moved, abs(more - taken))
    assert moved > 1e-4 or name == "springs"


def test_lanes_of_no_mask_keep_their_state():
    sim = Simulator(hopper(clearance=1e-4), timestep=H)
    sim.reset()
    assert sim.step(targets=[0.3, 0.3]).converged
    d, step, _ = solved_step(sim, H)
    before, rho = d.state.copy(), d.environment.step_size / step.h
    accounting.account(d, step.knot2, step.knot3, step.h, rho, np.False_)
    np.testing.assert_array_equal(d.state, before)
    accounting.account(d, step.knot2, step.knot3, step.h, rho, np.True_)
    assert (d.state != before).any()


@pytest.mark.parametrize("kind", ["revolute", "spherical"])
def test_work_of_torques_along_a_known_turn(kind):
    """Three rotations have no coordinate by which another place sums the work of torques."""
    mech = Mechanism(gravity=(0.0, 0.0, 0.0))
    mech.add_body("disc", 1.0, (0.1, 0.1, 0.1))
    mech.add_joint("axle", kind, "world", "disc", (0.0, 0.0, 0.0), (0, 0, 1), effort=10.0)
    sim = Simulator(mech, timestep=H)
    sim.reset(velocities={"axle": 2.0 if kind == "revolute" else (0.0, 0.0, 2.0)})
    d, step, _ = solved_step(sim, H)
    d.dof(d.dof_count - 1).applied_torque = -3.0
    work, absolute_work = accounting.integrate_torque_work(d, step.knot3, step.h)
    assert work == pytest.approx(-3.0 * 2.0 * H if kind == "spherical" else 0.0)
    assert absolute_work == pytest.approx(3.0 * 2.0 * H)


@pytest.mark.parametrize("force", [2.0, 2.1])
def test_a_saturated_motor_is_told(force):
    sim = Simulator(driven(), timestep=H)
    sim.reset()
    d, step, _ = solved_step(sim, H)
    dof = d.dof(0)
    dof.converged_forces = force, 0.0, 0.0
    d.model[:] = np.where(d.model == dof.force_limit, 2.1, d.model)
    _, work, saturated = accounting.account_dof(d, 1, 0, step.knot3, step.h, np.True_)
    assert bool(saturated) == (force == 2.1)
    assert work == pytest.approx(force * dof.last_rate * 0.5)


def test_contacts_take_power_by_the_mean_of_both_velocities():
    sim = Simulator(point_mass(0.0, friction=0.3), timestep=H)
    sim.reset(velocities={"mass:floating": (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)})
    assert sim.step().converged
    d, step, _ = solved_step(sim, H)
    accounting.measure_contact_powers(d, step.knot2, step.knot3)
    before, after = (d.pose(knot, 1).velocity[0] for knot in (step.knot2, step.knot3))
    contact, weight = d.contact(0), knot_weight(step.rho) * step.h
    assert contact.power * weight == pytest.approx(0.5 * (before**2 - after**2), rel=1e-6)
    assert (
        accounting.power_taken_by_contacts(
            Fields(contact_count=2, contact=lambda c: Fields(power=1.0 + c))
        )
        == 3.0
    )

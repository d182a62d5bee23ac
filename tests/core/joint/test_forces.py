"""Loads of joints: their derivatives are the slopes in pivots, and halves of a force make up the whole."""

import numpy as np
import pytest

from scenes.features import tree
from scenes.plain_python import data_of, derivative_by_motion, evaluated_step
from scenes.touching_scenes import slider, wheel_drive
from scenes.trees import TYPES, random_positions, random_rates, random_tree
from vigym import Simulator
from vigym.core.joint import forces
from vigym.core.joint.geometry import rotation_increment_axis, translation_axis

H, RHO = 0.01, np.float64(1.0)


def moving(kind, **options):
    mech = random_tree(2, (kind,), damping=0.5, **options)
    sim = Simulator(mech, timestep=H)
    sim.reset(random_positions(3, mech), random_rates(4, mech, 2.0))
    return sim


@pytest.mark.parametrize("kind", [kind for kind in TYPES if kind != "fixed"])
def test_compliance_is_the_derivative_of_the_load(kind):
    """By a motion of its degree of freedom, with springs, dampers and armatures."""
    d, step, _ = evaluated_step(moving(kind), H)
    body = d.body(1)
    for j in range(body.translation_count + body.rotation_count):
        turns = j >= body.translation_count
        forces.assemble_joint_loads(d, step.knot3, step.h, RHO)  # axes of balls with springs too
        axis = (rotation_increment_axis if turns else translation_axis)(
            d, 1, j - turns * body.translation_count, step.knot3
        )
        o = (0.0, 0.0, 0.0)
        dof = d.dof(body.first_dof + j)

        def load(dof=dof):
            forces.assemble_joint_loads(d, step.knot3, step.h, RHO)
            return dof.load

        found = derivative_by_motion(d, step, {1: (o, axis) if turns else (axis, o)}, load)
        assert dof.compliance == pytest.approx(found, rel=1e-6)


def pushed(**options):
    sim = Simulator(slider(effort=99.0, **options), timestep=H)
    sim.reset([0.2])
    return sim


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, -3.5),
        ({"stiffness": 40.0, "rest": 0.1}, 40.0 * 0.1),
        ({"damping": 5.0}, 0.0),
        ({"armature": 2.0}, 0.0),
    ],
)
def test_a_load_at_rest_is_the_torque_and_the_spring(options, expected):
    """Halves of both steps' at their common knot."""
    d, step, _ = evaluated_step(pushed(**options), H)
    dof = d.dof(0)
    if not options:
        dof.applied_torque, dof.last_torque = 3.0, 4.0
    elif "stiffness" in options:
        dof.last_spring_force = 40.0 * 0.1
    forces.assemble_constant_loads(d, np.float64(0.5), np.float64(0.5))
    forces.assemble_joint_loads(d, step.knot3, step.h, RHO)
    assert dof.load == pytest.approx(expected, abs=1e-9)
    assert dof.start == (0.2 if "stiffness" in options else dof.start)


def test_a_load_of_a_damper_is_the_mean_of_both_halves():
    for rho, weight in ((1.0, 1.0), (0.5, 0.75), (0.0, 0.5)):
        sim = Simulator(wheel_drive(damping=0.3), timestep=H)
        sim.reset(velocities={"axle": 2.0})
        d, step, _ = evaluated_step(sim, H)
        forces.assemble_constant_loads(d, np.float64(0.5), np.float64(0.5))
        forces.assemble_joint_loads(d, step.knot3, step.h, np.float64(rho))
        assert d.dof(0).load == pytest.approx(weight * 0.3 * 2.0, rel=1e-4)
        before = d.dof(0).accepted_load
        forces.accept_loads(d, np.False_)
        assert d.dof(0).accepted_load == before
        forces.accept_loads(d, np.True_)
        assert d.dof(0).accepted_load == d.dof(0).load


def test_at_a_knot_half_a_damper_acts_and_armatures_keep_their_momentum():
    sim = Simulator(wheel_drive(damping=0.3, armature=0.05), timestep=H)
    sim.reset(velocities={"axle": 2.0})
    d = data_of(sim)
    forces.assemble_constant_loads(d, np.float64(0.0), np.float64(0.0))
    forces.assemble_left_knot_loads(d, np.float64(H))
    dof = d.dof(0)
    assert dof.compliance == pytest.approx(0.05 + 0.5 * H * 0.3)
    assert dof.load == pytest.approx(-0.05 * 2.0)


def test_bounded_forces_start_as_a_share_of_the_last_ones():
    d = data_of(Simulator(tree()))
    for p in range(d.dof_count):
        d.dof(p).last_motor_force = 1.0
        d.dof(p).last_limit_force, d.dof(p).last_friction_force = 2.0, -4.0
    forces.start_bounded_forces(d, np.float64(0.5))
    for p in range(d.dof_count):
        assert d.dof(p).forces == d.dof(p).anchor_forces == (0.5, 1.0, -2.0)


@pytest.mark.parametrize(
    ("options", "expected"), [({"stiffness": 1e9}, 1e9), ({"damping": 50.0}, 50.0 * 2.0 / H)]
)
def test_the_largest_term_of_a_residual_is_told(options, expected):
    d = data_of(Simulator(wheel_drive(**options), timestep=H))
    assert forces.largest_damping_term(d, d.state_knots, np.float64(H)) == pytest.approx(expected)

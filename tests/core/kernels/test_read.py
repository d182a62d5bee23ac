"""Readings at a knot: energies of bodies and joints, errors of constraints, and contacts."""

import numpy as np
import pytest

from scenes.plain_python import data_of
from scenes.touching_scenes import ball, pendulum, slider
from scenes.trees import random_positions, random_rates, random_tree
from vigym import Simulator
from vigym.core.body.pose import set_pose
from vigym.core.joint.coordinates import stored_coordinate
from vigym.core.kernels import read
from vigym.core.kernels.knot_velocity import solve_knot_velocities
from vigym.core.model.context import knot_buffer

H = 0.01


def test_energies_are_those_of_bodies_and_springs():
    """Kinetic of velocities and armatures, potential of heights and springs."""
    mech = random_tree(4, ("revolute", "prismatic", "cylindrical"), damping=0.1)
    sim = Simulator(mech, timestep=H)
    sim.reset(random_positions(3, mech), random_rates(4, mech, 2.0))
    d = data_of(sim)
    knot = knot_buffer(d, 0)
    kinetic, potential = 0.0, 0.0
    for i in range(1, d.body_count):
        body, pose = d.body(i), d.pose(knot, i)  # of a start: velocities at the knot
        xx, yy, zz, xy, xz, yz = body.inertia
        J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        v, w = np.array(pose.velocity), np.array(pose.angular_velocity)
        kinetic += 0.5 * body.mass * v @ v + 0.5 * w @ J @ w
        potential -= body.mass * np.dot(d.environment.gravity, pose.position)
        for j in range(body.translation_count + body.rotation_count):
            dof = d.dof(body.first_dof + j)
            kinetic += 0.5 * dof.armature * dof.last_rate**2
            potential += 0.5 * dof.stiffness * (stored_coordinate(d, i, j) - dof.rest) ** 2
    energy = sim.energy()
    assert energy.kinetic == pytest.approx(kinetic, rel=1e-9)
    assert energy.potential == pytest.approx(potential, rel=1e-9)


def test_an_open_joint_and_a_wrong_velocity_are_told():
    d = data_of(Simulator(pendulum()))
    knot = knot_buffer(d, 0)
    solve_knot_velocities(d, knot, np.True_)
    assert read.largest_constraint_errors(d, knot) == pytest.approx((0.0, 0.0), abs=1e-12)
    pose, body = d.pose(knot, 1), d.body(1)
    set_pose(body, pose, tuple(np.add(pose.position, (0.0, 0.003, 0.0))), pose.orientation)
    body.delta_rotation = (0.0, 5.0, 0.2)  # about its axis, and across
    gap, slip = read.largest_constraint_errors(d, knot)
    assert gap == pytest.approx(0.003)
    assert slip == pytest.approx(0.2)


@pytest.mark.parametrize("height", [0.15, 0.098])
def test_contacts_are_read_where_they_are(height):
    sim = Simulator(ball(height), timestep=H)
    sim.reset(velocities={"ball:floating": (1.0, 0.0, 0.0, 0.0, 2.0, 0.0)})
    contacts = sim.contacts
    assert np.ravel(contacts.gap) == pytest.approx([height - 0.1])
    assert sim.metrics()["penetration"] == pytest.approx(max(0.1 - height, 0.0))
    d = data_of(sim)
    out = np.zeros((1, read.READ_CONTACT))
    body, pose = d.body(1), d.pose(knot_buffer(d, 0), 1)
    body.delta_position = (pose.velocity[0], 0.0, -0.7)  # what it approaches with is no slip
    body.delta_rotation = pose.angular_velocity
    d.contact(0).arm2 = (0.0, 0.0, -0.1)
    read.read_contacts(d, knot_buffer(d, 0), out, 0, 0)
    assert out[0, read.CONTACT_POINT : read.CONTACT_POINT + 3] == pytest.approx(
        (0.0, 0.0, height - 0.1)
    )
    assert out[0, read.CONTACT_NORMAL :] == pytest.approx((0.0, 0.0, 1.0))
    slip = pose.velocity[0] - 0.1 * pose.angular_velocity[1]
    assert out[0, read.CONTACT_SLIP] == pytest.approx(abs(slip))


def test_efforts_are_those_of_the_last_step():
    mech = slider(effort=5.0)
    mech.add_motor("rail", kp=10.0, kd=0.0)
    sim = Simulator(mech, timestep=H)
    sim.reset()
    sim.step(targets=[0.2])
    assert sim.actuator_torques == pytest.approx([data_of(sim).dof(0).last_motor_force])
    assert sim.actuator_torques[0] == pytest.approx(2.0, rel=1e-2)

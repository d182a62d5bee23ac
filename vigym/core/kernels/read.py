"""Reading kernel: poses, velocities, coordinates, energies, residuals, contacts at a knot."""

from typing import Any, NamedTuple

from vigym.core.body.pose import inertia_matrix
from vigym.core.body.potentials import sum_potential_energies
from vigym.core.compiler.kernel import entry, inline, phase
from vigym.core.compiler.lanes import write_column, write_vector
from vigym.core.compiler.simd import absolute, maximum, sqrt, where
from vigym.core.contact.at_knot import twice_contact_work
from vigym.core.contact.kinematics import contact_newton_increment
from vigym.core.contact.overlaps import touching_points_at_knot
from vigym.core.joint.bounded_forces import joint_has_bounded_forces
from vigym.core.joint.coordinates import stored_coordinate
from vigym.core.joint.geometry import (
    anchor_separation,
    position_closure,
    project_on_constrained_rotations,
    rotation_closure,
    stored_quaternion,
    translation_axis,
)
from vigym.core.kernels.groups import data_of_group, group_count
from vigym.core.kernels.knot_velocity import solve_knot_velocities
from vigym.core.kernels.read_tracks import read_tracks
from vigym.core.loop.constraints import (
    loop_newton_increment,
    point_spring_length,
    track_direction,
    unit_or_zero,
)
from vigym.core.loop.couplings import dof_rate_from_velocities
from vigym.core.loop.motions import knot_motion_work
from vigym.core.loop.tracks import start_tracks
from vigym.core.math.quaternions import quaternion_product, vector_part
from vigym.core.math.vectors import (
    add,
    axpy,
    cross,
    dot,
    mat_t_vec,
    mat_vec,
    max_abs3,
    scale,
    sub,
)
from vigym.core.model.context import (
    first_point_spring,
    joint_row,
    knot_buffer,
    point_spring_end,
    slide_row,
)
from vigym.core.tables.plan import NO_MOTOR, SKATE

# columns of a contact: its gap, force, own touching point, tangential velocity, normal
CONTACT_GAP = 0
CONTACT_FORCE = 1
CONTACT_POINT = 4
CONTACT_SLIP = 7
CONTACT_NORMAL = 8
READ_CONTACT = 11
# columns of an environment besides poses and coordinates
(
    READ_TIME,
    READ_KINETIC,
    READ_POTENTIAL,
    READ_WORK,
    READ_DISSIPATED,
    READ_GAP,
    READ_SLIP,
    READ_ABSOLUTE_WORK,
    READ_DEPTH,
    READ_SLIDING,
    READ_LOSS,
) = range(11)
READ_COUNT = 11
READ_BODY = 13  # columns of a body: position, orientation, velocity, angular velocity


class Energies(NamedTuple):
    """Energies of forces along degrees of freedom.

    Attributes:
        kinetic: of armatures [J].
        potential: of springs [J].
        dissipated: what dampers, limits and dry friction take in the half step up to the knot [J].
        work: of motors in that half step [J].
        power: that is lost at the knot [W].
    """

    kinetic: Any
    potential: Any
    dissipated: Any
    work: Any
    power: Any


@inline
def zero_energy_sums(d):
    """Start sums of energies at zero."""
    o = d.full(0.0)
    return Energies(o, o, o, o, o)


@inline
def add_energies(a, b):
    """Add the energies of two parts."""
    return Energies(
        a.kinetic + b.kinetic,
        a.potential + b.potential,
        a.dissipated + b.dissipated,
        a.work + b.work,
        a.power + b.power,
    )


@phase
def read_bodies(d, knot, out, first):
    """Read pose and knot velocity of each body; returns their (kinetic, potential) energy [J]."""
    kinetic, potential = d.full(0.0), d.full(0.0)
    g = d.environment.gravity
    for i in range(1, d.body_count):
        body, pose = d.body(i), d.pose(knot, i)
        x = pose.position
        q = pose.orientation
        mass = body.mass
        omega = body.delta_rotation
        v = sub(body.delta_position, cross(omega, pose.arm))
        w = mat_t_vec(pose.rotation, omega)
        turning = dot(w, mat_vec(inertia_matrix(body), w))
        kinetic = kinetic + 0.5 * (mass * dot(v, v) + turning)
        potential = potential - mass * dot(g, x)
        column = READ_BODY * (i - 1)
        write_vector(out, first, column, x)
        write_column(out, first, column + 3, q[0])
        write_vector(out, first, column + 4, vector_part(q))
        write_vector(out, first, column + 7, v)
        write_vector(out, first, column + 10, w)
    return kinetic, potential


@inline
def store_first_rate(d, dof, rate):
    """Write the rate that a degree of freedom starts with, before the first step.

    Of springs between points it is known once velocities are.
    """
    starts = ~(absolute(d.environment.step_size) > 0.0)
    dof.last_rate = where(starts, rate, dof.last_rate)


@inline
def add_dof_energies(d, i, dof, rate, s, sums):
    """Add the energies of a degree of freedom of joint i, at coordinate s."""
    body = d.body(i)
    kinetic, potential, lost, work, power = sums
    store_first_rate(d, dof, rate)
    stretch = s - dof.rest
    mean = 0.5 * (rate + dof.last_rate)
    damping = dof.damping * rate
    kinetic = kinetic + 0.5 * dof.armature * rate * rate
    potential = potential + 0.5 * dof.stiffness * stretch * stretch
    if body.has_rate_force > 0:
        lost = lost + 0.5 * d.environment.step_size * damping * mean
        power = power + damping * rate
    if joint_has_bounded_forces(body):
        motor, limit, friction = dof.affine_forces
        lost = lost - (limit + friction) * mean
        work = work + motor * mean
        power = power + absolute(dof.last_friction_force * rate)
    return Energies(kinetic, potential, lost, work, power)


@inline
def read_joint(d, i, knot, out, first, column):
    """Read coordinates and rates of joint i; returns its energies."""
    body = d.body(i)
    n, free = body.translation_count, body.rotation_count
    positions = column + body.first_position
    rates = column + d.position_count + body.first_velocity
    sums = zero_energy_sums(d)
    for j in range(n + free):
        rate, s = dof_rate_from_velocities(d, i, j, knot), stored_coordinate(d, i, j)
        sums = add_dof_energies(d, i, d.dof(body.first_dof + j), rate, s, sums)
        write_column(out, first, rates + j, rate)
        if j < n or free < 3:
            write_column(out, first, positions + j, s)
    if free == 3:
        stored = stored_quaternion(d, body.first_dof + n)
        q = quaternion_product(body.reference_quaternion, stored)
        write_column(out, first, positions + n, q[0])
        write_vector(out, first, positions + n + 1, vector_part(q))
    return sums


@inline
def add_point_spring_energies(d, loop, knot, sums):
    """Add the energies of a spring between two points."""
    dof = d.dof(d.body(loop).first_dof)
    along = unit_or_zero(anchor_separation(d, loop, knot))
    motion, _ = loop_newton_increment(d, loop, knot)
    rate = dot(along, motion)
    store_first_rate(d, dof, rate)
    mean = 0.5 * (rate + dof.last_rate)
    stretch = point_spring_length(d, loop, knot) - dof.rest
    damping = dof.damping * rate
    potential = sums.potential + 0.5 * dof.stiffness * stretch * stretch
    lost = sums.dissipated + 0.5 * d.environment.step_size * damping * mean
    power = sums.power + damping * rate
    return Energies(sums.kinetic, potential, lost, sums.work, power)


@inline
def add_slide_energies(d, loop, knot, sums):
    """Add the energies of a slide."""
    f, m = track_direction(d, loop, 0, knot)
    shift, rotation = loop_newton_increment(d, loop, knot)
    rate, s = dot(f, shift) + dot(m, rotation), stored_coordinate(d, loop, 0)
    own = add_dof_energies(d, loop, d.dof(d.body(loop).first_dof), rate, s, zero_energy_sums(d))
    return add_energies(sums, own)


@phase
def read_joints(d, knot, out, first, column):
    """Read coordinates and rates of all joints; returns the energies of joints and springs."""
    sums = zero_energy_sums(d)
    for joint in range(1, d.joint_count):
        own = read_joint(d, joint_row(d, joint), knot, out, first, column)
        sums = add_energies(sums, own)
    if d.loop_count > 0:
        for loop in range(first_point_spring(d), point_spring_end(d)):
            sums = add_point_spring_energies(d, loop, knot, sums)
    for k in range(d.slide_count):
        sums = add_slide_energies(d, slide_row(d, k), knot, sums)
    return sums


@phase
def largest_constraint_errors(d, knot):
    """Find the largest joint gap [m or rad] and constrained relative velocity [m/s or rad/s]."""
    gap, slip = d.full(0.0), d.full(0.0)
    for joint in range(1, d.joint_count):
        i = joint_row(d, joint)
        body = d.body(i)
        parent = d.body(body.parent)
        shift, lever = position_closure(d, i, knot)
        rotation = rotation_closure(d, i, knot)
        gap = maximum(gap, maximum(max_abs3(shift), max_abs3(rotation)))
        omega = parent.delta_rotation
        v = sub(body.delta_position, add(parent.delta_position, cross(omega, lever)))
        for j in range(body.translation_count):
            axis = translation_axis(d, i, j, knot)
            v = sub(v, scale(dot(axis, v), axis))
        turning = project_on_constrained_rotations(d, i, knot, sub(body.delta_rotation, omega))
        slip = maximum(slip, maximum(max_abs3(v), max_abs3(turning)))
    return gap, slip


@phase
def read_efforts(d, out, first, column):
    """Read the force of every actuator or motor in the last step [N or N m]."""
    for a in range(d.actuator_count):
        actuator = d.actuator(a)
        dof = d.dof(actuator.dof)
        effort = dof.last_torque
        if d.body(actuator.body).motor_kind != NO_MOTOR:
            effort = dof.last_motor_force
        write_column(out, first, column + a, effort)


def skip_contacts_read(d, knot, out, first, column):
    """Replace ``read_contacts`` where a mechanism has none."""
    o = d.full(0.0)
    return o, o, o, o


@phase(needs="contacts", otherwise=skip_contacts_read)
def read_contacts(d, knot, out, first, column):
    """Read gap, last force, own point, tangential velocity and normal of every contact.

    Returns (deepest penetration [m], fastest slip of one that has a force [m/s], what contacts take
    in the half step up to the knot [J], and at it [W]).
    """
    depth = d.full(0.0)
    sliding = d.full(0.0)
    lost, power = d.full(0.0), d.full(0.0)
    for c in range(d.contact_count):
        contact = d.contact(c)
        gap, normal, arm, _ = touching_points_at_knot(d, contact, knot)
        motion = contact_newton_increment(d, contact, contact.arm2, contact.partner_arm2)
        slide = axpy(-dot(normal, motion), normal, motion)
        slip = sqrt(dot(slide, slide))
        force = contact.last_world_force
        write_column(out, first, column + CONTACT_GAP, gap)
        write_vector(out, first, column + CONTACT_FORCE, force)
        point = add(d.pose(knot, contact.body).position, arm)
        write_vector(out, first, column + CONTACT_POINT, point)
        write_column(out, first, column + CONTACT_SLIP, slip)
        write_vector(out, first, column + CONTACT_NORMAL, normal)
        column += READ_CONTACT
        if contact.kind < SKATE:
            depth = maximum(depth, -gap)
            sliding = maximum(sliding, where(contact.last_force[0] > 0.0, slip, 0.0))
        if contact.active.any():
            work = twice_contact_work(d, contact, knot, motion)
            lost = lost - where(contact.active, 0.5 * work, 0.0)
        power = power - dot(force, slide)
    return maximum(depth, 0.0), sliding, lost, power


@phase
def write_group_readings(d, out, first):
    """Read a lane group at its present knot, one row of ``out`` per environment."""
    knot, environment = knot_buffer(d, 0), d.environment
    solve_knot_velocities(d, knot, d.full(True))
    column = READ_BODY * (d.body_count - 1)
    kinetic, potential = read_bodies(d, knot, out, first)
    sums = read_joints(d, knot, out, first, column)
    if d.potential_count > 0:
        potential = potential + sum_potential_energies(d, knot)
    gap, slip = largest_constraint_errors(d, knot)
    if d.track_count > 0:
        gap = maximum(gap, start_tracks(d, knot, d.full(True)))
    column += d.position_count + d.velocity_count
    contacts = column + READ_COUNT
    depth, sliding, taken, rubbed = read_contacts(d, knot, out, first, contacts)
    dissipated = environment.dissipated + sums.dissipated + taken
    write_column(out, first, column + READ_TIME, environment.time)
    write_column(out, first, column + READ_KINETIC, kinetic + sums.kinetic)
    write_column(out, first, column + READ_POTENTIAL, potential + sums.potential)
    work = environment.work + sums.work
    if d.motion_count > 0:
        work = work + knot_motion_work(d, knot)
    write_column(out, first, column + READ_WORK, work)
    write_column(out, first, column + READ_DISSIPATED, dissipated)
    write_column(out, first, column + READ_GAP, gap)
    write_column(out, first, column + READ_SLIP, slip)
    write_column(out, first, column + READ_ABSOLUTE_WORK, environment.absolute_work)
    write_column(out, first, column + READ_DEPTH, depth)
    write_column(out, first, column + READ_SLIDING, sliding)
    write_column(out, first, column + READ_LOSS, sums.power + rubbed)
    efforts = contacts + READ_CONTACT * d.contact_count
    read_efforts(d, out, first, efforts)
    read_tracks(d, knot, out, first, efforts + d.actuator_count)


@entry
def read(plan, model, state, work, features, batch, out, model_stride):
    """Read one environment, or all of a batch."""
    for g in range(group_count(batch, out.shape[0])):
        d = data_of_group(plan, model, state, work, g, model_stride, features, batch)
        write_group_readings(d, out, g * d.lane_count)

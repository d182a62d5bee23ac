"""Reset kernels: start states from joint coordinates and rates, or from poses."""

import math

from vigym.core.body.pose import (
    max_angular_speed,
    set_motion_from_knot,
    set_pose,
    update_derived,
)
from vigym.core.body.wrenches import clear_wrenches
from vigym.core.compiler.kernel import entry, inline, phase
from vigym.core.compiler.lanes import cosine_sine, max_over_body_lanes, read_column, rounded
from vigym.core.compiler.simd import absolute, sqrt, where
from vigym.core.joint.coordinates import store_all_coordinates, stored_coordinate
from vigym.core.joint.geometry import rotation_axis, translation_axis
from vigym.core.kernels.groups import data_of_group, group_count
from vigym.core.loop.constraints import (
    store_point_spring_lengths,
    update_loop_anchors,
    update_loop_axis_and_motion,
)
from vigym.core.loop.couplings import dof_rate_from_velocities
from vigym.core.loop.motions import start_motions
from vigym.core.loop.tracks import start_places
from vigym.core.math.quaternions import conjugate, quaternion_product, rotation_matrix
from vigym.core.math.vectors import add, cross, mat_t_vec, mat_vec, scale, sub, zero3
from vigym.core.model.context import (
    first_point_spring,
    joint_row,
    knot_buffer,
    occupied_lanes,
    point_spring_end,
    slide_row,
)
from vigym.core.model.layout import KNOT_BUFFERS
from vigym.core.model.saved import restore_state, save_state


@inline
def rotation_about(axis, angle):
    """Make the quaternion of a rotation by ``angle`` [rad] about a unit axis."""
    c, s = cosine_sine(0.5 * angle)
    return c, s * axis[0], s * axis[1], s * axis[2]


@inline
def read_quaternion(positions, first, column, like):
    """Read four columns (w, x, y, z) of the caller's coordinates."""
    return (
        read_column(positions, first, column, like),
        read_column(positions, first, column + 1, like),
        read_column(positions, first, column + 2, like),
        read_column(positions, first, column + 3, like),
    )


@inline
def unit_quaternion(q):
    """Scale a quaternion to length one."""
    s = 1.0 / sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    return s * q[0], s * q[1], s * q[2], s * q[3]


@inline
def joint_rotation(d, i, positions, first):
    """Find q_a^-1 q_b, child in parent, from the joint's rotational coordinates."""
    o = d.full(0.0)
    body = d.body(i)
    column = body.first_position + body.translation_count
    offset, free = body.joint_orientation, body.rotation_count
    if free == 0:
        return offset
    if free == 3:
        q = read_quaternion(positions, first, column, o)
        return quaternion_product(
            offset, quaternion_product(conjugate(body.reference_quaternion), q)
        )
    a = read_column(positions, first, column, o)
    if free == 1:
        return quaternion_product(offset, rotation_about(body.child_axis, a))
    b = read_column(positions, first, column + 1, o)
    return quaternion_product(
        quaternion_product(rotation_about(body.parent_axis, a), offset),
        rotation_about(body.child_axis, b),
    )


@phase
def forward_kinematics(d, knot, positions, first):
    """Write the poses of all bodies from joint coordinates, root to leaves."""
    o = d.full(0.0)
    for i in range(1, d.body_count):
        body = d.body(i)
        parent = d.pose(knot, body.parent)
        q = quaternion_product(parent.orientation, joint_rotation(d, i, positions, first))
        q = unit_quaternion(q)
        offset, axes = body.parent_anchor, body.translation_axes
        for j in range(body.translation_count):
            s = read_column(positions, first, body.first_position + j, o)
            offset = add(offset, scale(s, (axes[3 * j], axes[3 * j + 1], axes[3 * j + 2])))
        anchor = add(parent.position, mat_vec(parent.rotation, offset))
        position = sub(anchor, mat_vec(rotation_matrix(q), body.child_anchor))
        set_pose(body, d.pose(knot, i), position, q)


@phase
def set_body_velocities(d, knot, velocities, first):
    """Write the knot velocities of all bodies from joint velocities, root to leaves."""
    one = d.full(1.0)
    for i in range(1, d.body_count):
        body, pose = d.body(i), d.pose(knot, i)
        parent = d.pose(knot, body.parent)
        n, column = body.translation_count, body.first_velocity
        omega = mat_vec(parent.rotation, parent.angular_velocity)
        v = add(parent.velocity, cross(omega, sub(pose.anchor, parent.position)))
        for j in range(n):
            rate = read_column(velocities, first, column + j, one)
            v = add(v, scale(rate, translation_axis(d, i, j, knot)))
        for j in range(body.rotation_count):
            rate = read_column(velocities, first, column + n + j, one)
            omega = add(omega, scale(rate, rotation_axis(d, i, j, knot)))
        pose.velocity = sub(v, cross(omega, pose.arm))
        pose.angular_velocity = mat_t_vec(pose.rotation, omega)
        pose.cosine = 1.0


@phase(needs="loops")
def start_closing_rates(d, knot):
    """Write the rates that loop-closing joints start with, from the velocities of the bodies."""
    set_motion_from_knot(d, knot)
    update_loop_axis_and_motion(d, knot)
    for i in range(d.first_loop, first_point_spring(d)):
        body = d.body(i)
        for j in range(body.translation_count + body.rotation_count):
            dof = d.dof(body.first_dof + j)
            rate = dof_rate_from_velocities(d, i, j, knot)
            dof.last_momentum_rate = rate
            dof.last_rate = rate


@inline
def clear_environment(d):
    """Set time, step sizes, energies and rotation since turns were counted to zero.

    The largest angular speed is that of the given velocities.
    """
    o, environment = d.full(0.0), d.environment
    environment.time = 0.0
    environment.step_size = 0.0
    environment.previous_step_size = 0.0
    environment.history = 0.0
    environment.missed_starts = 0.0
    environment.interior_steps = 0.0
    environment.unpolished = False
    environment.held_steps = 0.0
    environment.last_held_steps = 0.0
    environment.releases = False
    environment.rebound_energy = 0.0
    environment.dissipated = 0.0
    environment.work = 0.0
    environment.absolute_work = 0.0
    rate = max_angular_speed(d.wide, knot_buffer(d, 0))
    environment.angular_speed = max_over_body_lanes(rate, o)
    environment.swept = 0.0
    environment.whole_step_size = 0.0
    environment.first_part = 1.0
    environment.calm_steps = 0.0
    environment.calm_steps_needed = 0.0


@inline
def clear_dofs(d):
    """Set torques, rates and forces of the last step to zero."""
    for p in range(d.dof_count):
        dof = d.dof(p)
        dof.last_torque = 0.0
        dof.last_rate = 0.0
        dof.slow_rate = 0.0
        dof.last_spring_force = 0.0
        dof.last_motor_force = 0.0
        dof.last_limit_force = 0.0
        dof.last_friction_force = 0.0
        dof.last_target = 0.0


@inline
def clear_constraint_forces(d):
    """Set multipliers of loops and forces of contacts to zero."""
    for r in range(d.loop_row_count):
        loop_row = d.loop_row(r)
        loop_row.last_multiplier = 0.0
    for c in range(d.contact_count):
        contact = d.contact(c)
        contact.last_force = (0.0, 0.0, 0.0, 0.0)
        contact.rebound_velocity = 0.0
        contact.last_world_force = zero3(d)


@phase
def clear_history(d, velocities, first):
    """Clear the history of steps; set the joint rates to those given."""
    o = d.full(0.0)
    clear_environment(d)
    clear_dofs(d)
    clear_constraint_forces(d)
    clear_wrenches(d)
    for back in range(1, KNOT_BUFFERS):
        knot = knot_buffer(d, back)
        for i in range(1, d.body_count):
            pose = d.pose(knot, i)
            pose.velocity = zero3(d)
            pose.angular_velocity = zero3(d)
            pose.cosine = 1.0
    for joint in range(1, d.joint_count):
        body = d.body(joint_row(d, joint))
        for j in range(body.translation_count + body.rotation_count):
            dof = d.dof(body.first_dof + j)
            rate = read_column(velocities, first, body.first_velocity + j, o)
            dof.last_momentum_rate = rate
            dof.last_rate = rate


@phase
def count_turns_of_angles(d, positions, first):
    """Count the full turns of given angles beyond the arctangent's range; of NaN none."""
    o = d.full(0.0)
    for joint in range(1, d.joint_count):
        i = joint_row(d, joint)
        body = d.body(i)
        n, free = body.translation_count, body.rotation_count
        for j in range(n, n + free if free < 3 else n):
            dof = d.dof(body.first_dof + j)
            dof.turns = 0.0
            angle = stored_coordinate(d, i, j)
            given = read_column(positions, first, body.first_position + j, o)
            given = where(absolute(given) >= 0.0, given, 0.0)
            turns = rounded((given - angle) / (2.0 * math.pi))
            dof.turns = turns / (3.0 - free)


@inline
def start_spring(d, i):
    """Write the forces of the springs of joint i at its coordinates."""
    body = d.body(i)
    if body.has_spring > 0:
        for j in range(body.translation_count + body.rotation_count):
            dof = d.dof(body.first_dof + j)
            dof.last_spring_force = dof.stiffness * (stored_coordinate(d, i, j) - dof.rest)


@phase
def start_springs(d):
    """Write the forces that springs start with: their energy explains later gains."""
    for joint in range(1, d.joint_count):
        start_spring(d, joint_row(d, joint))
    for k in range(d.slide_count):
        start_spring(d, slide_row(d, k))
    if d.loop_count > 0:
        for loop in range(first_point_spring(d), point_spring_end(d)):
            dof = d.dof(d.body(loop).first_dof)
            dof.last_spring_force = dof.stiffness * (dof.sine - dof.rest)


@phase
def reset_group(d, positions, velocities, first, lanes):
    """Start the lanes afresh from joint coordinates and velocities."""
    save_state(d)
    knot = knot_buffer(d, 0)
    forward_kinematics(d, knot, positions, first)
    set_body_velocities(d, knot, velocities, first)
    update_loop_anchors(d, knot)
    clear_history(d, velocities, first)
    start_closing_rates(d, knot)
    start_places(d, d.full(True))
    store_all_coordinates(d, knot, d.full(True))
    store_point_spring_lengths(d, knot, d.full(True))
    count_turns_of_angles(d, positions, first)
    start_motions(d, velocities, first)
    start_springs(d)
    others = ~lanes
    if others.any():
        restore_state(d, d.wide.full(others))


@entry
def reset(plan, model, state, work, features, batch, positions, velocities, mask, model_stride):
    """Reset the environments whose mask (environments, 1) is 1."""
    for g in range(group_count(batch, mask.shape[0])):
        d = data_of_group(plan, model, state, work, g, model_stride, features, batch)
        first = g * d.lane_count
        selected = read_column(mask, first, 0, d.full(0.0))
        lanes = (selected > 0.0) & occupied_lanes(d, first, mask.shape[0])
        if lanes.any():
            reset_group(d, positions, velocities, first, lanes)


@entry
def update_all_derived(plan, model, state, work, features, batch, groups, model_stride):
    """Update values derived from restored poses in every lane group."""
    for g in range(groups):
        d = data_of_group(plan, model, state, work, g, model_stride, features, batch)
        knot = knot_buffer(d, 0)
        update_derived(d.wide, knot)
        update_loop_anchors(d, knot)

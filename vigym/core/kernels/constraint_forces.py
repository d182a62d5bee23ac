"""Constraint force kernel: the multipliers that the elimination did not need, from the motion.

They are recovered for the last step.
"""

from vigym.core.body.dynamics import (
    assemble_body_blocks,
    body_residuals,
    write_history_wrenches_of_step,
)
from vigym.core.body.potentials import add_potential_forces
from vigym.core.body.wrenches import add_last_wrenches
from vigym.core.compiler.kernel import entry, inline, phase
from vigym.core.compiler.lanes import write_column, write_vector
from vigym.core.compiler.simd import absolute, where
from vigym.core.contact.overlaps import touching_points_at_knot
from vigym.core.contact.segment_box import is_pair
from vigym.core.joint.geometry import project_on_constrained_rotations, translation_axis
from vigym.core.kernels.groups import data_of_group, group_count
from vigym.core.loop.constraints import add_wrench, loop_constraint_wrench, subtract_loop_forces
from vigym.core.loop.tracks import start_tracks
from vigym.core.loop.velocity_rows import subtract_velocity_row_forces
from vigym.core.math.quaternions import vector_part
from vigym.core.math.vectors import add, axpy, cross, dot, scale, select3, sub, zero3
from vigym.core.model.context import joint_row, knot_buffer, knot_weight
from vigym.core.tree.ldu import sum_joint_closures


@inline
def write_wrench(d, share, f, tau, out, first, column):
    """Write ``share`` times a wrench, zero where the share is."""
    o, made = zero3(d), absolute(share)
    f, tau = scale(share, f), scale(share, tau)
    write_vector(out, first, column, select3(made > 0.0, f, o))
    write_vector(out, first, column + 3, select3(made > 0.0, tau, o))


@inline
def write_joint_constraint_wrench(d, i, knot, share, out, first):
    """Write ``share`` times the constraint wrench of joint i, about its anchor.

    It is that of its body without the parts along the joint's degrees of freedom.
    """
    body = d.body(i)
    f = body.force
    for j in range(body.translation_count):
        axis = translation_axis(d, i, j, knot)
        f = sub(f, scale(dot(axis, f), axis))
    tau = project_on_constrained_rotations(d, i, knot, body.torque)
    write_wrench(d, share, f, tau, out, first, 6 * (i - 1))


@phase(needs="contacts")
def subtract_contact_forces(d, knot2, h, h0):
    """Subtract the contact forces of the last step from the wrenches of the bodies."""
    weight = where(absolute(h) > 0.0, knot_weight(h0 / h), 0.0)
    for c in range(d.contact_count):
        contact = d.contact(c)
        force = contact.last_world_force
        _, normal, arm, partner_arm = touching_points_at_knot(d, contact, knot2)
        arm = sub(arm, d.pose(knot2, contact.body).arm)
        spin = contact.torsional_friction * contact.last_force[3]
        torque = axpy(spin, normal, cross(arm, force))
        add_wrench(d.body(contact.body), -weight, force, torque)
        if is_pair(contact):
            arm = sub(partner_arm, d.pose(knot2, contact.partner).arm)
            add_wrench(d.body(contact.partner), weight, force, cross(arm, force))


@inline
def assemble_balanced_wrenches(d, knot2, knot3, h, h0):
    """Assemble the wrenches that joint forces balance at the first knot of the step."""
    w = d.wide
    sum_joint_closures(d, knot3)
    write_history_wrenches_of_step(w, knot2, w.full(h), w.full(h0 / h))
    add_last_wrenches(d)
    add_potential_forces(d, knot2, h0 / h)
    assemble_body_blocks(w, knot2, knot3, w.full(h))
    body_residuals(w, knot2, knot3, w.full(h))
    start_tracks(d, knot2, d.full(True))
    subtract_loop_forces(d, knot2)
    subtract_velocity_row_forces(d, knot2)
    subtract_contact_forces(d, knot2, h, h0)


@inline
def add_wrench_to_parent(d, i, knot):
    """Add the wrench of body i to that of its parent, about the parent's anchor."""
    body = d.body(i)
    parent = d.body(body.parent)
    lever = sub(d.pose(knot, i).anchor, d.pose(knot, body.parent).anchor)
    f, tau = body.force, body.torque
    parent.force = add(parent.force, f)
    parent.torque = add(parent.torque, add(tau, cross(lever, f)))


@inline
def write_poses(d, knot, out, first, column):
    """Write position and orientation of every body."""
    for i in range(1, d.body_count):
        pose = d.pose(knot, i)
        q = pose.orientation
        at = column + 7 * (i - 1)
        write_vector(out, first, at, pose.position)
        write_column(out, first, at + 3, q[0])
        write_vector(out, first, at + 4, vector_part(q))


@phase
def constraint_forces_of_group(d, out, first):
    """Find the constraint forces at the first knot of the last step, and the poses there.

    The bodies' own wrenches are summed from the leaves to the root. h G^T lam is the impulse at
    that knot, which stands for half of the last step and half of the one before, h0; the force is
    the impulse over (h + h0)/2. It is zero before the first step.
    """
    knot2, knot3 = knot_buffer(d, 1), knot_buffer(d, 0)
    h, h0 = d.environment.step_size, d.environment.previous_step_size
    share = where(absolute(h) > 0.0, 2.0 * h / (h + h0), 0.0)
    assemble_balanced_wrenches(d, knot2, knot3, h, h0)
    for i in range(d.body_count - 1, 0, -1):
        write_joint_constraint_wrench(d, i, knot2, share, out, first)
        add_wrench_to_parent(d, i, knot2)
    for joint in range(d.body_count, d.joint_count):
        f, tau = loop_constraint_wrench(d, joint_row(d, joint), knot2)
        write_wrench(d, share, f, tau, out, first, 6 * (joint - 1))
    write_poses(d, knot2, out, first, 6 * (d.joint_count - 1))


@entry
def constraint_forces(plan, model, state, work, features, batch, out, model_stride):
    """Recover the constraint forces of one environment, or of all of a batch."""
    for g in range(group_count(batch, out.shape[0])):
        d = data_of_group(plan, model, state, work, g, model_stride, features, batch)
        constraint_forces_of_group(d, out, g * d.lane_count)

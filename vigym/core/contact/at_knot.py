"""Contacts at a knot alone, for its velocities: which touch there, their frames and forces."""

from vigym.core.body.correction import gap_of_deepest_contact, set_depths
from vigym.core.compiler.kernel import inline, phase, zero
from vigym.core.compiler.simd import absolute, where
from vigym.core.contact.assembly import contact_wrench
from vigym.core.contact.kinematics import (
    contact_newton_increment,
    mark_active_pair_lanes,
    set_contact_frame,
    touching_velocity,
)
from vigym.core.contact.laws.no_slip import (
    find_gripping_lanes,
    is_nonholonomic,
    no_slip_point,
    set_no_slip_directions,
)
from vigym.core.contact.overlaps import find_released_lanes, touching_points_at_knot
from vigym.core.contact.segment_box import is_pair
from vigym.core.contact.terrain.planes import is_on_plane
from vigym.core.math.vectors import add, axpy, cross, dot, mat_vec, scale, sub, zero3
from vigym.core.model.context import knot_buffer

CLOSED_GAP = 1e-6  # [m] gap of a contact that touches at a knot


@inline
def contact_was_loaded(d, contact, gap):
    """Find the lanes in which a contact was loaded in the step to a knot: force outweighs the gap.

    The gap that the interior point leaves grows with the square of the step; where a contact opens,
    force and gap change roles.
    """
    h1 = d.environment.step_size
    return h1 * h1 * contact.last_force[0] > contact.effective_mass * gap


@inline
def extrapolate_branch_velocity(d, contact, knot, normal):
    """Extrapolate the velocity by which a law first chooses open, stick or slip, from two steps.

    Rebounds of a start are due at the knot, others in the step that follows.
    """
    o = d.full(0.0)
    rebound = where(absolute(d.environment.step_size) > 0.0, 0.0, contact.rebound_velocity)
    normal_velocity, velocity, spin = touching_velocity(d, contact, knot, knot)
    _, before, _ = touching_velocity(d, contact, knot, knot_buffer(d, 1))
    change = sub(velocity, before)  # of the slip from step to step; half of it is made at the knot
    slip_change = sub(change, scale(dot(normal, change), normal))
    seen = axpy(o + 0.5, slip_change, velocity)
    contact.velocity_seen = (normal_velocity, seen[0], seen[1], seen[2], spin)
    contact.velocity = (-rebound, 0.0, 0.0, 0.0, 0.0)


@inline
def set_contact_at_knot(d, contact, knot, share):
    """Set frame, force and activity of a contact at a knot, see ``start_contacts_at_knot``."""
    o = d.full(0.0)
    gap, normal, arm, partner_arm = touching_points_at_knot(d, contact, knot)
    contact.active = is_on_plane(d, contact)
    last = contact.last_force
    force = share * last[0], share * last[1], share * last[2], share * last[3]
    contact.anchor_force = force
    contact.force = force
    set_contact_frame(d, contact, knot, gap, arm, partner_arm, normal)
    contact.arm_lowest = contact.arm2
    contact.normal3 = contact.normal2
    contact.slip_slope_1 = cross(contact.arm2, contact.tangent_1)
    contact.slip_slope_2 = cross(contact.arm2, contact.tangent_2)
    if is_pair(contact):
        contact.partner_arm_lowest = contact.partner_arm2
        contact.partner_slip_slope_1 = cross(contact.partner_arm2, contact.tangent_1)
        contact.partner_slip_slope_2 = cross(contact.partner_arm2, contact.tangent_2)
    extrapolate_branch_velocity(d, contact, knot, normal)
    if is_nonholonomic(contact):
        pose, rest = d.pose(knot, contact.body), zero3(d)
        contact.arm_touching = sub(mat_vec(pose.rotation, no_slip_point(contact)), pose.arm)
        set_no_slip_directions(d, contact, pose.rotation, normal, rest, (o + 1.0, rest))


@inline
def find_active_lanes(d, contact, touching):
    """Set the lanes in which a contact is active at a knot: it touches, or was loaded.

    Only lanes of ``touching`` have contacts, but skates and wheels act in all lanes. Of a body
    below the ground only the deepest contacts touch.
    """
    if is_nonholonomic(contact):
        contact.active = find_gripping_lanes(d, contact, contact.gap2)
    else:
        gap = contact.gap2
        above_least = gap - gap_of_deepest_contact(d, contact, where(gap > 0.0, 0.0, gap))
        closed = above_least < CLOSED_GAP
        closed = closed | contact_was_loaded(d, contact, above_least)
        contact.active = contact.active & closed & touching
        if is_pair(contact):
            contact.active = contact.active & ~find_released_lanes(d, contact)


@phase(needs="contacts")
def start_contacts_at_knot(d, knot, share, touching):
    """Set the contacts at a knot, for its velocities: touching contacts are active, at rest yet.

    Their forces start as ``share`` of the last step's, and their laws choose by velocities that are
    extrapolated from the last two. Only the lanes ``touching`` have contacts.
    """
    for c in range(d.contact_count):
        set_contact_at_knot(d, d.contact(c), knot, share)
    set_depths(d)
    for c in range(d.contact_count):
        find_active_lanes(d, d.contact(c), touching)
    mark_active_pair_lanes(d)


@inline
def twice_contact_work(d, contact, knot, motion):
    """Compute twice the work of a contact's impulse in the half step up to the knot [J].

    ``motion`` is the velocity of the touching points at the knot [m/s].
    """
    impulse = contact.affine_force
    rotation = d.body(contact.body).delta_rotation
    force, _ = contact_wrench(contact, impulse)
    _, velocity, spin = touching_velocity(d, contact, knot, knot)
    turning = spin + dot(contact.normal2, rotation)
    return dot(force, add(velocity, motion)) + contact.torsional_friction * impulse[3] * turning


@phase(needs="contacts", otherwise=zero)
def work_of_contacts_at_knot(d, knot):
    """Sum the work of the contacts' impulses in the half step up to the knot [J]."""
    o = d.full(0.0)
    total = o
    for c in range(d.contact_count):
        contact = d.contact(c)
        if contact.active.any():
            motion = contact_newton_increment(d, contact, contact.arm2, contact.partner_arm2)
            work = twice_contact_work(d, contact, knot, motion)
            total = total + where(contact.active, 0.5 * work, 0.0)
    return total

"""Contacts at a knot alone, for its velocities: which touch there, their frames and forces."""

from vigym.core.compiler.kernel import inline, phase
from vigym.core.compiler.lanes import above, both, but_not
from vigym.core.compiler.simd import maximum
from vigym.core.contact.kinematics import (
    mark_active_pair_lanes,
    set_contact_frame,
    touching_velocity,
)
from vigym.core.contact.laws.no_slip import is_nonholonomic, no_slip_point, set_no_slip_directions
from vigym.core.contact.overlaps import find_released_lanes, touching_points_at_knot
from vigym.core.contact.segment_box import is_pair
from vigym.core.contact.terrain.planes import is_on_plane
from vigym.core.math.vectors import axpy, cross, dot, mat_vec, scale, sub, zero3
from vigym.core.model.context import knot_buffer
from vigym.core.model.tables.plan import SKATE

CLOSED_GAP = 1e-6  # [m] gap of a contact that touches at a knot


@inline
def contact_was_loaded(d, contact, gap):
    """Find the lanes in which a contact was loaded in the step to a knot: force outweighs the gap.

    The gap that the interior point leaves grows with the square of the step; where a contact opens,
    force and gap change roles.
    """
    h1 = d.environment.step_size
    return above(h1 * h1 * contact.last_force[0], contact.effective_mass * gap)


@inline
def extrapolate_branch_velocity(d, contact, knot, normal):
    """Extrapolate the velocity by which a law first chooses open, stick or slip, from two steps."""
    o = d.full(0.0)
    normal_velocity, velocity, spin = touching_velocity(d, contact, knot, knot)
    _, before, _ = touching_velocity(d, contact, knot, knot_buffer(d, 1))
    change = sub(velocity, before)  # of the slip from step to step; half of it is made at the knot
    slip_change = sub(change, scale(dot(normal, change), normal))
    seen = axpy(o + 0.5, slip_change, velocity)
    contact.velocity_seen = (normal_velocity, seen[0], seen[1], seen[2], spin)
    contact.velocity = (o, o, o, o, o)


@inline
def set_contact_at_knot(d, contact, knot, share):
    """Set frame, force and activity of a contact at a knot, see ``start_contacts_at_knot``."""
    o = d.full(0.0)
    gap, normal, arm, partner_arm = touching_points_at_knot(d, contact, knot)
    closed = maximum(above(d.full(CLOSED_GAP), gap), contact_was_loaded(d, contact, gap))
    active = both(both(above(share, o), closed), is_on_plane(d, contact))
    contact.active = active if contact.kind < SKATE else o + 1.0
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
        contact.active = but_not(contact.active, find_released_lanes(d, contact))
        contact.partner_arm_lowest = contact.partner_arm2
        contact.partner_slip_slope_1 = cross(contact.partner_arm2, contact.tangent_1)
        contact.partner_slip_slope_2 = cross(contact.partner_arm2, contact.tangent_2)
    extrapolate_branch_velocity(d, contact, knot, normal)
    if is_nonholonomic(contact):
        pose, rest = d.pose(knot, contact.body), zero3(d)
        contact.arm_touching = sub(mat_vec(pose.rotation, no_slip_point(contact)), pose.arm)
        set_no_slip_directions(d, contact, pose.rotation, normal, rest, (o + 1.0, rest))


@phase(needs="contacts")
def start_contacts_at_knot(d, knot, share):
    """Set the contacts at a knot, for its velocities: those that touch are active, at rest yet.

    Their forces start as ``share`` of the last step's, and their laws choose by velocities that are
    extrapolated from the last two; before the first step there are none.
    """
    for c in range(d.contact_count):
        set_contact_at_knot(d, d.contact(c), knot, share)
    mark_active_pair_lanes(d)

"""Motion of contacts: which are active at knot 2, how they move to knot 3, and their velocities."""

from vigym.core.body.correction import (
    find_gap_target,
    free_fall_acceleration,
    gap_of_deepest_contact,
    set_gap_targets,
)
from vigym.core.body.pose import mean_rotation_rate
from vigym.core.compiler.kernel import inline, phase
from vigym.core.compiler.simd import absolute, where
from vigym.core.contact.laws.no_slip import (
    change_of_no_slip_velocity,
    find_gripping_lanes,
    is_nonholonomic,
    no_slip_point,
    set_no_slip_directions,
)
from vigym.core.contact.laws.projection_law import set_slopes
from vigym.core.contact.overlaps import (
    find_released_lanes,
    half_overlap,
    touching_points_at_knot2,
    touching_points_at_knot3,
)
from vigym.core.contact.plane import (
    limit_rim_turn,
    plane_gap,
    plane_tangents,
    rim_point_without_roll,
)
from vigym.core.contact.rolling import (
    evaluate_pair_slip,
    evaluate_slip,
    partner_slip_change,
    slip_change,
)
from vigym.core.contact.segment_box import (
    MAX_SLIDE,
    bounding_gap,
    is_pair,
    pair_tangents,
    segment_parameter,
)
from vigym.core.contact.terrain.planes import find_planes, is_on_plane
from vigym.core.math.vectors import add, axpy, cross, dot, mat_t_vec, mat_vec, scale, sub
from vigym.core.tables.plan import (
    ALIGNED,
    PAIR_HEAD_CONTACT,
    PAIR_TAIL_CONTACT,
    RIM_CONTACT,
)

ACTIVE_STEPS = 4.0  # a contact is active whose approach and fall close the gap in so many steps


@phase(needs="contacts")
def mark_active_pair_lanes(d):
    """Update the lanes in which any contact of two bodies is active: others skip loop rows."""
    if d.contact_row_count > 0:
        active = d.full(False)
        for c in range(d.contact_count):
            contact = d.contact(c)
            if is_pair(contact):
                active = active | contact.active
        environment = d.environment
        environment.any_active = active


@phase(needs="contacts")
def deactivate_pair_contacts(d):
    """Make every contact of two bodies inactive."""
    for c in range(d.contact_count):
        contact = d.contact(c)
        if is_pair(contact):
            contact.active = False
    mark_active_pair_lanes(d)


@inline
def coincides_with_nearest_contact(d, contact):
    """Find the lanes in which the nearest point is active and close to this end of the range."""
    before = 1 if contact.kind == PAIR_HEAD_CONTACT else 2
    nearest = d.contact(contact.index - before)
    distance = absolute(contact.segment_parameter - nearest.segment_parameter)
    return nearest.active & (distance < MAX_SLIDE)


@inline
def detect_contact(d, contact, knot2, h, fall, place, candidates):
    """Put a contact in its place at knot 2; find the lanes of the candidates in which it is active.

    ``fall`` is the distance that a step of free fall adds [m].
    """
    last = contact.last_force
    gap, speed = place_contact(d, contact, knot2, h, place)
    reached = absolute(h * speed) * ACTIVE_STEPS + ACTIVE_STEPS * fall > gap
    active = where(last[0] > 0.0, candidates, candidates & reached)
    if PAIR_HEAD_CONTACT <= contact.kind <= PAIR_TAIL_CONTACT:
        active = where(last[0] > 0.0, active, active & ~coincides_with_nearest_contact(d, contact))
    return active & is_on_plane(d, contact)


@inline
def start_contact(d, contact):
    """Make a contact inactive; its first force is the force of the last step."""
    last = contact.last_force
    contact.active = False
    contact.branch = 0.0
    contact.branch_turns = 0.0
    contact.slip_turns = 0.0
    contact.anchor_force = last
    contact.force = last


@phase(needs="packs")
def detect_aligned_contacts(d, knot2, h, fall):
    """Detect the active contacts among those that lie in the lanes of their bodies.

    The others have no forces and slopes: whole blocks are added to the equations.
    """
    w = d.wide
    o = w.full(0.0)
    wide_h, wide_fall = w.full(h), w.full(fall)
    for block in range(d.aligned_block_count):
        contact = w.aligned_contact(block)
        start_contact(w, contact)
        contact.affine_force = (0.0, 0.0, 0.0, 0.0)
        set_slopes(contact, (o, o, o, o), (o, o, o, o))
        contact.slope_21 = 0.0
        contact.active = detect_contact(w, contact, knot2, wide_h, wide_fall, o, w.full(True))


@phase(needs="contacts")
def detect_contacts(d, knot2, h, lanes):
    """Detect the active contacts at knot 2; their first forces are the last step's.

    Contacts of two bodies stay where they were solved in the other lanes: their work is still to
    be summed.
    """
    fall = free_fall_acceleration(d) * (h * h)
    detect_aligned_contacts(d, knot2, h, fall)
    for c in range(d.first_unaligned_contact, d.contact_count):
        contact = d.contact(c)
        if contact.membership < ALIGNED:
            start_contact(d, contact)
            last = contact.last_force
            candidates = d.full(True)
            # shapes farther apart than they reach are left to ``activate_missed_contacts``
            if is_pair(contact):
                close = contact.reach > bounding_gap(d, contact, knot2)
                candidates = where(last[0] > 0.0, candidates, close)
            find_planes(d, contact, knot2, lanes)
            if candidates.any():
                there = segment_parameter(d, contact, knot2)
                place = where(lanes, there, contact.segment_parameter)
                active = detect_contact(d, contact, knot2, h, fall, place, candidates)
                if is_pair(contact):
                    active = active & ~find_released_lanes(d, contact)
                if is_nonholonomic(contact):
                    active = find_gripping_lanes(d, contact, contact.gap2)
                contact.active = active
    set_gap_targets(d, h)
    mark_active_pair_lanes(d)


# --- a contact at knot 2 --------------------------------------------------------------------------


@inline
def set_contact_frame(d, contact, knot, gap, arm, partner_arm, normal):
    """Set normal, tangents (without coefficients) and arms of a contact where it touches at knot 2.

    The forces on two bodies act at one point, halfway: angular momentum is kept though there still
    is a gap. Where bodies overlap their slip is measured there, too: friction takes energy.
    """
    pose = d.pose(knot, contact.body)
    rotation = pose.rotation
    if is_pair(contact):
        partner, half_gap = d.pose(knot, contact.partner), 0.5 * gap
        overlap = half_overlap(gap)
        slipping = axpy(-overlap, normal, arm), axpy(overlap, normal, partner_arm)
        arm, partner_arm = axpy(-half_gap, normal, arm), axpy(half_gap, normal, partner_arm)
        contact.touching_point = mat_t_vec(rotation, slipping[0])
        contact.partner_touching_point = mat_t_vec(partner.rotation, slipping[1])
        contact.partner_arm2 = sub(partner_arm, partner.arm)
        tangent_1, tangent_2 = pair_tangents(rotation, normal)
    else:
        contact.touching_point = mat_t_vec(rotation, arm)
        tangent_1, tangent_2 = plane_tangents(d, contact, rotation, normal)
    contact.gap2 = gap
    contact.arm2 = sub(arm, pose.arm)
    contact.normal2 = normal
    contact.tangent_1 = tangent_1
    contact.tangent_2 = tangent_2


@inline
def approach_velocity(d, contact, knot2, arm, partner_arm, normal):
    """Compute the normal velocity in the last step, the arms from the centres of mass [m/s]."""
    velocity, _ = point_velocity(d, contact.body, knot2, knot2, arm)
    if is_pair(contact):
        velocity = sub(velocity, point_velocity(d, contact.partner, knot2, knot2, partner_arm)[0])
    return dot(normal, velocity)


@inline
def place_contact(d, contact, knot2, h, place):
    """Place a contact at knot 2, of two bodies at a place of the own segment.

    Returns (gap, normal velocity in the last step).
    """
    contact.segment_parameter = place
    gap, normal, arm, partner_arm = touching_points_at_knot2(d, contact, knot2, place)
    contact.gap_target = find_gap_target(d, contact, gap_of_deepest_contact(d, contact, gap), h)
    set_contact_frame(d, contact, knot2, gap, arm, partner_arm, normal)
    return gap, approach_velocity(d, contact, knot2, arm, partner_arm, normal)


# --- velocities and increments --------------------------------------------------------------------


@inline
def point_velocity(d, b, knot2, knot, arm):
    """Compute velocity and angular velocity of a point of body b in the step to a knot buffer.

    ``arm`` is from the centre of mass to the point at knot 2.
    """
    moving = d.pose(knot, b)
    spin = mat_vec(d.pose(knot2, b).rotation, mean_rotation_rate(moving))
    return add(moving.velocity, cross(spin, arm)), spin


@inline
def touching_velocity(d, contact, knot2, knot):
    """Compute the velocity of a contact at knot 2 in the step to a knot buffer.

    Returns (normal velocity, velocity of the touching point, spin about the normal).
    """
    normal = contact.normal2
    arm = add(contact.arm2, d.pose(knot2, contact.body).arm)
    velocity, spin = point_velocity(d, contact.body, knot2, knot, arm)
    if is_pair(contact):
        partner = contact.partner
        partner_arm = add(contact.partner_arm2, d.pose(knot2, partner).arm)
        velocity = sub(velocity, point_velocity(d, partner, knot2, knot, partner_arm)[0])
    return dot(normal, velocity), velocity, dot(normal, spin)


@inline
def point_closure_correction(body, arm):
    """Compute how the motion that closes the joints moves a point ``arm`` from the joint anchor."""
    return add(body.position_correction, cross(body.rotation_correction, arm))


@inline
def contact_closure_correction(d, contact, arm, partner_arm):
    """Compute how the motion that closes the joints moves the own point against the partner's."""
    motion = point_closure_correction(d.body(contact.body), arm)
    if is_pair(contact):
        motion = sub(motion, point_closure_correction(d.body(contact.partner), partner_arm))
    return motion


@inline
def point_newton_increment(body, arm):
    """Compute how the Newton increment moves a point ``arm`` from the joint anchor."""
    return add(body.delta_position, cross(body.delta_rotation, arm))


@inline
def contact_newton_increment(d, contact, arm, partner_arm):
    """Compute how the Newton increment moves the own point against the partner's."""
    motion = point_newton_increment(d.body(contact.body), arm)
    if is_pair(contact):
        motion = sub(motion, point_newton_increment(d.body(contact.partner), partner_arm))
    return motion


# --- contacts at the present guess of knot 3 ------------------------------------------------------


@inline
def write_contact_velocity(contact, normal_velocity, velocity, spin):
    """Set the velocity of a contact, also for the first choice of open, stick or slip.

    ``velocity`` is that of the touching point; of skates and wheels both slips, and zero.
    """
    every = normal_velocity, velocity[0], velocity[1], velocity[2], spin
    contact.velocity = every
    contact.velocity_seen = every


@inline
def mean_point_velocity(d, b, point, knot2, knot3, per_h):
    """Compute the motion over the step of a point of body b, fixed at ``point`` from its centre.

    Returns (velocity, arm from the joint anchor at knot 3).
    """
    pose = d.pose(knot3, b)
    at = mat_vec(pose.rotation, point)
    velocity = axpy(per_h, sub(at, mat_vec(d.pose(knot2, b).rotation, point)), pose.velocity)
    return velocity, sub(at, pose.arm)


@inline
def lowest_point_at_knot3(d, contact, knot2, knot3):
    """Find gap, normal and lowest point (from the joint anchor) at the present guess of knot 3.

    A contact of two bodies gets its partner's arm.
    """
    kind = contact.kind
    pose = d.pose(knot3, contact.body)
    anchor = pose.arm
    if kind <= RIM_CONTACT or is_pair(contact):
        gap, normal, arm, partner_arm = touching_points_at_knot3(d, contact, knot2, knot3)
        if kind == RIM_CONTACT:
            rotation2 = d.pose(knot2, contact.body).rotation
            arm, _ = limit_rim_turn(d, contact, rotation2, pose.rotation, arm)
            gap = plane_gap(d, contact, pose, arm)
        lowest = sub(arm, anchor)
        if is_pair(contact):
            partner_anchor = d.pose(knot3, contact.partner).arm
            contact.partner_arm_lowest = sub(partner_arm, partner_anchor)
    else:
        normal, rotation2 = contact.normal2, d.pose(knot2, contact.body).rotation
        rolled = rim_point_without_roll(contact, rotation2, pose.rotation, contact.touching_point)
        lowest, gap = sub(rolled, anchor), plane_gap(d, contact, pose, rolled)
    return gap, normal, lowest


@inline
def evaluate_contact_velocity(d, contact, knot2, knot3, per_h):
    """Evaluate a contact's velocity at the guess of knot 3, with joints closed to first order."""
    gap, normal, lowest = lowest_point_at_knot3(d, contact, knot2, knot3)
    contact.normal3 = normal
    contact.arm_lowest = lowest
    body = d.body(contact.body)
    turn = body.rotation_correction
    if is_pair(contact):
        slip = evaluate_pair_slip(d, contact, knot2, knot3, per_h, half_overlap(gap))
    else:
        slip = evaluate_slip(d, contact, knot2, knot3, per_h)
    closing = slip_change(contact, body.position_correction, turn)
    if is_pair(contact):
        partner = d.body(contact.partner)
        shift, rotation = partner.position_correction, partner.rotation_correction
        closing = sub(closing, partner_slip_change(contact, shift, rotation))
    velocity = axpy(per_h, closing, slip)
    closing = contact_closure_correction(d, contact, lowest, contact.partner_arm_lowest)
    gap = gap + dot(normal, closing)
    rotation2 = d.pose(knot2, contact.body).rotation
    rate = mat_vec(rotation2, mean_rotation_rate(d.pose(knot3, contact.body)))
    spin = dot(normal, axpy(per_h, turn, rate))
    write_contact_velocity(contact, per_h * (gap - contact.gap_target), velocity, spin)


@inline
def evaluate_no_slip_velocity(d, contact, knot2, knot3, h):
    """Evaluate the velocity of a skate or wheel, with joints closed to first order."""
    b, per_h = contact.body, 1.0 / h
    velocity, arm = mean_point_velocity(d, b, no_slip_point(contact), knot2, knot3, per_h)
    contact.arm_touching = arm
    pose = d.pose(knot3, b)
    half = scale(0.5 * h, mat_vec(d.pose(knot2, b).rotation, pose.angular_velocity))
    motion, step = scale(h, velocity), (pose.cosine, half)
    slips = set_no_slip_directions(d, contact, pose.rotation, contact.normal2, motion, step)
    body, o = d.body(b), d.full(0.0)
    closing = point_closure_correction(body, arm)
    more_1, more_2 = change_of_no_slip_velocity(contact, closing, body.rotation_correction)
    velocity = per_h * (slips[0] + more_1), per_h * (slips[1] + more_2), o
    write_contact_velocity(contact, o, velocity, o)


@phase(needs="packs")
def evaluate_aligned_velocities(d, knot2, knot3, h):
    """Evaluate the velocities of active contacts that lie in the lanes of their bodies."""
    w = d.wide
    per_h = w.full(1.0 / h)
    for block in range(d.aligned_block_count):
        contact = w.aligned_contact(block)
        if contact.active.any():
            evaluate_contact_velocity(w, contact, knot2, knot3, per_h)


@phase(needs="contacts")
def evaluate_contact_velocities(d, knot2, knot3, h):
    """Evaluate the velocities of the active contacts at the present guess of knot 3."""
    evaluate_aligned_velocities(d, knot2, knot3, h)
    for c in range(d.first_unaligned_contact, d.contact_count):
        contact = d.contact(c)
        if contact.membership < ALIGNED and contact.active.any():
            if is_nonholonomic(contact):
                evaluate_no_slip_velocity(d, contact, knot2, knot3, h)
            else:
                evaluate_contact_velocity(d, contact, knot2, knot3, 1.0 / h)

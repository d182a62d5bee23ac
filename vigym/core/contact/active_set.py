"""Checks of the contacts once Newton has converged: none was missed, and no body sinks."""

from vigym.core.body.correction import gap_of_deepest_contact
from vigym.core.compiler.kernel import inline, no_lanes, phase
from vigym.core.compiler.lanes import max_over_body_lanes
from vigym.core.compiler.simd import absolute, maximum, where
from vigym.core.contact.kinematics import mark_active_pair_lanes, place_contact
from vigym.core.contact.overlaps import find_deep_lanes, find_released_lanes, is_end
from vigym.core.contact.plane import lowest_point, plane_gap
from vigym.core.contact.segment_box import (
    MAX_SLIDE,
    bounding_gap,
    is_pair,
    limit_segment_slide,
    segment_parameter,
    touching_points,
)
from vigym.core.contact.terrain.planes import planes_in_lanes, select5
from vigym.core.math.vectors import add, dot, select3, select4
from vigym.core.tables.plan import (
    ALIGNED,
    LONE,
    PAIR_BALL_CONTACT,
    PAIR_NEAREST_CONTACT,
    PAIR_TAIL_CONTACT,
    PLANES,
    SKATE,
)

# [m] by which the proximal term may let a body sink: in a step that leads it back, and at least
SINKING, LEAST_SINKING = 5e-8, 1e-9
OVERLAP = 5e-7  # [m] by which two bodies may overlap beside the place where they are held apart
NEARLY_PARALLEL = 0.9  # cosine of the angle of planes below which each keeps its force
PARALLEL = 1.0 - 1e-9  # cosine of the angle of planes above which they count as one


# --- moving the place of contact of two bodies ----------------------------------------------------


@inline
def add4(a, b):
    """Add two groups of four values."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]


@inline
def zero4_inside_mask(mask, a):
    """Clear four values in the lanes of the mask."""
    return (
        where(mask, 0.0, a[0]),
        where(mask, 0.0, a[1]),
        where(mask, 0.0, a[2]),
        where(mask, 0.0, a[3]),
    )


@inline
def add_force_to_contact(contact, to, mask):
    """Add a contact's force and anchor to those of contact ``to``, in the lanes of the mask."""
    f, g = contact.anchor_force, to.anchor_force
    to.anchor_force = select4(mask, add4(f, g), g)
    contact.anchor_force = zero4_inside_mask(mask, f)
    f, g = contact.force, to.force
    to.force = select4(mask, add4(f, g), g)
    contact.force = zero4_inside_mask(mask, f)


@inline
def merge_force_into_contact(contact, to, mask):
    """Add a contact's force and anchor to contact ``to``, and make it inactive."""
    add_force_to_contact(contact, to, mask)
    contact.active = contact.active & ~mask


@inline
def move_force_to_contact(contact, to, mask):
    """Move force and anchor of a contact to contact ``to``."""
    f = contact.anchor_force
    to.anchor_force = select4(mask, f, to.anchor_force)
    contact.anchor_force = zero4_inside_mask(mask, f)
    f = contact.force
    to.force = select4(mask, f, to.force)
    contact.force = zero4_inside_mask(mask, f)


@inline
def clear_dual(contact, mask):
    """Clear a contact's dual in the lanes of the mask: it belongs to another place."""
    dual = contact.dual
    contact.dual = (where(mask, 0.0, dual[0]), dual[1])


@inline
def relocate_contact(d, contact, knot2, h, place, mask):
    """Move a contact of the nearest points to another place, in the lanes of the mask.

    A loaded contact leaves its force at the old place, for a force on one side of two bodies can
    bring them together on the other side, and then both places are in contact:

    - The range's end on the side of the old place moves there and takes the force, unless it is
      loaded itself.
    - A loaded end next to the new place gives its force to the contact.
    """
    held = contact.segment_parameter
    further = place > held
    for c in (contact.index + 1, contact.index + 2):
        end = d.contact(c)
        there = end.segment_parameter
        end_force, force = end.force[0], contact.force[0]
        loaded = end.active & (end_force > 0.0)
        close = absolute(there - place) < MAX_SLIDE
        beside = mask & loaded & close
        behind = further if end.kind == PAIR_TAIL_CONTACT else ~further
        stays = mask & behind & ~loaded & (force > 0.0)
        if stays.any():
            place_contact(d, end, knot2, h, where(stays, held, there))
            end.active = end.active | stays
            move_force_to_contact(contact, end, stays)
        merge_force_into_contact(end, contact, beside)
        clear_dual(end, mask)
        clear_dual(contact, mask)
    place_contact(d, contact, knot2, h, where(mask, place, held))


# --- contacts that were missed --------------------------------------------------------------------


@inline
def deepest_held_gap(d, contact, knot3, place):
    """Compute the smallest gap at a contact of nearest points and at its ends [m]; at most zero.

    Bodies sink by the proximal term where contacts hold them. Only a deeper overlap is a contact
    that was missed.
    """
    deepest = d.full(0.0)
    c = contact.index
    for k in (c, c + 1, c + 2):
        other = d.contact(k)
        held = other.segment_parameter
        at = limit_segment_slide(place, held) if k == c else held
        gap = touching_points(d, other, knot3, at)[0]
        deepest = where(other.active & (deepest > gap), gap, deepest)
    return deepest


@inline
def activate_where_missed(d, contact, knot2, knot3, h, mask):
    """Activate a contact in the lanes of the mask that missed it, and return these lanes."""
    o = d.full(0.0)
    kind = contact.kind
    active, place = contact.active, o
    candidates = d.full(False) if kind >= SKATE or is_end(contact) else mask & ~active
    if is_pair(contact):
        candidates = candidates & (bounding_gap(d, contact, knot3) < 0.0)
        candidates = candidates & ~find_released_lanes(d, contact)
        place = segment_parameter(d, contact, knot3)
    if kind == PAIR_NEAREST_CONTACT:
        distance = absolute(place - contact.segment_parameter)
        slid = mask & active & (distance > MAX_SLIDE)
        slid = slid & ~find_deep_lanes(d, contact)
        candidates = candidates | slid
    below = d.full(False)
    if candidates.any():
        gap = touching_points(d, contact, knot3, place)[0]
        least = gap_of_deepest_contact(d, contact, o)
        if kind == PAIR_NEAREST_CONTACT:
            least = where(active, deepest_held_gap(d, contact, knot3, place) - OVERLAP, 0.0)
        below = candidates & (least > gap)
        if kind == PAIR_NEAREST_CONTACT and below.any():
            relocate_contact(d, contact, knot2, h, place, below)
        elif is_pair(contact) and below.any():
            place_contact(d, contact, knot2, h, where(below, place, contact.segment_parameter))
        contact.active = active | below
    return below


@inline
def lanes_without_plane(d, first, normal, lanes):
    """Find the lanes in which no active contact of a ball or rim is on a plane of that normal."""
    for n in range(PLANES):
        other = d.contact(first + n)
        parallel = dot(normal, other.normal2) > PARALLEL
        lanes = lanes & ~(other.active & parallel)
    return lanes


@inline
def place_in_lanes(d, contact, knot2, h, mask):
    """Place a contact with the ground at knot 2 in the lanes of the mask.

    In other lanes it stays: a contact of a rim may have turned.
    """
    target, gap = contact.gap_target, contact.gap2
    point, arm = contact.touching_point, contact.arm2
    normal = contact.normal2
    tangent_1, tangent_2 = contact.tangent_1, contact.tangent_2
    place_contact(d, contact, knot2, h, d.full(0.0))
    contact.gap_target = where(mask, contact.gap_target, target)
    contact.gap2 = where(mask, contact.gap2, gap)
    contact.touching_point = select3(mask, contact.touching_point, point)
    contact.arm2 = select3(mask, contact.arm2, arm)
    contact.normal2 = select3(mask, contact.normal2, normal)
    contact.tangent_1 = select3(mask, contact.tangent_1, tangent_1)
    contact.tangent_2 = select3(mask, contact.tangent_2, tangent_2)


@inline
def take_force_of_planes(d, first, to, mask):
    """Move the forces of contacts of a ball or rim to one on a plane nearly parallel to theirs.

    A body that runs into a plane often leaves the one before. With a force at the old plane and
    none at the new one Newton would begin with both laws, which contradict each other.
    """
    for n in range(PLANES):
        other = d.contact(first + n)
        force = other.force[0]
        loaded = other.active & (force > 0.0)
        alike = dot(other.normal2, to.normal2) > NEARLY_PARALLEL
        taken = mask & loaded & alike
        if other.index != to.index and taken.any():
            add_force_to_contact(other, to, taken)
            clear_dual(other, taken)


@inline
def activate_on_plane(d, first, plane, knot2, h, lanes):
    """Put contacts of a ball or rim on a plane, where any is left; returns the lanes."""
    activated = d.full(False)
    for n in range(PLANES):
        other = d.contact(first + n)
        taken = lanes & ~other.active
        if taken.any():
            other.anchor_force = zero4_inside_mask(taken, other.anchor_force)
            other.force = zero4_inside_mask(taken, other.force)
            clear_dual(other, taken)
            other.plane = select5(taken, plane, other.plane)
            place_in_lanes(d, other, knot2, h, taken)
            take_force_of_planes(d, first, other, taken)
            other.active = other.active | taken
            activated = activated | taken
            lanes = lanes & ~taken
    return activated


@phase(needs="terrain", otherwise=no_lanes)
def activate_missed_planes(d, contact, knot2, knot3, h, mask):
    """Activate a contact of a ball or rim that is below a plane at knot 3 and not on it yet.

    ``contact`` is the first of its contacts. Returns the lanes of the mask in which there was one.
    """
    first = contact.index
    missed = d.full(False)
    held = d.full(False)
    for n in range(PLANES):
        held = held | d.contact(first + n).active
    least = where(held, -OVERLAP, 0.0)
    pose = d.pose(knot3, contact.body)
    planes = planes_in_lanes(d, contact, knot3, knot2, True)
    for m in range(len(planes)):
        plane = planes[m]
        normal = plane[0], plane[1], plane[2]
        lowest = add(pose.position, lowest_point(contact, pose.rotation, normal))
        gap = dot(normal, lowest) - plane[3]
        below = mask & (plane[4] > 0.0) & (least > gap)
        below = lanes_without_plane(d, first, normal, below)
        if below.any():
            missed = missed | activate_on_plane(d, first, plane, knot2, h, below)
    return missed


@phase(needs="packs", otherwise=no_lanes)
def activate_missed_aligned(d, knot3, mask):
    """Activate contacts in the lanes of their bodies that are below the ground at knot 3.

    Returns whether there was one.
    """
    w = d.wide
    missed = w.full(False)
    for block in range(d.aligned_block_count):
        contact = w.aligned_contact(block)
        pose = w.pose(knot3, contact.body)
        lowest = lowest_point(contact, pose.rotation, w.environment.ground_normal)
        below = plane_gap(w, contact, pose, lowest) < 0.0
        below = w.full(mask) & below & ~contact.active
        contact.active = contact.active | below
        missed = missed | below
    return max_over_body_lanes(missed, mask)


@phase(needs="contacts", otherwise=no_lanes)
def activate_missed_contacts(d, knot2, knot3, h, mask):
    """Activate contacts whose bodies overlap at knot 3 where no active contact was.

    They move to where the bodies overlap. Two bodies that overlap do so at their nearest point.
    Returns the lanes of the mask in which there was one.
    """
    missed = activate_missed_aligned(d, knot3, mask)
    for c in range(d.first_unaligned_contact, d.contact_count):
        contact = d.contact(c)
        if contact.membership == ALIGNED:
            continue
        if d.terrain_columns > 0 and contact.kind < PAIR_BALL_CONTACT:
            if contact.plane_number == 0:
                lanes = activate_missed_planes(d, contact, knot2, knot3, h, mask)
                missed = missed | lanes
        else:
            missed = missed | activate_where_missed(d, contact, knot2, knot3, h, mask)
    if missed.any():
        mark_active_pair_lanes(d)
    return missed


# --- bodies that sink -----------------------------------------------------------------------------


@phase(needs="contacts")
def move_anchors_to_contact_forces(d, mask):
    """Move the proximal anchors of contacts to their present forces, in the lanes of the mask."""
    for c in range(d.contact_count):
        contact = d.contact(c)
        contact.anchor_force = select4(mask, contact.force, contact.anchor_force)


@inline
def reanchor_contact(d, contact, h, prox, mask):
    """Move the anchor of a contact to its force in lanes where a body sinks; return these lanes."""
    change = absolute(contact.force[0] - contact.anchor_force[0])
    sinking = prox * h * h * change / contact.effective_mass
    most = maximum(SINKING * d.environment.leads_back, LEAST_SINKING)
    moved = mask & contact.active & (sinking > most)
    contact.anchor_force = select4(moved, contact.force, contact.anchor_force)
    return moved


@phase(needs="packs", otherwise=no_lanes)
def reanchor_contacts_in_blocks(d, h, prox, mask):
    """Move the anchors of contacts that lie in blocks, see ``reanchor_contacts``."""
    w = d.wide
    wide_h, wide_prox = w.full(h), w.full(prox)
    wide_mask = w.full(mask)
    reanchored = w.full(False)
    for block in range(d.contact_block_count):
        contact = w.contact(block)
        if contact.kind < SKATE and contact.active.any():
            moved = reanchor_contact(w, contact, wide_h, wide_prox, wide_mask)
            reanchored = reanchored | moved
    return max_over_body_lanes(reanchored, mask)


@phase(needs="contacts", otherwise=no_lanes)
def reanchor_contacts(d, h, prox, mask):
    """Move the proximal anchors to the present force where a body sinks too far.

    Returns these lanes of the mask. [method of multipliers; the remaining depth falls by the factor
    ``prox``]
    """
    reanchored = reanchor_contacts_in_blocks(d, h, prox, mask)
    for c in range(d.first_lone_contact, d.contact_count):
        contact = d.contact(c)
        is_other = contact.membership == LONE and contact.kind < SKATE
        if is_other and contact.active.any():
            reanchored = reanchored | reanchor_contact(d, contact, h, prox, mask)
    return reanchored

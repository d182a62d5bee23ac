"""Rims whose lowest point runs: their contacts turn to where the rim touches at the end of a step.

The contact of a rim acts at its lowest point at knot 2, and its law holds for its lowest point at
knot 3. If a rim lies almost flat, any point may become the lowest within a step. A force at one
point for the gap at another may turn the body the wrong way: it gives energy, or the step has no
solution. The contact therefore follows the lowest point only a part of its way, see
``limit_rim_turn``. If the rim is then below the ground, its four contacts turn, and Newton goes on.
Further attempts at the step start from there.

The touching angle is bracketed by earlier contact points and bisected [regula falsi].
"""

from vigym.core.body.correction import find_gap_target, gap_of_deepest_contact
from vigym.core.compiler.kernel import inline, no_lanes, phase
from vigym.core.compiler.simd import sqrt, where
from vigym.core.contact.active_set import OVERLAP, clear_dual, merge_force_into_contact
from vigym.core.contact.plane import (
    limit_rim_turn,
    lowest_point,
    plane_gap,
    rim_point_without_roll,
)
from vigym.core.math.vectors import add, cross, dot, mat_t_vec, mat_vec, scale, select3, sub, zero3
from vigym.core.tables.plan import PLANES, RIM_CONTACT

QUARTERS = 4  # contacts of a rim, a quarter turn apart
LOADED = 1e-3  # force of a contact, in force scales, by which it carries its rim
# squared length of the sum of two directions, over both lengths, below which they are opposite
OPPOSITE = 0.1


@inline
def rim_stride(d):
    """Return the number of contacts of each point of a rim: one for each plane of terrain."""
    return PLANES if d.terrain_columns > 0 else 1


@phase(needs="contacts")
def clear_turned_rims(d):
    """Clear where rims were held, before a step."""
    if d.rim_count == 0:
        return
    for c in range(d.first_unaligned_contact, d.contact_count):
        rim = d.contact(c)
        if rim.kind == RIM_CONTACT:
            rim.rim_arm = zero3(d)
            rim.rim_ahead = zero3(d)
            rim.rim_behind = zero3(d)


@inline
def find_dip(d, rim, knot2, knot3, mask):
    """Find the lanes of the mask in which a rim is below the ground at knot 3.

    ``rim`` is its first contact. Returns (these lanes, arm of its lowest point from its middle at
    knot 2).
    """
    rotation2, pose = d.pose(knot2, rim.body).rotation, d.pose(knot3, rim.body)
    lowest = lowest_point(rim, pose.rotation, rim.normal2)
    held, limited = limit_rim_turn(d, rim, rotation2, pose.rotation, lowest)
    gap = plane_gap(d, rim, pose, held)
    least = gap_of_deepest_contact(d, rim, where(gap > 0.0, 0.0, gap)) - OVERLAP
    below = least > plane_gap(d, rim, pose, lowest)
    point = mat_t_vec(pose.rotation, lowest)
    arm = rim_point_without_roll(rim, pose.rotation, rotation2, point)
    dips = mask & rim.active & limited & below
    return dips, sub(arm, mat_vec(rotation2, rim.point))


@inline
def hold_between(first, last):
    """Find the direction between two that a rim was held in, each divided by the turn from there.

    Returns (direction, lanes in which there are both, not opposite to each other).
    """
    between = add(first, last)
    square = dot(between, between)
    size = sqrt(dot(first, first) * dot(last, last))
    found = (size > 0.0) & (square > OPPOSITE * size)
    return scale(1.0 / sqrt(where(found, square, 1.0)), between), found


@inline
def choose_rim_arm(d, rim, rotation, lowest, mask):
    """Choose where to hold a rim, in the lanes of the mask: where its ``lowest`` point came to.

    A rim that rests on its contact may have been ahead and behind of that point before.
    """
    held = mat_vec(rotation, sub(rim.touching_point, rim.point))
    change = sub(lowest, held)
    turn = sqrt(dot(change, change))
    held_by_turn = scale(1.0 / where(mask, turn, 1.0), held)
    ahead = dot(mat_vec(rotation, rim.rim_axis), cross(held, lowest)) < 0.0
    rests = mask & (rim.force[0] > LOADED * d.environment.force_scale)
    rim.rim_ahead = select3(rests & ahead, held_by_turn, rim.rim_ahead)
    rim.rim_behind = select3(rests & ~ahead, held_by_turn, rim.rim_behind)
    direction, found = hold_between(rim.rim_ahead, rim.rim_behind)
    arm = select3(found & rests, scale(rim.radius, direction), lowest)
    rim.rim_arm = select3(mask, arm, rim.rim_arm)


@inline
def hold_rim_at(d, contact, knot2, h, arm, mask):
    """Move a contact of a rim to another point of it, ``arm`` from its middle at knot 2.

    The work of its law stays that of the lowest point: if that moves far, the step is halved.
    """
    pose = d.pose(knot2, contact.body)
    arm = add(mat_vec(pose.rotation, contact.point), arm)
    gap = plane_gap(d, contact, pose, arm)
    target = find_gap_target(d, contact, gap_of_deepest_contact(d, contact, gap), h)
    contact.gap_target = where(mask, target, contact.gap_target)
    if contact.kind > RIM_CONTACT:
        contact.gap2 = where(mask, gap, contact.gap2)
    contact.arm2 = select3(mask, sub(arm, pose.arm), contact.arm2)
    point = mat_t_vec(pose.rotation, arm)
    contact.touching_point = select3(mask, point, contact.touching_point)
    contact.active = contact.active | mask
    clear_dual(contact, mask)


@phase(needs="contacts")
def turn_rim(d, c, knot2, h, mask):
    """Turn the contacts of a rim to where it is held; contact c is the first, and takes all forces.

    They stay a quarter turn apart.
    """
    rim = d.contact(c)
    axis, arm = mat_vec(d.pose(knot2, rim.body).rotation, rim.rim_axis), rim.rim_arm
    for k in range(QUARTERS):
        contact = d.contact(c + k * rim_stride(d))
        if k > 0:
            merge_force_into_contact(contact, rim, mask)
        hold_rim_at(d, contact, knot2, h, arm, mask)
        arm = cross(arm, axis)


@phase(needs="contacts")
def turn_rims_again(d, knot2, h):
    """Turn the contacts of rims to where earlier attempts at the step held them."""
    if d.rim_count == 0:
        return
    for c in range(d.first_unaligned_contact, d.contact_count):
        rim = d.contact(c)
        if rim.kind == RIM_CONTACT:
            arm = rim.rim_arm
            turned = dot(arm, arm) > 0.0
            if turned.any():
                turn_rim(d, c, knot2, h, turned)


@phase(needs="contacts", otherwise=no_lanes)
def turn_dipping_rims(d, knot2, knot3, h, mask):
    """Turn the contacts of rims that are below the ground at knot 3.

    Returns the lanes of the mask in which there was one.
    """
    dipping = d.full(False)
    if d.rim_count == 0:
        return dipping
    for c in range(d.first_unaligned_contact, d.contact_count):
        rim = d.contact(c)
        if rim.kind == RIM_CONTACT:
            dips, lowest = find_dip(d, rim, knot2, knot3, mask)
            if dips.any():
                choose_rim_arm(d, rim, d.pose(knot2, rim.body).rotation, lowest, dips)
                turn_rim(d, c, knot2, h, dips)
            dipping = dipping | dips
    return dipping

"""Contacts of two bodies that overlap deeply, and touching points at the knots of a step.

Shapes overlap deeply where a mechanism starts so, as with parts of a robot that its model draws
into each other. The nearest points and the normal may jump there from one motion to the next. The
contact points of a step, and one normal for the nearest point and the ends, are therefore chosen at
knot 2.
"""

from vigym.core.compiler.kernel import inline
from vigym.core.compiler.simd import where
from vigym.core.contact.segment_box import (
    bounding_gap,
    is_pair,
    limit_segment_slide,
    segment_middle,
    segment_parameter,
    touching_points,
)
from vigym.core.contact.terrain.planes import find_planes
from vigym.core.math.vectors import add, axpy, dot, mat_t_vec, mat_vec, select3, sub
from vigym.core.tables.plan import (
    PAIR_BALL_CONTACT,
    PAIR_HEAD_CONTACT,
    PAIR_NEAREST_CONTACT,
    PAIR_TAIL_CONTACT,
)

RELEASED = 1e-2  # of both radii: overlap beyond which bodies may be released
# Of both radii: overlaps beyond which bodies are held apart as they are at knot 2; those of balls
DEEP, DEEP_BALL = 0.02, 0.5


@inline
def nearest_contact(d, contact):
    """Find the contact of the nearest points whose end a contact is, or the contact itself."""
    if contact.kind == PAIR_HEAD_CONTACT:
        return d.contact(contact.index - 1)
    if contact.kind == PAIR_TAIL_CONTACT:
        return d.contact(contact.index - 2)
    return d.contact(contact.index)


@inline
def is_deep(d, contact, gap):
    """Find the lanes in which a gap is deeper than DEEP of both radii, of balls DEEP_BALL."""
    share = DEEP_BALL if contact.kind == PAIR_BALL_CONTACT else DEEP
    return gap + share * (contact.radius + contact.box_radius) < 0.0


@inline
def is_end(contact):
    """Return whether a contact belongs to an end of a segment."""
    return contact.kind == PAIR_HEAD_CONTACT or contact.kind == PAIR_TAIL_CONTACT


@inline
def find_deep_lanes(d, contact):
    """Find the lanes in which two bodies overlap so far at knot 2 that their normal may jump.

    There the touching points of knot 2 are held apart in a step, along their normal.
    """
    nearest = nearest_contact(d, contact)
    return nearest.active & is_deep(d, contact, nearest.gap2)


@inline
def find_overlapping_lanes(d, contact):
    """Find the lanes in which two bodies overlap so far at knot 2 that they may be released."""
    overlap = RELEASED * (contact.radius + contact.box_radius)
    return nearest_contact(d, contact).gap2 + overlap < 0.0


@inline
def find_released_lanes(d, contact):
    """Find the lanes in which two bodies overlap at knot 2, and are not held apart."""
    return d.environment.releases & find_overlapping_lanes(d, contact)


@inline
def select_points(mask, a, b):
    """Select touching points, see ``touching_points``, from a in the lanes of the mask, else b."""
    return (
        where(mask, a[0], b[0]),
        select3(mask, a[1], b[1]),
        select3(mask, a[2], b[2]),
        select3(mask, a[3], b[3]),
    )


@inline
def points_of_deep_end(d, contact, knot, place, points, nearest):
    """Find the points of an end that touch, in deep lanes others than ``points``.

    Its partner is a half space there, whose plane touches at the nearest points: the ends are not
    held apart in other directions than these.

    Args:
        d: data of the lane group.
        contact: row of the contact of an end.
        knot: knot buffer.
        place: place of the end on the own segment.
        points: its points, see ``touching_points``.
        nearest: place, gap and normal at the nearest points.
    """
    nearest_place, nearest_gap, normal = nearest
    radius = contact.radius
    deep = is_deep(d, contact, nearest_gap)
    half = mat_vec(d.pose(knot, contact.body).rotation, contact.segment)
    gap = nearest_gap + (place - nearest_place) * dot(normal, half)
    point = axpy(place, half, segment_middle(d, contact, knot))
    arm = sub(axpy(-radius, normal, point), d.pose(knot, contact.body).position)
    partner_point = axpy(-radius - gap, normal, point)
    partner_arm = sub(partner_point, d.pose(knot, contact.partner).position)
    return select_points(deep, (gap, normal, arm, partner_arm), points)


@inline
def half_overlap(gap):
    """Find half of the gap of two bodies that overlap, negative; zero where they do not."""
    half = 0.5 * gap
    return where(half > 0.0, 0.0, half)


@inline
def held_touching_points(d, contact, knot2, knot):
    """Find the points of two bodies that touched at knot 2, see ``touching_points``.

    The normal turns with the partner, and the partner's point coincides with the body's. Round
    shapes may roll: the contact point is fixed on the segment, and offset by the radius along the
    normal.
    """
    pose, partner = d.pose(knot, contact.body), d.pose(knot, contact.partner)
    back = mat_t_vec(d.pose(knot2, contact.partner).rotation, contact.normal2)
    normal = mat_vec(partner.rotation, back)
    spoke = mat_t_vec(d.pose(knot2, contact.body).rotation, contact.normal2)
    reach = contact.radius + half_overlap(contact.gap2)
    middle = axpy(reach, spoke, contact.touching_point)
    arm = axpy(-reach, normal, mat_vec(pose.rotation, middle))
    partner_arm = sub(add(pose.position, arm), partner.position)
    held = mat_vec(partner.rotation, contact.partner_touching_point)
    return contact.gap2 + dot(normal, sub(partner_arm, held)), normal, arm, partner_arm


@inline
def touching_points_at_knot2(d, contact, knot2, place):
    """Find the points that touch at knot 2, see ``touching_points``; an end's by the nearest point.

    The contact of the nearest points has its place already.
    """
    points = touching_points(d, contact, knot2, place)
    if is_end(contact) and find_deep_lanes(d, contact).any():
        nearest = nearest_contact(d, contact)
        there = nearest.segment_parameter, nearest.gap2, nearest.normal2
        points = points_of_deep_end(d, contact, knot2, place, points, there)
    return points


@inline
def touching_points_at_knot3(d, contact, knot2, knot3):
    """Find the points that touch at the present guess of knot 3, see ``touching_points``."""
    place = contact.segment_parameter
    if contact.kind == PAIR_NEAREST_CONTACT:
        place = limit_segment_slide(segment_parameter(d, contact, knot3), place)
    points = touching_points(d, contact, knot3, place)
    if is_pair(contact):
        deep = find_deep_lanes(d, contact)
        if deep.any():
            points = select_points(deep, held_touching_points(d, contact, knot2, knot3), points)
    return points


@inline
def touching_points_at_knot(d, contact, knot):
    """Find the points that touch, see ``touching_points``, at the contact's place at this knot."""
    find_planes(d, contact, knot, d.full(True))
    place = segment_parameter(d, contact, knot)
    points = touching_points(d, contact, knot, place)
    if is_end(contact) and is_deep(d, contact, bounding_gap(d, contact, knot)).any():
        nearest = nearest_contact(d, contact)
        there = segment_parameter(d, nearest, knot)
        gap, normal, _, _ = touching_points(d, nearest, knot, there)
        points = points_of_deep_end(d, contact, knot, place, points, (there, gap, normal))
    return points

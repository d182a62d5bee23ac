"""Touching points of a contact at a knot; of two bodies, of a rounded segment and a rounded box.

A ball is a segment of no length or a box of no size, a capsule is a segment or a box of no width.
With e the part of the segment's point that lies outside of the box, the gap is |e| less both radii,
or minus the depth of a point inside the box. Its derivative is n . (motion of the own nearest point
- motion of the partner's), the normal n from the partner to the own body.

Lengths are in the axes of the box. With p(s) = p + s v, the segment, s from -1 to 1, and e(s) the
part of p(s) outside of the box, the nearest point is the root of the rising, piecewise linear
e(s) . v, or an end.
"""

from vigym.core.compiler.kernel import inline
from vigym.core.compiler.simd import absolute, maximum, minimum, sqrt, where
from vigym.core.contact.plane import ground_plane, lowest_point, plane_gap, project_on_plane
from vigym.core.math.vectors import (
    add,
    axpy,
    cross,
    dot,
    mat_t_vec,
    mat_vec,
    matmul,
    scale,
    select3,
    sub,
    zero3,
)
from vigym.core.tables.plan import (
    PAIR_BALL_CONTACT,
    PAIR_HEAD_CONTACT,
    PAIR_NEAREST_CONTACT,
    PAIR_TAIL_CONTACT,
)

SEARCHES = 10  # Newton steps or bisections for the nearest point, of at most seven pieces
LEVEL = 1e-5  # curvature that keeps the nearest point of a nearly level segment off its ends
ROUNDED = 4e-15  # of the terms of a slope: a smaller sum of them is zero
FLAT = 1e-9  # of its size: a segment no steeper than that does not leave a slab
INSIDE = 1e-12  # [m] distance from a box below which a point is inside it
MAX_SLIDE = 0.25  # of half the own segment: farthest that a step takes the place from knot 2's


@inline
def is_pair(contact):
    """Return whether a contact is between two bodies."""
    kind = contact.kind
    return kind >= PAIR_BALL_CONTACT and kind <= PAIR_TAIL_CONTACT


# --- a segment and a box --------------------------------------------------------------------------


@inline
def distance_outside_interval(x, half_size):
    """Compute the part of a coordinate that lies outside of [-half_size, half_size]."""
    return where(x > half_size, x - half_size, where(-half_size > x, x + half_size, 0.0))


@inline
def vector_outside_box(point, half_sizes):
    """Compute the part of a point that lies outside of a box."""
    return (
        distance_outside_interval(point[0], half_sizes[0]),
        distance_outside_interval(point[1], half_sizes[1]),
        distance_outside_interval(point[2], half_sizes[2]),
    )


@inline
def steepness(e, v):
    """Compute the derivative of e . v along the segment."""
    x = where(absolute(e[0]) > 0.0, v[0] * v[0], 0.0)
    y = where(absolute(e[1]) > 0.0, v[1] * v[1], 0.0)
    return x + y + where(absolute(e[2]) > 0.0, v[2] * v[2], 0.0)


@inline
def nearest_parameter_to_box(d, p, v, half_sizes):
    """Find the place s from -1 to 1 where the point p + s v comes nearest to the box.

    It is the middle of all places that are as near.
    """
    one = d.full(1.0)
    bend = LEVEL * dot(v, v)
    low = -one
    high = one
    s = d.full(0.0)
    start = dot(vector_outside_box(sub(p, v), half_sizes), v) - bend
    end = dot(vector_outside_box(add(p, v), half_sizes), v) + bend
    for _ in range(SEARCHES):
        e = vector_outside_box(axpy(s, v, p), half_sizes)
        slope = dot(e, v) + bend * s
        steep = steepness(e, v) + bend
        low = where(slope < 0.0, s, low)
        high = where(slope > 0.0, s, high)
        guess = s - slope / where(steep > 0.0, steep, 1.0)
        middle = 0.5 * (low + high)
        within = where(guess > low, where(high > guess, guess, middle), middle)
        # a root that has become a bound by rounding is not left again
        terms = absolute(e[0] * v[0]) + absolute(e[1] * v[1]) + absolute(e[2] * v[2])
        s = where(absolute(slope) > ROUNDED * terms, within, s)
    return where(start > 0.0, -1.0, where(end < 0.0, 1.0, s))


@inline
def clip_to_slab(low, high, p, v, half_size):
    """Clip [low, high] to where a coordinate p + s v is in [-half_size, half_size].

    Where ``half_size`` is zero all of it remains.
    """
    steep = absolute(v) > FLAT * half_size
    middle = -p / where(steep, v, 1.0)
    reach = half_size / where(steep, absolute(v), 1.0)
    first = middle - reach
    last = middle + reach
    clips = (half_size > 0.0) & steep
    return (where(clips, maximum(first, low), low), where(clips, minimum(high, last), high))


@inline
def parameter_range_over_box(d, s, p, v, direction, half_sizes):
    """Find the range of places over the face that lies in a direction from the box; else s alone.

    For a segment, a box of no width, the range along that one.
    """
    one = d.full(1.0)
    x, y = absolute(direction[0]), absolute(direction[1])
    z = absolute(direction[2])
    first = -one
    last = one
    largest = where(x > y, maximum(x, z), maximum(y, z))
    for k in range(3):
        low, high = clip_to_slab(first, last, p[k], v[k], half_sizes[k])
        other = largest > absolute(direction[k])
        first = where(other, low, first)
        last = where(other, high, last)
    empty = first > last
    return where(empty, s, first), where(empty, s, last)


@inline
def least_depth(d, p, half_sizes):
    """Find the depth of a point in a box under the nearest face, and that face's normal."""
    o = d.full(0.0)
    x = half_sizes[0] - absolute(p[0])
    y = half_sizes[1] - absolute(p[1])
    z = half_sizes[2] - absolute(p[2])
    depth = x
    normal = where(p[0] < 0.0, -1.0, 1.0), o, o
    second = y < depth
    third = z < minimum(depth, y)
    depth = where(second, y, depth)
    normal = (
        where(second, 0.0, normal[0]),
        where(second, where(p[1] < 0.0, -1.0, 1.0), 0.0),
        o,
    )
    depth = where(third, z, depth)
    return depth, (
        where(third, 0.0, normal[0]),
        where(third, 0.0, normal[1]),
        where(third, where(p[2] < 0.0, -1.0, 1.0), 0.0),
    )


@inline
def find_crossings(d, p, v, half_sizes):
    """Find the lanes in which a segment crosses a box, and the normal of a face.

    Through that face the whole segment leaves the box on the shortest way.
    """
    one = d.full(1.0)
    reach = absolute(v[0]), absolute(v[1]), absolute(v[2])
    depth, normal = least_depth(d, p, add(half_sizes, reach))
    volume = half_sizes[0] * half_sizes[1] * half_sizes[2]
    crosses = (depth > 0.0) & (volume > 0.0)
    if crosses.any():
        first, last = -one, one
        for k in range(3):
            first, last = clip_to_slab(first, last, p[k], v[k], half_sizes[k])
        crosses = crosses & (last > first)
    return crosses, normal


# --- contacts at a knot ---------------------------------------------------------------------------


@inline
def segment_middle(d, contact, knot):
    """Compute the middle of the own segment [world]."""
    pose = d.pose(knot, contact.body)
    return add(pose.position, mat_vec(pose.rotation, contact.point))


@inline
def box_middle(d, contact, knot):
    """Compute the middle of the partner's box [world]."""
    pose = d.pose(knot, contact.partner)
    return add(pose.position, mat_vec(pose.rotation, contact.box_centre))


@inline
def bounding_gap(d, contact, knot):
    """Compute by how much the middles of two shapes are farther apart than they reach [m].

    Only shapes where it is below zero may touch.
    """
    separation = sub(segment_middle(d, contact, knot), box_middle(d, contact, knot))
    return sqrt(dot(separation, separation)) - contact.reach


@inline
def segment_in_box_frame(d, contact, knot):
    """Compute the axes of the partner's box [world], and in them the own segment at a knot.

    Returns (axes, middle of the segment, its half, half sizes of the box).
    """
    axes = matmul(d.pose(knot, contact.partner).rotation, contact.box_axes)
    half = mat_vec(d.pose(knot, contact.body).rotation, contact.segment)
    middle = sub(segment_middle(d, contact, knot), box_middle(d, contact, knot))
    return axes, mat_t_vec(axes, middle), mat_t_vec(axes, half), contact.box_half_sizes


@inline
def segment_parameter(d, contact, knot):
    """Find the contact's place on the own segment, from -1 to 1; 0 where there is no segment."""
    kind = contact.kind
    if kind < PAIR_NEAREST_CONTACT or kind > PAIR_TAIL_CONTACT:
        return d.full(0.0)
    _, middle, half, half_sizes = segment_in_box_frame(d, contact, knot)
    place = nearest_parameter_to_box(d, middle, half, half_sizes)
    crosses, face = find_crossings(d, middle, half, half_sizes)
    if kind == PAIR_NEAREST_CONTACT and not crosses.any():
        return place
    e = vector_outside_box(axpy(place, half, middle), half_sizes)
    e = select3(crosses, face, e)
    tail, head = parameter_range_over_box(d, place, middle, half, e, half_sizes)
    if kind == PAIR_NEAREST_CONTACT:
        deepest = where(dot(face, half) > 0.0, tail, head)
        return where(crosses, deepest, place)
    return head if kind == PAIR_HEAD_CONTACT else tail


@inline
def limit_segment_slide(place, place2):
    """Limit a place on the own segment to MAX_SLIDE from that at knot 2.

    A force at one end for a gap at the other would turn the body the wrong way round. See also
    `vigym.core.contact.active_set.activate_missed_contacts`.
    """
    low = place2 - MAX_SLIDE
    high = place2 + MAX_SLIDE
    return where(low > place, low, minimum(place, high))


@inline
def pair_touching_points(d, contact, knot, place):
    """Find gap, normal and touching points of two bodies, see ``touching_points``."""
    axes, middle, half, half_sizes = segment_in_box_frame(d, contact, knot)
    point = axpy(place, half, middle)
    e = vector_outside_box(point, half_sizes)
    distance = sqrt(dot(e, e))
    crosses, face = find_crossings(d, middle, half, half_sizes)
    apart = (distance > INSIDE) & ~crosses
    per_distance = 1.0 / where(apart, distance, 1.0)
    normal = mat_vec(axes, select3(apart, scale(per_distance, e), face))
    depth = absolute(face[0]) * half_sizes[0] + absolute(face[1]) * half_sizes[1]
    depth = depth + absolute(face[2]) * half_sizes[2] - dot(face, point)
    distance = where(apart, distance, -depth)
    radius = contact.radius
    box_radius = contact.box_radius
    point = add(box_middle(d, contact, knot), mat_vec(axes, point))
    arm = sub(axpy(-radius, normal, point), d.pose(knot, contact.body).position)
    partner_point = axpy(box_radius - distance, normal, point)
    partner_arm = sub(partner_point, d.pose(knot, contact.partner).position)
    return distance - radius - box_radius, normal, arm, partner_arm


@inline
def touching_points(d, contact, knot, place):
    """Find the points of a contact that touch at a knot.

    Args:
        d: data of the lane group.
        contact: row of the contact.
        knot: knot buffer.
        place: of two bodies: place on the own segment.

    Returns:
        (gap [m], normal, touching point from the centre of mass of the own body, of the partner).
    """
    if is_pair(contact):
        return pair_touching_points(d, contact, knot, place)
    pose = d.pose(knot, contact.body)
    normal, _ = ground_plane(d, contact)
    arm = lowest_point(contact, pose.rotation, normal)
    return plane_gap(d, contact, pose, arm), normal, arm, zero3(d)


@inline
def pair_tangents(rotation, normal):
    """Find both tangents of two bodies that touch; they turn with the own body."""
    x = rotation[0], rotation[3], rotation[6]
    y = rotation[1], rotation[4], rotation[7]
    tangent_1 = project_on_plane(x, normal, project_on_plane(y, normal, x))
    return tangent_1, cross(normal, tangent_1)

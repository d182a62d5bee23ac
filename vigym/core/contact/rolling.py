"""Slip of contacts over a step, and its derivatives by the motions of bodies.

**On the ground.**

A point, or the centre of a ball or rim, moves from c2 to c3. From there the body touches with the
spoke r2 at knot 2 and r3 at knot 3. With the step's quaternion (c, v) it slips by

    c3 - c2 + tau x (r2 + r3) / 2,  tau = 2 c v,

the mean of the displacements of the points that touch at both knots. That is odd in time: of order
two while the body rolls, tilts and turns at once. The displacement of one of these points alone
would be of order one, and give or take energy for as long as the body rolls. Where it only rolls,
tau is that sine of its turn which its angular momentum has: it accelerates as the law says.

**Of two bodies.** Each moves by the mean of the displacements of its points that touch at both
knots: p2 and p3, fixed in the body, with rotation matrices R2 and R3

    x3 - x2 + (R3 - R2) (p2 + p3) / 2.

A ball that rolls on a box at rest slips as on the ground. Bodies that move as one do not slip. Two
contacts that hold a ball between walls agree about its rolling. By points of knot 2 alone they
would differ by a little in each step, and friction would squeeze the ball ever harder.
"""

from vigym.core.compiler.kernel import inline
from vigym.core.contact.overlaps import find_deep_lanes
from vigym.core.math.vectors import (
    add,
    axpy,
    cross,
    dot,
    mat_t_vec,
    mat_vec,
    scale,
    select3,
    sub,
    zero3,
)
from vigym.core.model.tables.plan import RIM_CONTACT


@inline
def sine_slope(direction, cosine, half):
    """Compute the derivative of direction . tau by a rotation at knot 3, (c, v) given."""
    slope = scale(cosine, add(scale(cosine, direction), cross(half, direction)))
    return axpy(-dot(half, direction), half, slope)


@inline
def slip_slope(contact, direction, centre_arm, spokes, step, axis):
    """Compute the derivative, by a rotation at knot 3, of the slip along a direction.

    Args:
        contact: with the ground.
        direction: along which it slips.
        centre_arm: from the joint anchor to the point or centre at knot 3 [m].
        spokes: their mean, and that at knot 3 [m].
        step: quaternion (c, v) of the step.
        axis: of a rim at knot 3. Where a rim touches does not turn about it.
    """
    mean, last = spokes
    cosine, half = step
    slope = add(cross(centre_arm, direction), sine_slope(cross(mean, direction), cosine, half))
    if contact.kind >= RIM_CONTACT:
        tilted = cross(last, scale(cosine, cross(direction, half)))
        slope = add(slope, axpy(-dot(axis, tilted), axis, tilted))
    return slope


@inline
def evaluate_slip(d, contact, knot2, knot3, per_h):
    """Evaluate the slip of a contact with the ground, and write its slopes.

    Returns it over h [m/s]; it has a part along the normal that does not count.
    """
    start, end = d.pose(knot2, contact.body), d.pose(knot3, contact.body)
    at_start, at_end = mat_vec(start.rotation, contact.point), mat_vec(end.rotation, contact.point)
    centre_arm = sub(at_end, end.arm)
    first = sub(mat_vec(start.rotation, contact.touching_point), at_start)
    last = sub(contact.arm_lowest, centre_arm)
    mean = scale(0.5, add(first, last))
    spin = mat_vec(start.rotation, end.angular_velocity)
    step = end.cosine, scale(0.5 / per_h, spin)
    axis = mat_vec(end.rotation, contact.rim_axis)
    spokes = mean, last
    t1, t2 = contact.tangent_1, contact.tangent_2
    contact.slip_slope_1 = slip_slope(contact, t1, centre_arm, spokes, step, axis)
    contact.slip_slope_2 = slip_slope(contact, t2, centre_arm, spokes, step, axis)
    velocity = axpy(per_h, sub(at_end, at_start), end.velocity)
    return add(velocity, cross(scale(end.cosine, spin), mean))


@inline
def evaluate_motion_of_points(d, contact, b, knots, per_h, place, held):
    """Evaluate the mean motion over the step of the points of body b that touch at both knots.

    Args:
        d: data of the lane group.
        contact: of two bodies.
        b: one of these bodies.
        knots: buffers of knot 2 and knot 3.
        per_h: 1 / step [1/s].
        place: point that touches at knot 2 [m, body], arm to that of knot 3, and the part of that
            arm that stands on the surface, whatever the body's rotation [m, world].
        held: lanes in which the point of knot 2 is held, and counts alone.

    Returns:
        Motion over h [m/s], and its derivatives along both tangents by a rotation [m]. The place
        where bodies touch is taken not to move on them.
    """
    start, end = d.pose(knots[0], b), d.pose(knots[1], b)
    point, arm, spoke = place
    first = mat_vec(end.rotation, point)
    arm, spoke = select3(held, first, arm), select3(held, zero3(d), spoke)
    mean = scale(0.5, add(point, mat_t_vec(end.rotation, arm)))
    moved = sub(mat_vec(end.rotation, mean), mat_vec(start.rotation, mean))
    lever = sub(scale(0.5, sub(add(first, arm), spoke)), end.arm)
    t1, t2 = contact.tangent_1, contact.tangent_2
    turned1 = mat_vec(end.rotation, mat_t_vec(start.rotation, t1))
    turned2 = mat_vec(end.rotation, mat_t_vec(start.rotation, t2))
    slope_1 = add(scale(0.5, cross(spoke, turned1)), cross(lever, t1))
    slope_2 = add(scale(0.5, cross(spoke, turned2)), cross(lever, t2))
    return axpy(per_h, moved, end.velocity), slope_1, slope_2


@inline
def evaluate_pair_slip(d, contact, knot2, knot3, per_h, overlap):
    """Evaluate the slip of a contact of two bodies, and write its slopes; return it over h [m/s].

    It has a part along the normal that does not count. Where the bodies overlap, by twice the
    negative of ``overlap`` [m], their points halfway count.
    """
    knots, normal = (knot2, knot3), contact.normal3
    held = find_deep_lanes(d, contact)
    arm = add(contact.arm_lowest, d.pose(knot3, contact.body).arm)
    spoke = scale(-contact.radius - overlap, normal)
    place = contact.touching_point, axpy(-overlap, normal, arm), spoke
    own = evaluate_motion_of_points(d, contact, contact.body, knots, per_h, place, held)
    arm = add(contact.partner_arm_lowest, d.pose(knot3, contact.partner).arm)
    spoke = scale(contact.box_radius + overlap, normal)
    place = contact.partner_touching_point, axpy(overlap, normal, arm), spoke
    partner = evaluate_motion_of_points(d, contact, contact.partner, knots, per_h, place, held)
    contact.slip_slope_1, contact.slip_slope_2 = own[1], own[2]
    contact.partner_slip_slope_1, contact.partner_slip_slope_2 = partner[1], partner[2]
    return sub(own[0], partner[0])


@inline
def change_in_plane(contact, slopes, shift, rotation):
    """Compute how a shift of a body's joint anchor and a rotation move what touches, in its plane.

    ``slopes`` are the derivatives along both tangents by a rotation.
    """
    along_1, along_2 = contact.tangent_1, contact.tangent_2
    by_1 = dot(along_1, shift) + dot(slopes[0], rotation)
    by_2 = dot(along_2, shift) + dot(slopes[1], rotation)
    return axpy(by_2, along_2, scale(by_1, along_1))


@inline
def slip_change(contact, shift, rotation):
    """Compute how a shift of the joint anchor and a rotation change the slip, in its plane."""
    return change_in_plane(contact, slip_slopes(contact), shift, rotation)


@inline
def partner_slip_change(contact, shift, rotation):
    """Compute how a shift and a rotation of the partner move its points, in their plane."""
    return change_in_plane(contact, partner_slip_slopes(contact), shift, rotation)


@inline
def slip_slopes(contact):
    """Return the derivatives of the slip along both tangents by a rotation of the body."""
    return contact.slip_slope_1, contact.slip_slope_2


@inline
def partner_slip_slopes(contact):
    """Return these derivatives of the partner's motion, by a rotation of the partner."""
    return contact.partner_slip_slope_1, contact.partner_slip_slope_2


@inline
def slope_along(contact, slopes, direction):
    """Compute the derivative along a direction in the plane, from those along both tangents."""
    along_1, along_2 = dot(direction, contact.tangent_1), dot(direction, contact.tangent_2)
    return axpy(along_2, slopes[1], scale(along_1, slopes[0]))

"""Slip of contacts over a step, and its derivatives by the motions of bodies.

**On the ground.**

A point, or the centre of a ball or rim, moves from c2 to c3. A spoke leads from there to the
contact point: r2 at knot 2, r3 at knot 3. With the step's quaternion (c, v) the contact slips by

    c3 - c2 + tau x (r2 + r3) / 2,  tau = 18 b^3 (1 + 2c) v,  b = 1/(2 + c),

the mean of the displacements of the points that touch at both knots. The mean is odd in time: of
order two while the body rolls, tilts and turns at once. The displacement of one of these points
alone would be of order one, and give or take energy as long as the body rolls. tau is the body's
turn by its angular momentum (`vigym.core.math.turns`), with a relative error of 3e-6 at 0.2 rad and
2e-3 at a radian: a body that only rolls accelerates as the law says.

**Of two bodies.** Each body moves by the mean of the displacements of its points that touch at both
knots: p2 and p3, fixed in the body, with rotation matrices R2 and R3

    x3 - x2 + (R3 - R2) (p2 + p3) / 2.

A round shape touches at the ends of the spokes s2 and s3 [world], which move along an arc on the
body. The chord between the ends is shorter: (R3 + R2) (R3^T s3 - R2^T s2) / 2 in the world. Its
part k = 9 b^3 (1 + 2c) / c - 1 is subtracted from the motion, so that a ball that rolls on a box at
rest slips as on the ground. Bodies that move as one do not slip. Two contacts that hold a ball
between walls agree about its rolling. By points of knot 2 alone they would differ by a little in
each step, and friction would squeeze the ball ever harder.
"""

from vigym.core.compiler.kernel import inline
from vigym.core.contact.overlaps import find_deep_lanes, half_overlap
from vigym.core.math.turns import rolling_factor, rolling_factor_slope, rolling_slope
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
from vigym.core.tables.plan import RIM_CONTACT


@inline
def slip_slope(contact, direction, centre_arm, spokes, step, axis):
    """Compute the derivative, by a rotation at knot 3, of the slip along a direction.

    Args:
        contact: contact with the ground.
        direction: unit vector of the slip [world].
        centre_arm: vector from the joint anchor to the point or centre at knot 3 [m].
        spokes: mean of both spokes, and spoke at knot 3 [m].
        step: quaternion (c, v) of the step.
        axis: axis of a rim at knot 3; the contact point of a rim does not turn about it.
    """
    mean, last = spokes
    cosine, half = step
    slope = add(cross(centre_arm, direction), rolling_slope(cross(mean, direction), cosine, half))
    if contact.kind >= RIM_CONTACT:
        turn = scale(0.5 * rolling_factor(cosine), half)
        tilted = cross(last, cross(direction, turn))
        slope = add(slope, axpy(-dot(axis, tilted), axis, tilted))
    return slope


@inline
def evaluate_slip(d, contact, knot2, knot3, per_h):
    """Evaluate the slip of a contact with the ground, and write its slopes.

    Returns the slip over h [m/s]. Its part along the normal does not count.
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
    return add(velocity, cross(scale(per_h * rolling_factor(end.cosine), step[1]), mean))


@inline
def arc_excess(c):
    """Compute k (see the module) and its derivative by c, the scalar part of the quaternion."""
    factor, per_c = 0.5 * rolling_factor(c), 1.0 / c
    return factor * per_c - 1.0, per_c * (0.5 * rolling_factor_slope(c) - factor * per_c)


@inline
def slope_of_points(direction, rotations, arms, arc, along):
    """Compute the derivative of the mean motion of points along a direction, by a rotation.

    Args:
        direction: unit vector [world].
        rotations: rotation matrices of the body at knot 2 and knot 3.
        arms: mean arm without the spoke at knot 3, this spoke, and the spoke at knot 2 turned with
            the body [m].
        arc: k and the chord (see the module).
        along: derivative of k by a rotation, times -1 [world].
    """
    lever, spoke, turned = arms
    more, chord = arc
    turned_direction = mat_vec(rotations[1], mat_t_vec(rotations[0], direction))
    slope = axpy(0.5 + 0.5 * more, cross(spoke, turned_direction), cross(lever, direction))
    slope = axpy(0.5 * more, cross(turned, direction), slope)
    return axpy(dot(direction, chord), along, slope)


@inline
def evaluate_motion_of_points(d, contact, b, knots, per_h, place, held):
    """Evaluate the mean motion over the step of the points of body b that touch at both knots.

    Args:
        d: data of the lane group.
        contact: contact of two bodies.
        b: number of one of these bodies.
        knots: buffers of knot 2 and knot 3.
        per_h: 1 / step [1/s].
        place: point that touches at knot 2 [m, body], arm to the point that touches at knot 3, and
            the spokes to both, which do not turn with the body [m, world].
        held: lanes in which the point of knot 2 is held; it counts alone there.

    Returns:
        Motion over h [m/s], and its derivatives along both tangents by a rotation [m], as if the
        contact point did not move on the body.
    """
    start, end = d.pose(knots[0], b), d.pose(knots[1], b)
    point, arm, spokes = place
    first = mat_vec(end.rotation, point)
    before, spoke = select3(held, zero3(d), spokes[0]), select3(held, zero3(d), spokes[1])
    arm = select3(held, first, arm)
    mean = scale(0.5, add(point, mat_t_vec(end.rotation, arm)))
    moved = sub(mat_vec(end.rotation, mean), mat_vec(start.rotation, mean))
    lever = sub(scale(0.5, sub(add(first, arm), spoke)), end.arm)
    turned = mat_vec(end.rotation, mat_t_vec(start.rotation, before))
    back = mat_vec(start.rotation, mat_t_vec(end.rotation, spoke))
    chord = scale(0.5, sub(add(back, spoke), add(before, turned)))
    more, by_turn = arc_excess(end.cosine)
    along = scale(0.25 * by_turn / per_h, mat_vec(start.rotation, end.angular_velocity))
    rotations = start.rotation, end.rotation
    arms, arc = (lever, spoke, turned), (more, chord)
    slope_1 = slope_of_points(contact.tangent_1, rotations, arms, arc, along)
    slope_2 = slope_of_points(contact.tangent_2, rotations, arms, arc, along)
    return axpy(per_h, axpy(-more, chord, moved), end.velocity), slope_1, slope_2


@inline
def evaluate_pair_slip(d, contact, knot2, knot3, per_h, overlap):
    """Evaluate the slip of a contact of two bodies, and write its slopes; return it over h [m/s].

    The part along the normal does not count. If the bodies overlap, the points halfway between
    their surfaces count; ``overlap`` is half of their negative gap [m], zero without overlap.
    """
    knots = knot2, knot3
    before, normal = contact.normal2, contact.normal3
    overlap2 = half_overlap(contact.gap2)
    held = find_deep_lanes(d, contact)
    arm = add(contact.arm_lowest, d.pose(knot3, contact.body).arm)
    spokes = scale(-contact.radius - overlap2, before), scale(-contact.radius - overlap, normal)
    place = contact.touching_point, axpy(-overlap, normal, arm), spokes
    own = evaluate_motion_of_points(d, contact, contact.body, knots, per_h, place, held)
    arm = add(contact.partner_arm_lowest, d.pose(knot3, contact.partner).arm)
    radius = contact.box_radius
    spokes = scale(radius + overlap2, before), scale(radius + overlap, normal)
    place = contact.partner_touching_point, axpy(overlap, normal, arm), spokes
    partner = evaluate_motion_of_points(d, contact, contact.partner, knots, per_h, place, held)
    contact.slip_slope_1, contact.slip_slope_2 = own[1], own[2]
    contact.partner_slip_slope_1, contact.partner_slip_slope_2 = partner[1], partner[2]
    return sub(own[0], partner[0])


@inline
def change_in_plane(contact, slopes, shift, rotation):
    """Compute how a shift of a body's joint anchor and a rotation move its points in the plane.

    ``slopes`` are the derivatives along both tangents by a rotation.
    """
    along_1, along_2 = contact.tangent_1, contact.tangent_2
    by_1 = dot(along_1, shift) + dot(slopes[0], rotation)
    by_2 = dot(along_2, shift) + dot(slopes[1], rotation)
    return axpy(by_2, along_2, scale(by_1, along_1))


@inline
def slip_change(contact, shift, rotation):
    """Compute how a shift of the joint anchor and a rotation change the slip in the plane."""
    return change_in_plane(contact, slip_slopes(contact), shift, rotation)


@inline
def partner_slip_change(contact, shift, rotation):
    """Compute how a shift and a rotation of the partner move its points in the plane."""
    return change_in_plane(contact, partner_slip_slopes(contact), shift, rotation)


@inline
def slip_slopes(contact):
    """Return the derivatives of the slip along both tangents by a rotation of the body."""
    return contact.slip_slope_1, contact.slip_slope_2


@inline
def partner_slip_slopes(contact):
    """Return the derivatives of the partner's motion along both tangents by its rotation."""
    return contact.partner_slip_slope_1, contact.partner_slip_slope_2


@inline
def slope_along(contact, slopes, direction):
    """Compute the derivative along a direction in the plane, from those along both tangents."""
    along_1, along_2 = dot(direction, contact.tangent_1), dot(direction, contact.tangent_2)
    return axpy(along_2, slopes[1], scale(along_1, slopes[0]))

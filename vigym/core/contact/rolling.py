"""Slip of contacts with the ground over a step, and its derivatives by the body's motion.

A point, or the centre of a ball or rim, moves from c2 to c3. From there the body touches with the
spoke r2 at knot 2 and r3 at knot 3. With the step's quaternion (c, v) it slips by

    c3 - c2 + tau x (r2 + r3) / 2,  tau = 2 c v,

the mean of the displacements of the points that touch at both knots. That is odd in time: of order
two while the body rolls, tilts and turns at once. The displacement of one of these points alone
would be of order one, and give or take energy for as long as the body rolls. Where it only rolls,
tau is that sine of its turn which its angular momentum has: it accelerates as the law says.
"""

from vigym.core.compiler.kernel import inline
from vigym.core.math.vectors import add, axpy, cross, dot, mat_vec, scale, sub
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
def slip_change(contact, shift, rotation):
    """Compute how a shift of the joint anchor and a rotation change the slip, in its plane."""
    along_1, along_2 = contact.tangent_1, contact.tangent_2
    by_1 = dot(along_1, shift) + dot(contact.slip_slope_1, rotation)
    by_2 = dot(along_2, shift) + dot(contact.slip_slope_2, rotation)
    return axpy(by_2, along_2, scale(by_1, along_1))


@inline
def slope_along(contact, direction):
    """Compute the derivative of the slip along a direction in its plane, by a rotation."""
    along_1, along_2 = dot(direction, contact.tangent_1), dot(direction, contact.tangent_2)
    return axpy(along_2, contact.slip_slope_2, scale(along_1, contact.slip_slope_1))

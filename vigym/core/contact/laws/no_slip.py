"""Skates and wheels, which do not slip: their velocities over a step, and derivatives of these.

A skate is a point of a body that does not move along a direction t of the body,

    u_1 = t . (p3 - p2) / h.

A wheel of radius R with its axle along the unit vector a rolls along f, the direction of a x n.
With its centre c, and its turn tau as in `vigym.core.contact.rolling`,

    u_1 = (a . (c3 - c2) + R f . tau) / h,  u_2 = (f . (c3 - c2) - R a . tau) / h.

Directions are the means over both knots: u is odd in time, so errors are of order two, and a skate
or wheel keeps energy. For a wheel that stands upright, rolls and turns about n, f . tau is zero:
two wheels on one axle agree. The displacement of the point that touches at knot 2 has a part of
second order along the axle, and would not do.

A wheel rolls where it touches the ground as a step begins. Contacts of its rim, without friction,
carry it.
"""

from vigym.core.compiler.kernel import inline
from vigym.core.compiler.simd import maximum, sqrt, where
from vigym.core.contact.plane import DEGENERATE, plane_tangents
from vigym.core.math.turns import rolling_factor, rolling_slope
from vigym.core.math.vectors import add, axpy, cross, dot, scale, sub, zero3
from vigym.core.tables.plan import SKATE

GRIP = 1e-3  # gap of a wheel, in parts of its radius, up to which it touches the ground


@inline
def is_nonholonomic(contact):
    """Return whether a contact is a skate or wheel, which needs no interior point."""
    return contact.kind >= SKATE


@inline
def find_gripping_lanes(d, contact, gap):
    """Find the lanes in which a skate holds, all of them, or a wheel whose rim touches."""
    grip = GRIP * contact.radius > gap
    return grip if contact.kind > SKATE else d.full(True)


@inline
def no_slip_point(contact):
    """Return the point whose displacement counts, from the centre of mass: of a wheel the centre.

    A skate's is the point that touches.
    """
    return contact.touching_point if contact.kind == SKATE else contact.point


@inline
def rolling_direction_slope(axle, normal, motion):
    """Compute the derivative of f . ``motion`` by a rotation of the body, f along axle x normal."""
    across = cross(axle, normal)
    square = dot(across, across)
    clear = square > DEGENERATE
    per_square = where(clear, 1.0 / where(clear, square, 1.0), 0.0)
    flat = axpy(-per_square * dot(across, motion), across, motion)
    slope = axpy(dot(axle, flat), normal, scale(-dot(axle, normal), flat))
    return scale(per_square * sqrt(maximum(square, 0.0)), slope)


@inline
def set_no_slip_directions(d, contact, rotation3, normal, motion, step):
    """Set the directions in which a skate or wheel does not slip, and derivatives by a rotation.

    ``motion`` is the displacement of its point [m], ``step`` the quaternion (c, v). Returns both
    displacements that have to vanish [m].
    """
    t1, t2 = plane_tangents(d, contact, rotation3, normal)
    mean_1 = scale(0.5, add(t1, contact.tangent_1))
    mean_2 = scale(0.5, add(t2, contact.tangent_2))
    contact.no_slip_direction_1 = mean_1
    contact.no_slip_direction_2 = mean_2
    contact.no_slip_rotation_1 = scale(0.5, cross(t1, motion))
    contact.no_slip_rotation_2 = zero3(d)
    slip_1, slip_2 = dot(mean_1, motion), dot(mean_2, motion)
    if contact.kind > SKATE:
        radius = contact.radius
        cosine, half = step
        turn = scale(rolling_factor(cosine), half)
        by_heading = axpy(radius, rolling_slope(mean_2, cosine, half), contact.no_slip_rotation_1)
        own = scale(0.5 * radius, cross(t1, turn))
        by_axle = axpy(radius, rolling_slope(mean_1, cosine, half), own)
        heading = scale(0.5 * radius, rolling_direction_slope(t1, normal, turn))
        contact.no_slip_rotation_1 = add(by_heading, heading)
        ahead = scale(0.5, rolling_direction_slope(t1, normal, motion))
        contact.no_slip_rotation_2 = sub(ahead, by_axle)
        slip_1 = slip_1 + radius * dot(mean_2, turn)
        slip_2 = slip_2 - radius * dot(mean_1, turn)
    return slip_1, slip_2


@inline
def change_of_no_slip_velocity(contact, motion, rotation):
    """Compute how a motion changes the velocity of a skate or wheel along its directions.

    ``motion`` is that of its point [m/s], ``rotation`` that of its body [rad/s].
    """
    along_1 = dot(contact.no_slip_direction_1, motion)
    along_2 = dot(contact.no_slip_direction_2, motion)
    return (
        along_1 + dot(contact.no_slip_rotation_1, rotation),
        along_2 + dot(contact.no_slip_rotation_2, rotation),
    )

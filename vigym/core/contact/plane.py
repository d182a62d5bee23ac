"""Contacts with the ground: the point that comes lowest, its gap, and the tangents.

The ground is the plane n . p = height; on terrain it is the plane of the contact in this step, see
`vigym.core.contact.terrain.planes`. A contact is a point of a body that comes lowest: of a ball
(of no radius: a point) or of the rim of a cylinder, whose other three points lie a quarter turn on.
Over a step of size h, from knot 2 to knot 3,

    u_n = (gap(z3) - gap target) / h,  u_k = mu_k t_k . slip / h,  u_s = n . R2 w2,

slip: see `vigym.core.contact.rolling`; t_k: tangents at knot 2, t_1 along the body's own
direction where friction depends on it. The gap target is h times the velocity of a rebound, or
where a step starts below the ground a correction that leads out of it without energy. Skates and
wheels are nonholonomic constraints: contacts that cannot slip and have no normal force, which a
wheel's rim has. Contacts of two bodies: see `vigym.core.contact.segment_box`.
"""

import math

from vigym.core.compiler.kernel import inline, phase
from vigym.core.compiler.lanes import select_by_precision
from vigym.core.compiler.simd import sqrt, where
from vigym.core.math.vectors import add, axpy, cross, dot, mat_vec, scale, select3, sub, zero3
from vigym.core.tables.plan import (
    BALL_CONTACT,
    RIM_CONTACT,
    RIM_HALF_CONTACT,
    RIM_QUARTER_CONTACT,
    SKATE,
    WHEEL,
)

DEGENERATE = 1e-9  # squared length below which a projected direction is undefined
# The same of a rim, in double and in single precision: a rim of 1 m whose lowest point is unknown
# may be 1e-7 m below the ground.
LEVEL_RIM = 1e-13, 1e-9
# sine and cosine of the largest turn round a rim, 0.3 rad, by which its contact follows the lowest
# point in a step
MAX_SINE, MIN_COSINE = math.sin(0.3), math.cos(0.3)


@inline
def ground_plane(d, contact):
    """Read the unit normal [world] and the height [m] of the plane that a contact is on."""
    environment = d.environment
    normal, height = environment.ground_normal, environment.ground_height
    if d.terrain_columns > 0:
        plane = contact.plane
        normal, height = (plane[0], plane[1], plane[2]), plane[3]
    return normal, height


@inline
def project_on_plane(direction, normal, other, least=DEGENERATE):
    """Project a direction on a plane, as a unit vector; ``other`` where it is along the normal.

    It is where the square of its projection is below ``least``.
    """
    flat = axpy(-dot(normal, direction), normal, direction)
    square = dot(flat, flat)
    clear = square > least
    per_length = 1.0 / sqrt(where(clear, square, 1.0))
    return select3(clear, scale(per_length, flat), other)


@inline
def lowest_point(contact, rotation, normal):
    """Find the contact's point that comes lowest, from the body's centre of mass [world]."""
    centre = mat_vec(rotation, contact.point)
    rim = mat_vec(rotation, contact.rim_axis), mat_vec(rotation, contact.rim_side)
    return lowest_point_about(contact.kind, centre, rim, contact.radius, normal)


@inline
def lowest_point_about(kind, centre, rim, radius, normal):
    """Find the point of a ball or rim that comes lowest.

    Args:
        kind: of the contact.
        centre: of the ball or rim [m].
        rim: its axis, and a direction across it.
        radius: of the ball or rim [m].
        normal: of the ground.
    """
    if kind == BALL_CONTACT:
        return axpy(-radius, normal, centre)
    if kind == SKATE:
        return centre
    axis, side = rim
    level = select_by_precision(LEVEL_RIM, radius)
    down = project_on_plane(normal, axis, side, level)  # ``side`` where the rim lies flat
    if kind in (RIM_CONTACT, WHEEL):
        return axpy(-radius, down, centre)
    aside = cross(axis, down)
    if kind == RIM_HALF_CONTACT:
        return axpy(radius, down, centre)
    return axpy(radius if kind == RIM_QUARTER_CONTACT else -radius, aside, centre)


@inline
def rim_point_without_roll(contact, rotation2, rotation3, point):
    """Find a rim's point at knot 3, from the centre of mass [world]: tilted, but not rolled.

    A turn about its axis does not change a rim, and lowers none of its points. ``point`` is the
    point at knot 2 in the body; the smallest turn of the axis from a2 to a3 takes an arm o2 across
    it to o2 - (a3 . o2) (a2 + a3) / (1 + a2 . a3).
    """
    middle = contact.point
    axis = contact.rim_axis
    a2 = mat_vec(rotation2, axis)
    a3 = mat_vec(rotation3, axis)
    o2 = mat_vec(rotation2, sub(point, middle))
    near = 1.0 + dot(a2, a3)
    share = -dot(a3, o2) / where(near > DEGENERATE, near, near + 1.0)
    return add(mat_vec(rotation3, middle), axpy(share, add(a2, a3), o2))


@phase
def limit_rim_turn(d, contact, rotation2, rotation3, lowest):
    """Limit the turn of a rim's lowest point from where its contact is held, both at knot 3.

    Rims with restitution are not limited: their points rebound with velocities of their own.
    Returns (point, lanes in which it is not the lowest one).
    """
    middle = mat_vec(rotation3, contact.point)
    held = rim_point_without_roll(contact, rotation2, rotation3, contact.touching_point)
    arm, way = sub(held, middle), sub(lowest, middle)
    aside = cross(mat_vec(rotation3, contact.rim_axis), arm)
    ahead = dot(aside, way)
    limited = add(
        middle, axpy(where(ahead > 0.0, MAX_SINE, -MAX_SINE), aside, scale(MIN_COSINE, arm))
    )
    far = MIN_COSINE * contact.radius * contact.radius > dot(way, arm)
    far = far & ~(contact.restitution > 0.0)
    return select3(far, limited, lowest), far


@inline
def plane_gap(d, contact, pose, arm):
    """Compute the gap of a body's point [m], ``arm`` from the centre of mass to it."""
    normal, height = ground_plane(d, contact)
    return dot(normal, add(pose.position, arm)) - height


@inline
def plane_tangents(d, contact, rotation, normal):
    """Find both tangents of a contact with the ground, the body turned by ``rotation``.

    The tangents of a skate are its direction and zero, of a wheel its axle and its rolling
    direction.
    """
    flat = d.environment.ground_tangent
    if d.terrain_columns > 0:
        one, o = d.full(1.0), d.full(0.0)
        flat = project_on_plane((one, o, o), normal, (o, one, o))
    along = mat_vec(rotation, contact.direction)
    if contact.kind == SKATE:
        return along, zero3(d)
    if contact.kind == WHEEL:
        axle = mat_vec(rotation, contact.rim_axis)
        return axle, project_on_plane(cross(axle, normal), axle, flat)
    tangent_1 = project_on_plane(along, normal, flat) if contact.tangents_follow_body > 0 else flat
    return tangent_1, cross(normal, tangent_1)

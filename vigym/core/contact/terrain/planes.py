"""Contacts with terrain: the planes that each ball or rim is on in a step.

A ball or rim has PLANES contacts, rows one after the other. Where a step begins each takes one of
the planes of the height field that are near (`vigym.core.contact.terrain.heights`), and keeps it
during the step: it has all properties of a contact with a plane. A ball that rolls over
an edge is on a new plane in the next step, tilted about the edge: it leaves the old one, and gains
no energy.
Triangles that a step has run into are found when it has converged, at knot 3; it is then solved
again with their planes.
"""

from vigym.core.compiler.kernel import inline, phase
from vigym.core.compiler.lanes import lane, with_lane
from vigym.core.compiler.simd import where
from vigym.core.contact.terrain.heights import FAR, Round, nearest_planes
from vigym.core.math.vectors import add, mat_vec
from vigym.core.tables.plan import PAIR_BALL_CONTACT


@inline
def lane3(a, k):
    """Return lane k of a vector as floats."""
    return lane(a[0], k), lane(a[1], k), lane(a[2], k)


@inline
def round_in_lane(d, contact, knot, k):
    """Read the ball or rim of a contact at a knot, in lane k."""
    pose = d.pose(knot, contact.body)
    rotation = pose.rotation
    centre = add(pose.position, mat_vec(rotation, contact.point))
    axis, side = mat_vec(rotation, contact.rim_axis), mat_vec(rotation, contact.rim_side)
    rim = lane3(axis, k), lane3(side, k)
    return Round(contact.kind, lane3(centre, k), rim, lane(contact.radius, k))


@inline
def with_plane(planes, k, plane, level):
    """Replace lane k of a plane; a missing plane is level and below the ball or rim."""
    is_plane = plane[0] < FAR
    return (
        with_lane(planes[0], k, plane[1] if is_plane else 0.0),
        with_lane(planes[1], k, plane[2] if is_plane else 0.0),
        with_lane(planes[2], k, plane[3] if is_plane else 1.0),
        with_lane(planes[3], k, plane[4] if is_plane else level),
        with_lane(planes[4], k, 1.0 if is_plane else 0.0),
    )


@inline
def last_force_in_lane(contact, k):
    """Read the last force of a contact, and its part along the normal, in lane k."""
    force = contact.last_world_force
    normal_force = contact.last_force[0]
    return lane(force[0], k), lane(force[1], k), lane(force[2], k), lane(normal_force, k)


@inline
def misfit(force, plane):
    """Compute by how much a plane misfits a contact's last force [N]; all of it if it is missing.

    ``force`` is the force (3) and its part along the normal of the plane that it was from.
    """
    along = force[0] * plane[1] + force[1] * plane[2] + force[2] * plane[3]
    return abs(along - force[3]) if plane[0] < FAR else force[3]


@inline
def match_planes(planes, forces):
    """Reorder three planes such that contacts are on those that their last forces came from."""
    a, b, c = planes
    if forces[0][3] + forces[1][3] + forces[2][3] > 0.0:
        least = FAR
        found = planes
        for order in (a, b, c), (a, c, b), (b, a, c), (b, c, a), (c, a, b), (c, b, a):
            total = misfit(forces[0], order[0]) + misfit(forces[1], order[1])
            total += misfit(forces[2], order[2])
            if total < least:
                least, found = total, order
        a, b, c = found
    return a, b, c


@inline
def planes_in_lanes(d, contact, knot, before, entered):
    """Find the planes of a ball or rim at a knot, in every lane.

    Contacts that had a force get the plane that it came from.

    Args:
        d: data of the lane group.
        contact: the first of the ball's or rim's contacts.
        knot: knot buffer.
        before: buffer of the knot before the step.
        entered: whether a plane above a ball's centre counts only if it was below it before.

    Returns:
        Three planes as in the field ``plane``.
    """
    second_row, third_row = d.contact(contact.index + 1), d.contact(contact.index + 2)
    o = d.full(0.0)
    first = (o, o, o, o, o)
    second, third = first, first
    terrain_map = d.environment.terrain_map
    for k in range(d.lane_count):
        earlier = round_in_lane(d, contact, before, k), entered
        a, b, c, level = nearest_planes(
            d, int(lane(terrain_map, k)), round_in_lane(d, contact, knot, k), earlier
        )
        own, after = last_force_in_lane(contact, k), last_force_in_lane(second_row, k)
        forces = own, after, last_force_in_lane(third_row, k)
        a, b, c = match_planes((a, b, c), forces)
        first = with_plane(first, k, a, level)
        second = with_plane(second, k, b, level)
        third = with_plane(third, k, c, level)
    return first, second, third


@inline
def select5(mask, a, b):
    """Select five values of ``a`` in the lanes of the mask, else of ``b``."""
    return (
        where(mask, a[0], b[0]),
        where(mask, a[1], b[1]),
        where(mask, a[2], b[2]),
        where(mask, a[3], b[3]),
        where(mask, a[4], b[4]),
    )


@phase(needs="terrain")
def find_planes(d, contact, knot, lanes):
    """Put the contacts of a ball or rim on the planes near it at a knot, in the given lanes.

    The call for the first of its contacts does so for all. On flat ground it has one alone.
    """
    if d.terrain_columns == 0:
        return
    if contact.kind < PAIR_BALL_CONTACT and contact.plane_number == 0:
        planes = planes_in_lanes(d, contact, knot, knot, False)
        for n in range(len(planes)):
            other = d.contact(contact.index + n)
            other.plane = select5(lanes, planes[n], other.plane)


@inline
def is_on_plane(d, contact):
    """Find the lanes in which a contact is on a plane of the ground, or of two bodies."""
    found = d.full(1.0)
    if d.terrain_columns > 0 and contact.kind < PAIR_BALL_CONTACT:
        found = contact.plane[4]
    return found > 0.0

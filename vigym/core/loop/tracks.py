"""Curve and surface joints: rows that keep two sides in touch where they are nearest.

A surface joint has a row that keeps the distance r . w of both sides at their offset, w the unit
vector along N; its derivative is w, as the place follows without changing the distance to first
order. Where the turn about w is locked, another row keeps the angle between a direction of each
side: the tangent of a curve, the first tangent of a plane or patch, the z axis of a ball or an
ellipsoid along its surface. A point on a surface may have an axis that stays along the normal: two
rows keep it across two tangents. A point b on a curve a has two rows, r along two directions across
the tangent, and with an axis that follows the curve two more: the axis along the same directions.
Joints of sides hold bodies wherever they are in the tree: their rows are rows of loops.
"""

from vigym.core.compiler.kernel import inline, no_lanes, phase, zero
from vigym.core.compiler.simd import absolute, maximum, sqrt, where
from vigym.core.loop.custom import set_custom_rows
from vigym.core.loop.places import (
    find_places,
    follow_places,
    normal_derivatives,
    place_derivatives,
    place_equations,
)
from vigym.core.loop.sides import evaluate_side, in_world, own_derivatives
from vigym.core.loop.slides import write_slides
from vigym.core.math.vectors import (
    add,
    axpy,
    cross,
    dot,
    mat_vec,
    max_abs3,
    scale,
    select3,
    sub,
    zero3,
)
from vigym.core.model.context import knot_buffer
from vigym.core.tables.plan import ELLIPSOID_SIDE, POINT_SIDE

LEAST_ALONG = 1e-3  # square of the sine of the angle between z axis and normal that is no pole


@inline
def six(f, m):
    """Join a force and a moment."""
    return f[0], f[1], f[2], m[0], m[1], m[2]


@inline
def side_direction(d, side, S, knot):
    """Compute the direction that measures the turn of a side, and its derivatives by parameters."""
    if side.kind in (POINT_SIDE, ELLIPSOID_SIDE):
        z = d.full(0.0), d.full(0.0), d.full(1.0)
        return in_world(d.pose(knot, side.body).rotation, side.frame, z), zero3(d), zero3(d)
    return S[1], S[3], S[4]


@inline
def directions_across(d, side, knot, direction, chooses):
    """Find two unit vectors across a direction, the tangent of a curve or the normal of a surface.

    An axis of the side helps: z unless the direction is near it at the present knot, else x.
    """
    place = side.next_place if chooses > 0.0 else side.place
    _, S_u, S_v, _, _, _ = own_derivatives(d, side, place)
    there = cross(S_u, S_v) if side.dimensions == 2 else S_u
    o, one = d.full(0.0), d.full(1.0)
    flat = 0.5 * dot(there, there) > there[2] * there[2]
    helper = select3(flat, (o, o, one), (one, o, o))
    first = cross(in_world(d.pose(knot, side.body).rotation, side.frame, helper), direction)
    first = scale(1.0 / sqrt(dot(first, first)), first)
    return first, cross(direction, first)


@inline
def turning_of(direction, w):
    """Compute p with d(angle) = p . d(direction) - (direction . w) p . dw, about w.

    Returns:
        p, direction . w, the part of the direction across w.
    """
    along = dot(direction, w)
    across = axpy(-along, w, direction)
    return scale(1.0 / dot(across, across), cross(w, across)), along, across


@inline
def set_spin_row(d, t, knot, A, B, w):
    """Write the row that keeps the turn about the normal, as row 1; returns its residual."""
    a, b = d.side(2 * t), d.side(2 * t + 1)
    track = d.track(t)
    pose = d.track_pose(knot, track.loop)
    r, arm = sub(B[0], A[0]), sub(B[0], pose.track_anchor)
    N, N_u, N_v, own = normal_derivatives(A, r, a.dimensions == 2)
    e_a, a_u, a_v = side_direction(d, a, A, knot)
    e_b, b_u, b_v = side_direction(d, b, B, knot)
    p_a, along_a, m_a = turning_of(e_a, w)
    p_b, along_b, m_b = turning_of(e_b, w)
    sign = track.sense if a.dimensions == 2 else d.full(1.0)
    k = sub(scale(along_a, p_a), scale(along_b, p_b))
    k = scale(sign / sqrt(dot(N, N)), k)  # the angle changes by k . dN
    by_places = (
        dot(k, N_u) - dot(p_a, a_u),
        dot(k, N_v) - dot(p_a, a_v),
        dot(p_b, b_u) + own * dot(k, B[1]),
        dot(p_b, b_v) + own * dot(k, B[2]),
    )
    J, _ = place_equations(d, a, b, A, B)
    force, moment = follow_places(J, by_places, place_derivatives(d, a, arm, A, B))
    force = add(force, scale(own, k))
    moment = add(moment, add(cross(e_b, p_b), scale(own, cross(arm, k))))
    pose.row_1 = six(force, moment)
    size = sqrt(dot(m_a, m_a) * dot(m_b, m_b))
    sine, cosine = dot(w, cross(m_a, m_b)) / size, dot(m_a, m_b) / size
    c, s = track.locked_cosine, track.locked_sine
    least = dot(m_a, m_a) - LEAST_ALONG * dot(e_a, e_a)
    other = dot(m_b, m_b) - LEAST_ALONG * dot(e_b, e_b)
    near = c * cosine + s * sine > 0.0  # not turned half round
    found = near & (least > 0.0) & (other > 0.0)
    pose.determinant = pose.determinant * where(found, 1.0, 0.0)
    return c * sine - s * cosine


@inline
def set_normal_rows(d, t, knot, A, B, chooses):
    """Write the rows that keep an axis of b along the normal, as rows 1 and 2; returns residuals.

    Of a tangent e of the surface the residual is axis . e; as the place moves, e turns with w.
    """
    a, b = d.side(2 * t), d.side(2 * t + 1)
    track = d.track(t)
    pose = d.track_pose(knot, track.loop)
    arm = sub(B[0], pose.track_anchor)
    N, N_u, N_v, _ = normal_derivatives(A, sub(B[0], A[0]), True)
    J, _ = place_equations(d, a, b, A, B)
    derivatives = place_derivatives(d, a, arm, A, B)
    axis = mat_vec(d.pose(knot, b.body).rotation, track.track_axis)
    w = scale(track.sense, cross(A[1], A[2]))
    w = scale(1.0 / sqrt(dot(w, w)), w)
    e1, e2 = directions_across(d, a, knot, w, chooses)
    turn, o = -dot(axis, w) * track.sense / sqrt(dot(N, N)), d.full(0.0)
    by_places = turn * dot(e1, N_u), turn * dot(e1, N_v), o, o
    force, moment = follow_places(J, by_places, derivatives)
    pose.row_1 = six(force, add(moment, cross(axis, e1)))
    by_places = turn * dot(e2, N_u), turn * dot(e2, N_v), o, o
    force, moment = follow_places(J, by_places, derivatives)
    pose.row_2 = six(force, add(moment, cross(axis, e2)))
    return dot(axis, e1), dot(axis, e2)


@inline
def set_surface_rows(d, t, knot, A, B, chooses):
    """Write the rows of a surface joint: the distance less the offset, and the turn if locked."""
    track, pose = d.track(t), d.track_pose(knot, d.track(t).loop)
    o = d.full(0.0)
    r = sub(B[0], A[0])
    w = r
    if d.side(2 * t).dimensions == 2:
        w = scale(track.sense, cross(A[1], A[2]))
    w = scale(1.0 / sqrt(dot(w, w)), w)
    pose.row_0 = six(w, cross(sub(B[0], pose.track_anchor), w))
    turned, other = o, o
    if track.row_count == 2:
        turned = set_spin_row(d, t, knot, A, B, w)
    elif track.row_count == 3:
        turned, other = set_normal_rows(d, t, knot, A, B, chooses)
    pose.gaps = (dot(w, r) - track.offset, turned, other, 0.0)


@inline
def set_curve_rows(d, t, knot, A, B, chooses):
    """Write the rows of a curve joint: across the tangent, and the axis that follows it."""
    track, b = d.track(t), d.side(2 * t + 1)
    pose = d.track_pose(knot, track.loop)
    arm, r = sub(B[0], pose.track_anchor), sub(B[0], A[0])
    speed = sqrt(dot(A[1], A[1]))
    tangent = scale(1.0 / speed, A[1])
    n1, n2 = directions_across(d, d.side(2 * t), knot, tangent, chooses)
    axis = zero3(d)
    pose.row_0 = six(n1, cross(arm, n1))
    pose.row_1 = six(n2, cross(arm, n2))
    if track.row_count > 2:
        axis = mat_vec(d.pose(knot, b.body).rotation, track.track_axis)
        f1 = scale(-dot(axis, tangent) * dot(n1, A[3]) / (speed * speed), tangent)
        f2 = scale(-dot(axis, tangent) * dot(n2, A[3]) / (speed * speed), tangent)
        pose.row_2 = six(f1, add(cross(arm, f1), cross(axis, n1)))
        pose.row_3 = six(f2, add(cross(arm, f2), cross(axis, n2)))
    pose.gaps = (dot(r, n1), dot(r, n2), dot(axis, n1), dot(axis, n2))


@phase(needs="tracks", otherwise=zero)
def write_tracks(d, knot, chooses, lanes):
    """Find all places at a knot, and write the rows there; returns the largest residual.

    Args:
        d: data of the lane group.
        knot: buffer of the knot.
        chooses: 1 where the places found choose the directions of rows, 0 where those of the
            present knot do: both knots of a step have to have the same.
        lanes: lanes in which places are found; the others keep theirs.
    """
    worst = d.full(0.0)
    for t in range(d.track_count):
        if d.track(t).function != 0:
            set_custom_rows(d, t, knot, chooses, lanes)
            worst = maximum(worst, largest_gap(d, t, knot))
            continue
        find_places(d, t, knot, lanes)
        a, b = d.side(2 * t), d.side(2 * t + 1)
        A, B = evaluate_side(d, a, a.next_place, knot), evaluate_side(d, b, b.next_place, knot)
        if d.track(t).on_curve > 0:
            set_curve_rows(d, t, knot, A, B, chooses)
        else:
            set_surface_rows(d, t, knot, A, B, chooses)
        worst = maximum(worst, largest_gap(d, t, knot))
    write_slides(d, knot)
    return worst


@inline
def largest_gap(d, t, knot):
    """Find the largest residual of the rows of a joint."""
    track = d.track(t)
    gaps = d.track_pose(knot, track.loop).gaps
    worst = maximum(absolute(gaps[0]), absolute(gaps[1]))
    worst = maximum(worst, maximum(absolute(gaps[2]), absolute(gaps[3])))
    if track.row_count > 4:
        worst = maximum(worst, absolute(d.track_pose(knot, track.more).gaps[0]))
    return worst


@phase(needs="tracks", otherwise=zero)
def place_tracks(d, knot, lanes):
    """Find the places of the lanes at a guess of a knot, and write all rows.

    Returns the largest residual.
    """
    return write_tracks(d, knot, 0.0, lanes)


@phase(needs="tracks", otherwise=no_lanes)
def find_jumps(d, knot2, knot3):
    """Find the lanes in which a place is not the one that the place at knot 2 leads to.

    It is far from there, a singular place lies between, or none was found: Newton then led to
    another place where the sides touch.
    """
    jumped = d.full(False)
    for t in range(d.track_count):
        loop = d.track(t).loop
        kept = d.track_pose(knot2, loop).determinant * d.track_pose(knot3, loop).determinant
        jumped = jumped | ~(kept > 0.0)
        for s in range(2 * t, 2 * t + 2):
            side = d.side(s)
            change = max_abs3(sub(side.next_place, side.place))
            jumped = jumped | (change > side.longest_change)
    return jumped


@phase(needs="tracks", otherwise=zero)
def start_tracks(d, knot, lanes):
    """Take the places at the present knot, and write the rows there; returns the worst residual.

    Other lanes keep the places at their guess of knot 3: their step is solved, and a neighbour
    attempts it once more.
    """
    for s in range(2 * d.track_count):
        side = d.side(s)
        side.kept_place = side.next_place
        side.next_place = side.place
    worst = write_tracks(d, knot, 1.0, d.full(True))
    for s in range(2 * d.track_count):
        side = d.side(s)
        side.next_place = select3(lanes, side.next_place, side.kept_place)
    return worst


@phase(needs="tracks")
def store_places(d, knot, mask):
    """Find the places at the knot that was reached, and store them in the lanes of the mask."""
    place_tracks(d, knot, d.full(True))
    for s in range(2 * d.track_count):
        side = d.side(s)
        side.place = select3(mask, side.next_place, side.place)


@phase(needs="tracks")
def assemble_places(d):
    """Take the places at the assembly pose."""
    for s in range(2 * d.track_count):
        side = d.side(s)
        side.place = side.start_place
        side.next_place = side.start_place


@phase(needs="tracks")
def start_places(d, mask):
    """Find the places at the present knot from those at the assembly, in the lanes of the mask."""
    assemble_places(d)
    store_places(d, knot_buffer(d, 0), mask)

"""Joints of the user's own in the step: their coordinates, rows, and directions along coordinates.

Both sides of such a joint share its coordinates q, three each. `vigym.core.compiler.transforms` has
the equations; here poses of bodies become the gap that it is given, and its rows turn to the world.
"""

from vigym.core.compiler.kernel import inline, phase
from vigym.core.compiler.simd import where
from vigym.core.compiler.transforms import call_transform
from vigym.core.math.vectors import (
    add,
    cross,
    dot,
    extract_columns,
    mat_t_vec,
    mat_vec,
    matmul,
    select3,
    select4,
    select6,
    sub,
)


@inline
def solve_transform(d, t, knot, chooses):
    """Solve for the coordinates of joint t at a knot, from ``next_place``.

    Args:
        d: data of the lane group.
        t: number of the joint.
        knot: buffer of the poses.
        chooses: 1 where the coordinates found choose the rows, else those of the present knot.

    Returns:
        Result of the compiled function, axes of the parent's frame in the world, place of the
        child's frame from the joint's anchor [world].
    """
    a, b = d.side(2 * t), d.side(2 * t + 1)
    pose_a, pose_b = d.pose(knot, a.body), d.pose(knot, b.body)
    axes = matmul(pose_a.rotation, a.frame)
    turned = extract_columns(matmul(pose_b.rotation, b.frame))
    place = add(pose_b.position, mat_vec(pose_b.rotation, b.origin))
    r = sub(place, add(pose_a.position, mat_vec(pose_a.rotation, a.origin)))
    given = (
        (a.next_place, b.next_place, a.place, b.place),
        mat_t_vec(axes, r),
        (mat_t_vec(axes, turned[0]), mat_t_vec(axes, turned[1]), mat_t_vec(axes, turned[2])),
        d.full(chooses),
    )
    found = call_transform(d.track(t).function, given)
    return found, axes, sub(place, d.track_pose(knot, d.track(t).loop).track_anchor)


@inline
def world_row(axes, arm, force, moment):
    """Turn a row about the child's frame in the parent's axes to one about the anchor."""
    f = mat_vec(axes, force)
    m = add(mat_vec(axes, moment), cross(arm, f))
    return f[0], f[1], f[2], m[0], m[1], m[2]


@inline
def along_coordinate(found, n):
    """Return force and moment of the row along coordinate n."""
    if n == 0:
        return found[14], found[15]
    if n == 1:
        return found[12], found[13]
    if n == 2:
        return found[10], found[11]
    return (found[8], found[9]) if n == 3 else (found[6], found[7])


@inline
def coordinate(found, n):
    """Return coordinate n."""
    q = found[0] if n < 3 else found[1]
    k = n if n < 3 else n - 3
    return q[0] if k == 0 else (q[1] if k == 1 else q[2])


@inline
def write_first_row(d, knot, loop, row, gaps, lanes):
    """Write the first row of a joint, and residuals, in the lanes; the others keep theirs."""
    pose = d.track_pose(knot, loop)
    pose.row_0 = select6(lanes, row, pose.row_0)
    pose.gaps = select4(lanes, gaps, pose.gaps)


@phase(needs="tracks")
def set_custom_rows(d, t, knot, chooses, lanes):
    """Find the coordinates of a joint of the user's at a knot, and write its rows there.

    Other lanes keep theirs: one more iteration would move them by their rounding.
    """
    track = d.track(t)
    pose, o = d.track_pose(knot, track.loop), d.full(0.0)
    found, axes, arm = solve_transform(d, t, knot, chooses)
    a, b = d.side(2 * t), d.side(2 * t + 1)
    a.next_place = select3(lanes, found[0], a.next_place)
    b.next_place = select3(lanes, found[1], b.next_place)
    first, last = found[2], found[3]
    pose.determinant = where(lanes, last[2], pose.determinant)
    n = track.row_count
    gaps = first[0], first[1] if n > 1 else o, first[2] if n > 2 else o, last[0] if n > 3 else o
    first_row = world_row(axes, arm, found[4], found[5])
    write_first_row(d, knot, track.loop, first_row, gaps, lanes)
    pose.row_1 = select6(lanes, world_row(axes, arm, found[6], found[7]), pose.row_1)
    pose.row_2 = select6(lanes, world_row(axes, arm, found[8], found[9]), pose.row_2)
    pose.row_3 = select6(lanes, world_row(axes, arm, found[10], found[11]), pose.row_3)
    if n > 4:
        fifth = world_row(axes, arm, found[12], found[13])
        write_first_row(d, knot, track.more, fifth, (last[1], o, o, o), lanes)
    for k in range(track.first_slide, track.first_slide + track.slide_count):
        slide = d.slide(k)
        force, moment = along_coordinate(found, slide.parameter)
        gaps = coordinate(found, slide.parameter), o, o, o
        along = world_row(axes, arm, force, moment)
        write_first_row(d, knot, slide.loop, along, gaps, lanes)


@inline
def custom_rates(d, t, knot, motion):
    """Compute the rates of the coordinates of a joint at a knot, three and three.

    Args:
        d: data of the lane group.
        t: number of the joint.
        knot: buffer of the poses.
        motion: (shift of the anchor, rotation) of the child against the parent.
    """
    found, axes, arm = solve_transform(d, t, knot, 1.0)
    v, w = mat_t_vec(axes, add(motion[0], cross(motion[1], arm))), mat_t_vec(axes, motion[1])
    dofs, o = 6 - d.track(t).row_count, d.full(0.0)
    first = coordinate_rate(found, 0, v, w)
    second = coordinate_rate(found, 1, v, w) if dofs > 1 else o
    third = coordinate_rate(found, 2, v, w) if dofs > 2 else o
    fourth = coordinate_rate(found, 3, v, w) if dofs > 3 else o
    fifth = coordinate_rate(found, 4, v, w) if dofs > 4 else o
    return (first, second, third), (fourth, fifth, o)


@inline
def coordinate_rate(found, n, v, w):
    """Compute the rate of coordinate n from velocities in the parent's axes."""
    force, moment = along_coordinate(found, n)
    return dot(force, v) + dot(moment, w)

"""Constraints that close loops: residuals of their rows, and directions in which they act.

A loop-closing joint or a spring between two points holds two bodies together, a (its parent) and b
(its child). Each of its loop rows has a direction (f, m): a unit force at the loop's anchor on b,
and a unit moment; the row's residual changes by f . (relative shift of the anchors) + m . (relative
rotation), and its multiplier acts with the wrench (f, m) on b and the opposite one on a.

- position: t . (y_b - y_a) = 0, t fixed in a: direction (t, 0);
- orientation: u . w = 0, u fixed in a, w fixed in b: direction (0, w x u);
- compliant rows yield: the force of a spring or damper along a dof, or along the line between two
  points.
"""

from vigym.core.compiler.kernel import inline, phase, zero
from vigym.core.compiler.simd import absolute, maximum, minimum, sqrt, where
from vigym.core.joint.ball_spring import write_ball_increments
from vigym.core.joint.bounded_forces import joint_has_bounded_forces
from vigym.core.joint.damping import damper_at_knot, damper_before_knot
from vigym.core.joint.geometry import anchor_separation, position_closure
from vigym.core.math.vectors import add, axpy, cross, dot, mat_vec, scale, sub, zero3
from vigym.core.model.context import (
    first_point_spring,
    loop_end,
    point_spring_end,
    slide_row,
)
from vigym.core.tables.plan import (
    COMPLIANT_LENGTH_ROW,
    COMPLIANT_ORIENTATION_ROW,
    COMPLIANT_POSITION_ROW,
    COMPLIANT_SLIDE_ROW,
    ORIENTATION_ROW,
    POSITION_ROW,
    TRACK_ROW,
)

# times the force scale: a spring whose rounding is more than 1e-8 of that is not solved
SPRING_TERMS = 2.5e6


@phase(needs="loops")
def update_loop_anchors(d, knot):
    """Write the anchor of each loop on its child, in a knot buffer."""
    for loop in range(d.first_loop, loop_end(d)):
        closure, pose = d.body(loop), d.pose(knot, loop)
        child = d.pose(knot, closure.child)
        arm = sub(closure.child_anchor, d.body(closure.child).child_anchor)
        pose.anchor = add(child.anchor, mat_vec(child.rotation, arm))


@inline
def point_spring_length(d, loop, knot):
    """Compute the distance of a spring's ends [m]."""
    separation = anchor_separation(d, loop, knot)
    return sqrt(dot(separation, separation))


@inline
def unit_or_zero(vector):
    """Compute a unit vector; zero for a vector of no length, whose direction is undefined."""
    size = sqrt(dot(vector, vector))
    s = where(size > 0.0, 1.0 / size, 0.0)
    return scale(s, vector)


@inline
def row_vectors_in_world(d, loop, loop_row, knot):
    """Compute the two vectors of a row, fixed in bodies a and b [world]."""
    closure = d.body(loop)
    u = mat_vec(d.pose(knot, closure.parent).rotation, loop_row.vector_a)
    w = mat_vec(d.pose(knot, closure.child).rotation, loop_row.vector_b)
    return u, w


@inline
def row_of_more(d, loop):
    """Find the row of the fifth constraint of a joint of the user's."""
    return d.track(loop - point_spring_end(d) - d.slide_count).more


@inline
def track_direction(d, loop, n, knot):
    """Read the direction (f, m) of row n of a curve or surface joint at a knot."""
    track = d.track_pose(knot, loop)
    row = track.row_0
    if n == 1:
        row = track.row_1
    elif n == 2:
        row = track.row_2
    elif n == 3:
        row = track.row_3
    elif n == 4:
        row = d.track_pose(knot, row_of_more(d, loop)).row_0
    return (row[0], row[1], row[2]), (row[3], row[4], row[5])


@inline
def track_gap(d, loop, n, knot):
    """Read the residual of row n of a curve or surface joint at a knot."""
    gaps = d.track_pose(knot, loop).gaps
    if n == 4:
        return d.track_pose(knot, row_of_more(d, loop)).gaps[0]
    return gaps[0] if n == 0 else (gaps[1] if n == 1 else (gaps[2] if n == 2 else gaps[3]))


@inline
def row_direction(d, loop, loop_row, knot):
    """Compute the direction (f, m) of a loop row at a knot [world]."""
    kind = loop_row.kind
    if d.track_count > 0 and kind == TRACK_ROW:
        return track_direction(d, loop, loop_row.index - d.body(loop).first_loop_row, knot)
    if d.slide_count > 0 and kind == COMPLIANT_SLIDE_ROW:
        return track_direction(d, loop, 0, knot)
    u, w = row_vectors_in_world(d, loop, loop_row, knot)
    o = zero3(d)
    if kind == COMPLIANT_LENGTH_ROW:
        return unit_or_zero(anchor_separation(d, loop, knot)), o
    if kind in (POSITION_ROW, COMPLIANT_POSITION_ROW):
        return u, o
    if kind == ORIENTATION_ROW:
        return o, cross(w, u)
    if d.body(loop).rotation_count == 2:  # the first axis is fixed in a, the second in b
        return o, add(u, w)
    return o, w


@inline
def row_slope(d, loop, loop_row, knot):
    """Compute the direction (f, m) along which the residual of a loop row changes [world].

    It is that of its force but for rows of three free rotations, whose loads change along others.
    """
    if loop_row.kind == COMPLIANT_ORIENTATION_ROW and d.body(loop).rotation_count == 3:
        axis = d.dof(loop_row.dof).increment_axis
        return zero3(d), mat_vec(d.pose(knot, d.body(loop).child).rotation, axis)
    return row_direction(d, loop, loop_row, knot)


@inline
def loop_arms(d, loop, knot):
    """Compute the arms from the anchors of parent and child to the loop's own."""
    closure = d.body(loop)
    anchor = d.pose(knot, loop).anchor
    arm_a = sub(anchor, d.pose(knot, closure.parent).anchor)
    return arm_a, sub(anchor, d.pose(knot, closure.child).anchor)


@inline
def relative_motion(arms, motion_a, motion_b):
    """Compute the motion of a loop's anchor on b against that on a: (shift, rotation).

    The motions of the bodies are (shift of the anchor, rotation).
    """
    at_a = add(motion_a[0], cross(motion_a[1], arms[0]))
    at_b = add(motion_b[0], cross(motion_b[1], arms[1]))
    return sub(at_b, at_a), sub(motion_b[1], motion_a[1])


@inline
def loop_closure_correction(d, loop, knot):
    """Compute how closing the joints of the tree moves the loop's ends relative to each other."""
    closure = d.body(loop)
    a, b = d.body(closure.parent), d.body(closure.child)
    motion_a = a.position_correction, a.rotation_correction
    motion_b = b.position_correction, b.rotation_correction
    return relative_motion(loop_arms(d, loop, knot), motion_a, motion_b)


@inline
def loop_newton_increment(d, loop, knot):
    """Compute the relative motion of the loop's ends by the increment, at a knot the velocity."""
    closure = d.body(loop)
    a, b = d.body(closure.parent), d.body(closure.child)
    motion_a = a.delta_position, a.delta_rotation
    motion_b = b.delta_position, b.delta_rotation
    return relative_motion(loop_arms(d, loop, knot), motion_a, motion_b)


@phase(needs="loops", otherwise=zero)
def loop_residuals(d, knot):
    """Write the residual of every loop row, the joints of the tree closed to first order.

    Returns:
        Largest of a row that does not yield: a length over the length scale, or an angle [rad].
    """
    worst, per_length = d.full(0.0), 1.0 / d.environment.length_scale
    for loop in range(d.first_loop, loop_end(d)):
        closure = d.body(loop)
        separation = anchor_separation(d, loop, knot)
        shift, rotation = loop_closure_correction(d, loop, knot)
        for r in range(closure.first_loop_row, closure.first_loop_row + closure.loop_row_count):
            loop_row = d.loop_row(r)
            f, m = row_slope(d, loop, loop_row, knot)
            gap = dot(f, shift) + dot(m, rotation)
            if loop_row.kind == POSITION_ROW:
                gap = gap + dot(f, separation)
                worst = maximum(worst, absolute(gap) * per_length)
            elif loop_row.kind == ORIENTATION_ROW:
                u, w = row_vectors_in_world(d, loop, loop_row, knot)
                gap = gap + dot(u, w)
                worst = maximum(worst, absolute(gap))
            elif d.track_count > 0 and loop_row.kind == TRACK_ROW:
                gap = gap + track_gap(d, loop, r - closure.first_loop_row, knot)
                worst = maximum(worst, absolute(gap) * maximum(per_length, 1.0))
            else:
                dof = d.dof(loop_row.dof)
                gap = gap * dof.compliance + dof.load
            loop_row.residual = gap
    return worst


@phase(needs="loops", otherwise=zero)
def loop_rate_residuals(d, knot):
    """Write the relative velocity along every loop row; of a row that yields its load.

    The velocities are those in ``delta_position`` and ``delta_rotation``.

    Returns:
        Largest [m/s over the length scale, rad/s].
    """
    worst, per_length = d.full(0.0), 1.0 / d.environment.length_scale
    for loop in range(d.first_loop, loop_end(d)):
        closure = d.body(loop)
        shift, rotation = loop_newton_increment(d, loop, knot)
        for r in range(closure.first_loop_row, closure.first_loop_row + closure.loop_row_count):
            loop_row = d.loop_row(r)
            f, m = row_direction(d, loop, loop_row, knot)
            rate = dot(f, shift) + dot(m, rotation)
            if loop_row.kind == POSITION_ROW:
                worst = maximum(worst, absolute(rate) * per_length)
            elif loop_row.kind == ORIENTATION_ROW:
                worst = maximum(worst, absolute(rate))
            elif d.track_count > 0 and loop_row.kind == TRACK_ROW:
                worst = maximum(worst, absolute(rate) * maximum(per_length, 1.0))
            else:
                rate = d.dof(loop_row.dof).load
            loop_row.residual = rate
    return worst


@inline
def write_closing_increment(d, loop, knot, closes):
    """Write the increments along the dofs of a loop-closing joint or slide with bounded forces."""
    closure = d.body(loop)
    if joint_has_bounded_forces(closure):
        shift, rotation = loop_newton_increment(d, loop, knot)
        by_shift, by_rotation = loop_closure_correction(d, loop, knot)
        part = d.full(closes)
        shift, rotation = axpy(part, by_shift, shift), axpy(part, by_rotation, rotation)
        for r in range(closure.first_loop_row, closure.first_loop_row + closure.loop_row_count):
            loop_row = d.loop_row(r)
            if loop_row.kind > ORIENTATION_ROW:
                f, m = row_slope(d, loop, loop_row, knot)
                dof = d.dof(loop_row.dof)
                dof.increment = dot(f, shift) + dot(m, rotation)
        if closure.rotation_count == 3:
            write_ball_increments(d, loop, knot, rotation)


@phase(needs="loops")
def write_closing_increments(d, knot, closes):
    """Write the increments along the dofs of loop-closing joints and slides with bounded forces.

    Args:
        d: data of the lane group.
        knot: buffer of the knot that moves.
        closes: part of the motion that closes the joints of the tree which belongs to them.
    """
    for loop in range(d.first_loop, first_point_spring(d)):
        write_closing_increment(d, loop, knot, closes)
    for k in range(d.slide_count):
        write_closing_increment(d, slide_row(d, k), knot, closes)


@phase(needs="loops")
def update_loop_axis_and_motion(d, knot):
    """Write the axis of each loop in its child, and the motion of the loop's anchor there.

    It follows from the motion of the bodies in ``delta_position`` and ``delta_rotation``.
    """
    for loop in range(d.first_loop, point_spring_end(d)):
        closure, pose = d.body(loop), d.pose(knot, loop)
        child = d.body(closure.child)
        pose.axis = mat_vec(d.pose(knot, closure.child).rotation, closure.child_axis)
        _, arm = loop_arms(d, loop, knot)
        _, lever = position_closure(d, loop, knot)
        rotation = child.delta_rotation
        closure.lever3 = lever
        closure.delta_rotation = rotation
        closure.delta_position = add(child.delta_position, cross(rotation, arm))


@inline
def loop_constraint_wrench(d, loop, knot):
    """Compute the wrench about the loop's anchor with which its rigid rows hold the child.

    The multipliers are those of the last step.
    """
    closure = d.body(loop)
    force, torque = zero3(d), zero3(d)
    for r in range(closure.first_loop_row, closure.first_loop_row + closure.loop_row_count):
        loop_row = d.loop_row(r)
        if loop_row.kind <= ORIENTATION_ROW:
            multiplier = loop_row.last_multiplier
            f, m = row_direction(d, loop, loop_row, knot)
            force = axpy(multiplier, f, force)
            torque = axpy(multiplier, m, torque)
    return force, torque


@phase(needs="loops")
def subtract_loop_forces(d, knot):
    """Subtract the last step's loop forces from the body wrenches."""
    for loop in range(d.first_loop, loop_end(d)):
        closure = d.body(loop)
        a, b = d.body(closure.parent), d.body(closure.child)
        arm_a, arm_b = loop_arms(d, loop, knot)
        for r in range(closure.first_loop_row, closure.first_loop_row + closure.loop_row_count):
            loop_row = d.loop_row(r)
            f, m = row_direction(d, loop, loop_row, knot)
            multiplier = loop_row.last_multiplier
            add_wrench(b, -multiplier, f, add(m, cross(arm_b, f)))
            add_wrench(a, multiplier, f, add(m, cross(arm_a, f)))


@inline
def add_wrench(body, factor, force, torque):
    """Add a multiple of a wrench to a body's wrench."""
    body.force = axpy(factor, force, body.force)
    body.torque = axpy(factor, torque, body.torque)


@phase(needs="loops")
def store_point_spring_lengths(d, knot, mask):
    """Store the lengths of all springs between points, in the lanes of the mask."""
    for loop in range(first_point_spring(d), point_spring_end(d)):
        dof = d.dof(d.body(loop).first_dof)
        dof.sine = where(mask, point_spring_length(d, loop, knot), dof.sine)


@inline
def point_spring_tension(d, loop, knot3):
    """Compute the force of a spring between two points over a step [N].

    It comes from the mean of its lengths at both knots. Its discrete potential is
    h V((l2 + l3)/2): conservative like the spring at a knot, and stable along it at any stiffness.

    Returns:
        Force, length at buffer ``knot3``, length at the stored knot.
    """
    dof = d.dof(d.body(loop).first_dof)
    l3, l2 = point_spring_length(d, loop, knot3), dof.sine
    stretch = 0.5 * (l2 + l3) - dof.rest
    return dof.stiffness * stretch, l3, l2


@phase(needs="loops")
def assemble_point_spring_loads(d, knot3, h, rho):
    """Write the loads of springs between points at the present guess of knot 3, and their slopes.

    Half of the force acts at each knot.
    """
    per_h = 1.0 / h
    for loop in range(first_point_spring(d), point_spring_end(d)):
        dof = d.dof(d.body(loop).first_dof)
        damping, by_slow_rate = damper_at_knot(dof, h, rho)
        tension, l3, l2 = point_spring_tension(d, loop, knot3)
        force = 0.5 * tension + per_h * damping * (l3 - l2) - by_slow_rate
        dof.load = dof.constant_load + force
        dof.compliance = 0.25 * dof.stiffness + per_h * damping


@inline
def write_point_spring_knot_loads(d, h1):
    """Write the dampers of springs between points over half the last step, and their slopes."""
    for loop in range(first_point_spring(d), point_spring_end(d)):
        dof = d.dof(d.body(loop).first_dof)
        dof.compliance, by_slow_rate = damper_before_knot(dof, h1)
        dof.load = dof.constant_load - by_slow_rate


@inline
def largest_point_spring_term(d, largest):
    """Find the largest term that springs between points bring into a residual [N m].

    Args:
        d: data of the lane group.
        largest: largest term so far.

    Returns:
        Largest term.
    """
    for loop in range(first_point_spring(d), point_spring_end(d)):
        dof = d.dof(d.body(loop).first_dof)
        arm = dof.sine
        bound = SPRING_TERMS * d.environment.force_scale * d.environment.length_scale
        term = dof.stiffness * arm * arm
        largest = maximum(largest, minimum(term, bound))
    return largest

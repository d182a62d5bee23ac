"""Velocity constraints: a weighted sum of velocities of bodies follows a function of time.

    sum over terms of (a . v + b . omega) = c(t)    [BAR: velocity-dependent constraints]

v is the velocity of a body's centre of mass, omega its angular velocity. The weights a and b are
fixed in the world or in a body, the frame of the term. Over a step the row asks for

    sum (a2 + a3)/2 . (x3 - x2) + (b2 + b3)/2 . h R2 omega = integral of c,

where omega is the rate of rotation over the step (`vigym.core.math.turns`), and weights are those
at both knots: the same forward and backward in time. Its multiplier acts at knot 2, along the
weights there or along directions of its own (push), on the bodies of the terms.
Each row is a loop row that is eliminated in the world, and has a fill-in row at the bodies of its
terms, at those of their frames, and on the way from there to the root.
"""

from vigym.core.body.pose import mean_rotation_rate
from vigym.core.compiler.kernel import inline, phase
from vigym.core.compiler.simd import absolute
from vigym.core.math.quaternions import conjugate, quaternion_product, vector_part
from vigym.core.math.turns import rotation_rate, rotation_slope
from vigym.core.math.vectors import add, axpy, cross, dot, mat_vec, scale, sub, zero3


@inline
def term_end(motion):
    """Find the number behind the last term of a velocity constraint."""
    return motion.first_term + motion.term_count


@inline
def push_at(d, term, knot):
    """Compute force and torque of the row's unit multiplier on a term's body at a knot [world]."""
    rotation = d.pose(knot, term.frame).rotation
    return mat_vec(rotation, term.push), mat_vec(rotation, term.push_torque)


@inline
def mean_weights(d, term, knot2, knot3):
    """Compute the mean of a term's weights at both knots, and those at knot 3 [world]."""
    before, after = d.pose(knot2, term.frame).rotation, d.pose(knot3, term.frame).rotation
    linear, angular = term.linear, term.angular
    a, b = mat_vec(after, linear), mat_vec(after, angular)
    mean_a = scale(0.5, add(mat_vec(before, linear), a))
    mean_b = scale(0.5, add(mat_vec(before, angular), b))
    return mean_a, mean_b, a, b


@inline
def body_step(d, i, knot2, knot3):
    """Compute shift of a body between two knots, and the quaternion (c, v) of its turn [world]."""
    pose2, pose3 = d.pose(knot2, i), d.pose(knot3, i)
    turn = quaternion_product(conjugate(pose2.orientation), pose3.orientation)
    v = mat_vec(pose2.rotation, vector_part(turn))
    return sub(pose3.position, pose2.position), turn[0], v


@inline
def term_derivatives(d, term, knot2, knot3):
    """Compute the part of a term in its row over a step, and its derivatives.

    Returns:
        The term, its derivative by the shift of the body's anchor, by the body's rotation, and by
        the rotation of the frame.
    """
    mean_a, mean_b, a, b = mean_weights(d, term, knot2, knot3)
    shift, c, v = body_step(d, term.body, knot2, knot3)
    theta, arm = rotation_rate(scale(2.0, v), c), d.pose(knot3, term.body).arm
    by_rotation = sub(rotation_slope(mean_b, c, v), cross(arm, mean_a))
    by_frame = scale(0.5, add(cross(a, shift), cross(b, theta)))
    return dot(mean_a, shift) + dot(mean_b, theta), mean_a, by_rotation, by_frame


@inline
def clear_fill_in(d, q):
    """Set K and B of a fill-in row to zero; -1 is none."""
    if q >= 0:
        fill_in, o = d.fill_in(q), zero3(d)
        fill_in.K_force, fill_in.K_torque = o, o
        fill_in.B_force, fill_in.B_torque = o, o


@phase(needs="imposed")
def clear_velocity_rows(d):
    """Set K and B of velocity constraints to zero: they hold nothing."""
    for m in range(d.motion_count):
        motion = d.motion(m)
        for n in range(motion.first_term, term_end(motion)):
            clear_fill_in(d, d.term(n).body_fill_in)
            clear_fill_in(d, d.term(n).frame_fill_in)


@phase(needs="imposed")
def write_velocity_rows(d, knot2, knot3):
    """Write K and B of velocity constraints at the bodies of their terms and frames."""
    clear_velocity_rows(d)
    for m in range(d.motion_count):
        motion = d.motion(m)
        for n in range(motion.first_term, term_end(motion)):
            term = d.term(n)
            _, by_shift, by_rotation, by_frame = term_derivatives(d, term, knot2, knot3)
            force, torque = push_at(d, term, knot2)
            torque = sub(torque, cross(d.pose(knot2, term.body).arm, force))
            fill_in = d.fill_in(term.body_fill_in)
            fill_in.K_force = add(fill_in.K_force, by_shift)
            fill_in.K_torque = add(fill_in.K_torque, by_rotation)
            fill_in.B_force = add(fill_in.B_force, force)
            fill_in.B_torque = add(fill_in.B_torque, torque)
            if term.frame_fill_in >= 0:
                of_frame = d.fill_in(term.frame_fill_in)
                of_frame.K_torque = add(of_frame.K_torque, by_frame)


@inline
def set_velocity_residual(d, motion, knot2, knot3):
    """Write the residual of a velocity constraint over a step, the joints of the tree closed.

    Returns:
        Its absolute value.
    """
    residual = motion.value - motion.goal
    for n in range(motion.first_term, term_end(motion)):
        term = d.term(n)
        value, by_shift, by_rotation, by_frame = term_derivatives(d, term, knot2, knot3)
        body, frame = d.body(term.body), d.body(term.frame)
        residual = residual + value
        residual = residual + dot(by_shift, body.position_correction)
        residual = residual + dot(by_rotation, body.rotation_correction)
        residual = residual + dot(by_frame, frame.rotation_correction)
    loop_row = d.loop_row(motion.loop_row)
    loop_row.residual = residual
    return absolute(residual)


@inline
def push_rate(d, motion, knot2, knot3):
    """Compute the rate along the pushes at knot 2, of the velocities that led to knot 3."""
    rate = d.full(0.0)
    for n in range(motion.first_term, term_end(motion)):
        term = d.term(n)
        force, torque = push_at(d, term, knot2)
        pose = d.pose(knot3, term.body)
        omega = mat_vec(d.pose(knot2, term.body).rotation, mean_rotation_rate(pose))
        rate = rate + dot(force, pose.velocity) + dot(torque, omega)
    return rate


@inline
def push_rate_at_knot(d, motion, knot):
    """Compute the rate along the pushes of the velocities at a knot.

    They are those in ``delta_position`` and ``delta_rotation``.
    """
    rate = d.full(0.0)
    for n in range(motion.first_term, term_end(motion)):
        term = d.term(n)
        force, torque = push_at(d, term, knot)
        body, omega = d.body(term.body), d.body(term.body).delta_rotation
        v = sub(body.delta_position, cross(omega, d.pose(knot, term.body).arm))
        rate = rate + dot(force, v) + dot(torque, omega)
    return rate


@inline
def velocity_row_rate(d, motion, knot2, knot3):
    """Compute the rate that a row's force works along, before and after knot 2.

    Without pushes of its own that is the prescribed rate there: zero, and then there is no work.
    """
    rate = motion.value_rate
    if motion.does_work > 0:
        before = push_rate(d, motion, knot2, knot2)
        rate = 0.5 * (before + push_rate(d, motion, knot2, knot3))
    return rate


@inline
def velocity_row_knot_rate(d, motion, knot):
    """Compute the rate that a row's force works along in the half step up to a knot."""
    rate = motion.value_rate
    if motion.does_work > 0:
        rate = 0.5 * (push_rate_at_knot(d, motion, knot) + push_rate(d, motion, knot, knot))
    return rate


@phase(needs="imposed")
def subtract_velocity_row_forces(d, knot):
    """Subtract the last step's forces of velocity constraints from the body wrenches."""
    for m in range(d.motion_count):
        motion = d.motion(m)
        multiplier = d.loop_row(motion.loop_row).last_multiplier
        for n in range(motion.first_term, term_end(motion)):
            term = d.term(n)
            force, torque = push_at(d, term, knot)
            torque = sub(torque, cross(d.pose(knot, term.body).arm, force))
            body = d.body(term.body)
            body.force = axpy(-multiplier, force, body.force)
            body.torque = axpy(-multiplier, torque, body.torque)

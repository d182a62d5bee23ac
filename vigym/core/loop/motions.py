"""Prescribed motions: the coordinate of a dof follows a function of time, s = f(t).

Each is a loop row on one dof. The caller gives values and rates at both ends of a step; where a
step is halved, the cubic between them. A row's multiplier is the force that the motion takes.
Velocity constraints are motions too, of a sum of velocities; their value starts anew at every step
of the call, see `vigym.core.loop.velocity_rows`.
"""

from vigym.core.compiler.kernel import inline, phase, zero
from vigym.core.compiler.lanes import read_column
from vigym.core.compiler.simd import absolute, maximum, where
from vigym.core.joint.coordinates import dof_rate_over_step, stored_coordinate
from vigym.core.loop.couplings import coordinate_at_knot3, coupled_dofs, dof_rate_from_velocities
from vigym.core.loop.velocity_rows import (
    set_velocity_residual,
    velocity_row_knot_rate,
    velocity_row_rate,
)


@phase(needs="imposed")
def read_motions(d, targets, first, stage):
    """Read the values and rates at the end of a step of the call, behind the motors' targets."""
    o = d.full(0.0)
    column = d.motor_count + 2 * d.motion_count * stage
    for m in range(d.motion_count):
        motion = d.motion(m)
        if motion.term_count > 0:
            motion.value = 0.0
        motion.start_value, motion.start_rate = motion.value, motion.value_rate
        motion.end_value = read_column(targets, first, column + 2 * m, o)
        motion.end_rate = read_column(targets, first, column + 2 * m + 1, o)


@phase(needs="imposed")
def set_goals(d, part, dt):
    """Write coordinate and rate that a step has to reach, at a part of the call's step."""
    u = 1.0 - part
    for m in range(d.motion_count):
        motion = d.motion(m)
        a, b = motion.start_value, motion.end_value
        va, vb = dt * motion.start_rate, dt * motion.end_rate
        away = b - a
        goal = a + part * part * (3.0 - 2.0 * part) * away + part * u * (u * va - part * vb)
        slope = 6.0 * part * u * away + u * (1.0 - 3.0 * part) * va - part * (2.0 - 3.0 * part) * vb
        motion.goal = goal
        motion.goal_rate = slope / dt


@phase(needs="imposed", otherwise=zero)
def motion_residuals(d, knot2, knot3, h):
    """Write the residuals of prescribed motions at the present guess of knot 3.

    Returns:
        Largest [m or rad].
    """
    worst = d.full(0.0)
    for m in range(d.motion_count):
        motion = d.motion(m)
        if motion.term_count > 0:
            off = set_velocity_residual(d, motion, knot2, knot3)
        else:
            off = set_motion_residual(d, motion, knot3, h)
        worst = maximum(worst, off)
    return worst


@inline
def set_motion_residual(d, motion, knot3, h):
    """Write the residual of the prescribed motion of a dof, and return its absolute value."""
    loop_row = d.loop_row(motion.loop_row)
    i, j, _, _ = coupled_dofs(d, loop_row)
    residual = coordinate_at_knot3(d, i, j, knot3, h) - motion.goal
    loop_row.residual = residual
    return absolute(residual)


@phase(needs="imposed")
def motion_rate_residuals(d, knot):
    """Write the residuals of prescribed motions at a knot where bodies are at rest as yet."""
    for m in range(d.motion_count):
        motion = d.motion(m)
        loop_row = d.loop_row(motion.loop_row)
        loop_row.residual = -motion.value_rate


@inline
def motion_dof(d, motion):
    """Find the dof that a motion moves: (body, its dof, row of the dof)."""
    loop_row = d.loop_row(motion.loop_row)
    i, j, _, _ = coupled_dofs(d, loop_row)
    return i, j, d.dof(loop_row.dof)


def no_work(d, knot2, knot3, h):
    """Replace ``motion_work`` in mechanisms without motions."""
    return d.full(0.0), d.full(0.0)


@inline
def mean_motion_rate(d, motion, knot2, knot3, h):
    """Compute the mean of the rates before and after knot 2 that a motion's force works along."""
    if motion.term_count > 0:
        return velocity_row_rate(d, motion, knot2, knot3)
    i, j, dof = motion_dof(d, motion)
    rate, _, _, _ = dof_rate_over_step(d, i, j, knot3, h)
    return 0.5 * (rate + dof.last_rate)


@phase(needs="imposed", otherwise=no_work)
def motion_work(d, knot2, knot3, h):
    """Find the work of prescribed motions at the first knot of a step.

    It is their impulse there by the mean of the rates before and after.

    Returns:
        Sum, sum of absolutes [J].
    """
    work, absolute_work = d.full(0.0), d.full(0.0)
    for m in range(d.motion_count):
        motion = d.motion(m)
        impulse = h * d.loop_row(motion.loop_row).accepted_multiplier
        own = impulse * mean_motion_rate(d, motion, knot2, knot3, h)
        work = work + own
        absolute_work = absolute_work + absolute(own)
    return work, absolute_work


@phase(needs="imposed", otherwise=zero)
def knot_motion_work(d, knot):
    """Find the work of prescribed motions in the half step up to a knot [J]."""
    work = d.full(0.0)
    for m in range(d.motion_count):
        motion = d.motion(m)
        if motion.term_count > 0:
            mean = velocity_row_knot_rate(d, motion, knot)
        else:
            i, j, dof = motion_dof(d, motion)
            mean = 0.5 * (dof_rate_from_velocities(d, i, j, knot) + dof.last_rate)
        work = work + d.loop_row(motion.loop_row).multiplier * mean
    return work


@phase(needs="imposed")
def store_motions(d, mask):
    """Write the coordinates and rates that were reached, in the lanes of the mask."""
    for m in range(d.motion_count):
        motion = d.motion(m)
        motion.value = where(mask, motion.goal, motion.value)
        motion.value_rate = where(mask, motion.goal_rate, motion.value_rate)


@phase(needs="imposed")
def start_motions(d, velocities, first):
    """Start prescribed motions of dofs at the present coordinates and the given rates."""
    o = d.full(0.0)
    for m in range(d.motion_count):
        motion = d.motion(m)
        if motion.term_count == 0:
            i, j, _ = motion_dof(d, motion)
            motion.value = stored_coordinate(d, i, j)
            motion.value_rate = read_column(velocities, first, d.body(i).first_velocity + j, o)

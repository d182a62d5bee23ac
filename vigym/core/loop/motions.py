"""Prescribed motions: the coordinate of a dof follows a function of time, s = f(t).

Each is a loop row on one dof. The caller gives values and rates at both ends of a step; where a
step is halved, the cubic between them. A row's multiplier is the force that the motion takes.
"""

from vigym.core.compiler.kernel import inline, phase, zero
from vigym.core.compiler.lanes import read_column
from vigym.core.compiler.simd import absolute, maximum, where
from vigym.core.joint.coordinates import dof_rate_over_step, stored_coordinate
from vigym.core.loop.couplings import coordinate_at_knot3, coupled_dofs, dof_rate_from_velocities


@phase(needs="extras")
def read_motions(d, targets, first, stage):
    """Read the values and rates at the end of a step of the call, behind the motors' targets."""
    o = d.full(0.0)
    column = d.motor_count + 2 * d.motion_count * stage
    for m in range(d.motion_count):
        motion = d.motion(m)
        motion.start_value, motion.start_rate = motion.value, motion.value_rate
        motion.end_value = read_column(targets, first, column + 2 * m, o)
        motion.end_rate = read_column(targets, first, column + 2 * m + 1, o)


@phase(needs="extras")
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


@phase(needs="extras", otherwise=zero)
def motion_residuals(d, knot3, h):
    """Write the residuals of prescribed motions at the present guess of knot 3.

    Returns:
        Largest [m or rad].
    """
    worst = d.full(0.0)
    for m in range(d.motion_count):
        motion = d.motion(m)
        loop_row = d.loop_row(motion.loop_row)
        i, j, _, _ = coupled_dofs(d, loop_row)
        residual = coordinate_at_knot3(d, i, j, knot3, h) - motion.goal
        loop_row.residual = residual
        worst = maximum(worst, absolute(residual))
    return worst


@phase(needs="extras")
def motion_rate_residuals(d, knot):
    """Write the residuals of prescribed motions by the velocities at a knot."""
    for m in range(d.motion_count):
        motion = d.motion(m)
        loop_row = d.loop_row(motion.loop_row)
        i, j, _, _ = coupled_dofs(d, loop_row)
        loop_row.residual = dof_rate_from_velocities(d, i, j, knot) - motion.value_rate


@inline
def motion_dof(d, motion):
    """Find the dof that a motion moves: (body, its dof, row of the dof)."""
    loop_row = d.loop_row(motion.loop_row)
    i, j, _, _ = coupled_dofs(d, loop_row)
    return i, j, d.dof(loop_row.dof)


def no_work(d, knot3, h):
    """Replace ``motion_work`` where there are none."""
    return d.full(0.0), d.full(0.0)


@phase(needs="extras", otherwise=no_work)
def motion_work(d, knot3, h):
    """Find the work of prescribed motions at the first knot of a step.

    It is their impulse there by the mean of the rates before and after.

    Returns:
        Sum, sum of absolutes [J].
    """
    work, absolute_work = d.full(0.0), d.full(0.0)
    for m in range(d.motion_count):
        motion = d.motion(m)
        i, j, dof = motion_dof(d, motion)
        rate, _, _, _ = dof_rate_over_step(d, i, j, knot3, h)
        impulse = h * d.loop_row(motion.loop_row).accepted_multiplier
        own = 0.5 * impulse * (rate + dof.last_rate)
        work = work + own
        absolute_work = absolute_work + absolute(own)
    return work, absolute_work


@phase(needs="extras", otherwise=zero)
def knot_motion_work(d, knot):
    """Find the work of prescribed motions in the half step up to a knot [J]."""
    work = d.full(0.0)
    for m in range(d.motion_count):
        i, j, dof = motion_dof(d, d.motion(m))
        mean = 0.5 * (dof_rate_from_velocities(d, i, j, knot) + dof.last_rate)
        work = work + d.loop_row(d.motion(m).loop_row).multiplier * mean
    return work


@phase(needs="extras")
def store_motions(d, mask):
    """Write the coordinates and rates that were reached, in the lanes of the mask."""
    for m in range(d.motion_count):
        motion = d.motion(m)
        motion.value = where(mask, motion.goal, motion.value)
        motion.value_rate = where(mask, motion.goal_rate, motion.value_rate)


@phase(needs="extras")
def start_motions(d, velocities, first):
    """Start prescribed motions at the present coordinates and the given rates."""
    o = d.full(0.0)
    for m in range(d.motion_count):
        motion = d.motion(m)
        i, j, _ = motion_dof(d, motion)
        motion.value = stored_coordinate(d, i, j)
        motion.value_rate = read_column(velocities, first, d.body(i).first_velocity + j, o)

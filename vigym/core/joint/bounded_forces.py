"""Motors, limits and dry friction in the equations of a step: loads, and forces after an increment.

The three forces of a dof are held in triples, in this order.
"""

import math

from vigym.core.body.correction import least_end_distance
from vigym.core.compiler.kernel import inline, phase, three_zeros
from vigym.core.compiler.lanes import max_over_body_lanes
from vigym.core.compiler.packs import add_lanes, lanes_of_rows, run_of_rows
from vigym.core.compiler.simd import LANES, absolute, maximum, where
from vigym.core.joint.bounded_laws import (
    coulomb_law,
    limit_law,
    motor_command,
    motor_law,
)
from vigym.core.joint.interior_limits import (
    has_interior_limits,
    linearize_interior_limits,
    step_interior_limits,
    stiffness_of_relaxed_limits,
    update_interior_limits,
)
from vigym.core.math.vectors import add, max_abs3, scale, select3, sub

RATE_SEEN = 0.01  # part of a motor's largest rate by which a paced increment goes past it
IDLE_TARGET = 1e29  # size of a stored target that marks an idle motor
# [m or rad] distance from a limit at which it holds a knot velocity; and where it has held already,
# for stiff springs that press against it leave more
CLOSED, CLOSED_LOADED = 1e-7, 1e-5


@inline
def joint_has_bounded_forces(body):
    """Return whether the joint of a body has a motor, limits or dry friction."""
    return body.motor_kind + body.has_limit + body.has_friction > 0


@inline
def write_law_inputs(d, i, dof, rate, slope, change, h, lever):
    """Store rate, motor command and limit clearances of a step for the force laws.

    A ``lever`` [m] measures angles beyond a limit, see ``least_end_distance``.
    """
    start = dof.start
    command, stiffness = motor_command(d, i, dof, start + change, rate, slope)
    lower, upper = start - dof.lower, dof.upper - start
    dof.seen_rate = rate
    dof.seen_slope = slope
    dof.motor_command = command
    dof.motor_stiffness = stiffness
    per_h = 1.0 / h
    dof.lower_clearance = per_h * (lower + change - least_end_distance(d, lower, h, lever))
    dof.upper_clearance = per_h * (upper - change - least_end_distance(d, upper, h, lever))


@inline
def closing_distance(force):
    """Find the distance from a limit at which it holds a knot velocity, by its last force."""
    return where(force > 0.0, CLOSED_LOADED, CLOSED)


@inline
def write_knot_law_inputs(d, i, dof, share):
    """Store rate, motor command and limit clearances of a knot velocity for the force laws."""
    start = dof.start
    o = d.full(0.0)
    one = d.full(1.0)
    command, rate_stiffness = o, o
    if d.body(i).motor_kind > 0:
        target, rate = dof.last_target, dof.increment_seen
        dof.target = where(absolute(target) > IDLE_TARGET, math.nan, target)
        dof.applied_torque = dof.last_torque
        command, stiffness = motor_command(d, i, dof, start, rate, one)
        _, position_stiffness = motor_command(d, i, dof, start, rate, o)
        rate_stiffness = stiffness - position_stiffness
        command = command + rate_stiffness * rate
    lower, upper = start - dof.lower, dof.upper - start
    dof.seen_rate = 0.0
    dof.seen_slope = 1.0
    dof.motor_command = share * command
    dof.motor_stiffness = share * rate_stiffness
    held = dof.last_limit_force
    dof.lower_clearance = where(lower > closing_distance(held), 1e30, 0.0)
    dof.upper_clearance = where(upper > closing_distance(-held), 1e30, 0.0)


@phase
def accept_bounded_forces(d, mask):
    """Accept the bounded forces as converged in the lanes of the mask."""
    for r in range(d.active_joint_count):
        body = d.body(d.active_joint(r).body)
        if joint_has_bounded_forces(body):
            for j in range(body.translation_count + body.rotation_count):
                dof = d.dof(body.first_dof + j)
                dof.converged_forces = select3(mask, dof.forces, dof.converged_forces)


@inline
def holding_scale(body, dof, per_h, prox):
    """Find the scale of rates as forces by which motors and dry friction hold a rate.

    Beside limits that the interior point solves they become as stiff as those: softer ones would
    yield to them for many iterations, until their anchors have followed.
    """
    limits = stiffness_of_relaxed_limits(body, dof, per_h)
    return per_h * dof.effective_mass + prox * limits / per_h


@inline
def project_bounded_forces(d, i, dof, share, per_h, prox, motion, forces):
    """Apply the three laws of a dof, with given forces and a motion along it.

    Args:
        d: data of the lane group.
        i: row of the body whose joint has the dof.
        dof: row of the degree of freedom.
        share: part of the bounds that holds.
        per_h: 1 / step size [1/s].
        prox: proximal part.
        motion: motion along the dof.
        forces: forces of motor, limit and dry friction.

    Returns:
        Projected forces, forces at zero increment, slopes.
    """
    body, o = d.body(i), d.full(0.0)
    anchors = dof.anchor_forces
    rho = per_h * dof.effective_mass
    hold = holding_scale(body, dof, per_h, prox)
    motor = (o, o, o)
    limit = (o, o, o)
    friction = (o, o, o)
    if body.motor_kind > 0:
        bound = share * dof.force_limit
        motor = motor_law(d, dof, forces[0], anchors[0], motion, hold, bound, prox)
    if body.has_limit > 0:
        approach = per_h * motion
        limit = limit_law(d, dof, forces[1], anchors[1], approach, per_h, rho, prox)
    if body.has_friction > 0:
        bound = share * dof.friction
        friction = coulomb_law(d, dof, forces[2], anchors[2], motion, hold, bound, prox)
    projected = motor[0], limit[0], friction[0]
    affine = motor[1], limit[1], friction[1]
    return projected, affine, (motor[2], limit[2], friction[2])


@inline
def distance_from_laws(d, i, j, forces, projected):
    """Find the largest distance of the forces of dof j of joint i from their projections [N].

    Moments are taken over the length scale.
    """
    distance = max_abs3(sub(forces, projected))
    if j >= d.body(i).translation_count:
        distance = distance / d.environment.length_scale
    return distance


@inline
def add_bounded_forces(d, i, j, share, weight, per_h, prox, moved):
    """Add the bounded forces of dof j of joint i to its load, and their slopes to its compliance.

    Returns:
        (lanes in which one is active, distance of the forces from their laws [N]).
    """
    body = d.body(i)
    dof = d.dof(body.first_dof + j)
    forces = dof.forces
    projected, affine, slopes = project_bounded_forces(d, i, dof, share, per_h, prox, moved, forces)
    if has_interior_limits(body, dof):
        affine, slopes = linearize_interior_limits(d, dof, per_h, affine, slopes)
    force = affine[0] + affine[1] + affine[2]
    slope = slopes[0] + slopes[1] + slopes[2]
    dof.affine_forces = affine
    dof.force_slopes = slopes
    dof.load = dof.load - weight * force
    dof.compliance = dof.compliance + weight * slope
    always = d.full(body.motor_kind + body.has_friction > 0)
    return (slopes[1] > 0.0) | always, distance_from_laws(d, i, j, forces, projected)


@inline
def count_bounded_hinges(d):
    """Count the hinges that are alike if they have motors, limits or dry friction, else 0."""
    count = d.first_lone_joint
    if count > 0 and not joint_has_bounded_forces(d.body(d.active_joint(0).body)):
        return 0
    return count


@inline
def run_of_hinges(d, first):
    """Make the run of the alike hinges from active joint ``first`` on."""
    row = d.active_joint(first).body
    return run_of_rows(row, row + min(LANES, d.first_lone_joint - first))


@inline
def part_beyond_largest_rate(dof, per_h, prox):
    """Find the part of the increment that takes a motor past its largest rate.

    The rate may go so far beyond that its brake sees it: by a hundredth, and by what the proximal
    part of its force hides.
    """
    rate, fastest = dof.seen_rate, dof.velocity_limit
    change = dof.seen_slope * dof.increment
    hidden = 2.0 * prox * absolute(dof.forces[0] - dof.anchor_forces[0])
    left = where(change > 0.0, fastest - rate, fastest + rate)
    reach = left + RATE_SEEN * fastest + hidden / (per_h * dof.effective_mass)
    size = absolute(change)
    beyond = (size > reach) & (left > 0.0)
    return where(beyond, 1.0 - reach / where(beyond, size, 1.0), 0.0)


@inline
def update_dof_forces(d, i, j, share, per_h, prox, paced):
    """Move the bounded forces of dof j of joint i by the increment just solved for.

    Where it is ``paced``, no motor is to go past its largest rate at once.

    Returns (their distance from their laws [N], part of the increment that is to be left out).
    """
    dof = d.dof(d.body(i).first_dof + j)
    moved = dof.increment
    forces = sub(dof.affine_forces, scale(moved, dof.force_slopes))
    dof.affine_forces = forces
    projected, _, _ = project_bounded_forces(d, i, dof, share, per_h, prox, moved, forces)
    cut = d.full(0.0)
    if has_interior_limits(d.body(i), dof):
        part, error = update_interior_limits(d, dof, per_h)
        inside = dof.relaxation > cut
        limit = where(inside, forces[1] + error, projected[1])
        projected = (projected[0], limit, projected[2])
        cut = 1.0 - part
    if paced and d.body(i).motor_kind > 0:
        cut = maximum(cut, part_beyond_largest_rate(dof, per_h, prox))
    return distance_from_laws(d, i, j, forces, projected), cut


@phase(needs="packs", otherwise=three_zeros)
def update_forces_in_runs(d, share, per_h, prox, paced):
    """Move the bounded forces of hinges that are alike, see ``update_bounded_forces``."""
    w = d.wide
    wide_share, wide_per_h = w.full(share), w.full(per_h)
    worst, cut = w.full(0.0), w.full(0.0)
    total = d.full(0.0)
    for first in range(0, count_bounded_hinges(d), LANES):
        hinges = run_of_hinges(d, first)
        error, left_out = update_dof_forces(w, hinges, 0, wide_share, wide_per_h, prox, paced)
        own = lanes_of_rows(hinges, worst)
        cut = maximum(cut, where(own, left_out, 0.0))
        worst = maximum(worst, where(own, error, 0.0))
        total = add_lanes(total, error * error, own)
    return max_over_body_lanes(worst, total), total, max_over_body_lanes(cut, total)


@phase
def update_bounded_forces(d, share, per_h, prox, paced):
    """Move the bounded forces by the increment just solved for.

    Where it is ``paced``, motors reach their largest rates one after the other: brakes that begin
    together may contradict each other for ever.

    Returns:
        (largest distance from their laws, moments over the length scale [N]; sum of squares [N^2];
        part of the increment that may be taken).
    """
    worst, total, cut = update_forces_in_runs(d, share, per_h, prox, paced)
    for r in range(d.first_lone_joint, d.active_joint_count):
        i = d.active_joint(r).body
        body = d.body(i)
        if joint_has_bounded_forces(body):
            for j in range(body.translation_count + body.rotation_count):
                error, left_out = update_dof_forces(d, i, j, share, per_h, prox, paced)
                cut = maximum(cut, left_out)
                worst = maximum(worst, error)
                total = total + error * error
    return worst, total, 1.0 - cut


@phase
def squared_law_errors_of_joints(d, step_length, per_h, prox):
    """Sum the squared distances of bounded forces from their laws after a part of the increment.

    Returns the sum [N^2]; moments are taken over the length scale.
    """
    total, one = d.full(0.0), d.full(1.0)
    for r in range(d.active_joint_count):
        i = d.active_joint(r).body
        body = d.body(i)
        if joint_has_bounded_forces(body):
            for j in range(body.translation_count + body.rotation_count):
                dof = d.dof(body.first_dof + j)
                moved = step_length * dof.increment
                f = dof.forces
                forces = add(f, scale(step_length, sub(dof.affine_forces, f)))
                projected, _, _ = project_bounded_forces(d, i, dof, one, per_h, prox, moved, forces)
                error = distance_from_laws(d, i, j, forces, projected)
                total = total + error * error
    return total


@inline
def step_dof_forces(d, body, j, step_length, mask):
    """Move the bounded forces of dof j of a joint by a part of their increment, where masked."""
    dof = d.dof(body.first_dof + j)
    if has_interior_limits(body, dof):
        step_interior_limits(d, dof, step_length, mask)
    f = dof.forces
    after = add(f, scale(step_length, sub(dof.affine_forces, f)))
    dof.forces = select3(mask, after, f)
    seen = dof.increment_seen
    next_seen = seen + step_length * (dof.increment - seen)
    dof.increment_seen = where(mask, next_seen, seen)


@phase(needs="packs")
def step_forces_in_runs(d, step_length, mask):
    """Move the bounded forces of hinges that are alike, see ``step_bounded_forces``."""
    w = d.wide
    wide_length, wide_mask = w.full(step_length), w.full(mask)
    for first in range(0, count_bounded_hinges(d), LANES):
        step_dof_forces(w, w.body(run_of_hinges(d, first)), 0, wide_length, wide_mask)


@phase
def step_bounded_forces(d, step_length, mask):
    """Move the bounded forces by a part of their increment, in the lanes of the mask.

    The increment that selects the branch of their laws moves by the same part.
    """
    step_forces_in_runs(d, step_length, mask)
    for r in range(d.first_lone_joint, d.active_joint_count):
        body = d.body(d.active_joint(r).body)
        if joint_has_bounded_forces(body):
            for j in range(body.translation_count + body.rotation_count):
                step_dof_forces(d, body, j, step_length, mask)

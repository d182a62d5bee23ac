"""Assembly kernel: joint coordinates that close the loops, and rates that keep them closed.

Coordinates that are given are approached from the assembly pose in small stages, the others follow
by Newton's method (see `vigym.core.kernels.close_loops`): that is the branch next to the assembly
pose. Rates are projected in the same metric.
"""

from typing import Any, NamedTuple

from vigym.core.body.pose import set_motion_from_knot
from vigym.core.compiler.kernel import entry, inline, phase
from vigym.core.compiler.lanes import read_column, rounded, write_column
from vigym.core.compiler.simd import absolute, maximum, minimum, where
from vigym.core.contact.kinematics import deactivate_pair_contacts
from vigym.core.joint.geometry import position_closure, rotation_closure
from vigym.core.kernels.close_loops import (
    CLOSED,
    close_loops,
    closing_motion,
    find_given_lanes,
    hold_given,
)
from vigym.core.kernels.groups import data_of_group, group_count
from vigym.core.kernels.reset import forward_kinematics, set_body_velocities
from vigym.core.loop.constraints import loop_rate_residuals, update_loop_anchors
from vigym.core.loop.couplings import coupling_rate_residuals, dof_rate_from_velocities
from vigym.core.loop.elimination import largest_unreduced_pivot_of_loop
from vigym.core.loop.tracks import assemble_places, place_tracks
from vigym.core.math.vectors import max_abs3
from vigym.core.model.context import joint_row, knot_buffer
from vigym.core.model.saved import restore_state, save_state
from vigym.core.tables.plan import ORIENTATION_ROW
from vigym.core.tree.ldu import sum_joint_closures

STAGE = 0.2  # [rad or m] change of a given coordinate from one stage to the next
STAGES = 64
# a gap below this (rates: times the fastest) that given values leave is closed by changing them
NEAR = 1e-6
# a loop row with a pivot below this part of its loop's largest leaves open what it holds elsewhere
WEAK = 3e-13
# columns of the outcome: scaled gap, rate of a gap, number of weak rows; from the last on a gap of
# each loop-closing joint
GAP_LEFT, RATE_LEFT, WEAK_ROWS, JOINT_GAPS = range(4)


class Assembly(NamedTuple):
    """Arrays of an assembly, (environments, coordinates or rates).

    Attributes:
        positions: coordinates, changed in place.
        before: coordinates of the stage before, changed in place.
        given: coordinates that are held, not a number where they follow.
        start: coordinates of the assembly pose.
        rates: of the joints, changed in place.
        given_rates: rates that are held, not a number where they follow.
    """

    positions: Any
    before: Any
    given: Any
    start: Any
    rates: Any
    given_rates: Any


@phase
def largest_given_change(d, start, given, first):
    """Find the largest change to a given coordinate; poses of floating bodies do not matter."""
    o, change = d.full(0.0), d.full(0.0)
    for i in range(1, d.body_count):
        body = d.body(i)
        n, free = body.translation_count, body.rotation_count
        column = body.first_position
        for j in range(n + (free if free < 3 else 4) if n + free < 6 else 0):
            goal = read_column(given, first, column + j, o)
            far = absolute(goal - read_column(start, first, column + j, o))
            change = maximum(change, where(find_given_lanes(d, goal), far, 0.0))
    return change


@phase
def move_towards_given(d, positions, before, start, given, fraction, done, first):
    """Set given coordinates to a fraction of their change, and extrapolate the others.

    That keeps the branch at poses where several meet. Lanes that are ``done`` keep theirs.
    """
    o = d.full(0.0)
    for column in range(d.position_count):
        goal = read_column(given, first, column, o)
        now = read_column(positions, first, column, o)
        origin = read_column(start, first, column, o)
        between = where(fraction > 0.999999, goal, origin + fraction * (goal - origin))
        ahead = now + (now - read_column(before, first, column, o))
        write_column(before, first, column, now)
        ahead = where(find_given_lanes(d, goal), between, ahead)
        write_column(positions, first, column, where(done, now, ahead))


@phase
def close_loops_by_continuation(d, knot, arrays, first):
    """Find coordinates that close the loops, the given ones held; return the scaled gaps left."""
    gap = d.full(0.0)
    positions, given = arrays.positions, arrays.given
    change = largest_given_change(d, arrays.start, given, first) / STAGE
    stages = rounded(maximum(1.0, where(change > STAGES, STAGES, change + 0.5)))
    stage = 0
    held = d.full(True)
    active = d.full(True)
    while True:
        stage += 1
        fraction = stage / stages
        fraction, over = minimum(fraction, 1.0), d.full(False)
        if held.any():
            over = stage / stages > 1.0 + 0.5 / stages
            move_towards_given(
                d, positions, arrays.before, arrays.start, given, fraction, over, first
            )
        # lanes past their last stage wait for their neighbours as they are
        moving = active & ~over
        left = close_loops(d, knot, positions, given, held, moving, first)
        gap = where(moving, left, gap)
        if (fraction < 1.0).any():
            continue
        # once more, without holding rows that nearly fit
        nearly = (gap > CLOSED) & (gap < NEAR)
        active = held & nearly
        held = d.full(False)
        if not active.any():
            break
    forward_kinematics(d, knot, positions, first)
    update_loop_anchors(d, knot)
    place_tracks(d, knot, d.full(True))
    sum_joint_closures(d, knot)
    return gap


@inline
def add_motion_to_rates(d, knot, rates, active, first):
    """Add the motion just solved for to the rates, in the ``active`` lanes."""
    o = d.full(0.0)
    for i in range(1, d.body_count):
        body = d.body(i)
        for j in range(body.translation_count + body.rotation_count):
            column = body.first_velocity + j
            old = read_column(rates, first, column, o)
            new = old + dof_rate_from_velocities(d, i, j, knot)
            write_column(rates, first, column, where(active, new, old))


@phase
def project_rates(d, knot, rates, given, held, active, first):
    """Project the rates on those that keep loops closed, in the ``active`` lanes.

    The given ones stay in the lanes ``held``. Returns the largest rate of a gap that stays, and the
    number of weak rows that were found.
    """
    least, weak = d.full(1e300), d.full(0.0)
    for _ in range(4):
        set_body_velocities(d, knot, rates, first)
        set_motion_from_knot(d, knot)
        left = maximum(loop_rate_residuals(d, knot), coupling_rate_residuals(d, knot))
        least = minimum(least, left)
        # those that are closed wait for no neighbour
        active = active & (left > CLOSED)
        if not active.any():
            break
        hold_given(d, given, True, held, first)
        closing_motion(d, knot)
        weak = maximum(weak, where(active, count_redundant_loop_rows(d), 0.0))
        add_motion_to_rates(d, knot, rates, active, first)
    return least, weak


@phase
def count_redundant_loop_rows(d):
    """Count the loop rows just eliminated that hold nothing at this pose."""
    count = d.full(0.0)
    for r in range(d.loop_row_count):
        loop_row = d.loop_row(r)
        if loop_row.kind <= ORIENTATION_ROW:
            pivot = absolute(1.0 / loop_row.inverse_pivot)
            count = count + where(
                WEAK * largest_unreduced_pivot_of_loop(d, loop_row) > pivot, 1.0, 0.0
            )
    return count


@phase
def find_loop_consistent_rates(d, knot, rates, given, first):
    """Find rates that keep the loops closed, the given ones held.

    Returns the largest rate of a gap that stays, and the number of weak rows that were found.
    """
    one, fastest = d.full(1.0), d.full(1.0)
    for column in range(d.velocity_count):
        rate = absolute(read_column(rates, first, column, one))
        fastest = where(rate > fastest, rate, fastest)
    left, weak = one, d.full(0.0)
    held, active = d.full(True), d.full(True)
    for _ in range(2):  # the second time without holding rows that nearly fit
        rest, found = project_rates(d, knot, rates, given, held, active, first)
        left, weak = where(active, rest, left), maximum(weak, found)
        active = (left > CLOSED) & (NEAR * fastest > left)
        held = d.full(False)
        if not active.any():
            break
    return left, weak


@phase
def assemble_group(d, arrays, outcome, first):
    """Assemble the lanes; the state is left as it was."""
    save_state(d)
    knot = knot_buffer(d, 0)
    deactivate_pair_contacts(d)
    assemble_places(d)
    write_column(outcome, first, GAP_LEFT, close_loops_by_continuation(d, knot, arrays, first))
    left, weak = find_loop_consistent_rates(d, knot, arrays.rates, arrays.given_rates, first)
    write_column(outcome, first, RATE_LEFT, left)
    write_column(outcome, first, WEAK_ROWS, weak)
    for joint in range(d.body_count, d.joint_count):
        loop = joint_row(d, joint)
        shift, _ = position_closure(d, loop, knot)
        gap = maximum(max_abs3(shift), max_abs3(rotation_closure(d, loop, knot)))
        write_column(outcome, first, JOINT_GAPS + joint - d.body_count, gap)
    restore_state(d, d.wide.full(True))


@entry
def assemble(
    plan,
    model,
    state,
    work,
    features,
    batch,
    positions,
    before,
    given,
    start,
    rates,
    given_rates,
    outcome,
    model_stride,
):
    """Assemble one environment, or all of a batch."""
    arrays = Assembly(positions, before, given, start, rates, given_rates)
    for g in range(group_count(batch, outcome.shape[0])):
        d = data_of_group(plan, model, state, work, g, model_stride, features, batch)
        assemble_group(d, arrays, outcome, g * d.lane_count)

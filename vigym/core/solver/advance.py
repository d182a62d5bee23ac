"""Advance lanes by a step: halved steps where Newton fails, composition, knots that take turns.

With unequal steps every formula holds with rho = h1/h: halved steps and the negative steps of
compositions need nothing of their own.
"""

from typing import Any, NamedTuple

from vigym.core.body.pose import max_angular_speed, max_angular_speed_change
from vigym.core.compiler.kernel import inline, phase
from vigym.core.compiler.lanes import above, any_lane, both, but_not, reduce_over_bodies
from vigym.core.compiler.simd import absolute, maximum, where
from vigym.core.joint.coordinates import (
    add_with_compensation,
    store_all_coordinates,
    store_force_coordinates,
)
from vigym.core.loop.constraints import store_point_spring_lengths
from vigym.core.loop.elimination import keep_multipliers, restore_multipliers
from vigym.core.loop.motions import set_goals
from vigym.core.model.context import knot_buffer, turn_knot_buffers
from vigym.core.model.kept import blend_knots, keep_knot, restore_knot
from vigym.core.model.layout import KNOT_BUFFERS
from vigym.core.solver.accounting import account, find_lanes_of_inexact_work
from vigym.core.solver.newton import attempt
from vigym.core.solver.residual import Method, Step

SMALLEST = 1.0 / 256.0  # halved steps stop at this part of the step
SMALLEST_INEXACT = 1.0 / 16.0  # and at this one where the work of contacts stays inexact
KINK = 0.05  # [rad] change of a body's rotation from step to step that smooth motion does not have
# [rad] swept since turns were counted; a joint's coordinate is safe up to a full turn
STORE_AFTER = 2.0
RETRY, OLDEST = 0, 1  # places where knots are kept aside

PROJECTIONS = Method(
    damped=False,
    interior_point=False,
    splitting=False,
    leaves_cycles=False,
    half_steps=False,
    warm=False,
)
INTERIOR_POINT = PROJECTIONS._replace(damped=True, interior_point=True)
SPLITTING = PROJECTIONS._replace(damped=True, splitting=True)
LEAVING_CYCLES = PROJECTIONS._replace(damped=True, leaves_cycles=True)
HALF_STEPS = PROJECTIONS._replace(damped=True, half_steps=True)
REFINING = PROJECTIONS._replace(warm=True)


class Solution(NamedTuple):
    """Findings of the attempts at a step; lane values.

    Attributes:
        done: lanes that converged.
        failed: lanes that did not.
        iterations: number of factorisations so far.
        residual: scaled residual.
    """

    done: Any
    failed: Any
    iterations: Any
    residual: Any


@phase
def retry(d, step, lanes, method, tolerance):
    """Attempt a step by another method in some lanes; the others' new knots are kept aside."""
    keep_knot(d, step.knot3, RETRY)
    done, iterations, residual = attempt(d, step, lanes, method, tolerance)
    restore_knot(d, step.knot3, RETRY, d.wide.full(1.0) - d.wide.full(lanes))
    return done, iterations, residual


@phase
def refine(d, step, lanes, residual, tolerance):
    """Bring solutions of the interior point to the exact laws, from which it stays a little away.

    A lane in which that fails keeps its solution. Returns (iterations, scaled residual).
    """
    keep_knot(d, step.knot3, RETRY)
    keep_multipliers(d)
    done, iterations, exact = attempt(d, step, lanes, REFINING, tolerance)
    others = but_not(d.full(1.0), done)
    restore_knot(d, step.knot3, RETRY, d.wide.full(others))
    restore_multipliers(d, others)
    return iterations, where(done, exact, residual)


@inline
def keep_last_knot(d, knot3, moving):
    """Keep the oldest velocities of lanes that are idle while others move.

    The step is about to overwrite their knot buffer.
    """
    if any_lane(but_not(d.full(1.0), moving)):
        keep_knot(d, knot3, OLDEST)


@phase
def pass_knots_on(d, others, idle):
    """Pass on the knots of lanes that did not move, before the buffers turn.

    The present one of all ``others``; the older ones only of the ``idle`` lanes, which were not to
    move.
    """
    blend_knots(d, knot_buffer(d, -1), knot_buffer(d, 0), others)
    for back in range(KNOT_BUFFERS - 2):
        blend_knots(d, knot_buffer(d, back), knot_buffer(d, back + 1), idle)
    restore_knot(d, knot_buffer(d, KNOT_BUFFERS - 2), OLDEST, idle)


@inline
def count_equal_steps(d, knot3, h):
    """Count the equal smooth steps that lie behind, this one included."""
    environment = d.environment
    zero = 0.0 * d.full(1.0)
    history = where(absolute(h - environment.step_size), zero, environment.history) + 1.0
    if d.loop_row_count + d.contact_count > 0:  # beyond a kink the predictor leads to other roots
        change = max_angular_speed_change(d.wide, knot_buffer(d, 0), knot3)
        kink = absolute(h) * reduce_over_bodies(change, h)
        history = where(above(kink, d.full(KINK)), zero, history)
    return history


@inline
def store_step(d, knot3, h, done, failed):
    """Write time, step sizes and history of lanes that are done; others that failed have none."""
    environment = d.environment
    h1 = environment.step_size
    history = count_equal_steps(d, knot3, h)
    environment.previous_step_size = where(done, h1, environment.previous_step_size)
    environment.history = where(done, history, environment.history)
    environment.history = where(failed, d.full(0.0), environment.history)
    environment.step_size = where(done, h, environment.step_size)
    time, remainder = add_with_compensation(environment.time, environment.time_remainder, h, done)
    environment.time = time
    environment.time_remainder = remainder


@inline
def count_turns(d, knot3, h, done):
    """Count full turns of all joints where bodies may have turned far since it was done last."""
    environment = d.environment
    rate = reduce_over_bodies(max_angular_speed(d.wide, knot3), h)
    # sin(turn / 2) = h w / 2: a step turns a body by pi/2 h w at most, two bodies by pi h w
    swept = environment.swept + 3.1415926535 * absolute(h) * rate
    environment.swept = where(done, swept, environment.swept)
    due = both(done, above(swept, d.full(STORE_AFTER)))
    if any_lane(due):
        store_all_coordinates(d, knot3, due)
        environment.swept = where(due, d.full(0.0), environment.swept)


@phase
def accept(d, knot3, h, done, failed):
    """Make knot 3 the present one in the lanes that are done; the others keep theirs.

    Lanes that failed start from the velocity alone next time. Returns the lanes in which a motor is
    saturated.
    """
    saturated = account(d, knot_buffer(d, 0), knot3, h, d.environment.step_size / h, done)
    store_step(d, knot3, h, done, failed)
    others = but_not(d.full(1.0), done)
    if any_lane(others):
        pass_knots_on(d, d.wide.full(others), d.wide.full(but_not(others, failed)))
    turn_knot_buffers(d)
    store_force_coordinates(d, knot3, done)
    if d.loop_count > 0:
        store_point_spring_lengths(d, knot3, done)
    count_turns(d, knot3, h, done)
    return saturated


@inline
def solve_again(d, step, solved, method, tolerance):
    """Attempt a step by another method in the lanes that failed; returns the solution now."""
    again, count, residual = retry(d, step, solved.failed, method, tolerance)
    iterations = solved.iterations + count
    residual = where(solved.failed, residual, solved.residual)
    if (method.interior_point or method.splitting) and any_lane(again):
        count, residual = refine(d, step, again, residual, tolerance)
        iterations = iterations + count
    done, failed = maximum(solved.done, again), but_not(solved.failed, again)
    return Solution(done, failed, iterations, residual)


@inline
def solve_step(d, step, moving, iterations, tolerance):
    """Solve a step of the moving lanes, with further attempts in those that fail."""
    interior_point = d.interior_point > 0
    first = INTERIOR_POINT if interior_point else PROJECTIONS
    done, count, residual = attempt(d, step, moving, first, tolerance)
    solved = Solution(done, but_not(moving, done), iterations + count, residual)
    if d.contact_count > 0:
        if not interior_point and any_lane(solved.failed):
            solved = solve_again(d, step, solved, INTERIOR_POINT, tolerance)
        if any_lane(solved.failed):
            solved = solve_again(d, step, solved, LEAVING_CYCLES, tolerance)
    if any_lane(solved.failed):
        solved = solve_again(d, step, solved, HALF_STEPS, tolerance)
    if d.contact_count > 0 and any_lane(solved.failed):
        solved = solve_again(d, step, solved, SPLITTING, tolerance)
    return solved


@inline
def reject_inexact_work(d, step, part, done, failed):
    """Let lanes fail in which the work of contacts is inexact, unless their step is short already.

    Returns (lanes that are done, lanes that failed).
    """
    if d.contact_count > 0:
        inexact = find_lanes_of_inexact_work(d, step.knot2, step.knot3, step.h)
        inexact = both(both(done, inexact), above(part, d.full(SMALLEST_INEXACT)))
        return but_not(done, inexact), maximum(failed, inexact)
    return done, failed


@phase
def advance(d, dt, lanes, tolerance):
    """Move the lanes by ``dt``, in halved steps where one does not converge.

    Returns (lanes that arrived, iterations, residual, halvings, lanes in which a motor is
    saturated).
    """
    o = d.full(0.0)
    part = d.full(1.0)  # of dt: halves of one are exact, halves of dt would not add up to it
    left, alive = lanes, lanes
    iterations, halvings = o, o
    worst, saturated = o, o
    while True:
        moving, h = both(left, alive), part * dt
        if not any_lane(moving):
            return alive, iterations, worst, halvings, saturated
        knot3 = knot_buffer(d, -1)
        keep_last_knot(d, knot3, moving)
        step = Step(knot_buffer(d, 0), knot3, h, d.environment.step_size / h)
        set_goals(d, 1.0 - left + part, dt)
        solved = solve_step(d, step, moving, iterations, tolerance)
        iterations = solved.iterations
        done, failed = reject_inexact_work(d, step, part, solved.done, solved.failed)
        worst = where(done, maximum(worst, solved.residual), worst)
        saturated = maximum(saturated, accept(d, knot3, h, done, failed))
        left = left - where(done, part, o)
        part = where(failed, 0.5 * part, part)
        halvings = halvings + failed
        lost = both(failed, above(d.full(SMALLEST), part))
        alive = but_not(alive, lost)
        worst = where(lost, solved.residual, worst)

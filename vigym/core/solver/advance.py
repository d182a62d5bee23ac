"""Advance lanes by a step: halved steps where Newton fails, composition, knots that take turns.

With unequal steps every formula holds with rho = h1/h: halved steps and the negative steps of
compositions need nothing of their own.
"""

from typing import Any, NamedTuple

from vigym.core.body.pose import max_angular_speed, max_angular_speed_change
from vigym.core.compiler.kernel import inline, phase
from vigym.core.compiler.lanes import above, any_lane, both, but_not, max_over_body_lanes
from vigym.core.compiler.simd import absolute, maximum, where
from vigym.core.joint.coordinates import (
    compensated_add,
    store_all_coordinates,
    store_force_coordinates,
)
from vigym.core.loop.constraints import store_point_spring_lengths
from vigym.core.loop.elimination import restore_multipliers, save_multipliers
from vigym.core.loop.motions import set_goals
from vigym.core.model.context import advance_knot_buffers, knot_buffer
from vigym.core.model.layout import KNOT_BUFFERS
from vigym.core.model.saved import blend_knots, restore_knot, save_knot
from vigym.core.solver.accounting import account
from vigym.core.solver.newton import attempt
from vigym.core.solver.residual import Method, Step
from vigym.core.solver.step_checks import SMALLEST, reject_inexact_work, reject_other_roots

KINK = 0.05  # [rad] change of a body's rotation from step to step that smooth motion does not have
# [rad] swept since turns were counted; a joint's coordinate is safe up to a full turn
STORE_AFTER = 2.0
RETRY, OLDEST = 0, 1  # places where knots are kept aside

PROJECTIONS = Method(
    damped=False,
    interior_point=False,
    splitting=False,
    breaks_cycles=False,
    half_steps=False,
    warm=False,
)
INTERIOR_POINT = PROJECTIONS._replace(damped=True, interior_point=True)
SPLITTING = PROJECTIONS._replace(damped=True, splitting=True)
BREAKING_CYCLES = PROJECTIONS._replace(damped=True, breaks_cycles=True)
HALF_STEPS = PROJECTIONS._replace(damped=True, half_steps=True)
REFINING = PROJECTIONS._replace(warm=True)


class Solution(NamedTuple):
    """Findings of the attempts at a step; lane values.

    Attributes:
        done: lanes that converged.
        failed: lanes that did not.
        iterations: number of factorisations so far.
        residual: scaled residual.
        nonsmooth: lanes in which contacts, motors, limits or dry friction have a force.
    """

    done: Any
    failed: Any
    iterations: Any
    residual: Any
    nonsmooth: Any


@phase
def attempt_in_lanes(d, step, lanes, method, tolerance):
    """Attempt a step by another method in some lanes; the others' new knots are kept aside."""
    save_knot(d, step.knot3, RETRY)
    done, iterations, residual, nonsmooth = attempt(d, step, lanes, method, tolerance)
    restore_knot(d, step.knot3, RETRY, d.wide.full(1.0) - d.wide.full(lanes))
    return done, iterations, residual, nonsmooth


@phase
def polish(d, step, lanes, residual, tolerance):
    """Continue from solutions of the interior point or the splitting with the exact laws.

    A lane in which that fails keeps its solution. Returns (iterations, scaled residual).
    """
    save_knot(d, step.knot3, RETRY)
    save_multipliers(d)
    done, iterations, exact, _ = attempt(d, step, lanes, REFINING, tolerance)
    others = but_not(d.full(1.0), done)
    restore_knot(d, step.knot3, RETRY, d.wide.full(others))
    restore_multipliers(d, others)
    return iterations, where(done, exact, residual)


@inline
def copy_oldest_velocities(d, knot3, moving):
    """Keep the oldest velocities of lanes that are idle while others move.

    The step is about to overwrite their knot buffer.
    """
    if any_lane(but_not(d.full(1.0), moving)):
        save_knot(d, knot3, OLDEST)


@phase
def copy_idle_knots(d, others, idle):
    """Copy the knots of lanes that did not move, so that the turn of the buffers changes nothing.

    Of all ``others`` the present knot is copied. Of the ``idle`` lanes, which were not to move, the
    older ones are too.
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
        kink = absolute(h) * max_over_body_lanes(change, h)
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
    time, remainder = compensated_add(environment.time, environment.time_remainder, h, done)
    environment.time = time
    environment.time_remainder = remainder


@inline
def count_turns(d, knot3, h, done, rate):
    """Count full turns of all joints where bodies may have turned far since it was done last.

    ``rate`` is the largest angular speed of each lane [rad/s].
    """
    environment = d.environment
    # sin(turn / 2) = h w / 2: a step turns a body by pi/2 h w at most, two bodies by pi h w
    swept = environment.swept + 3.1415926535 * absolute(h) * rate
    environment.swept = where(done, swept, environment.swept)
    due = both(done, above(swept, d.full(STORE_AFTER)))
    if any_lane(due):
        store_all_coordinates(d, knot3, due)
        environment.swept = where(due, d.full(0.0), environment.swept)


@phase
def accept_step(d, knot3, h, done, failed, rate):
    """Make knot 3 the present one in the lanes that are done; the others keep theirs.

    Lanes that failed start from the velocity alone next time. Returns the lanes in which a motor is
    saturated.
    """
    saturated = account(d, knot_buffer(d, 0), knot3, h, d.environment.step_size / h, done)
    store_step(d, knot3, h, done, failed)
    others = but_not(d.full(1.0), done)
    if any_lane(others):
        copy_idle_knots(d, d.wide.full(others), d.wide.full(but_not(others, failed)))
    advance_knot_buffers(d)
    store_force_coordinates(d, knot3, done)
    if d.loop_count > 0:
        store_point_spring_lengths(d, knot3, done)
    count_turns(d, knot3, h, done, rate)
    return saturated


@inline
def retry_failed_lanes(d, step, solved, method, tolerance):
    """Attempt a step by another method in the lanes that failed; return the solution of all."""
    again, count, residual, nonsmooth = attempt_in_lanes(d, step, solved.failed, method, tolerance)
    iterations = solved.iterations + count
    nonsmooth = where(solved.failed, nonsmooth, solved.nonsmooth)
    residual = where(solved.failed, residual, solved.residual)
    if (method.interior_point or method.splitting) and any_lane(again):
        count, residual = polish(d, step, again, residual, tolerance)
        iterations = iterations + count
    done, failed = maximum(solved.done, again), but_not(solved.failed, again)
    return Solution(done, failed, iterations, residual, nonsmooth)


@inline
def solve_step(d, step, moving, iterations, tolerance):
    """Solve a step of the moving lanes, with further attempts in those that fail."""
    interior_point = d.interior_point > 0
    first = INTERIOR_POINT if interior_point else PROJECTIONS
    done, count, residual, nonsmooth = attempt(d, step, moving, first, tolerance)
    solved = Solution(done, but_not(moving, done), iterations + count, residual, nonsmooth)
    if d.contact_count > 0:
        if not interior_point and any_lane(solved.failed):
            solved = retry_failed_lanes(d, step, solved, INTERIOR_POINT, tolerance)
        if any_lane(solved.failed):
            solved = retry_failed_lanes(d, step, solved, BREAKING_CYCLES, tolerance)
    if any_lane(solved.failed):
        solved = retry_failed_lanes(d, step, solved, HALF_STEPS, tolerance)
    if d.contact_count > 0 and any_lane(solved.failed):
        solved = retry_failed_lanes(d, step, solved, SPLITTING, tolerance)
    return solved


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
        copy_oldest_velocities(d, knot3, moving)
        step = Step(knot_buffer(d, 0), knot3, h, d.environment.step_size / h)
        set_goals(d, 1.0 - left + part, dt)
        solved = solve_step(d, step, moving, iterations, tolerance)
        iterations = solved.iterations
        rate = max_over_body_lanes(max_angular_speed(d.wide, knot3), h)
        done, failed = reject_other_roots(d, step, part, rate, solved)
        done, failed = reject_inexact_work(d, step, part, done, failed)
        worst = where(done, maximum(worst, solved.residual), worst)
        saturated = maximum(saturated, accept_step(d, knot3, h, done, failed, rate))
        left = left - where(done, part, o)
        part = where(failed, 0.5 * part, part)
        halvings = halvings + failed
        lost = both(failed, above(d.full(SMALLEST), part))
        alive = but_not(alive, lost)
        worst = where(lost, solved.residual, worst)

"""Advance lanes by a step: halved steps where Newton fails, composition, knots that take turns.

With unequal steps every formula holds with rho = h1/h: halved steps and the negative steps of
compositions need nothing of their own.
"""

from typing import Any, NamedTuple

from vigym.core.body.pose import max_angular_speed
from vigym.core.compiler.kernel import inline, phase
from vigym.core.compiler.lanes import above, any_lane, both, but_not, max_over_body_lanes
from vigym.core.compiler.simd import maximum, where
from vigym.core.contact.held import (
    find_lanes_beyond_bounds,
    find_lanes_led_back,
    find_lanes_to_release,
    hold_lanes,
    release_overlaps,
    remember_held_lanes,
    start_leading_back,
)
from vigym.core.contact.laws.interior_point_law import find_lanes_of_forces_at_gaps
from vigym.core.contact.rims import start_rims
from vigym.core.joint.coordinates import (
    compensated_add,
    count_turns,
    store_force_coordinates,
)
from vigym.core.joint.interior_limits import relax_limits
from vigym.core.loop.constraints import store_point_spring_lengths
from vigym.core.loop.elimination import restore_multipliers, save_multipliers
from vigym.core.loop.motions import set_goals
from vigym.core.model.context import advance_knot_buffers, knot_buffer
from vigym.core.model.saved import (
    copy_idle_knots,
    copy_oldest_velocities,
    restore_knot,
    save_knot,
)
from vigym.core.solver.accounting import account, measure_contact_powers
from vigym.core.solver.energy_surplus import choose_first_part, find_unlike_steps
from vigym.core.solver.iteration import Method, Step
from vigym.core.solver.newton import attempt
from vigym.core.solver.parts import first_parts, next_part, shorten_first_part
from vigym.core.solver.residual import count_equal_steps
from vigym.core.solver.step_checks import reject_wrong_steps

MOST_MISSED_STARTS = 31.0  # bound of the count of steps that the first method missed
MOST_RIM_TURNS = 3  # further rounds of attempts at a step in which rims turned
RETRY = 0  # place where knots are kept aside

PROJECTIONS = Method(
    damped=False,
    interior_point=False,
    splitting=False,
    breaks_cycles=False,
    half_steps=False,
    warm=False,
    brief=False,
    resumes=False,
)
INTERIOR_POINT = PROJECTIONS._replace(damped=True, interior_point=True)
RESUMED_INTERIOR_POINT = INTERIOR_POINT._replace(resumes=True)
TIGHTENING = INTERIOR_POINT._replace(warm=True, brief=True)
SPLITTING = PROJECTIONS._replace(damped=True, splitting=True)
BREAKING_CYCLES = PROJECTIONS._replace(damped=True, breaks_cycles=True)
HALF_STEPS = PROJECTIONS._replace(damped=True, half_steps=True)
REFINING = PROJECTIONS._replace(warm=True)
REFINING_BRIEFLY = REFINING._replace(brief=True)


class Solution(NamedTuple):
    """Findings of the attempts at a step; lane values.

    Attributes:
        done: lanes that converged.
        failed: lanes that did not.
        iterations: number of factorisations.
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
def refine(d, step, solved, lanes, method, tolerance):
    """Continue from a solution by another method; a lane in which that fails keeps its solution.

    Returns (the solution of all lanes, lanes in which the method converged).
    """
    save_knot(d, step.knot3, RETRY)
    save_multipliers(d)
    done, count, exact, _ = attempt(d, step, lanes, method, tolerance)
    others = but_not(d.full(1.0), done)
    restore_knot(d, step.knot3, RETRY, d.wide.full(others))
    restore_multipliers(d, others)
    residual, iterations = where(done, exact, solved.residual), solved.iterations + count
    return Solution(solved.done, solved.failed, iterations, residual, solved.nonsmooth), done


@inline
def polish(d, step, solved, lanes, method, tolerance):
    """Continue from solutions of the interior point or the splitting with the exact laws.

    A lane remembers whether that failed. Returns the solution.
    """
    environment = d.environment
    solved, done = refine(d, step, solved, lanes, method, tolerance)
    missed = but_not(lanes, done)
    environment.unpolished = where(lanes, missed, environment.unpolished)
    return solved


@inline
def tighten(d, step, solved, lanes, tolerance):
    """Continue from solutions of the interior point with less relaxation, where bodies float.

    Returns the solution, and the lanes in which that converged.
    """
    lanes, done = both(lanes, find_lanes_of_forces_at_gaps(d, step.h)), d.full(0.0)
    if any_lane(lanes):
        solved, done = refine(d, step, solved, lanes, TIGHTENING, tolerance)
    return solved, done


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
def retry_lanes(d, step, solved, lanes, method, tolerance):
    """Attempt a step by another method in lanes that failed; return the solution of all."""
    again, count, residual, nonsmooth = attempt_in_lanes(d, step, lanes, method, tolerance)
    iterations = solved.iterations + count
    nonsmooth = where(lanes, nonsmooth, solved.nonsmooth)
    residual = where(lanes, residual, solved.residual)
    done, failed = maximum(solved.done, again), but_not(solved.failed, again)
    return Solution(done, failed, iterations, residual, nonsmooth)


@inline
def retry_held_lanes(d, step, solved, tolerance):
    """Attempt a step anew in lanes that failed to lead bodies back: they are held where they are.

    Returns the solution, and these lanes.
    """
    held = both(solved.failed, find_lanes_led_back(d))
    if any_lane(held):
        held = both(held, find_lanes_beyond_bounds(d))
        if any_lane(held):
            hold_lanes(d, held)
            solved = retry_lanes(d, step, solved, held, PROJECTIONS, tolerance)
    return solved, held


@inline
def retry_released_lanes(d, step, solved, tolerance):
    """Attempt a step for the last time in lanes that failed while bodies overlap.

    These bodies are released: they may overlap for this step.
    """
    released = both(solved.failed, find_lanes_to_release(d))
    if any_lane(released):
        release_overlaps(d, released)
        solved = retry_lanes(d, step, solved, released, PROJECTIONS, tolerance)
    return solved


@inline
def retry_and_polish(d, step, solved, lanes, methods, rough, tolerance):
    """Attempt a step by the first of two methods, and polish what it finds by the second one.

    In the lanes ``rough`` it is not polished, nor where less relaxation led on already.
    """
    before = solved.done
    solved = retry_lanes(d, step, solved, lanes, methods[0], tolerance)
    found = but_not(solved.done, before)
    if d.contact_count > 0 and methods[0].interior_point:
        solved, tight = tighten(d, step, solved, found, tolerance)
        found = but_not(found, tight)
    found = but_not(found, rough)
    if any_lane(found):
        solved = polish(d, step, solved, found, methods[1], tolerance)
    return solved


@inline
def remember_missed_starts(d, tried, missed, known):
    """Count the steps in a row that the first method missed; idle lanes keep their count.

    After the second one the next 2, 6, 14, 30 steps begin with the interior point.
    """
    environment, o = d.environment, d.full(0.0)
    more = 2.0 * environment.missed_starts + 1.0
    more = where(above(more, d.full(MOST_MISSED_STARTS)), d.full(MOST_MISSED_STARTS), more)
    left = environment.interior_steps
    left = where(known, maximum(left - 1.0, o), left)
    environment.interior_steps = where(missed, more - 1.0, where(tried, o, left))
    environment.missed_starts = where(missed, more, where(tried, o, environment.missed_starts))


@inline
def solve_with_contacts(d, step, lanes, known, tolerance):
    """Solve a step with contacts by projections, or by the interior point where those fail.

    In the lanes ``known`` projections missed the last steps, and the interior point begins.
    Contacts that hold each other, as in a chain of balls on the ground, do so for many steps.
    Returns the solution, and the lanes in which the interior point was resumed.
    """
    o = d.full(0.0)
    tried = but_not(lanes, known)
    solved = Solution(o, lanes, o, d.full(1e300), o)
    if any_lane(tried):
        done, count, residual, nonsmooth = attempt(d, step, tried, PROJECTIONS, tolerance)
        solved = Solution(done, but_not(lanes, done), count, residual, nonsmooth)
    missed = both(tried, solved.failed)
    missed_again = both(missed, above(d.environment.missed_starts, o))
    begun, resumed = but_not(missed, missed_again), maximum(known, missed_again)
    if any_lane(begun):
        methods = INTERIOR_POINT, REFINING
        solved = retry_and_polish(d, step, solved, begun, methods, o, tolerance)
    if any_lane(resumed):
        methods = RESUMED_INTERIOR_POINT, REFINING_BRIEFLY
        rough = both(known, d.environment.unpolished)
        solved = retry_and_polish(d, step, solved, resumed, methods, rough, tolerance)
    lost = both(known, solved.failed)
    if any_lane(lost):
        solved = retry_lanes(d, step, solved, lost, PROJECTIONS, tolerance)
    solved, held = retry_held_lanes(d, step, solved, tolerance)
    remember_missed_starts(d, tried, but_not(missed, held), known)
    return solved, resumed


@inline
def retry_by_splitting(d, step, solved, resumed, tolerance):
    """Attempt a step that failed by splitting its contacts off, and polish what that leads to.

    It comes near to a solution at least, from where projections go on. In the lanes ``resumed`` the
    interior point starts anew before: it was resumed next to the solution of another step.
    """
    none = d.full(0.0)
    anew = both(resumed, solved.failed)
    if any_lane(anew):
        methods = INTERIOR_POINT, REFINING
        solved = retry_and_polish(d, step, solved, anew, methods, none, tolerance)
    if any_lane(solved.failed):
        methods = SPLITTING, REFINING
        solved = retry_and_polish(d, step, solved, solved.failed, methods, none, tolerance)
    if any_lane(solved.failed):
        solved = retry_lanes(d, step, solved, solved.failed, REFINING, tolerance)
    return solved


@inline
def retry_where_rims_turned(d, step, solved, tolerance):
    """Attempt a step anew in lanes that failed after rims had turned, which stay turned."""
    none = d.full(0.0)
    methods = (INTERIOR_POINT, REFINING), (SPLITTING, REFINING)
    for _ in range(MOST_RIM_TURNS):
        again = both(solved.failed, d.environment.rims_turned)
        d.environment.rims_turned = 0.0
        if not any_lane(again):
            break
        solved = retry_and_polish(d, step, solved, again, methods[0], none, tolerance)
        again = both(again, solved.failed)
        if any_lane(again):
            solved = retry_and_polish(d, step, solved, again, methods[1], none, tolerance)
        again = both(again, solved.failed)
        if any_lane(again):
            solved = retry_lanes(d, step, solved, again, REFINING, tolerance)
    return solved


@inline
def solve_step(d, step, moving, tolerance):
    """Solve a step of the moving lanes, with further attempts in those that fail."""
    resumed = both(moving, above(d.environment.interior_steps, d.full(0.0)))
    if d.contact_count > 0 and d.interior_point == 0:
        solved, resumed = solve_with_contacts(d, step, moving, resumed, tolerance)
    else:
        first = INTERIOR_POINT if d.interior_point > 0 else PROJECTIONS
        done, count, residual, nonsmooth = attempt(d, step, moving, first, tolerance)
        solved = Solution(done, but_not(moving, done), count, residual, nonsmooth)
        if d.interior_point > 0:
            solved, _ = retry_held_lanes(d, step, solved, tolerance)
            solved, _ = tighten(d, step, solved, solved.done, tolerance)
    none = d.full(0.0)
    only_limits = d.contact_count == 0 and d.has_limits > 0 and d.interior_point == 0
    if only_limits and any_lane(solved.failed):
        methods = INTERIOR_POINT, REFINING
        solved = retry_and_polish(d, step, solved, solved.failed, methods, none, tolerance)
        solved, _ = retry_held_lanes(d, step, solved, tolerance)
    if d.contact_count > 0 and any_lane(solved.failed):
        solved = retry_lanes(d, step, solved, solved.failed, BREAKING_CYCLES, tolerance)
    if any_lane(solved.failed):
        solved = retry_lanes(d, step, solved, solved.failed, HALF_STEPS, tolerance)
    if d.contact_count > 0 and any_lane(solved.failed):
        solved = retry_by_splitting(d, step, solved, resumed, tolerance)
        solved = retry_where_rims_turned(d, step, solved, tolerance)
    if d.contact_count > 0 and any_lane(solved.failed):
        solved = retry_released_lanes(d, step, solved, tolerance)
    if d.has_limits > 0:  # laws at a knot are exact
        relax_limits(d, none)
    remember_held_lanes(d, step, moving)
    return solved


@phase
def advance(d, dt, lanes, tolerance):
    """Move the lanes by ``dt``, in parts where a whole step does not converge.

    Returns (lanes that arrived, iterations, residual, halvings, lanes in which a motor is
    saturated).
    """
    o = d.full(0.0)
    unlike, alive = find_unlike_steps(d, dt, lanes), lanes
    first = shorten_first_part(d, dt, choose_first_part(d, lanes))
    parts = first_parts(lanes, first, unlike)
    iterations = o
    worst, saturated = o, o
    while True:
        moving, h = both(parts.left, alive), parts.size * dt
        if not any_lane(moving):
            return alive, iterations, worst, parts.failures, saturated
        knot3 = knot_buffer(d, -1)
        copy_oldest_velocities(d, knot3, moving)
        step = Step(knot_buffer(d, 0), knot3, h, d.environment.step_size / h)
        set_goals(d, 1.0 - parts.left + parts.size, dt)
        start_rims(d)
        start_leading_back(d, parts.size)
        solved = solve_step(d, step, moving, tolerance)
        iterations = iterations + solved.iterations
        rate = max_over_body_lanes(max_angular_speed(d.wide, knot3), h)
        measure_contact_powers(d, step.knot2, step.knot3)
        done, failed = reject_wrong_steps(d, step, parts, rate, solved)
        worst = where(done, maximum(worst, solved.residual), worst)
        saturated = maximum(saturated, accept_step(d, knot3, h, done, failed, rate))
        parts, lost = next_part(parts, done, failed)
        alive = but_not(alive, lost)
        worst = where(lost, solved.residual, worst)

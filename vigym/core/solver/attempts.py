"""Solution of a step: attempts by one method after another until one converges."""

from vigym.core.compiler.kernel import inline, phase
from vigym.core.compiler.simd import where
from vigym.core.contact.held import (
    find_lanes_beyond_bounds,
    find_lanes_led_back,
    find_lanes_to_release,
    hold_lanes,
    release_overlaps,
    remember_held_lanes,
)
from vigym.core.joint.interior_limits import clear_relaxation
from vigym.core.loop.elimination import restore_multipliers, save_multipliers
from vigym.core.model.saved import restore_knot, save_knot
from vigym.core.solver.iteration import Method, Solution
from vigym.core.solver.newton import attempt

RETRY = 0  # place where knots are kept aside
MOST_ROUNDS = 4  # of methods, in a step in which rims turn

PROJECTIONS = Method(damped=False, interior_point=False, breaks_cycles=False, warm=False)
INTERIOR_POINT = PROJECTIONS._replace(damped=True, interior_point=True)
BREAKING_CYCLES = PROJECTIONS._replace(damped=True, breaks_cycles=True)
REFINING = PROJECTIONS._replace(warm=True)


@phase
def attempt_in_lanes(d, step, lanes, method, tolerance):
    """Attempt a step by another method in some lanes; the other lanes keep their new knots."""
    save_knot(d, step.knot3, RETRY)
    done, iterations, residual, nonsmooth = attempt(d, step, lanes, method, tolerance)
    restore_knot(d, step.knot3, RETRY, ~d.wide.full(lanes))
    return done, iterations, residual, nonsmooth


@phase
def polish(d, step, solved, lanes, tolerance):
    """Continue from solutions of the interior point with the exact laws.

    A lane in which that fails keeps its solution.
    """
    save_knot(d, step.knot3, RETRY)
    save_multipliers(d)
    done, count, exact, _ = attempt(d, step, lanes, REFINING, tolerance)
    restore_knot(d, step.knot3, RETRY, ~d.wide.full(done))
    restore_multipliers(d, ~done)
    residual, iterations = where(done, exact, solved.residual), solved.iterations + count
    return Solution(solved.done, solved.failed, iterations, residual, solved.nonsmooth)


@inline
def retry_lanes(d, step, solved, lanes, method, tolerance):
    """Attempt a step by another method in lanes that failed; return the solution of all."""
    again, count, residual, nonsmooth = attempt_in_lanes(d, step, lanes, method, tolerance)
    iterations = solved.iterations + count
    nonsmooth = where(lanes, nonsmooth, solved.nonsmooth)
    residual = where(lanes, residual, solved.residual)
    done, failed = solved.done | again, solved.failed & ~again
    return Solution(done, failed, iterations, residual, nonsmooth)


@inline
def retry_held_lanes(d, step, solved, tolerance):
    """Attempt a step anew where bodies could not be led back, and hold them where they are."""
    held = solved.failed & find_lanes_led_back(d)
    if held.any():
        held = held & find_lanes_beyond_bounds(d)
        if held.any():
            hold_lanes(d, held)
            solved = retry_lanes(d, step, solved, held, PROJECTIONS, tolerance)
    return solved


@inline
def retry_released_lanes(d, step, solved, tolerance):
    """Attempt a step for the last time in lanes that failed while bodies overlap.

    These bodies are released: they may overlap for this step.
    """
    released = solved.failed & find_lanes_to_release(d)
    if released.any():
        release_overlaps(d, released)
        solved = retry_lanes(d, step, solved, released, PROJECTIONS, tolerance)
    return solved


@inline
def retry_by_other_methods(d, step, solved, lanes, tolerance):
    """Attempt a step anew in lanes that failed, by the interior point, then by breaking cycles."""
    solved = retry_lanes(d, step, solved, lanes, INTERIOR_POINT, tolerance)
    found = lanes & solved.done & solved.nonsmooth
    if found.any():
        solved = polish(d, step, solved, found, tolerance)
    stuck = lanes & solved.failed & solved.nonsmooth
    if d.contact_count > 0 and stuck.any():
        solved = retry_lanes(d, step, solved, stuck, BREAKING_CYCLES, tolerance)
    return solved


@inline
def solve_step(d, step, moving, tolerance):
    """Solve a step of the moving lanes, by one method after another in those that fail."""
    first = INTERIOR_POINT if d.interior_point > 0 else PROJECTIONS
    done, count, residual, nonsmooth = attempt(d, step, moving, first, tolerance)
    solved = Solution(done, moving & ~done, count, residual, nonsmooth)
    if solved.failed.any():
        solved = retry_held_lanes(d, step, solved, tolerance)
        again = solved.failed
        for _ in range(MOST_ROUNDS):
            if not again.any():
                break
            d.environment.rims_turned = False
            solved = retry_by_other_methods(d, step, solved, again, tolerance)
            again = solved.failed & d.environment.rims_turned
        if d.contact_count > 0:
            solved = retry_released_lanes(d, step, solved, tolerance)
    if d.has_limits > 0:  # laws at a knot are exact
        clear_relaxation(d)
    remember_held_lanes(d, step, moving, solved.done)
    return solved

"""Solution of a step: attempts by one method after another until one converges."""

from vigym.core.compiler.kernel import inline, phase
from vigym.core.compiler.simd import maximum, minimum, where
from vigym.core.contact.held import (
    find_lanes_beyond_bounds,
    find_lanes_led_back,
    find_lanes_to_release,
    hold_lanes,
    release_overlaps,
    remember_held_lanes,
)
from vigym.core.contact.laws.interior_point_law import find_lanes_of_forces_at_gaps
from vigym.core.joint.interior_limits import clear_relaxation
from vigym.core.loop.elimination import restore_multipliers, save_multipliers
from vigym.core.model.saved import restore_knot, save_knot
from vigym.core.solver.iteration import Method, Solution
from vigym.core.solver.newton import attempt

MOST_MISSED_STARTS = 31.0  # largest count of steps in which the first method failed
RETRY = 0  # place where knots are kept aside

PROJECTIONS = Method(
    damped=False,
    interior_point=False,
    splitting=False,
    breaks_cycles=False,
    warm=False,
    brief=False,
    resumes=False,
)
INTERIOR_POINT = PROJECTIONS._replace(damped=True, interior_point=True)
RESUMED_INTERIOR_POINT = INTERIOR_POINT._replace(resumes=True)
TIGHTENING = INTERIOR_POINT._replace(warm=True, brief=True)
SPLITTING = PROJECTIONS._replace(damped=True, splitting=True)
BREAKING_CYCLES = PROJECTIONS._replace(damped=True, breaks_cycles=True)
REFINING = PROJECTIONS._replace(warm=True)
REFINING_BRIEFLY = REFINING._replace(brief=True)


@phase
def attempt_in_lanes(d, step, lanes, method, tolerance):
    """Attempt a step by another method in some lanes; the other lanes keep their new knots."""
    save_knot(d, step.knot3, RETRY)
    done, iterations, residual, nonsmooth = attempt(d, step, lanes, method, tolerance)
    restore_knot(d, step.knot3, RETRY, ~d.wide.full(lanes))
    return done, iterations, residual, nonsmooth


@phase
def refine(d, step, solved, lanes, method, tolerance):
    """Continue from a solution by another method; lanes in which it fails keep their solution.

    Returns (the solution of all lanes, lanes in which the method converged).
    """
    save_knot(d, step.knot3, RETRY)
    save_multipliers(d)
    done, count, exact, _ = attempt(d, step, lanes, method, tolerance)
    others = ~done
    restore_knot(d, step.knot3, RETRY, d.wide.full(others))
    restore_multipliers(d, others)
    residual, iterations = where(done, exact, solved.residual), solved.iterations + count
    return Solution(solved.done, solved.failed, iterations, residual, solved.nonsmooth), done


@inline
def polish(d, step, solved, lanes, method, tolerance):
    """Continue from solutions of the interior point or the splitting with the exact laws.

    Lanes in which this fails are remembered. Returns the solution.
    """
    environment = d.environment
    solved, done = refine(d, step, solved, lanes, method, tolerance)
    missed = lanes & ~done
    environment.unpolished = where(lanes, missed, environment.unpolished)
    return solved


@inline
def tighten(d, step, solved, lanes, tolerance):
    """Continue from solutions of the interior point with less relaxation, where bodies float.

    Returns the solution, and the lanes in which the attempt converged.
    """
    lanes, done = lanes & find_lanes_of_forces_at_gaps(d, step.h), d.full(False)
    if lanes.any():
        solved, done = refine(d, step, solved, lanes, TIGHTENING, tolerance)
    return solved, done


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
    """Attempt a step anew, with bodies held where they are, in lanes that failed to lead them back.

    Returns the solution, and these lanes.
    """
    held = solved.failed & find_lanes_led_back(d)
    if held.any():
        held = held & find_lanes_beyond_bounds(d)
        if held.any():
            hold_lanes(d, held)
            solved = retry_lanes(d, step, solved, held, PROJECTIONS, tolerance)
    return solved, held


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
def retry_and_polish(d, step, solved, lanes, methods, rough, tolerance):
    """Attempt a step by one method, and refine its solution by a second one.

    Solutions are not refined in the lanes ``rough``, nor where less relaxation converged already.
    """
    before = solved.done
    solved = retry_lanes(d, step, solved, lanes, methods[0], tolerance)
    found = solved.done & ~before
    if d.contact_count > 0 and methods[0].interior_point:
        solved, tight = tighten(d, step, solved, found, tolerance)
        found = found & ~tight
    found = found & ~rough
    if found.any():
        solved = polish(d, step, solved, found, methods[1], tolerance)
    return solved


@inline
def remember_missed_starts(d, tried, missed, known):
    """Count the steps in a row in which the first method failed; idle lanes keep their count.

    From the second failure on, the next 2, 6, 14 or 30 steps begin with the interior point.
    """
    environment = d.environment
    more = 2.0 * environment.missed_starts + 1.0
    more = minimum(more, MOST_MISSED_STARTS)
    left = environment.interior_steps
    left = where(known, maximum(left - 1.0, 0.0), left)
    environment.interior_steps = where(missed, more - 1.0, where(tried, 0.0, left))
    environment.missed_starts = where(missed, more, where(tried, 0.0, environment.missed_starts))


@inline
def solve_with_contacts(d, step, lanes, known, tolerance):
    """Solve a step with contacts by projections, or by the interior point where those fail.

    In the lanes ``known`` projections failed in the last steps, and the interior point begins.
    Projections fail for many steps if contacts hold each other, as in a chain of balls on the
    ground. Returns the solution, and the lanes in which the interior point was resumed.
    """
    o = d.full(0.0)
    tried = lanes & ~known
    solved = Solution(d.full(False), lanes, o, d.full(1e300), d.full(False))
    if tried.any():
        done, count, residual, nonsmooth = attempt(d, step, tried, PROJECTIONS, tolerance)
        solved = Solution(done, lanes & ~done, count, residual, nonsmooth)
    missed = tried & solved.failed
    missed_again = missed & (d.environment.missed_starts > 0.0)
    begun, resumed = missed & ~missed_again, known | missed_again
    if begun.any():
        methods = INTERIOR_POINT, REFINING
        solved = retry_and_polish(d, step, solved, begun, methods, d.full(False), tolerance)
    if resumed.any():
        methods = RESUMED_INTERIOR_POINT, REFINING_BRIEFLY
        rough = known & d.environment.unpolished
        solved = retry_and_polish(d, step, solved, resumed, methods, rough, tolerance)
    lost = known & solved.failed
    if lost.any():
        solved = retry_lanes(d, step, solved, lost, PROJECTIONS, tolerance)
    solved, held = retry_held_lanes(d, step, solved, tolerance)
    remember_missed_starts(d, tried, missed & ~held, known)
    return solved, resumed


@inline
def retry_by_splitting(d, step, solved, lanes, tolerance):
    """Attempt a step anew in lanes that failed with contacts split off, and refine the result.

    The result is near a solution, and projections continue from it.
    """
    methods = SPLITTING, REFINING
    solved = retry_and_polish(d, step, solved, lanes, methods, d.full(False), tolerance)
    again = lanes & solved.failed
    if again.any():
        solved = retry_lanes(d, step, solved, again, REFINING, tolerance)
    return solved


@inline
def retry_by_further_methods(d, step, solved, resumed, slow, tolerance):
    """Attempt a step anew in lanes in which projections and the interior point failed.

    Where the interior point was ``resumed`` from the solution of another step, it starts anew.
    Splitting takes many iterations: it is for the lanes ``slow``.
    """
    if d.contact_count == 0:
        return retry_lanes(d, step, solved, solved.failed, BREAKING_CYCLES, tolerance)
    stuck = solved.failed & solved.nonsmooth
    if stuck.any():
        solved = retry_lanes(d, step, solved, stuck, BREAKING_CYCLES, tolerance)
    anew = stuck & solved.failed & resumed
    if anew.any():
        methods = INTERIOR_POINT, REFINING
        solved = retry_and_polish(d, step, solved, anew, methods, d.full(False), tolerance)
    stuck = stuck & solved.failed & slow
    if stuck.any():
        solved = retry_by_splitting(d, step, solved, stuck, tolerance)
    return retry_released_lanes(d, step, solved, tolerance)


@inline
def solve_step(d, step, moving, slow, tolerance):
    """Solve a step of the moving lanes, with further attempts in those that fail.

    Methods that take many iterations are tried in the lanes ``slow``.
    """
    resumed = moving & (d.environment.interior_steps > 0.0)
    if d.contact_count > 0 and d.interior_point == 0:
        solved, resumed = solve_with_contacts(d, step, moving, resumed, tolerance)
    else:
        first = INTERIOR_POINT if d.interior_point > 0 else PROJECTIONS
        done, count, residual, nonsmooth = attempt(d, step, moving, first, tolerance)
        solved = Solution(done, moving & ~done, count, residual, nonsmooth)
        if d.interior_point > 0:
            solved, _ = retry_held_lanes(d, step, solved, tolerance)
            solved, _ = tighten(d, step, solved, solved.done, tolerance)
    only_limits = d.contact_count == 0 and d.has_limits > 0 and d.interior_point == 0
    if only_limits and solved.failed.any():
        methods = (INTERIOR_POINT, REFINING)
        solved = retry_and_polish(d, step, solved, solved.failed, methods, d.full(False), tolerance)
        solved, _ = retry_held_lanes(d, step, solved, tolerance)
    if solved.failed.any():
        solved = retry_by_further_methods(d, step, solved, resumed, slow, tolerance)
    if d.has_limits > 0:  # laws at a knot are exact
        clear_relaxation(d)
    remember_held_lanes(d, step, moving, solved.done)
    return solved

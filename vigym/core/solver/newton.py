"""Newton's method for one step: all lanes at once, each independent of the others.

Chord iteration: one factorisation per step, made anew in a lane only when its residual shrinks by
less than a factor of four. A lane that has converged is frozen, so its neighbours never change it.
`vigym.core.solver.convergence` finds the lanes that have converged. In single precision a residual
near the tolerance is mostly rounding: every guess is improved once, whatever its residual.

Where contacts, motors, limits or dry friction have a force, the equations are nonsmooth. In such
nonsmooth lanes every iteration factorises, and a line search chooses a step length that brings the
forces nearer to their laws. An attempt is given up if the step lengths stay nearly zero. Further
attempts use other methods, see `vigym.core.solver.attempts.solve_step`: damped full Newton, and
chord iterations that refine its solutions.
"""

from vigym.core.compiler.kernel import inline, phase
from vigym.core.compiler.simd import maximum, minimum, where
from vigym.core.contact.active_set import (
    activate_missed_contacts,
    move_anchors_to_contact_forces,
    reanchor_contacts,
)
from vigym.core.contact.kinematics import evaluate_contact_velocities
from vigym.core.contact.laws.interior_point_law import (
    adapt_relaxation,
    relaxation_bounds,
    tightened_relaxation,
)
from vigym.core.contact.laws.splitting_law import balance_penalty, start_contacts_sticking
from vigym.core.contact.rims import turn_dipping_rims
from vigym.core.contact.update import clear_duals
from vigym.core.joint.bounded_anchors import (
    move_anchors_to_bounded_forces,
    reanchor_bounded_forces,
)
from vigym.core.joint.interior_limits import clear_interior_limits, clear_relaxation
from vigym.core.loop.elimination import restore_accepted_multipliers
from vigym.core.solver.convergence import (
    SLOW_CONTRACTION,
    SOFT_PROX,
    converged,
    predict_residual,
    rounding_tolerance_factor,
)
from vigym.core.solver.iteration import Iteration, max_iterations
from vigym.core.solver.line_search import (
    choose_firmness,
    choose_step_length,
    find_overdetermined_lanes,
    find_stalled_lanes,
    increments_seek_contacts,
    take_step,
)
from vigym.core.solver.residual import (
    PROX,
    accept_forces,
    evaluate_iterate,
    start_step,
    step_forces,
)
from vigym.core.tree.ldu import solve_to_leaves, sum_joint_closures

DIVERGED_RESIDUAL = 1e12  # scaled residual above which a lane is given up
# Increment [rad] above which the next one must be at most half as large: otherwise Newton leads to
# another root of loops
DIVERGED_ROTATION = 1e-3
LEAST_PROX = 1e-7  # least proximal part while a body goes on sinking under heavier ones
TIGHTENING = 0.1  # factor on the proximal part each time that an anchor moves
MOST_GAP_LEFT = 0.1  # part of a gap that shifts of loop rows may leave
ROUNDED_GAP = 1e-13  # gap below which that part is rounding
SHIFT_REDUCTION, LEAST_SHIFT_SCALE = 0.1, 1e-3  # of these shifts if they leave more
MOST_SHORT_STEPS = 2.0  # step lengths of nearly zero after which an attempt is given up
STALLED_POSITIONS = 0.25  # part of the round-off of positions that a stalled residual may keep


@inline
def initial_parameters(d, step, method):
    """Find the proximal parameter, and the relaxation at the start and at the end [N m/s].

    Only the interior point has a relaxation, which it reduces. Unless it continues from a solution,
    it clears the duals of contacts and the slacks of limits, and measures the speed of impacts.
    """
    prox = d.full(SOFT_PROX if method.warm else PROX)
    if method.splitting:
        start_contacts_sticking(d)
    kappa, tight = d.full(0.0), d.full(0.0)
    if d.has_limits > 0:
        clear_relaxation(d)
    if method.interior_point and method.warm:
        tight = tightened_relaxation(d, 1.0 / step.h)
        return prox, tight, tight
    if method.interior_point:
        if d.contact_count > 0:
            sum_joint_closures(d, step.knot3)  # velocities are those of closed joints
            evaluate_contact_velocities(d, step.knot2, step.knot3, step.h)
        kappa, tight = relaxation_bounds(d, 1.0 / step.h, method.resumes)
        clear_duals(d)
        clear_interior_limits(d)
    return prox, kappa, tight


@inline
def confirm_converged_lanes(d, step, candidates, prox, method, seek):
    """Accept lanes whose convergence is confirmed.

    A lane goes on if a missed contact is found, if a rim dips into the ground, or if a proximal
    anchor moves; its proximal parameter is reduced. Missed contacts are sought if ``seek`` is set,
    or if increments do not seek them. Returns (lanes that are done, proximal parameter).
    """
    finished = candidates
    if candidates.any():
        reopened, sinking = d.full(False), d.full(False)
        if seek or not increments_seek_contacts(d):
            reopened = activate_missed_contacts(d, step.knot2, step.knot3, step.h, candidates)
        turned = turn_dipping_rims(d, step.knot2, step.knot3, step.h, candidates)
        reopened = reopened | turned
        if not (method.interior_point or method.splitting):
            sinking = reanchor_contacts(d, step.h, prox, candidates)
        if d.has_bounded_forces > 0:
            reopened = reopened | reanchor_bounded_forces(d, step.h, candidates)
        reopened = reopened | sinking
        finished = candidates & ~reopened
        accept_forces(d, finished)
        floor = LEAST_PROX if method.damped or method.warm else PROX
        least = where(sinking, floor, minimum(PROX, prox))
        prox = where(reopened, maximum(least, TIGHTENING * prox), prox)
    return finished, prox


@inline
def increment_rotation(d, knot3, found):
    """Find the largest rotation of the increment [rad]; evaluations solve for it if needed."""
    rotation = found.rotation
    if not (d.loop_row_count > 0 or found.nonsmooth.any()):
        rotation, _, _, _ = solve_to_leaves(d, knot3)
    return rotation


@inline
def find_hopeless_lanes(d, found, rotation, last_rotation, short_steps, method):
    """Find lanes in which the attempt is given up.

    Either the residual is huge, or the accepted step length was nearly zero several times, or
    Newton leads away from the root next to the prediction: loops have other roots. A damped attempt
    starts from the last velocities, next to the right root.
    """
    finite = found.residual < DIVERGED_RESIDUAL  # false for NaN
    hopeless = (short_steps > MOST_SHORT_STEPS) | ~finite
    if d.loop_row_count > 0 and not method.damped:
        away = (rotation > DIVERGED_ROTATION) & (rotation > 0.5 * last_rotation)
        hopeless = hopeless | away & ~found.nonsmooth
    return hopeless


@inline
def find_lanes_to_refactorise(d, active, contraction, iteration):
    """Find lanes that factorise anew: all lanes of damped Newton, the slow lanes of a chord."""
    if iteration.method.damped:
        return active
    if iteration.number > 0:
        return active & (contraction > SLOW_CONTRACTION)
    return d.full(False)


@inline
def adapt_shifts_of_loop_rows(d, found, slack):
    """Reduce the shifts of loop rows that leave too much of a gap open, as near singular poses.

    Gaps of the size of rounding are ignored.
    """
    if d.loop_row_count > 0:
        scale, gap = d.environment.shift_scale, found.gap / slack
        most = MOST_GAP_LEFT * gap
        slow = (found.gap_left > most) & (gap > ROUNDED_GAP)
        reduced = maximum(SHIFT_REDUCTION * scale, LEAST_SHIFT_SCALE)
        d.environment.shift_scale = where(slow, reduced, scale)


@inline
def adapt_parameters(d, prox, length, refused, found, iteration):
    """Find (proximal part, relaxation, scale of the splitting's slopes) of the next iteration.

    Laws of contacts are soft after an increment that was refused, and then become firm again. The
    shifts of loop rows are adapted, too.
    """
    adapt_shifts_of_loop_rows(d, found, iteration.slack)
    method = iteration.method
    if not (method.damped or method.warm):
        prox = choose_firmness(prox, refused, PROX)
    errors = found.errors
    kappa = adapt_relaxation(iteration.kappa, length, errors.max_step, iteration.tight)
    scale = balance_penalty(iteration.scale, iteration.number, errors.velocity, errors.force)
    return prox, kappa, scale


@inline
def prepare_next_iteration(d, active, moved, contraction, iteration):
    """Move the anchors of motors, limits and dry friction in the lanes that ``moved``.

    They move only after lanes are confirmed: the distance of a force from its anchor measures how
    far a dof yields. Returns the lanes that factorise anew.
    """
    if d.has_bounded_forces > 0:
        move_anchors_to_bounded_forces(d, moved)
    return find_lanes_to_refactorise(d, active, contraction, iteration)


@inline
def start_attempt(d, step, lanes, method, tolerance):
    """Start from a prediction, or continue from the attempt before.

    Returns:
        Lanes whose budget has iterations left, factor by which rounding loosens the tolerance, and
        the same factor for a residual that has stopped falling.
    """
    d.environment.shift_scale = 1.0
    if method.warm:
        move_anchors_to_contact_forces(d, lanes)
        if d.loop_row_count > 0:  # those of a solved lane changed while neighbours iterated
            restore_accepted_multipliers(d, d.full(False))
    else:
        start_step(d, step, lanes, method.damped)
    slack = rounding_tolerance_factor(d, d.environment.largest_term, tolerance)
    positions = STALLED_POSITIONS * d.environment.position_term
    stalled = maximum(slack, rounding_tolerance_factor(d, positions, tolerance))
    return lanes & (d.environment.iterations_left > 0.0), slack, stalled


@inline
def spend_iteration(d, iterations, active, hopeless):
    """Take an iteration of active lanes from their budget, and find the lanes that go on."""
    environment, used = d.environment, where(active, 1.0, 0.0)
    environment.iterations_left = environment.iterations_left - used
    return iterations + used, active & ~hopeless & (environment.iterations_left > 0.0)


@phase
def attempt(d, step, lanes, method, tolerance):
    """Solve one step in the given lanes, from knot buffer knot2 into knot3.

    Returns (lanes that converged, iterations, scaled residual, nonsmooth lanes).
    """
    lanes, slack, stalled = start_attempt(d, step, lanes, method, tolerance)
    prox, kappa, tight = initial_parameters(d, step, method)
    active, stale = lanes, lanes
    nonsmooth, done = d.full(False), d.full(False)
    short_steps, iterations = d.full(0.0), d.full(0.0)
    previous, scale = d.full(1.0), d.full(1.0)
    residual, rotation = d.full(1e300), d.full(1e300)
    for number in range(max_iterations(method) if lanes.any() else 0):
        iteration = Iteration(number, method, prox, kappa, tight, scale, slack, stalled, tolerance)
        found = evaluate_iterate(d, step, active, stale, nonsmooth, iteration)
        contraction, nonsmooth = found.residual / previous, found.nonsmooth
        residual = where(active, found.residual, residual)
        candidates = converged(d, found, contraction, active, iteration)
        step_forces(d, found.errors.max_step, candidates, method.interior_point)
        finished, prox = confirm_converged_lanes(d, step, candidates, prox, method, number == 0)
        # missed contacts and moved anchors of the reopened lanes are in no equation yet
        reopened = candidates & ~finished
        done, active = done | finished, active & ~finished
        if not active.any():
            break
        last_rotation, rotation = rotation, increment_rotation(d, step.knot3, found)
        length = choose_step_length(d, step, rotation, found, iteration)
        refused = find_overdetermined_lanes(d, length, found, iteration)
        short = find_stalled_lanes(d, length, refused, found, method)
        short_steps = short_steps + where(short, 1.0, 0.0)
        hopeless = find_hopeless_lanes(d, found, rotation, last_rotation, short_steps, method)
        iterations, active = spend_iteration(d, iterations, active, hopeless)
        moving = active & ~(reopened | refused)
        missed = take_step(d, step, length, moving, method.interior_point)
        prox, kappa, scale = adapt_parameters(d, prox, length, refused, found, iteration)
        bound, promising = predict_residual(d, found, contraction, rotation, length, iteration)
        candidates = moving & promising & ~missed
        finished, prox = confirm_converged_lanes(d, step, candidates, prox, method, False)
        residual = where(finished, bound, residual)
        done, active = done | finished, active & ~finished
        if not active.any():
            break
        stale = prepare_next_iteration(d, active, moving & active, contraction, iteration)
        previous = where(active, found.residual, previous)
    return done, iterations, residual, nonsmooth

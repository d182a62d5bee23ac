"""Newton's method for one step, all lanes at once, each lane on its own terms.

Chord iteration: one factorisation per step, made anew in a lane only when its residual shrinks by
less than a factor of four. A lane that has converged is frozen, so its neighbours never change it.
A step is accepted when its scaled residual is below the tolerance, measured, or bounded from the
measured contraction: the chord's next residual is about (residual)^2 / (last residual). In single
precision rounding is most of what the tolerance leaves: every guess is improved once, whatever its
residual.

Where contacts, motors, limits or dry friction have a force, every iteration factorises, and a line
search takes the part of the increment that brings forces to their laws. An attempt whose parts stay
tiny is given up. The methods of further attempts are in ``advance.solve_step``: all of them are
damped full Newton.
"""

from vigym.core.body.dynamics import apply_increment
from vigym.core.compiler.kernel import inline, phase
from vigym.core.compiler.lanes import above, any_lane, both, but_not, select_by_precision
from vigym.core.compiler.simd import maximum, where
from vigym.core.contact.active_set import (
    find_missed_contacts,
    reanchor_contacts,
)
from vigym.core.contact.interior_point_law import reduce_relaxation, relaxation
from vigym.core.contact.update import clear_duals
from vigym.core.joint.bounded_forces import (
    move_anchors_to_bounded_forces,
    reanchor_bounded_forces,
)
from vigym.core.loop.constraints import update_loop_anchors
from vigym.core.solver.ldu import solve_to_leaves
from vigym.core.solver.line_search import search_step_length
from vigym.core.solver.residual import (
    PROX,
    Iteration,
    Step,
    accept_forces,
    evaluate_step,
    start_step,
    step_forces,
)

ITERATIONS, DAMPED_ITERATIONS = 20, 60  # of the chord attempt, of damped full Newton
SLOW = 0.25  # contraction above which the chord's factorisation is renewed
# times the tolerance: where constrained lanes stop to converge, it is their stiffness that rounds
FLOOR = 100.0
# on the predicted residual (measured on chains: 0.4 to 0.7 of residual^2 / last residual)
SAFETY = 1.5
MAX_ROTATION, DAMPED_MAX_ROTATION = 1.0, 0.3  # [rad] of one Newton increment
NEGLIGIBLE = 0.1  # part of the tolerance below which the line search sees no errors of laws
DIVERGED = 1e12  # scaled residual of a lane that is given up
# [rad] an increment beyond this that is not half of the last one leads away: loops have other roots
DIVERGING = 1e-3
# proximal part of a soft attempt, easier to solve: its anchors move, and each time it is tightened
SOFT_PROX, TIGHTENING = 1e-3, 0.1
HALF_STEPS = 15  # number of half steps in constrained lanes, of the method that takes them
# increments of so small a part bring nothing; after more than this many the attempt is given up
SHORT, SHORT_STEPS = 0.07, 2.0
# pairs of numbers: in double and in single precision
# [rad] of the next increment: next to singular poses a small gap leaves much of the motion open
CONVERGED_ROTATION = 1e-7, 1e-5
ROUND_OFF = 4e-15, 5e-7  # part of its largest term below which a residual need not fall


@inline
def start_relaxation(d, h, interior_point):
    """Find the relaxation of contacts at the start and at the end [N m/s].

    Only the interior point has one to bring down; its duals are cleared.
    """
    kappa, tight = relaxation(d, 1.0 / h)
    if interior_point:
        clear_duals(d)
        return kappa, tight
    return tight, tight


@inline
def rounding_slack(d, largest_term, tolerance):
    """Find by which factor the rounding of forces exceeds the tolerance, at least one."""
    round_off = select_by_precision(ROUND_OFF, d.full(0.0))
    return maximum(d.full(1.0), round_off / tolerance * largest_term / d.environment.force_scale)


@inline
def tighten_proximal_parameter(d, prox, reopened):
    """Reduce the proximal parameter of the next iteration in lanes that converged and go on."""
    return where(reopened, maximum(d.full(PROX), TIGHTENING * prox), prox)


@inline
def confirm_converged_lanes(d, step, candidates, iteration):
    """Accept the lanes that have converged indeed.

    Those go on in which a contact that seemed far is below the ground, or a proximal anchor moves.
    Returns the lanes that are done.
    """
    reanchored = find_missed_contacts(d, step.knot2, step.knot3, step.h, candidates)
    if not iteration.method.interior_point:
        moved = reanchor_contacts(d, step.h, iteration.prox, candidates)
        reanchored = maximum(reanchored, moved)
    if d.has_bounded_forces > 0:
        reanchored = maximum(reanchored, reanchor_bounded_forces(d, step.h, candidates))
    finished = but_not(candidates, reanchored)
    accept_forces(d, finished)
    return finished


@inline
def converged(d, found, contraction, active, iteration):
    """Find the active lanes whose measured residual is small, and that hardly move any more.

    Constrained lanes also where it has become as small as it will, but not before their contacts
    are relaxed no more.
    """
    goal = iteration.tolerance * iteration.slack
    if iteration.number == 0:
        goal = select_by_precision((goal, d.full(iteration.tolerance)), goal)
    constrained = found.constrained
    small = above(goal, found.residual)
    if iteration.number > 0:
        stalled = both(constrained, above(contraction, d.full(SLOW)))
        small = maximum(small, both(stalled, above(FLOOR * goal, found.residual)))
    moves = where(constrained, found.rotation, d.full(0.0))
    if d.loop_row_count > 0:
        moves = found.rotation
    still = above(d.full(select_by_precision(CONVERGED_ROTATION, goal)), moves)
    relaxed = both(constrained, above(iteration.kappa, iteration.tight))
    return but_not(both(active, both(small, still)), relaxed)


@inline
def increment_rotation(d, knot3, found):
    """Find the largest rotation of the increment [rad]; evaluations solve for it if needed."""
    rotation = found.rotation
    if not (d.loop_row_count > 0 or any_lane(found.constrained)):
        rotation, _, _, _ = solve_to_leaves(d, knot3)
    return rotation


@inline
def find_diverging_lanes(d, found, rotation, last_rotation, iteration):
    """Find lanes in which Newton leads away from the root next to the prediction.

    Loops have other roots. The damped attempt starts from the last velocities, next to the right
    one.
    """
    if d.loop_row_count > 0 and not iteration.method.damped:
        away = both(above(rotation, d.full(DIVERGING)), above(rotation, 0.5 * last_rotation))
        return but_not(away, found.constrained)
    return d.full(0.0)


@inline
def step_length(d, step, rotation, found, iteration):
    """Limit the increment: no body turns too far, and forces stay in their cones.

    Returns the part of it that is taken. In constrained lanes it is halved until the forces come
    nearer to their laws, but for the first increment: the guess does not satisfy the dynamics.
    Another method takes half steps at first: full ones may flip between sets of contacts for ever.
    """
    damped = iteration.method.damped and not iteration.method.interior_point
    limit = d.full(DAMPED_MAX_ROTATION if damped else MAX_ROTATION)
    length = limit / maximum(rotation, limit)
    length = where(length - found.max_step, found.max_step, length)
    if iteration.number > 0 and not iteration.method.damped and any_lane(found.constrained):
        goal = NEGLIGIBLE * iteration.tolerance * iteration.slack * d.environment.force_scale
        per_h = 1.0 / step.h
        length = search_step_length(
            d, length, goal * goal, per_h, iteration.prox, found.constrained
        )
    if iteration.method.half_steps and iteration.number < HALF_STEPS:
        return where(found.constrained, 0.5 * length, length)
    return length


@inline
def follow_increment(d, step, moving):
    """Move the anchors of motors, limits and dry friction; find contacts that were missed so far.

    Returns the lanes in which a contact is in the equations only now: they have to go on.
    """
    if d.has_bounded_forces > 0:
        move_anchors_to_bounded_forces(d, moving)
    if d.contact_row_count == 0:  # places of nearest points wait for the solution
        return find_missed_contacts(d, step.knot2, step.knot3, step.h, moving)
    return d.full(0.0)


@inline
def take_step(d, step, length, mask, interior_point):
    """Move bodies and forces a part of their increment, in the lanes of the mask."""
    w = d.wide
    h = w.full(step.h)
    apply_increment(w, step.knot2, step.knot3, h, w.full(length), w.full(mask))
    step_forces(d, length, mask, interior_point)
    if d.loop_row_count > 0:
        update_loop_anchors(d, step.knot3)


@inline
def predicted_residual(d, found, contraction, rotation, iteration):
    """Bound the residual after the increment just taken."""
    bound = found.residual
    if iteration.number > 0:
        bound = SAFETY * contraction * found.residual
    bound = maximum(bound, found.law_error)
    if d.loop_row_count > 0:  # the gap that the solve leaves, and the curvature of loops
        bound = maximum(bound, iteration.slack * maximum(found.gap, rotation * rotation))
    return bound


@inline
def took_almost_whole_increment(d, length, contraction, rotation):
    """Find lanes that took the whole increment; with loops only if the next one will be tiny."""
    if d.loop_row_count > 0:
        tiny = d.full(select_by_precision(CONVERGED_ROTATION, length))
        length = where(above(contraction * rotation, tiny), 0.0 * length, length)
    return above(length, d.full(0.999))


@inline
def find_lanes_to_refactorise(d, active, contraction, iteration):
    """Find lanes that factorise anew: all of damped Newton, of the chord the slow ones."""
    if iteration.method.damped:
        return active
    if iteration.number > 0:
        return both(active, above(contraction, d.full(SLOW)))
    return d.full(0.0)


@inline
def start_attempt(d, step, method):
    """Start from a prediction, or go on from the attempt before.

    Returns the largest term of a residual [N], for round-off.
    """
    if not method.warm:
        d.environment.largest_term = start_step(d, step, method.damped)
    return d.environment.largest_term


@phase
def attempt(d, knot2, knot3, h, lanes, method, tolerance):
    """Solve one step of size ``h`` in the given lanes, from knot buffer knot2 into knot3.

    Returns (lanes that converged, iterations, scaled residual).
    """
    o, one = d.full(0.0), d.full(1.0)
    damped, interior_point = method.damped, method.interior_point
    step = Step(knot2, knot3, h, d.environment.step_size / h)
    slack = rounding_slack(d, start_attempt(d, step, method), tolerance)
    kappa, tight = start_relaxation(d, h, interior_point)
    active, stale = lanes, lanes
    constrained, previous = o, one
    done, iterations, short_steps = o, o, o
    prox = d.full(SOFT_PROX if method.soft else PROX)
    residual, rotation = d.full(1e300), d.full(1e300)
    for number in range(DAMPED_ITERATIONS if damped else ITERATIONS):
        iteration = Iteration(number, method, prox, kappa, tight, slack, tolerance)
        found = evaluate_step(d, step, active, stale, constrained, iteration)
        contraction, constrained = found.residual / previous, found.constrained
        residual = where(active, found.residual, residual)
        candidates = converged(d, found, contraction, active, iteration)
        step_forces(d, one, candidates, interior_point)
        finished = confirm_converged_lanes(d, step, candidates, iteration)
        reopened = but_not(candidates, finished)
        prox = tighten_proximal_parameter(d, prox, reopened)
        done, active = maximum(done, finished), but_not(active, finished)
        if not any_lane(active):
            break
        last_rotation, rotation = rotation, increment_rotation(d, knot3, found)
        active = but_not(active, find_diverging_lanes(d, found, rotation, last_rotation, iteration))
        length = step_length(d, step, rotation, found, iteration)
        if not damped:
            short = both(found.constrained, above(d.full(SHORT), length))
            short_steps = short_steps + short
            active = but_not(active, above(short_steps, d.full(SHORT_STEPS)))
        # what was seen only now in the reopened lanes is in no equation yet
        moving = but_not(active, reopened)
        take_step(d, step, length, moving, interior_point)
        changed = maximum(reopened, follow_increment(d, step, moving))
        kappa, iterations = reduce_relaxation(kappa, length, tight), iterations + active
        bound = predicted_residual(d, found, contraction, rotation, iteration)
        small = above(tolerance * slack, bound)
        whole = took_almost_whole_increment(d, length, contraction, rotation)
        finished = but_not(both(both(active, small), whole), changed)
        candidates = finished
        finished = confirm_converged_lanes(d, step, candidates, iteration)
        prox = tighten_proximal_parameter(d, prox, but_not(candidates, finished))
        residual = where(finished, bound, residual)
        done, active = maximum(done, finished), but_not(active, finished)
        active = both(active, above(d.full(DIVERGED), found.residual))
        if not any_lane(active):
            break
        stale = find_lanes_to_refactorise(d, active, contraction, iteration)
        previous = where(active, found.residual, previous)
    return done, iterations, residual

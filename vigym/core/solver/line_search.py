"""Increments: their step length, by a line search in nonsmooth lanes, and their application.

Dynamics, forces and velocities are linear in the step length. Only the laws of contacts, motors,
limits and dry friction are not: full increments may jump between sets of open, sticking and
slipping contacts for ever. The squared distance of the forces from their laws is measured along the
increment, without any further evaluation of the equations. Its values before the increment and
after the full one are known from the evaluation.
"""

from vigym.core.body.dynamics import apply_increment
from vigym.core.compiler.kernel import inline, phase
from vigym.core.compiler.simd import maximum, minimum, where
from vigym.core.contact.active_set import activate_missed_contacts
from vigym.core.contact.update import squared_law_errors_of_contacts
from vigym.core.joint.bounded_forces import squared_law_errors_of_joints
from vigym.core.joint.bounded_laws import step_proximal
from vigym.core.loop.constraints import update_loop_anchors
from vigym.core.solver.residual import step_forces

MAX_ROTATION, DAMPED_MAX_ROTATION = 1.0, 0.3  # [rad] of one Newton increment
SHORT, SHORT_INTERIOR = 0.07, 0.005  # step lengths that count as nearly zero
LITTLE_TAKEN = 0.1  # step length below which an increment with huge forces is refused
LARGE_RESIDUAL = 10.0  # scaled residual of an increment whose laws contradict each other
OVERSHOOT = 3.0  # factor on the squared distances from laws by such an increment
SOFTENED_PROX = 0.1  # proximal part of contacts in the iteration after such an increment
FIRMING = 0.03  # factor on a softened proximal part in each further iteration
NEGLIGIBLE = 0.1  # part of the tolerance below which errors of laws are ignored
HALVINGS = 6  # largest number of halvings of an increment
DECREASE = 1e-3  # part of the first order decrease that is required [Armijo]


@phase
def squared_law_errors(d, step_length, per_h, prox, of_contacts):
    """Sum the squared distances of all forces from their laws after a part of the increment.

    Contact forces are included only on request. Returns the sum [N^2].
    """
    total = d.full(0.0)
    if of_contacts and d.contact_count > 0:
        total = squared_law_errors_of_contacts(d, step_length, per_h, prox)
    if d.has_bounded_forces > 0:
        total = total + squared_law_errors_of_joints(d, step_length, per_h, step_proximal(total))
    return total


@phase
def search_step_length(d, longest, small, per_h, iteration, found):
    """Halve the increment in the nonsmooth lanes until the forces come nearer to their laws.

    Errors below ``small`` [N^2] are accepted. Returns the step length, at most ``longest``: the
    best one found if none is good enough.
    """
    one, of_contacts = d.full(1.0), not iteration.method.splitting
    best, least = longest, 1e300 * one
    length, searched = longest, found.nonsmooth
    for _ in range(HALVINGS):
        error = found.errors.squared
        partial = searched & (length < 1.0)
        if partial.any():
            squared = squared_law_errors(d, length, per_h, iteration.prox, of_contacts)
            error = where(partial, squared, error)
        better = searched & (least > error)
        best = where(better, length, best)
        least = where(better, error, least)
        enough = maximum((1.0 - DECREASE * length) * found.squared_errors, small)
        searched = searched & ~(enough > error)
        if not searched.any():
            break
        length = 0.5 * length
    return where(found.nonsmooth, best, longest)


@inline
def choose_step_length(d, step, rotation, found, iteration):
    """Limit the increment: no body turns too far, and forces stay in their cones.

    Returns the step length. In nonsmooth lanes it is halved until the forces come nearer to their
    laws. The first increment is not halved, as the guess does not satisfy the dynamics. The
    splitting measures only the forces of motors, limits and dry friction.
    """
    damped = iteration.method.damped and not iteration.method.interior_point
    limit = DAMPED_MAX_ROTATION if damped else MAX_ROTATION
    length = limit / maximum(rotation, limit)
    most = found.errors.max_step
    length = minimum(length, most)
    searches = iteration.method.splitting or not iteration.method.damped
    if iteration.number > 0 and searches and found.nonsmooth.any():
        goal = NEGLIGIBLE * iteration.tolerance * iteration.slack * d.environment.force_scale
        per_h = 1.0 / step.h
        length = search_step_length(d, length, goal * goal, per_h, iteration, found)
    return length


@inline
def find_stalled_lanes(d, length, refused, found, method):
    """Return the nonsmooth lanes whose accepted step length is nearly zero.

    The line search shortens it, or the boundary of the cones. Increments that are ``refused`` do
    not count.
    """
    if method.damped and not method.interior_point:
        return d.full(False)
    short = SHORT_INTERIOR if method.interior_point else SHORT
    return found.nonsmooth & (short > length) & ~refused


@inline
def find_overdetermined_lanes(d, length, found, iteration):
    """Find the nonsmooth lanes whose increment is to be refused: its laws contradict each other.

    Contacts that stick and motors at their largest rate may impose more conditions than the bodies
    have degrees of freedom. Only the proximal part bounds their forces then, and such forces
    mislead the laws in the next iteration. The signs are a residual of ten force scales, and forces
    further from their laws than before. Such an increment is refused if it is the first one, or if
    its step length is small: nothing moves, and the next iteration has soft laws of contacts.
    """
    method = iteration.method
    if method.damped or method.warm or d.contact_count == 0:
        return d.full(False)
    large = found.nonsmooth & (found.residual > LARGE_RESIDUAL)
    large = large & (found.errors.squared > OVERSHOOT * found.squared_errors)
    if iteration.number > 0:
        firm = iteration.prox < SOFTENED_PROX
        large = large & firm & (length < LITTLE_TAKEN)
    return large


@inline
def choose_firmness(prox, refused, firm):
    """Choose the proximal part of contacts in the next iteration.

    After a refused increment it is large, so that laws are soft. Then it falls to ``firm``, the
    proximal part of firm laws.
    """
    firmer = maximum(FIRMING * prox, firm)
    return where(refused, SOFTENED_PROX, where(prox > firm, firmer, prox))


@inline
def increments_seek_contacts(d):
    """Return whether missed contacts are sought after each increment.

    In mechanisms with contacts of two bodies, or on terrain, they are sought at the solution.
    """
    return d.contact_row_count == 0 and d.terrain_columns == 0


@inline
def take_step(d, step, length, mask, interior_point):
    """Move bodies and forces by a part of their increment, in the lanes of the mask.

    Returns the lanes in which a missed contact has become active.
    """
    w = d.wide
    h = w.full(step.h)
    apply_increment(w, step.knot2, step.knot3, h, w.full(length), w.full(mask))
    step_forces(d, length, mask, interior_point)
    if d.loop_row_count > 0:
        update_loop_anchors(d, step.knot3)
    if increments_seek_contacts(d):
        return activate_missed_contacts(d, step.knot2, step.knot3, step.h, mask)
    return d.full(False)

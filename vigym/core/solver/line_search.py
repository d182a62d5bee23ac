"""Line search of constrained lanes: the part of an increment that brings forces to their laws.

Dynamics, forces and velocities are linear in the part of an increment that is taken. Only the laws
of contacts, motors, limits and dry friction are not: full increments may jump between sets of open,
sticking and slipping contacts for ever. The squared distance of the forces from their laws is
measured along the increment, without any further evaluation of the equations.
"""

from vigym.core.compiler.kernel import phase
from vigym.core.compiler.lanes import above, any_lane, but_not
from vigym.core.compiler.simd import maximum, where
from vigym.core.contact.update import squared_law_errors_of_contacts
from vigym.core.joint.bounded_forces import squared_law_errors_of_joints
from vigym.core.joint.bounded_laws import PROXIMAL

HALVINGS = 6  # largest number of halvings of an increment
DECREASE = 1e-3  # part of the first order decrease that is asked for [Armijo]


@phase
def squared_law_errors(d, step_length, per_h, prox):
    """Sum the squared distances of all forces from their laws after a part of the increment [N^2]."""
    total = d.full(0.0)
    if d.contact_count > 0:
        total = squared_law_errors_of_contacts(d, step_length, per_h, prox)
    if d.has_bounded_forces > 0:
        total = total + squared_law_errors_of_joints(d, step_length, per_h, PROXIMAL)
    return total


@phase
def search_step_length(d, longest, small, per_h, prox, constrained):
    """Halve the increment in the constrained lanes until the forces come nearer to their laws.

    Errors below ``small`` [N^2] are near enough. Returns the part that is taken, at most
    ``longest``: the best one found where none is good enough.
    """
    one = d.full(1.0)
    start = squared_law_errors(d, 0.0 * one, per_h, prox)
    best, least = longest, 1e300 * one
    length, found = longest, but_not(one, constrained)
    for _ in range(HALVINGS):
        error = squared_law_errors(d, length, per_h, prox)
        better = but_not(above(least, error), found)
        best = where(better, length, best)
        least = where(better, error, least)
        enough = maximum((1.0 - DECREASE * length) * start, d.full(0.0) + small)
        found = maximum(found, above(enough, error))
        if not any_lane(but_not(one, found)):
            break
        length = 0.5 * length
    return where(constrained, best, longest)

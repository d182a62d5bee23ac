"""Advance lanes by a step, in halved steps if Newton fails.

With unequal steps every formula holds with rho = h1/h: halved steps and negative steps of
compositions need no special case.
"""

from vigym.core.body.pose import max_angular_speed
from vigym.core.compiler.kernel import inline, phase
from vigym.core.compiler.lanes import max_over_body_lanes
from vigym.core.compiler.simd import maximum, where
from vigym.core.contact.held import start_leading_back
from vigym.core.contact.rims import clear_turned_rims
from vigym.core.joint.coordinates import (
    compensated_add,
    count_turns,
    store_force_coordinates,
)
from vigym.core.loop.constraints import store_point_spring_lengths
from vigym.core.loop.motions import set_goals
from vigym.core.model.context import advance_knot_buffers, knot_buffer
from vigym.core.model.saved import copy_idle_knots, copy_oldest_velocities
from vigym.core.solver.accounting import account, measure_contact_powers
from vigym.core.solver.attempts import solve_step
from vigym.core.solver.growing_swings import choose_first_part, find_unlike_steps
from vigym.core.solver.iteration import Step
from vigym.core.solver.parts import (
    find_parts_for_slow_methods,
    first_parts,
    next_part,
    shorten_first_part,
)
from vigym.core.solver.residual import count_equal_steps
from vigym.core.solver.step_checks import reject_wrong_steps


@inline
def store_step(d, knot3, h, done, failed):
    """Write time, step sizes and history of lanes that are done; failed lanes get no history."""
    environment = d.environment
    h1 = environment.step_size
    history = count_equal_steps(d, knot3, h)
    environment.previous_step_size = where(done, h1, environment.previous_step_size)
    environment.history = where(done, history, environment.history)
    environment.history = where(failed, 0.0, environment.history)
    environment.step_size = where(done, h, environment.step_size)
    time, remainder = compensated_add(environment.time, environment.time_remainder, h, done)
    environment.time = time
    environment.time_remainder = remainder


@phase
def accept_step(d, knot3, h, done, failed, rate):
    """Make knot 3 the present one in the lanes that are done; the others keep theirs.

    Failed lanes predict their next attempt from the velocity alone. Returns the lanes in which a
    motor is saturated.
    """
    saturated = account(d, knot_buffer(d, 0), knot3, h, d.environment.step_size / h, done)
    store_step(d, knot3, h, done, failed)
    others = ~done
    if others.any():
        copy_idle_knots(d, d.wide.full(others), d.wide.full(others & ~failed))
    advance_knot_buffers(d)
    store_force_coordinates(d, knot3, done)
    if d.loop_count > 0:
        store_point_spring_lengths(d, knot3, done)
    count_turns(d, knot3, h, done, rate)
    return saturated


@phase
def advance(d, dt, lanes, tolerance, budget):
    """Move the lanes by ``dt``, in parts if a whole step does not converge.

    A lane is given up if it has not arrived after ``budget`` iterations.

    Returns (lanes that arrived, iterations, residual, halvings, lanes in which a motor is
    saturated).
    """
    o = d.full(0.0)
    unlike, alive = find_unlike_steps(d, dt, lanes), lanes
    first = shorten_first_part(d, dt, choose_first_part(d, lanes))
    parts = first_parts(lanes, first, unlike)
    iterations = o
    worst, saturated = o, d.full(False)
    environment = d.environment
    environment.iterations_left = float(budget)
    while True:
        moving, h = (parts.left > 0.0) & alive, parts.size * dt
        if not moving.any():
            return alive, iterations, worst, parts.failures, saturated
        knot3 = knot_buffer(d, -1)
        copy_oldest_velocities(d, knot3, moving)
        step = Step(knot_buffer(d, 0), knot3, h, d.environment.step_size / h)
        set_goals(d, 1.0 - parts.left + parts.size, dt)
        clear_turned_rims(d)
        start_leading_back(d, parts.size)
        slow = find_parts_for_slow_methods(parts)
        solved = solve_step(d, step, moving, slow, tolerance)
        iterations = iterations + solved.iterations
        rate = max_over_body_lanes(max_angular_speed(d.wide, knot3), h)
        measure_contact_powers(d, step.knot2, step.knot3)
        solved = reject_wrong_steps(d, step, parts, rate, solved)
        done, failed = solved.done, solved.failed
        worst = where(done, maximum(worst, solved.residual), worst)
        saturated = saturated | accept_step(d, knot3, h, done, failed, rate)
        parts, lost = next_part(parts, done, failed)
        lost = lost | failed & ~(environment.iterations_left > 0.0)
        alive = alive & ~lost
        worst = where(lost, solved.residual, worst)

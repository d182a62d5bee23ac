"""Residual of a step: from a guess of knot 3 to the residual of the equations and the increment."""

from vigym.core.body.dynamics import (
    assemble_body_blocks,
    body_residuals,
    increment_as_inertial_force,
    predict_next_knot,
)
from vigym.core.body.pose import max_angular_speed_change, max_velocity_differences
from vigym.core.body.potentials import add_potential_forces
from vigym.core.body.wrenches import add_wrenches
from vigym.core.compiler.kernel import inline, phase
from vigym.core.compiler.lanes import max_over_body_lanes, select_by_precision
from vigym.core.compiler.simd import absolute, maximum, minimum, where
from vigym.core.contact.assembly import (
    add_contact_forces,
    add_contact_stiffness,
    assemble_contact_rows,
    linearize_contacts_interior,
    linearize_contacts_projection,
)
from vigym.core.contact.kinematics import detect_contacts, evaluate_contact_velocities
from vigym.core.contact.laws.interior_point_law import free_fall_speed
from vigym.core.contact.laws.splitting_law import (
    linearize_contacts_splitting,
    update_contacts_splitting,
)
from vigym.core.contact.rims import turn_rims_again
from vigym.core.contact.update import (
    accept_contact_forces,
    step_contact_forces,
    step_duals,
    update_contacts_interior,
    update_contacts_projection,
)
from vigym.core.joint.ball_spring import write_tree_ball_increments
from vigym.core.joint.bounded_forces import (
    accept_bounded_forces,
    step_bounded_forces,
    update_bounded_forces,
)
from vigym.core.joint.bounded_laws import step_proximal
from vigym.core.joint.forces import (
    accept_loads,
    assemble_constant_loads,
    assemble_joint_loads,
    largest_damping_term,
    start_bounded_forces,
)
from vigym.core.joint.interior_limits import relax_limits
from vigym.core.loop.constraints import (
    assemble_point_spring_loads,
    largest_point_spring_term,
    loop_residuals,
    update_loop_anchors,
    write_closing_increments,
)
from vigym.core.loop.couplings import coupling_residuals
from vigym.core.loop.elimination import accept_multipliers, assemble_loop_rows, clear_multipliers
from vigym.core.loop.motions import motion_residuals
from vigym.core.loop.solve import multiplier_rounding_residual
from vigym.core.loop.tracks import find_jumps, place_tracks, start_tracks
from vigym.core.model.context import knot_buffer, knot_weight
from vigym.core.model.saved import restore_factors, save_factors
from vigym.core.solver.iteration import Evaluation, LawErrors
from vigym.core.tree.ldu import (
    factorise,
    scaled_residual,
    solve_to_leaves,
    solve_to_root,
    sum_joint_closures,
)

STEPS_OF_CUBIC = 5.0  # equal smooth steps after which a cubic predicts the next knot
# Third differences of velocities over second ones above which a cubic predicts worse than a line
JERKY = 0.8
KINK = 0.05  # [rad] change of a body's rotation per step above that of smooth motion
PROX = 1e-5  # proximal part of a contact's force: much less would need pivoting across blocks
JUMPED = 1e6  # gap set for a place on a track that jumped: the step does not converge
POSITION_ROUNDING = 0.05  # round-off of loop forces, in parts of the round-off of positions
OPEN_ROUNDING = 0.0, 1.0  # the same without loops, in double and in single precision


@phase
def refactorise(d, step, weight, others):
    """Factorise anew; the lanes ``others`` keep their factors."""
    mixed = others.any()
    if mixed:
        save_factors(d.wide)
    assemble_body_blocks(d.wide, step.knot2, step.knot3, d.wide.full(step.h))
    if d.contact_count > 0:
        add_contact_stiffness(d, weight, 1.0 / step.h)
    if d.loop_row_count > 0:
        assemble_loop_rows(d, step.knot2, step.knot3)
        assemble_contact_rows(d, weight, 1.0 / step.h)
    factorise(d, step.knot2, step.knot3)
    if mixed:
        restore_factors(d.wide, d.wide.full(others))


@inline
def predictor_weights(d, h):
    """Find the weights (linear, cubic) of the predictor.

    After one step the predictor is a line through the midpoints of the last two steps, after five
    equal smooth steps of size h a cubic. Negative weights, which occur only in the backward step of
    a composition, become zero, and so do weights that extrapolate too far.
    """
    h1 = d.environment.step_size
    h0 = d.environment.previous_step_size
    history = d.environment.history
    linear = (h1 + h) / where(absolute(h0 + h1) > 0.0, h0 + h1, 1.0)
    linear = where(history > 0.5, where(linear > 2.5, 0.0, where(linear > 0.0, linear, 0.0)), 0.0)
    cubic = where((history > STEPS_OF_CUBIC - 0.5) & ~(absolute(h - h1) > 0.0), 1.0, 0.0)
    return linear, cubic


@inline
def position_rounding_factor(d):
    """Compute the rounding of positions as a force, over the rounding of the largest force."""
    roundings = select_by_precision(OPEN_ROUNDING, d.full(0.0))
    if d.loop_row_count > 0:
        roundings = POSITION_ROUNDING
    if d.contact_count > 0:  # a contact's forces round as positions do
        roundings = 1.0
    return roundings


@inline
def start_step(d, step, lanes, damped):
    """Predict knot 3, and assemble the loads that are constant while Newton iterates.

    Contacts of two bodies are placed anew only in the ``lanes``. The largest terms of a residual
    are written, to find its round-off.
    """
    o, one = d.full(0.0), d.full(1.0)
    linear, cubic = predictor_weights(d, step.h)
    if damped:
        linear, cubic = o, o
    largest, positions = predict_next_knot(
        d.wide,
        step.knot2,
        step.knot3,
        d.wide.full(step.h),
        d.wide.full(step.rho),
        d.wide.full(linear),
        d.wide.full(cubic),
    )
    assemble_constant_loads(d, d.full(0.5), 0.5 * step.rho)
    if d.has_bounded_forces > 0:
        start_bounded_forces(d, one)
    if d.contact_count > 0:
        detect_contacts(d, step.knot2, step.h, lanes)
        turn_rims_again(d, step.knot2, step.h)
    if d.loop_row_count > 0:
        update_loop_anchors(d, step.knot3)
        clear_multipliers(d, d.loop_row_count)
        start_tracks(d, step.knot2, lanes)
    environment = d.environment
    moment = largest_point_spring_term(d, largest_damping_term(d, step.knot2, step.h))
    largest = maximum(max_over_body_lanes(largest, o), moment / environment.length_scale)
    environment.position_term = max_over_body_lanes(positions, o)
    if d.wrench_count > 0:
        largest = maximum(largest, add_wrenches(d, step.knot2, step.rho))
    if d.potential_count > 0:
        largest = maximum(largest, add_potential_forces(d, step.knot2, step.rho))
    environment.largest_term = maximum(
        largest, position_rounding_factor(d) * environment.position_term
    )


@inline
def assemble_iterate_forces(d, step, active, iteration):
    """Assemble all terms that depend on the guess of knot 3, except the bodies' own wrenches.

    The interior point moves its forces into their cones in the ``active`` lanes.

    Returns (largest gap of joints and loops, scaled; lanes in which a contact, motor, limit or dry
    friction has a force; sum of the squared distances of these forces from their laws [N^2]).
    """
    per_h = 1.0 / step.h
    if iteration.method.interior_point and d.has_limits > 0:
        relax_limits(d, where(active, iteration.kappa, 0.0))
    gap = sum_joint_closures(d, step.knot3)
    nonsmooth, squared_errors = d.full(False), d.full(0.0)
    if d.track_count > 0:
        place_tracks(d, step.knot3, active)
        gap = where(find_jumps(d, step.knot2, step.knot3), JUMPED, gap)
    if d.active_joint_count > 0:
        nonsmooth, squared_errors = assemble_joint_loads(d, step.knot3, step.h, step.rho)
    if d.loop_row_count > 0:
        assemble_point_spring_loads(d, step.knot3, step.h, step.rho)
        of_loops = loop_residuals(d, step.knot3)
        gap = maximum(gap, maximum(of_loops, coupling_residuals(d, step.knot3, step.h)))
    if d.motion_count > 0:
        gap = maximum(gap, motion_residuals(d, step.knot2, step.knot3, step.h))
    if d.contact_count > 0:
        evaluate_contact_velocities(d, step.knot2, step.knot3, step.h)
        if iteration.method.interior_point:
            speed, resumes = d.environment.impact_speed, iteration.method.resumes
            touching = linearize_contacts_interior(
                d, per_h, iteration.prox, iteration.kappa, speed, active, resumes
            )
        elif iteration.method.splitting:
            touching = linearize_contacts_splitting(d, per_h, iteration.prox, iteration.scale)
        else:
            touching, of_contacts = linearize_contacts_projection(
                d, per_h, iteration.prox, iteration.method.breaks_cycles
            )
            squared_errors = squared_errors + of_contacts
        nonsmooth = nonsmooth | touching
    return gap * iteration.slack, nonsmooth, squared_errors


@inline
def update_contacts(d, iteration, per_h):
    """Update the forces of contacts after the increment; returns their distances from their laws.

    The largest distance is not scaled yet [N].
    """
    o, one = d.full(0.0), d.full(1.0)
    if iteration.method.interior_point:
        speed = free_fall_speed(d, per_h)
        part, largest = update_contacts_interior(d, per_h, iteration.prox, iteration.kappa, speed)
        return LawErrors(largest, o, part, o, o)
    if iteration.method.splitting:
        velocity, force = update_contacts_splitting(d, per_h, iteration.prox, iteration.scale)
        return LawErrors(maximum(velocity, force), o, one, velocity, force)
    largest, squared = update_contacts_projection(d, per_h, iteration.prox)
    return LawErrors(largest, squared, one, o, o)


@inline
def update_forces_after_increment(d, step, iteration, nonsmooth):
    """Update the forces of contacts, motors, limits and dry friction after the increment.

    Returns (increment as an inertial force, scaled; distances of the forces from their laws, in the
    nonsmooth lanes).
    """
    o, one = d.full(0.0), d.full(1.0)
    per_h, per_force = 1.0 / step.h, 1.0 / d.environment.force_scale
    length = d.wide.full(d.environment.length_scale)
    inertial = increment_as_inertial_force(d.wide, step.knot3, d.wide.full(step.h), length)
    inertial = max_over_body_lanes(inertial, one)
    errors = LawErrors(o, o, one, o, o)
    if d.contact_count > 0:
        errors = update_contacts(d, iteration, per_h)
    largest, squared, part, velocity, force = errors
    if d.has_bounded_forces > 0:
        write_tree_ball_increments(d, step.knot3)
        write_closing_increments(d, step.knot3, 1.0)
        of_joints, squared_of_joints, of_limits = update_bounded_forces(
            d, one, per_h, step_proximal(o), iteration.method.breaks_cycles
        )
        part = minimum(part, of_limits)
        largest, squared = maximum(of_joints, largest), squared_of_joints + squared
    largest = where(nonsmooth, largest * per_force, 0.0)
    return inertial * per_force, LawErrors(largest, squared, part, velocity, force)


@inline
def find_jerky_lanes(d, knot3):
    """Find the lanes whose velocities jerk: their third differences are as large as their second.

    The torques of a controller may jump, or contacts stick and slip in turns. A cubic through the
    last velocities predicts worse than a line then.
    """
    knots = knot3, knot_buffer(d, 0), knot_buffer(d, 1), knot_buffer(d, 2)
    length = d.environment.length_scale
    second, third = max_velocity_differences(d.wide, knots, d.wide.full(length))
    second = max_over_body_lanes(second, length)
    return max_over_body_lanes(third, length) > JERKY * second


@inline
def count_equal_steps(d, knot3, h):
    """Count the equal smooth steps up to this one.

    In jerky lanes the count stays below `STEPS_OF_CUBIC`: a line predicts the next step.
    """
    environment = d.environment
    history = where(absolute(h - environment.step_size) > 0.0, 0.0, environment.history) + 1.0
    if d.loop_row_count + d.contact_count > 0:  # beyond a kink the predictor leads to other roots
        change = max_angular_speed_change(d.wide, knot_buffer(d, 0), knot3)
        kink = absolute(h) * max_over_body_lanes(change, h)
        history = where(kink > KINK, 0.0, history)
    most = STEPS_OF_CUBIC - 1.0
    return where(find_jerky_lanes(d, knot3) & (history > most), most, history)


@inline
def step_forces(d, step_length, mask, interior_point):
    """Move the forces of joints and contacts by a part of their change, in lanes of the mask."""
    any_moves = mask.any()
    if any_moves and d.has_bounded_forces > 0:
        step_bounded_forces(d, step_length, mask)
    if any_moves and d.contact_count > 0:
        step_contact_forces(d, step_length, mask)
        if interior_point:
            step_duals(d, step_length, mask)


@inline
def accept_forces(d, mask):
    """Accept the forces of joints and contacts as those of the solution, where the mask is set."""
    accept_loads(d, mask)
    if d.has_bounded_forces > 0:
        accept_bounded_forces(d, mask)
    if d.contact_count > 0:
        accept_contact_forces(d, mask)


@inline
def evaluate_iterate(d, step, active, stale, nonsmooth, iteration):
    """Evaluate the residual, and the increment if multipliers or nonsmooth lanes need it.

    Lanes with ``stale`` factors are factorised anew, and so are ``nonsmooth`` lanes, as contacts
    and bounded forces change their slopes.
    """
    o = d.full(0.0)
    weight = knot_weight(step.rho)
    has_loops = d.loop_row_count > 0
    gap, now_nonsmooth, squared_errors = assemble_iterate_forces(d, step, active, iteration)
    nonsmooth = nonsmooth | now_nonsmooth & active
    stale = stale | nonsmooth & active
    if stale.any():
        refactorise(d, step, weight, active & ~stale)
    body_residuals(d.wide, step.knot2, step.knot3, d.wide.full(step.h))
    if d.contact_count > 0:
        add_contact_forces(d, weight)
    residual = maximum(gap, solve_to_root(d, step.knot2))
    rotation, left = o, o
    errors = LawErrors(o, o, o + 1.0, o, o)
    any_nonsmooth = nonsmooth.any()
    if has_loops or any_nonsmooth:
        rotation, force, moment, left = solve_to_leaves(d, step.knot3)
        if any_nonsmooth:
            inertial, errors = update_forces_after_increment(d, step, iteration, nonsmooth)
            residual = where(nonsmooth, maximum(gap, inertial), residual)
        unbalanced = scaled_residual(d, force, moment)
        if iteration.method.damped and has_loops:
            unbalanced = maximum(unbalanced - multiplier_rounding_residual(d), 0.0)
        # Nonsmooth lanes are measured by the increment as an inertial force. Stiff contacts turn
        # rounding of positions into unbalanced forces, above the goal in short steps. But if the
        # increment is cut at the boundary of the cones, the same share of the forces is missing.
        unbalanced = where(nonsmooth, (1.0 - errors.max_step) * unbalanced, unbalanced)
        residual = maximum(residual, unbalanced)
        if has_loops:
            accept_multipliers(d, active)
    residual = maximum(residual, errors.largest)
    return Evaluation(residual, rotation, gap, left, nonsmooth, squared_errors, errors)

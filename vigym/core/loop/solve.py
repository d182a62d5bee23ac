"""Loop rows in the solves: residuals towards the root, multipliers towards the leaves."""

from vigym.core.compiler.kernel import inline, phase, zero
from vigym.core.compiler.simd import absolute, maximum
from vigym.core.loop.elimination import (
    all_loop_rows_inactive,
    are_loop_rows_coupled,
    is_inactive_contact_row,
    schur_element,
)
from vigym.core.loop.propagation import fill_in_number
from vigym.core.math.vectors import axpy, dot
from vigym.core.tables.plan import ORIENTATION_ROW, POSITION_ROW, PRESCRIBED_ROW

RESIDUAL_ROUNDING = 1e-15  # of a row's residual, in length scales or rad


@phase(needs="loops")
def subtract_dual_shift_force(d):
    """Subtract dual shift times multiplier from the residual of each loop row before a solve."""
    if all_loop_rows_inactive(d):
        return
    for r in range(d.loop_row_count):
        loop_row = d.loop_row(r)
        shift = loop_row.dual_shift * loop_row.multiplier
        loop_row.residual = loop_row.residual - shift


@inline
def reduce_row_residuals(d, i):
    """Reduce the residuals of rows that pass body i by its dofs that are solved."""
    body = d.body(i)
    dofs = body.translation_count + body.rotation_count
    count = 0 if all_loop_rows_inactive(d) else body.fill_in_count
    for k in range(count):
        fill_in = d.fill_in(fill_in_number(body, k))
        loop_row = d.loop_row(fill_in.loop_row)
        if is_inactive_contact_row(d, loop_row):
            continue
        residual = loop_row.residual
        for j in range(dofs):
            residual = residual - d.dof(body.first_dof + j).residual * fill_in.K_dof[j]
        loop_row.residual = residual


@phase(needs="loops")
def propagate_row_residuals(d, i):
    """Propagate the residuals of rows whose closing body is i to its wrench and to later rows."""
    if all_loop_rows_inactive(d):
        return
    body = d.body(i)
    for r in range(body.first_loop_row, body.first_loop_row + body.loop_row_count):
        loop_row = d.loop_row(r)
        if is_inactive_contact_row(d, loop_row):
            continue
        residual = loop_row.residual
        for m in range(r + 1, loop_row.profile_end + 1):
            later = d.loop_row(m)
            if are_loop_rows_coupled(d, r, m) and not is_inactive_contact_row(d, later):
                later.residual = later.residual - residual * schur_element(d, m, r).value
        if i > 0:
            fill_in = d.fill_in(loop_row.at_closing_body)
            s = residual * loop_row.inverse_pivot
            body.force = axpy(s, fill_in.B_force, body.force)
            body.torque = axpy(s, fill_in.B_torque, body.torque)


@phase(needs="loops", otherwise=zero)
def solve_multipliers_at_body(d, i):
    """Solve for the multipliers of rows whose closing body is i, whose motion is known.

    Returns:
        Largest residual that the dual shift leaves: a length over the length scale, or an angle
        [rad].
    """
    left, per_length = d.full(0.0), 1.0 / d.environment.length_scale
    body = d.body(i)
    first = body.first_loop_row
    if all_loop_rows_inactive(d):
        return left
    for r in range(first + body.loop_row_count - 1, first - 1, -1):
        loop_row = d.loop_row(r)
        if is_inactive_contact_row(d, loop_row):
            loop_row.multiplier = 0.0  # as in a batch where another lane holds the contact
            continue
        residual = loop_row.residual
        for m in range(r + 1, loop_row.profile_end + 1):
            later = d.loop_row(m)
            if are_loop_rows_coupled(d, r, m) and not is_inactive_contact_row(d, later):
                residual = residual + later.multiplier * schur_element(d, r, m).value
        if i > 0:
            fill_in = d.fill_in(loop_row.at_closing_body)
            residual = residual + dot(fill_in.K_force, body.delta_position)
            residual = residual + dot(fill_in.K_torque, body.delta_rotation)
        multiplier = -residual * loop_row.inverse_pivot
        if loop_row.kind <= ORIENTATION_ROW or loop_row.kind >= PRESCRIBED_ROW:
            change = multiplier - loop_row.multiplier
            rest = absolute(loop_row.dual_shift * change)
            left = maximum(left, rest * per_length if loop_row.kind == POSITION_ROW else rest)
        loop_row.multiplier = multiplier
    return left


@inline
def dof_motion_by_multipliers(d, i, j):
    """Compute the motion of dof j of body i that the multipliers of rows through the body cause."""
    body = d.body(i)
    s, count = d.full(0.0), 0 if all_loop_rows_inactive(d) else body.fill_in_count
    for k in range(count):
        fill_in = d.fill_in(fill_in_number(body, k))
        loop_row = d.loop_row(fill_in.loop_row)
        if is_inactive_contact_row(d, loop_row):
            continue
        s = s + loop_row.multiplier * fill_in.B_dof[j]
    return s


@inline
def force_on_dof(d, dof, motion):
    """Compute the force [N] or moment [N m] that a motion of a dof takes, as an absolute value.

    Where a stiff motor, limit or friction force holds the dof, its share of the force is not
    counted: it is the rounding of the coordinate times that stiffness.
    """
    force = absolute(motion / dof.inverse_pivot)
    if d.has_bounded_forces > 0:
        share = 1.0 - dof.compliance * dof.inverse_pivot
        force = force * maximum(share, 0.0)
    return force


@phase(needs="loops", otherwise=zero)
def multiplier_rounding_residual(d):
    """Compute the scaled residual of dofs that the rounding of row residuals causes.

    A row's residual is known to some roundings of the length scale; the row turns that into a
    multiplier, and that into forces: next to singular poses, a lot.
    """
    noise, one = d.full(0.0), d.full(1.0)
    length = d.environment.length_scale
    per_length = maximum(1.0, 1.0 / length)
    if all_loop_rows_inactive(d):
        return noise
    for i in range(1, d.body_count):
        body = d.body(i)
        # without fill-in rows nothing is left, and a 3x3 pivot has no pivots of its dofs
        dofs = body.translation_count + body.rotation_count if body.fill_in_count > 0 else 0
        for j in range(dofs):
            s, dof = d.full(0.0), d.dof(body.first_dof + j)
            for k in range(body.fill_in_count):
                fill_in = d.fill_in(fill_in_number(body, k))
                loop_row = d.loop_row(fill_in.loop_row)
                residual = RESIDUAL_ROUNDING * (length if loop_row.kind == POSITION_ROW else one)
                multiplier = residual * absolute(loop_row.inverse_pivot)
                if loop_row.kind <= ORIENTATION_ROW:
                    s = s + multiplier * absolute(fill_in.B_dof[j])
            noise = maximum(noise, force_on_dof(d, dof, s))
    return noise * per_length / d.environment.force_scale


@inline
def find_rounded_multipliers(d, lanes, residual):
    """Find the lanes whose scaled residual is no more than the rounding of multipliers causes."""
    if not lanes.any():
        return lanes
    return lanes & (multiplier_rounding_residual(d) > residual)

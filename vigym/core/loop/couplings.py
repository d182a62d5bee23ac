"""Couplings: one coordinate follows another, s = ratio s' + offset.

They are loop rows that act on dofs alone.
"""

from vigym.core.compiler.kernel import inline, phase, zero
from vigym.core.compiler.simd import absolute, maximum
from vigym.core.joint.coordinates import coordinate_change, dof_rate_over_step
from vigym.core.joint.geometry import rotation_axis, translation_axis
from vigym.core.math.vectors import add, cross, dot, sub
from vigym.core.tables.plan import COUPLED_ROW, PRESCRIBED_ROW


@inline
def coupled_dofs(d, loop_row):
    """Find the dofs that a row couples: (body, its dof, body, its dof)."""
    i, other = loop_row.owner, loop_row.other_body
    j = loop_row.dof - d.body(i).first_dof
    return i, j, other, loop_row.other_dof - d.body(other).first_dof


@inline
def coupling_derivative(d, loop_row, p):
    """Compute the derivative of a coupling by dof p: its multiplier acts with that factor."""
    factor = d.full(1.0 if p == loop_row.dof else 0.0)
    if p == loop_row.other_dof:
        factor = factor - loop_row.ratio
    return factor


@inline
def set_coupling_residual(loop_row, first, second):
    """Write the residual of a coupling at two coordinates, and return its absolute value."""
    residual = first - (loop_row.ratio * second + loop_row.offset)
    loop_row.residual = residual
    return absolute(residual)


@inline
def coordinate_at_knot3(d, i, j, knot3, h):
    """Compute the coordinate of dof j of joint i at the present guess of knot 3."""
    rate, slope, _, _ = dof_rate_over_step(d, i, j, knot3, h)
    start = d.dof(d.body(i).first_dof + j).start
    return start + coordinate_change(d, i, j, rate, slope, h)


@phase(needs="loops", otherwise=zero)
def coupling_residuals(d, knot3, h):
    """Write the residuals of all couplings at the present guess of knot 3.

    Returns:
        Largest [m or rad].
    """
    worst = d.full(0.0)
    for r in range(d.loop_row_count):
        loop_row = d.loop_row(r)
        if loop_row.kind == COUPLED_ROW:
            i, j, other, k = coupled_dofs(d, loop_row)
            first = coordinate_at_knot3(d, i, j, knot3, h)
            second = coordinate_at_knot3(d, other, k, knot3, h)
            worst = maximum(worst, set_coupling_residual(loop_row, first, second))
    return worst


@inline
def dof_rate_from_velocities(d, i, j, knot):
    """Compute the rate of dof j of joint i, from the velocities of both bodies at a knot.

    They are those in ``delta_position`` and ``delta_rotation``.
    """
    body = d.body(i)
    parent = d.body(body.parent)
    omega, translations = parent.delta_rotation, body.translation_count
    if j >= translations:
        axis = rotation_axis(d, i, j - translations, knot)
        return dot(axis, sub(body.delta_rotation, omega))
    with_parent = add(parent.delta_position, cross(omega, body.lever3))
    return dot(translation_axis(d, i, j, knot), sub(body.delta_position, with_parent))


@phase(needs="loops", otherwise=zero)
def coupling_rate_residuals(d, knot):
    """Write the residuals of couplings by the velocities at a knot.

    Returns:
        Largest [m/s or rad/s].
    """
    worst = d.full(0.0)
    for r in range(d.loop_row_count):
        loop_row = d.loop_row(r)
        if loop_row.kind == COUPLED_ROW:
            i, j, other, k = coupled_dofs(d, loop_row)
            rate = dof_rate_from_velocities(
                d, i, j, knot
            ) - loop_row.ratio * dof_rate_from_velocities(d, other, k, knot)
            loop_row.residual = rate
            worst = maximum(worst, absolute(rate))
        elif loop_row.kind >= PRESCRIBED_ROW:  # as it is
            loop_row.residual = 0.0
    return worst

"""LDU sweeps along the tree [MC alg. 3, 4]: (joint, child body) pairs as pivots, no multipliers.

The child's increment is its parent's, seen from the child's anchor, plus its free motion, plus what
closes the joint:

    d_b = P d_a + sum_j N_j s_j + d0        N: free directions at knot 3

and the child's equation is projected on the free directions W at knot 2, to which joint forces are
orthogonal:

    W_j^T (D d_b + r) + load_j + compliance_j s_j = 0.

Each degree of freedom is one scalar pivot. With D the 6x6 block of the child,

    u = D N,    w = W^T D,    pivot = W^T D N + compliance,    D <- D - u w^T / pivot;

three free rotations without rates or springs are one 3x3 pivot. What remains of the child's block
and wrench is added to those of its parent (for a single rotation u and w are seen from the parent's
anchor first: shorter chains of operations). The closing parts d0 are summed from the root first
(``sum_joint_closures``), so that the solves see free motions only. Loop rows ride along, see
`vigym.core.loop.elimination`.

Blocks are tuples of 3x3 blocks (A, B, C, D), see `vigym.core.body.blocks`.
"""

from vigym.core.body.blocks import add_to_parent, block_of, shift_block_to_parent, zero_block
from vigym.core.compiler.kernel import inline, phase
from vigym.core.compiler.simd import absolute, maximum
from vigym.core.joint.geometry import (
    child_axis,
    position_closure,
    rotation_axis,
    rotation_closure,
    rotation_increment_axis,
    translation_axis,
)
from vigym.core.loop.elimination import eliminate_loop_rows, propagate_rows_past_body
from vigym.core.loop.solve import (
    dof_motion_by_multipliers,
    dof_residual_after_multipliers,
    propagate_row_residuals,
    reduce_row_residuals,
    solve_multipliers_at_body,
    subtract_dual_shift_force,
)
from vigym.core.math.vectors import (
    add,
    axpy,
    cross,
    dot,
    lu_factors,
    mat_scale,
    mat_solve_lower,
    mat_solve_upper,
    mat_sub,
    mat_sub_outer,
    mat_t_vec,
    mat_vec,
    matmul,
    matmul_skew,
    max_abs3,
    scale,
    skew_matmul,
    solve_lower,
    solve_upper,
    sub,
)
from vigym.core.model.fields import BALL_PIVOT, HINGE_PIVOT


# --- factorisation ------------------------------------------------------------------------------
@inline
def eliminate_dof(dof, block, u, w, projected):
    """Take a degree of freedom out of a block, D <- D - u w^T / pivot.

    ``projected`` is W^T D N; u, w / pivot and 1 / pivot are written for the solves.
    """
    A, B, C, D = block
    per_pivot = 1.0 / (projected + dof.compliance)
    w_f = scale(per_pivot, w[0])
    w_t = scale(per_pivot, w[1])
    dof.inverse_pivot = per_pivot
    dof.column_force = u[0]
    dof.column_torque = u[1]
    dof.row_force = w_f
    dof.row_torque = w_t
    return (
        mat_sub_outer(A, u[0], w_f),
        mat_sub_outer(B, u[0], w_t),
        mat_sub_outer(C, u[1], w_f),
        mat_sub_outer(D, u[1], w_t),
    )


@inline
def eliminate_hinge(d, i, knot2, knot3, block):
    """Take the rotation of a hinge out of its body's block; return the rest, seen by the parent."""
    body = d.body(i)
    lever2, lever3 = body.lever2, body.lever3
    _, B, C, D = block
    axis2, axis3 = child_axis(d, i, knot2), child_axis(d, i, knot3)
    u_f = mat_vec(B, axis3)
    u_t = mat_vec(D, axis3)
    w_f = mat_t_vec(C, axis2)
    w_t = mat_t_vec(D, axis2)
    u = u_f, add(u_t, cross(lever2, u_f))
    w = w_f, add(w_t, cross(lever3, w_f))
    block = shift_block_to_parent(block, lever2, lever3)
    return eliminate_dof(d.dof(body.first_dof), block, u, w, dot(axis2, u_t))


@inline
def eliminate_ball(body, block):
    """Take three free rotations out of a body's block; return the rest, seen by the parent."""
    A, B, C, D = block
    factors = lu_factors(D)
    B, C = mat_solve_upper(B, factors), mat_solve_lower(factors, C)
    body.block_b = B
    body.block_c = C
    body.block_d = factors
    A = mat_sub(A, matmul(B, C))
    B = mat_scale(-1.0, matmul_skew(A, body.lever3))
    lever2 = body.lever2
    return A, B, skew_matmul(lever2, A), skew_matmul(lever2, B)


@inline
def eliminate_dofs(d, i, knot2, knot3, block):
    """Take the dofs of joint i out of its body's block; return the rest, seen by the parent."""
    body = d.body(i)
    for j in range(body.translation_count):
        A, B, C, _ = block
        axis3, axis2 = translation_axis(d, i, j, knot3), translation_axis(d, i, j, knot2)
        w = mat_t_vec(A, axis2), mat_t_vec(B, axis2)
        u = mat_vec(A, axis3), mat_vec(C, axis3)
        dof = d.dof(body.first_dof + j)
        block = eliminate_dof(dof, block, u, w, dot(axis2, u[0]))
    for j in range(body.rotation_count):
        _, B, C, D = block
        axis3, axis2 = rotation_increment_axis(d, i, j, knot3), rotation_axis(d, i, j, knot2)
        w = mat_t_vec(C, axis2), mat_t_vec(D, axis2)
        u = mat_vec(B, axis3), mat_vec(D, axis3)
        dof = d.dof(body.first_dof + body.translation_count + j)
        block = eliminate_dof(dof, block, u, w, dot(axis2, u[1]))
    return shift_block_to_parent(block, body.lever2, body.lever3)


@phase
def factorise(d, knot2, knot3):
    """Eliminate every (joint, child body) pair, last body first."""
    left = zero_block(d)
    for i in range(d.body_count - 1, 0, -1):
        body = d.body(i)
        if body.loop_row_count > 0:
            eliminate_loop_rows(d, i)
        body.lever2 = sub(d.pose(knot2, i).anchor, d.pose(knot2, body.parent).anchor)
        block = block_of(d, i, knot2, knot3, left)
        if body.pivot_kind == HINGE_PIVOT:
            left = eliminate_hinge(d, i, knot2, knot3, block)
        elif body.pivot_kind == BALL_PIVOT:
            left = eliminate_ball(body, block)
        else:
            left = eliminate_dofs(d, i, knot2, knot3, block)
        left = add_to_parent(d, body, left)
        if body.fill_in_count > 0:
            propagate_rows_past_body(d, i, knot2, knot3)
    if d.body(0).loop_row_count > 0:
        eliminate_loop_rows(d, 0)


# --- closing the joints -------------------------------------------------------------------------
@phase
def sum_joint_closures(d, knot3):
    """Sum the motion that closes all joints to first order, from the root.

    Returns the largest gap: a length over the length scale, or an angle [rad].
    """
    worst = d.full(0.0)
    per_length = 1.0 / d.environment.length_scale
    for i in range(1, d.body_count):
        body = d.body(i)
        parent = d.body(body.parent)
        shift, lever3 = position_closure(d, i, knot3)
        rotation = rotation_closure(d, i, knot3)
        worst = maximum(worst, maximum(max_abs3(shift) * per_length, max_abs3(rotation)))
        from_parent = parent.rotation_correction
        body.lever3 = lever3
        moved = add(parent.position_correction, cross(from_parent, lever3))
        body.position_correction = add(shift, moved)
        body.rotation_correction = add(rotation, from_parent)
    return worst


# --- solve to the root --------------------------------------------------------------------------
@inline
def reduce_wrench(dof, axis, projected, force, torque):
    """Take a degree of freedom out of a wrench; ``projected`` is the part that the axis acts on.

    Returns (residual mu of the degree of freedom, force, torque); mu over the pivot is written.
    """
    mu = dot(axis, projected) + dof.load
    s = mu * dof.inverse_pivot
    dof.residual = s
    return mu, axpy(-s, dof.column_force, force), axpy(-s, dof.column_torque, torque)


@inline
def residual_unless_fill_in(d, body, mu):
    """Measure a scaled residual |mu|; zero at bodies with fill-in rows, known after multipliers."""
    return absolute(mu) if body.fill_in_count == 0 else d.full(0.0)


@inline
def reduce_hinge(d, i, knot2, moment):
    """Take the rotation of a hinge out of its body's wrench; returns (force, torque, moment)."""
    body = d.body(i)
    f, tau = body.force, body.torque
    at_parent = add(tau, cross(body.lever2, f))
    axis = child_axis(d, i, knot2)
    mu, f, at_parent = reduce_wrench(d.dof(body.first_dof), axis, tau, f, at_parent)
    return f, at_parent, maximum(moment, residual_unless_fill_in(d, body, mu))


@inline
def reduce_ball(body, moment):
    """Take three free rotations out of a body's wrench; returns (force, torque, moment)."""
    f, tau = body.force, body.torque
    moment = maximum(moment, max_abs3(tau))
    tau = solve_lower(body.block_d, tau)
    body.torque = tau
    f = sub(f, mat_vec(body.block_b, tau))
    return f, cross(body.lever2, f), moment


@inline
def reduce_dofs(d, i, knot2, force, moment):
    """Take the dofs of joint i out of its body's wrench; returns (f, tau, force, moment)."""
    body = d.body(i)
    f, tau = body.force, body.torque
    for j in range(body.translation_count):
        dof = d.dof(body.first_dof + j)
        mu, f, tau = reduce_wrench(dof, translation_axis(d, i, j, knot2), f, f, tau)
        force = maximum(force, residual_unless_fill_in(d, body, mu))
    for j in range(body.rotation_count):
        dof = d.dof(body.first_dof + body.translation_count + j)
        mu, f, tau = reduce_wrench(dof, rotation_axis(d, i, j, knot2), tau, f, tau)
        moment = maximum(moment, residual_unless_fill_in(d, body, mu))
    return f, add(tau, cross(body.lever2, f)), force, moment


@phase
def solve_to_root(d, knot2):
    """Reduce the wrenches from the leaves to the root.

    Returns the largest residual of a degree of freedom: a force [N], or a moment [N m] over the
    length scale, over the force scale.
    """
    force, moment = d.full(0.0), d.full(0.0)
    if d.loop_row_count > 0:
        subtract_dual_shift_force(d)
    for i in range(d.body_count - 1, 0, -1):
        body = d.body(i)
        if body.loop_row_count > 0:
            propagate_row_residuals(d, i)
        if body.pivot_kind == HINGE_PIVOT:
            f, tau, moment = reduce_hinge(d, i, knot2, moment)
        elif body.pivot_kind == BALL_PIVOT:
            f, tau, moment = reduce_ball(body, moment)
        else:
            f, tau, force, moment = reduce_dofs(d, i, knot2, force, moment)
        if body.fill_in_count > 0:
            reduce_row_residuals(d, i)
        parent = d.body(body.parent)
        parent.force = add(parent.force, f)
        parent.torque = add(parent.torque, tau)
    if d.body(0).loop_row_count > 0:
        propagate_row_residuals(d, 0)
    return scaled_residual(d, force, moment)


@inline
def scaled_residual(d, force, moment):
    """Merge a force [N] and a moment [N m] into one number, over the force and length scales."""
    moment = moment / d.environment.length_scale
    return maximum(force, moment) / d.environment.force_scale


# --- solve to the leaves ------------------------------------------------------------------------
@inline
def dof_increment(dof, dy, dphi):
    """Find the motion of a degree of freedom, given how its body already moves."""
    along = dot(dof.row_force, dy) + dot(dof.row_torque, dphi)
    return -(along + dof.residual)


@inline
def solve_dof(d, i, j, dy, dphi, largest):
    """Write the increment of degree of freedom j of joint i, multipliers included.

    Returns (increment, largest residual that multipliers leave).
    """
    body = d.body(i)
    dof = d.dof(body.first_dof + j)
    s = dof_increment(dof, dy, dphi)
    if body.fill_in_count > 0:
        motion = dof_motion_by_multipliers(d, i, j)
        s = s + motion
        largest = maximum(largest, dof_residual_after_multipliers(d, dof, motion))
    dof.increment = s
    return s, largest


@inline
def motion_with_parent(d, body):
    """Find (shift, rotation) of a body that moves with its parent, its joint at rest."""
    parent = d.body(body.parent)
    dphi = parent.delta_rotation
    return add(parent.delta_position, cross(dphi, body.lever3)), dphi


@inline
def solve_hinge(d, i, knot3, moment):
    """Solve for the increment of a body on a hinge; returns (shift, rotation, moment)."""
    body = d.body(i)
    dy, dphi = motion_with_parent(d, body)
    s, moment = solve_dof(d, i, 0, d.body(body.parent).delta_position, dphi, moment)
    return dy, axpy(s, child_axis(d, i, knot3), dphi), moment


@inline
def solve_ball(d, body):
    """Solve for the increment of a body on three free rotations; returns (shift, rotation)."""
    dy, _ = motion_with_parent(d, body)
    tau = add(body.torque, mat_vec(body.block_c, dy))
    return dy, scale(-1.0, solve_upper(body.block_d, tau))


@inline
def solve_dofs(d, i, knot3, force, moment):
    """Solve for the increment of a body; returns (shift, rotation, force, moment)."""
    body = d.body(i)
    translations = body.translation_count
    dy, dphi = motion_with_parent(d, body)
    for j in range(body.rotation_count - 1, -1, -1):
        s, moment = solve_dof(d, i, translations + j, dy, dphi, moment)
        dphi = axpy(s, rotation_increment_axis(d, i, j, knot3), dphi)
    for j in range(translations - 1, -1, -1):
        s, force = solve_dof(d, i, j, dy, dphi, force)
        dy = axpy(s, translation_axis(d, i, j, knot3), dy)
    return dy, dphi, force, moment


@phase
def solve_to_leaves(d, knot3):
    """Solve for the increments from the root to the leaves, and for the multipliers of the loops.

    Returns (largest element of a rotation [rad], largest residual along the degrees of freedom that
    multipliers act on, as a force [N] and as a moment [N m], largest gap that the solve leaves).
    """
    rotation, gap = d.full(0.0), d.full(0.0)
    force, moment = d.full(0.0), d.full(0.0)
    if d.body(0).loop_row_count > 0:
        gap = solve_multipliers_at_body(d, 0)
    for i in range(1, d.body_count):
        body = d.body(i)
        if body.pivot_kind == HINGE_PIVOT:
            dy, dphi, moment = solve_hinge(d, i, knot3, moment)
        elif body.pivot_kind == BALL_PIVOT:
            dy, dphi = solve_ball(d, body)
        else:
            dy, dphi, force, moment = solve_dofs(d, i, knot3, force, moment)
        body.delta_position = dy
        body.delta_rotation = dphi
        if body.loop_row_count > 0:
            gap = maximum(gap, solve_multipliers_at_body(d, i))
        rotation = maximum(rotation, max_abs3(dphi))
    return rotation, force, moment, gap

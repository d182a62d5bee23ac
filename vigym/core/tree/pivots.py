"""Pivots of the elimination along the tree: the degrees of freedom of one body's joint.

``close_...`` finds what closes the joint, ``eliminate_...`` takes the degrees of freedom out of a
body's block, ``reduce_...`` out of its wrench, and ``solve_...`` finds their increments. See
`vigym.core.tree.ldu` for the equations. All serve one body, or a run of bodies (``d.wide``).
"""

from vigym.core.body.blocks import shift_block_to_parent
from vigym.core.compiler.kernel import inline
from vigym.core.compiler.simd import absolute, maximum
from vigym.core.joint.geometry import (
    anchor_closure,
    child_axis,
    hinge_closure,
    position_closure,
    rotation_axis,
    rotation_closure,
    rotation_increment_axis,
    translation_axis,
)
from vigym.core.loop.solve import dof_motion_by_multipliers, force_on_dof
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


# --- closing ------------------------------------------------------------------------------------
@inline
def add_closure(d, i, closure, rotation, per_length):
    """Add the motion that closes the joint of body i to its parent's motion.

    ``closure`` is the shift and the lever after it. Returns the gap: a length over the length
    scale, or an angle [rad].
    """
    body = d.body(i)
    shift, lever3 = closure
    parent = d.body(body.parent)
    from_parent = parent.rotation_correction
    body.lever3 = lever3
    moved = add(parent.position_correction, cross(from_parent, lever3))
    body.position_correction = add(shift, moved)
    body.rotation_correction = add(rotation, from_parent)
    return maximum(max_abs3(shift) * per_length, max_abs3(rotation))


@inline
def close_joint(d, i, knot3, per_length):
    """Close the joint of body i to first order; returns its gap, see ``add_closure``."""
    closure, rotation = position_closure(d, i, knot3), rotation_closure(d, i, knot3)
    return add_closure(d, i, closure, rotation, per_length)


@inline
def close_hinge(d, i, knot3, per_length):
    """Close the hinge of body i, with less code than ``close_joint``."""
    closure, rotation = anchor_closure(d, i, knot3), hinge_closure(d, i, knot3)
    return add_closure(d, i, closure, rotation, per_length)


# --- out of blocks ------------------------------------------------------------------------------
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


# --- out of wrenches ---------------------------------------------------------------------------
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


# --- increments ---------------------------------------------------------------------------------
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
        largest = maximum(largest, force_on_dof(d, dof, dof.residual - motion))
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

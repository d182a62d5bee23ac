"""LDU sweeps along the tree [MC alg. 3, 4]: (joint, child body) pairs as pivots, no multipliers.

The child's increment is its parent's, seen from the child's anchor, plus its free motion, plus what
closes the joint:

    d_b = P d_a + sum_j N_j s_j + d0        N: free directions at knot 3

and the child's equation is projected on the free directions W at knot 2, to which joint forces are
orthogonal:

    W_j^T (D d_b + r) + load_j + compliance_j s_j = 0.

Each degree of freedom is one scalar pivot. With D the 6x6 block of the child,

    u = D N,    w = W^T D,    pivot = W^T D N + compliance,    D <- D - u w^T / pivot;

three free rotations without rates or springs are one 3x3 pivot, kept as its factors L U: an
inverse would lose its soft directions where a contact that sticks makes it stiff. The remainders of
the child's block and wrench are added to its parent's (for a single rotation u and w are seen from
the parent's anchor first: shorter chains of operations). The closing parts d0 are summed from the
root first (``sum_joint_closures``), so that the solves see free motions only. Loop rows ride along,
see `vigym.core.loop.elimination`.

Blocks are tuples of 3x3 blocks (A, B, C, D), see `vigym.core.body.blocks`. One environment takes
alike bodies side by side, those of a run: see `vigym.core.tree.runs`.
"""

from vigym.core.body.blocks import add_to_parent, block_of, zero_block
from vigym.core.compiler.kernel import inline, phase
from vigym.core.compiler.simd import maximum
from vigym.core.loop.elimination import eliminate_loop_rows
from vigym.core.loop.propagation import propagate_rows_past_body
from vigym.core.loop.solve import (
    propagate_row_residuals,
    reduce_row_residuals,
    solve_multipliers_at_body,
    subtract_dual_shift_force,
)
from vigym.core.math.vectors import add, max_abs3, sub
from vigym.core.tables.plan import BALL_PIVOT, HINGE_PIVOT
from vigym.core.tree.pivots import (
    close_joint,
    eliminate_ball,
    eliminate_dofs,
    eliminate_hinge,
    reduce_ball,
    reduce_dofs,
    reduce_hinge,
    solve_ball,
    solve_dofs,
    solve_hinge,
)
from vigym.core.tree.runs import (
    factorise_run,
    reduce_run,
    solve_run,
    sum_closures_of_run,
)


@phase
def factorise(d, knot2, knot3):
    """Eliminate every (joint, child body) pair, last body first."""
    left = zero_block(d)
    for i in range(d.body_count - 1, 0, -1):
        body = d.body(i)
        if body.run_end > 0:
            if i == body.run_first:
                factorise_run(d, i, body.run_end, knot2, knot3)
            continue
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


@phase
def sum_joint_closures(d, knot3):
    """Sum the motion that closes all joints to first order, from the root.

    Returns the largest gap: a length over the length scale, or an angle [rad].
    """
    worst = d.full(0.0)
    per_length = 1.0 / d.environment.length_scale
    for i in range(1, d.body_count):
        body = d.body(i)
        if body.run_end > 0:
            if i == body.run_first:
                worst = maximum(worst, sum_closures_of_run(d, i, body.run_end, knot3))
            continue
        worst = maximum(worst, close_joint(d, i, knot3, per_length))
    return worst


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
        if body.run_end > 0:
            if i == body.run_first:
                moment = maximum(moment, reduce_run(d, i, body.run_end, knot2))
            continue
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
        if body.run_end > 0:
            if i == body.run_first:
                turn, left = solve_run(d, i, body.run_end, knot3)
                rotation, moment = maximum(rotation, turn), maximum(moment, left)
            continue
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

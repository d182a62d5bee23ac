"""Runs of bodies in the sweeps along the tree: alike ones of one environment, in lanes.

The hips of alike legs hang on one body, and each knee on a hip: a sweep treats them all at once.
Their remainders are added to one parent last body first, as for bodies one by one: both give the
same bit for bit.
"""

from vigym.core.body.blocks import add_blocks, store_block, stored_block
from vigym.core.compiler.kernel import inline, phase, two_zeros, zero
from vigym.core.compiler.lanes import max_over_body_lanes
from vigym.core.compiler.packs import add_lanes_from_last, lanes_of_rows, run_of_rows
from vigym.core.compiler.simd import where
from vigym.core.loop.propagation import propagate_rows_past_run
from vigym.core.loop.solve import reduce_row_residuals
from vigym.core.math.vectors import add, max_abs3, sub
from vigym.core.tree.pivots import close_hinge, eliminate_hinge, reduce_hinge, solve_hinge


@inline
def sum3_into(total, values, own):
    """Add the vectors (x, y, z) of a run of bodies to a vector."""
    return (
        add_lanes_from_last(total[0], values[0], own),
        add_lanes_from_last(total[1], values[1], own),
        add_lanes_from_last(total[2], values[2], own),
    )


@inline
def sum9_into(total, values, own):
    """Add the 3x3 matrices of a run of bodies to a matrix."""
    a = sum3_into(total[0:3], values[0:3], own)
    b = sum3_into(total[3:6], values[3:6], own)
    c = sum3_into(total[6:9], values[6:9], own)
    return a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2]


@inline
def run_of_parents(d, first, end):
    """Make the run of the parents of a run of bodies, which follow each other."""
    parent = d.body(first).parent
    return run_of_rows(parent, parent + (end - first))


@inline
def largest_of_own(d, first, end, value):
    """Find the largest number in the lanes of a run of bodies."""
    own = lanes_of_rows(run_of_rows(first, end), value)
    return max_over_body_lanes(where(own, value, 0.0), d.full(0.0))


@inline
def add_blocks_to_parents(d, first, end, block):
    """Add the remainders of the blocks of a run of bodies to the blocks of their parents."""
    w = d.wide
    body = d.body(first)
    if body.run_shares_parent > 0:
        parent = d.body(body.parent)
        own = lanes_of_rows(run_of_rows(first, end), w.full(0.0))
        parent.block_a = sum9_into(parent.block_a, block[0], own)
        parent.block_b = sum9_into(parent.block_b, block[1], own)
        parent.block_c = sum9_into(parent.block_c, block[2], own)
        parent.block_d = sum9_into(parent.block_d, block[3], own)
    else:
        parents = w.body(run_of_parents(d, first, end))
        store_block(parents, add_blocks(block, stored_block(parents)))


@phase(needs="packs")
def factorise_run(d, first, end, knot2, knot3):
    """Eliminate bodies ``first`` to ``end`` and their hinges, see ``ldu.factorise``."""
    w = d.wide
    run = run_of_rows(first, end)
    body = w.body(run)
    body.lever2 = sub(w.pose(knot2, run).anchor, w.pose(knot2, body.parent).anchor)
    left = eliminate_hinge(w, run, knot2, knot3, stored_block(body))
    add_blocks_to_parents(d, first, end, left)
    if d.body(first).fill_in_count > 0:
        propagate_rows_past_run(d, first, end, knot2, knot3)


@phase(needs="packs", otherwise=zero)
def sum_closures_of_run(d, first, end, knot3):
    """Sum the motion that closes the joints of a run of bodies, see ``sum_joint_closures``."""
    w = d.wide
    per_length = w.full(1.0 / d.environment.length_scale)
    gap = close_hinge(w, run_of_rows(first, end), knot3, per_length)
    return largest_of_own(d, first, end, gap)


@phase(needs="packs", otherwise=zero)
def reduce_run(d, first, end, knot2):
    """Reduce the wrenches of a run of bodies to their parents, see ``ldu.solve_to_root``.

    Returns:
        Largest residual moment of their hinges [N m].
    """
    w = d.wide
    run = run_of_rows(first, end)
    f, tau, moment = reduce_hinge(w, run, knot2, w.full(0.0))
    body = d.body(first)
    if body.fill_in_count > 0:
        for i in range(end - 1, first - 1, -1):
            reduce_row_residuals(d, i)
    if body.run_shares_parent > 0:
        parent = d.body(body.parent)
        own = lanes_of_rows(run_of_rows(first, end), w.full(0.0))
        parent.force = sum3_into(parent.force, f, own)
        parent.torque = sum3_into(parent.torque, tau, own)
    else:
        parents = w.body(run_of_parents(d, first, end))
        parents.force = add(parents.force, f)
        parents.torque = add(parents.torque, tau)
    return largest_of_own(d, first, end, moment)


@phase(needs="packs", otherwise=two_zeros)
def solve_run(d, first, end, knot3):
    """Solve for the increments of a run of bodies, see ``ldu.solve_to_leaves``.

    Returns (largest element of a rotation [rad], largest residual of a hinge that multipliers act
    on [N m]).
    """
    w = d.wide
    run = run_of_rows(first, end)
    dy, dphi, moment = solve_hinge(w, run, knot3, w.full(0.0))
    body = w.body(run)
    body.delta_position = dy
    body.delta_rotation = dphi
    rotation = largest_of_own(d, first, end, max_abs3(dphi))
    return rotation, largest_of_own(d, first, end, moment)

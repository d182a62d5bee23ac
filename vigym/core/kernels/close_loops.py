"""Newton's method that closes the loops in the tree's coordinates.

A Newton step is the motion of least kinetic energy that closes them to first order, from the same
elimination as a time step's with inertias in place of its blocks; a given degree of freedom has an
infinite pivot, it does not move.
"""

import math

from vigym.core.compiler.kernel import inline, phase
from vigym.core.compiler.lanes import read_column, write_column
from vigym.core.compiler.simd import absolute, maximum, where
from vigym.core.joint.ball_spring import reset_increment_axis
from vigym.core.kernels.knot_velocity import write_anchored_inertias
from vigym.core.kernels.reset import forward_kinematics, read_quaternion, unit_quaternion
from vigym.core.loop.constraints import loop_residuals, update_loop_anchors
from vigym.core.loop.couplings import coupled_dofs, dof_rate_from_velocities, set_coupling_residual
from vigym.core.loop.elimination import assemble_loop_rows, clear_multipliers
from vigym.core.loop.tracks import place_tracks
from vigym.core.loop.velocity_rows import clear_velocity_rows
from vigym.core.math.quaternions import quaternion_product
from vigym.core.math.vectors import zero3
from vigym.core.tables.plan import COUPLED_ROW, PRESCRIBED_ROW
from vigym.core.tree.ldu import factorise, solve_to_leaves, solve_to_root, sum_joint_closures

ITERATIONS = 60
MAX_ROTATION = 0.3  # [rad] of one Newton step
CLOSED = 1e-13  # scaled gap that ends Newton's method


@inline
def find_given_lanes(d, value):
    """Find the lanes that hold a number."""
    return absolute(value) >= 0.0


@phase
def clear_wrenches(d):
    """Set the wrenches of all bodies to zero."""
    for block in range(d.block_count):
        body = d.body(block)
        body.force = zero3(d)
        body.torque = zero3(d)


@phase
def hold_given(d, given, rates, held, first):
    """Clear the loads of all dofs, and hold the given dofs in the lanes ``held``.

    Those are held whose coordinate is a number, or with ``rates`` whose rate is one.
    """
    o = d.full(0.0)
    for p in range(d.dof_count):
        dof = d.dof(p)
        dof.load = 0.0
        dof.compliance = 0.0
    for i in range(1, d.body_count):
        body = d.body(i)
        n, free = body.translation_count, body.rotation_count
        for j in range(n + free):
            column = body.first_position + (j if free < 3 or j < n else n)
            if rates:
                column = body.first_velocity + j
            fixed = held & find_given_lanes(d, read_column(given, first, column, o))
            dof = d.dof(body.first_dof + j)
            dof.compliance = where(fixed, math.inf, 0.0)
            if free == 3 and j >= n:
                reset_increment_axis(d, dof, j - n)


@phase
def closing_motion(d, knot):
    """Solve for the motion of least kinetic energy that removes the residuals of loop rows.

    Returns its largest rotation [rad].
    """
    write_anchored_inertias(d.wide, knot)
    clear_wrenches(d.wide)
    assemble_loop_rows(d, knot, knot)
    clear_velocity_rows(d)
    clear_multipliers(d, d.loop_row_count)
    factorise(d, knot, knot)
    solve_to_root(d, knot)
    rotation, _, _, _ = solve_to_leaves(d, knot)
    return rotation


@inline
def turned_quaternion(d, i, q, step_length, knot):
    """Turn the quaternion of joint i by ``step_length`` times its three free rotations."""
    n, half = d.body(i).translation_count, 0.5 * step_length
    x = half * dof_rate_from_velocities(d, i, n, knot)
    y = half * dof_rate_from_velocities(d, i, n + 1, knot)
    z = half * dof_rate_from_velocities(d, i, n + 2, knot)
    return unit_quaternion(quaternion_product(q, (d.full(1.0), x, y, z)))


@phase
def move_joint(d, i, positions, step_length, mask, knot, first):
    """Add ``step_length`` times the motion of joint i to its coordinates, where the mask is set."""
    body = d.body(i)
    free, column = body.rotation_count, body.first_position
    o, n = d.full(0.0), body.translation_count
    for j in range(n + (free if free < 3 else 0)):
        old = read_column(positions, first, column + j, o)
        new = old + step_length * dof_rate_from_velocities(d, i, j, knot)
        write_column(positions, first, column + j, where(mask, new, old))
    if free == 3:
        column += n
        q = read_quaternion(positions, first, column, o)
        turned = turned_quaternion(d, i, q, step_length, knot)
        write_column(positions, first, column, where(mask, turned[0], q[0]))
        write_column(positions, first, column + 1, where(mask, turned[1], q[1]))
        write_column(positions, first, column + 2, where(mask, turned[2], q[2]))
        write_column(positions, first, column + 3, where(mask, turned[3], q[3]))


@phase
def coupling_errors(d, positions, first):
    """Write the residuals of couplings at coordinates; returns the largest [m or rad]."""
    o, worst = d.full(0.0), d.full(0.0)
    for r in range(d.loop_row_count):
        loop_row = d.loop_row(r)
        if loop_row.kind == COUPLED_ROW:
            i, j, other, k = coupled_dofs(d, loop_row)
            s = read_column(positions, first, d.body(i).first_position + j, o)
            leader = read_column(positions, first, d.body(other).first_position + k, o)
            worst = maximum(worst, set_coupling_residual(loop_row, s, leader))
        elif loop_row.kind >= PRESCRIBED_ROW:  # its coordinate is given; velocities wait
            loop_row.residual = 0.0
    return worst


@phase
def close_loops(d, knot, positions, given, held, active, first):
    """Close the loops from the present coordinates in the ``active`` lanes.

    Given coordinates do not change in the lanes ``held``. Returns the scaled gaps that are left.
    """
    gap = d.full(0.0)
    for _ in range(ITERATIONS):
        forward_kinematics(d, knot, positions, first)
        update_loop_anchors(d, knot)
        place_tracks(d, knot, d.full(True))
        hold_given(d, given, False, held, first)
        sum_joint_closures(d, knot)
        gap = maximum(loop_residuals(d, knot), coupling_errors(d, positions, first))
        active = active & (gap > CLOSED)
        if not active.any():
            break
        step_length = MAX_ROTATION / maximum(closing_motion(d, knot), MAX_ROTATION)
        for i in range(1, d.body_count):
            move_joint(d, i, positions, step_length, active, knot, first)
    return gap

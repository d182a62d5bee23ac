"""Loop rows on their way up the tree: past the degrees of freedom of one body, or of a run of them.

See `vigym.core.loop.elimination` for the equations.
"""

from vigym.core.compiler.kernel import inline, phase
from vigym.core.compiler.packs import run_of_rows
from vigym.core.compiler.simd import where
from vigym.core.joint.bounded_forces import joint_has_bounded_forces
from vigym.core.joint.geometry import (
    child_axis,
    rotation_axis,
    rotation_increment_axis,
    translation_axis,
)
from vigym.core.loop.couplings import coupling_derivative
from vigym.core.loop.elimination import all_loop_rows_inactive, is_inactive_contact_row
from vigym.core.math.vectors import add, axpy, cross, dot
from vigym.core.tables.plan import COUPLED_ROW, HINGE_PIVOT, PRESCRIBED_ROW

LEAST_FREE = 1e-4  # least part of a dof's pivot that counts as inertia, without forces that hold it


@inline
def add_row_to(parent, adds, K, B):
    """Write K and B (force, torque) to a fill-in row, or add them to it."""
    if adds > 0:
        K = (add(K[0], parent.K_force), add(K[1], parent.K_torque))
        B = (add(B[0], parent.B_force), add(B[1], parent.B_torque))
    parent.K_force, parent.K_torque = K
    parent.B_force, parent.B_torque = B


@inline
def propagate_row_to_parent(d, fill_in, K, B):
    """Propagate K and B (force, torque), taken at the parent's anchor, to its fill-in row."""
    if fill_in.parent_fill_in >= 0:
        add_row_to(d.fill_in(fill_in.parent_fill_in), fill_in.adds, K, B)


@inline
def eliminate_dof_from_row(dof, fill_in, j, y, x, K, B):
    """Eliminate dof j of a body's joint from K and B: K - y w / pivot and B - u x / pivot.

    y = K N and x = W B / pivot are stored.
    """
    x = x * dof.inverse_pivot
    fill_in.K_dof[j] = y
    fill_in.B_dof[j] = x
    K = (axpy(-y, dof.row_force, K[0]), axpy(-y, dof.row_torque, K[1]))
    B = (axpy(-x, dof.column_force, B[0]), axpy(-x, dof.column_torque, B[1]))
    return K, B


@inline
def coupling_dof_terms(d, fill_in, p):
    """Compute the entries of a coupling's row in K N and W B at dof p; zero for other rows."""
    loop_row = d.loop_row(fill_in.loop_row)
    if loop_row.kind in (COUPLED_ROW, PRESCRIBED_ROW):
        return coupling_derivative(d, loop_row, p)
    return d.full(0.0)


@inline
def shift_row_to_parent_anchor(body, K, B):
    """Move K and B (force, torque) to the parent's anchor."""
    K = (K[0], add(K[1], cross(body.lever3, K[0])))
    B = (B[0], add(B[1], cross(body.lever2, B[0])))
    return K, B


@inline
def eliminate_hinge_from_row(d, i, fill_in, part, knot2, knot3):
    """Eliminate the hinge of body i from a fill-in row; ``part`` is the row's own by the hinge.

    Returns K and B (force, torque) at the parent's anchor.
    """
    body = d.body(i)
    K = (fill_in.K_force, fill_in.K_torque)
    B = (fill_in.B_force, fill_in.B_torque)
    y = dot(K[1], child_axis(d, i, knot3)) + part
    x = dot(B[1], child_axis(d, i, knot2)) + part
    K, B = shift_row_to_parent_anchor(body, K, B)  # u and w are seen from there
    return eliminate_dof_from_row(d.dof(body.first_dof), fill_in, 0, y, x, K, B)


@inline
def eliminate_dofs_from_row(d, i, fill_in, knot2, knot3):
    """Eliminate all dofs of body i from a fill-in row.

    Returns K and B (force, torque) at the parent's anchor.
    """
    body = d.body(i)
    first, first_rotation = body.first_dof, body.first_dof + body.translation_count
    K = (fill_in.K_force, fill_in.K_torque)
    B = (fill_in.B_force, fill_in.B_torque)
    for j in range(body.translation_count):
        part = coupling_dof_terms(d, fill_in, first + j)
        y = dot(K[0], translation_axis(d, i, j, knot3)) + part
        x = dot(B[0], translation_axis(d, i, j, knot2)) + part
        K, B = eliminate_dof_from_row(d.dof(first + j), fill_in, j, y, x, K, B)
    for j in range(body.rotation_count):
        part = coupling_dof_terms(d, fill_in, first_rotation + j)
        y = dot(K[1], rotation_increment_axis(d, i, j, knot3)) + part
        x = dot(B[1], rotation_axis(d, i, j, knot2)) + part
        n = body.translation_count + j
        K, B = eliminate_dof_from_row(d.dof(first_rotation + j), fill_in, n, y, x, K, B)
    return shift_row_to_parent_anchor(body, K, B)


@inline
def propagate_row_past_body(d, i, fill_in, knot2, knot3):
    """Eliminate all dofs of body i from a fill-in row, and propagate the row to the parent."""
    body = d.body(i)
    if body.pivot_kind == HINGE_PIVOT:
        part = coupling_dof_terms(d, fill_in, body.first_dof)
        K, B = eliminate_hinge_from_row(d, i, fill_in, part, knot2, knot3)
    else:
        K, B = eliminate_dofs_from_row(d, i, fill_in, knot2, knot3)
    propagate_row_to_parent(d, fill_in, K, B)


@inline
def fill_in_number(body, k):
    """Find the fill-in row of the k-th loop row that passes a body."""
    return body.first_fill_in + k * body.fill_in_step


@inline
def sum_over_dofs(d, own, second, dofs):
    """Sum the product of K of one fill-in row and B of another over the dofs of a body."""
    s = d.full(0.0)
    for j in range(dofs):
        s = s + own.K_dof[j] * second.B_dof[j]
    return s


@inline
def sum_over_free_dofs(d, own, body, dofs):
    """Sum the product of K and B of a fill-in row over the dofs of a body, as if none were held.

    Dry friction or a stiff motor that holds a dof makes its share tiny. The shift against rounding
    must not become so, where rows that depend on each other hold the same dof.
    """
    s = d.full(0.0)
    for j in range(dofs):
        dof = d.dof(body.first_dof + j)
        free = 1.0 - dof.compliance * dof.inverse_pivot
        free = where(free > LEAST_FREE, free, LEAST_FREE)  # of a rigid dof it is no number
        s = s + own.K_dof[j] * own.B_dof[j] / free
    return s


@inline
def add_to_element(d, number, s):
    """Add to an element of S."""
    element = d.schur(number)
    element.value = element.value + s


@inline
def add_row_couplings(d, i, dofs):
    """Add the coupling of the loop rows that pass body i, through its dofs, to S."""
    body = d.body(i)
    for k in range(body.fill_in_count):
        own = d.fill_in(fill_in_number(body, k))
        loop_row = d.loop_row(own.loop_row)
        if is_inactive_contact_row(d, loop_row):
            continue
        start = loop_row.schur_start
        for m in range(k):  # rows before it, as in ``schur_element``
            second = d.fill_in(fill_in_number(body, m))
            if is_inactive_contact_row(d, d.loop_row(second.loop_row)):
                continue
            lower = start + second.loop_row
            add_to_element(d, lower, sum_over_dofs(d, own, second, dofs))
            add_to_element(d, d.schur_count + lower, sum_over_dofs(d, second, own, dofs))
        s = sum_over_dofs(d, own, own, dofs)
        add_to_element(d, start + own.loop_row, s)
        if joint_has_bounded_forces(body):
            s = sum_over_free_dofs(d, own, body, dofs)
        loop_row.unreduced_pivot = loop_row.unreduced_pivot + s


@phase(needs="loops")
def propagate_rows_past_body(d, i, knot2, knot3):
    """Propagate the loop rows that pass body i past its dofs, and connect them."""
    if all_loop_rows_inactive(d):
        return
    body = d.body(i)
    for k in range(body.fill_in_count):
        fill_in = d.fill_in(fill_in_number(body, k))
        if not is_inactive_contact_row(d, d.loop_row(fill_in.loop_row)):
            propagate_row_past_body(d, i, fill_in, knot2, knot3)
    add_row_couplings(d, i, body.translation_count + body.rotation_count)


@phase(needs="packs")
def propagate_rows_past_run(d, first, end, knot2, knot3):
    """Propagate the loop rows that pass a run of bodies past their hinges, and connect them.

    They are rows of joints, none of contacts that may be inactive. Those that go to one parent lie
    in their own fill-in rows on the way, as the parent sees them.
    """
    w = d.wide
    run = run_of_rows(first, end)
    one, count = d.body(first), end - first
    for k in range(one.fill_in_count):
        q = fill_in_number(one, k)
        row = w.fill_in(run_of_rows(q, q + count))
        K, B = eliminate_hinge_from_row(w, run, row, w.full(0.0), knot2, knot3)
        if one.run_shares_parent > 0:
            row.K_force, row.K_torque = K
            row.B_force, row.B_torque = B
            for each in range(q + count - 1, q - 1, -1):
                fill_in = d.fill_in(each)
                K_each = fill_in.K_force, fill_in.K_torque
                B_each = fill_in.B_force, fill_in.B_torque
                propagate_row_to_parent(d, fill_in, K_each, B_each)
        else:
            above = d.fill_in(q).parent_fill_in
            add_row_to(w.fill_in(run_of_rows(above, above + count)), d.fill_in(q).adds, K, B)
    for i in range(end - 1, first - 1, -1):
        add_row_couplings(d, i, 1)

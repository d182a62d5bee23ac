"""Contact forces in the equations of a step: wrenches at knot 2, slopes in blocks and loop rows.

The slopes of a contact with the ground are added to its body's 6x6 block. A contact of two bodies
is a leaf between them that has three loop rows, which are propagated along the graph like the rows
of a closing joint. Row j, of bodies a (the partner) and b, is

    lam_j + sum_k slope_jk u_k(d_b) - sum_k slope_jk u_k(d_a) = force_j at zero increment.
"""

from vigym.core.compiler.kernel import inline, no_lanes, no_lanes_and_zero, phase
from vigym.core.compiler.lanes import max_over_body_lanes
from vigym.core.compiler.simd import where
from vigym.core.contact.laws.interior_point_law import linearize_interior_law
from vigym.core.contact.laws.no_slip import is_nonholonomic
from vigym.core.contact.laws.projection_law import linearize_projection_law
from vigym.core.contact.rolling import partner_slip_slopes, slip_slopes, slope_along
from vigym.core.contact.segment_box import is_pair
from vigym.core.loop.constraints import add_wrench
from vigym.core.loop.elimination import schur_element
from vigym.core.math.vectors import (
    add,
    axpy,
    cross,
    mat_add,
    mat_sub_outer,
    matrix_of_rows,
    scale,
    skew_matmul,
)
from vigym.core.tables.plan import ALIGNED, LONE


@inline
def contact_wrench(contact, force):
    """Compute force [world] and torque, about the own joint anchor at knot 2, of components."""
    normal = contact.normal2
    tangents = contact.scaled_tangent_1, contact.scaled_tangent_2
    f = axpy(force[2], tangents[1], axpy(force[1], tangents[0], scale(force[0], normal)))
    return f, axpy(force[3], normal, cross(contact.arm2, f))


@inline
def linearize_projection(d, contact, per_h, prox, breaks_cycles):
    """Linearize the forces of a contact, and write their distance from their law.

    Returns the lanes in which it is loaded.
    """
    holds, error = linearize_projection_law(d, contact, per_h, prox, breaks_cycles)
    contact.law_error = where(contact.active, error, 0.0)
    contact.slope_21 = contact.slope_12
    return holds


@phase(needs="packs", otherwise=no_lanes)
def linearize_projections_in_blocks(d, per_h, prox, breaks_cycles):
    """Linearize the forces of contacts that lie in blocks; returns whether any is loaded."""
    w = d.wide
    wide_per_h, wide_prox = w.full(per_h), w.full(prox)
    loaded = w.full(False)
    for block in range(d.contact_block_count):
        contact = w.contact(block)
        if contact.active.any():
            holds = linearize_projection(w, contact, wide_per_h, wide_prox, breaks_cycles)
            loaded = loaded | holds
    return max_over_body_lanes(loaded, per_h)


@inline
def sum_squared_law_errors(d):
    """Sum the squared distances of the forces of active contacts from their laws [N^2]."""
    total = d.full(0.0)
    for c in range(d.contact_count):
        contact = d.contact(c)
        if contact.active.any():
            total = total + contact.law_error * contact.law_error
    return total


@phase(needs="contacts", otherwise=no_lanes_and_zero)
def linearize_contacts_projection(d, per_h, prox, breaks_cycles):
    """Linearize the forces of the active contacts.

    Returns (lanes in which any is loaded, sum of the squared distances of the present forces from
    their laws [N^2]).
    """
    loaded = linearize_projections_in_blocks(d, per_h, prox, breaks_cycles)
    for c in range(d.first_lone_contact, d.contact_count):
        contact = d.contact(c)
        if contact.membership == LONE and contact.active.any():
            holds = linearize_projection(d, contact, per_h, prox, breaks_cycles)
            loaded = loaded | holds
    return loaded, sum_squared_law_errors(d)


@phase(needs="contacts", otherwise=no_lanes)
def linearize_contacts_interior(d, per_h, prox, kappa, speed, lanes, resumes):
    """Linearize the forces by the interior point, relaxed by ``kappa``; returns the same lanes.

    Forces and duals are moved into their cones in the ``lanes`` that are being solved.
    """
    loaded = d.full(False)
    for c in range(d.contact_count):
        contact = d.contact(c)
        if contact.active.any():
            if is_nonholonomic(contact):
                holds, _ = linearize_projection_law(d, contact, per_h, prox, False)
                loaded = loaded | holds
            else:
                active = linearize_interior_law(
                    d, contact, per_h, kappa, speed, prox, lanes, resumes
                )
                loaded = loaded | active
    return loaded


@inline
def set_row_residuals(d, contact):
    """Set the residuals of the loop rows of a contact of two bodies to its forces, negated."""
    r = contact.first_loop_row
    force = contact.affine_force
    row_n = d.loop_row(r)
    row_1 = d.loop_row(r + 1)
    row_2 = d.loop_row(r + 2)
    row_n.residual = -force[0]
    row_1.residual = -force[1]
    row_2.residual = -force[2]


@inline
def add_one_contact_force(d, contact, weight):
    """Add the force at zero increment of one contact with the ground to its body's residual."""
    g = contact.affine_force
    spin = contact.torsional_friction
    force, torque = contact_wrench(contact, (g[0], g[1], g[2], spin * g[3]))
    add_wrench(d.body(contact.body), -weight, force, torque)


@phase(needs="packs")
def add_aligned_forces(d, weight):
    """Add the forces at zero increment of contacts in their bodies' lanes to the residuals."""
    w = d.wide
    wide_weight = w.full(weight)
    for block in range(d.aligned_block_count):
        contact = w.aligned_contact(block)
        if contact.active.any():
            add_one_contact_force(w, contact, wide_weight)


@phase(needs="contacts")
def add_contact_forces(d, weight):
    """Add the forces at zero increment to the bodies' residual wrenches, or to the loop rows."""
    add_aligned_forces(d, weight)
    for c in range(d.first_unaligned_contact, d.contact_count):
        contact = d.contact(c)
        if contact.membership < ALIGNED and contact.active.any():
            if is_pair(contact):
                set_row_residuals(d, contact)
            else:
                add_one_contact_force(d, contact, weight)


@inline
def contact_force_slopes(contact, arm_lowest, slopes):
    """Compute the slopes of the forces by a body's motion: three rows (by shift, by rotation).

    ``arm_lowest`` is that of the body's lowest point at knot 3, ``slopes`` are the derivatives of
    the slip along both tangents by a rotation of the body.
    """
    normal = contact.normal3
    n1, n2 = contact.slope_1n, contact.slope_2n
    k11, k12 = contact.slope_11, contact.slope_12
    k21, k22 = contact.slope_21, contact.slope_22
    w1, w2 = contact.scaled_tangent_1, contact.scaled_tangent_2
    m = cross(arm_lowest, normal)
    if is_nonholonomic(contact):
        arm = contact.arm_touching
        w1, w2 = contact.no_slip_direction_1, contact.no_slip_direction_2
        m1 = add(cross(arm, w1), contact.no_slip_rotation_1)
        m2 = add(cross(arm, w2), contact.no_slip_rotation_2)
    else:
        m1, m2 = slope_along(contact, slopes, w1), slope_along(contact, slopes, w2)
    row_n = scale(contact.slope_nn, normal), scale(contact.slope_nn, m)
    row_1 = (
        axpy(k12, w2, axpy(k11, w1, scale(n1, normal))),
        axpy(k12, m2, axpy(k11, m1, scale(n1, m))),
    )
    row_2 = (
        axpy(k22, w2, axpy(k21, w1, scale(n2, normal))),
        axpy(k22, m2, axpy(k21, m1, scale(n2, m))),
    )
    return row_n, row_1, row_2


@inline
def outer_sum(directions, rows):
    """Sum the outer products of three directions and three rows."""
    a, b, c = directions
    p, q, r = rows
    return matrix_of_rows(
        axpy(c[0], r, axpy(b[0], q, scale(a[0], p))),
        axpy(c[1], r, axpy(b[1], q, scale(a[1], p))),
        axpy(c[2], r, axpy(b[2], q, scale(a[2], p))),
    )


@inline
def add_one_contact_stiffness(d, contact, weight, per_h):
    """Add the slopes of one contact with the ground to the blocks of its body."""
    body = d.body(contact.body)
    arm2 = contact.arm2
    s = weight * per_h
    normal = contact.normal2
    t1, t2 = contact.scaled_tangent_1, contact.scaled_tangent_2
    rows = contact_force_slopes(contact, contact.arm_lowest, slip_slopes(contact))
    row_n, row_1, row_2 = rows
    directions = scale(s, normal), scale(s, t1), scale(s, t2)
    by_shift = outer_sum(directions, (row_n[0], row_1[0], row_2[0]))
    by_rotation = outer_sum(directions, (row_n[1], row_1[1], row_2[1]))
    body.block_a = mat_add(body.block_a, by_shift)
    body.block_b = mat_add(body.block_b, by_rotation)
    C = mat_add(body.block_c, skew_matmul(arm2, by_shift))
    D = mat_add(body.block_d, skew_matmul(arm2, by_rotation))
    if contact.has_torsion > 0:
        mu = contact.torsional_friction
        ksn, kss = contact.slope_sn, contact.slope_ss
        lever = cross(contact.arm_lowest, normal)
        spin = scale(-s, normal)
        C = mat_sub_outer(C, spin, scale(mu * ksn, normal))
        D = mat_sub_outer(D, spin, axpy(mu * mu * kss, normal, scale(mu * ksn, lever)))
    body.block_c = C
    body.block_d = D


@phase(needs="packs")
def add_aligned_stiffness(d, weight, per_h):
    """Add the slopes of contacts in the lanes of their bodies to the bodies' blocks."""
    w = d.wide
    wide_weight, wide_per_h = w.full(weight), w.full(per_h)
    for block in range(d.aligned_block_count):
        contact = w.aligned_contact(block)
        if contact.active.any():
            add_one_contact_stiffness(w, contact, wide_weight, wide_per_h)


@phase(needs="contacts")
def add_contact_stiffness(d, weight, per_h):
    """Add the slopes of contacts with the ground to the blocks of their bodies.

    They lie between wrenches at knot 2 and motions at knot 3. The slopes of contacts of two bodies
    are in loop rows, see ``assemble_contact_rows``.
    """
    add_aligned_stiffness(d, weight, per_h)
    for c in range(d.first_unaligned_contact, d.contact_count):
        contact = d.contact(c)
        is_other = contact.membership < ALIGNED and not is_pair(contact)
        if is_other and contact.active.any():
            add_one_contact_stiffness(d, contact, weight, per_h)


@inline
def set_contact_endpoint(d, q, weight, per_h, arm2, direction, row):
    """Set K and B of a contact's loop row at one of its two bodies, in fill-in row q.

    K is the force per motion at knot 3, B the wrench of ``direction`` at knot 2.
    """
    if q >= 0:
        fill_in = d.fill_in(q)
        fill_in.K_force = scale(per_h, row[0])
        fill_in.K_torque = scale(per_h, row[1])
        fill_in.B_force = scale(weight, direction)
        fill_in.B_torque = scale(weight, cross(arm2, direction))


@inline
def set_contact_row(d, contact, j, direction, rows, weight, per_h):
    """Set loop row j of a contact of two bodies; ``rows`` are the slopes by the own and partner's.

    It yields: its own part of S is one [a contact is a leaf between two bodies, SIM 4.1].
    """
    own, partner = rows
    r = contact.first_loop_row + j
    loop_row = d.loop_row(r)
    a, b = loop_row.endpoint_a, loop_row.endpoint_b
    set_contact_endpoint(d, b, weight, per_h, contact.arm2, direction, own)
    arm2 = contact.partner_arm2
    set_contact_endpoint(d, a, -1.0 * weight, -1.0 * per_h, arm2, direction, partner)
    element = schur_element(d, r, r)
    element.value = 1.0
    loop_row.unreduced_pivot = 0.0
    loop_row.dual_shift = 0.0


@phase(needs="contacts")
def assemble_contact_rows(d, weight, per_h):
    """Assemble the loop rows of the active contacts of two bodies.

    lam + per_h slopes . (relative motion) = force at zero increment.
    """
    for c in range(d.contact_count):
        contact = d.contact(c)
        if is_pair(contact) and contact.active.any():
            arm, partner_arm = contact.arm_lowest, contact.partner_arm_lowest
            own = contact_force_slopes(contact, arm, slip_slopes(contact))
            partner = contact_force_slopes(contact, partner_arm, partner_slip_slopes(contact))
            t1, t2 = contact.scaled_tangent_1, contact.scaled_tangent_2
            set_contact_row(d, contact, 0, contact.normal2, (own[0], partner[0]), weight, per_h)
            set_contact_row(d, contact, 1, t1, (own[1], partner[1]), weight, per_h)
            set_contact_row(d, contact, 2, t2, (own[2], partner[2]), weight, per_h)

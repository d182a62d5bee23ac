"""Contact forces in the equations of a step: wrenches at knot 2, slopes in blocks and loop rows.

The slopes of a contact with the ground are added to its body's 6x6 block. A contact of two bodies
is a leaf between them that has three loop rows, which are propagated along the graph like those
that close a loop. Row j, of bodies a (the partner) and b, is

    lam_j + sum_k slope_jk u_k(d_b) - sum_k slope_jk u_k(d_a) = force_j at no increment.
"""

from vigym.core.compiler.kernel import inline, phase, zero
from vigym.core.compiler.lanes import any_lane
from vigym.core.compiler.simd import maximum
from vigym.core.contact.interior_point_law import is_nonholonomic, linearize_interior_law
from vigym.core.contact.projection_law import linearize_projection_law
from vigym.core.contact.segment_box import is_pair
from vigym.core.loop.constraints import add_wrench
from vigym.core.loop.elimination import schur_element
from vigym.core.math.vectors import add, axpy, cross, mat_sub_outer, scale, zero3


@inline
def contact_wrench(contact, force):
    """Compute force [world] and torque, about the own joint anchor at knot 2, of components."""
    normal = contact.normal2
    tangents = contact.scaled_tangent_1, contact.scaled_tangent_2
    f = axpy(force[2], tangents[1], axpy(force[1], tangents[0], scale(force[0], normal)))
    return f, axpy(force[3], normal, cross(contact.arm2, f))


@phase(needs="contacts", otherwise=zero)
def linearize_contacts_projection(d, per_h, prox, breaks_cycles):
    """Linearize the forces of the active contacts; returns lanes in which any is loaded."""
    loaded = d.full(0.0)
    for c in range(d.contact_count):
        contact = d.contact(c)
        if any_lane(contact.active):
            loaded = maximum(
                loaded, linearize_projection_law(d, contact, per_h, prox, breaks_cycles)
            )
            contact.slope_21 = contact.slope_12
    return loaded


@phase(needs="contacts", otherwise=zero)
def linearize_contacts_interior(d, per_h, prox, kappa, speed):
    """Linearize the forces by the interior point, relaxed by ``kappa``; returns the same lanes."""
    loaded = d.full(0.0)
    for c in range(d.contact_count):
        contact = d.contact(c)
        if any_lane(contact.active):
            if is_nonholonomic(contact):
                loaded = maximum(loaded, linearize_projection_law(d, contact, per_h, prox, False))
            else:
                active = linearize_interior_law(d, contact, per_h, kappa, speed, prox)
                loaded = maximum(loaded, active)
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


@phase(needs="contacts")
def add_contact_forces(d, weight):
    """Add the forces at no increment to the bodies' residual wrenches, or to the loop rows."""
    for c in range(d.contact_count):
        contact = d.contact(c)
        if any_lane(contact.active):
            if is_pair(contact):
                set_row_residuals(d, contact)
            else:
                g = contact.affine_force
                spin = contact.torsional_friction
                force, torque = contact_wrench(contact, (g[0], g[1], g[2], spin * g[3]))
                add_wrench(d.body(contact.body), -weight, force, torque)


@inline
def contact_force_slopes(contact, arm_lowest, arm_touching):
    """Compute the slopes of the forces by a body's motion: three rows (by shift, by rotation).

    The arms are those of the body's lowest and touching point at knot 3.
    """
    normal = contact.normal3
    n1, n2 = contact.slope_1n, contact.slope_2n
    k11, k12 = contact.slope_11, contact.slope_12
    k21, k22 = contact.slope_21, contact.slope_22
    w1, w2 = contact.scaled_tangent_1, contact.scaled_tangent_2
    m = cross(arm_lowest, normal)
    m1 = cross(arm_touching, w1)
    m2 = cross(arm_touching, w2)
    if is_nonholonomic(contact):
        w1, w2 = contact.no_slip_direction_1, contact.no_slip_direction_2
        m1 = add(cross(arm_touching, w1), contact.no_slip_rotation_1)
        m2 = add(cross(arm_touching, w2), contact.no_slip_rotation_2)
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
def subtract_outer_from_blocks(blocks, s, force, torque, row):
    """Subtract s (force, torque) (row by shift, row by rotation)^T from the blocks A, B, C, D."""
    A, B, C, D = blocks
    f, m = scale(s, force), scale(s, torque)
    return (
        mat_sub_outer(A, f, row[0]),
        mat_sub_outer(B, f, row[1]),
        mat_sub_outer(C, m, row[0]),
        mat_sub_outer(D, m, row[1]),
    )


@inline
def add_one_contact_stiffness(d, contact, weight, per_h):
    """Add the slopes of one contact with the ground to the blocks of its body."""
    body = d.body(contact.body)
    arm2 = contact.arm2
    s = -weight * per_h
    normal = contact.normal2
    t1, t2 = contact.scaled_tangent_1, contact.scaled_tangent_2
    row_n, row_1, row_2 = contact_force_slopes(contact, contact.arm_lowest, contact.arm_touching)
    blocks = body.block_a, body.block_b, body.block_c, body.block_d
    blocks = subtract_outer_from_blocks(blocks, s, normal, cross(arm2, normal), row_n)
    blocks = subtract_outer_from_blocks(blocks, s, t1, cross(arm2, t1), row_1)
    blocks = subtract_outer_from_blocks(blocks, s, t2, cross(arm2, t2), row_2)
    if contact.has_torsion > 0:
        mu = contact.torsional_friction
        ksn, kss = contact.slope_sn, contact.slope_ss
        by_shift = scale(mu * ksn, normal)
        lever = cross(contact.arm_lowest, normal)
        by_rotation = axpy(mu * mu * kss, normal, scale(mu * ksn, lever))
        blocks = subtract_outer_from_blocks(blocks, s, zero3(d), normal, (by_shift, by_rotation))
    body.block_a = blocks[0]
    body.block_b = blocks[1]
    body.block_c = blocks[2]
    body.block_d = blocks[3]


@phase(needs="contacts")
def add_contact_stiffness(d, weight, per_h):
    """Add the slopes of contacts with the ground to the blocks of their bodies.

    They lie between wrenches at knot 2 and motions at knot 3. Those of contacts of two bodies are
    in loop rows, see ``assemble_contact_rows``.
    """
    for c in range(d.contact_count):
        contact = d.contact(c)
        if any_lane(contact.active) and not is_pair(contact):
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

    lam + per_h slopes . (relative motion) = force at no increment.
    """
    for c in range(d.contact_count):
        contact = d.contact(c)
        if is_pair(contact) and any_lane(contact.active):
            own = contact_force_slopes(contact, contact.arm_lowest, contact.arm_touching)
            partner = contact_force_slopes(
                contact, contact.partner_arm_lowest, contact.partner_arm_touching
            )
            t1, t2 = contact.scaled_tangent_1, contact.scaled_tangent_2
            set_contact_row(d, contact, 0, contact.normal2, (own[0], partner[0]), weight, per_h)
            set_contact_row(d, contact, 1, t1, (own[1], partner[1]), weight, per_h)
            set_contact_row(d, contact, 2, t2, (own[2], partner[2]), weight, per_h)

"""Contact forces after an increment, after the part of it that is taken, and of the solution."""

from vigym.core.compiler.kernel import inline, phase, two_zeros, zero
from vigym.core.compiler.lanes import max_over_body_lanes
from vigym.core.compiler.simd import maximum, minimum, where
from vigym.core.contact.assembly import contact_wrench, sum_squared_law_errors
from vigym.core.contact.kinematics import contact_newton_increment, point_newton_increment
from vigym.core.contact.laws.interior_point_law import update_interior_duals
from vigym.core.contact.laws.no_slip import change_of_no_slip_velocity, is_nonholonomic
from vigym.core.contact.laws.projection_law import extract_point_velocity, projection_error
from vigym.core.contact.rolling import partner_slip_change, slip_change
from vigym.core.contact.segment_box import is_pair
from vigym.core.math.vectors import add, dot, scale, select3, select4, sub, zero3
from vigym.core.tables.plan import LONE


@inline
def update_contact_after_increment(d, contact, per_h):
    """Update velocity and force of a contact after the increment.

    Returns the change of the velocities by the increment, (n, 1, 2).
    """
    body, normal = d.body(contact.body), contact.normal3
    turn = body.delta_rotation
    arm, partner_arm = contact.arm_lowest, contact.partner_arm_lowest
    un = per_h * dot(normal, contact_newton_increment(d, contact, arm, partner_arm))
    if is_nonholonomic(contact):
        motion = point_newton_increment(body, contact.arm_touching)
    else:
        motion = slip_change(contact, body.delta_position, turn)
    if is_pair(contact):
        partner = d.body(contact.partner)
        shift, rotation = partner.delta_position, partner.delta_rotation
        motion = sub(motion, partner_slip_change(contact, shift, rotation))
    motion = scale(per_h, motion)
    spin = per_h * dot(normal, turn)
    velocity = contact.velocity
    point = add(extract_point_velocity(velocity), motion)
    contact.velocity_next = (velocity[0] + un, point[0], point[1], point[2], velocity[4] + spin)
    u1 = dot(contact.scaled_tangent_1, motion)
    u2 = dot(contact.scaled_tangent_2, motion)
    us = contact.torsional_friction * spin
    if is_nonholonomic(contact):
        u1, u2 = change_of_no_slip_velocity(contact, motion, scale(per_h, turn))
        point = velocity[1] + u1, velocity[2] + u2, velocity[3]
        contact.velocity_next = (velocity[0], point[0], point[1], point[2], velocity[4])
    g = contact.affine_force
    contact.affine_force = (
        g[0] - contact.slope_nn * un,
        g[1] - (contact.slope_1n * un + contact.slope_11 * u1 + contact.slope_12 * u2),
        g[2] - (contact.slope_2n * un + contact.slope_21 * u1 + contact.slope_22 * u2),
        g[3] - (contact.slope_sn * un + contact.slope_ss * us),
    )
    return un, u1, u2


@inline
def interpolate4(a, b, share):
    """Interpolate between four values and four others."""
    return (
        a[0] + share * (b[0] - a[0]),
        a[1] + share * (b[1] - a[1]),
        a[2] + share * (b[2] - a[2]),
        a[3] + share * (b[3] - a[3]),
    )


@inline
def update_projection(d, contact, per_h, prox):
    """Update a contact's force after the increment, and write its distance from its law.

    Returns that distance [N]; of skates and wheels it is not written.
    """
    update_contact_after_increment(d, contact, per_h)
    force, velocity = contact.affine_force, contact.velocity_next
    off = projection_error(d, contact, force, velocity, per_h, prox)
    off = where(contact.active, off, 0.0)
    contact.law_error = 0.0 * off if is_nonholonomic(contact) else off
    return off


@phase(needs="packs", otherwise=zero)
def update_projections_in_blocks(d, per_h, prox):
    """Update the forces of contacts that lie in blocks; returns their largest distance [N]."""
    w = d.wide
    wide_per_h, wide_prox = w.full(per_h), w.full(prox)
    worst = w.full(0.0)
    for block in range(d.contact_block_count):
        contact = w.contact(block)
        if contact.active.any():
            worst = maximum(worst, update_projection(w, contact, wide_per_h, wide_prox))
    return max_over_body_lanes(worst, per_h)


@phase(needs="contacts", otherwise=two_zeros)
def update_contacts_projection(d, per_h, prox):
    """Update contact forces after the increment just solved for, and the velocities they go with.

    Returns (largest distance of the forces from their laws [N], sum of squares [N^2], which leaves
    out skates and wheels).
    """
    worst = update_projections_in_blocks(d, per_h, prox)
    for c in range(d.first_lone_contact, d.contact_count):
        contact = d.contact(c)
        if contact.membership == LONE and contact.active.any():
            worst = maximum(worst, update_projection(d, contact, per_h, prox))
    return worst, sum_squared_law_errors(d)


@phase(needs="contacts", otherwise=zero)
def squared_law_errors_of_contacts(d, step_length, per_h, prox):
    """Sum the squared distances of contact forces from their laws after a part of the increment.

    Returns the sum [N^2]. Forces and velocities are linear in that part.
    """
    total = d.full(0.0)
    for c in range(d.contact_count):
        contact = d.contact(c)
        if contact.active.any() and not is_nonholonomic(contact):
            force = interpolate4(contact.force, contact.affine_force, step_length)
            seen, end = contact.velocity_seen, contact.velocity_next
            v = interpolate4(seen, end, step_length)
            velocity = v[0], v[1], v[2], v[3], seen[4] + step_length * (end[4] - seen[4])
            error = projection_error(d, contact, force, velocity, per_h, prox)
            total = total + where(contact.active, error * error, 0.0)
    return total


def skip_contacts_interior(d, *arguments):
    """Replace ``update_contacts_interior`` in mechanisms without contacts."""
    return d.full(1.0), d.full(0.0)


@phase(needs="contacts", otherwise=skip_contacts_interior)
def update_contacts_interior(d, per_h, prox, kappa, speed):
    """Update contact forces and duals after the increment just solved for.

    Returns (part of the increment that stays inside the cones, how far off the laws are [N]).
    """
    worst = d.full(0.0)
    step_length = d.full(1.0)
    for c in range(d.contact_count):
        contact = d.contact(c)
        active = contact.active
        if active.any():
            change = update_contact_after_increment(d, contact, per_h)
            part = step_length
            if is_nonholonomic(contact):
                after = contact.affine_force
                off = projection_error(d, contact, after, contact.velocity_next, per_h, prox)
            else:
                part, off = update_interior_duals(contact, change, per_h, kappa, speed)
            part = where(active, part, step_length)
            worst = maximum(worst, where(active, off, 0.0))
            step_length = minimum(step_length, part)
    return step_length, worst


@inline
def interpolate_in_mask(value, end, step_length, mask):
    """Step a value by a part of its way to ``end``, in the lanes of the mask."""
    return where(mask, value + step_length * (end - value), value)


@phase(needs="contacts")
def step_duals(d, step_length, mask):
    """Step the duals of the contacts by ``step_length`` of their way, in the lanes of the mask."""
    for c in range(d.contact_count):
        contact = d.contact(c)
        taken = mask & contact.active  # lanes that are not active have none yet
        dual, end = contact.dual, contact.dual_next
        contact.dual = (
            interpolate_in_mask(dual[0], end[0], step_length, taken),
            interpolate_in_mask(dual[1], end[1], step_length, taken),
        )


@phase(needs="contacts")
def clear_duals(d):
    """Clear the duals: no contact has any yet."""
    for c in range(d.contact_count):
        contact = d.contact(c)
        contact.dual = (0.0, contact.dual[1])


@inline
def force_if_active(active, end, force):
    """Return the force after an increment in active lanes, zero elsewhere."""
    return where(active, end, 0.0)


@inline
def step_contact_force(contact, step_length, mask):
    """Step the force of a contact, and the velocity by which its law chooses."""
    active = contact.active
    f, g = contact.force, contact.affine_force
    contact.force = (
        interpolate_in_mask(f[0], force_if_active(active, g[0], f[0]), step_length, mask),
        interpolate_in_mask(f[1], force_if_active(active, g[1], f[1]), step_length, mask),
        interpolate_in_mask(f[2], force_if_active(active, g[2], f[2]), step_length, mask),
        interpolate_in_mask(f[3], force_if_active(active, g[3], f[3]), step_length, mask),
    )
    seen, end = contact.velocity_seen, contact.velocity_next
    contact.velocity_seen = (
        interpolate_in_mask(seen[0], end[0], step_length, mask),
        interpolate_in_mask(seen[1], end[1], step_length, mask),
        interpolate_in_mask(seen[2], end[2], step_length, mask),
        interpolate_in_mask(seen[3], end[3], step_length, mask),
        interpolate_in_mask(seen[4], end[4], step_length, mask),
    )


@phase(needs="packs")
def step_forces_in_blocks(d, step_length, mask):
    """Step the forces of contacts that lie in blocks, see ``step_contact_forces``."""
    w = d.wide
    wide_length, wide_mask = w.full(step_length), w.full(mask)
    for block in range(d.contact_block_count):
        step_contact_force(w.contact(block), wide_length, wide_mask)


@phase(needs="contacts")
def step_contact_forces(d, step_length, mask):
    """Step contact forces by ``step_length`` of their way, in the lanes of the mask.

    The laws choose by the velocities after the increment.
    """
    step_forces_in_blocks(d, step_length, mask)
    for c in range(d.first_lone_contact, d.contact_count):
        contact = d.contact(c)
        if contact.membership == LONE:
            step_contact_force(contact, step_length, mask)


@inline
def accept_contact_force(d, contact, mask):
    """Accept the force of a contact as that of the solution, in the lanes of the mask."""
    o = d.full(0.0)
    active = contact.active
    force = select4(active, contact.force, (o, o, o, o))
    world_force, _ = contact_wrench(contact, force)
    world_force = select3(active, world_force, zero3(d))
    contact.converged_force = select4(mask, force, contact.converged_force)
    before = contact.converged_world_force
    contact.converged_world_force = select3(mask, world_force, before)


@phase(needs="packs")
def accept_forces_in_blocks(d, mask):
    """Accept the forces of contacts that lie in blocks, see ``accept_contact_forces``."""
    w = d.wide
    wide_mask = w.full(mask)
    for block in range(d.contact_block_count):
        accept_contact_force(w, w.contact(block), wide_mask)


@phase(needs="contacts")
def accept_contact_forces(d, mask):
    """Accept contact forces as those of the solution, in the lanes of the mask."""
    accept_forces_in_blocks(d, mask)
    for c in range(d.first_lone_contact, d.contact_count):
        contact = d.contact(c)
        if contact.membership == LONE:
            accept_contact_force(d, contact, mask)

"""Splitting of contacts from the equations of motion by the alternating direction method.

Each contact has velocities z of its own that obey its law. Forces f with constant slopes rho bind
them to the velocities u of the motion,

    f = f0 - rho (u - z),

so that no branch of a law enters the equations. After an increment the law is solved by itself,

    t = f0 - rho u,  f = projection of t,  z = (f - t) / rho,

with the projections of `vigym.core.contact.laws.projection_law`. The fixed points are the solutions
of that law, whatever rho is. It needs many iterations, but it does not cycle between branches.
"""

from vigym.core.compiler.kernel import inline, no_lanes, phase, two_zeros
from vigym.core.compiler.simd import absolute, maximum, where
from vigym.core.contact.laws.no_slip import is_nonholonomic
from vigym.core.contact.laws.projection_law import (
    clamp_symmetric,
    linearize_no_slip,
    project_tangential,
    projection_error,
    scale_tangents_by_friction,
    scaled_velocity,
    set_slopes,
    torsion_scale,
    zero4_outside_mask,
)
from vigym.core.contact.update import update_contact_after_increment
from vigym.core.math.vectors import select4

FASTER = 3.0  # factor on the slopes where motion and laws approach each other unevenly
UNEVEN = 5.0  # ratio of their distances above which the slopes change
PERIOD = 8  # iterations between changes of the slopes


@inline
def splitting_slopes(d, contact, rho):
    """Find the slopes (n, 1, 2, spin) of a contact's forces, ``rho`` along the normal."""
    _, _, rho_t = scale_tangents_by_friction(d, contact, contact.velocity_seen, rho)
    return rho, rho_t, rho_t, torsion_scale(d, contact, rho)


@inline
def linearize_splitting_law(d, contact, rho, prox):
    """Linearize a contact's force about the current iterate; returns the active lanes."""
    t1, t2, rho_t = scale_tangents_by_friction(d, contact, contact.velocity_seen, rho)
    contact.scaled_tangent_1 = t1
    contact.scaled_tangent_2 = t2
    if is_nonholonomic(contact):
        return linearize_no_slip(d, contact, rho / prox)
    o, active = d.full(0.0), contact.active
    rho_s = torsion_scale(d, contact, rho)
    u = scaled_velocity(contact, contact.velocity, t1, t2)
    f, z = contact.force, contact.law_velocity
    force = (
        f[0] - rho * (u[0] - z[0]),
        f[1] - rho_t * (u[1] - z[1]),
        f[2] - rho_t * (u[2] - z[2]),
        f[3] - rho_s * (u[3] - z[3]),
    )
    contact.affine_force = zero4_outside_mask(active, force)
    first = zero4_outside_mask(active, (rho, o, o, rho_t))
    second = zero4_outside_mask(active, (o, rho_t, o, rho_s))
    set_slopes(contact, first, second)
    return active


@phase(needs="contacts", otherwise=no_lanes)
def linearize_contacts_splitting(d, per_h, prox, scale):
    """Linearize the forces of the active contacts, their slopes times ``scale``."""
    loaded = d.full(False)
    for c in range(d.contact_count):
        contact = d.contact(c)
        if contact.active.any():
            rho = scale * per_h * contact.effective_mass
            loaded = loaded | linearize_splitting_law(d, contact, rho, prox)
            contact.slope_21 = contact.slope_12
    return loaded


@inline
def largest_difference(contact, a, b):
    """Find the largest difference of two forces of a contact (n, 1, 2, spin) [N]."""
    mu1, mu2 = contact.friction_along, contact.friction_across
    tangential = maximum(absolute(a[1] - b[1]), absolute(a[2] - b[2]))
    tangential = maximum(mu1, mu2) * tangential
    return maximum(absolute(a[0] - b[0]), maximum(tangential, absolute(a[3] - b[3])))


@inline
def solve_contact_law(d, contact, rho):
    """Solve a contact's law, without the equations of motion, after an increment.

    Writes forces and velocities that obey it. Returns how far the velocities of the motion are from
    them, as a force by the slopes, and how far the forces of the motion are [N].
    """
    rho_n, rho_1, rho_2, rho_s = splitting_slopes(d, contact, rho)
    f, z = contact.affine_force, contact.law_velocity
    trial = f[0] - rho_n * z[0], f[1] - rho_1 * z[1], f[2] - rho_2 * z[2], f[3] - rho_s * z[3]
    normal = where(trial[0] > 0.0, trial[0], 0.0)
    b1, b2 = project_tangential(d, (trial[1], trial[2]), normal)
    spin = clamp_symmetric(trial[3], normal)
    velocity = (
        (normal - trial[0]) / rho_n,
        (b1 - trial[1]) / rho_1,
        (b2 - trial[2]) / rho_2,
        (spin - trial[3]) / rho_s,
    )
    contact.affine_force = select4(contact.active, (normal, b1, b2, spin), f)
    contact.law_velocity = select4(contact.active, velocity, z)
    law = normal, b1, b2, spin
    return largest_difference(contact, law, contact.force), largest_difference(contact, law, f)


@phase(needs="contacts", otherwise=two_zeros)
def update_contacts_splitting(d, per_h, prox, scale):
    """Update contact forces after the increment just solved for, and solve the laws.

    Returns how far motion and laws are apart, the largest [N]: in velocities, as forces by the
    slopes without ``scale``, and in forces.
    """
    velocity_error, force_error = d.full(0.0), d.full(0.0)
    for c in range(d.contact_count):
        contact = d.contact(c)
        if contact.active.any():
            update_contact_after_increment(d, contact, per_h)
            if is_nonholonomic(contact):
                after = contact.affine_force
                off = projection_error(d, contact, after, contact.velocity_next, per_h, prox)
                aside = 0.0 * off
            else:
                aside, off = solve_contact_law(d, contact, scale * per_h * contact.effective_mass)
            velocity_error = maximum(velocity_error, where(contact.active, aside / scale, 0.0))
            force_error = maximum(force_error, where(contact.active, off, 0.0))
    return velocity_error, force_error


@phase(needs="contacts")
def start_contacts_sticking(d):
    """Clear the velocities that the laws chose, so that all contacts start as sticking ones."""
    for c in range(d.contact_count):
        d.contact(c).law_velocity = (0.0, 0.0, 0.0, 0.0)


@inline
def balance_penalty(scale, number, velocity_error, force_error):
    """Scale the slopes so that velocities and forces approach their laws evenly."""
    if number % PERIOD != PERIOD - 1:
        return scale
    stiffer = where(velocity_error > UNEVEN * force_error, FASTER * scale, scale)
    return where(force_error > UNEVEN * velocity_error, scale / FASTER, stiffer)

"""Interior-point law of a contact [SIM 3.3, 4.1]: forces and velocities stay inside their cones.

With gamma, beta the force of a contact (|beta| <= gamma), s its normal velocity and (psi, eta) the
dual of the friction cone, eta the tangential velocity times the coefficients of friction, the
conditions of contact are relaxed by kappa,

    gamma s = kappa,  gamma psi + beta . eta = kappa,  gamma eta + psi beta = 0,  s = u_n,

and kappa is brought down while Newton iterates. Linearised, duals eliminated, each contact is again
force = affine force - slopes u(increment): it enters the equations like those of
`vigym.core.contact.laws.projection_law`. An increment is cut where a force or dual would leave its
cone. Torsion keeps its projection.
"""

from vigym.core.body.correction import free_fall_acceleration
from vigym.core.compiler.kernel import inline, no_lanes, phase, zero
from vigym.core.compiler.simd import absolute, maximum, minimum, sqrt, where
from vigym.core.contact.laws.no_slip import is_nonholonomic
from vigym.core.contact.laws.projection_law import (
    Trial,
    linearize_interval_force,
    scale_tangents_by_friction,
    scaled_velocity,
    set_slopes,
    torsion_scale,
)
from vigym.core.joint.interior_limits import BOUNDARY, step_to_zero
from vigym.core.math.vectors import select3, zero3

RELAXED = 0.1  # kappa at the start, in force scales times ``free_fall_speed``
IMPACT = 0.1  # the same in impacts: part of the power that stops the mass of all bodies in a step
RESUMED = 5e-4  # the same where the last steps began with the interior point too
RESUMED_SPEED = 0.03  # part of ``free_fall_speed`` that duals start from then
TIGHT = 1e-5  # kappa at the end, in the same unit
TIGHTENED = 1e-5  # kappa where forces act at gaps, in parts of that at the end
# Such forces and gaps: parts of the weight that the contact meets, and of the length scale
MUCH_LOAD, MUCH_GAP = 0.1, 1e-5
NEARLY_NOTHING = 0.02  # part of an increment inside the cones below which kappa rises
RAISED, MOST_RAISED = 10.0, 1e8  # factor on kappa then, and the largest in parts of that at the end
CENTRED = 0.2  # factor by which kappa falls where the last increment was not cut by more than half


# --- relaxation -----------------------------------------------------------------------------------


@inline
def free_fall_speed(d, per_h):
    """Compute the velocity that a step of free fall adds [m/s], the scale of contact velocities."""
    return free_fall_acceleration(d) / per_h


@phase(needs="contacts", otherwise=zero)
def max_approach_speed(d):
    """Find the largest speed at which contacts approach [m/s]."""
    o = d.full(0.0)
    fastest = o
    for c in range(d.contact_count):
        contact = d.contact(c)
        if contact.active.any() and not is_nonholonomic(contact):
            fastest = maximum(fastest, where(contact.active, -contact.velocity[0], 0.0))
    return fastest


@inline
def relaxation_bounds(d, per_h, resumes):
    """Compute the relaxations that an attempt starts with and that it ends with [N m/s].

    It starts with more where contacts approach fast: near the boundary of their cones increments
    would be cut to nothing. A contact may have to stop the mass of all bodies, even if the touching
    bodies are light. Contact velocities are those of the present guess.
    """
    slowest = free_fall_speed(d, per_h)
    scale = d.environment.force_scale * slowest
    fastest = max_approach_speed(d)
    if resumes:
        d.environment.impact_speed = RESUMED_SPEED * slowest
        return RESUMED * scale, TIGHT * scale
    d.environment.impact_speed = maximum(fastest, slowest)
    hardest = d.environment.force_scale * fastest * fastest / slowest
    return maximum(RELAXED * scale, IMPACT * hardest), TIGHT * scale


@inline
def tightened_relaxation(d, per_h):
    """Compute the relaxation with which forces at gaps are solved again [N m/s]."""
    return TIGHTENED * TIGHT * d.environment.force_scale * free_fall_speed(d, per_h)


@phase(needs="contacts", otherwise=no_lanes)
def find_lanes_of_forces_at_gaps(d, h):
    """Find the lanes in which the relaxation holds up a body that is above the ground.

    The force of a contact is a good part of the weight that it meets there, and its gap is open: a
    light limb of a heavy body would float. ``h`` is the step [s].
    """
    found = d.full(False)
    acceleration = MUCH_LOAD * free_fall_acceleration(d)
    rate = MUCH_GAP * d.environment.length_scale / absolute(h)
    for c in range(d.contact_count):
        contact = d.contact(c)
        if contact.active.any() and not is_nonholonomic(contact):
            loaded = contact.force[0] > acceleration * contact.effective_mass
            open_gap = contact.dual[0] > rate
            found = found | contact.active & loaded & open_gap
    return found


@inline
def adapt_relaxation(kappa, step_length, part_inside, tight):
    """Compute the relaxation of the next iteration, after an increment of this step length.

    It rises where nearly nothing of the increment stays inside the cones: away from their boundary.
    """
    next_kappa = where(step_length > 0.5, maximum(tight, CENTRED * kappa), kappa)
    raised = where(MOST_RAISED * tight > kappa, RAISED * kappa, kappa)
    return where(part_inside < NEARLY_NOTHING, raised, next_kappa)


# --- the law --------------------------------------------------------------------------------------


@inline
def choose_first_iterate(f, u, s, psi, kappa, speed, least_force):
    """Choose force and duals inside their cones: (force, s, psi).

    At the first iteration (s = 0) the force is not less than ``least_force`` [N], to be away from
    the boundary of its cone, and without friction.
    """
    moving = u[1] * u[1] + u[2] * u[2]
    gamma = where(s > 0.0, f[0], where(f[0] > least_force, f[0], least_force))
    least = kappa / gamma
    psi_kept = maximum(psi, sqrt(moving + least * least))
    psi_new = where(s > 0.0, psi_kept, sqrt(moving + speed * speed))
    s_new = where(s > 0.0, s, where(u[0] > speed, u[0], speed))
    return (gamma, where(s > 0.0, f[1], 0.0), where(s > 0.0, f[2], 0.0)), s_new, psi_new


@inline
def linearize_relaxed_complementarity(f, u, s, psi, kappa):
    """Linearize the relaxed conditions, duals eliminated.

    Returns (force at zero increment, its slopes (nn, 1n, 2n, 11, 12, 21, 22), psi: (at zero
    increment, its slopes by n, 1 and 2)).
    """
    gamma, b1, b2 = f
    e1, e2 = u[1], u[2]
    g0 = (kappa - gamma * u[0]) / s
    a = gamma / s
    r0 = kappa - (gamma * psi + b1 * e1 + b2 * e2)
    r1 = -(gamma * e1 + psi * b1)
    r2 = -(gamma * e2 + psi * b2)
    per = 1.0 / psi
    per_d = 1.0 / (gamma - per * (e1 * b1 + e2 * b2))
    p0 = (r0 - per * (e1 * r1 + e2 * r2)) * per_d
    pg = (per * (e1 * e1 + e2 * e2) - psi) * per_d
    p1 = (per * gamma * e1 - b1) * per_d
    p2 = (per * gamma * e2 - b2) * per_d
    d1 = per * (e1 + b1 * pg)  # of beta by minus the change of gamma
    d2 = per * (e2 + b2 * pg)
    force = (gamma + g0, b1 + per * (r1 - b1 * p0) - d1 * g0, b2 + per * (r2 - b2 * p0) - d2 * g0)
    k11 = per * (gamma + b1 * p1)
    k12 = per * b1 * p2
    k21 = per * b2 * p1
    k22 = per * (gamma + b2 * p2)
    slopes = a, -d1 * a, -d2 * a, k11, k12, k21, k22
    return force, slopes, (psi + p0 + pg * g0, -pg * a, p1, p2)


@inline
def set_interior_force(d, contact, force, slopes, torsion):
    """Set force at zero increment and slopes of an active contact, zeros of an inactive one.

    ``torsion`` is (torque at zero increment, slopes sn and ss).
    """
    active = contact.active
    none = zero3(d)
    f = select3(active, force, none)
    gs, ksn, kss = select3(active, torsion, none)
    contact.affine_force = (f[0], f[1], f[2], gs)
    nn, n1, n2, k11, k12, k21, k22 = slopes
    nn, n1, n2 = select3(active, (nn, n1, n2), none)
    k11, k12, k22 = select3(active, (k11, k12, k22), none)
    set_slopes(contact, (nn, n1, n2, k11), (k12, k22, ksn, kss))
    contact.slope_21 = where(active, k21, none[0])


@inline
def linearize_interior_law(d, contact, per_h, kappa, speed, prox, lanes, resumes):
    """Linearize a contact's force about the current iterate; returns the active lanes.

    Its force and duals are moved into their cones in the ``lanes`` that are being solved. In a
    solved lane they are its solution, which may lie outside by rounding, and are kept.

    An attempt from afar starts with a product of force and velocity that is kappa at least, and the
    same at contacts that approach slowly. One that ``resumes`` starts with small forces.
    """
    active = contact.active
    o = d.full(0.0)
    rho = per_h * contact.effective_mass
    t1, t2, _ = scale_tangents_by_friction(d, contact, contact.velocity, rho)
    contact.scaled_tangent_1 = t1
    contact.scaled_tangent_2 = t2
    u = scaled_velocity(contact, contact.velocity, t1, t2)
    last, dual = contact.force, contact.dual
    least = rho * speed if resumes else kappa / speed
    f, s, psi = choose_first_iterate(last, u, dual[0], dual[1], kappa, speed, least)
    force = select3(active & lanes, f, (last[0], last[1], last[2]))
    contact.force = (force[0], force[1], force[2], last[3])
    s_next, psi_next = where(active, s, 0.0), where(active, psi, 0.0)
    contact.dual = (where(lanes, s_next, dual[0]), where(lanes, psi_next, dual[1]))
    force, slopes, dual_slopes = linearize_relaxed_complementarity(f, u, s, psi, kappa)
    contact.dual_slopes = dual_slopes
    torsion = o, o, o
    if contact.has_torsion > 0:
        rho_s = torsion_scale(d, contact, rho)
        anchor = contact.anchor_force
        z = (1.0 - prox) * last[3] + prox * anchor[3] - rho_s * u[3]
        trial = Trial(last, anchor, u, u, f[0], f[0], 0.0 * rho, prox)
        torsion = linearize_interval_force(d, trial, anchor[3], u[3], z, rho_s / prox)
    set_interior_force(d, contact, force, slopes, torsion)
    return active


# --- after an increment ---------------------------------------------------------------------------


@inline
def step_to_cone_boundary(x, dx):
    """Compute how far from x along dx the second-order cone goes on, at most one.

    It ends where |x1 + s dx1| = x0 + s dx0 first. The root is real for every x inside the cone; for
    dx along x it is zero but for rounding.
    """
    a = dx[0] * dx[0] - (dx[1] * dx[1] + dx[2] * dx[2])
    b = x[0] * dx[0] - (x[1] * dx[1] + x[2] * dx[2])
    c = x[0] * x[0] - (x[1] * x[1] + x[2] * x[2])
    root = b * b - a * c
    per = sqrt(where(root > 0.0, root, 0.0)) - b
    ends = where(per > c, c / where(per > 0.0, per, 1.0), 1.0)
    return where(ends > 0.0, ends, 0.0)


@inline
def interior_law_error(contact, velocity, per_h, kappa, speed):
    """Compute how far force and duals are from the relaxed conditions [N]."""
    f, u = contact.force, velocity
    s, psi = contact.dual
    rho = per_h * contact.effective_mass
    product = absolute(f[0] * psi + f[1] * u[1] + f[2] * u[2] - kappa)
    off = maximum(absolute(f[0] * s - kappa), product)
    aside = maximum(absolute(f[0] * u[1] + psi * f[1]), absolute(f[0] * u[2] + psi * f[2]))
    return maximum(off, aside) / speed + rho * absolute(s - u[0])


@inline
def update_interior_duals(contact, change, per_h, kappa, speed):
    """Update the duals after an increment that changes the velocities (n, 1, 2) by ``change``.

    Returns (part of the increment that may be taken, how far the law is off [N]).
    """
    f, g = contact.force, contact.affine_force
    s, psi = contact.dual
    slopes = contact.dual_slopes
    t1, t2 = contact.scaled_tangent_1, contact.scaled_tangent_2
    now = scaled_velocity(contact, contact.velocity, t1, t2)
    later = scaled_velocity(contact, contact.velocity_next, t1, t2)
    psi_later = slopes[0] + slopes[1] * change[0] + slopes[2] * change[1] + slopes[3] * change[2]
    contact.dual_next = (later[0], psi_later)
    step_length = step_to_zero(s, later[0] - s)
    primal = step_to_cone_boundary((f[0], f[1], f[2]), (g[0] - f[0], g[1] - f[1], g[2] - f[2]))
    eta = later[1] - now[1], later[2] - now[2]
    dual = step_to_cone_boundary((psi, now[1], now[2]), (psi_later - psi, eta[0], eta[1]))
    step_length = minimum(step_length, primal)
    step_length = minimum(step_length, dual)
    return BOUNDARY * step_length, interior_law_error(contact, now, per_h, kappa, speed)

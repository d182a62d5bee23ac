"""Projection law of contacts: complementarity and friction, solved by semi-smooth Newton.

A contact has the force gamma along the normal and mu_k beta_k along the tangents, and resists spin
with sigma:

    0 <= gamma _|_ u_n >= 0,  beta in the disc |beta| <= gamma that dissipates most,
    |sigma| <= mu_s gamma,

solved by semi-smooth Newton on the projections of Alart and Curnier, with a proximal term whose
anchor f0 is the last step's force (redundant contacts have one solution then;
`vigym.core.contact.active_set.reanchor_contacts` moves it on where a body sinks; d = prox):

    z = (1 - d) f + d f0 - rho u,  gamma = max(z_n, 0),  beta = z_t in the disc of gamma, else on
    its rim.

A Newton increment turns each into force = affine force - slopes u(increment): open, stick and slip
are three closed forms that lanes select from. Its 3x3 slopes enter the block between the wrenches
at knot 2 and the motions at knot 3: a contact is a leaf of the graph, eliminated before its body
[SIM 4.1].
"""

from typing import Any, NamedTuple

from vigym.core.compiler.kernel import inline
from vigym.core.compiler.simd import absolute, maximum, sqrt, where
from vigym.core.contact.laws.no_slip import is_nonholonomic
from vigym.core.math.vectors import add, dot, scale

# turns of a contact between open and slipping, and between sticking and slipping, that are no cycle
OPEN, STICKING = 0.0, 1.0  # branches of the law
SLIPPING = 2.0
OPEN_TURNS, SLIP_TURNS = 1.5, 3.5
TINY_FRICTION = 1e-3  # coefficient of friction below which the tangential scale does not follow it


class Trial(NamedTuple):
    """Forces and velocities of a contact by which its law chooses between open, stick and slip.

    Attributes:
        force: force as it is, (n, 1, 2, spin).
        anchor: force that the proximal term starts from.
        velocity: velocity at zero increment, (n, 1, 2, spin).
        seen: velocity that chooses.
        radius: normal force that chooses: radius of the friction disc.
        normal_force: normal force at zero increment.
        rho: scale of forces by velocities, along the normal.
        prox: weight of the proximal term.
    """

    force: Any
    anchor: Any
    velocity: Any
    seen: Any
    radius: Any
    normal_force: Any
    rho: Any
    prox: Any


# --- projections ----------------------------------------------------------------------------------


@inline
def disc_projection_terms(d, z, r):
    """Compute the terms by which a vector z is projected on the disc of radius r.

    Returns (direction of z, whether it is outside of the disc, r over its length).
    """
    length = sqrt(z[0] * z[0] + z[1] * z[1])
    per_length = 1.0 / where(length > 0.0, length, 1.0)
    return (per_length * z[0], per_length * z[1]), length > r, r * per_length


@inline
def clamp_symmetric(z, r):
    """Clamp a number to [-r, r]."""
    return where(z > r, r, where(-z > r, -r, z))


@inline
def project_tangential(d, z, r):
    """Project z on the friction disc of radius r, or on the square of the four-sided cone."""
    if d.pyramid > 0:
        return clamp_symmetric(z[0], r), clamp_symmetric(z[1], r)
    direction, outside, _ = disc_projection_terms(d, z, r)
    return where(outside, r * direction[0], z[0]), where(outside, r * direction[1], z[1])


# --- laws of an active contact --------------------------------------------------------------------


@inline
def choose_third_branch(d, contact, z, radius, loaded):
    """Choose the third branch of contacts that change between two branches at each iteration.

    The branches are open, stick and slip. Where friction pushes a slipping contact into the ground
    the slipping force pulls, and the open contact falls: the solution is sticking [Painleve's
    paradox; Stewart and Trinkle 1996]. Where sticking takes more than friction gives, and the
    slipping contact moves the other way, the solution is open.

    Returns (lanes in which it sticks, lanes in which it opens).
    """
    _, outside, _ = disc_projection_terms(d, z, radius)
    branch = where(loaded, where(outside, SLIPPING, STICKING), OPEN)
    change = absolute(branch - contact.branch)
    turns = contact.branch_turns + where(change > 1.5, 1.0, 0.0)
    sticks = loaded & outside & (turns > OPEN_TURNS)
    between = (branch > OPEN) & (contact.branch > OPEN)
    slip_turns = contact.slip_turns + where(between & (change > 0.5), 1.0, 0.0)
    opens = slip_turns > SLIP_TURNS
    branch = where(opens, OPEN, where(sticks, STICKING, branch))
    # Lanes where the contact is inactive keep theirs: of a single robot it would be skipped.
    active = contact.active
    contact.branch_turns = where(active, where(sticks, 0.0, turns), contact.branch_turns)
    contact.slip_turns = where(active, where(opens, 0.0, slip_turns), contact.slip_turns)
    contact.branch = where(active, branch, contact.branch)
    return sticks, opens


@inline
def linearize_disc_friction(d, trial, z, rho_t, sticks):
    """Linearize friction on the true cone, z being its tangential forces before projection.

    In the lanes ``sticks`` it sticks whatever z is. Returns tangential forces at zero increment and
    their slopes (g1, g2, k1n, k2n, k11, k12, k22).
    """
    f, f0 = trial.force, trial.anchor
    u, seen = trial.velocity, trial.seen
    rho, prox = trial.rho, trial.prox
    normal_force = trial.normal_force
    way, slips, a = disc_projection_terms(d, z, trial.radius)
    slips = slips & ~sticks
    per_prox = 1.0 / prox
    per = rho_t * per_prox
    keep = 1.0 - prox
    aside = way[0] * f[2] - way[1] * f[1]  # of the present force along (-way_2, way_1)
    drift = way[0] * (seen[2] - u[2]) - way[1] * (seen[1] - u[1])
    along = a / (1.0 - a * keep)
    back, side = along * keep, along * rho_t
    aside = back * aside - side * drift
    g1 = where(slips, normal_force * way[0] + aside * way[1], f0[1] - per * u[1])
    g2 = where(slips, normal_force * way[1] - aside * way[0], f0[2] - per * u[2])
    k1n = where(slips, rho * per_prox * way[0], 0.0)
    k2n = where(slips, rho * per_prox * way[1], 0.0)
    k11 = where(slips, side * way[1] * way[1], per)
    k12 = where(slips, -side * way[0] * way[1], 0.0)
    k22 = where(slips, side * way[0] * way[0], per)
    return g1, g2, k1n, k2n, k11, k12, k22


@inline
def linearize_interval_force(d, trial, anchor, velocity, z, per):
    """Linearize one force that is limited to [-radius, radius]; z is the force before projection.

    ``anchor`` and ``velocity`` are its own elements of the trial's, ``per`` its slope that sticks.
    Returns (force at zero increment, slope by the normal velocity, slope by its own velocity).
    """
    slips = absolute(z) > trial.radius
    sign = where(z > 0.0, 1.0, -1.0)
    return (
        where(slips, sign * trial.normal_force, anchor - per * velocity),
        where(slips, trial.rho / trial.prox * sign, 0.0),
        where(slips, 0.0, per),
    )


@inline
def linearize_pyramid_friction(d, trial, z, rho_t):
    """Linearize friction on the four-sided cone: two independent friction components.

    Returns (g1, g2, k1n, k2n, k11, k12, k22) like ``linearize_disc_friction`` [SIM 3.4].
    """
    f0, u = trial.anchor, trial.velocity
    g1, k1n, k11 = linearize_interval_force(d, trial, f0[1], u[1], z[0], rho_t / trial.prox)
    g2, k2n, k22 = linearize_interval_force(d, trial, f0[2], u[2], z[1], rho_t / trial.prox)
    return g1, g2, k1n, k2n, k11, d.full(0.0), k22


# --- scales and velocities of a contact -----------------------------------------------------------


@inline
def extract_point_velocity(velocity):
    """Take the velocity of the touching point [world] out of a contact's velocity."""
    return velocity[1], velocity[2], velocity[3]


@inline
def scale_tangents_by_friction(d, contact, velocity, rho):
    """Scale the tangents with the coefficients of friction; forwards may be unlike backwards.

    Returns (scaled tangent 1, scaled tangent 2, tangential rho). ``velocity`` has the direction of
    slip.
    """
    t1 = contact.tangent_1
    t2 = contact.tangent_2
    if is_nonholonomic(contact):
        return t1, t2, rho
    force = contact.force
    f1 = force[1] + force[2] if d.pyramid > 0 else force[1]
    driving = f1 - rho * dot(t1, extract_point_velocity(velocity))
    # driven forwards: slips backwards
    mu1 = where(driving > 0.0, contact.friction_backward, contact.friction_along)
    mu2 = contact.friction_across
    t1 = scale(mu1, t1)
    t2 = scale(mu2, t2)
    mu = maximum(mu1, mu2)
    if d.pyramid > 0:
        t1, t2 = scale(0.5, add(t1, t2)), scale(0.5, add(t1, scale(-1.0, t2)))
    mu = maximum(mu, TINY_FRICTION)
    return t1, t2, rho / (mu * mu)


@inline
def scaled_velocity(contact, velocity, tangent_1, tangent_2):
    """Compute (u_n, u_1, u_2, u_s) of a contact's velocity, from its scaled tangents."""
    motion = extract_point_velocity(velocity)
    spin = contact.torsional_friction * velocity[4]
    return velocity[0], dot(tangent_1, motion), dot(tangent_2, motion), spin


@inline
def torsion_scale(d, contact, rho):
    """Compute the scale of torques about the normal: the scale of forces at the length scale."""
    mu = contact.torsional_friction
    length = d.environment.length_scale
    return where(mu > 0.0, rho * length * length / where(mu > 0.0, mu * mu, 1.0), rho)


@inline
def law_scales(contact, per_h, prox):
    """Find (scale of forces by velocities, proximal part) with which a contact's law chooses.

    A sticking contact is as stiff as their ratio, which the factor does not change.
    """
    factor = contact.law_scale
    return factor * per_h * contact.effective_mass, factor * prox


# --- a contact in a Newton iteration --------------------------------------------------------------


@inline
def zero4_outside_mask(mask, a):
    """Keep four values in the lanes of the mask; elsewhere zeros."""
    return (
        where(mask, a[0], 0.0),
        where(mask, a[1], 0.0),
        where(mask, a[2], 0.0),
        where(mask, a[3], 0.0),
    )


@inline
def set_slopes(contact, first, second):
    """Set the slopes (nn, 1n, 2n, 11) and (12, 22, sn, ss) of a contact's force."""
    contact.slope_nn = first[0]
    contact.slope_1n = first[1]
    contact.slope_2n = first[2]
    contact.slope_11 = first[3]
    contact.slope_12 = second[0]
    contact.slope_22 = second[1]
    contact.slope_sn = second[2]
    contact.slope_ss = second[3]


@inline
def force_before_projection(d, contact, force, velocity, rho, rho_t, prox):
    """Compute the force (n, 1, 2, spin) that a law projects, at a velocity (n, 1, 2, spin)."""
    keep, anchor = 1.0 - prox, contact.anchor_force
    spin = d.full(0.0)
    if contact.has_torsion > 0:
        rho_s = torsion_scale(d, contact, rho)
        spin = keep * force[3] + prox * anchor[3] - rho_s * velocity[3]
    return (
        keep * force[0] + prox * anchor[0] - rho * velocity[0],
        keep * force[1] + prox * anchor[1] - rho_t * velocity[1],
        keep * force[2] + prox * anchor[2] - rho_t * velocity[2],
        spin,
    )


@inline
def distance_from_projection(d, contact, force, z):
    """Compute how far a force is from the projection of z, both (n, 1, 2, spin) [N]."""
    r = where(z[0] > 0.0, z[0], 0.0)
    g1, g2 = project_tangential(d, (z[1], z[2]), r)
    mu1, mu2 = contact.friction_along, contact.friction_across
    mu = maximum(mu1, mu2)
    tangential = mu * maximum(absolute(force[1] - g1), absolute(force[2] - g2))
    distance = maximum(absolute(force[0] - r), tangential)
    if contact.has_torsion > 0:
        distance = maximum(distance, absolute(force[3] - clamp_symmetric(z[3], r)))
    return distance


@inline
def linearize_no_slip(d, contact, per):
    """Linearize a skate or wheel. Its force has no bound: the present force is its anchor."""
    o, active = d.full(0.0), contact.active
    f = contact.force
    velocity = contact.velocity
    held = (o, f[1] - per * velocity[1], f[2] - per * velocity[2], o)
    contact.affine_force = zero4_outside_mask(active, held)
    per = where(active, per, 0.0)
    set_slopes(contact, (o, o, o, per), (o, per, o, o))
    return active


@inline
def linearize_projection_law(d, contact, per_h, prox, breaks_cycles):
    """Linearize a contact's force about the current iterate.

    With ``breaks_cycles`` contacts that turn between two branches take the third. Returns (lanes in
    which it is loaded, distance of its present force from the law [N], zero of skates and wheels).
    """
    rho, prox = law_scales(contact, per_h, prox)
    t1, t2, rho_t = scale_tangents_by_friction(d, contact, contact.velocity_seen, rho)
    contact.scaled_tangent_1 = t1
    contact.scaled_tangent_2 = t2
    if is_nonholonomic(contact):
        return linearize_no_slip(d, contact, rho / prox), d.full(0.0)
    u = scaled_velocity(contact, contact.velocity, t1, t2)
    seen = scaled_velocity(contact, contact.velocity_seen, t1, t2)
    f, f0 = contact.force, contact.anchor_force
    o = d.full(0.0)
    z = force_before_projection(d, contact, f, seen, rho, rho_t, prox)
    loaded = (z[0] > 0.0) & contact.active
    aside = z[1], z[2]
    normal_force = f0[0] - rho / prox * u[0]
    trial = Trial(f, f0, u, seen, z[0], normal_force, rho, prox)
    if d.pyramid > 0:
        g1, g2, k1n, k2n, k11, k12, k22 = linearize_pyramid_friction(d, trial, aside, rho_t)
    else:
        sticks = d.full(False)
        if breaks_cycles:
            sticks, opens = choose_third_branch(d, contact, aside, z[0], loaded)
            loaded = loaded & ~opens
        g1, g2, k1n, k2n, k11, k12, k22 = linearize_disc_friction(d, trial, aside, rho_t, sticks)
    torsion = o, o, o
    if contact.has_torsion > 0:
        per = torsion_scale(d, contact, rho) / prox
        torsion = linearize_interval_force(d, trial, f0[3], u[3], z[3], per)
    gs, ksn, kss = torsion
    contact.affine_force = zero4_outside_mask(loaded, (normal_force, g1, g2, gs))
    first = zero4_outside_mask(loaded, (rho / prox, k1n, k2n, k11))
    second = zero4_outside_mask(loaded, (k12, k22, ksn, kss))
    set_slopes(contact, first, second)
    return loaded, distance_from_projection(d, contact, f, z)


@inline
def projection_error(d, contact, force, velocity, per_h, prox):
    """Compute how far a force is from its projection, given the velocity that it leads to [N].

    A slip of a skate or wheel counts like the gap of a joint, by its displacement over the length
    scale. Wheels on one axle contradict each other by the gaps of their joints.
    """
    rho, prox = law_scales(contact, per_h, prox)
    t1, t2, rho_t = scale_tangents_by_friction(d, contact, velocity, rho)
    if is_nonholonomic(contact):
        slip = maximum(absolute(velocity[1]), absolute(velocity[2]))
        environment = d.environment
        return environment.force_scale / (environment.length_scale * per_h) * slip
    u = scaled_velocity(contact, velocity, t1, t2)
    z = force_before_projection(d, contact, force, u, rho, rho_t, prox)
    return distance_from_projection(d, contact, force, z)

"""Rebounds by Newton's law of restitution, and the energy that they may give.

A contact that lands in one step rebounds in the next, with a part of the speed at which bodies
approached in the step before the landing. Where the rebound of another contact throws a body
against the next one within a step, that speed is too low. It follows from the energy that the
landing took, for two bodies with the relative mass m

    m/2 (approach^2 - velocity after the landing^2).

No landing takes more than the remaining energy of rebounds, so that a row of balls keeps its
energy.
"""

from vigym.core.body.pose import inertia_matrix
from vigym.core.compiler.kernel import inline, no_lanes, phase, zero
from vigym.core.compiler.simd import maximum, minimum, sqrt, where
from vigym.core.contact.kinematics import touching_velocity
from vigym.core.contact.segment_box import is_pair
from vigym.core.math.vectors import (
    add,
    cross,
    dot,
    lu_factors,
    mat_t_vec,
    solve_lower,
    solve_upper,
)
from vigym.core.tables.plan import SKATE

RESTING = 2.0  # steps of free fall: a slower approach does not rebound
REBOUND_GAIN = 1e-3  # part of the energy of landings by which rebounds may exceed it
LEAST_REBOUND_GAIN = 1e-6  # surplus in any case, in force times length scales


@phase(needs="contacts", otherwise=no_lanes)
def find_lanes_that_rebound(d):
    """Find the lanes in which a contact rebounds in this step."""
    rebounds = d.full(0.0)
    for c in range(d.contact_count):
        rebounds = maximum(rebounds, d.contact(c).rebound_velocity)
    return rebounds > 0.0


@phase(needs="contacts", otherwise=zero)
def scale_rebounds(d, lanes, share):
    """Scale the rebounds of some lanes; returns zero."""
    for c in range(d.contact_count):
        contact = d.contact(c)
        rebound = contact.rebound_velocity
        contact.rebound_velocity = where(lanes, share * rebound, rebound)
    return d.full(0.0)


@inline
def energy_allowed_to_rebounds(d, more):
    """Find the energy that rebounds of this step may give; ``more`` in force times length [J]."""
    environment = d.environment
    scale = environment.force_scale * environment.length_scale
    return (1.0 + REBOUND_GAIN) * environment.rebound_energy + more * scale


@inline
def energy_left_to_rebounds(d, lost):
    """Find the energy that rebounds of the next step may give at most [J].

    Where a rebound hits another body, the landing there took the surplus energy of this rebound.
    ``lost`` is the energy that all contacts took in this step.
    """
    return maximum(d.environment.rebound_energy + lost, 0.0)


@inline
def store_rebound_energy(d, weight, most, mask):
    """Write the energy that rebounds of the next step may give: the losses of their landings.

    It is ``most`` at most [J]. Contacts act for the time ``weight``.
    """
    environment, o = d.environment, d.full(0.0)
    taken = o
    for c in range(d.contact_count):
        contact = d.contact(c)
        if contact.kind < SKATE:
            taken = taken + where(contact.rebound_velocity > 0.0, contact.power, 0.0)
    taken = weight * taken
    taken = maximum(minimum(taken, most), 0.0)
    environment.rebound_energy = where(mask, taken, environment.rebound_energy)


@inline
def store_rebound(contact, slow, half_fall, mask):
    """Write the velocity of a rebound.

    An approach with less than ``slow`` [m/s] does not rebound. The velocity of approach is that in
    the middle of the last step. After a reset it is known half a step later, after a fall:
    ``half_fall``, zero in other steps, is the change of velocity by the fall [m/s, world].
    """
    force, before = contact.converged_force[0], contact.approach
    if not is_pair(contact):
        before = before - dot(half_fall, contact.normal2)
    lands = (force > 0.0) & (-before > slow) & ~(contact.last_force[0] > 0.0)
    rebound = where(lands, -before * contact.restitution, 0.0)
    contact.rebound_velocity = where(mask, rebound, contact.rebound_velocity)


@inline
def find_lanes_that_land(d, contact):
    """Find the lanes in which a contact has a force, but had none in the step before."""
    return (contact.converged_force[0] > 0.0) & ~(contact.last_force[0] > 0.0)


@inline
def find_lanes_of_landings(d):
    """Find the lanes in which any contact lands in this step."""
    lands = d.full(False)
    for c in range(d.contact_count):
        contact = d.contact(c)
        if contact.kind < SKATE:
            lands = lands | find_lanes_that_land(d, contact)
    return lands


@inline
def power_of_landings(d):
    """Sum the powers that landing contacts take [W]."""
    o = d.full(0.0)
    power = o
    for c in range(d.contact_count):
        contact = d.contact(c)
        if contact.kind < SKATE:
            own = maximum(contact.power, 0.0)
            power = power + where(find_lanes_that_land(d, contact), own, 0.0)
    return power


@inline
def mobility_of_body(d, i, arm, normal, knot):
    """Find the velocity along a normal by a unit impulse at a point of a body, as if free [1/kg].

    ``arm`` is from the centre of mass to the point.
    """
    body = d.body(i)
    turn = mat_t_vec(d.pose(knot, i).rotation, cross(arm, normal))
    factors = lu_factors(inertia_matrix(body))
    return 1.0 / body.mass + dot(turn, solve_upper(factors, solve_lower(factors, turn)))


@inline
def mobility_along_normal(d, contact, knot):
    """Find the velocity of a contact by a unit impulse, as if its bodies were free [1/kg]."""
    normal = contact.normal2
    arm = add(contact.arm2, d.pose(knot, contact.body).arm)
    mobility = mobility_of_body(d, contact.body, arm, normal, knot)
    if is_pair(contact) and contact.partner > 0:
        arm = add(contact.partner_arm2, d.pose(knot, contact.partner).arm)
        mobility = mobility + mobility_of_body(d, contact.partner, arm, normal, knot)
    return mobility


@phase(needs="contacts")
def raise_approaches(d, knot2, knot3, slow, weight, most):
    """Raise the speeds of approach of contacts that land by the rebounds of others.

    They follow from the energy that the landings took, ``most`` in all [J]. Only speeds that are
    higher by ``slow`` [m/s] count. Contacts act for the time ``weight``.
    """
    lanes = d.environment.rebound_energy > 0.0
    if not lanes.any():
        return
    power = power_of_landings(d)
    lanes = lanes & (power > 0.0)
    taken = weight * power
    share = minimum(taken, most) / where(lanes, power, 1.0)
    for c in range(d.contact_count):
        contact = d.contact(c)
        if contact.kind < SKATE:
            hit = lanes & find_lanes_that_land(d, contact)
            if hit.any():
                after, _, _ = touching_velocity(d, contact, knot2, knot3)
                energy = share * maximum(contact.power, 0.0)
                square = 2.0 * energy * mobility_along_normal(d, contact, knot2)
                speed = sqrt(after * after + square)
                hit = hit & (speed > slow - contact.approach)
                contact.approach = where(hit, -speed, contact.approach)

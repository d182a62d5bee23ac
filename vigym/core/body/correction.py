"""Bounds of the correction in one step of bodies beyond a limit or below the ground.

Bodies that cannot be led back are held, see `vigym.core.contact.held`.
"""

from vigym.core.compiler.kernel import inline, phase
from vigym.core.compiler.simd import absolute, maximum, minimum, sqrt, where
from vigym.core.math.vectors import dot
from vigym.core.tables.plan import ALIGNED, PAIR_BALL_CONTACT

MAX_CORRECTION = 1e-6  # [m or rad] most by which a step leads back
SHALLOW = 1e-5  # [m] depth of a body up to which each of its contacts is led back by itself


@inline
def free_fall_acceleration(d):
    """Compute the acceleration of free fall [m/s^2], one without gravity."""
    gravity = d.environment.gravity
    g = sqrt(dot(gravity, gravity))
    return where(g > 0.0, g, 1.0)


@inline
def least_end_distance(d, distance, h, lever):
    """Find the least distance from a bound that a step must end with, from that at its start.

    It is zero, or, if the bound is violated already, the violation less the correction. The
    correction gives bodies at most the speed of a fall as deep as the violation, or as
    `MAX_CORRECTION`: otherwise they would fly off in tiny steps. Angles are measured at a ``lever``
    [m], which is one for distances.
    """
    end = d.full(0.0)
    if (distance < 0.0).any():
        depth = absolute(distance)
        depth = minimum(depth, MAX_CORRECTION)
        fall = free_fall_acceleration(d) * (h * h) / lever
        back = sqrt(2.0 * fall * depth)
        back = minimum(back, MAX_CORRECTION)
        end = distance + d.environment.leads_back * back
    return where(end > 0.0, 0.0, end)


@inline
def find_gap_target(d, contact, gap, h):
    """Find the gap that a contact is to end with, ``gap`` being that at knot 2 [m].

    A rebounding contact is not corrected as well, as this would add energy.
    """
    least = least_end_distance(d, gap, h, d.full(1.0))
    rebound = contact.rebound_velocity
    return where(rebound > 0.0, maximum(h * rebound + where(gap > 0.0, 0.0, gap), least), least)


@inline
def gap_of_deepest_contact(d, contact, gap):
    """Return the gap that holds a contact; on the ground that of its body's deepest contact.

    A body that starts below the ground is held at its largest depth, not at that of each contact.
    """
    if contact.kind >= PAIR_BALL_CONTACT:
        return gap
    depth = d.body(contact.body).depth
    return where(gap + depth > 0.0, -depth, gap)


@inline
def add_depth(d, contact):
    """Take an active contact's depth below the ground as that of its body, if it is the deepest."""
    if contact.kind < PAIR_BALL_CONTACT:
        body = d.body(contact.body)
        depth = -contact.gap2 - SHALLOW
        body.depth = maximum(body.depth, where(contact.active, depth, 0.0))


@inline
def set_gap_target(d, contact, h):
    """Set the gap that a contact with the ground is to end with."""
    if contact.kind < PAIR_BALL_CONTACT:
        contact.gap_target = find_gap_target(
            d, contact, gap_of_deepest_contact(d, contact, contact.gap2), h
        )


@phase(needs="contacts")
def set_depths(d):
    """Write how deep the contacts of each body are below the ground."""
    w = d.wide
    for block in range(w.block_count):
        body = w.body(block)
        body.depth = 0.0
    for block in range(d.aligned_block_count):
        add_depth(w, w.aligned_contact(block))
    for c in range(d.first_unaligned_contact, d.contact_count):
        contact = d.contact(c)
        if contact.membership < ALIGNED:
            add_depth(d, contact)


@phase(needs="contacts")
def set_gap_targets(d, h):
    """Set the gaps that contacts with the ground are to end with, by the depths of their bodies."""
    set_depths(d)
    w = d.wide
    wide_h = w.full(h)
    for block in range(d.aligned_block_count):
        set_gap_target(w, w.aligned_contact(block), wide_h)
    for c in range(d.first_unaligned_contact, d.contact_count):
        contact = d.contact(c)
        if contact.membership < ALIGNED:
            set_gap_target(d, contact, h)

"""Bounds of what a step takes back where bodies are beyond a limit or below the ground.

What is in the way may keep bodies from being led back: a limit, another contact, a joint that does
not move that way. A step has no solution then, and is made anew with the bodies held where they
are. So are the next 1, 3, 7 steps, up to 31, or 3 where they slide, until they are led back again.
"""

import math

from vigym.core.compiler.kernel import inline, phase, zero
from vigym.core.compiler.lanes import above, any_lane, both, but_not
from vigym.core.compiler.simd import absolute, maximum, where
from vigym.core.math.vectors import dot
from vigym.core.model.tables.plan import SKATE

MAX_CORRECTION = 1e-6  # [m or rad] by which a step at most leads back
# Steps that hold bodies where they are until they are led back again, of those that slide too
MOST_HELD_STEPS, MOST_SLIDING_STEPS = 31.0, 3.0


@inline
def free_fall_acceleration(d):
    """Compute the acceleration of free fall [m/s^2], one without gravity."""
    gravity = d.environment.gravity
    g = math.sqrt(dot(gravity, gravity))
    return where(g, g, d.full(1.0))


@inline
def least_end_distance(d, distance, h, lever):
    """Find the least distance from a bound that a step must end with, from that at its start.

    It is zero, or where the bound is violated already, the violation less what is taken back. That
    gives bodies no more speed than a fall as deep as the violation: in tiny steps they would fly
    off. Angles are measured at a ``lever`` [m], which is one for distances.
    """
    end = d.full(0.0)
    if any_lane(-distance):
        fall = free_fall_acceleration(d) * (h * h) / lever
        most = math.sqrt(2.0 * fall * absolute(distance))
        back = where(most - MAX_CORRECTION, d.full(MAX_CORRECTION), most)
        end = distance + d.environment.leads_back * back
    return where(end, d.full(0.0), end)


@inline
def set_share_led_back(d, share):
    """Set by which share bodies are led back; lanes of zero hold them."""
    wide = d.wide.environment  # rows side by side in lanes read it, too
    wide.leads_back = d.wide.full(share)


@inline
def start_leading_back(d, part):
    """Choose the lanes in which a step leads bodies back: not those that are held yet.

    A part of a step leads back by its share.
    """
    set_share_led_back(d, but_not(d.full(part), above(d.environment.held_steps, d.full(0.0))))


@phase
def find_lanes_beyond_bounds(d):
    """Find the lanes in which a body is below the ground, or beyond a limit, at knot 2."""
    o = d.full(0.0)
    beyond = o
    for c in range(d.contact_count):
        contact = d.contact(c)
        if contact.kind < SKATE:
            beyond = maximum(beyond, both(contact.active, above(o, contact.gap2)))
    for p in range(d.dof_count):
        dof = d.dof(p)
        start = dof.start
        beyond = maximum(beyond, maximum(above(dof.lower, start), above(start, dof.upper)))
    return beyond


@phase(needs="contacts", otherwise=zero)
def find_lanes_that_slide(d, h):
    """Find the lanes in which a contact that is below the ground slides in this step."""
    slides, o = d.full(0.0), d.full(0.0)
    most = d.full(MAX_CORRECTION * MAX_CORRECTION)
    for c in range(d.contact_count):
        contact = d.contact(c)
        if contact.kind < SKATE:
            _, x, y, z, _ = contact.velocity
            far = above(h * h * (x * x + y * y + z * z), most)
            slides = maximum(slides, both(both(contact.active, above(o, contact.gap2)), far))
    return slides


@inline
def remember_held_lanes(d, h, moving):
    """Count down the steps that hold bodies, and set them anew where this step had to.

    Contacts that slide are led back soon: they get deeper where their place changes.
    """
    environment, o = d.environment, d.full(0.0)
    left, last = environment.held_steps, environment.last_held_steps
    held, led = above(left, o), environment.leads_back
    stuck = but_not(moving, maximum(held, led))
    free = but_not(moving, maximum(held, stuck))
    more, most = 2.0 * last + 1.0, d.full(MOST_HELD_STEPS)
    if any_lane(stuck):
        most = where(find_lanes_that_slide(d, h), d.full(MOST_SLIDING_STEPS), most)
    more = where(above(more, most), most, more)
    environment.held_steps = where(stuck, more, where(both(moving, held), left - 1.0, left))
    environment.last_held_steps = where(stuck, more, where(free, o, last))

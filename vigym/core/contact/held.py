"""Bodies beyond a bound that a step holds where they are, as they cannot be led back to it.

Every step leads bodies below the ground and joints beyond a limit back a little, see
`vigym.core.body.correction`. This fails if another limit, another contact, or a joint that does not
move that way, blocks the motion. The step then has no solution, and is made anew with the bodies
held where they are. The next 1, 3, 7 .. steps hold them, too, at most 31 steps, or 3 if contacts
slide. Then bodies are led back again.

Bodies that overlap may jam even if they are held: a contact would have to hold a joint that another
bound locks. They are released then: no contact holds them apart in these steps.
"""

from vigym.core.body.correction import MAX_CORRECTION
from vigym.core.compiler.kernel import inline, no_lanes, phase
from vigym.core.compiler.simd import minimum, where
from vigym.core.contact.kinematics import touching_velocity
from vigym.core.contact.overlaps import find_overlapping_lanes
from vigym.core.contact.segment_box import is_pair
from vigym.core.math.vectors import axpy, dot
from vigym.core.tables.plan import SKATE

# Largest number of steps that hold bodies until they are led back; the same if contacts slide
MOST_HELD_STEPS, MOST_SLIDING_STEPS = 31.0, 3.0


@inline
def set_share_led_back(d, share):
    """Set the share by which bodies are led back; zero holds them."""
    wide = d.wide.environment  # rows side by side in lanes read it, too
    wide.leads_back = d.wide.full(share)


@inline
def start_leading_back(d, part):
    """Choose the lanes in which a step leads bodies back: all lanes that do not hold them.

    A part of a step leads bodies back by its share of the whole step.
    """
    environment = d.environment
    held = environment.held_steps > 0.0
    set_share_led_back(d, where(held, 0.0, part))
    environment.releases = environment.releases & held


@inline
def hold_lanes(d, lanes):
    """Hold bodies where they are in some lanes, and lead them back as before in the others."""
    set_share_led_back(d, where(lanes, 0.0, d.environment.leads_back))


@inline
def find_lanes_led_back(d):
    """Find the lanes that lead bodies back."""
    return d.environment.leads_back > 0.0


@phase
def find_lanes_beyond_bounds(d):
    """Find the lanes in which a body is below the ground, or beyond a limit, at knot 2."""
    beyond = d.full(False)
    for c in range(d.contact_count):
        contact = d.contact(c)
        if contact.kind < SKATE:
            beyond = beyond | contact.active & (contact.gap2 < 0.0)
    for p in range(d.dof_count):
        dof = d.dof(p)
        start = dof.start
        beyond = beyond | (dof.lower > start) | (start > dof.upper)
    return beyond


@phase(needs="contacts", otherwise=no_lanes)
def find_lanes_to_release(d):
    """Find the lanes in which active contacts hold bodies apart that overlap at knot 2."""
    overlap = d.full(False)
    for c in range(d.contact_count):
        contact = d.contact(c)
        if is_pair(contact):
            overlap = overlap | contact.active & find_overlapping_lanes(d, contact)
    return overlap


@inline
def release_overlaps(d, lanes):
    """Release bodies that overlap in some lanes, and in those that released them before."""
    environment = d.environment
    environment.releases = environment.releases | lanes


@phase(needs="contacts", otherwise=no_lanes)
def find_lanes_that_slide(d, step):
    """Find the lanes in which a contact with a force slides in the step just solved.

    Only values of the accepted solution are read, as neighbouring lanes may have iterated further.
    """
    slides, most = d.full(False), MAX_CORRECTION * MAX_CORRECTION
    for c in range(d.contact_count):
        contact = d.contact(c)
        if contact.kind < SKATE:
            speed, velocity, _ = touching_velocity(d, contact, step.knot2, step.knot3)
            slip = axpy(-speed, contact.normal2, velocity)
            bears = contact.converged_force[0] > 0.0
            far = step.h * step.h * dot(slip, slip) > most
            slides = slides | bears & far
    return slides


@inline
def remember_held_lanes(d, step, moving, done):
    """Count down the steps that hold bodies, and set their number if this step had to hold them.

    The number is small if contacts slide: a contact may get deeper as its place changes.
    """
    environment = d.environment
    left, last = environment.held_steps, environment.last_held_steps
    held, led = left > 0.0, find_lanes_led_back(d)
    stuck = moving & ~(held | led)
    free = moving & ~(held | stuck)
    more, most = 2.0 * last + 1.0, d.full(MOST_HELD_STEPS)
    if stuck.any():
        slides = done & find_lanes_that_slide(d, step)
        most = where(slides, MOST_SLIDING_STEPS, most)
    more = minimum(more, most)
    environment.held_steps = where(stuck, more, where(moving & held, left - 1.0, left))
    environment.last_held_steps = where(stuck, more, where(free, 0.0, last))

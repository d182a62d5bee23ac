"""Bounds of what a step takes back where bodies are beyond a limit or below the ground.

Bodies that cannot be led back are held, see `vigym.core.contact.held`.
"""

import math

from vigym.core.compiler.kernel import inline
from vigym.core.compiler.lanes import any_lane
from vigym.core.compiler.simd import absolute, maximum, where
from vigym.core.math.vectors import dot

MAX_CORRECTION = 1e-6  # [m or rad] by which a step at most leads back


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
    gives bodies no more speed than a fall as deep as the violation, or as what a step takes back at
    most: in tiny steps they would fly off. Angles are measured at a ``lever`` [m], which is one for
    distances.
    """
    end, most = d.full(0.0), d.full(MAX_CORRECTION)
    if any_lane(-distance):
        depth = absolute(distance)
        depth = where(depth - most, most, depth)
        fall = free_fall_acceleration(d) * (h * h) / lever
        back = math.sqrt(2.0 * fall * depth)
        back = where(back - most, most, back)
        end = distance + d.environment.leads_back * back
    return where(end, d.full(0.0), end)


@inline
def find_gap_target(d, contact, gap, h):
    """Find the gap that a contact is to end with, ``gap`` being that at knot 2 [m].

    What rebounds is not led back besides: that would add to its energy.
    """
    least, o = least_end_distance(d, gap, h, d.full(1.0)), d.full(0.0)
    rebound = contact.rebound_velocity
    return where(rebound, maximum(h * rebound + where(gap, o, gap), least), least)

"""Bounds of what a step takes back where bodies are beyond a limit or below the ground."""

import math

from vigym.core.compiler.kernel import inline
from vigym.core.compiler.lanes import any_lane
from vigym.core.compiler.simd import absolute, where
from vigym.core.math.vectors import dot

MAX_CORRECTION = 1e-6  # [m or rad] by which a step at most leads back


@inline
def free_fall_distance(d, h):
    """Compute the distance that a step of free fall adds [m], without gravity at 1 m/s^2."""
    gravity = d.environment.gravity
    g = math.sqrt(dot(gravity, gravity))
    return where(g, g, d.full(1.0)) * (h * h)


@inline
def least_end_distance(distance, fall):
    """Find the least distance from a bound that a step must end with, from that at its start.

    It is zero, or where the bound is violated already, the violation less what is taken back. That
    gives bodies no more speed than a fall as deep as the violation: in tiny steps they would fly
    off.
    """
    end = 0.0 * distance
    if any_lane(-distance):
        most = math.sqrt(2.0 * fall * absolute(distance))
        end = distance + where(most - MAX_CORRECTION, MAX_CORRECTION + end, most)
    return where(end, 0.0 * end, end)

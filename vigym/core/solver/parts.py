"""Parts of a step: halves if a step does not converge, longer parts after very short ones."""

from typing import Any, NamedTuple

from vigym.core.compiler.kernel import inline
from vigym.core.compiler.simd import absolute, minimum, spread, where

SMALL = 1.0 / 256.0  # part of the step below which the parts that follow are doubled
SMALLEST = 1.0 / 1048576.0  # halved parts stop at this part of the step
LENGTHENING = 1.5  # factor on a part after the smallest one failed
MOST_PATIENCE = 15.0  # most parts to be done before one is doubled, after doubled ones failed
MOST_TURN = 1.0  # [rad] rotation of a step up to which rates are right to 2e-3
MOST_HALVINGS = 8  # of the part that a step with larger rotations begins with
MOST_FAILURES = 1000.0  # a step is given up if more parts fail


class Parts(NamedTuple):
    """Parts of a step; lane values.

    Attributes:
        size: part of the whole step to try; halves of 1 are exact.
        left: part of the step that is left.
        hard: lanes in which a part below `SMALL` was needed.
        seeking: lanes that seek a longer part.
        doubled: lanes whose part is twice as long as the last.
        patience: number of parts to be done before one is doubled.
        waited: number of parts done since one failed.
        failures: number of parts that failed; one more if the step begins with a part.
        unlike: lanes whose last whole step had another size.
    """

    size: Any
    left: Any
    hard: Any
    seeking: Any
    doubled: Any
    patience: Any
    waited: Any
    failures: Any
    unlike: Any


@inline
def shorten_first_part(d, dt, size):
    """Halve the part to begin with if a body turns too fast for it.

    The farther a body turns in a step, the less its rate agrees with its angle. Its momentum times
    the step is at most 2.3 rad times its inertia.
    """
    turn = absolute(dt) * d.environment.angular_speed
    if (turn > MOST_TURN).any():
        for _ in range(MOST_HALVINGS):
            size = where(size * turn > MOST_TURN, 0.5 * size, size)
    return size


@inline
def first_parts(lanes, size, unlike):
    """Start with the whole step, or with a part where ``size`` is below one."""
    o, none = spread(0.0, size), lanes & ~lanes
    halvings = where(lanes & (size < 1.0), 1.0, 0.0)
    return Parts(size, where(lanes, 1.0, 0.0), none, none, none, o, o, halvings, unlike)


@inline
def find_parts(parts):
    """Find the lanes that try less than a whole step."""
    return parts.size < 1.0


@inline
def find_short_parts(parts):
    """Find the lanes that try less than `SMALL` of a step."""
    return parts.size < SMALL


@inline
def find_parts_for_slow_methods(parts):
    """Find the lanes that try a whole step, or less than `SMALL` of it: other halves succeed."""
    return (parts.size >= 1.0) | find_short_parts(parts)


@inline
def adapt_patience(parts, done, failed):
    """Find the number of parts to be done before one is doubled, and of parts done since a failure.

    Each doubled part that fails raises the first number, until a doubled part is done.
    """
    more = 2.0 * parts.patience + 1.0
    more = minimum(more, MOST_PATIENCE)
    patience = where(failed & parts.doubled, more, parts.patience)
    patience = where(done & parts.doubled, 0.0, patience)
    return patience, where(failed, 0.0, parts.waited + where(done, 1.0, 0.0))


@inline
def next_part(parts, done, failed):
    """Find the part of the step to try next, and the lanes in which there is none.

    A part that failed is halved. Once a part below `SMALL` was needed, the next part is doubled
    after each part that is done, or after several if doubled parts failed. If the smallest part
    fails, longer parts are sought, which were not tried from this state: bodies jam in a short
    step, and slide past each other in a longer one.
    """
    size, failures = parts.size, parts.failures + where(failed, 1.0, 0.0)
    left = parts.left - where(done, size, 0.0)
    sought, halved = failed & parts.seeking, failed & ~parts.seeking
    hard = parts.hard | halved & (size < 2.0 * SMALL)
    smallest = halved & (size < 2.0 * SMALLEST)
    longer = where(4.0 * size > left, 0.5 * left, 2.0 * size)  # the last two parts are alike
    longer = where(left > 2.0 * size, longer, left)
    patience, waited = adapt_patience(parts, done, failed)
    doubled = done & hard & (waited > patience)
    after = where(halved, 0.5 * size, where(doubled, longer, size))
    after = where(sought, LENGTHENING * size, after)
    after = where(smallest, LENGTHENING * SMALL, after)
    after = where((left > 0.0) & (after > left), left, after)  # lanes that arrive keep a part
    lost = sought & ~(left > size) | (failures > MOST_FAILURES)
    seeking = smallest | sought
    counts = patience, waited, failures
    parts = Parts(after, left, hard, seeking, doubled, *counts, parts.unlike)
    return parts, failed & lost

"""Float32 kernels: states in two precisions.

A lane group of single precision is two groups of double precision side by side. Steps may be made
in single precision; all else (starts, readings, saved states) is made in double from the same
state. Conversion loses nothing: double precision holds single precision, and sums go in two parts.
Values derived from poses are renewed.
"""

from vigym.core.body.pose import update_derived
from vigym.core.compiler.kernel import entry, inline
from vigym.core.compiler.lanes import narrow_lanes, pointer, scalar_token, vector_token, widen_lanes
from vigym.core.compiler.rows import group_data
from vigym.core.compiler.simd import LANES, load, spread, store
from vigym.core.model.context import knot_buffer
from vigym.core.model.layout import KNOT_BUFFERS
from vigym.core.tables.features import PLAIN_TREE
from vigym.core.tables.plan import HEADER
from vigym.core.tables.state import ENVIRONMENT_STATE

STATE_SIZE = HEADER.offset("state_size")
STATE_KNOTS = HEADER.offset("state_knots")
KNOT_SIZE = HEADER.offset("knot_size")
_TREE = PLAIN_TREE.token
BATCH = 1  # any number means that lanes are environments
PRESENT_KNOT = ENVIRONMENT_STATE.offset("present_knot") * LANES
# sums, and the rounding that is left of them
SUMS = tuple(
    (
        ENVIRONMENT_STATE.offset(name) * LANES,
        ENVIRONMENT_STATE.offset(f"{name}_remainder") * LANES,
    )
    for name in ("time", "dissipated", "work", "absolute_work")
)


@inline
def widen_part(single, at, double, first, second, size):
    """Copy ``size`` slots from ``at`` on to two groups of double precision."""
    for k in range(0, size, LANES):
        a, b = widen_lanes(load(single, at + k, vector_token(single)))
        store(double, first + k, a)
        store(double, second + k, b)


@inline
def narrow_part(double, first, second, single, at, size):
    """Copy ``size`` slots of two groups of double precision to one group of single precision."""
    like = vector_token(double)
    for k in range(0, size, LANES):
        a, b = load(double, first + k, like), load(double, second + k, like)
        store(single, at + k, narrow_lanes(a, b, vector_token(single)))


@inline
def widen_sums(single, at, double, first, second):
    """Write each sum with the rounding that single precision left of it."""
    like = vector_token(single)
    for total, remainder in SUMS:
        most = widen_lanes(load(single, at + total, like))
        rest = widen_lanes(load(single, at + remainder, like))
        store(double, first + total, most[0] + rest[0])
        store(double, second + total, most[1] + rest[1])


@inline
def write_sum_remainders(double, first, second, single, at):
    """Write the rounding remainder of each sum, after the sums themselves."""
    like, rounded = vector_token(double), vector_token(single)
    for total, remainder in SUMS:
        a, b = load(double, first + total, like), load(double, second + total, like)
        most = widen_lanes(narrow_lanes(a, b, rounded))
        store(single, at + remainder, narrow_lanes(a - most[0], b - most[1], rounded))


@inline
def set_present(double, start, number):
    """Make a knot buffer the present one of a group of double precision."""
    store(double, start + PRESENT_KNOT, spread(float(number), scalar_token(double)))


@entry
def states_to_double(plan, model, single, double, groups, model_stride, known, requested):
    """Write states of single precision to ``groups`` groups of double, two for one.

    ``requested``: number of the last knots of each group; groups of which as many are ``known``
    are left out.
    """
    s, d = pointer(single), pointer(double)
    size = plan[STATE_SIZE]
    start = plan[STATE_KNOTS]
    knot_size = plan[KNOT_SIZE]
    for g in range(known.size):
        if known[g] >= requested[g]:
            continue
        known[g] = requested[g]
        at = g * size
        first = 2 * g * size
        second = (2 * g + 1) * size
        widen_part(s, at, d, first, second, start)
        widen_sums(s, at, d, first, second)
        now = int(load(s, at + PRESENT_KNOT, scalar_token(s)))
        set_present(d, first, now)
        set_present(d, second, now)
        for back in range(requested[g]):
            knot = start + knot_size * ((now + KNOT_BUFFERS - back) % KNOT_BUFFERS)
            widen_part(s, at + knot, d, first + knot, second + knot, knot_size)
        for k in range(2 * g, min(2 * g + 2, groups)):
            model_start = k * model_stride
            group = group_data(plan, model, double, double, model_start, k * size, 0, _TREE, BATCH)
            update_derived(group.wide, knot_buffer(group, 0))


@entry
def states_to_single(plan, model, double, single, model_stride, changed):
    """Round states of double precision to half as many groups of single precision.

    Those that are ``changed``.
    """
    d = pointer(double)
    s = pointer(single)
    size = plan[STATE_SIZE]
    for g in range(changed.size):
        if not changed[g]:
            continue
        changed[g] = False
        at = g * size
        first = 2 * g * size
        second = (2 * g + 1) * size
        narrow_part(d, first, second, s, at, size)
        write_sum_remainders(d, first, second, s, at)
        group = group_data(plan, model, single, single, g * model_stride, at, 0, _TREE, BATCH)
        update_derived(group.wide, knot_buffer(group, 0))

"""States in two precisions: a lane group of single precision is two groups of double precision side by side.

Steps may be made in single precision; all else (starts, readings, saved states) is made in double from the same state.
On the way there and back nothing is lost: double precision holds what single precision does, and sums go in two parts.
What follows from poses is made anew.
"""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from .groups import group
from .jit import entry, inline
from .knot import follow, knots, present
from .simd import FLOAT_LANES, LANES, load, number_of, pointer, spread, store, vector_of
from .tables import (
    BODIES,
    BUFFERS,
    DISSIPATED,
    DISSIPATED_REST,
    KNOT_SIZE,
    PHASE,
    SPENT_REST,
    STATE_KNOTS,
    STATE_SIZE,
    TIME,
    TIME_REST,
    WORK_DONE,
    WORK_REST,
    WORK_SPENT,
)  # fmt: skip

SUMS = (TIME, TIME_REST), (DISSIPATED, DISSIPATED_REST), (WORK_DONE, WORK_REST), (WORK_SPENT, SPENT_REST)


def _lanes_from(first, count):
    return ir.Constant(ir.VectorType(ir.IntType(32), count), list(range(first, first + count)))


@intrinsic
def halves(context, a):
    """The first and the last lanes of a vector of single precision, in double precision."""

    def generate(context, builder, sig, args):
        wide, none = context.get_value_type(FLOAT_LANES), ir.Constant(args[0].type, ir.Undefined)
        parts = [builder.shuffle_vector(args[0], none, _lanes_from(k * LANES, LANES)) for k in range(2)]
        return context.make_tuple(builder, sig.return_type, [builder.fpext(part, wide) for part in parts])

    return types.UniTuple(FLOAT_LANES, 2)(a), generate


@intrinsic
def joined(context, a, b, token):
    """Two vectors of double precision side by side in one of the token's type, rounded."""

    def generate(context, builder, sig, args):
        narrow = ir.VectorType(ir.FloatType(), LANES)
        parts = [builder.fptrunc(part, narrow) for part in args[:2]]
        return builder.shuffle_vector(*parts, _lanes_from(0, 2 * LANES))

    return token(a, b, token), generate


@inline
def widen_part(single, at, double, to, other, size):
    """Copy ``size`` slots from ``at`` on to two groups, to ``to`` and to ``other``."""
    for k in range(0, size, LANES):
        a, b = halves(load(single, at + k, vector_of(single)))
        store(double, to + k, a)
        store(double, other + k, b)


@inline
def narrow_part(double, at, other, single, to, size):
    """Copy ``size`` slots of two groups, from ``at`` and from ``other`` on, to one group."""
    o = vector_of(double)
    for k in range(0, size, LANES):
        store(single, to + k, joined(load(double, at + k, o), load(double, other + k, o), vector_of(single)))


@entry
def widen(plan, model, single, double, groups, model_stride, known, wanted):
    """Write states of single precision to ``groups`` groups of double, two for one.

    ``wanted``: of each group how many of the last knots; groups of which as many are ``known`` are left out.
    """
    s, d, size, start = pointer(single), pointer(double), plan[STATE_SIZE], plan[STATE_KNOTS]
    for g in range(known.size):
        if known[g] >= wanted[g]:
            continue
        known[g] = wanted[g]
        one, two, other = g * size, 2 * g * size, (2 * g + 1) * size
        widen_part(s, one, d, two, other, start)
        for total, rest in SUMS:
            most, more = halves(load(s, one + total, vector_of(s))), halves(load(s, one + rest, vector_of(s)))
            store(d, two + total, most[0] + more[0])
            store(d, other + total, most[1] + more[1])
        now = present(s, one)
        store(d, two + PHASE, spread(float(now), number_of(d)))
        store(d, other + PHASE, spread(float(now), number_of(d)))
        for back in range(wanted[g]):
            at = start + plan[KNOT_SIZE] * ((now + BUFFERS - back) % BUFFERS)
            widen_part(s, one + at, d, two + at, other + at, plan[KNOT_SIZE])
        for half in range(2 * g, min(2 * g + 2, groups)):
            t = group(plan, model, double, double, half * model_stride, half * size, 0, None)
            follow(t, plan[BODIES], knots(t, 0), vector_of(d))


@entry
def narrow(plan, model, double, single, model_stride, changed):
    """Round states of double precision to half as many groups of single precision: those that are ``changed``."""
    d, s, size = pointer(double), pointer(single), plan[STATE_SIZE]
    o, token = vector_of(d), vector_of(s)
    for g in range(changed.size):
        if not changed[g]:
            continue
        changed[g] = False
        one, two, other = g * size, 2 * g * size, (2 * g + 1) * size
        narrow_part(d, two, other, s, one, size)
        for total, rest in SUMS:
            a, b = load(d, two + total, o), load(d, other + total, o)
            most = halves(joined(a, b, token))
            store(s, one + rest, joined(a - most[0], b - most[1], token))
        t = group(plan, model, single, single, g * model_stride, one, 0, None)
        follow(t, plan[BODIES], knots(t, 0), token)

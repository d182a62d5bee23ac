"""Operations on lanes: tokens, reductions, angles, columns of the caller's arrays.

A float is its own only lane, so that all of it also serves the kernels that read single floats.
"""

import math

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from vigym.core.compiler.kernel import inline
from vigym.core.compiler.simd import (
    FLOAT_LANES,
    LANES,
    LanesType,
    absolute,
    any_set,
    fma,
    is_mask,
    is_vector,
    larger,
    spread,
    vector_type_of_dtype,
    where,
)

LARGEST_TANGENT = math.tan(math.pi / 16.0)  # of the angles that the series takes


@intrinsic
def pointer(context, array):
    """Return the address of a flat array's data: kernels pass pointers, not counted references."""

    def generate(context, builder, sig, args):
        return cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0]).data

    return types.CPointer(array.dtype)(array), generate


@intrinsic
def vector_token(context, table):
    """Make the token of a vector of a table's numbers: a value of which only the type counts."""
    vector = vector_type_of_dtype(table.dtype)
    return vector(table), lambda context, builder, sig, args: ir.Constant(
        context.get_value_type(sig.return_type), None
    )


@intrinsic
def scalar_token(context, table):
    """Make the token for single numbers of a table."""
    return table.dtype(table), lambda context, builder, sig, args: ir.Constant(
        context.get_value_type(sig.return_type), 0.0
    )


@intrinsic
def lane(context, a, index):
    """Return lane ``index`` of a vector as a float; a float is its own only lane."""

    def generate(context, builder, sig, args):
        if is_vector(sig.args[0]):
            return builder.extract_element(args[0], builder.trunc(args[1], ir.IntType(32)))
        return args[0]

    return getattr(a, "base", a)(a, index), generate


@intrinsic
def with_lane(context, a, index, value):
    """Replace lane ``index`` of a vector."""

    def generate(context, builder, sig, args):
        number = context.cast(
            builder, args[2], sig.args[2], getattr(sig.args[0], "base", sig.args[0])
        )
        if is_vector(sig.args[0]):
            return builder.insert_element(args[0], number, builder.trunc(args[1], ir.IntType(32)))
        return number

    return a(a, index, value), generate


@intrinsic
def lane_count(context, token):
    """Count the lanes of a value: those of a register, or 1."""
    number = token.count if is_vector(token) else 1
    return types.intp(token), lambda context, builder, sig, args: context.get_constant(
        types.intp, number
    )


@intrinsic
def select_by_precision(context, pair, like):
    """Select the one of two values (double, single) that belongs to the precision of ``like``."""
    which = 0 if getattr(like, "base", like) == types.float64 else 1
    return pair[which](pair, like), lambda context, builder, sig, args: builder.extract_value(
        args[0], which
    )


def _widest(builder, kind, value):
    """Make code for the largest lane, by halves; a float is its own."""
    if not isinstance(kind, LanesType):
        return value
    count = kind.count
    while count > 1:
        count //= 2
        halves = [_take_lanes(builder, value, first, count) for first in (0, count)]
        value = larger(builder, *halves)
    return builder.extract_element(value, ir.IntType(32)(0))


@intrinsic
def max_over_body_lanes(context, value, like):
    """Reduce a maximum that a phase over bodies returned to a value with the lanes of ``like``.

    That is its largest lane where the lanes are bodies; of a mask it is whether any lane is set.
    """
    kept = is_vector(like) or not is_vector(value)

    def generate(context, builder, sig, args):
        if kept:
            return args[0]
        return any_set(builder, args[0]) if is_mask(value) else _widest(builder, value, args[0])

    return (value if kept else value.base)(value, like), generate


@inline
def read_column(array, first, column, like):
    """Read a column of an (environments, columns) array as lanes of the type of ``like``.

    The first lane is row ``first``. Lanes beyond the end repeat the last row.
    """
    value = like
    for k in range(lane_count(like)):
        value = with_lane(value, k, array[min(first + k, array.shape[0] - 1), column])
    return value


@inline
def write_column(array, first, column, value):
    """Write lanes to a column of an (environments, columns) array, from row ``first`` on."""
    for k in range(min(lane_count(value), array.shape[0] - first)):
        array[first + k, column] = lane(value, k)


@inline
def arctan2(y, x):
    """Compute the angle of (x, y) [rad]: halve it to at most pi / 16, then use the odd series.

    It is halved once, and twice more in the lanes where that leaves more than pi / 16.
    """
    a, b = absolute(x), absolute(y)
    size = math.sqrt(a * a + b * b)
    t = b / where(size > 0.0, size + a, 1.0)
    parts = spread(2.0, y)
    wide = t > LARGEST_TANGENT
    if wide.any():
        quarter = t / (1.0 + math.sqrt(1.0 + t * t))
        t = where(wide, quarter / (1.0 + math.sqrt(1.0 + quarter * quarter)), t)
        parts = where(wide, 4.0 * parts, parts)
    u = -(t * t)
    series = spread(1.0 / 21.0, u)
    for k in range(9, -1, -1):
        series = fma(series, u, spread(1.0 / (2.0 * k + 1.0), u))
    angle = parts * t * series
    angle = where(x < 0.0, math.pi - angle, angle)
    return where(y < 0.0, -angle, angle)


@inline
def cosine_sine(angle):
    """Compute cosine and sine of an angle [rad], lane by lane."""
    c, s = angle, angle
    for k in range(lane_count(angle)):
        c, s = with_lane(c, k, math.cos(lane(angle, k))), with_lane(s, k, math.sin(lane(angle, k)))
    return c, s


@inline
def rounded(value):
    """Round to the nearest whole number, by adding and taking away 1.5 * 2^52."""
    return (value + 6755399441055744.0) - 6755399441055744.0


@inline
def write_vector(out, first, column, a):
    """Write three columns of an (environments, columns) array."""
    write_column(out, first, column, a[0])
    write_column(out, first, column + 1, a[1])
    write_column(out, first, column + 2, a[2])


def _take_lanes(builder, value, first, count):
    """Make code for ``count`` lanes of a vector, from ``first`` on."""
    lanes = ir.Constant(ir.VectorType(ir.IntType(32), count), list(range(first, first + count)))
    return builder.shuffle_vector(value, ir.Constant(value.type, ir.Undefined), lanes)


@intrinsic
def widen_lanes(context, a):
    """Convert a vector of single precision to two of double: its first and its last lanes."""

    def generate(context, builder, sig, args):
        wide = context.get_value_type(FLOAT_LANES)
        parts = [_take_lanes(builder, args[0], k * LANES, LANES) for k in range(2)]
        return context.make_tuple(
            builder, sig.return_type, [builder.fpext(part, wide) for part in parts]
        )

    return types.UniTuple(FLOAT_LANES, 2)(a), generate


@intrinsic
def narrow_lanes(context, a, b, like):
    """Round two vectors of double precision to one of the type of ``like``, side by side."""

    def generate(context, builder, sig, args):
        narrow = ir.VectorType(ir.FloatType(), LANES)
        parts = [builder.fptrunc(part, narrow) for part in args[:2]]
        lanes = ir.Constant(ir.VectorType(ir.IntType(32), 2 * LANES), list(range(2 * LANES)))
        return builder.shuffle_vector(*parts, lanes)

    return like(a, b, like), generate

"""Numbers of LANES rows that are alike, one in each lane: a pack.

``d.wide.body(pack)`` is a row whose fields are vectors over these rows, of one environment. The
rows lie anywhere in a table: reading gathers their numbers, writing scatters them. Entries of the
plan that refer to other rows, such as ``body.parent``, are packs again. All others are those of the
first row. A pack of fewer rows repeats the last one.
"""

import operator

from llvmlite import ir
from numba import types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

from vigym.core.compiler.simd import LANES

_INTEGER = ir.IntType(64)


class PackType(types.Type):
    """Type of the numbers of LANES rows."""

    def __init__(self):
        super().__init__(name="Pack")


class PointersType(types.Type):
    """Type of the addresses of LANES rows of a table."""

    def __init__(self):
        super().__init__(name="Pointers")


PACK, POINTERS = PackType(), PointersType()


@register_model(PackType)
class _PackModel(models.PrimitiveModel):
    def __init__(self, manager, pack):
        super().__init__(manager, pack, ir.ArrayType(_INTEGER, LANES))


@register_model(PointersType)
class _PointersModel(models.PrimitiveModel):
    def __init__(self, manager, pointers):
        super().__init__(manager, pointers, ir.ArrayType(_INTEGER.as_pointer(), LANES))


# --- making code ----------------------------------------------------------------------------------


def join_lanes(builder, values):
    """Make code for the array of the values of all lanes."""
    joined = ir.Constant(ir.ArrayType(values[0].type, LANES), ir.Undefined)
    for k, value in enumerate(values):
        joined = builder.insert_value(joined, value, k)
    return joined


def unpack_lanes(builder, joined):
    """Make code for the values of all lanes of an array."""
    return [builder.extract_value(joined, k) for k in range(LANES)]


def gather(builder, pointers, vector):
    """Make code for the vector of the numbers at LANES addresses."""
    value = ir.Constant(vector, ir.Undefined)
    for k, at in enumerate(pointers):
        number = builder.load(builder.bitcast(at, vector.element.as_pointer()), align=8)
        value = builder.insert_element(value, number, ir.IntType(32)(k))
    return value


def scatter(builder, value, pointers):
    """Make code that writes the numbers of a vector to LANES addresses."""
    for k, at in enumerate(pointers):
        number = builder.extract_element(value, ir.IntType(32)(k))
        builder.store(number, builder.bitcast(at, number.type.as_pointer()), align=8)


# --- operations -----------------------------------------------------------------------------------


@intrinsic
def consecutive_rows(context, first, end):
    """Make the pack of rows ``first``, ``first`` + 1, ... before ``end``, the last one repeated."""

    def generate(context, builder, sig, args):
        last = builder.sub(args[1], _INTEGER(1))
        numbers = [builder.add(args[0], _INTEGER(k)) for k in range(LANES)]
        inside = [builder.icmp_signed("<", number, last) for number in numbers]
        pairs = zip(inside, numbers, strict=True)
        return join_lanes(builder, [builder.select(ok, number, last) for ok, number in pairs])

    return PACK(types.intp, types.intp), generate


@infer_global(operator.add)
class _Addition(AbstractTemplate):
    """Typing of a pack and a number, which is added to all of its rows."""

    def generic(self, args, kws):
        if len(args) == 2 and args[0] == PACK and isinstance(args[1], types.Integer):
            return signature(PACK, PACK, types.intp)


@lower_builtin(operator.add, PackType, types.Integer)
def _add(context, builder, sig, args):
    numbers = unpack_lanes(builder, args[0])
    return join_lanes(builder, [builder.add(number, args[1]) for number in numbers])


@infer_global(operator.ge)
class _Comparison(AbstractTemplate):
    """Typing of the comparison of a pack with a number: its rows are alike, the first one tells."""

    def generic(self, args, kws):
        if len(args) == 2 and args[0] == PACK and isinstance(args[1], types.Integer):
            return signature(types.boolean, PACK, types.intp)


@lower_builtin(operator.ge, PackType, types.Integer)
def _is_from(context, builder, sig, args):
    return builder.icmp_signed(">=", builder.extract_value(args[0], 0), args[1])

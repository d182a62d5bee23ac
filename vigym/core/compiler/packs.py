"""Numbers of rows of one environment that are alike, one in each lane: a run or a pack.

``d.wide.body(run)`` is a row whose fields are vectors over these rows. Entries of the plan that are
the same in all of them are those of the first row.

- A run is up to LANES consecutive rows, wherever it begins. Entries of the plan that follow each
  other from row to row, such as ``body.first_dof``, are runs again; those that refer to any rows,
  such as ``body.parent``, are packs. Lanes without a row hold other numbers, which
  ``lanes_of_rows`` tells apart; they are not written.
- A pack is LANES rows that lie anywhere. Their numbers are gathered; they are not written. That of
  fewer rows repeats the last one.
"""

import operator

from llvmlite import ir
from numba import types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

from vigym.core.compiler.simd import LANES, is_mask, mask_type

_INTEGER = ir.IntType(64)


class PackType(types.Type):
    """Type of the numbers of LANES rows."""

    def __init__(self):
        super().__init__(name="Pack")


class PointersType(types.Type):
    """Type of the addresses of LANES rows of a table."""

    def __init__(self):
        super().__init__(name="Pointers")


class RunType(types.Type):
    """Type of the numbers of up to LANES consecutive rows: the first one, and the one behind."""

    def __init__(self):
        super().__init__(name="Run")


class PlacesType(types.Type):
    """Type of the places of consecutive rows in a table, see ``find_places``."""

    def __init__(self):
        super().__init__(name="Places")


PACK, POINTERS = PackType(), PointersType()
RUN, PLACES = RunType(), PlacesType()


@register_model(PackType)
class _PackModel(models.PrimitiveModel):
    def __init__(self, manager, pack):
        super().__init__(manager, pack, ir.ArrayType(_INTEGER, LANES))


@register_model(PointersType)
class _PointersModel(models.PrimitiveModel):
    def __init__(self, manager, pointers):
        super().__init__(manager, pointers, ir.ArrayType(_INTEGER.as_pointer(), LANES))


@register_model(RunType)
class _RunModel(models.PrimitiveModel):
    def __init__(self, manager, run):
        super().__init__(manager, run, ir.ArrayType(_INTEGER, 2))


@register_model(PlacesType)
class _PlacesModel(models.PrimitiveModel):
    def __init__(self, manager, places):
        pointer, mask = _INTEGER.as_pointer(), ir.VectorType(ir.IntType(1), LANES)
        super().__init__(manager, places, ir.LiteralStructType([pointer, pointer, mask, mask]))


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


def _splat(builder, number):
    """Make code for a vector of LANES equal integers."""
    vector = ir.VectorType(_INTEGER, LANES)
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), number, ir.IntType(32)(0))
    lanes = ir.Constant(ir.VectorType(ir.IntType(32), LANES), None)
    return builder.shuffle_vector(one, ir.Constant(vector, ir.Undefined), lanes)


def find_places(builder, block, width, run):
    """Make code for the places of a run in a table.

    The rows lie in one block or in two that follow each other. Two windows of LANES numbers see
    them: one from the first row on, the other one where its lanes are those of the rows in the
    second block.

    Args:
        builder: of the code.
        block: address of the block of the first row.
        width: of the table.
        run: its rows.

    Returns:
        Structure of both windows' addresses, the mask of lanes in the second one, and that of lanes
        that have a row.
    """
    first, end = builder.extract_value(run, 0), builder.extract_value(run, 1)
    lane = builder.and_(first, _INTEGER(LANES - 1))
    count = builder.sub(end, first)
    one = builder.gep(block, [lane])
    is_one = builder.icmp_signed("<=", builder.add(lane, count), _INTEGER(LANES))
    other = builder.select(is_one, one, builder.gep(one, [_INTEGER((width - 1) * LANES)]))
    lanes = ir.Constant(ir.VectorType(_INTEGER, LANES), list(range(LANES)))
    rest = builder.select(is_one, _INTEGER(LANES), builder.sub(_INTEGER(LANES), lane))
    second = builder.icmp_signed(">=", lanes, _splat(builder, rest))
    own = builder.icmp_signed("<", lanes, _splat(builder, count))
    places = [one, other, second, own]
    made = ir.Constant(ir.LiteralStructType([value.type for value in places]), ir.Undefined)
    for k, value in enumerate(places):
        made = builder.insert_value(made, value, k)
    return made


def shift_places(builder, places, slots):
    """Make code for the places of another number of the same rows, ``slots`` further on."""
    for k in range(2):
        at = builder.gep(builder.extract_value(places, k), [slots])
        places = builder.insert_value(places, at, k)
    return places


def _windows(builder, places, vector):
    """Make code for the addresses of both windows, as those of vectors."""
    at = [builder.extract_value(places, k) for k in range(2)]
    return [builder.bitcast(one, vector.as_pointer()) for one in at]


def load_run(builder, places, vector):
    """Make code for the vector of the numbers of a run; lanes without a row hold others."""
    numbers = [builder.load(at, align=8) for at in _windows(builder, places, vector)]
    return builder.select(builder.extract_value(places, 2), numbers[1], numbers[0])


def store_run(builder, value, places):
    """Make code that writes the numbers of a run, and leaves all around them as it is."""
    second, own = builder.extract_value(places, 2), builder.extract_value(places, 3)
    one, other = _windows(builder, places, value.type)
    masks = builder.and_(own, builder.not_(second)), builder.and_(own, second)
    for at, mask in zip((one, other), masks, strict=True):
        builder.store(builder.select(mask, value, builder.load(at, align=8)), at, align=8)


# --- operations -----------------------------------------------------------------------------------


@intrinsic
def run_of_rows(context, first, end):
    """Make the run of rows ``first``, ``first`` + 1, ... before ``end``, LANES at most."""

    def generate(context, builder, sig, args):
        made = ir.Constant(ir.ArrayType(_INTEGER, 2), ir.Undefined)
        return builder.insert_value(builder.insert_value(made, args[0], 0), args[1], 1)

    return RUN(types.intp, types.intp), generate


@intrinsic
def lanes_of_rows(context, run, like):
    """Make the mask of the lanes that have a row of a run."""

    def generate(context, builder, sig, args):
        run = args[0]
        count = builder.sub(builder.extract_value(run, 1), builder.extract_value(run, 0))
        lanes = ir.Constant(ir.VectorType(_INTEGER, LANES), list(range(LANES)))
        return builder.icmp_signed("<", lanes, _splat(builder, count))

    return (like if is_mask(like) else mask_type(like))(run, like), generate


def _adding(lanes):
    """Make the code maker that adds lanes of a vector to a number, one after the other."""

    def generate(context, builder, sig, args):
        total, value, own = args
        # -0 in the lanes without a row: adding it changes no number
        value = builder.select(own, value, builder.fneg(ir.Constant(value.type, None)))
        for k in lanes:
            total = builder.fadd(total, builder.extract_element(value, ir.IntType(32)(k)))
        return total

    return generate


@intrinsic
def add_lanes(context, total, value, own):
    """Add the lanes of a vector to a number, in their order, where the mask ``own`` is set."""
    return total(total, value, own), _adding(range(LANES))


@intrinsic
def add_lanes_from_last(context, total, value, own):
    """Add the lanes of a vector to a number, the last one first, where the mask is set."""
    return total(total, value, own), _adding(range(LANES - 1, -1, -1))


@infer_global(operator.add)
class _Addition(AbstractTemplate):
    """Typing of a run and a number, which is added to all of its rows."""

    def generic(self, args, kws):
        if len(args) == 2 and args[0] == RUN and isinstance(args[1], types.Integer):
            return signature(RUN, RUN, types.intp)


@lower_builtin(operator.add, RunType, types.Integer)
def _add(context, builder, sig, args):
    made = args[0]
    for k in range(made.type.count):
        number = builder.add(builder.extract_value(made, k), args[1])
        made = builder.insert_value(made, number, k)
    return made


@infer_global(operator.ge)
class _Comparison(AbstractTemplate):
    """Typing of the comparison of a run with a number: its rows are alike, the first one tells."""

    def generic(self, args, kws):
        if len(args) == 2 and args[0] == RUN and isinstance(args[1], types.Integer):
            return signature(types.boolean, RUN, types.intp)


@lower_builtin(operator.ge, RunType, types.Integer)
def _is_from(context, builder, sig, args):
    return builder.icmp_signed(">=", builder.extract_value(args[0], 0), args[1])

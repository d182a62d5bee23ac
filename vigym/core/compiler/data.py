"""Types of the data of a lane group and of its rows, inside kernels."""

import operator

from llvmlite import ir
from numba import types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin, models, register_model

from vigym.core.compiler.packs import (
    PACK,
    PLACES,
    POINTERS,
    RUN,
    gather,
    load_run,
    shift_places,
    store_run,
    unpack_lanes,
)
from vigym.core.compiler.simd import LANES, LanesType, mask_type, slot_pointer
from vigym.core.tables.plan import HEADER
from vigym.core.tables.row_kinds import BLOCK_STARTS, ROW_KINDS, TABLES

PACKS = frozenset({"packs"})  # of one environment: rows side by side in lanes
SLOT = ir.IntType(64)


class DataType(types.Type):
    """Type of a lane group's data.

    Args:
        token: type that fields are read as, a float or lanes.
        vectors: type of the lanes of its tables.
        single: whether the data is of one environment.
        features: of the mechanism, which phases are compiled for.
    """

    def __init__(self, token, vectors, single, features):
        self.token = token
        self.vectors = vectors
        self.single = single
        self.features = features
        super().__init__(name=f"Data({token}, {vectors}, {single}, {sorted(features)})")

    @property
    def wide(self):
        """Type of the same data read in blocks."""
        return DataType(self.vectors, self.vectors, self.single, self.features)


class RowType(types.Type):
    """Type of a row: its kind, and the type of its fields.

    Args:
        kind: of `vigym.core.tables`.
        data: type of the data.
        index: type of its number: PACK, RUN or an integer's.

    Attributes:
        packed: whether it is a pack of rows.
        is_run: whether it is a run of rows.
        is_numbered: whether it is neither: one row or block, identified by its number.
        several: whether it is several rows of one environment: a block, a pack or a run.
    """

    def __init__(self, kind, data, index=types.intp):
        self.kind = kind
        self.token = data.token
        self.features = data.features
        self.packed, self.is_run = index == PACK, index == RUN
        self.is_numbered = not (self.packed or self.is_run)
        self.index = types.intp if self.is_numbered else index
        self.pointer = {PACK: POINTERS, RUN: PLACES}.get(index, types.CPointer(types.int64))
        self.several = data.single and isinstance(data.token, LanesType)
        self.fields = ROW_KINDS[kind].fields
        form = "block" if self.several else "row"
        form = {PACK: "pack", RUN: "run"}.get(index, form)
        super().__init__(name=f"Row({kind}, {form}, {data.token}, {sorted(data.features)})")

    def refers_in_lanes(self, field):
        """Return whether an entry of the plan is a pack; of aligned rows it is a body block."""
        return self.several and field.refers and not ROW_KINDS[self.kind].aligned

    def type_of(self, name):
        """Return the type of a field as kernels see it, None if there is no such field."""
        if name == "index":
            return self.index
        if name not in self.fields:
            return None
        table, field, _ = self.fields[name]
        if table == "plan" and self.is_run and field.steps:
            return RUN
        if table == "plan":
            return PACK if self.refers_in_lanes(field) else types.intp
        if field.indexed:
            return ElementsType(self.token, self.pointer)
        if field.is_mask:
            return mask_type(self.token)
        return self.token if field.width == 1 else types.UniTuple(self.token, field.width)


class ElementsType(types.Type):
    """Type of an indexed field: where its elements start, of several rows in each of them."""

    def __init__(self, token, pointer):
        self.token, self.pointer = token, pointer
        super().__init__(name=f"Elements({token}, {pointer})")


@register_model(DataType)
class _DataModel(models.StructModel):
    def __init__(self, manager, data):
        pointers = [(table, types.CPointer(types.int64)) for table in TABLES]
        super().__init__(manager, data, pointers + [(name, types.intp) for name in BLOCK_STARTS])


@register_model(RowType)
class _RowModel(models.StructModel):
    def __init__(self, manager, row):
        tables = ROW_KINDS[row.kind].tables
        members = [
            (table, types.CPointer(types.int64) if row.is_run and table == "plan" else row.pointer)
            for table in tables
        ]
        super().__init__(manager, row, [*members, ("index", row.type_of("index"))])


@register_model(ElementsType)
class _ElementsModel(models.PrimitiveModel):
    def __init__(self, manager, elements):
        super().__init__(manager, elements, manager.lookup(elements.pointer).get_value_type())


def header_entry(builder, plan, name):
    """Make code that reads an entry of the plan's header."""
    return builder.load(builder.gep(plan, [SLOT(HEADER.offset(name))]))


def _define_item(operation, result):
    """Register reading or writing of elements of indexed fields with numba."""

    @infer_global(operation)
    class _Typing(AbstractTemplate):
        def generic(self, args, kws):
            is_written = operation is operator.setitem
            is_elements = isinstance(args[0], ElementsType) and isinstance(args[1], types.Integer)
            if is_elements and not (is_written and args[0].pointer == POINTERS):
                return signature(
                    result(args[0]), args[0], types.intp, *[args[0].token] * (len(args) - 2)
                )

    def lower(context, builder, sig, args):
        kind = context.get_value_type(sig.args[0].token)
        slots = builder.mul(args[1], SLOT(LANES))
        if sig.args[0].pointer == PLACES:
            places = shift_places(builder, args[0], slots)
            if operation is operator.getitem:
                return load_run(builder, places, kind)
            store_run(builder, args[2], places)
            return context.get_dummy_value()
        if sig.args[0].pointer == POINTERS:  # packs are not written
            at = [builder.gep(one, [slots]) for one in unpack_lanes(builder, args[0])]
            return gather(builder, at, kind)
        at = slot_pointer(builder, args[0], slots, kind)
        if operation is operator.getitem:
            return builder.load(at, align=8)
        builder.store(args[2], at, align=8)
        return context.get_dummy_value()

    extra = [] if operation is operator.getitem else [types.Any]
    lower_builtin(operation, ElementsType, types.Integer, *extra)(lower)


def _define_items():
    """Register reading and writing of elements of indexed fields with numba."""
    _define_item(operator.getitem, lambda elements: elements.token)
    _define_item(operator.setitem, lambda elements: types.none)


_define_items()

"""Types of the data of a lane group and of its rows, inside kernels."""

from llvmlite import ir
from numba import types
from numba.extending import models, register_model

from vigym.core.compiler.packs import PACK, POINTERS
from vigym.core.compiler.simd import LanesType
from vigym.core.model.fields import BLOCK_STARTS, HEADER, ROW_KINDS, TABLES

PLAIN_TREE = frozenset({"plain"})
LOOPS = frozenset({"loops"})
LOOPS_AND_CONTACTS = LOOPS | {"contacts"}
WITH_IMPOSED = LOOPS_AND_CONTACTS | {"terrain", "imposed"}
ALL_FEATURES = WITH_IMPOSED | {"tracks"}
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
        kind: of `vigym.core.model.fields`.
        data: type of the data.
        packed: whether it is a pack of rows.

    Attributes:
        several: whether it is several rows of one environment, a block or a pack.
    """

    def __init__(self, kind, data, packed):
        self.kind = kind
        self.token = data.token
        self.features = data.features
        self.packed = packed
        self.several = data.single and isinstance(data.token, LanesType)
        self.fields = ROW_KINDS[kind].fields
        form = "pack" if packed else ("block" if self.several else "row")
        super().__init__(name=f"Row({kind}, {form}, {data.token}, {sorted(data.features)})")

    def refers_in_lanes(self, field):
        """Return whether an entry of the plan is a pack; of aligned rows it is a body block."""
        return self.several and field.refers and not ROW_KINDS[self.kind].aligned

    def type_of(self, name):
        """Return the type of a field as kernels see it, None if there is no such field."""
        if name == "index":
            return PACK if self.packed else types.intp
        if name not in self.fields:
            return None
        table, field, _ = self.fields[name]
        if table == "plan":
            return PACK if self.refers_in_lanes(field) else types.intp
        if field.indexed:
            return ElementsType(self.token, self.packed)
        return self.token if field.width == 1 else types.UniTuple(self.token, field.width)


class ElementsType(types.Type):
    """Type of an indexed field: where its elements start, of a pack in each of its rows."""

    def __init__(self, token, packed):
        self.token, self.packed = token, packed
        super().__init__(name=f"Elements({token}, {packed})")


@register_model(DataType)
class _DataModel(models.StructModel):
    def __init__(self, manager, data):
        pointers = [(table, types.CPointer(types.int64)) for table in TABLES]
        super().__init__(manager, data, pointers + [(name, types.intp) for name in BLOCK_STARTS])


@register_model(RowType)
class _RowModel(models.StructModel):
    def __init__(self, manager, row):
        tables = ROW_KINDS[row.kind].tables
        pointer = POINTERS if row.packed else types.CPointer(types.int64)
        members = [(table, pointer) for table in tables]
        super().__init__(manager, row, [*members, ("index", row.type_of("index"))])


@register_model(ElementsType)
class _ElementsModel(models.PrimitiveModel):
    def __init__(self, manager, elements):
        pointer = manager.lookup(POINTERS).get_value_type() if elements.packed else None
        super().__init__(manager, elements, pointer or SLOT.as_pointer())


def header_entry(builder, plan, name):
    """Make code that reads an entry of the plan's header."""
    return builder.load(builder.gep(plan, [SLOT(HEADER.offset(name))]))

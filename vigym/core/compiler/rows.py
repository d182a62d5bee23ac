"""Rows of the tables as values with named fields, inside kernels.

A kernel receives the data ``d`` of a lane group. ``d.dof(p)`` is a row: ``dof.load += dof.stiffness
* stretch`` reads and writes the tables in place, whichever of them a field belongs to. How a field
is read follows from the type of ``d``: as one float (``d`` of a single environment) or as a vector
over environments (``d`` of a batch). ``d.wide`` is the same data read in blocks: of a single
environment a block is LANES bodies, one per lane; of a batch it is ``d``.

=====================  =============================================================================
expression             meaning
=====================  =============================================================================
``d.body(i)``          row of a kind of `vigym.core.model.fields`: body, dof, contact, ...
``d.pose(knot, i)``    row of a body in one of the knot buffers, which a number identifies
``d.environment``      the one row that an environment has of its own
``d.body_count``       entry of the plan's header; 0 at compile time where a feature is absent
``d.full(x)``          number x in every lane
``d.number(slot)``     float that lies in a slot of the plan
``d.lane_count``       environments that a value holds: 1 in a single environment
``row.field``          float, vector, or a tuple of them; an integer for fields of the plan
``row.field[j]``       element of an indexed field
``row.index``          number of the row
=====================  =============================================================================
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import lower_getattr_generic, lower_setattr_generic
from numba.core.typing.templates import (
    AbstractTemplate,
    AttributeTemplate,
    infer_getattr,
    infer_global,
    signature,
)
from numba.extending import intrinsic, lower_builtin, models, register_model

from vigym.core.compiler.simd import (
    LANES,
    LanesType,
    slot_pointer,
    spread_value,
    vector_type_of_dtype,
)
from vigym.core.model.fields import BLOCK_STARTS, HEADER, ROW_KINDS, TABLES

PLAIN_TREE = frozenset({"plain"})
LOOPS = frozenset({"loops"})
LOOPS_AND_CONTACTS = LOOPS | {"contacts"}
WITH_IMPOSED = LOOPS_AND_CONTACTS | {"terrain", "imposed"}
ALL_FEATURES = WITH_IMPOSED | {"tracks"}
_SHIFT = LANES.bit_length() - 1
_MASK = LANES - 1
_SLOT = ir.IntType(64)


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
    """Type of a row: its kind, and the type of its fields."""

    def __init__(self, kind, data):
        self.kind = kind
        self.token = data.token
        self.features = data.features
        self.fields = ROW_KINDS[kind].fields
        super().__init__(name=f"Row({kind}, {data.token}, {sorted(data.features)})")

    def type_of(self, name):
        """Return the type of a field as kernels see it, None if there is no such field."""
        if name == "index":
            return types.intp
        if name not in self.fields:
            return None
        table, field, _ = self.fields[name]
        if table == "plan":
            return types.intp
        if field.indexed:
            return ElementsType(self.token)
        return self.token if field.width == 1 else types.UniTuple(self.token, field.width)


class ElementsType(types.Type):
    """Type of an indexed field: where its elements start."""

    def __init__(self, token):
        self.token = token
        super().__init__(name=f"Elements({token})")


@register_model(DataType)
class _DataModel(models.StructModel):
    def __init__(self, manager, data):
        pointers = [(table, types.CPointer(types.int64)) for table in TABLES]
        super().__init__(manager, data, pointers + [(name, types.intp) for name in BLOCK_STARTS])


@register_model(RowType)
class _RowModel(models.StructModel):
    def __init__(self, manager, row):
        tables = ROW_KINDS[row.kind].tables
        members = [(table, types.CPointer(types.int64)) for table in tables]
        super().__init__(manager, row, [*members, ("index", types.intp)])


@register_model(ElementsType)
class _ElementsModel(models.PrimitiveModel):
    def __init__(self, manager, elements):
        super().__init__(manager, elements, _SLOT.as_pointer())


@intrinsic
def group_data(
    context, plan, model, state, work, model_start, state_start, work_start, features, batch
):
    """Make the data of the lane group whose tables start at these slots of the flat arrays.

    ``features`` is None for mechanisms without loops and contacts, a truth value for those with
    loops alone, an integer for those with contacts, a float where there is terrain too, or
    something imposed: held wrenches, prescribed motions, velocity constraints, potentials; and a
    complex number where curve or surface joints are.
    ``batch`` is None for a single environment.
    """
    vectors = vector_type_of_dtype(state.dtype)
    single = batch == types.none
    present = PLAIN_TREE if features == types.none else LOOPS_AND_CONTACTS
    if isinstance(features, types.Boolean):
        present = LOOPS
    elif isinstance(features, types.Float):
        present = WITH_IMPOSED
    elif isinstance(features, types.Complex):
        present = ALL_FEATURES
    data = DataType(state.dtype if single else vectors, vectors, single, present)

    def generate(context, builder, sig, args):
        made = cgutils.create_struct_proxy(data)(context, builder)
        for k, table in enumerate(TABLES):
            array = cgutils.create_struct_proxy(sig.args[k])(context, builder, value=args[k])
            setattr(made, table, builder.bitcast(array.data, _SLOT.as_pointer()))
        starts = {"model": args[4], "state": args[5], "work": args[6]}
        for name, (table, entry) in BLOCK_STARTS.items():
            start = starts[table]
            if entry is not None:
                start = builder.add(start, _header_entry(builder, made.plan, entry))
            setattr(made, name, start)
        return made._getvalue()

    return data(
        plan, model, state, work, model_start, state_start, work_start, features, batch
    ), generate


def _header_entry(builder, plan, name):
    """Make code that reads an entry of the plan's header."""
    return builder.load(builder.gep(plan, [_SLOT(HEADER.offset(name))]))


def _row_start(builder, data, start, index, width):
    """Make code for the first slot of a row of a float table."""
    step = builder.mul(index, _SLOT(width * LANES))
    if isinstance(data.token, LanesType):
        return builder.add(start, step)
    block = builder.mul(builder.ashr(index, _SLOT(_SHIFT)), _SLOT(width * LANES))
    return builder.add(start, builder.add(block, builder.and_(index, _SLOT(_MASK))))


def _make_row(context, builder, data_type, data, kind, index, buffer=None):
    """Make code for a row of the given kind."""
    rows = ROW_KINDS[kind]
    made = cgutils.create_struct_proxy(RowType(kind, data_type))(context, builder)
    for name, part in rows.tables.items():
        if name == "plan":
            start = (
                _header_entry(builder, data.plan, part.start) if part.start else _SLOT(HEADER.width)
            )
            at = builder.add(start, builder.mul(index, _SLOT(part.table.width)))
        else:
            start = getattr(data, part.start) if buffer is None else buffer
            at = (
                start
                if rows.alone
                else _row_start(builder, data_type, start, index, part.table.width)
            )
        setattr(made, name, builder.gep(getattr(data, name), [at]))
    made.index = index
    return made._getvalue()


def _method(name, arguments, typed, lower):
    """Register a method of the data with numba."""

    class Template(AbstractTemplate):
        key = f"vigym.data.{name}"

        def generic(self, args, kws):
            return (
                signature(typed(self.this, *args), *args, recvr=self.this)
                if len(args) == arguments
                else None
            )

    _METHODS[name] = Template
    accepted = [types.Any] * arguments
    lower_builtin(Template.key, DataType, *accepted)(lower)


def _lower_row(kind):
    """Make code for ``d.kind(index)``, and ``d.kind(buffer, index)`` of rows in buffers."""

    def lower(context, builder, sig, args):
        data = cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0])
        numbers = [
            context.cast(builder, a, t, types.intp)
            for a, t in zip(args[1:], sig.args[1:], strict=True)
        ]
        buffer = numbers[0] if len(numbers) == 2 else None
        return _make_row(context, builder, sig.args[0], data, kind, numbers[-1], buffer)

    return lower


def _lower_number(context, builder, sig, args):
    """Make code for ``d.number(slot)``."""
    data = cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0])
    slot = context.cast(builder, args[1], sig.args[1], types.intp)
    place = builder.gep(data.plan, [slot])
    return builder.load(builder.bitcast(place, ir.DoubleType().as_pointer()))


def _lower_full(context, builder, sig, args):
    """Make code for ``d.full(number)``."""
    return spread_value(context, builder, sig.return_type, args[1], sig.args[1])


_METHODS: dict[str, type[AbstractTemplate]] = {}
for _kind, _rows in ROW_KINDS.items():
    if not _rows.alone:
        _method(
            _kind,
            2 if _rows.buffered else 1,
            lambda data, *args, kind=_kind: RowType(kind, data),
            _lower_row(_kind),
        )
_method("number", 1, lambda data, slot: types.float64, _lower_number)
_method("full", 1, lambda data, *args: data.token, _lower_full)


@infer_getattr
class _DataAttributes(AttributeTemplate):
    key = DataType

    def generic_resolve(self, data, name):
        if name in _METHODS:
            return types.BoundFunction(_METHODS[name], data)
        if name == "wide":
            return data.wide
        if name in TABLES:
            return types.CPointer(
                types.int64 if name == "plan" else getattr(data.vectors, "base", data.vectors)
            )
        if name in ROW_KINDS:
            return RowType(name, data)
        known = (
            name in HEADER.names or name in BLOCK_STARTS or name in ("lane_count", "block_count")
        )
        return types.intp if known else None


@lower_getattr_generic(DataType)
def _get_of_data(context, builder, typ, value, name):
    data = cgutils.create_struct_proxy(typ)(context, builder, value=value)
    if name in _METHODS or name == "wide":
        return value
    if name in TABLES:
        attribute = types.CPointer(types.int64 if name == "plan" else typ.vectors.base)
        return builder.bitcast(getattr(data, name), context.get_value_type(attribute))
    if name in ROW_KINDS:
        return _make_row(context, builder, typ, data, name, _SLOT(0))
    if name in BLOCK_STARTS:
        return getattr(data, name)
    if name == "lane_count":
        return _SLOT(getattr(typ.token, "count", 1))
    if name == "block_count":
        return _block_count(builder, typ, data)
    if HEADER.feature(name) not in (None, *typ.features):
        return _SLOT(0)
    return _header_entry(builder, data.plan, name)


def _block_count(builder, typ, data):
    """Make code for the number of blocks that phases over bodies run through."""
    bodies = _header_entry(builder, data.plan, "body_count")
    if not typ.single:
        return bodies
    return builder.ashr(builder.add(bodies, _SLOT(LANES - 1)), _SLOT(_SHIFT))


@infer_getattr
class _RowAttributes(AttributeTemplate):
    key = RowType

    def generic_resolve(self, row, name):
        return row.type_of(name)


def _element(context, builder, row, value, name, k=0):
    """Make code for the address of element k of a field; return it with the field's width."""
    table, _, offset = row.fields[name]
    made = cgutils.create_struct_proxy(row)(context, builder, value=value)
    if table == "plan":
        return builder.gep(made.plan, [_SLOT(offset)])
    return slot_pointer(
        builder,
        getattr(made, table),
        _SLOT((offset + k) * LANES),
        context.get_value_type(row.token),
    )


@lower_getattr_generic(RowType)
def _get_of_row(context, builder, row, value, name):
    if name == "index":
        return cgutils.create_struct_proxy(row)(context, builder, value=value).index
    table, field, offset = row.fields[name]
    if table == "plan":
        if field.feature not in (None, *row.features):
            return _SLOT(0)
        return builder.load(_element(context, builder, row, value, name))
    if field.indexed:
        made = cgutils.create_struct_proxy(row)(context, builder, value=value)
        return builder.gep(getattr(made, table), [_SLOT(offset * LANES)])
    values = [
        builder.load(_element(context, builder, row, value, name, k), align=8)
        for k in range(field.width)
    ]
    return values[0] if field.width == 1 else context.make_tuple(builder, row.type_of(name), values)


@lower_setattr_generic(RowType)
def _set_of_row(context, builder, sig, args, name):
    row, width = sig.args[0], sig.args[0].fields[name][1].width
    parts = [args[1]] if width == 1 else cgutils.unpack_tuple(builder, args[1], width)
    for k, part in enumerate(parts):
        builder.store(part, _element(context, builder, row, args[0], name, k), align=8)


def _define_item(operation, result):
    """Register reading or writing of elements of indexed fields with numba."""
    import operator

    @infer_global(operation)
    class _Typing(AbstractTemplate):
        def generic(self, args, kws):
            if isinstance(args[0], ElementsType) and isinstance(args[1], types.Integer):
                return signature(
                    result(args[0]), args[0], types.intp, *[args[0].token] * (len(args) - 2)
                )

    def lower(context, builder, sig, args):
        kind = context.get_value_type(sig.args[0].token)
        at = slot_pointer(builder, args[0], builder.mul(args[1], _SLOT(LANES)), kind)
        if operation is operator.getitem:
            return builder.load(at, align=8)
        builder.store(args[2], at, align=8)
        return context.get_dummy_value()

    extra = [] if operation is operator.getitem else [types.Any]
    lower_builtin(operation, ElementsType, types.Integer, *extra)(lower)


def _define_items():
    """Register reading and writing of elements of indexed fields with numba."""
    import operator

    _define_item(operator.getitem, lambda elements: elements.token)
    _define_item(operator.setitem, lambda elements: types.none)


_define_items()

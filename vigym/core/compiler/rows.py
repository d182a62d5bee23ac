"""Rows of the tables as values with named fields, inside kernels.

A kernel receives the data ``d`` of a lane group. ``d.dof(p)`` is a row: ``dof.load += dof.stiffness
* stretch`` reads and writes the tables in place, whichever of them a field belongs to. How a field
is read follows from the type of ``d``: as one float (``d`` of a single environment) or as a vector
over environments (``d`` of a batch). ``d.wide`` is the same data read in blocks: of a single
environment a block is LANES bodies, one per lane; of a batch it is ``d``. Entries of the plan are
those of the first row of a block, but for those that refer to other rows: they are packs or runs.

=====================  =============================================================================
expression             meaning
=====================  =============================================================================
``d.body(i)``          row of a kind of `vigym.core.tables`: body, dof, contact, ...
``d.pose(knot, i)``    row of a body in one of the knot buffers, which a number identifies
``d.environment``      the one row that an environment has of its own
``d.body_count``       entry of the plan's header; 0 at compile time where a feature is absent
``d.dof_block_count``  number of blocks of a kind of rows; ``d.block_count`` of bodies
``d.full(x)``          number x in every lane, or a mask of a truth value
``d.number(slot)``     float that lies in a slot of the plan
``d.lane_count``       environments that a value holds: 1 in a single environment
``row.field``          float, vector, or a tuple of them; an integer for fields of the plan
``row.field[j]``       element of an indexed field
``row.index``          number of the row
``d.wide.body(pack)``  rows of one environment, wherever they lie: see `vigym.core.compiler.packs`
``d.wide.body(run)``   consecutive rows of one environment
=====================  =============================================================================
"""

from llvmlite import ir
from numba import typeof, types
from numba.core import cgutils
from numba.core.imputils import lower_getattr_generic, lower_setattr_generic
from numba.core.typing.templates import (
    AbstractTemplate,
    AttributeTemplate,
    infer_getattr,
    signature,
)
from numba.extending import intrinsic, lower_builtin

from vigym.core.compiler.data import (
    PACKS,
    SLOT,
    DataType,
    RowType,
    header_entry,
)
from vigym.core.compiler.packs import (
    PACK,
    RUN,
    find_places,
    gather,
    join_lanes,
    load_run,
    shift_places,
    store_run,
    unpack_lanes,
)
from vigym.core.compiler.simd import (
    LANES,
    LanesType,
    is_mask,
    mask_type,
    slot_pointer,
    spread_value,
    vector_type_of_dtype,
)
from vigym.core.tables.features import FEATURE_SETS
from vigym.core.tables.plan import HEADER
from vigym.core.tables.row_kinds import BLOCK_STARTS, ROW_KINDS, TABLES

_FEATURES = {type(typeof(found.token)): found.features for found in FEATURE_SETS}
_SHIFT = LANES.bit_length() - 1
_MASK = LANES - 1


@intrinsic
def group_data(
    context, plan, model, state, work, model_start, state_start, work_start, features, batch
):
    """Make the data of the lane group whose tables start at these slots of the flat arrays.

    ``features`` is the token of a set of features, ``batch`` None for a single environment.
    """
    vectors = vector_type_of_dtype(state.dtype)
    single = batch == types.none
    present = _FEATURES[type(types.unliteral(features))]
    if single and "contacts" in present:
        present = present | PACKS
    data = DataType(state.dtype if single else vectors, vectors, single, present)

    def generate(context, builder, sig, args):
        made = cgutils.create_struct_proxy(data)(context, builder)
        for k, table in enumerate(TABLES):
            array = cgutils.create_struct_proxy(sig.args[k])(context, builder, value=args[k])
            setattr(made, table, builder.bitcast(array.data, SLOT.as_pointer()))
        starts = {"model": args[4], "state": args[5], "work": args[6]}
        for name, (table, entry) in BLOCK_STARTS.items():
            start = starts[table]
            if entry is not None:
                start = builder.add(start, header_entry(builder, made.plan, entry))
            setattr(made, name, start)
        return made._getvalue()

    return data(
        plan, model, state, work, model_start, state_start, work_start, features, batch
    ), generate


def _row_start(builder, row, start, index, width):
    """Make code for the first slot of a row of a float table."""
    if isinstance(row.token, LanesType) and row.is_numbered:
        return builder.add(start, builder.mul(index, SLOT(width * LANES)))
    block = builder.mul(builder.ashr(index, SLOT(_SHIFT)), SLOT(width * LANES))
    return builder.add(start, builder.add(block, builder.and_(index, SLOT(_MASK))))


def _plan_start(builder, row, data, part, index):
    """Make code for the first slot of a row of the plan; of a block it is the first of its rows."""
    start = header_entry(builder, data.plan, part.start) if part.start else SLOT(HEADER.width)
    if row.several and row.is_numbered:
        index = builder.mul(index, SLOT(LANES))
    return builder.add(start, builder.mul(index, SLOT(part.table.width)))


def _make_row(context, builder, row, data, index, buffer=None):
    """Make code for a row of the given type, of a pack for all of its rows."""
    kind = ROW_KINDS[row.kind]
    number = index
    if kind.slots and row.features >= PACKS and not isinstance(row.token, LanesType):
        slots = builder.gep(data.plan, [header_entry(builder, data.plan, kind.slots)])
        index = builder.load(builder.gep(slots, [index]))
    made = cgutils.create_struct_proxy(row)(context, builder)
    for name, part in kind.tables.items():

        def address(number, name=name, part=part):
            """Make code for the address of one row."""
            if name == "plan":
                at = _plan_start(builder, row, data, part, number)
            else:
                at = getattr(data, part.start) if buffer is None else buffer
                if row.is_run:  # its block
                    number = builder.and_(number, SLOT(~_MASK))
                if not kind.alone:
                    at = _row_start(builder, row, at, number, part.table.width)
            return builder.gep(getattr(data, name), [at])

        if row.packed:
            found = join_lanes(builder, [address(k) for k in unpack_lanes(builder, index)])
        elif row.is_run:
            found = address(builder.extract_value(index, 0))
            if name != "plan":
                found = find_places(builder, found, part.table.width, index)
        else:
            found = address(index)
        setattr(made, name, found)
    made.index = number
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
            a if t in (PACK, RUN) else context.cast(builder, a, t, types.intp)
            for a, t in zip(args[1:], sig.args[1:], strict=True)
        ]
        buffer = numbers[0] if len(numbers) == 2 else None
        return _make_row(context, builder, sig.return_type, data, numbers[-1], buffer)

    return lower


def _lower_number(context, builder, sig, args):
    """Make code for ``d.number(slot)``."""
    data = cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0])
    slot = context.cast(builder, args[1], sig.args[1], types.intp)
    place = builder.gep(data.plan, [slot])
    return builder.load(builder.bitcast(place, ir.DoubleType().as_pointer()))


def _lower_full(context, builder, sig, args):
    """Make code for ``d.full(value)``."""
    return spread_value(context, builder, sig.return_type, args[1], sig.args[1])


_METHODS: dict[str, type[AbstractTemplate]] = {}
for _kind, _rows in ROW_KINDS.items():
    if not _rows.alone:
        _method(
            _kind,
            2 if _rows.buffered else 1,
            lambda data, *args, kind=_kind: RowType(kind, data, args[-1]),
            _lower_row(_kind),
        )
_method("number", 1, lambda data, slot: types.float64, _lower_number)
_method(
    "full",
    1,
    lambda data, value: mask_type(data.token) if is_mask(value) else data.token,
    _lower_full,
)


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
        known = name in HEADER.names or name in BLOCK_STARTS or name in _COUNTED
        known = known or name == "lane_count"
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
        return _make_row(context, builder, RowType(name, typ), data, SLOT(0))
    if name in BLOCK_STARTS:
        return getattr(data, name)
    if name == "lane_count":
        return SLOT(getattr(typ.token, "count", 1))
    if name in _COUNTED:
        return _block_count(builder, typ, data, _COUNTED[name])
    if HEADER.feature(name) not in (None, *typ.features):
        return SLOT(0)
    return header_entry(builder, data.plan, name)


# entries of the header that count rows, by the name of the number of their blocks
_COUNTED = {"block_count": "body_count", "dof_block_count": "dof_count"}


def _block_count(builder, typ, data, rows):
    """Make code for the number of blocks that phases over all rows run through."""
    count = header_entry(builder, data.plan, rows)
    if not typ.single:
        return count
    return builder.ashr(builder.add(count, SLOT(LANES - 1)), SLOT(_SHIFT))


@infer_getattr
class _RowAttributes(AttributeTemplate):
    key = RowType

    def generic_resolve(self, row, name):
        return row.type_of(name)


def _element(context, builder, row, value, name, k=0):
    """Make code for the address of element k of a field, of a pack for those of its rows."""
    table, _, offset = row.fields[name]
    made = cgutils.create_struct_proxy(row)(context, builder, value=value)
    slots = SLOT(offset if table == "plan" else (offset + k) * LANES)
    if row.is_run and table != "plan":
        return shift_places(builder, getattr(made, table), slots)
    if row.packed:
        return [builder.gep(at, [slots]) for at in unpack_lanes(builder, getattr(made, table))]
    if table == "plan":
        return builder.gep(made.plan, [slots])
    return slot_pointer(builder, getattr(made, table), slots, context.get_value_type(row.token))


def _plan_entry(context, builder, row, value, name):
    """Make code for an entry of the plan; of several rows for a pack, if it refers to rows."""
    _, field, _ = row.fields[name]
    at = _element(context, builder, row, value, name)
    if row.is_run and (field.steps or field.refers):
        return _run_entry(context, builder, row, value, (at, field))
    if not row.refers_in_lanes(field):
        entry = builder.load(at[0] if row.packed else at)
        return builder.ashr(entry, SLOT(_SHIFT)) if row.several and field.refers else entry
    if not row.packed:
        width = ROW_KINDS[row.kind].tables["plan"].table.width
        at = [builder.gep(at, [SLOT(k * width)]) for k in range(LANES)]
    return join_lanes(builder, [builder.load(one) for one in at])


def _run_entry(context, builder, row, value, entry):
    """Make code for an entry of the plan that refers to other rows: a run, or a pack."""
    at, field = entry
    run = cgutils.create_struct_proxy(row)(context, builder, value=value).index
    count = builder.sub(builder.extract_value(run, 1), builder.extract_value(run, 0))
    if field.steps:
        first = builder.load(at)
        made = builder.insert_value(run, first, 0)
        return builder.insert_value(made, builder.add(first, count), 1)
    width = SLOT(ROW_KINDS[row.kind].tables["plan"].table.width)
    last = builder.sub(count, SLOT(1))
    numbers = []
    for k in range(LANES):
        inside = builder.icmp_signed("<", SLOT(k), count)
        number = builder.select(inside, SLOT(k), last)
        numbers.append(builder.load(builder.gep(at, [builder.mul(number, width)])))
    return join_lanes(builder, numbers)


@lower_getattr_generic(RowType)
def _get_of_row(context, builder, row, value, name):
    if name == "index":
        return cgutils.create_struct_proxy(row)(context, builder, value=value).index
    table, field, offset = row.fields[name]
    if table == "plan":
        if field.feature not in (None, *row.features):
            return SLOT(0)
        return _plan_entry(context, builder, row, value, name)
    if field.indexed:
        made = cgutils.create_struct_proxy(row)(context, builder, value=value)
        start = getattr(made, table)
        if row.is_run:
            return shift_places(builder, start, SLOT(offset * LANES))
        if row.packed:
            slots = unpack_lanes(builder, start)
            return join_lanes(builder, [builder.gep(at, [SLOT(offset * LANES)]) for at in slots])
        return builder.gep(start, [SLOT(offset * LANES)])
    vector = context.get_value_type(row.token)
    places = [_element(context, builder, row, value, name, k) for k in range(field.width)]
    if row.is_run:
        values = [load_run(builder, at, vector) for at in places]
    elif row.packed:
        values = [gather(builder, at, vector) for at in places]
    else:
        values = [builder.load(at, align=8) for at in places]
    if field.is_mask:
        return builder.fcmp_ordered(">", values[0], ir.Constant(values[0].type, None))
    return values[0] if field.width == 1 else context.make_tuple(builder, row.type_of(name), values)


@lower_setattr_generic(RowType)
def _set_of_row(context, builder, sig, args, name):
    row = sig.args[0]
    _, field, _ = row.fields[name]
    if row.packed:
        raise NotImplementedError(f"found {name!r} of a pack written, expected that of a run")
    parts = [args[1]]
    if field.is_mask:
        parts = [builder.uitofp(args[1], context.get_value_type(row.token))]
    elif field.width > 1:
        parts = cgutils.unpack_tuple(builder, args[1], field.width)
    for k, part in enumerate(parts):
        at = _element(context, builder, row, args[0], name, k)
        if row.is_run:
            store_run(builder, part, at)
        else:
            builder.store(part, at, align=8)

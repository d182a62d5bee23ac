"""Lane value type: one kernel source runs one environment, or several side by side.

Numerical tables are laid out ``[row // s][field][lane]`` with LANES slots of eight bytes per field.
Two readings of it share every kernel:

* *lanes of environments* (a batch): s = 1. A row is a body, and the lanes of a field are LANES
  environments; or twice as many where a table holds single precision, two values to a slot.
  Places in a table count slots, whatever it holds.
* *lanes of bodies* (one environment): s = LANES. That many bodies share a block, one per lane.
  Phases over bodies read vectors; phases along the tree read single floats out of the block.

A *token* (any value of a lane type) says how to read: ``load(table, at, token)`` gives a vector
for a vector token, a float for a float. Lanes never mix in arithmetic, and no operation is fused or
reordered by the compiler, so a lane computes bit for bit what it computes alone.

A comparison makes a *mask*: a truth value for each lane, or one of floats. With NaN it is false.
``&``, ``|`` and ``~`` join masks; ``mask.any()`` and ``mask.all()`` ask all lanes. A scalar serves
as a value that is the same in every lane.
"""

import math
import operator

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import lower_cast
from numba.core.typing.templates import (
    AbstractTemplate,
    AttributeTemplate,
    infer_getattr,
    infer_global,
    signature,
)
from numba.extending import intrinsic, lower_builtin, models, register_model

from vigym.core.compiler.processor import PROCESSOR

LANES = 8 if PROCESSOR.has("avx512f") else 4  # float64 values of one register
# fused multiply-add in hardware
FUSED = PROCESSOR.has("fma") or PROCESSOR.has("neon")


class LanesType(types.Type):
    """Type of a vector of LANES floats in one register."""

    def __init__(self, base: types.Float, count: int):
        self.base, self.count = base, count
        super().__init__(name=f"Lanes({base}, {count})")

    @property
    def key(self):
        """Numbers and how many: types with the same key are the same."""
        return self.base, self.count


class MaskType(types.Type):
    """Type of a truth value for each lane of a vector."""

    base = types.boolean

    def __init__(self, lanes: LanesType):
        self.lanes, self.count = lanes, lanes.count
        super().__init__(name=f"Mask({lanes})")


def is_vector(kind):
    """Return whether values of a type have a part for each lane."""
    return isinstance(kind, (LanesType, MaskType))


def is_mask(kind):
    """Return whether a type is that of masks: of vectors, or of floats."""
    return isinstance(kind, (MaskType, types.Boolean))


def mask_type(kind):
    """Return the type of the masks that comparisons of values of a type make."""
    return MaskType(kind) if isinstance(kind, LanesType) else types.boolean


@register_model(LanesType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager, lanes):
        super().__init__(
            manager, lanes, ir.VectorType(manager.lookup(lanes.base).get_value_type(), lanes.count)
        )


@register_model(MaskType)
class _MaskModel(models.PrimitiveModel):
    def __init__(self, manager, mask):
        super().__init__(manager, mask, ir.VectorType(ir.IntType(1), mask.count))


FLOAT_LANES = LanesType(types.float64, LANES)


def spread_value(context, builder, token, value, kind):
    """Make code for a value of the token's type whose lanes all hold ``value``; vectors stay."""
    if token == kind:
        return value
    if not is_vector(token):
        return context.cast(builder, value, kind, token)
    return _spread(context, builder, token, value, kind)


def _spread(context, builder, lanes, value, kind):
    """Make code for the vector whose lanes all hold ``value``."""
    vector = context.get_value_type(lanes)
    one = builder.insert_element(
        ir.Constant(vector, ir.Undefined),
        context.cast(builder, value, kind, lanes.base),
        ir.IntType(32)(0),
    )
    return builder.shuffle_vector(
        one,
        ir.Constant(vector, ir.Undefined),
        ir.Constant(ir.VectorType(ir.IntType(32), lanes.count), None),
    )


def widest(*kinds):
    """Return the type of what an operation makes of its operands: a vector's, else a float's."""
    return max(kinds, key=lambda kind: (is_vector(kind), isinstance(kind, types.Float)))


def _spread_all(context, builder, token, values, kinds):
    """Make code for operands as values of the token's type."""
    pairs = zip(values, kinds, strict=True)
    return [spread_value(context, builder, token, value, kind) for value, kind in pairs]


def _define_binary(operation, vector, scalars, result, instruction):
    """Register an operation on vectors with numba; a scalar operand is spread.

    Args:
        operation: of the module ``operator``.
        vector: class of the vectors' types.
        scalars: classes of the scalars' types.
        result: function that returns the type of the result for that of the vectors.
        instruction: function that makes the code.
    """

    @infer_global(operation)
    class _Typing(AbstractTemplate):
        def generic(self, args, kws):
            token = widest(*args)
            accepts = isinstance(token, vector) and len(args) == 2
            if accepts and all(a == token or isinstance(a, scalars) for a in args):
                return signature(result(token), *args)

    def lower(context, builder, sig, args):
        return instruction(
            builder, *_spread_all(context, builder, widest(*sig.args), args, sig.args)
        )

    for scalar in scalars:
        lower_builtin(operation, vector, scalar)(lower)
        lower_builtin(operation, scalar, vector)(lower)
    lower_builtin(operation, vector, vector)(lower)


_NUMBERS = types.Float, types.Integer
for _operation, _in_place, _instruction in (
    (operator.add, operator.iadd, ir.IRBuilder.fadd),
    (operator.sub, operator.isub, ir.IRBuilder.fsub),
    (operator.mul, operator.imul, ir.IRBuilder.fmul),
    (operator.truediv, operator.itruediv, ir.IRBuilder.fdiv),
):
    _define_binary(_operation, LanesType, _NUMBERS, lambda lanes: lanes, _instruction)
    _define_binary(_in_place, LanesType, _NUMBERS, lambda lanes: lanes, _instruction)
for _operation, _sign in ((operator.gt, ">"), (operator.lt, "<"), (operator.ge, ">=")):
    _define_binary(
        _operation,
        LanesType,
        _NUMBERS,
        MaskType,
        lambda builder, a, b, sign=_sign: builder.fcmp_ordered(sign, a, b),
    )
_define_binary(operator.and_, MaskType, (types.Boolean,), lambda mask: mask, ir.IRBuilder.and_)
_define_binary(operator.or_, MaskType, (types.Boolean,), lambda mask: mask, ir.IRBuilder.or_)


@lower_cast(types.Boolean, MaskType)
@lower_cast(types.Float, LanesType)
def _cast_to_lanes(context, builder, number, lanes, value):
    """Spread a scalar that is assigned to a field of lanes."""
    return spread_value(context, builder, lanes, value, number)


def _define_unary(operation, lower, vector=LanesType):
    """Register an operation on a single vector with numba."""

    @infer_global(operation)
    class _Typing(AbstractTemplate):
        def generic(self, args, kws):
            if len(args) == 1 and isinstance(args[0], vector):
                return signature(args[0], args[0])

    lower_builtin(operation, vector)(lower)


def _call(builder, name, *values):
    """Call the LLVM intrinsic ``name`` on floats or vectors of one type."""
    kind = values[0].type
    vector = isinstance(kind, ir.VectorType)
    base = "f64" if isinstance(kind.element if vector else kind, ir.DoubleType) else "f32"
    full_name = f"{name}.v{kind.count}{base}" if vector else f"{name}.{base}"
    function = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(kind, [kind] * len(values)), full_name
    )
    return builder.call(function, values)


def slot_pointer(builder, table, at, kind):
    """Make a pointer to a value of LLVM type ``kind`` that starts at slot ``at`` of a table."""
    slots = builder.bitcast(table, ir.IntType(64).as_pointer())
    return builder.bitcast(builder.gep(slots, [at]), kind.as_pointer())


def matches_table_dtype(value, table):
    """Return whether a table is read and written as values of this type."""
    return getattr(value, "base", value) == table.dtype or isinstance(table.dtype, types.Integer)


_define_unary(operator.neg, lambda context, builder, sig, args: builder.fneg(args[0]))
_define_unary(operator.invert, lambda context, builder, sig, args: builder.not_(args[0]), MaskType)
sqrt = math.sqrt  # kernels take it from here: plain Python has one that gives NaN, no error
_define_unary(sqrt, lambda context, builder, sig, args: _call(builder, "llvm.sqrt", args[0]))


def any_set(builder, mask):
    """Make code for whether any lane of a mask is set."""
    bits = builder.bitcast(mask, ir.IntType(getattr(mask.type, "count", 1)))
    return builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))


def _all_set(builder, mask):
    """Make code for whether every lane of a mask is set."""
    return builder.not_(any_set(builder, builder.not_(mask)))


def _define_question(name, lower):
    """Register a method of masks that asks all lanes with numba."""

    class Template(AbstractTemplate):
        key = f"vigym.mask.{name}"

        def generic(self, args, kws):
            return None if args else signature(types.boolean, recvr=self.this)

    for mask in (MaskType, types.Boolean):
        lower_builtin(Template.key, mask)(
            lambda context, builder, sig, args: lower(builder, args[0])
        )
    return Template


_QUESTIONS = {"any": _define_question("any", any_set), "all": _define_question("all", _all_set)}


class _MaskMethods(AttributeTemplate):
    def generic_resolve(self, mask, name):
        return types.BoundFunction(_QUESTIONS[name], mask) if name in _QUESTIONS else None


for _mask in (MaskType, types.Boolean):
    infer_getattr(type(f"_MethodsOf{_mask.__name__}", (_MaskMethods,), {"key": _mask}))


@intrinsic
def load(context, table, at, token):
    """Read the value of the token's type that starts at slot ``at`` of a table."""

    def generate(context, builder, sig, args):
        return builder.load(
            slot_pointer(builder, args[0], args[1], context.get_value_type(sig.return_type)),
            align=8,
        )

    return (token(table, at, token), generate) if matches_table_dtype(token, table) else None


@intrinsic
def store(context, table, at, value):
    """Write a float or vector at slot ``at`` of a table."""

    def generate(context, builder, sig, args):
        builder.store(args[2], slot_pointer(builder, args[0], args[1], args[2].type), align=8)
        return context.get_dummy_value()

    return (types.void(table, at, value), generate) if matches_table_dtype(value, table) else None


@intrinsic
def spread(context, value, token):
    """Spread a float to a value of the token's type; a vector stays what it is."""

    def generate(context, builder, sig, args):
        return spread_value(context, builder, sig.return_type, args[0], sig.args[0])

    return token(value, token), generate


def _type_of_choice(mask, a, b):
    """Return the type of what ``where`` makes of its operands."""
    kind = widest(a, b)
    if is_vector(kind) or not is_vector(mask):
        return kind
    return mask if is_mask(kind) else mask.lanes


@intrinsic
def where(context, mask, a, b):
    """Select ``a`` in the lanes of the mask, else ``b``; NaN in the other one is ignored."""
    if not is_mask(mask):
        return None

    def generate(context, builder, sig, args):
        pair = _spread_all(context, builder, sig.return_type, args[1:], sig.args[1:])
        return builder.select(args[0], *pair)

    return _type_of_choice(mask, a, b)(mask, a, b), generate


def larger(builder, a, b):
    """Make code for the larger of two values, lane by lane; NaN if either is."""
    return builder.select(
        builder.fcmp_unordered("uno", a, a),
        a,
        builder.select(builder.fcmp_ordered(">", a, b), a, b),
    )


@intrinsic
def maximum(context, a, b):
    """Find the larger of two values, lane by lane; NaN if either is."""

    def generate(context, builder, sig, args):
        return larger(builder, *_spread_all(context, builder, sig.return_type, args, sig.args))

    return widest(a, b)(a, b), generate


@intrinsic
def minimum(context, a, b):
    """Find the smaller of two values, lane by lane; ``a`` if either is NaN."""

    def generate(context, builder, sig, args):
        a, b = _spread_all(context, builder, sig.return_type, args, sig.args)
        return builder.select(builder.fcmp_ordered(">", a, b), b, a)

    return widest(a, b)(a, b), generate


@intrinsic
def absolute(context, a):
    """Find the absolute value, lane by lane."""
    return a(a), lambda context, builder, sig, args: _call(builder, "llvm.fabs", args[0])


@intrinsic
def fma(context, a, b, c):
    """Compute a b + c with one rounding where the processor has the instruction, else with two.

    Written out, so that every layout rounds alike.
    """

    def generate(context, builder, sig, args):
        if not FUSED:
            return builder.fadd(builder.fmul(args[0], args[1]), args[2])
        return _call(builder, "llvm.fma", *args)

    return a(a, b, c), generate


def vector_type_of_dtype(dtype):
    """Return the vector type for a dtype: as many numbers as a register holds."""
    return FLOAT_LANES if dtype == types.float64 else LanesType(dtype, 2 * LANES)

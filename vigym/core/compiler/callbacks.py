"""Functions of the user inside kernels: compiled for themselves, and called by their address.

A kernel is compiled once, whatever functions it will call: an address is data like any other.

A function of C has no errors: where one of the user's raises, or returns a number that is not
finite, all numbers that the kernel finds are NaN, which no step takes. What it was given is kept.
"""

import functools
import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from llvmlite import ir
from numba import carray, cfunc, njit, types  # type: ignore[attr-defined]
from numba.core import cgutils
from numba.extending import intrinsic, is_jitted

from vigym.core.compiler.simd import LanesType

_NUMBERS = types.CPointer(types.float64)
_FUNCTION_OF_C = ir.FunctionType(ir.VoidType(), [ir.DoubleType().as_pointer()] * 2).as_pointer()


@dataclass(frozen=True, eq=False)
class Compiled:
    """Function of C.

    Attributes:
        function: of (given, found), two arrays of numbers, as it was before.
        of_c: the function of C, kept as long as kernels may call it.
        record: (1 + inputs,) whether a call failed since it was zeroed, and what it was given.
    """

    function: Any
    of_c: Any
    record: Any

    @property
    def address(self) -> int:
        """Address by which kernels call it."""
        return int(self.of_c.address)


@intrinsic
def _numbers_at(context, address):
    """Return a pointer to the numbers at an address."""

    def generate(context, builder, sig, args):
        return builder.inttoptr(args[0], context.get_value_type(sig.return_type))

    return _NUMBERS(types.intp), generate


def compile_function(function: Callable[..., Any], inputs: int, outputs: int) -> Compiled:
    """Compile a function of (given, found), two arrays of numbers, to one of C.

    Raises:
        TypeError: numba does not compile it, or what it calls.
    """
    inner = compilable(function)
    record = np.zeros(1 + inputs)
    address = record.ctypes.data

    def call(given, found):
        numbers, results = carray(given, (inputs,)), carray(found, (outputs,))
        finite = False
        try:
            inner(numbers, results)
            finite = True
        except Exception:
            finite = False
        for k in range(outputs):
            finite = finite and math.isfinite(results[k])
        if not finite:
            results[:] = math.nan
            kept = carray(_numbers_at(address), (1 + inputs,))
            if kept[0] == 0.0:  # the first: the next may come of its NaN
                kept[1:] = numbers
                kept[0] = 1.0

    try:
        return Compiled(inner, cfunc(types.void(_NUMBERS, _NUMBERS))(call), record)
    except Exception as error:  # numba raises errors of many kinds
        raise TypeError(f"{type(error).__name__}: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    """Return the line of numba's message that tells what it does not compile."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if not line.startswith("Failed in nopython mode")]
    return (telling or lines or [""])[0]


@functools.cache
def compilable(function: Callable[..., Any]) -> Any:
    """Return a function of our own that numba compiles."""
    return njit(error_model="numpy", nogil=True)(function)


@functools.cache
def compilable_of_user(function: Callable[..., Any]) -> Any:
    """Return a function of the user's that numba compiles: places beyond its arrays are errors.

    Raises:
        TypeError: it is no function of Python.
    """
    if is_jitted(function):
        return function
    if not inspect.isfunction(function):
        raise TypeError(f"{function!r} is no function of Python")
    return njit(error_model="numpy", nogil=True, boundscheck=True)(function)


def _parts(builder, kind, value):
    """List the numbers of a value: its own, or those of a tuple one after the other."""
    if not isinstance(kind, types.BaseTuple):
        return [value]
    parts = zip(kind.types, cgutils.unpack_tuple(builder, value, len(kind.types)), strict=True)
    return [number for part in parts for number in _parts(builder, *part)]


def _first_type(kind):
    """Return the type of the first number of nested tuples."""
    return _first_type(kind.types[0]) if isinstance(kind, types.BaseTuple) else kind


def make_caller(inputs: int, *outputs: int) -> Any:
    """Make a function for kernels that calls a function of C by its address, lane by lane.

    It takes the address, and values that are (nested) tuples of lanes.

    Args:
        inputs: how many numbers the function is given.
        outputs: how many of the numbers that it writes each value of the result has.
    """
    sizes = inputs, sum(outputs)

    @intrinsic
    def call(context, address, values):
        kind = _first_type(values)
        groups = [kind if width == 1 else types.UniTuple(kind, width) for width in outputs]

        def generate(context, builder, sig, args):
            given = _parts(builder, sig.args[1], args[1])
            function = builder.inttoptr(args[0], _FUNCTION_OF_C)
            arrays = [_new_array(builder, size) for size in sizes]
            found = [ir.Constant(context.get_value_type(kind), ir.Undefined)] * sizes[1]
            for k in range(getattr(kind, "count", 1)):
                for value, place in zip(given, arrays[0], strict=True):
                    builder.store(_lane_as_double(context, builder, kind, value, k), place)
                builder.call(function, [array[0] for array in arrays])
                found = [
                    _with_double_in_lane(context, builder, kind, (value, k), builder.load(place))
                    for value, place in zip(found, arrays[1], strict=True)
                ]
            rest = iter(found)
            parts = [[next(rest) for _ in range(width)] for width in outputs]
            made = [p[0] if len(p) == 1 else cgutils.pack_array(builder, p) for p in parts]
            return context.make_tuple(builder, sig.return_type, made)

        return types.BaseTuple.from_types(groups)(types.intp, values), generate

    return call


def _new_array(builder, size):
    """Make code for the addresses of the numbers of an array on the stack."""
    array = cgutils.alloca_once(builder, ir.ArrayType(ir.DoubleType(), size))
    first = builder.bitcast(array, ir.DoubleType().as_pointer())
    return [builder.gep(first, [ir.IntType(64)(k)]) for k in range(size)]


def _lane_as_double(context, builder, kind, value, k):
    """Make code for lane k of a value in double precision."""
    if isinstance(kind, LanesType):
        value = builder.extract_element(value, ir.IntType(32)(k))
    return context.cast(builder, value, getattr(kind, "base", kind), types.float64)


def _with_double_in_lane(context, builder, kind, place, number):
    """Make code for a value with a number in lane k; ``place`` is (value, k)."""
    number = context.cast(builder, number, types.float64, getattr(kind, "base", kind))
    if isinstance(kind, LanesType):
        return builder.insert_element(place[0], number, ir.IntType(32)(place[1]))
    return number

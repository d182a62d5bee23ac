"""Functions of the user inside kernels: compiled for themselves, and called by their address.

A kernel is compiled once, whatever functions it will call: an address is data like any other.
"""

import functools
import inspect
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import carray, cfunc, njit, types  # type: ignore[attr-defined]
from numba.core import cgutils
from numba.extending import intrinsic, is_jitted

INPUTS, OUTPUTS = 7, 7  # numbers of a pose; of an energy, a force and a torque
_NUMBERS = types.CPointer(types.float64)


@functools.cache  # compiled once, and kept as long as kernels may call it
def compile_potential(energy: Callable[..., Any], forces: Callable[..., Any]) -> Any:
    """Compile a potential to a function of C: from 7 numbers of a pose to its 7 numbers.

    Args:
        energy: of (position, orientation) to a number.
        forces: of the same to (force, torque), three numbers each.

    Raises:
        TypeError: functions that are no Python functions, or that numba does not compile.
    """
    of_energy, of_forces = _compiled(energy), _compiled(forces)

    def potential(given, found):
        pose, result = carray(given, (7,)), carray(found, (7,))
        position, orientation = pose[:3].copy(), pose[3:].copy()
        result[0] = of_energy(position, orientation)
        force, torque = of_forces(position, orientation)
        for k in range(3):
            result[1 + k] = force[k]
            result[4 + k] = torque[k]

    try:
        return cfunc(types.void(_NUMBERS, _NUMBERS))(potential)
    except Exception as error:  # numba raises errors of many kinds
        reason = str(error).strip().splitlines()[-1] if str(error).strip() else ""
        raise TypeError(f"{type(error).__name__}: {reason}") from error


def _compiled(function: Callable[..., Any]) -> Any:
    """Return a function that numba compiles."""
    if is_jitted(function):
        return function
    if not inspect.isfunction(function):
        raise TypeError(f"{function!r} is no function of Python")
    return njit(error_model="numpy", nogil=True)(function)


@intrinsic
def call_function(context, address, numbers):
    """Call a function of C by its address, with 7 numbers; return the 7 numbers that it writes."""

    def generate(context, builder, sig, args):
        number = ir.DoubleType()
        arrays = [
            cgutils.alloca_once(builder, ir.ArrayType(number, count)) for count in (INPUTS, OUTPUTS)
        ]
        first = [builder.bitcast(array, number.as_pointer()) for array in arrays]
        for k, value in enumerate(cgutils.unpack_tuple(builder, args[1], INPUTS)):
            builder.store(value, builder.gep(first[0], [ir.IntType(64)(k)]))
        kind = ir.FunctionType(ir.VoidType(), [number.as_pointer()] * 2).as_pointer()
        builder.call(builder.inttoptr(args[0], kind), first)
        found = [builder.load(builder.gep(first[1], [ir.IntType(64)(k)])) for k in range(OUTPUTS)]
        return context.make_tuple(builder, sig.return_type, found)

    given = types.UniTuple(types.float64, INPUTS)
    return types.UniTuple(types.float64, OUTPUTS)(types.intp, given), generate

"""Functions of the user inside kernels, in place of ``callbacks``: called as they are."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from vigym.core.compiler.plain.values import Number

_called: dict[int, "Compiled"] = {}  # by address


@dataclass(frozen=True, eq=False)
class Compiled:
    """Function that kernels call.

    Attributes:
        function: of (given, found), two arrays of numbers.
        record: (1 + inputs,) whether a call failed since it was zeroed, and what it was given.
    """

    function: Any
    record: Any

    @property
    def address(self) -> int:
        """Number by which kernels call it."""
        return id(self)

    def call(self, given: Any, found: Any) -> None:
        """Call the function; where it fails, all that it finds is NaN and the record is kept."""
        try:
            self.function(given, found)
        except Exception:  # of the user's function
            found[:] = np.nan
        if not np.isfinite(found).all():
            found[:] = np.nan
            if self.record[0] == 0.0:  # the first: the next may come of its NaN
                self.record[:] = 1.0, *given


def compile_function(function: Callable[..., Any], inputs: int, outputs: int) -> Compiled:
    """Return a function of (given, found), two arrays of numbers, as one that kernels call."""
    made = Compiled(function, np.zeros(1 + inputs))
    _called[made.address] = made
    return made


def compilable(function: Callable[..., Any]) -> Any:
    """Return a function of our own."""
    return function


def compilable_of_user(function: Callable[..., Any]) -> Any:
    """Return a function of the user's, of one that numba compiles the Python function.

    Raises:
        TypeError: it is no function of Python.
    """
    function = getattr(function, "py_func", function)
    if not inspect.isfunction(function):
        raise TypeError(f"{function!r} is no function of Python")
    return function


def _numbers(values: Any) -> Iterator[Any]:
    """Yield the numbers of nested tuples one after the other."""
    for value in values if isinstance(values, tuple) else ():
        yield from _numbers(value)
    if not isinstance(values, tuple):
        yield values


def make_caller(inputs: int, *outputs: int) -> Any:
    """Make a function for kernels that calls a function by its address.

    It takes the address, and values that are (nested) tuples of numbers.

    Args:
        inputs: how many numbers the function is given.
        outputs: how many of the numbers that it writes each value of the result has.
    """

    def call(address: int, values: Any) -> Any:
        found = np.zeros(sum(outputs))
        _called[address].call(np.fromiter(_numbers(values), Number, inputs), found)
        rest = iter(found)
        return tuple(next(rest) if n == 1 else tuple(islice(rest, n)) for n in outputs)

    return call

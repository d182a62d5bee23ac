"""Decorators of kernels.

``entry`` kernels are called from Python. ``phase`` functions are called by kernels. ``inline``
functions become part of their callers. Both take constants by their types, not by their values. A
phase that only some mechanisms need is compiled for those alone: ``@phase(needs="contacts")`` is
replaced by nothing in kernels of mechanisms without contacts.
"""

import functools
import gc
import inspect

from numba import config, njit
from numba.extending import overload

from vigym.core.compiler.cache import keep_on_disk
from vigym.core.compiler.linking.passes import (
    KERNEL_OPTIONS,
    PHASE_OPTIONS,
    unliteral_arguments,
)
from vigym.core.compiler.linking.versions import ENABLED

if getattr(config, "DISABLE_JIT", False):
    raise ImportError(
        "vigym: found numba's compiler switched off (NUMBA_DISABLE_JIT=1), expected it on; "
        "VIGYM_COMPILE=0 runs the kernels as plain Python"
    )

_OPTIONS = {"error_model": "numpy", "boundscheck": False, "nogil": True, "no_cfunc_wrapper": True}
# parts of kernels allocate nothing: without counts of references a kernel compiles sooner
_PART = {**_OPTIONS, **PHASE_OPTIONS, "no_cpython_wrapper": True, "_nrt": False}


def entry(function):
    """Compile a kernel that Python calls: cached on disk, without the interpreter lock."""
    dispatcher = njit(**_OPTIONS, **KERNEL_OPTIONS)(function)
    dispatcher.compile = _without_collection(dispatcher.compile)
    keep_on_disk(dispatcher)
    return dispatcher


def _without_collection(compile_kernel):
    """Let a function run without garbage collection.

    The compiler makes millions of objects. Looking through them takes a fifth of its time.
    """

    @functools.wraps(compile_kernel)
    def run(*arguments):
        collects = gc.isenabled()
        gc.disable()
        try:
            return compile_kernel(*arguments)
        finally:
            if collects:
                gc.enable()

    return run


def nothing(d, *arguments):
    """Replace a phase without a result that a mechanism does not need."""
    return  # numba looks for a statement where it writes debugging information


def zero(d, *arguments):
    """Replace a phase that a mechanism does not need, and whose result is then zero."""
    return d.full(0.0)


def no_lanes(d, *arguments):
    """Replace a phase that a mechanism does not need, and whose result is then an empty mask."""
    return d.full(False)


def no_lanes_and_zero(d, *arguments):
    """Replace a phase that a mechanism does not need: an empty mask and zero are its results."""
    return d.full(False), d.full(0.0)


def two_zeros(d, *arguments):
    """Replace a phase that a mechanism does not need, and whose two results are then zero."""
    return d.full(0.0), d.full(0.0)


def three_zeros(d, *arguments):
    """Replace a phase that a mechanism does not need, and whose three results are then zero."""
    return d.full(0.0), d.full(0.0), d.full(0.0)


def phase(function=None, *, needs=None, otherwise=nothing):
    """Compile a phase of a kernel: a function that is called, not inlined.

    Args:
        function: Python function whose first argument is the data of a lane group.
        needs: name of the feature without which the phase is left out, None for phases that all
            kernels have.
        otherwise: function that is called in its place then, with the same arguments.
    """
    if function is None:
        return functools.partial(phase, needs=needs, otherwise=otherwise)
    # not inlined by the caller's own flag, which numba would hand down
    return _part(function, needs, otherwise, forceinline=False)


def inline(function):
    """Compile a small function that becomes part of its callers."""
    return _part(function, None, nothing, forceinline=True)


def _part(function, needs, otherwise, forceinline):
    """Make a function known to numba by its argument types; constants are not compiled in."""
    options = {**_PART, "forceinline": forceinline}
    if ENABLED and needs is None:
        return unliteral_arguments(njit(**options)(function))

    @functools.wraps(function)
    def called(*arguments, **named):
        raise TypeError(f"{function.__module__}.{function.__name__} is a part of kernels")

    def choose(*arguments):
        return function if needs is None or needs in arguments[0].features else otherwise

    choose.__signature__ = inspect.signature(function)
    overload(called, strict=False, jit_options=options)(choose)
    return called

"""Decorators of kernels that compile nothing, in place of ``kernel``, ``events``, ``processes``."""

import functools

import numpy as np

from vigym.core.compiler.plain.values import Number


def entry(function):
    """Make a kernel that Python calls: divisions by zero are no errors, numbers are numpy's."""

    @functools.wraps(function)
    def call(*arguments):
        with np.errstate(all="ignore"):
            return function(*(Number(a) if type(a) is float else a for a in arguments))

    call.signatures = ()  # none is compiled: calls do not share their work with other threads
    return call


def nothing(d, *arguments):
    """Replace a phase without a result that a mechanism does not need."""


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
    """Return a phase of a kernel as it is, or one that looks for the feature that it needs."""
    if function is None:
        return functools.partial(phase, needs=needs, otherwise=otherwise)
    if needs is None:
        return function

    @functools.wraps(function)
    def call(d, *arguments):
        return function(d, *arguments) if needs in d.features else otherwise(d, *arguments)

    return call


def inline(function):
    """Return a small function as it is."""
    return function


def listen(*listeners):
    """Call nobody: nothing compiles."""


def compile_beside(kind, calls, longest):
    """Start no process that compiles."""

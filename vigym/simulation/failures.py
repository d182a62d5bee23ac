"""Functions of the user that failed within a step: their owners, and their errors or results."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from vigym.core.compiler.callbacks import Compiled, compilable_of_user
from vigym.core.compiler.transforms import OUTPUTS, compile_transform
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.springs import Potential
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.tracks.custom import CustomJoint
from vigym.simulation.compile.imposed import compile_potential

SHOWN = 6  # most numbers that a message shows


class UserFunctions:
    """Compiled functions of potentials and custom joints, which keep the arguments of failed calls.

    Args:
        mechanism: with the potentials and joints.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        self._all: list[tuple[Compiled, Potential | CustomJoint]] = [
            (compile_potential(each.energy, each.forces), each)
            for each in mechanism.potentials.values()
        ]
        for track in mechanism.tracks.values():
            if isinstance(track, CustomJoint):
                made = compile_transform(track.transform, len(track.start), track.of_matrix)
                self._all.append((made, track))

    def clear(self) -> None:
        """Clear the failures so far."""
        for compiled, _ in self._all:
            compiled.record[0] = 0.0

    def warn(self) -> None:
        """Warn of functions that failed since the last `clear`, with their errors or results."""
        for compiled, owner in self._all:
            if compiled.record[0]:
                given = compiled.record[1:].copy()
                for text in _explanations(compiled, owner, given):
                    message = f"step: {text}, expected finite numbers; no step was made"
                    warnings.warn(message, RuntimeWarning, stacklevel=5)


def _explanations(
    compiled: Compiled, owner: Potential | CustomJoint, given: Array
) -> Iterator[str]:
    """Repeat the failed calls of the functions, and yield their errors or results."""
    if isinstance(owner, CustomJoint):
        found = _failure(partial(_run, compiled, given))
        yield f"custom joint {owner.name!r} transform near {given[: len(owner.start)]}: {found}"
        return
    position, orientation = given[:3].copy(), given[3:].copy()
    for what in ("energy", "forces"):
        function = compilable_of_user(getattr(owner, what))
        found = _failure(partial(function, position.copy(), orientation.copy()))
        if found:
            yield f"potential {owner.name!r} {what} at position {position} m: {found}"


def _run(compiled: Compiled, given: Array) -> Array:
    found = np.zeros(OUTPUTS)
    compiled.function(given, found)
    return found


def _failure(call: Callable[[], Any]) -> str:
    """Return what a call raises, or returns that is not finite; "" if neither."""
    try:
        found = call()
        numbers = np.ravel(found)
        if np.isfinite(numbers).all():
            return ""
    except Exception as error:  # of the user's function, or of what it returns
        return f"found {type(error).__name__}: {error}"
    shown = numbers.tolist() if numbers.size <= SHOWN else "numbers that are not finite"
    return f"found {found if numbers.size == 1 else shown}"

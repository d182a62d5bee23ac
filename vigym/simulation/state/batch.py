"""The arrays behind a simulator, and calls of kernels on them: on one environment, or on groups of lanes of a batch.

The lane groups of a batch are shared by threads: a pool per process, made when a call first needs it. Kernels release
the interpreter lock, so plain threads run side by side. Threads do not survive a fork: a child forgets its parent's
pools and makes its own. Nothing a thread does depends on the others, so that results are the same for every number of
them.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vigym.core import reset
from vigym.core import tables as T
from vigym.core.absent import plain
from vigym.core.groups import FULL, PLAIN
from vigym.core.simd import LANES
from vigym.core.tables import Model

_POOLS: dict[int, ThreadPoolExecutor] = {}  # number of threads -> pool
Array = NDArray[np.float64]
Kernels = tuple[Any, Any]  # of one environment, of lane groups
PAYS = 400  # bodies in all groups times steps (about 0.25 us each) that a thread must have to be worth its start


def require_memory(count: int, each: float) -> None:
    """Raise MemoryError where `count` environments of `each` bytes take more memory than the machine has.

    Systems promise more memory than there is, and end a process that takes them at their word.
    """
    needed, present = count * each, _present()
    if needed > present:
        raise MemoryError(
            f"batch: found {count} environments, whose states alone take {needed / 1e9:.3g} GB, expected at most the "
            f"{present / 1e9:.3g} GB that this machine has"
        )


def _present() -> float:
    """Memory of the machine [bytes]; infinite where the system does not tell."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return math.inf


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_POOLS.clear)


def shares(groups: int, threads: int) -> list[tuple[int, int]]:
    """First group and the one behind the last of as many even shares as there are threads, none of them empty."""
    parts = max(1, min(threads, groups))
    return list(pairwise(groups * k // parts for k in range(parts + 1)))


def side_by_side(work: Callable[[int], None], count: int) -> None:
    """Call ``work`` with 0 to count - 1, each in a thread of its own; the caller takes the first and waits for all."""
    others: list[Future[None]] = []
    try:
        others.extend(_submitted(work, part, count - 1) for part in range(1, count))
        work(0)
    finally:
        wait(others)
    for other in others:
        other.result()


def _submitted(work: Callable[[int], None], part: int, size: int) -> Future[None]:
    """Give a part to the pool; do it at once where no thread can start, as when the interpreter is ending."""
    pool = _POOLS.get(size) or _POOLS.setdefault(size, ThreadPoolExecutor(size, thread_name_prefix="vigym"))
    try:
        return pool.submit(work, part)
    except RuntimeError:
        done: Future[None] = Future()
        work(part)
        done.set_result(None)
        return done


class LaneGroups:
    """Plan, constants, state and scratch memory of one environment or of a batch.

    Args:
        model: constant tables, of all environments.
        batch: number of environments, None for one without lanes.
        threads: largest number of threads that a call is shared by.
        pyramid: whether friction has the four-sided cone.
        inside: whether contacts are solved by the interior point.
        number: of the tables of numbers: float64, or float32 for steps in single precision.

    Raises:
        MemoryError: more environments than the machine has memory for.

    Attributes:
        plan, table, state, work: the arrays of `vigym.core.tables`; work is a list, one for each thread. In slots of
            eight bytes: float64 that may be two float32.
        extent: which kernels are needed, those of plain trees or those of all there is.
        single: whether this is one environment without lanes.
        count: number of environments.
        lanes: of them in a group.
        groups: number of lane groups.
    """

    def __init__(
        self,
        model: Model,
        batch: int | None,
        threads: int,
        pyramid: bool,
        inside: bool,
        number: type[np.floating[Any]] = np.float64,
    ) -> None:
        self.single, self.count = batch is None, 1 if batch is None else batch
        self.lanes, self._number = LANES * 8 // np.dtype(number).itemsize, number
        self.groups = 1 if self.single else -(-self.count // self.lanes)
        self.plan: NDArray[np.int64] = T.lay_out(model.plan, self.single)
        self.plan[[T.PYRAMID, T.INTERIOR]] = pyramid, inside
        require_memory(self.count, 8.0 * int(self.plan[T.STATE_SIZE]) * self.groups / self.count)
        self.extent: int | None = PLAIN if plain(self.plan) else FULL
        self.table: Array = T.model_table(model, self.single)
        self._state: Array = T.initial_state(self.plan, self.groups)
        self.work: list[Array] = [T.aligned(int(self.plan[T.THREAD_SIZE])) for _ in shares(self.groups, threads)]
        self._stride = 0  # from one group's constants to the next one's: all share those of the mechanism

    @property
    def state(self) -> Array:
        """The state of all groups; `refresh` has to follow when poses were written to it."""
        return self._state

    @property
    def tables(self) -> tuple[NDArray[Any], ...]:
        """First arguments of a kernel that works on everything."""
        return self._arrays(self.table, self._state, self.work[0])

    def _arrays(self, *slots: Array) -> tuple[NDArray[Any], ...]:
        """First arguments of a kernel, from slots of its tables of numbers."""
        return self.plan, *(slots if self._number is np.float64 else (array.view(self._number) for array in slots))

    def call(
        self,
        kernels: Kernels,
        *arguments: Any,
        chosen: NDArray[np.bool_] | None = None,
        knots: int = T.BUFFERS,
        changes: NDArray[np.bool_] | None = None,
        steps: int = 0,
    ) -> None:
        """Call the kernel that fits, on everything or where it is needed.

        Args:
            kernels: that of one environment, and that of lane groups.
            arguments: behind the four arrays; those that are arrays have a row for each environment.
            chosen: (count,) environments that it is needed for; others of their groups may be worked on too.
            knots: how many of the last ones it reads.
            changes: (count,) environments whose state it changes, beside those that step.
            steps: of a step how many there are.
        """
        single, lanes = kernels
        if self.single:
            single(*self.tables, self.extent, *arguments)
            return
        everything = [(0, self.groups)]
        spans = everything if chosen is None else self._needed(chosen)
        if spans != everything:  # little, here and there: for one thread
            for span in spans:
                self._part(lanes, arguments, span, self.work[0], steps)
            return
        spans = self._shared(lanes, max(1, steps))
        if len(spans) == 1:
            lanes(*self.tables, self.extent, *arguments, *self._ends(self.groups, steps))
        else:
            side_by_side(lambda k: self._part(lanes, arguments, spans[k], self.work[k], steps), len(spans))

    def _part(self, kernel: Any, arguments: tuple[Any, ...], span: tuple[int, int], work: Array, steps: int) -> None:
        """Call a kernel on a span of groups, with scratch memory of its own."""
        start, stop = span
        rows = slice(start * self.lanes, min(stop * self.lanes, self.count))
        size = int(self.plan[T.STATE_SIZE])
        table = self.table[start * self._stride : stop * self._stride] if self._stride else self.table
        own = (a[rows] if isinstance(a, np.ndarray) else a for a in arguments)
        arrays = self._arrays(table, self._state[start * size : stop * size], work)
        kernel(*arrays, self.extent, *own, *self._ends(stop - start, steps))

    def _ends(self, groups: int, steps: int) -> tuple[int, ...]:
        """Last arguments: of a step its range of groups, too."""
        return (0, groups, self._stride, 0) if steps else (self._stride,)

    def install(self, environment: int, model: Model) -> None:
        """Give one environment the constants of another model of the same plan."""
        if self.single:
            self.table = T.model_table(model, True)
            return
        if not self._stride:  # from now on each group has constants of its own
            shared, self._stride = self.table, self.table.size
            self.table = T.aligned(self.groups * self._stride)
            self.table.reshape(self.groups, -1)[:] = shared
        lanes = self.table.reshape(self.groups, -1, LANES)
        # lanes beyond the last environment repeat it, as their rows do: they must not be the ones that do not converge
        last = environment == self.count - 1
        at = slice(environment % LANES, LANES if last else environment % LANES + 1)
        lanes[environment // LANES, :, at] = T.model_table(model, False).reshape(-1, LANES)[:, :1]

    def quicken(self, changes: Array) -> None:
        """Add (count, bodies, 3) to the half-step velocities that led to the present knot, bodies by row from 1 on."""
        e, row = np.arange(self.count)[:, None, None], np.arange(1, 1 + changes.shape[1])[:, None]
        states = self._state.reshape(self.groups, -1)
        phase = states[:, T.PHASE].astype(int)
        knots = states[:, self.plan[T.STATE_KNOTS] :].reshape(self.groups, T.BUFFERS, -1, T.KNOT, LANES)
        g, block, lane = (0, row // LANES, row % LANES) if self.single else (e // LANES, row, e % LANES)
        knots[g, phase[g], block, T.V // LANES + np.arange(3), lane] += changes[0] if self.single else changes

    def refresh(self) -> None:
        """Rebuild what follows from poses that were written to the state."""
        reset.refresh(*self.tables, self.extent, self.groups, self.single, self._stride)

    def _shared(self, kernel: Any, steps: int) -> list[tuple[int, int]]:
        """Spans of groups, one for each thread that pays; the first call of a kernel compiles it, on one thread."""
        if len(self.work) == 1 or not kernel.signatures:
            return [(0, self.groups)]
        return shares(self.groups, min(len(self.work), int(self.plan[T.BODIES]) * self.groups * steps // PAYS))

    def _needed(self, chosen: NDArray[np.bool_]) -> list[tuple[int, int]]:
        """Spans of groups with an environment that is chosen."""
        within = np.zeros(self.groups + 2, np.int8)
        within[1 + np.flatnonzero(chosen) // LANES] = 1
        turns = np.flatnonzero(np.diff(within)).tolist()
        return list(zip(turns[::2], turns[1::2], strict=True))

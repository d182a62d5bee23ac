"""Arrays of a simulator, and calls of kernels on one environment or on lane groups."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vigym.core.compiler.simd import LANES
from vigym.core.kernels import assemble, read, reset, start, step
from vigym.core.model.layout import (
    KNOT_BUFFERS,
    Model,
    aligned_zeros,
    header_of,
    initial_state,
    lay_out,
    model_table,
)
from vigym.core.tables.features import smallest_set
from vigym.core.tables.plan import HEADER
from vigym.core.tables.state import ENVIRONMENT_STATE
from vigym.simulation.state.threads import run_interruptible, run_parallel, split_groups

Array = NDArray[np.float64]
Kernel = Any  # a function of `vigym.core.kernels`
# bodies in all groups times steps (about 0.25 us each) that make a thread worth its start
MIN_WORK_PER_THREAD = 400
# bodies in all groups times steps, some 20 ms to a second, beyond which a call can be interrupted
INTERRUPTIBLE_WORK = 80_000
# steps of such a call: copying the state first takes less than a few
MIN_INTERRUPTIBLE_STEPS = 8


def require_memory(count: int, each: float) -> None:
    """Raise MemoryError if `count` environments of `each` bytes exceed the machine's memory.

    Systems promise more memory than there is, and end a process that takes them at their word.
    """
    needed = count * each
    present = _machine_memory()
    if needed > present:
        raise MemoryError(
            f"batch: found {count} environments, whose states alone take {needed / 1e9:.3g} GB, "
            f"expected at most the {present / 1e9:.3g} GB that this machine has"
        )


def _machine_memory() -> float:
    """Return the memory of the machine [bytes]; infinite if it is unknown."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return math.inf


class LaneGroups:
    """Plan, constants, state and scratch memory of one environment or of a batch.

    Args:
        model: constant tables, of all environments.
        batch: number of environments, None for one without lanes.
        threads: largest number of threads that a call is shared by.
        pyramid: whether friction has the four-sided cone.
        interior_point: whether the interior point solves contacts and limits.
        number: of the tables of numbers: float64, or float32 for steps in single precision.

    Raises:
        MemoryError: more environments than the machine has memory for.

    Attributes:
        plan, table, state, work: the arrays of `vigym.core.tables`; work is a list, one for
            each thread. In slots of eight bytes: float64 that may be two float32.
        features: of the mechanism, which kernels are compiled for: of plain trees, with loops,
            with contacts too, or of all there is.
        single: whether this is one environment without lanes.
        count: number of environments.
        lanes: number of environments in a group.
        groups: number of lane groups.
    """

    def __init__(
        self,
        model: Model,
        batch: int | None,
        threads: int,
        pyramid: bool,
        interior_point: bool,
        number: type[np.floating[Any]] = np.float64,
    ) -> None:
        self.single = batch is None
        self.count = 1 if batch is None else batch
        self.lanes = LANES * 8 // np.dtype(number).itemsize
        self._number = number
        self._layout = None if self.single else 1
        self.groups = 1 if self.single else -(-self.count // self.lanes)
        self._whole = [(0, self.groups)]
        self.plan: NDArray[np.int64] = lay_out(model.plan, self.single)
        header = header_of(self.plan)
        header["pyramid"], header["interior_point"] = pyramid, interior_point
        self.state_size = int(header["state_size"])
        require_memory(self.count, 8.0 * self.state_size * self.groups / self.count)
        features = {HEADER.feature(name) for name in HEADER.names if header[name] != 0}
        features -= {None, "plain", "packs"}  # these two change no choice of kernels
        self.features = smallest_set(features)
        self.table: Array = model_table(model, self.single)
        self._state: Array = initial_state(self.plan, self.groups)
        self.work: list[Array] = [
            aligned_zeros(int(header["work_size"])) for _ in split_groups(self.groups, threads)
        ]
        # slots from one group's constants to the next one's; 0: all share those of the mechanism
        self._stride = 0
        # steps of a call that is not worth interrupting
        self._brief = max(
            MIN_INTERRUPTIBLE_STEPS, INTERRUPTIBLE_WORK // (int(header["body_count"]) * self.groups)
        )

    @property
    def state(self) -> Array:
        """State of all groups; `update_derived` has to follow when poses were written to it."""
        return self._state

    @property
    def tables(self) -> tuple[NDArray[Any], ...]:
        """First arguments of a kernel that works on everything."""
        return self._arrays(self.table, self._state, self.work[0])

    def _arrays(self, *slots: Array) -> tuple[NDArray[Any], ...]:
        """Return the first arguments of a kernel, from slots of its tables of numbers."""
        return self.plan, *(
            slots if self._number is np.float64 else (array.view(self._number) for array in slots)
        )

    @property
    def projects_starts(self) -> bool:
        """Whether start velocities have to be projected: there is more than a tree's joints."""
        header = header_of(self.plan)
        return bool(header["loop_row_count"] or header["contact_count"] or header["has_limits"])

    @property
    def kind(self) -> str:
        """Name of the mechanisms that share these kernels."""
        return self.features.name if self.single else f"batches of {self.features.name}"

    def first_calls(self) -> list[tuple[Kernel, tuple[Any, ...]]]:
        """Return the kernels of a first use, with arguments of the types that they will have.

        The longest, the step, is compiled while reading is typed.
        """
        rows = np.zeros((1, 1))  # values of any kind: only their types matter
        calls: dict[Kernel, tuple[Any, ...]] = {}
        if header_of(self.plan)["loop_row_count"]:
            calls[assemble.assemble] = (rows,) * 7
        calls[reset.reset] = (rows,) * 3
        if self.projects_starts:
            calls[start.start] = rows, 0.01, rows, rows
        calls[step.step] = rows, rows, 0.01, 2, 1, 1e-10, 1, rows
        calls[read.read] = (rows,)
        first = *self.tables, self.features.token, self._layout
        return [(k, (*first, *given, *self._ends(1, k is step.step))) for k, given in calls.items()]

    def call(
        self,
        kernel: Kernel,
        *arguments: Any,
        selected: NDArray[np.bool_] | None = None,
        knots: int = KNOT_BUFFERS,
        changes: NDArray[np.bool_] | None = None,
        steps: int = 0,
    ) -> None:
        """Call a kernel on everything or where it is needed.

        Args:
            kernel: function of `vigym.core.kernels`.
            arguments: those behind the four arrays; arrays have a row for each environment.
            selected: (count,) environments that it is needed for; others of their groups may be
                worked on too.
            knots: number of the last knots that it reads.
            changes: (count,) environments whose state it changes, beside those that step.
            steps: number of steps, of a kernel that steps.
        """
        if steps > self._brief:
            self._call_interruptibly(kernel, arguments, steps)
            return
        if not (selected is None or self.single):
            spans = self._needed(selected)
            if spans != self._whole:  # little, here and there: for one thread
                for span in spans:
                    self._call_span(kernel, arguments, span, self.work[0], steps)
                return
        spans = self._whole if len(self.work) == 1 else self._shared(kernel, max(1, steps))
        if len(spans) == 1:
            ends = self._ends(self.groups, steps)
            kernel(*self.tables, self.features.token, self._layout, *arguments, *ends)
        else:
            run_parallel(
                lambda k: self._call_span(kernel, arguments, spans[k], self.work[k], steps),
                len(spans),
            )

    def _call_interruptibly(self, kernel: Kernel, arguments: tuple[Any, ...], steps: int) -> None:
        """Call a kernel that steps in threads, while this one waits for them and for ctrl-C.

        After an exception here, such as KeyboardInterrupt, all arrays are as before the call.
        """
        self._call_span(kernel, arguments, (0, 0), self.work[0], steps)  # compiles it
        spans = self._shared(kernel, steps)
        arrays = [self._state, *(a for a in arguments if isinstance(a, np.ndarray))]
        changed = [array for array in arrays if array.flags.writeable]
        before = [array.copy() for array in changed]
        header = header_of(self.plan)
        try:
            run_interruptible(
                lambda k: self._call_span(kernel, arguments, spans[k], self.work[k], steps),
                len(spans),
                lambda: header.__setitem__("interrupted", 1),
            )
        except BaseException:
            for array, values in zip(changed, before, strict=True):
                array[:] = values
            raise
        finally:
            header["interrupted"] = 0

    def _call_span(
        self,
        kernel: Kernel,
        arguments: tuple[Any, ...],
        span: tuple[int, int],
        work: Array,
        steps: int,
    ) -> None:
        """Call a kernel on a span of groups, with scratch memory of its own."""
        start, stop = span
        rows = slice(start * self.lanes, min(stop * self.lanes, self.count))
        size = self.state_size
        table = (
            self.table[start * self._stride : stop * self._stride] if self._stride else self.table
        )
        own = (a[rows] if isinstance(a, np.ndarray) else a for a in arguments)
        arrays = self._arrays(table, self._state[start * size : stop * size], work)
        kernel(*arrays, self.features.token, self._layout, *own, *self._ends(stop - start, steps))

    def _ends(self, groups: int, steps: int) -> tuple[int, ...]:
        """Return the last arguments of a kernel: of a step its range of groups, too."""
        return (0, groups, self._stride, 0) if steps else (self._stride,)

    def set_model(self, environment: int, model: Model) -> None:
        """Set the constants of one environment from another model of the same plan."""
        if self.single:
            self.table = model_table(model, True)
            return
        if not self._stride:  # from now on each group has constants of its own
            shared = self.table
            self._stride = shared.size
            self.table = aligned_zeros(self.groups * self._stride)
            self.table.reshape(self.groups, -1)[:] = shared
        lanes = self.table.reshape(self.groups, -1, LANES)
        # lanes beyond the last environment repeat it, as their rows do: they must not be the ones
        # that do not converge
        is_last = environment == self.count - 1
        at = slice(environment % LANES, LANES if is_last else environment % LANES + 1)
        lanes[environment // LANES, :, at] = model_table(model, False).reshape(-1, LANES)[:, :1]

    @property
    def terrain_maps(self) -> NDArray[np.int64]:
        """Number of the terrain's map under every environment (count,)."""
        return self._map_lanes.reshape(-1)[: self.count].astype(np.int64)

    def set_terrain_maps(self, maps: NDArray[np.int64]) -> None:
        """Set the number of the terrain's map of every environment (count,)."""
        lanes = np.resize(maps, self._map_lanes.shape)
        lanes.reshape(-1)[: self.count] = maps
        self._map_lanes[:] = lanes

    @property
    def _map_lanes(self) -> Array:
        """View of the maps in the state (groups, LANES)."""
        start = ENVIRONMENT_STATE.offset("terrain_map") * LANES
        return self._state.reshape(self.groups, -1)[:, start : start + LANES]

    def take_constants(self, other: LaneGroups) -> None:
        """Take over the constants of groups of the same mechanism."""
        self.table = other.table
        self._stride = other._stride

    @property
    def times(self) -> Array:
        """Times since reset (count,) [s]: a copy."""
        start = ENVIRONMENT_STATE.offset("time") * LANES
        lanes = self._state.reshape(self.groups, -1)[:, start : start + LANES]
        return lanes.ravel()[: self.count].copy()

    def update_derived(self) -> None:
        """Rebuild derived values after poses were written to the state."""
        reset.update_all_derived(
            *self.tables, self.features.token, self._layout, self.groups, self._stride
        )

    def _shared(self, kernel: Kernel, steps: int) -> list[tuple[int, int]]:
        """Split the groups among as many threads as the work is worth; kernels compile on one."""
        if len(self.work) == 1 or not kernel.signatures:
            return self._whole
        bodies = int(header_of(self.plan)["body_count"])
        return split_groups(
            self.groups, min(len(self.work), bodies * self.groups * steps // MIN_WORK_PER_THREAD)
        )

    def _needed(self, selected: NDArray[np.bool_]) -> list[tuple[int, int]]:
        """Return the spans of groups with an environment that is selected."""
        within = np.zeros(self.groups + 2, np.int8)
        within[1 + np.flatnonzero(selected) // LANES] = 1
        turns = np.flatnonzero(within[1:] != within[:-1]).tolist()
        return list(zip(turns[::2], turns[1::2], strict=True))

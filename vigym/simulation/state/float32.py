"""Lane groups that step in single precision, and checks that a mechanism allows it.

Joints hold to 1e-5 (m, rad) or the step fails, and so they do in open chains. The equations of
motion hold to a few roundings of their largest term, which is a body's way from the origin, m |x| /
h^2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vigym.core.compiler import COMPILES
from vigym.core.compiler.simd import LANES
from vigym.core.kernels import float32 as kernels
from vigym.core.model.layout import KNOT_BUFFERS, Model, aligned_zeros, initial_state
from vigym.core.solver.convergence import ROUND_OFF
from vigym.core.tables.constants import ENVIRONMENT_MODEL
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.state.batch import Array, Kernel, LaneGroups

TOLERANCES = {"float64": 1e-10, "float32": 1e-5}  # by precision
# in single precision: positions of some meters are rounded to about that
LEAST_TOLERANCE = 1e-6
# [m] least length scale of gaps: rounding grows with the distance from the origin
LENGTH = 1.0
MOST_ROUNDING = 0.1  # of the weight: bound of the rounding of positions in an equation of motion


class SinglePrecision(LaneGroups):
    """Lane groups of a batch that step in single precision; all else works in double.

    Two groups of double precision are one of single precision. A pair of them is written from one
    precision to the other when it is needed there and not the same.

    Args:
        model: constant tables, of all environments.
        batch: number of environments.
        threads: largest number of threads that a call is shared by.
    """

    def __init__(self, model: Model, batch: int, threads: int) -> None:
        super().__init__(model, batch, threads, pyramid=False, interior_point=False)
        self._steps = LaneGroups(model, batch, threads, False, False, np.float32)
        pairs = self._steps.groups
        self._both: Array = initial_state(self.plan, 2 * pairs)
        self._state = self._both[: self.groups * self.state_size]
        # number of a pair's last knots that the states in double precision have
        self._known = np.full(pairs, KNOT_BUFFERS)
        self._changed = np.ones(pairs, np.bool_)  # pairs that it alone has as they are
        self._round_constants([0])

    @property
    def state(self) -> Array:
        """State of all groups in double precision; call `update_derived` after writing poses."""
        self._widen(KNOT_BUFFERS)
        return self._state

    def first_calls(self) -> list[tuple[Kernel, tuple[Any, ...]]]:
        """Return the result of `LaneGroups.first_calls`; steps are made in single precision."""
        *before, _, reading = super().first_calls()
        *_, step, _ = self._steps.first_calls()
        return [*before, step, reading]

    def call(
        self,
        kernel: Kernel,
        *arguments: Any,
        selected: NDArray[np.bool_] | None = None,
        knots: int = KNOT_BUFFERS,
        changes: NDArray[np.bool_] | None = None,
        steps: int = 0,
    ) -> None:
        """Call a kernel, as `LaneGroups.call` does; steps are made in single precision."""
        if steps:
            self._narrow()
            self._steps.call(kernel, *arguments, steps=steps)
            self._known[:] = 0
            return
        pairs = slice(None) if changes is None else np.flatnonzero(changes) // self._steps.lanes
        self._widen(knots, pairs)
        super().call(kernel, *arguments, selected=selected)
        self._changed[pairs] |= changes is not None

    def set_model(self, environment: int, model: Model) -> None:
        """Set the constants of one environment from another model of the same plan."""
        super().set_model(environment, model)
        steps, pairs = self._steps, [environment // self._steps.lanes]
        if steps._stride != self._stride:  # the first: constants are no longer shared
            steps._stride, pairs = self._stride, list(range(steps.groups))
            steps.table = aligned_zeros(steps.groups * steps._stride)
        self._round_constants(pairs)

    def update_derived(self) -> None:
        """Update derived values after poses were written to the state."""
        super().update_derived()
        self._changed[:] = True

    def _widen(self, knots: int, pairs: Any = slice(None)) -> None:
        """Convert states of the pairs to double precision, where so many last knots are missing."""
        requested = np.zeros_like(self._known)
        requested[pairs] = knots
        single = self._steps.tables[2]
        kernels.states_to_double(
            self.plan,
            self.table,
            single,
            self._both,
            self.groups,
            self._stride,
            self._known,
            requested,
        )

    def _narrow(self) -> None:
        """Convert all states to single precision."""
        plan, table, state, _ = self._steps.tables
        kernels.states_to_single(plan, table, self._both, state, self._steps._stride, self._changed)

    def _round_constants(self, pairs: list[int]) -> None:
        """Write constants of pairs of groups in single precision."""
        double = self.table.reshape(self.groups if self._stride else 1, -1, LANES)
        single = self._steps.table.view(np.float32).reshape(-1, double.shape[1], 2, LANES)
        for pair in pairs:
            two = np.minimum([2 * pair, 2 * pair + 1], len(double) - 1)
            single[pair] = double[two].transpose(1, 0, 2)
        lengths = single[:, ENVIRONMENT_MODEL.offset("length_scale")]
        np.maximum(lengths, LENGTH, out=lengths)


def check_single(
    mechanism: Mechanism,
    model: Model,
    timestep: float,
    order: int,
    tolerance: float,
    batch: int | None,
) -> None:
    """Raise ValueError naming the first that single precision does not serve for."""
    found = (
        "one environment, which steps in double precision; expected a batch"
        if batch is None
        else ""
    )
    if not COMPILES:
        found = "plain Python (VIGYM_COMPILE=0); expected compiled kernels"
    found = found or "".join(
        f"{name}; expected an open chain without contact" for name in _hard(mechanism)[:1]
    )
    if found:
        raise ValueError(f'precision="float32": found {found}')
    if order != 2:
        raise ValueError(
            f'order: found {order!r} with precision="float32", expected 2: '
            "rounding errors are larger than those of the order"
        )
    if tolerance < LEAST_TOLERANCE:
        raise ValueError(
            f'tolerance: found {tolerance:g} with precision="float32", '
            f"expected at least {LEAST_TOLERANCE:g}"
        )
    least = shortest_step(mechanism, model)
    if timestep < least:
        raise ValueError(
            f'timestep: found {timestep:g} s with precision="float32", '
            f"expected at least {least:.2g} s: in shorter steps the rounding of positions is "
            f"more than {MOST_ROUNDING:.0%} of the weight"
        )


def _hard(mechanism: Mechanism) -> list[str]:
    """List the elements that need more digits than single precision has."""
    found = [f"joint {joint.name!r}, which closes a loop" for joint in mechanism.closing_joints]
    found += [f"coupling {name!r}" for name in mechanism.couplings]
    found += [f"curve or surface joint {name!r}" for name in mechanism.tracks]
    found += [f"the prescribed motion of {name!r}" for name in mechanism.motions]
    found += [f"velocity constraint {name!r}" for name in mechanism.velocity_constraints]
    found += [f"potential {name!r}" for name in mechanism.potentials]
    found += [f"spring {name!r} between two points" for name in mechanism.springs]
    found += [f"contact {name!r}" for name in mechanism.contact_names]
    return found + [f"skate or wheel {name!r}" for name in (*mechanism.skates, *mechanism.wheels)]


def shortest_step(mechanism: Mechanism, model: Model) -> float:
    """Find the timestep [s] at which rounding of positions is the largest part of the weight."""
    scale = float(model.environment["force_scale"][0])
    reach = max(
        body.mass * float(np.linalg.norm(body.position)) for body in mechanism.bodies.values()
    )
    return float(np.sqrt(ROUND_OFF[1] * reach / (MOST_ROUNDING * scale)))

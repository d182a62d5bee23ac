"""Simulator: a model, its state and scratch memory; the only caller of the step kernels."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.announce import announce
from vigym.core import reset, step
from vigym.core import tables as T
from vigym.mechanism.elements.checks import one_of
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.chosen import OPTIONS, Chosen
from vigym.simulation.linearization.linearize import Linear
from vigym.simulation.saved import Saved
from vigym.simulation.state.batch import LaneGroups
from vigym.simulation.state.coordinates import Array, Base, Coordinates, Given, names_of
from vigym.simulation.state.float32 import TOLERANCES, SinglePrecision, check_single
from vigym.simulation.state.initial_state import Lift, LoopStart, closing_first, state_assembly
from vigym.simulation.state.options import (
    check_options,
    chosen_of,
    cone_of,
    floats,
    number,
    targets_of,
    torques_of,
    whole,
)
from vigym.simulation.state.outcome import Energy, Status, status_of

__all__ = ["Energy", "Simulator", "Status"]
_STARTED = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])  # the outcome of what has not been stepped
_FORCES = (torques_of, T.ACTUATORS), (targets_of, T.MOTORS)


class Simulator(Linear, Saved, Chosen):
    """Steps a mechanism, or a batch of copies of it, which `set_parameters` makes differ.

    Args:
        mechanism: what moves; compiled here, later changes to it are not seen.
        timestep: h [s].
        order: 2, or 4 (composition of three second-order steps, up to 1.7 h long: more exact where 2 is good, and worse
            in motion that is too fast for the step; only without damping).
        loops: "tail" (all loops in one dense node), "local" (each where its cycle closes) or "auto": the tail for up to
            two links (closing joints and springs between points), local beyond. Results agree to rounding.
        tolerance: largest scaled residual of an accepted step (a few roundings of its largest term, if that is more);
            1e-10, or 1e-5 in single precision.
        batch: number of environments, or None for one without a leading axis.
        threads: by how many a batch is stepped at most; a call with little work takes fewer. Results are the same.
        friction_cone: "cone", or "pyramid": the four-sided one of [SIM 3.4].
        contact_solver: "newton": semi-smooth, the interior point where that fails; or "interior_point" from the start,
            which takes many more iterations and leaves small gaps: a reference. It knows the true cone only.
        precision: "float64", or "float32": steps of a batch in single precision, about twice as fast. All that is given
            and read stays double. For open chains without contact, see `vigym.simulation.state.float32`.

    Raises:
        ValueError: a value out of range, or order 4 with what dissipates, motors, limits or contact.
        MemoryError: a batch that is larger than the machine's memory.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        timestep: float = 0.01,
        order: int = 2,
        loops: str = "auto",
        tolerance: float | None = None,
        batch: int | None = None,
        threads: int = 1,
        *,
        friction_cone: str = "cone",
        contact_solver: str = "newton",
        precision: str = "float64",
    ) -> None:
        self.mechanism, self._order = copy.deepcopy(mechanism), order
        self._batch, self._threads = batch, threads
        self._timestep, self._precision = (
            number(timestep, "timestep [s]"),
            one_of(precision, [*TOLERANCES], "precision"),
        )
        self._tolerance = TOLERANCES[precision] if tolerance is None else number(tolerance, "tolerance")
        check_options(mechanism, self._timestep, order, self._tolerance, batch, threads)
        self._loops = one_of(loops, ["auto", "tail", "local"], "loops")
        self._cone = cone_of(friction_cone, contact_solver)
        self._model = mechanism.compile(loops)
        self._coordinates = Coordinates(mechanism)
        self._lift = Lift(mechanism, self._coordinates)
        state_assembly(self.mechanism, self._coordinates)
        self._groups = self._lane_groups()
        self._loop_start = LoopStart(self.mechanism, self._coordinates, self._groups)
        self._single, self._count = self._groups.single, self._groups.count
        self._status = np.zeros((self._count, step.OUTCOME))
        self._still, self._idle = (of(None, self._count, int(self._groups.plan[n]), self._single) for of, n in _FORCES)
        self._reading: Array | None = None
        self._start_energy = np.zeros(self._count)
        self._rest, self._variants = np.tile(self._coordinates.rest, (self._count, 1)), {}
        announce()
        self.reset()

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("mechanism", *OPTIONS, "state")}

    def __setstate__(self, values: dict[str, Any]) -> None:
        self.__init__(values["mechanism"], **{name: values[name] for name in OPTIONS})  # type: ignore[misc]
        self.state = values["state"]

    def _lane_groups(self) -> LaneGroups:
        if self._precision == "float32":
            check_single(self.mechanism, self._model, self._timestep, self._order, self._tolerance, self._batch)
            return SinglePrecision(self._model, self._batch or 1, self._threads)
        pyramid, inside = self.friction_cone == "pyramid", self.contact_solver != "newton"
        return LaneGroups(self._model, self._batch, self._threads, pyramid, inside)

    def reset(
        self,
        positions: Given = None,
        velocities: Given = None,
        base: Base = None,
        mask: ArrayLike | None = None,
        lift: bool = False,
    ) -> None:
        """Start afresh from joint coordinates and knot velocities; what is not named is at the assembly pose, at rest.

        With loops, what is named is held and the other joints follow: from the assembly pose, on its branch, and with
        the rates that keep the loops closed with the least kinetic energy. Rates given as a whole array are projected.
        Of closing joints a whole array of positions tells the full turns only.

        Args:
            positions: joint or coordinate name -> value [rad, m], or the whole array (n_positions,); in a batch also
                arrays with a leading (batch,) axis.
            velocities: the same for velocities (n_velocities,) [rad/s, m/s].
            base: floating body -> dict of position, orientation, velocity, angular_velocity.
            mask: (batch,) environments to reset, all by default; (1,) without a batch.
            lift: whether floating bodies are moved along the ground's normal until what hangs on them just touches it;
                those that closing joints or pairs join move as one, what a closing joint holds to the world stays.
                Else what starts below the ground, as what starts beyond a joint's limits, never goes further and is led
                back by 1e-6 (m, rad) a step: it takes up no energy.

        Raises:
            MechanismError: a name that is unknown, a value that is not finite or has the wrong shape.
            AssemblyError: named values at which a loop cannot be closed; names the joint and the gap that is left.
            ValueError: the mask is not bool of shape (batch,). The state is then unchanged, as after every error here.
        """
        chosen = chosen_of(mask, self._count)
        q, qd = self._start(positions, velocities, base, chosen)
        self._place(q, qd, chosen)
        if lift and self._lift.possible:
            self._place(self._lift(q, self._touching()), qd, chosen)
        self._status[chosen] = _STARTED
        self._start_energy = np.where(chosen, self._energies(), self._start_energy)

    def _restart(self, chosen: NDArray[np.bool_]) -> None:
        self.reset(mask=chosen)

    def _place(self, q: Array, qd: Array, chosen: NDArray[np.bool_]) -> None:
        """Start the chosen environments from all their coordinates and velocities."""
        rows = (q, qd) if self._single else (q, qd, chosen[:, None].astype(np.float64))
        if np.count_nonzero(chosen):
            self._groups.call((reset.reset_single, reset.reset_lanes), *rows, changes=chosen)
        self._reread(chosen)

    def _start(self, positions: Given, velocities: Given, base: Base, chosen: NDArray[np.bool_]) -> tuple[Array, Array]:
        """Complete coordinates and velocities from the given ones."""
        q, qd = self._coordinates.arrays(self._count, self._single, positions, velocities, base)
        if not self._loop_start.needed:
            return _completed(q, self._rest), _completed(qd, 0.0)
        names = {*names_of(positions), *names_of(velocities)}
        closing = {name for name, own in self._loop_start.closing.items() if names & own}
        if closing:
            other = Simulator(closing_first(self.mechanism, closing, names), self.timestep, batch=self.batch)
            changed = self._changed()
            other._adopt(changed, [closing_first(self._mechanism_of(e), closing, names) for e in changed])
            other.reset(self._coordinates.without_turns(positions, closing), velocities, base, chosen)
            given = q
            q, qd = self._coordinates.translated(other.mechanism, other.joint_positions, other.joint_velocities)
            closed = slice(self._coordinates.tree_positions, None)  # with the turns that were given
            q[:, closed] = np.where(np.isnan(given[:, closed]), q[:, closed], given[:, closed])
        rates = np.where(np.isnan(qd), 0.0, qd)
        if not (closing or velocities is None or isinstance(velocities, Mapping)):
            qd[:] = np.nan
        return self._loop_start(self._rest, (q, qd), rates, chosen)

    def step(self, torques: ArrayLike | None = None, targets: ArrayLike | None = None, substeps: int = 1) -> Status:
        """Move by ``substeps`` steps, torques and targets held.

        Args:
            torques: (n_actuated,) or (batch, n_actuated) [N, N m] as ``mechanism.actuator_names``; None is zero.
            targets: (n_motors,) or (batch, n_motors) as ``mechanism.motor_names``: positions [rad, m], or rates of
                motors without a position gain; None: the motors idle.
            substeps: number of steps.

        Raises:
            ValueError: values of the wrong shape or not finite, substeps below one. The state is then unchanged.
        """
        steps, count, single = whole(substeps, "substeps"), self._count, self._single
        u = None if torques is None else torques_of(torques, count, self._still.shape[1], single)
        self.step_held(u, targets, steps)
        return self.status

    def step_held(self, torques: Array | None, targets: ArrayLike | None, substeps: int) -> None:
        """Step as `step` does, with torques (..., n_actuated) that are fine; `status` has the outcome if asked for."""
        u = self._still if torques is None else torques.reshape(self._still.shape)
        n = self._idle.shape[1]
        wanted = self._idle if targets is None else targets_of(targets, self._count, n, self._single)
        self._advance(u, wanted, self._timestep, self._order, substeps)

    def _advance(self, torques: Array, targets: Array, h: float, order: int, steps: int) -> None:
        """Call the step kernel, with checked torques and targets of all environments."""
        how = h, order, steps, self._tolerance
        self._reading = None
        self._groups.call((step.step_single, step.step_lanes), torques, targets, *how, self._status, steps=steps)
        if np.count_nonzero(self._status[:, 0]) < self._count:  # some diverged, perhaps
            self._status[np.isnan(self._status[:, 2]), 2] = np.inf

    def push(self, impulses: ArrayLike) -> None:
        """Strike bodies at their centres of mass: impulses (..., n_bodies, 3) [N s], world axes, `mechanism.bodies`.

        The next step's constraints pass them on. Energy given is not counted as work: the balance goes on from here.

        Raises:
            ValueError: the wrong shape, or numbers that are not finite. The state is then unchanged.
        """
        masses = self.body_inertias[0].reshape(self._count, -1)
        given = floats(impulses, "impulses")
        expected = (masses.shape[1], 3) if self._single else (*masses.shape, 3)
        if given.shape != expected or not np.isfinite(given).all():
            raise ValueError(f"impulses: found {given.tolist()}, expected finite numbers of shape {expected}")
        before, rows = self._energies(), self._model.body_rows
        changes = np.zeros((self._count, len(rows), 3))
        changes[:, rows - 1] = given.reshape(*masses.shape, 3) / masses[..., None]
        self._groups.quicken(changes)
        self._reading = None
        self._start_energy = self._start_energy + (self._energies() - before)

    @property
    def status(self) -> Status:
        """Outcome of the last step (after a reset: converged, nothing done)."""
        return status_of(self._status, self._single)


def _completed(given: Array, others: Array | float) -> Array:
    """What is given (count, n) itself, or a copy with others where it is NaN."""
    missing = np.isnan(given)
    return np.where(missing, others, given) if np.count_nonzero(missing) else given

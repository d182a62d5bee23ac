"""Simulator: a model, its state and scratch memory; the only caller of the step kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vigym.core import readout, reset, snapshot, step
from vigym.core import tables as T
from vigym.core.simd import LANES
from vigym.mechanism.coordinates import Array, Base, Coordinates, Given
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.options import check_options, chosen_of, rows_of, torques_of
from vigym.mechanism.outcome import Energy, Status, status_of

__all__ = ["Energy", "Simulator", "Status"]


class Simulator:
    """Steps a mechanism, or a batch of copies of it.

    Args:
        mechanism: what moves; compiled here, later changes to it are not seen.
        timestep: h [s].
        order: 2, or 4 (composition of three second-order steps; only without damping).
        tolerance: largest scaled residual of an accepted step.
        batch: number of environments, or None for one without a leading axis.
        threads: reserved for batches, 1.

    Raises:
        ValueError: a value out of range, or order 4 with damped joints.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        timestep: float = 0.01,
        order: int = 2,
        tolerance: float = 1e-10,
        batch: int | None = None,
        threads: int = 1,
    ) -> None:
        self.mechanism, self.order, self.batch = mechanism, order, batch
        self.timestep, self.tolerance = float(timestep), float(tolerance)
        check_options(mechanism, self.timestep, order, self.tolerance, batch, threads)
        self._model = mechanism.compile()
        self._coordinates = Coordinates(mechanism)
        self._single, self._count = batch is None, 1 if batch is None else batch
        self._allocate()
        self.reset()

    def _allocate(self) -> None:
        self._plan = T.lay_out(self._model.plan, self._single)
        self._groups = 1 if self._single else -(-self._count // LANES)
        self._table = T.model_table(self._model, self._single)
        self._state = T.initial_state(self._plan, self._groups)
        self._work = T.aligned(int(self._plan[T.THREAD_SIZE]))
        self._status = np.zeros((self._count, len(Status._fields)))
        self._reading: Array | None = None
        self._start_energy = np.zeros(self._count)

    @property
    def _tables(self) -> tuple[Array, Array, Array, Array]:
        """First arguments of every kernel."""
        return self._plan, self._table, self._state, self._work

    def __getstate__(self) -> dict[str, Any]:
        kept = ("mechanism", "timestep", "order", "tolerance", "batch", "_start_energy")
        return {name: getattr(self, name) for name in kept} | {"_state": self._state, "_status": self._status}

    def __setstate__(self, values: dict[str, Any]) -> None:
        options = (values[name] for name in ("mechanism", "timestep", "order", "tolerance", "batch"))
        self.__init__(*options)  # type: ignore[misc]
        self._state[:], self._status[:] = values["_state"], values["_status"]
        self._start_energy = values["_start_energy"]
        self._reading = None

    def reset(
        self, positions: Given = None, velocities: Given = None, base: Base = None, mask: ArrayLike | None = None
    ) -> None:
        """Start afresh from joint coordinates and knot velocities; what is not named is at the assembly pose, at rest.

        Args:
            positions: joint or coordinate name -> value [rad, m], or the whole array (n_positions,); in a batch also
                arrays with a leading (batch,) axis.
            velocities: the same for velocities (n_velocities,) [rad/s, m/s].
            base: floating body -> dict of position, orientation, velocity, angular_velocity.
            mask: (batch,) environments to reset, all by default.

        Raises:
            MechanismError: a name that is unknown, a value that is not finite or has the wrong shape.
            ValueError: the mask is not bool of shape (batch,). The state is then unchanged, as after every error here.
        """
        q, qd = self._coordinates.arrays(self._count, self._single, positions, velocities, base)
        chosen = np.ones(1, bool) if self._single else chosen_of(mask, self._count)
        if self._single:
            reset.reset_single(*self._tables, q, qd)
        else:
            reset.reset_lanes(*self._tables, q, qd, chosen[:, None].astype(np.float64), 0)
        self._reading = None
        self._status[chosen] = (1.0, 0.0, 0.0, 0.0, 0.0)
        energy = self._read()[:, self._coordinates.energies].sum(axis=1)
        self._start_energy = np.where(chosen, energy, self._start_energy)

    def step(self, torques: ArrayLike | None = None, substeps: int = 1) -> Status:
        """Move by ``substeps`` steps, torques held.

        Args:
            torques: (n_actuated,) or (batch, n_actuated) [N, N m] as ``mechanism.actuator_names``; None is zero.
            substeps: number of steps.

        Raises:
            ValueError: torques of the wrong shape or not finite, substeps below one. The state is then unchanged.
        """
        u = torques_of(torques, self._count, int(self._plan[T.ACTUATORS]), self._single)
        if substeps < 1 or substeps != int(substeps):
            raise ValueError(f"substeps: found {substeps!r}, expected a whole number of at least 1")
        self._reading = None
        how = self.timestep, self.order, int(substeps), self.tolerance
        if self._single:
            step.step_single(*self._tables, u, *how, self._status)
        else:
            step.step_lanes(*self._tables, u, *how, self._status, 0, self._groups, 0, 0)
        return self.status

    @property
    def status(self) -> Status:
        """Outcome of the last step (after a reset: converged, nothing done)."""
        return status_of(self._status, self._single)

    def _read(self) -> Array:
        """Readings (count, columns), computed once per state."""
        if self._reading is None:
            out = np.zeros((self._count, self._coordinates.columns))
            if self._single:
                readout.read_single(*self._tables, out)
            else:
                readout.read_lanes(*self._tables, out, 0)
            self._reading = out
        return self._reading

    @property
    def readings(self) -> Array:
        """(count, READ_COUNT) scalars of the present knot, in the order of ``vigym.core.readout``."""
        scalars: Array = self._read()[:, self._coordinates.scalars]
        return scalars

    @property
    def status_rows(self) -> Array:
        """(count, 5) the last step's ``Status`` as numbers."""
        return self._status

    @property
    def start_energy(self) -> Array:
        """(count,) total energy at reset [J]."""
        return self._start_energy

    def _out(self, values: Array) -> Array:
        """A copy of (count, ...) values, without the leading axis for one environment."""
        return np.array(values[0] if self._single else values, np.float64, order="C")

    def _number(self, values: Array) -> Any:
        """A copy of (count,) values, a float for one environment."""
        return float(values[0]) if self._single else values.copy()

    @property
    def joint_positions(self) -> Array:
        """Joint coordinates (..., n_positions) [rad, m], ordered as ``mechanism.position_names``."""
        return self._out(self._read()[:, self._coordinates.positions])

    @property
    def joint_velocities(self) -> Array:
        """Joint velocities at the knot (..., n_velocities) [rad/s, m/s], ordered as ``mechanism.velocity_names``."""
        return self._out(self._read()[:, self._coordinates.velocities])

    @property
    def time(self) -> Any:
        """Simulated time since reset [s]."""
        return self._number(self.readings[:, readout.READ_TIME])

    def _body(self, name: str, start: int, stop: int) -> Array:
        row = 13 * (int(self._model.body_rows[self._coordinates.body_index(name)]) - 1)
        return self._out(self._read()[:, row + start : row + stop])

    def body_position(self, name: str) -> Array:
        """Centre of mass in the world (..., 3) [m]."""
        return self._body(name, 0, 3)

    def body_orientation(self, name: str) -> Array:
        """Unit quaternion (w, x, y, z), body to world (..., 4)."""
        return self._body(name, 3, 7)

    def body_velocity(self, name: str) -> Array:
        """Velocity of the centre of mass at the knot, world axes (..., 3) [m/s]."""
        return self._body(name, 7, 10)

    def body_angular_velocity(self, name: str) -> Array:
        """Angular velocity at the knot, body axes (..., 3) [rad/s]."""
        return self._body(name, 10, 13)

    @property
    def body_states(self) -> Array:
        """All bodies (..., n_bodies, 13) in the order of ``mechanism.bodies``.

        Columns: position, orientation, velocity, angular velocity, as the ``body_...`` methods give them.
        """
        table = self._read()[:, : 13 * len(self._model.body_rows)].reshape(self._count, -1, 13)
        return self._out(table[:, self._model.body_rows - 1])

    def energy(self) -> Energy:
        """Kinetic, potential and total energy at the knot [J]; springs are potential, armatures kinetic."""
        kinetic, potential = self._read()[:, self._coordinates.energies].T
        return Energy(self._number(kinetic), self._number(potential), self._number(kinetic + potential))

    def constraint_residual(self) -> Any:
        """Largest joint gap [m or rad]."""
        return self._number(self.readings[:, readout.READ_GAP])

    def metrics(self) -> dict[str, Any]:
        """The physics metrics of the present state, see ``vigym.metrics.METRICS``."""
        from vigym.metrics import metrics

        return metrics(self)

    @property
    def state(self) -> Array:
        """Everything that the next step depends on (..., n_state): a copy. Setting it continues bit for bit."""
        packed = snapshot.pack(self._plan, self._state, self._single, self._count)
        return self._out(np.concatenate([packed, self._start_energy[:, None], self._status], axis=1))

    @state.setter
    def state(self, value: ArrayLike) -> None:
        self.set_state(value)

    def set_state(self, state: ArrayLike, mask: ArrayLike | None = None) -> None:
        """Restore states (..., n_state) taken from ``state``, of the environments of ``mask`` (all by default).

        Raises:
            ValueError: the shape or a value cannot be a state of this mechanism.
        """
        now = np.atleast_2d(self.state)
        given, chosen = rows_of(state, now, self._single), chosen_of(mask, self._count)
        rows = np.where(chosen[:, None], given, now)
        columns = snapshot.columns(self._plan)
        snapshot.unpack(self._plan, self._state, rows, self._single)
        self._start_energy, self._status[:] = rows[:, columns].copy(), rows[:, columns + 1 :]
        reset.refresh(*self._tables, self._groups, self._single, 0)
        self._reading = None

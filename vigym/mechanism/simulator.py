"""Simulator: a model, its state and scratch memory; the only caller of the step kernels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.core import readout, snapshot, step
from vigym.core import tables as T
from vigym.core.simd import LANES
from vigym.mechanism.coordinates import Coordinates
from vigym.mechanism.mechanism import Mechanism

Array = NDArray[np.float64]


class Status(NamedTuple):
    """Outcome of a step; arrays (batch,) in a batch.

    Attributes:
        converged: whether every sub-step met the tolerance; if not, the state is the one before the call.
        iterations: Newton increments over all sub-steps.
        residual: largest scaled residual that was accepted.
        halvings: how often a sub-step was halved.
        clipped: whether a torque went beyond its joint's effort and was clipped to it.
    """

    converged: Any
    iterations: Any
    residual: Any
    halvings: Any
    clipped: Any


class Energy(NamedTuple):
    """Energies at the knot [J]."""

    kinetic: Any
    potential: Any
    total: Any


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
        self, mechanism: Mechanism, timestep: float = 0.01, order: int = 2, tolerance: float = 1e-10, batch: int | None = None, threads: int = 1
    ) -> None:  # fmt: skip
        self.mechanism, self.timestep, self.order, self.tolerance, self.batch = (
            mechanism,
            float(timestep),
            order,
            float(tolerance),
            batch,
        )
        _check_options(mechanism, self.timestep, order, self.tolerance, batch, threads)
        self._model = mechanism.compile()
        self._coordinates = Coordinates(mechanism)
        self._single = batch is None
        self._count = 1 if batch is None else batch
        self._allocate()
        self.reset()

    def _allocate(self) -> None:
        self._plan = T.lay_out(self._model.plan, self._single)
        groups = 1 if self._single else -(-self._count // LANES)
        self._table = T.model_table(self._model, self._single)
        self._state = T.initial_state(self._plan, groups)
        self._work = T.aligned(int(self._plan[T.THREAD_SIZE]))
        self._status = np.zeros((self._count, len(Status._fields)))
        self._reading: Array | None = None
        self._start_energy = np.zeros(self._count)

    def __getstate__(self) -> dict[str, Any]:
        kept = ("mechanism", "timestep", "order", "tolerance", "batch", "_start_energy")
        return {name: getattr(self, name) for name in kept} | {"_state": self._state, "_status": self._status}

    def __setstate__(self, values: dict[str, Any]) -> None:
        self.__init__(values["mechanism"], values["timestep"], values["order"], values["tolerance"], values["batch"])  # type: ignore[misc]
        self._state[:], self._status[:] = values["_state"], values["_status"]
        self._start_energy = values["_start_energy"]
        self._reading = None

    def reset(
        self, positions: Mapping[str, ArrayLike] | ArrayLike | None = None, velocities: Mapping[str, ArrayLike] | ArrayLike | None = None,
        base: Mapping[str, Mapping[str, ArrayLike]] | None = None, mask: ArrayLike | None = None,
    ) -> None:  # fmt: skip
        """Start afresh from joint coordinates and knot velocities; what is not named is at the assembly pose, at rest.

        Args:
            positions: joint or coordinate name -> value [rad, m], or the whole array (n_positions,); arrays with a leading (batch,) axis in a batch.
            velocities: the same for velocities (n_velocities,) [rad/s, m/s].
            base: floating body -> dict of position, orientation, velocity, angular_velocity.
            mask: (batch,) environments to reset, all by default.

        Raises:
            MechanismError: a name that is unknown, a value that is not finite or has the wrong shape. The state is then unchanged.
        """
        q, qd = self._coordinates.arrays(self._count, self._single, positions, velocities, base)
        if self._single:
            readout.reset_single(self._plan, self._table, self._state, self._work, q, qd)
            chosen = np.ones(1, bool)
        else:
            chosen = np.ones(self._count, bool) if mask is None else _mask(mask, self._count)
            readout.reset_lanes(
                self._plan, self._table, self._state, self._work, q, qd, chosen[:, None].astype(np.float64), 0
            )
        self._reading = None
        self._status[chosen] = (1.0, 0.0, 0.0, 0.0, 0.0)
        energy = self._read()[:, self._coordinates.energies].sum(axis=1)
        self._start_energy = np.where(chosen, energy, self._start_energy)

    def step(self, torques: ArrayLike | None = None, substeps: int = 1) -> Status:
        """Move by ``substeps`` steps, torques held.

        Args:
            torques: (n_actuated,) or (batch, n_actuated) in the order of ``mechanism.actuator_names`` [N, N m]; None is zero.
            substeps: number of steps.

        Raises:
            ValueError: torques of the wrong shape or not finite, substeps below one. The state is then unchanged.
        """
        u = self._torques(torques)
        if substeps < 1 or substeps != int(substeps):
            raise ValueError(f"substeps: found {substeps!r}, expected a whole number of at least 1")
        arguments = (
            self._plan,
            self._table,
            self._state,
            self._work,
            u,
            self.timestep,
            self.order,
            int(substeps),
            self.tolerance,
            self._status,
        )
        self._reading = None
        if self._single:
            step.step_single(*arguments)
        else:
            step.step_lanes(*arguments, 0, -(-self._count // LANES), 0, 0)
        return self.status

    @property
    def status(self) -> Status:
        """Outcome of the last step (after a reset: converged, nothing done)."""
        s = self._status
        if self._single:
            return Status(bool(s[0, 0]), int(s[0, 1]), float(s[0, 2]), int(s[0, 3]), bool(s[0, 4]))
        return Status(s[:, 0] > 0, s[:, 1].astype(np.int64), s[:, 2].copy(), s[:, 3].astype(np.int64), s[:, 4] > 0)

    def _torques(self, torques: ArrayLike | None) -> Array:
        shape = (self._count, int(self._plan[T.ACTUATORS]))
        if torques is None:
            return np.zeros(shape)
        u = np.asarray(torques, dtype=np.float64)
        if u.shape != (shape[1:] if self._single else shape):
            raise ValueError(f"torques: found shape {u.shape}, expected {shape[1:] if self._single else shape}")
        if not np.isfinite(u).all():
            raise ValueError(f"torques: found {u[~np.isfinite(u)][0]} for an actuator, expected finite numbers")
        return np.ascontiguousarray(u.reshape(shape))

    def _read(self) -> Array:
        """Readings (count, columns), computed once per state."""
        if self._reading is None:
            out = np.zeros((self._count, self._coordinates.columns))
            if self._single:
                readout.read_single(self._plan, self._table, self._state, self._work, out)
            else:
                readout.read_lanes(self._plan, self._table, self._state, self._work, out, 0)
            self._reading = out
        return self._reading

    @property
    def readings(self) -> Array:
        """(count, READ_COUNT) scalars of the present knot in the order of ``vigym.core.readout``; a batch of one without ``batch``."""
        return self._read()[:, self._coordinates.scalars]

    @property
    def status_rows(self) -> Array:
        """(count, 5) the last step's status as numbers."""
        return self._status

    @property
    def start_energy(self) -> Array:
        """(count,) total energy at reset [J]."""
        return self._start_energy

    def _out(self, values: Array) -> Any:
        """Fresh values without the leading axis for one environment; plain floats where nothing else is left."""
        if not self._single:
            return values.copy()
        return float(values[0]) if values.ndim == 1 else values[0].copy()

    @property
    def joint_positions(self) -> Array:
        """Joint coordinates (..., n_positions) [rad, m], in the order of ``mechanism.position_names``."""
        return self._out(self._read()[:, self._coordinates.positions])

    @property
    def joint_velocities(self) -> Array:
        """Joint velocities at the knot (..., n_velocities) [rad/s, m/s], in the order of ``mechanism.velocity_names``."""
        return self._out(self._read()[:, self._coordinates.velocities])

    @property
    def time(self) -> Any:
        """Simulated time since reset [s]."""
        return self._out(self._read()[:, self._coordinates.scalars][:, readout.READ_TIME])

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
        """All bodies (..., n_bodies, 13) in the order of ``mechanism.bodies``: position, orientation, velocity, angular velocity."""
        reading = self._read()
        table = reading[:, : 13 * len(self._model.body_rows)].reshape(self._count, -1, 13)
        return self._out(table[:, self._model.body_rows - 1])

    def energy(self) -> Energy:
        """Kinetic, potential and total energy at the knot [J]; springs are potential, armatures kinetic."""
        kinetic, potential = self._read()[:, self._coordinates.energies].T
        return Energy(self._out(kinetic), self._out(potential), self._out(kinetic + potential))

    def constraint_residual(self) -> Any:
        """Largest joint gap [m or rad]."""
        return self._out(self._read()[:, self._coordinates.scalars][:, readout.READ_GAP])

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
        given, now = np.asarray(state, dtype=np.float64), np.atleast_2d(self.state)
        if given.shape not in (now.shape, now.shape[1:]) or not np.isfinite(given).all():
            raise ValueError(
                f"state: found shape {given.shape}, expected finite numbers of shape {now.shape[1:] if self._single else now.shape}"
            )
        chosen = np.ones(self._count, bool) if mask is None else _mask(mask, self._count)
        rows = np.where(chosen[:, None], given.reshape(-1, now.shape[1]), now)
        columns = snapshot.columns(self._plan)
        snapshot.unpack(self._plan, self._state, rows, self._single)
        self._start_energy, self._status[:] = rows[:, columns].copy(), rows[:, columns + 1 :]
        groups = self._state.size // int(self._plan[T.STATE_SIZE])
        readout.refresh(self._plan, self._table, self._state, self._work, groups, self._single, 0)
        self._reading = None


def _mask(mask: ArrayLike, count: int) -> NDArray[np.bool_]:
    chosen = np.asarray(mask)
    if chosen.shape != (count,) or chosen.dtype != np.bool_:
        raise ValueError(f"mask: found {chosen.dtype} of shape {chosen.shape}, expected bool of shape ({count},)")
    return chosen


def _check_options(
    mechanism: Mechanism, timestep: float, order: int, tolerance: float, batch: int | None, threads: int
) -> None:
    if not (0.0 < timestep < np.inf):
        raise ValueError(f"timestep: found {timestep!r}, expected a positive finite number [s]")
    if order not in (2, 4):
        raise ValueError(f"order: found {order!r}, expected 2 or 4")
    damped = [joint.name for joint in mechanism.joints.values() if joint.damping > 0]
    if order == 4 and damped:
        raise ValueError(
            f"order=4: joint {damped[0]!r} is damped; a composition with a negative step needs a system without dissipation"
        )
    if not (1e-14 <= tolerance < 1.0):
        raise ValueError(f"tolerance: found {tolerance!r}, expected a number from 1e-14 to 1")
    if batch is not None and (batch < 1 or batch != int(batch)):
        raise ValueError(f"batch: found {batch!r}, expected None or a whole number of at least 1")
    if threads != 1:
        raise ValueError(f"threads: found {threads!r}, expected 1 (threads over lane groups are not there yet)")

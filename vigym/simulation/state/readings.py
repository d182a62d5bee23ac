"""Readings of the present state: coordinates, bodies, energies, contacts, forces.

The state is read once, at the first question after it changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vigym.core.kernels import read, read_tracks
from vigym.core.kernels.step import STATUS_COLUMNS
from vigym.mechanism.elements.bodies import WORLD, Frame, check_body_or_frame
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.topology.effective_mass import least_norm_forces
from vigym.metrics import PresentState
from vigym.simulation.plant import Plant
from vigym.spatial import batch_quaternion_product, batch_rotation_matrix, cross

# columns of a body's state
BODY_STATE = {
    "position": slice(0, 3),
    "orientation": slice(3, 7),
    "velocity": slice(7, 10),
    "angular_velocity": slice(10, 13),
}
BODY_COLUMNS = 13
UNSTEPPED = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])  # status row after a reset


class Status(NamedTuple):
    """Outcome of a step; arrays (batch,) in a batch.

    Attributes:
        converged: whether every sub-step met the tolerance, or, where its largest terms are so
            large that rounding hides it, a few roundings of those; if not, the state is the one
            before the call.
        iterations: Newton iterations over all sub-steps.
        residual: largest scaled residual that was accepted; of a failed step, the one it ended
            with (inf: diverged).
        halvings: number of parts of steps that failed, most of which are halved, and of steps that
            began with a part: after one that was halved for its energy, or where a body turns too
            fast for a whole step.
        clipped: whether a torque exceeded its joint's effort and was clipped to it, or a motor
            reached its largest force in one of the sub-steps.
    """

    converged: bool | NDArray[np.bool_]
    iterations: int | NDArray[np.int64]
    residual: float | Array
    halvings: int | NDArray[np.int64]
    clipped: bool | NDArray[np.bool_]


class Energy(NamedTuple):
    """Energies of the present state [J].

    Attributes:
        kinetic: of bodies, and of the armatures of joints.
        potential: of gravity, springs and potentials.
        total: the sum of both.
    """

    kinetic: Any
    potential: Any
    total: Any


class Contacts(NamedTuple):
    """Contact points in the order of ``mechanism.contact_names``; (batch, ...) in a batch.

    Attributes:
        gap: (..., n) distance from the ground [m], negative below it; of a pair "a/b" that of the
            two shapes.
        force: (..., n, 3) on the body, of a pair on body a [N, world]: the contact's impulse in
            the last step, divided by the step size. It acts where that step began.
        position: (..., n, 3) of the lowest point, of a pair a's point nearest to b [m, world].
        normal: (..., n, 3) of the ground, of a pair from b to a [world].
        slip: (..., n) velocity of the point along the ground or the other body [m/s].
    """

    gap: Array
    force: Array
    position: Array
    normal: Array
    slip: Array


class Columns(NamedTuple):
    """Columns of the table that the read kernel fills, after the columns of the bodies.

    Attributes:
        positions: joint coordinates.
        velocities: joint velocities.
        scalars: time, energies, work and residuals.
        contacts: contacts with the ground and of pairs.
        actuators: actuator forces.
        tracks: places of curve and surface joints.
        width: number of columns.
    """

    positions: slice
    velocities: slice
    scalars: slice
    contacts: slice
    actuators: slice
    tracks: slice
    width: int


def table_columns(mechanism: Mechanism) -> Columns:
    """Return the columns of the readings of a mechanism."""
    contact = read.READ_CONTACT
    widths = (
        BODY_COLUMNS * len(mechanism.bodies),
        len(mechanism.position_names),
        len(mechanism.velocity_names),
        read.READ_COUNT,
        contact * len(mechanism.contact_names),
        contact * (len(mechanism.skates) + len(mechanism.wheels)),
        len(mechanism.actuator_names),
        read_tracks.READ_TRACK * len(mechanism.tracks),
    )
    ends = np.cumsum(widths).tolist()
    _, positions, velocities, scalars, contacts, *rest = map(slice, [0, *ends[:-1]], ends)
    _, actuators, tracks = rest
    return Columns(positions, velocities, scalars, contacts, actuators, tracks, ends[-1])


class Readings:
    """Readings of a plant's present state; arrays are fresh copies, (batch, ...) in a batch.

    Args:
        plant: mechanism and memory to read.

    Attributes:
        status_rows: (count, 6) the last step's `Status` as numbers, and its mean power [W].
        start_energy: (count,) total energy at reset [J].
    """

    def __init__(self, plant: Plant) -> None:
        self._plant = plant
        self._columns = table_columns(plant.mechanism)
        rows = 0 if plant.single else slice(None)  # of the table that questions are about
        self._positions = rows, self._columns.positions
        self._velocities = rows, self._columns.velocities
        self._actuators = rows, self._columns.actuators
        self._time = rows, self._columns.scalars.start + read.READ_TIME
        self._bodies = {name: i for i, name in enumerate(plant.mechanism.bodies)}
        self._table: Array | None = None
        self.status_rows: Array = np.zeros((plant.count, STATUS_COLUMNS))
        self.start_energy: Array = np.zeros(plant.count)

    def clear(self) -> None:
        """Discard the readings: the state changed."""
        self._table = None

    def update(self, mask: NDArray[np.bool_]) -> None:
        """Read the environments of a mask (count,) again; readings of the others stay."""
        if self._table is not None and np.count_nonzero(mask):
            self._table = self._table.copy()
            self._plant.read(self._table, mask)

    def restart(self, mask: NDArray[np.bool_]) -> None:
        """Reset the energy balance and the status of the environments of a mask (count,)."""
        self.status_rows[mask] = UNSTEPPED
        self.start_energy = np.where(mask, self.total_energy(), self.start_energy)

    @property
    def table(self) -> Array:
        """Table of all readings (count, columns), computed once per state."""
        if self._table is None:
            table = np.zeros((self._plant.count, self._columns.width))
            self._plant.read(table)
            self._table = table
        return self._table

    def _copied(self, part: tuple[int | slice, slice]) -> Array:
        """Return a copy of a part of the table, without the leading axis if single."""
        table = self.table if self._table is None else self._table
        copied: Array = table[part].copy()
        return copied

    @property
    def position_rows(self) -> Array:
        """Joint coordinates (count, n_positions): a view."""
        return self.table[:, self._columns.positions]

    @property
    def velocity_rows(self) -> Array:
        """Joint velocities (count, n_velocities): a view."""
        return self.table[:, self._columns.velocities]

    @property
    def scalars(self) -> Array:
        """Scalars (count, READ_COUNT) as in the read kernel; each column is contiguous."""
        scalars: Array = self.table[:, self._columns.scalars].copy(order="F")
        return scalars

    def scalar(self, index: int) -> Array:
        """Return one of the scalars (count,) by its index in the read kernel: a view."""
        values: Array = self.table[:, self._columns.scalars.start + index]
        return values

    @property
    def contact_rows(self) -> Array:
        """Readings of all contacts (count, n_contacts, READ_CONTACT)."""
        rows = self.table[:, self._columns.contacts]
        return rows.reshape(self._plant.count, -1, read.READ_CONTACT)

    @property
    def track_rows(self) -> Array:
        """Readings of all curve and surface joints (count, n, READ_TRACK)."""
        rows = self.table[:, self._columns.tracks]
        return rows.reshape(self._plant.count, -1, read_tracks.READ_TRACK)

    @property
    def gaps(self) -> Array:
        """Contact gaps (count, n_contacts) [m]."""
        return self.contact_rows[..., read.CONTACT_GAP]

    @property
    def contacts(self) -> Contacts:
        """Contacts with the ground and of pairs; present gaps, forces of the last step."""
        rows, copied = self.contact_rows, self._plant.squeeze
        force, point = read.CONTACT_FORCE, read.CONTACT_POINT
        slip, normal = read.CONTACT_SLIP, read.CONTACT_NORMAL
        return Contacts(
            gap=copied(rows[..., read.CONTACT_GAP]),
            force=copied(rows[..., force : force + 3]),
            position=copied(rows[..., point : point + 3]),
            normal=copied(rows[..., normal : normal + 3]),
            slip=copied(rows[..., slip]),
        )

    @property
    def actuator_torques(self) -> Array:
        """Actuator forces of the last step (..., n_actuated) [N, N m]; of motors theirs."""
        return self._copied(self._actuators)

    @property
    def joint_positions(self) -> Array:
        """Coordinates (..., n_positions) [rad, m], as ``mechanism.position_names``."""
        return self._copied(self._positions)

    @property
    def joint_velocities(self) -> Array:
        """Velocities (..., n_velocities) [rad/s, m/s], as ``mechanism.velocity_names``."""
        return self._copied(self._velocities)

    @property
    def time(self) -> Any:
        """Simulated time since reset [s]."""
        return self._plant.number(self.scalar(read.READ_TIME))

    @property
    def coordinates(self) -> tuple[Array, Array, Any]:
        """Joint positions, joint velocities and time, at once."""
        table = self.table if self._table is None else self._table
        time = table[self._time]
        return (
            table[self._positions].copy(),
            table[self._velocities].copy(),
            float(time) if self._plant.single else time.copy(),
        )

    @property
    def present_state(self) -> PresentState:
        """State that metrics are computed from; each table of readings is written once."""
        table = self.table if self._table is None else self._table
        scalars = table[:, self._columns.scalars]
        return PresentState(self._plant.single, scalars, self.status_rows.copy(), self.start_energy)

    @property
    def status(self) -> Status:
        """Outcome of the last step; after a reset converged, without iterations."""
        return _status(self.status_rows, self._plant.single)

    @property
    def power(self) -> Any:
        """Mean power of actuators and motors in the last ``step`` [W]; a metric too."""
        return self._plant.number(self.status_rows[:, -1])

    @property
    def constraint_residual(self) -> Any:
        """Largest joint gap [m or rad]."""
        return self._plant.number(self.scalar(read.READ_GAP))

    def total_energy(self) -> Array:
        """Return the total energy (count,) [J]."""
        total: Array = self.scalar(read.READ_KINETIC) + self.scalar(read.READ_POTENTIAL)
        return total

    @property
    def energy_sums(self) -> Array:
        """Energy dissipated and work of actuators (count, 2) since reset [J]."""
        return np.stack([self.scalar(read.READ_DISSIPATED), self.scalar(read.READ_WORK)], axis=1)

    def energy_balance(self) -> Array:
        """Return the energy balance (count,) [J], see `vigym.metrics.metrics`."""
        lost, work = self.energy_sums.T
        return np.asarray(self.total_energy() - self.start_energy - work + lost)

    @property
    def energy(self) -> Energy:
        """Kinetic, potential and total energy of the present state [J]."""
        number, kinetic = self._plant.number, self.scalar(read.READ_KINETIC)
        potential = self.scalar(read.READ_POTENTIAL)
        return Energy(number(kinetic), number(potential), number(kinetic + potential))

    def point(self, name: str, quantity: str) -> Array:
        """Return a quantity of a body's centre of mass, or of a frame.

        Args:
            name: body or frame; "world" is at rest.
            quantity: "position", "orientation", "velocity" or "angular_velocity".
        """
        frames, columns = self._plant.mechanism.frames, BODY_STATE[quantity]
        check_body_or_frame(name, self._bodies, frames)
        if name in frames:
            frame = frames[name]
            return self._plant.squeeze(frame_states(frame, self.body_rows(frame.body))[:, columns])
        return self._plant.squeeze(self.body_rows(name)[:, columns])

    def body_rows(self, body: str) -> Array:
        """Return the state (count, 13) of a body."""
        if body == WORLD:
            return np.tile([0.0] * 3 + [1.0] + [0.0] * 9, (self._plant.count, 1))
        row = int(self._plant.model.body_rows[self._bodies[body]]) - 1
        return self.table[:, BODY_COLUMNS * row : BODY_COLUMNS * (row + 1)]

    @property
    def body_states(self) -> Array:
        """States (..., n_bodies, 13) of all bodies, in the order of ``mechanism.bodies``.

        Columns: position, orientation, velocity, angular velocity, as the ``body_...`` methods of
        `Simulator` return them.
        """
        rows = self._plant.model.body_rows
        table = self.table[:, : BODY_COLUMNS * len(rows)]
        blocks = table.reshape(self._plant.count, -1, BODY_COLUMNS)
        states: Array = (blocks[0] if self._plant.single else blocks).take(rows - 1, axis=-2)
        return states

    def joint_forces(self, mechanisms: Sequence[Mechanism]) -> Array:
        """Return the constraint forces of the last step, see `Simulator.joint_forces`.

        Args:
            mechanisms: mechanism of every environment.
        """
        mechanism, rows = self._plant.mechanism, self._plant.model.body_rows
        bodies, closing = len(rows), len(mechanism.closing_joints)
        joints = bodies + closing
        found = self._plant.constraint_forces(6 * joints + 7 * bodies)
        children = [self._bodies[joint.child] for joint in mechanism.tree_joints]
        order = [*rows[children] - 1, *range(bodies, joints)]
        forces = found[:, : 6 * joints].reshape(self._plant.count, -1, 6)[:, order]
        if closing:
            poses = found[:, 6 * joints :].reshape(self._plant.count, -1, 7)[:, rows - 1]
            forces = least_norm_forces(mechanisms, forces, poses)
        return self._plant.squeeze(forces)


def _status(rows: Array, single: bool) -> Status:
    """Return the status that the kernels wrote to rows (count, 6)."""
    if single:
        converged, iterations, residual, halvings, clipped, _ = rows[0].tolist()
        return Status(bool(converged), int(iterations), residual, int(halvings), bool(clipped))
    converged, iterations, residual, halvings, clipped, _ = rows.T
    return Status(
        converged > 0,
        iterations.astype(np.int64),
        residual.copy(),
        halvings.astype(np.int64),
        clipped > 0,
    )


def frame_states(frame: Frame, states: Array) -> Array:
    """Return the states (count, 13) of a frame from the states of its body."""
    q = states[:, 3:7]
    w = states[:, 10:]
    levers = np.empty((len(states), 2, 3))  # the lever arm and its rate, in the body's axes
    levers[:, 0] = frame.position
    levers[:, 1] = cross(w, frame.position)
    u = q[:, None, 1:]
    t = 2.0 * cross(u, levers)
    levers = levers + q[:, :1, None] * t + cross(u, t)
    out: Array = states.copy()
    out[:, :3] += levers[:, 0]
    out[:, 3:7] = batch_quaternion_product(q, frame.orientation)
    out[:, 7:10] += levers[:, 1]
    # no matrix product: the order of its sums may depend on how many rows there are
    x, y, z = batch_rotation_matrix(frame.orientation)
    out[:, 10:] = w[:, 0:1] * x + w[:, 1:2] * y + w[:, 2:3] * z
    return out

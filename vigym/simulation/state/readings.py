"""What a simulator tells of its present state: coordinates, bodies, energies, forces. Read once, when first asked."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vigym.core import reaction, readings, readout
from vigym.core.tables import Model
from vigym.mechanism.elements.bodies import WORLD, Frame
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.topology.effective_mass import least_norm
from vigym.metrics import metrics
from vigym.simulation.state.batch import LaneGroups
from vigym.simulation.state.coordinates import Array, Coordinates
from vigym.simulation.state.outcome import Contacts, Energy
from vigym.spatial import cross, matrix, product

_READ = readout.read_single, readout.read_lanes
_POINT = readings.CONTACT_POINT, readings.CONTACT_SLIP


class Reader:
    """The reading half of `Simulator`; arrays are fresh copies, with a leading (batch,) axis in a batch."""

    mechanism: Mechanism
    _model: Model
    _coordinates: Coordinates
    _groups: LaneGroups
    _single: bool
    _count: int
    _status: Array
    _start_energy: Array
    _reading: Array | None
    _rest: Array  # (count, n_positions) assembly poses
    _variants: dict[int, Mechanism]  # of environments that are not as built, those that were made

    def _read(self) -> Array:
        """Readings (count, columns), computed once per state."""
        if self._reading is None:
            out = np.zeros((self._count, self._coordinates.columns))
            self._groups.call(_READ, out, knots=1)
            self._reading = out
        return self._reading

    def _reread(self, chosen: NDArray[np.bool_]) -> None:
        """Read the chosen environments again, which were placed anew; what was read of the others stays."""
        if self._reading is not None and np.count_nonzero(chosen):
            self._reading = self._reading.copy()
            self._groups.call(_READ, self._reading, chosen=chosen, knots=1)

    def _mechanism_of(self, environment: int) -> Mechanism:
        """The mechanism of an environment."""
        return self.mechanism

    @property
    def _mechanisms(self) -> list[Mechanism]:
        return [self._mechanism_of(e) for e in range(self._count)]

    def metrics(self) -> dict[str, Any]:
        """The physics metrics of the present state, see ``vigym.metrics.METRICS``."""
        return metrics(self)  # type: ignore[arg-type]

    @property
    def readings(self) -> Array:
        """(count, READ_COUNT) scalars of the present knot, ordered as in ``vigym.core.readout``; columns lie apart."""
        scalars: Array = self._read()[:, self._coordinates.scalars].copy(order="F")
        return scalars

    @property
    def contacts(self) -> Contacts:
        """Contacts with the ground and of paired bodies: gaps and velocities at the knot, forces of the last step."""
        table = self._touching()
        force, point = slice(readings.CONTACT_FORCE, readings.CONTACT_POINT), slice(*_POINT)
        return Contacts(
            self._out(table[..., readings.CONTACT_GAP]), self._out(table[..., force]), self._out(table[..., point]),
            self._out(table[..., readings.CONTACT_NORMAL :]), self._out(table[..., readings.CONTACT_SLIP]),
        )  # fmt: skip

    def _touching(self) -> Array:
        """(count, n_contacts, READ_CONTACT) what is read of each contact."""
        return self._read()[:, self._coordinates.contacts].reshape(self._count, -1, readings.READ_CONTACT)

    @property
    def actuator_torques(self) -> Array:
        """(..., n_actuated) force of every actuator in the last step [N or N m]; of one with a motor, the motor's."""
        return self._copy(self._coordinates.efforts)

    @property
    def status_rows(self) -> Array:
        """(count, 6) the last step's ``Status`` as numbers, and its mean power [W]."""
        return self._status

    @property
    def start_energy(self) -> Array:
        """(count,) total energy at reset [J]."""
        return self._start_energy

    def _copy(self, columns: slice) -> Array:
        """A copy of columns of the readings, without the leading axis for one environment."""
        table = self._read()
        out: Array = (table[0, columns] if self._single else table[:, columns]).copy()
        return out

    def _out(self, values: Array) -> Array:
        """A copy of (count, ...) values, without the leading axis for one environment."""
        out: Array = (values[0] if self._single else values).copy()
        return out

    def _number(self, values: Array) -> Any:
        """A copy of (count,) values, a float for one environment."""
        return float(values[0]) if self._single else values.copy()

    @property
    def joint_positions(self) -> Array:
        """Joint coordinates (..., n_positions) [rad, m], ordered as ``mechanism.position_names``."""
        return self._copy(self._coordinates.positions)

    @property
    def joint_velocities(self) -> Array:
        """Joint velocities at the knot (..., n_velocities) [rad/s, m/s], ordered as ``mechanism.velocity_names``."""
        return self._copy(self._coordinates.velocities)

    @property
    def time(self) -> Any:
        """Simulated time since reset [s]."""
        return self._number(self._read()[:, self._coordinates.scalars.start + readout.READ_TIME])

    def _body(self, name: str, start: int, stop: int) -> Array:
        if name in self.mechanism.frames:
            frame = self.mechanism.frames[name]
            return self._out(frame_states(frame, self._states(frame.body))[:, start:stop])
        return self._out(self._states(name)[:, start:stop])

    def _states(self, body: str) -> Array:
        """(count, 13) position, orientation, velocity, angular velocity of a body; the world is at rest."""
        if body == WORLD:
            return np.tile([0.0] * 3 + [1.0] + [0.0] * 9, (self._count, 1))
        row = 13 * (int(self._model.body_rows[self._coordinates.body_index(body)]) - 1)
        return self._read()[:, row : row + 13]

    def body_position(self, name: str) -> Array:
        """Centre of mass of a body, or origin of a frame, in the world (..., 3) [m]."""
        return self._body(name, 0, 3)

    def body_orientation(self, name: str) -> Array:
        """Unit quaternion (w, x, y, z), body or frame to world (..., 4)."""
        return self._body(name, 3, 7)

    def body_velocity(self, name: str) -> Array:
        """Velocity of that point at the knot, world axes (..., 3) [m/s]."""
        return self._body(name, 7, 10)

    def body_angular_velocity(self, name: str) -> Array:
        """Angular velocity at the knot, axes of the body or frame (..., 3) [rad/s]."""
        return self._body(name, 10, 13)

    @property
    def body_states(self) -> Array:
        """All bodies (..., n_bodies, 13) in the order of ``mechanism.bodies``.

        Columns: position, orientation, velocity, angular velocity, as the ``body_...`` methods give them.
        """
        table = self._read()[:, : 13 * len(self._model.body_rows)].reshape(self._count, -1, 13)
        states: Array = (table[0] if self._single else table).take(self._model.body_rows - 1, axis=-2)
        return states

    def _energies(self) -> Array:
        """Total energy (count,) [J]."""
        kinetic, potential = self._read()[:, self._coordinates.energies].T
        total: Array = kinetic + potential
        return total

    def energy(self) -> Energy:
        """Kinetic, potential and total energy at the knot [J]; springs are potential, armatures kinetic."""
        kinetic, potential = self._read()[:, self._coordinates.energies].T
        return Energy(self._number(kinetic), self._number(potential), self._number(kinetic + potential))

    @property
    def power(self) -> Any:
        """Mean of what actuators and motors did in the last call of ``step`` [W]: ``power_mech`` of ``metrics``."""
        return self._number(self._status[:, -1])

    def constraint_residual(self) -> Any:
        """Largest joint gap [m or rad]."""
        return self._number(self.readings[:, readout.READ_GAP])

    def joint_forces(self) -> Array:
        """Constraint forces of the last step (..., n_joints, 6), in the order of ``mechanism.ordered_joints``.

        Force [N] and moment about the joint's anchor [N m] that each joint exerts on its child, world axes, at the knot
        where the last step began; what acts along the joint's freedoms is not in them. Zero before the first step.
        Where loops leave them undetermined they are the least there are (norm over all forces and moments).
        """
        closing, bodies = self.mechanism.closing_joints, len(self._model.body_rows)
        joints = bodies + len(closing)
        out = np.zeros((self._count, 6 * joints + 7 * bodies))
        self._groups.call((reaction.react_single, reaction.react_lanes), out)
        order = [*self._model.body_rows[self._coordinates.carried] - 1, *range(bodies, joints)]
        forces = out[:, : 6 * joints].reshape(self._count, -1, 6)[:, order]
        if closing:
            poses = out[:, 6 * joints :].reshape(self._count, -1, 7)[:, self._model.body_rows - 1]
            forces = least_norm(self._mechanisms, forces, poses)
        return self._out(forces)


def frame_states(frame: Frame, states: Array) -> Array:
    """States (count, 13) of a frame from those of the body that carries it."""
    q, w = states[:, 3:7], states[:, 10:]
    spokes = np.empty((len(states), 2, 3))  # the arm and its rate, in the body's axes
    spokes[:, 0], spokes[:, 1] = frame.position, cross(w, frame.position)
    u = q[:, None, 1:]
    t = 2.0 * cross(u, spokes)
    spokes = spokes + q[:, :1, None] * t + cross(u, t)
    out: Array = states.copy()
    out[:, 0:3] += spokes[:, 0]
    out[:, 3:7] = product(q, frame.orientation)
    out[:, 7:10] += spokes[:, 1]
    # no matrix product: the order of its sums may depend on how many rows there are
    x, y, z = matrix(frame.orientation)
    out[:, 10:] = w[:, 0:1] * x + w[:, 1:2] * y + w[:, 2:3] * z
    return out

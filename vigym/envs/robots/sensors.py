"""Sensors of robots: inertial unit, contacts of feet, ranges to the ground, torques, last action.

A task's option `sensors` adds their readings to the observation, behind the task's own; noise comes
from the option `observation_noise`, by the names of `env.unwrapped.observation_names`. Bodies' own
axes and points are those of their centres of mass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from vigym.envs.arrays import Array, Flags, rotate_to_body
from vigym.envs.options import require, require_positive
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator

AXES = "xyz"
MAX_SPIN, MAX_ACCELERATION = 50.0, 500.0  # bounds of readings [rad/s, m/s^2]
LEVEL = 1e-12  # part of a direction along an axis below which no line across it is crossed


@dataclass(frozen=True)
class Reading:
    """Source of readings: states of all environments.

    Attributes:
        sim: of all environments.
        states: (count, n_bodies, 13) body states: position, quaternion, velocity and angular
            velocity in the body's axes.
        velocities: (count, n_bodies, 3) before the control step [m/s].
        action: (count, n_actuated) last action that was asked for, clipped to [-1, 1].
        dt: length of the control step [s].
        started: (count,) whether the episode has made a step.
        impulse: (count, 3) sum of the random impulses of the control step [N s].
    """

    sim: Simulator
    states: Array
    velocities: Array
    action: Array
    dt: float
    started: Flags
    impulse: Array


class Sensor(Protocol):
    """Sensor of one environment or of a batch, without a state of its own."""

    def bounds(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return name and bound of every number that is read, which is in [-bound, bound].

        Raises:
            ValueError: a body that the mechanism has not.
        """

    def read(self, reading: Reading) -> Array:
        """Return the numbers (count, n)."""


@dataclass(frozen=True)
class Imu:
    """Inertial unit at the centre of mass of a body.

    It reads the angular velocity and the acceleration without gravity, (v1 - v0) / dt - g, the mean
    over a control step with its pushes, both in the body's axes; at a start the acceleration is -g.

    Args:
        body: name of the body.
    """

    body: str

    def bounds(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return bounds of angular velocity [rad/s] and acceleration [m/s^2]."""
        body_index(mechanism, self.body, "Imu")
        spin = {f"imu_{self.body}_angular_velocity_{axis}": MAX_SPIN for axis in AXES}
        felt = {f"imu_{self.body}_acceleration_{axis}": MAX_ACCELERATION for axis in AXES}
        return spin | felt

    def read(self, reading: Reading) -> Array:
        """Return angular velocity and acceleration (count, 6)."""
        k = body_index(reading.sim.mechanism, self.body, "Imu")
        state = reading.states[:, k]
        change = (state[:, 7:10] - reading.velocities[:, k]) / reading.dt
        change = np.where(reading.started[:, None], change, 0.0)
        felt = rotate_to_body(state[:, 3:7], change - reading.sim.parameters.gravity)
        return np.concatenate((state[:, 10:13], felt), axis=1)


@dataclass(frozen=True)
class GroundContact:
    """Contact of bodies with the ground, by the forces of the last step; zero at a start.

    Args:
        bodies: their names.
        force: bound of the sums of the normal forces [N], which are then read; None: 1 where a body
            touches, and 0.

    Raises:
        ValueError: no bodies, one of them twice, or a force that is not above zero.
    """

    bodies: Sequence[str]
    force: float | None = None

    def __post_init__(self) -> None:
        valid = isinstance(self.bodies, tuple | list) and len(self.bodies) > 0
        require(valid, "sensors, GroundContact bodies", self.bodies, "a list of names")
        once = all(self.bodies.count(name) == 1 for name in self.bodies)
        require(once, "sensors, GroundContact bodies", self.bodies, "each body once")
        if self.force is not None:
            require_positive("sensors, GroundContact force", self.force, "newtons")

    def bounds(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return the bound of each body's force [N], or 1."""
        for body in self.bodies:
            body_index(mechanism, body, "GroundContact")
        return {f"contact_{body}": self.force or 1.0 for body in self.bodies}

    def read(self, reading: Reading) -> Array:
        """Return normal forces, or whether there are any (count, n)."""
        contacts = reading.sim.contacts
        along = (contacts.force * contacts.normal).sum(axis=-1).reshape(len(reading.states), -1)
        forces = np.zeros((len(along), len(self.bodies)))
        for column, body in enumerate(reading.sim.mechanism.ground_contact_bodies):
            if body in self.bodies:
                forces[:, self.bodies.index(body)] += along[:, column]
        return forces if self.force is not None else (forces > 0.0).astype(np.float64)


@dataclass(frozen=True)
class Ranges:
    """Distances from the centre of mass of a body to the ground, along rays fixed in the body.

    Args:
        body: name of the body.
        directions: (n, 3) of the rays, in the body's axes; any length.
        reach: largest distance, which is read where a ray meets no ground [m].

    Raises:
        ValueError: directions of another shape or of length zero, or a reach that is not above
            zero.
    """

    body: str
    directions: ArrayLike
    reach: float = 2.0

    def __post_init__(self) -> None:
        rays = np.asarray(self.directions, dtype=np.float64)
        valid = rays.ndim == 2 and rays.shape[1:] == (3,) and len(rays) > 0
        valid = valid and bool(np.isfinite(rays).all() and (rays != 0.0).any(axis=1).all())
        require(valid, "sensors, Ranges directions", self.directions, "(n, 3) vectors")
        require_positive("sensors, Ranges reach", self.reach, "metres")

    def bounds(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return the reach of each ray [m]."""
        body_index(mechanism, self.body, "Ranges")
        return {
            f"range_{self.body}_{k}": self.reach for k in range(len(np.asarray(self.directions)))
        }

    def read(self, reading: Reading) -> Array:
        """Return distances (count, n) [m]."""
        rays = np.asarray(self.directions, dtype=np.float64)
        rays = rays / np.linalg.norm(rays, axis=1)[:, None]
        state = reading.states[:, body_index(reading.sim.mechanism, self.body, "Ranges")]
        shape = (len(state), len(rays))
        to_world = state[:, None, 3:7] * [1.0, -1.0, -1.0, -1.0]
        starts = np.broadcast_to(state[:, None, :3], (*shape, 3))
        world = rotate_to_body(
            np.broadcast_to(to_world, (*shape, 4)), np.broadcast_to(rays, (*shape, 3))
        )
        return distances_to_ground(reading.sim, starts, world, self.reach)


@dataclass(frozen=True)
class Torques:
    """Torques of all actuators, over their largest ones; in the order of `actuator_names`."""

    def bounds(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return 1 for each actuator."""
        return {f"torque_of_{name}": 1.0 for name in mechanism.actuator_names}

    def read(self, reading: Reading) -> Array:
        """Return the shares of the largest torques (count, n_actuated)."""
        sim = reading.sim
        return (sim.actuator_torques / sim.parameters.actuator_efforts).reshape(
            len(reading.states), -1
        )


@dataclass(frozen=True)
class LastAction:
    """Action of the last control step, within [-1, 1]; zero at a start.

    It is the requested action: with an `action_latency` it takes effect later.
    """

    def bounds(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return 1 for each actuator."""
        return {f"last_action_of_{name}": 1.0 for name in mechanism.actuator_names}

    def read(self, reading: Reading) -> Array:
        """Return the action (count, n_actuated)."""
        return reading.action


def distances_to_ground(sim: Simulator, starts: Array, rays: Array, reach: float) -> Array:
    """Return the distances from points to the ground along rays, exactly.

    On terrain the height of a ray above the ground is linear between the lines of the grid that it
    crosses: its first zero is sought among these.

    Args:
        sim: of the environments; without ground all distances are the reach.
        starts: (count, n, 3) [m]; below the ground the distance is zero.
        rays: (count, n, 3) unit vectors.
        reach: largest distance [m].

    Returns:
        (count, n) [m].
    """
    ground = sim.mechanism.ground
    if ground is None:
        return np.full(rays.shape[:2], reach)
    if ground.terrain is None:
        normal = np.asarray(ground.normal)
        height = (starts * normal).sum(axis=-1) - ground.height
        fall = -(rays * normal).sum(axis=-1)
        with np.errstate(divide="ignore", invalid="ignore"):
            distance = np.where(fall > 0.0, np.maximum(height, 0.0) / fall, reach)
        return np.minimum(np.where(height <= 0.0, 0.0, distance), reach)
    terrain = ground.terrain
    assert terrain.origin is not None
    place = (starts[..., :2] - terrain.origin) / terrain.cell
    pace = rays[..., :2] / terrain.cell
    # along x, along y, and across the diagonals of the cells
    place = np.stack((place[..., 0], place[..., 1], place[..., 0] - place[..., 1]), axis=-1)
    pace = np.stack((pace[..., 0], pace[..., 1], pace[..., 0] - pace[..., 1]), axis=-1)
    lines = np.arange(np.ceil(2.0 * reach / terrain.cell) + 2.0)
    first = np.where(pace > 0.0, np.floor(place) + 1.0, np.ceil(place) - 1.0)
    ahead = first[..., None] + np.sign(pace)[..., None] * lines
    crosses = np.abs(pace)[..., None] > LEVEL
    safe = np.where(crosses, pace[..., None], 1.0)
    ways = np.where(crosses, (ahead - place[..., None]) / safe, reach)
    ways = np.clip(ways.reshape(*rays.shape[:2], -1), 0.0, reach)
    ends = np.zeros((*rays.shape[:2], 1)), np.full((*rays.shape[:2], 1), reach)
    ways = np.sort(np.concatenate((ends[0], ways, ends[1]), axis=-1), axis=-1)
    points = starts[..., None, :] + ways[..., None] * rays[..., None, :]
    maps = np.atleast_1d(sim.terrain_maps)[:, None, None]
    height = points[..., 2] - terrain.height(points[..., 0], points[..., 1], maps)
    below = height <= 0.0
    k = np.argmax(below, axis=-1)[..., None]
    before = np.maximum(k - 1, 0)
    above, under = (np.take_along_axis(height, at, axis=-1)[..., 0] for at in (before, k))
    start, end = (np.take_along_axis(ways, at, axis=-1)[..., 0] for at in (before, k))
    drop = np.where(above > under, above - under, 1.0)
    met = np.where(k[..., 0] > 0, start + (end - start) * above / drop, 0.0)
    found: Array = np.where(below.any(axis=-1), met, reach)
    return found


class SensorSuite:
    """Sensors of a task, with the state that they need from the last step.

    Args:
        sensors: of the task.
        sim: of all environments.
        dt: length of a control step [s].
        n_actuated: number of actuators.

    Raises:
        ValueError: a body that the mechanism has not, or two readings of one name.

    Attributes:
        impulse: (count, 3) random impulses of the control step [N s].
    """

    def __init__(self, sensors: Sequence[Sensor], sim: Simulator, dt: float, n_actuated: int):
        self._sensors, self._dt = sensors, dt
        self._sim = sim
        count = sim.batch or 1
        self._started = np.zeros(count, dtype=np.bool_)
        self._action = np.zeros((count, n_actuated))
        self._velocities = self._states()[..., 7:10]
        self.impulse = np.zeros((count, 3))

    @property
    def bounds(self) -> dict[str, float]:
        """Name and bound of every reading."""
        found: dict[str, float] = {}
        for sensor in self._sensors:
            own = sensor.bounds(self._sim.mechanism)
            twice = sorted(set(own) & set(found))
            require(not twice, "sensors", twice, "every sensor once")
            found |= own
        return found

    def reset(self, mask: Flags) -> None:
        """Start episodes in a mask (count,)."""
        self._started[mask] = False
        self._action[mask] = 0.0

    def before_step(self, action: Array) -> None:
        """Keep the velocities before a control step, and its action (..., n_actuated)."""
        self._velocities = self._states()[..., 7:10].copy()
        self._action = action.reshape(self._action.shape).copy()
        self._started[:] = True

    def read(self) -> Array:
        """Return all readings (..., n)."""
        last = self._velocities, self._action, self._dt, self._started, self.impulse
        reading = Reading(self._sim, self._states(), *last)
        rows = np.concatenate([sensor.read(reading) for sensor in self._sensors], axis=1)
        return rows[0] if self._sim.batch is None else rows

    def _states(self) -> Array:
        states: Array = self._sim.body_states.reshape(len(self._started), -1, 13)
        return states


def require_sensors(sensors: Any, option: str = "sensors") -> None:
    """Raise ValueError unless an option is a sequence of sensors."""
    valid = isinstance(sensors, tuple | list)
    valid = valid and all(hasattr(one, "read") and hasattr(one, "bounds") for one in sensors)
    require(valid, option, sensors, "a tuple of sensors, as of `vigym.envs.robots.sensors`")


def body_index(mechanism: Mechanism, body: str, sensor: str) -> int:
    """Return the row of a body; raise ValueError if no body has the name."""
    names = list(mechanism.bodies)
    require(body in names, f"sensors, {sensor} body", body, f"a name among {', '.join(names)}")
    return names.index(body)

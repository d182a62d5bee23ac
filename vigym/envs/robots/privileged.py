"""Sensors of what a simulation knows and a robot does not measure: observations of critics.

The option `privileged` of an environment takes them, and those of `vigym.envs.robots.sensors`.
Their readings are `info["privileged"]`, the observation stays as it is. `True` stands for the
sensors of `privileged_sensors`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from vigym.envs.arrays import Array, heading_of, rotate_to_body
from vigym.envs.options import require
from vigym.envs.perturbations import Perturbations
from vigym.envs.robots.sensors import AXES, GroundContact, Reading, Sensor, body_index
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.topology.bases import robot_base
from vigym.simulation.parameters.quantities import FactorTable

# bounds of readings [m/s], [m], [N s], [1]
MAX_SPEED, MAX_HEIGHT = 50.0, 1000.0
MAX_IMPULSE, MAX_FACTOR = 1000.0, 1000.0
MAX_WEIGHTS = 20.0  # bound of contact forces over the weight of the robot
# points of a scan of the ground ahead, behind and beside a robot [m]
SCAN = [(0.2 * k, 0.2 * m) for k in range(-4, 5) for m in range(-2, 3)]


@dataclass(frozen=True)
class Velocity:
    """Velocity of the centre of mass of a body, in the body's axes.

    Args:
        body: name of the body.
    """

    body: str

    def bounds(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return bounds of the velocity [m/s]."""
        body_index(mechanism, self.body, "Velocity")
        return {f"velocity_of_{self.body}_{axis}": MAX_SPEED for axis in AXES}

    def read(self, reading: Reading) -> Array:
        """Return the velocity (count, 3) [m/s]."""
        state = reading.states[:, body_index(reading.sim.mechanism, self.body, "Velocity")]
        return rotate_to_body(state[:, 3:7], state[:, 7:10])


@dataclass(frozen=True)
class Heights:
    """Heights of the centre of mass of a body above the ground at points around it, along z.

    Without ground they are those above z = 0.

    Args:
        body: name of the body.
        points: (n, 2) horizontal distances from the body, ahead and to the left [m]; they turn with
            the heading of the body.

    Raises:
        ValueError: points of another shape.
    """

    body: str
    points: ArrayLike = ((0.0, 0.0),)

    def __post_init__(self) -> None:
        points = np.asarray(self.points, dtype=np.float64)
        valid = points.ndim == 2 and points.shape[1:] == (2,) and len(points) > 0
        valid = valid and bool(np.isfinite(points).all())
        require(valid, "privileged, Heights points", self.points, "(n, 2) finite numbers")

    def bounds(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return the bound of each height [m]."""
        body_index(mechanism, self.body, "Heights")
        count = len(np.asarray(self.points))
        return {f"height_of_{self.body}_{k}": MAX_HEIGHT for k in range(count)}

    def read(self, reading: Reading) -> Array:
        """Return the heights (count, n) [m]."""
        sim = reading.sim
        state = reading.states[:, body_index(sim.mechanism, self.body, "Heights")]
        ahead, left = np.asarray(self.points, dtype=np.float64).T
        heading = heading_of(state[:, 3:7])[:, None]
        cosine, sine = np.cos(heading), np.sin(heading)
        at_x = state[:, 0:1] + cosine * ahead - sine * left
        at_y = state[:, 1:2] + sine * ahead + cosine * left
        ground, below = sim.mechanism.ground, np.zeros_like(at_x)
        if ground is not None and ground.terrain is not None:
            maps = np.atleast_1d(sim.terrain_maps)[:, None]
            below = ground.terrain.height(at_x, at_y, maps)
        elif ground is not None:
            k, m, n = ground.normal
            below = (ground.height - k * at_x - m * at_y) / n
        return np.asarray(state[:, 2:3] - below)


@dataclass(frozen=True)
class Factors:
    """Factors of random parameters, as the option `randomization` draws them; 1 for as built.

    Args:
        quantities: names of quantities, such as "friction", each of all elements that have it.
    """

    quantities: Sequence[str]

    def bounds(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return the bound of each factor."""
        columns, names = FactorTable(mechanism).columns, self.quantities
        unknown = [name for name in names if name not in columns]
        require(not unknown, "privileged, Factors", unknown, f"names among {', '.join(columns)}")
        return {f"{name}_factor_of_{one}": MAX_FACTOR for name in names for one in columns[name]}

    def read(self, reading: Reading) -> Array:
        """Return the factors (count, n)."""
        parameters = reading.sim.parameters
        columns = parameters.table.columns
        selected = [column for name in self.quantities for column in columns[name].values()]
        if parameters.factors is None:
            return np.ones((len(reading.states), len(selected)))
        return np.asarray(parameters.factors[:, selected])


@dataclass(frozen=True)
class Push:
    """Sum of the random impulses of the last control step, in the axes of a body; zero at a start.

    They are those of the option `pushes`.

    Args:
        body: name of the body.
    """

    body: str

    def bounds(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return bounds of the impulse [N s]."""
        body_index(mechanism, self.body, "Push")
        return {f"push_{axis}": MAX_IMPULSE for axis in AXES}

    def read(self, reading: Reading) -> Array:
        """Return the impulse (count, 3) [N s]."""
        state = reading.states[:, body_index(reading.sim.mechanism, self.body, "Push")]
        return rotate_to_body(state[:, 3:7], reading.impulse)


def privileged_sensors(mechanism: Mechanism, perturbations: Perturbations) -> list[Sensor]:
    """Return the sensors for which the option `privileged=True` stands.

    Of a robot that floats the velocity of its base, its height or, on terrain, 45 heights on 1.6 m
    x 0.8 m around it, and pushes; of all robots normal forces of the bodies that may touch the
    ground, and the factors of random parameters.

    Raises:
        ValueError: nothing of this.
    """
    found: list[Sensor] = []
    base = robot_base(mechanism)
    if base is not None:
        rough = mechanism.ground is not None and mechanism.ground.terrain is not None
        found += [Velocity(base.body), Heights(base.body, SCAN if rough else ((0.0, 0.0),))]
    touching = list(dict.fromkeys(mechanism.ground_contact_bodies))
    if touching:
        mass = sum(body.mass for body in mechanism.bodies.values())
        weight = mass * float(np.linalg.norm(mechanism.gravity))
        found.append(GroundContact(touching, force=MAX_WEIGHTS * weight or 1.0))
    if perturbations.ranges:
        found.append(Factors(list(perturbations.ranges)))
    if base is not None and perturbations.pushes is not None:
        found.append(Push(base.body))
    expected = "sensors: the robot is fixed, touches no ground, and nothing of it is random"
    require(bool(found), "privileged", True, expected)
    return found


def sensors_of_option(
    option: bool | Sequence[Sensor], mechanism: Mechanism, perturbations: Perturbations
) -> Sequence[Sensor]:
    """Return the sensors of the option `privileged`; none for False.

    Raises:
        ValueError: True, of a robot without such sensors.
    """
    if isinstance(option, bool):
        return privileged_sensors(mechanism, perturbations) if option else ()
    return option

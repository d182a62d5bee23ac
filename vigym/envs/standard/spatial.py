"""Robots that run in space: coordinates, contact forces, rewards and falls that they share."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vigym import assets
from vigym.envs.arrays import rotate_to_body
from vigym.envs.standard.base import UNBOUNDED, Walker, sum_of_squares
from vigym.envs.task import Array, Quantities
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator
from vigym.spatial import cross
from vigym.urdf.convert.load import load_urdf

POSE, TWIST = 7, 6  # coordinates of the body that floats
Index = NDArray[np.intp]
QUATERNION = slice(3, POSE)
INVERSE = np.array([1.0, -1.0, -1.0, -1.0])  # of a quaternion, by its components
AXES, ACTUATORS = "xyz", "qfrc_actuator"
# Parts of observations by Gymnasium's names: names of the numbers of each body, or each hinge.
PARTS = {
    "cinert": (*("xx", "yy", "zz", "xy", "xz", "yz"), *("mx", "my", "mz"), "mass"),
    "cvel": tuple(f"{kind}_{axis}" for kind in ("angular_velocity", "velocity") for axis in AXES),
    ACTUATORS: ("torque",),
    "cfrc_ext": tuple(f"{kind}_{axis}" for kind in ("torque", "force") for axis in AXES),
}


@dataclass(frozen=True, kw_only=True)
class SpatialRunner(Walker):
    """Robot that floats, rewarded for its speed along x and punished for forces of contacts.

    Attributes:
        height: of the trunk at the file's zero [m]; property of the task, no option, as these:
        hinges: names of the joints in the order in which they are observed.
        shapes: names of collision shapes by the names of the bodies whose contact forces are
            observed.
    """

    weight_names: ClassVar[Mapping[str, str]] = {
        **Walker.weight_names,
        "contact": "contact_cost_weight",
    }
    places: ClassVar[int] = 2
    height: ClassVar[float]
    hinges: ClassVar[tuple[str, ...]]
    shapes: ClassVar[Mapping[str, tuple[str, ...]]]
    unburied: ClassVar[bool] = True

    contact_cost_weight: float
    include_cfrc_ext_in_observation: bool = True

    def mechanism(self) -> Mechanism:
        """Return the robot, which floats, on the ground."""
        return load_urdf(assets.path(self.robot), base="floating", ground=True)

    @cached_property
    def _parts(self) -> list[str]:
        """Parts that are observed after positions and velocities."""
        return [part for part in PARTS if getattr(self, f"include_{part}_in_observation", False)]

    @cached_property
    def _columns(self) -> tuple[Index, Index]:
        """Places of what is observed among positions and velocities of the file."""
        hinges = [self.built.velocity_names.index(name) for name in self.hinges]
        order = np.array([*range(TWIST), *hinges])
        return np.array([*range(POSE), *(np.array(hinges) + POSE - TWIST)]), order

    @cached_property
    def _contacts(self) -> Index:
        """Places of the contacts of each body (n, most) among all; -1 for none."""
        names = [name.partition(":")[0] for name in self.built.ground_contact_names]
        found = [
            [k for k, name in enumerate(names) if name in shapes] for shapes in self.shapes.values()
        ]
        most = max(map(len, found))
        return np.array([each + [-1] * (most - len(each)) for each in found])

    @cached_property
    def _center(self) -> Array:
        """Centre of mass of the trunk in the axes of its link (3,) [m]."""
        return next(iter(self.built.bodies.values())).position

    def initial(self, mechanism: Mechanism, rng: np.random.Generator) -> tuple[Array, Array]:
        """Return the file's zero with noise on all coordinates, within the limits of joints."""
        noise, rates = self.noise(mechanism, rng)
        noise[2] += self.height
        noise[3] += 1.0
        noise[QUATERNION] /= np.linalg.norm(noise[QUATERNION])
        positions, velocities = np.empty_like(noise), np.empty_like(rates)
        positions[self._columns[0]], velocities[self._columns[1]] = noise, rates
        self._move_trunk(positions, velocities, 1.0)
        return np.clip(positions, *self._limits), velocities

    def coordinates(self, sim: Simulator) -> Quantities:
        """Return the positions (..., n) and velocities (..., n - 1) that are observed."""
        positions, velocities, _ = sim.readings.coordinates
        self._move_trunk(positions, velocities, -1.0)
        places, rates = self._columns
        return {"_positions": positions[..., places], "_velocities": velocities[..., rates]}

    def _move_trunk(self, positions: Array, velocities: Array, share: float) -> None:
        """Replace place and velocity of a point of the trunk by those of another one.

        Args:
            positions: of the robot (..., n); those of the trunk change.
            velocities: of the robot (..., n - 1); those of the trunk change.
            share: 1 from the link's origin to the centre of mass, -1 the other way.
        """
        center = share * self._center
        turn = positions[..., QUATERNION] * INVERSE  # from the body's axes to the world's
        swing = cross(velocities[..., 3:TWIST], center)
        positions[..., :3] += rotate_to_body(turn, np.broadcast_to(center, swing.shape))
        velocities[..., :3] += rotate_to_body(turn, swing)

    def travelled(self, sim: Simulator) -> Quantities:
        """Return the place of the trunk along x and y [m], whose mean rates are rewarded."""
        positions = sim.joint_positions
        return {"x_velocity": positions[..., 0], "y_velocity": positions[..., 1]}

    def observation(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return positions, all or but for x and y, velocities, and other parts."""
        names = [*mechanism.position_names[:POSE], *self.hinges][self._first :]
        rates = [*mechanism.velocity_names[:TWIST], *self.hinges]
        names += [f"velocity({name})" for name in rates]
        for part in self._parts:
            owners = self.hinges if part == ACTUATORS else self.shapes
            names += [f"{number}({owner})" for owner in owners for number in PARTS[part]]
        return dict.fromkeys(names, UNBOUNDED)

    def quantities(self, sim: Simulator) -> Quantities:
        """Return the coordinates, the place of the trunk, and wrenches of contacts."""
        found = self.coordinates(sim)
        x, y = found["_positions"][..., 0], found["_positions"][..., 1]
        return {
            **found,
            "_cfrc_ext": self.wrenches(sim),
            "x_position": x,
            "y_position": y,
            "distance_from_origin": np.hypot(x, y),
        }

    def wrenches(self, sim: Simulator) -> Array:
        """Return torque about the robot's centre of mass and force (..., 6 n) of the shapes.

        They are those of the ground on each body in the last step [N m, N], in world axes.
        """
        contacts, center = sim.contacts, center_of_mass(sim)
        forces = contacts.force[..., self._contacts, :] * (self._contacts >= 0)[..., None]
        arms = contacts.position[..., self._contacts, :] - center[..., None, None, :]
        found = np.concatenate((cross(arms, forces), forces), axis=-1)
        total: Array = np.add.reduce(found, axis=-2)
        return total.reshape(*total.shape[:-2], -1)

    def observe(self, quantities: Quantities) -> Array:
        """Return positions, all or but for x and y, velocities, and other parts."""
        parts = [quantities[f"_{name}"] for name in self._parts]
        return np.concatenate((super().observe(quantities), *parts), axis=-1)

    def rewards(self, quantities: Quantities, action: Array) -> Quantities:
        """Return the terms of speed, control, being up and contact."""
        terms = super().rewards(quantities, action)
        return {**terms, "contact": -sum_of_squares(quantities["_cfrc_ext"])}


def center_of_mass(sim: Simulator) -> Array:
    """Return the centre of mass of all bodies (..., 3) [m]."""
    masses = sim.body_inertias[0][..., None]
    weighted = np.add.reduce(masses * sim.body_states[..., :3], axis=-2)
    center: Array = weighted / np.add.reduce(masses, axis=-2)
    return center

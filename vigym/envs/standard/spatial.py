"""Robots that run in space: coordinates, contact forces, rewards and falls that they share."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vigym import assets
from vigym.envs.options import require_bool
from vigym.envs.standard.base import (
    UNBOUNDED,
    Range,
    StandardTask,
    as_numbers,
    require_range,
    squared_action,
)
from vigym.envs.task import Array, Flags, Quantities
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator
from vigym.spatial import cross
from vigym.urdf.convert.load import load_urdf

POSE, TWIST = 7, 6  # coordinates of the body that floats
Index = NDArray[np.intp]
QUATERNION = slice(3, POSE)
WRENCH = "torque_x", "torque_y", "torque_z", "force_x", "force_y", "force_z"


@dataclass(frozen=True, kw_only=True)
class SpatialRunner(StandardTask):
    """Robot that floats, rewarded for its speed along x and punished for forces of contacts.

    Attributes:
        height: of the trunk at the file's zero [m]; property of the task, no option, as these:
        hinges: names of the joints in the order in which they are observed.
        shapes: names of the bodies whose contact forces are observed, which are those of their
            collision shapes.
    """

    weight_names: ClassVar[Mapping[str, str]] = {
        "forward": "forward_reward_weight",
        "ctrl": "ctrl_cost_weight",
        "contact": "contact_cost_weight",
        "survive": "healthy_reward",
    }
    height: ClassVar[float]
    hinges: ClassVar[tuple[str, ...]]
    shapes: ClassVar[tuple[str, ...]]
    unburied: ClassVar[bool] = True

    forward_reward_weight: float = 1.0
    ctrl_cost_weight: float = 0.5
    contact_cost_weight: float = 5e-4
    healthy_reward: float = 1.0
    terminate_when_unhealthy: bool = True
    healthy_z_range: Range
    exclude_current_positions_from_observation: bool = True
    include_cfrc_ext_in_observation: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for option in (
            "terminate_when_unhealthy",
            "exclude_current_positions_from_observation",
            "include_cfrc_ext_in_observation",
        ):
            require_bool(option, getattr(self, option))
        require_range("healthy_z_range", self.healthy_z_range)

    def mechanism(self) -> Mechanism:
        """Return the robot, which floats, on the ground."""
        return load_urdf(assets.path(self.robot), base="floating", ground=True)

    @cached_property
    def _columns(self) -> tuple[Index, Index]:
        """Places of what is observed among positions and velocities of the file."""
        mechanism = self.mechanism()
        hinges = [mechanism.velocity_names.index(name) for name in self.hinges]
        order = np.array([*range(TWIST), *hinges])
        return np.array([*range(POSE), *(np.array(hinges) + POSE - TWIST)]), order

    @cached_property
    def _contacts(self) -> Index:
        """Places of the contacts of each shape (n, 2) among all; -1 for none."""
        names = [name.partition(":")[0] for name in self.mechanism().ground_contact_names]
        found = [[k for k, name in enumerate(names) if name == shape] for shape in self.shapes]
        return np.array([(each + [-1, -1])[:2] for each in found])

    def initial(self, mechanism: Mechanism, rng: np.random.Generator) -> tuple[Array, Array]:
        """Return the file's zero with noise on all coordinates, within the limits of joints."""
        noise, rates = self.noise(mechanism, rng)
        noise[2] += self.height
        noise[3] += 1.0
        noise[QUATERNION] /= np.linalg.norm(noise[QUATERNION])
        positions, velocities = np.empty_like(noise), np.empty_like(rates)
        positions[self._columns[0]], velocities[self._columns[1]] = noise, rates
        return self.within_limits(positions), velocities

    def coordinates(self, sim: Simulator) -> Quantities:
        """Return the positions (..., n) and velocities (..., n - 1) that are observed."""
        positions, velocities, _ = sim.readings.coordinates
        places, rates = self._columns
        return {"_positions": positions[..., places], "_velocities": velocities[..., rates]}

    def travelled(self, sim: Simulator) -> Quantities:
        """Return the place of the trunk along x and y [m], whose mean rates are rewarded."""
        positions = sim.joint_positions
        return {"x_velocity": positions[..., 0], "y_velocity": positions[..., 1]}

    def observation(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return positions, all or but for x and y, velocities, and wrenches of contacts."""
        positions = [*mechanism.position_names[:POSE], *self.hinges]
        rates = [*mechanism.velocity_names[:TWIST], *self.hinges]
        wrenches = [f"{part}({shape})" for shape in self.shapes for part in WRENCH]
        names = positions[2 * self.exclude_current_positions_from_observation :]
        names += [f"velocity({name})" for name in rates]
        names += wrenches if self.include_cfrc_ext_in_observation else []
        return dict.fromkeys(names, UNBOUNDED)

    def quantities(self, sim: Simulator) -> Quantities:
        """Return the coordinates, the place of the trunk, and wrenches of contacts."""
        found = self.coordinates(sim)
        x, y = found["_positions"][..., 0], found["_positions"][..., 1]
        return {
            **found,
            "_wrenches": self.wrenches(sim),
            "x_position": x,
            "y_position": y,
            "distance_from_origin": np.hypot(x, y),
        }

    def wrenches(self, sim: Simulator) -> Array:
        """Return torque about the robot's centre of mass and force (..., 6 n) of the shapes.

        They are those of the ground on each shape in the last step [N m, N], in world axes.
        """
        masses = sim.body_inertias[0][..., None]
        weighted = np.add.reduce(masses * sim.body_states[..., :3], axis=-2)
        center = weighted / np.add.reduce(masses, axis=-2)
        contacts = sim.contacts
        forces = contacts.force[..., self._contacts, :] * (self._contacts >= 0)[..., None]
        arms = contacts.position[..., self._contacts, :] - center[..., None, None, :]
        found = np.concatenate((cross(arms, forces), forces), axis=-1)
        total = found[..., 0, :] + found[..., 1, :]
        return total.reshape(*total.shape[:-2], -1)

    def observe(self, quantities: Quantities) -> Array:
        """Return positions, all or but for x and y, velocities, and wrenches of contacts."""
        first = 2 * self.exclude_current_positions_from_observation
        parts = [quantities["_positions"][..., first:], quantities["_velocities"]]
        parts += [quantities["_wrenches"]] if self.include_cfrc_ext_in_observation else []
        return np.concatenate(parts, axis=-1)

    def healthy(self, quantities: Quantities) -> Flags:
        """Return whether the height of the trunk is in range (...,)."""
        height = quantities["_positions"][..., 2]
        low, high = self.healthy_z_range
        found: Flags = (height >= low) & (height <= high)
        return found

    def rewards(self, quantities: Quantities, action: Array) -> Quantities:
        """Return the terms of speed, control, contact and being up."""
        return {
            "forward": quantities["x_velocity"],
            "ctrl": -squared_action(action),
            "contact": -squared_action(quantities["_wrenches"]),
            "survive": as_numbers(self.healthy(quantities)),
        }

    def terminated(self, quantities: Quantities) -> Flags:
        """Return whether the robot has fallen, if that ends episodes."""
        fallen: Flags = np.logical_not(self.healthy(quantities))
        return fallen & self.terminate_when_unhealthy

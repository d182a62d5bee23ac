"""Robot of the quadruped's tasks: its start, actions, state quantities and falls."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from vigym import assets
from vigym.control.quadruped_gaits import LEGS, MOTORS_OF_LEG, joint_angles
from vigym.envs.arrays import cost_of_transport, heading_of, rotate_to_body, unstack
from vigym.envs.robots.joint_observation import joint_columns
from vigym.envs.robots.terrain import (
    TerrainOption,
    height_above_ground,
    maps_of_level,
    require_terrain,
    terrain_ground,
)
from vigym.envs.task import Array, Flags, Quantities, Start, Task, require_positive
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator
from vigym.urdf.convert.load import load_urdf

MASS, GRAVITY = 12.776, 9.81  # [kg, m/s^2]
STIFFNESS, DAMPING = 100.0, 2.0  # of the motors [N m/rad, N m s/rad]
MIN_HEIGHT = 0.16  # height of the trunk below which the robot has fallen [m]
MIN_UPRIGHT = 0.7  # cosine between z axis of the trunk and vertical below which it has fallen
MOTORS = LEGS * MOTORS_OF_LEG
MAX_ANGLE, MAX_RATE = 4.2, 50.0  # bounds of observations [rad, rad/s]
MAX_SPEED, MAX_SPIN = 10.0, 50.0  # bounds of observations [m/s, rad/s]


@dataclass(frozen=True, kw_only=True)
class QuadrupedTask(Task):
    """Robot of the quadruped's tasks: its start, actions, state quantities and falls."""

    grounded: ClassVar[bool] = True
    robot: ClassVar[str] = "quadruped"  # name of its file in `assets`

    timestep: float = 0.005
    frame_skip: int = 4
    terrain: TerrainOption = None
    terrain_level: float = 1.0
    friction: float = 0.8

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive("friction", self.friction, "a number")
        require_terrain(self.terrain, self.terrain_level)

    def mechanism(self) -> Mechanism:
        """Return the robot of `assets` on the ground, a motor at every joint."""
        ground = terrain_ground(self.terrain, np.full(3, self.friction))
        mechanism = load_urdf(assets.path(self.robot), base="floating", ground=ground)
        for name in mechanism.actuator_names:
            mechanism.add_motor(name, STIFFNESS, DAMPING)
        return mechanism

    def initial(self, mechanism: Mechanism, rng: np.random.Generator) -> tuple[Start, Start]:
        """Return the joint angles of the stand with noise."""
        scale = self.reset_noise_scale
        angles = joint_angles(np.zeros(MOTORS)) + rng.uniform(-scale, scale, MOTORS)
        return dict(zip(mechanism.motor_names, angles, strict=True)), {}

    def terrain_maps(self, count: int) -> int:
        """Return the number of maps, the first ones, of the level."""
        return maps_of_level(self.terrain_level, count)

    def targets(self, action: Array) -> Array:
        """Return the joint angles (..., 12) [rad] of an action."""
        return joint_angles(action)

    @cached_property
    def _motor_columns(self) -> tuple[list[int], list[int]]:
        """Columns of the motors among joint positions, and among joint velocities."""
        mechanism = self.built
        return joint_columns(mechanism, mechanism.motor_names)

    def joint_bounds(self, mechanism: Mechanism) -> dict[str, float]:
        """Return name and bound of the observed angles and rates."""
        names = mechanism.motor_names
        rates = {f"velocity({name})": MAX_RATE for name in names}
        return dict.fromkeys(names, MAX_ANGLE) | rates

    def observed_joints(self, quantities: Quantities) -> tuple[Array, Array]:
        """Return angles [rad] and rates [rad/s] of the motors' joints, (..., 12) each."""
        angles, rates = self._motor_columns
        return quantities["joint_positions"][..., angles], quantities["joint_velocities"][
            ..., rates
        ]

    def quantities(self, sim: Simulator) -> Quantities:
        """Return position and velocity of the robot, and torques and power of its motors."""
        positions, velocities = sim.joint_positions, sim.joint_velocities
        _, x, y, _ = unstack(positions[..., 3:7])
        power, weight = sim.readings.power, MASS * GRAVITY * sim.parameters.weight_factor
        return {
            "x_position": positions[..., 0],
            "y_position": positions[..., 1],
            "height": height_above_ground(sim, positions[..., 0:3]),
            "x_velocity": velocities[..., 0],
            "y_velocity": velocities[..., 1],
            "heading": heading_of(positions[..., 3:7]),
            "upright": 1.0 - 2.0 * (x * x + y * y),
            "motor_torques": sim.actuator_torques,
            "power": power,
            "cost_of_transport": cost_of_transport(power, weight, velocities[..., 0]),
        }

    def terminated(self, quantities: Quantities) -> Flags:
        """Return whether the robot fell."""
        return (quantities["upright"] < MIN_UPRIGHT) | (quantities["height"] < MIN_HEIGHT)


def trunk_bounds() -> Mapping[str, float]:
    """Return name and bound of the trunk's velocities in its own axes."""
    velocity = {f"velocity_{axis}": MAX_SPEED for axis in "xyz"}
    return velocity | {f"angular_velocity_{axis}": MAX_SPIN for axis in "xyz"}


def trunk_velocity(positions: Array, velocities: Array) -> tuple[Array, Array]:
    """Return velocity (..., 3) [m/s] and angular velocity (..., 3) [rad/s], axes of the trunk.

    Args:
        positions: of all joints (..., n), the trunk first.
        velocities: of all joints (..., n - 1), the trunk first.
    """
    return rotate_to_body(positions[..., 3:7], velocities[..., 0:3]), velocities[..., 3:6]

"""Robot of the tasks of Cassie: its start, motors, state quantities and falls."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from vigym import assets
from vigym.control.kinematics.cassie import leg_angles
from vigym.envs.arrays import rotate_to_body, unstack, world_up_in_body
from vigym.envs.robots.joint_observation import joint_columns
from vigym.envs.task import Array, Flags, Quantities, Start, Task
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator
from vigym.urdf.convert.load import load_urdf

SIDES = ("left", "right")
SPRINGS = ("shin", "heel-spring")
MEAN_HEIGHT = 0.95  # of the pelvis: at the start, and mean command [m]
MIN_HEIGHT = 0.7  # of the pelvis, below which the robot has fallen [m]
MIN_UPRIGHT = 0.8  # cosine of the tilt of the pelvis, below which it has
MAX_TILT = 1.5  # bound of the observed roll and pitch [rad]
MAX_ANGLE, MAX_RATE = 2.5, 100.0  # bounds of observed motors [rad, rad/s]
MAX_SPEED = 10.0  # bound of observed velocities [m/s]


@dataclass(frozen=True, kw_only=True)
class CassieTask(Task):
    """Robot of the tasks of Cassie: its start, motors, state quantities and falls."""

    grounded: ClassVar[bool] = True

    timestep: float = 0.002
    frame_skip: int = 10
    reset_noise_scale: float = 0.02

    def mechanism(self) -> Mechanism:
        """Return the robot of `assets/cassie` on the ground."""
        return load_urdf(assets.path("cassie"), base="floating", ground=True)

    def initial(self, mechanism: Mechanism, rng: np.random.Generator) -> tuple[Start, Start]:
        """Return the stand with noise of the motors' angles; the springs are at rest."""
        hip, knee, foot = leg_angles(np.array(MEAN_HEIGHT))
        stand = np.tile((0.0, 0.0, float(hip), float(knee), float(foot)), len(SIDES))
        noise = rng.uniform(-self.reset_noise_scale, self.reset_noise_scale, stand.shape)
        springs = {f"{side}-{spring}": 0.0 for side in SIDES for spring in SPRINGS}
        return dict(zip(mechanism.motor_names, stand + noise, strict=True)) | springs, {}

    @cached_property
    def _motor_columns(self) -> tuple[list[int], list[int]]:
        mechanism = self.built
        return joint_columns(mechanism, mechanism.motor_names)

    def robot_bounds(self, mechanism: Mechanism) -> dict[str, float]:
        """Return name and bound of what `observe_robot` returns."""
        motors = mechanism.motor_names
        angles = dict.fromkeys(motors, MAX_ANGLE)
        rates = {f"velocity({name})": MAX_RATE for name in motors}
        pelvis = {"height": 2.0, "roll": MAX_TILT, "pitch": MAX_TILT}
        velocities = {f"velocity_{axis}": MAX_SPEED for axis in "xyz"}
        turning = {f"angular_velocity_{axis}": MAX_RATE for axis in "xyz"}
        return {**angles, **rates, **pelvis, **velocities, **turning}

    def quantities(self, sim: Simulator) -> Quantities:
        """Return height and orientation of the pelvis, and power."""
        positions, velocities = sim.joint_positions, sim.joint_velocities
        up_x, up_y, up_z = unstack(world_up_in_body(positions[..., 3:7]))
        roll_rate, pitch_rate, _ = unstack(velocities[..., 3:6])
        return {
            "height": positions[..., 2],
            "upright": up_z,
            "roll": np.arctan2(up_y, up_z),
            "pitch": np.arctan2(-up_x, up_z),
            "roll_rate": roll_rate,
            "pitch_rate": pitch_rate,
            "power": sim.readings.power,
        }

    def observe_robot(self, quantities: Quantities) -> list[Array]:
        """Return motors and pelvis, arrays (..., n) of 29 numbers together."""
        positions, velocities = quantities["joint_positions"], quantities["joint_velocities"]
        angles, rates = self._motor_columns
        pelvis = np.stack([quantities[name] for name in ("height", "roll", "pitch")], axis=-1)
        velocity = rotate_to_body(positions[..., 3:7], velocities[..., 0:3])
        motors = [positions[..., angles], velocities[..., rates]]
        return [*motors, pelvis, velocity, velocities[..., 3:6]]

    def terminated(self, quantities: Quantities) -> Flags:
        """Return whether the robot fell."""
        return (quantities["upright"] < MIN_UPRIGHT) | (quantities["height"] < MIN_HEIGHT)

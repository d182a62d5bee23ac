"""Forward walking of the Minitaur, a quadruped of four closed five-bar legs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from vigym import assets
from vigym.control.minitaur_legs import commanded, hip_angles
from vigym.envs.arrays import (
    cost_of_transport,
    heading_of,
    rotate_to_body,
    stack,
    unstack,
    wrap_angle,
)
from vigym.envs.options import require_bool
from vigym.envs.robots.terrain import (
    TerrainOption,
    height_above_ground,
    maps_of_level,
    require_terrain,
    terrain_ground,
)
from vigym.envs.task import Array, Flags, Quantities, Start, Task, require_positive
from vigym.mechanism.elements.motors import MINITAUR_MOTOR
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator
from vigym.urdf.convert.load import load_urdf

STAND = 2.0  # initial extension of the legs [rad]
MASS, GRAVITY = 6.0, 9.81  # [kg, m/s^2]
EFFORT = 3.5  # of a motor [N m]
STIFFNESS, DAMPING = 8.0, 0.3  # of a position motor [N m/rad, N m s/rad]
PULSE, PULSE_RATE = 1.0, 0.02  # gains of a voltage motor [1/rad, s/rad]
MIN_HEIGHT = 0.13  # height of the base below which the robot has fallen [m]
MIN_UPRIGHT = 0.85  # cosine between z axis of the base and vertical below which it has fallen
HIP_POSITIONS = slice(7, 23, 2)  # among the joint positions
HIP_VELOCITIES = slice(6, 22, 2)  # among the joint velocities
# ranges of the commands, and those with a `reset_noise_scale` of 0 [m/s, rad from the x axis]
COMMANDS = {"command_speed": (-0.3, 0.6), "command_heading": (-0.8, 0.8)}
WITHOUT_NOISE = {"command_speed": 0.3, "command_heading": 0.0}
COMMAND_TOLERANCE = 0.25  # error of the velocity at which the reward has fallen to 1/e [m/s]
MAX_HEIGHT, MAX_HIP_ANGLE = 1.0, 4.0  # bounds of observations [m, rad]
MAX_SPEED = 10.0  # bound of observations [m/s]
MAX_SPIN, MAX_HIP_RATE = 50.0, 200.0  # bounds of observations [rad/s]


@dataclass(frozen=True, kw_only=True)
class Minitaur(Task):
    """Forward walking of the Minitaur, a quadruped of four closed five-bar legs.

    ## Description

    The Minitaur of Ghost Robotics with its published masses and lengths, 6 kg in total. Two coaxial
    motors turn the two upper bars of a leg, 0.115 m long, each carries a lower bar of 0.2 m, and
    the lower bars meet at the foot. The loops are closed by joints, not by springs. Four feet and
    the body may touch the ground. The robot walks forwards, along x, with little energy: the task
    of Bullet's MinitaurBulletEnv.

    ## Notes

    Motors track targets: torque = 8 (target - angle) - 0.3 rate, at most 3.5 N m, implicit in the
    step (`motor="torque"`). With `motor="voltage"` the same law, with gains 1 and 0.02, sets the
    pulse width of the robot's drives: 16 V, back-EMF 0.0954 V s/rad, 0.186 ohm, torque saturating
    from 1 N m at 10 A to 3.5 N m at 60 A. A leg is commanded in swing and extension, as in the
    robot's own leg map: positive swing turns it forwards; the extension is the mean angle of its
    two motors, which point up at 0, are level at pi/2 and down at pi.

    `info` has `x_position`, `y_position`, `height` of the base [m], `x_velocity`, `y_velocity`
    [m/s], `upright`, the cosine between the base's z axis and the vertical, `motor_torques` [N m],
    `power`, the sum of |torque * rate| over the motors, mean over the control step [W], and
    `cost_of_transport`, power over weight and speed along x (at least 0.01 m/s) at the end of the
    step. Observations are clipped to their bounds, `info` is not. Heights are above the ground
    below the base.

    With `commands` every episode has a random speed, -0.3 to 0.6 m/s, and heading, -0.8 to 0.8 rad
    from the x axis, `command_speed` and `command_heading` of `info`; with `reset_noise_scale=0`
    they are 0.3 m/s and 0. Two observations follow: the speed (m/s) and the angle from
    the base's own heading to that of the command (rad). The progress in reward_forward is then
    (1 + cos(angle)) / 2 exp(-(error of the velocity / 0.25 m/s)^2).

    On a `terrain` the first half metre about the start is level. Those with several maps, "boxes",
    "rough" and "mixed", give each episode a random one; sizes are those of
    `vigym.mechanism.elements.ground.maps`.

    ## Action Space

    Legs in the order front left, back left, front right, back right.

    | Num | Action | Control Min | Control Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0-3 | target swing of each leg, pi/4 a | -1 | 1 | front_left_hip_front, ... | angle (rad) |
    | 4-7 | target extension, pi - pi/4 (a+1.5) | -1 | 1 | ..., back_right_hip_rear | angle (rad) |

    ## Observation Space

    Motors in the order front and rear of front left, back left, front right, back right. Bullet's
    28 numbers, then velocity and height of the base.

    | Num | Observation | Min | Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0-7 | angles of the motors, 0: level, positive: down | -4 | 4 | hips | angle (rad) |
    | 8-15 | rates of the motors | -200 | 200 | hips | rate (rad/s) |
    | 16-23 | torques of the motors | -3.5 | 3.5 | hips | torque (N m) |
    | 24-27 | orientation of the base, quaternion (w, x, y, z) | -1 | 1 | base:floating | ratio |
    | 28-30 | velocity of the base, own axes | -10 | 10 | base:floating | rate (m/s) |
    | 31-33 | angular velocity of the base, own axes | -50 | 50 | base:floating | rate (rad/s) |
    | 34 | height of the base | -1 | 1 | base:floating | distance (m) |

    ## Rewards

    reward = reward_forward + reward_energy + reward_drift + reward_shake, all in `info`; the terms
    of Bullet's environment, dt is the control step:

    - reward_forward: `forward_weight` times x velocity times dt (Bullet: change of x in the step);
    - reward_energy: minus `energy_weight` times the sum of |torque * rate| over the motors, mean
      over the step, times dt (Bullet: modulus of the sum at the end of the step, where the power of
      a braking motor offsets that of a driving one);
    - reward_drift: minus `drift_weight` times |y velocity| times dt;
    - reward_shake: minus `shake_weight` times |sum of horizontal components of the base's z axis|.

    ## Starting State

    Standing on the ground with extended legs (2 rad), at rest; hip angles [rad] are uniform within
    +- `reset_noise_scale` of that, and the lowest foot touches the ground.

    ## Episode End

    - Termination: a fall, with the base's z axis more than acos(0.85) = 31.8 degrees off the
      vertical or the base lower than 0.13 m, or the solver fails (`info["solver_converged"]` is
      False).
    - Truncation: after 1000 control steps, 10 s.

    ## Arguments

    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `motor` | str | "torque" | output of the motor controllers: "torque" or "voltage" |
    | `terrain` | str or Terrain | None | "slope", "steps", "boxes", "rough", "mixed", a `Terrain` |
    | `terrain_level` | float | 1.0 | part of the terrain's maps, the first ones, for episodes |
    | `commands` | bool | False | a random speed and heading for every episode |
    | `friction` | float | 0.8 | coefficient of the feet and the body on the ground |
    | `forward_weight` | float | 1.0 | weight of the progress (1/m) |
    | `energy_weight` | float | 0.005 | weight of the motors' energy (1/J) |
    | `drift_weight` | float | 0.0 | weight of the sideways motion (1/m) |
    | `shake_weight` | float | 0.0 | weight of the tilt |
    | `reset_noise_scale` | float | 0.1 | half width of the initial noise (rad) |
    """

    grounded: ClassVar[bool] = True

    timestep: float = 0.005
    frame_skip: int = 2
    motor: str = "torque"
    terrain: TerrainOption = None
    terrain_level: float = 1.0
    commands: bool = False
    friction: float = 0.8
    forward_weight: float = 1.0
    energy_weight: float = 0.005
    drift_weight: float = 0.0
    shake_weight: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive("friction", self.friction, "a number")
        if self.motor not in ("torque", "voltage"):
            raise ValueError(f"option motor: found {self.motor!r}, expected 'torque' or 'voltage'")
        require_terrain(self.terrain, self.terrain_level)
        require_bool("commands", self.commands)

    def mechanism(self) -> Mechanism:
        """Return the robot of `assets/minitaur` on the ground, a motor at every hip."""
        ground = terrain_ground(self.terrain, np.full(3, self.friction))
        mechanism = load_urdf(assets.path("minitaur"), ground=ground)
        for name in mechanism.actuator_names:
            if self.motor == "voltage":
                mechanism.add_motor(name, PULSE, PULSE_RATE, model=MINITAUR_MOTOR)
            else:
                mechanism.add_motor(name, STIFFNESS, DAMPING)
        return mechanism

    def initial(self, mechanism: Mechanism, rng: np.random.Generator) -> tuple[Start, Start]:
        """Return hip angles with noise; the loops follow."""
        hips = mechanism.motor_names
        noise = rng.uniform(-self.reset_noise_scale, self.reset_noise_scale, len(hips))
        return dict(zip(hips, STAND - 0.5 * np.pi + noise, strict=True)), {}

    def goal(self, rng: np.random.Generator) -> Mapping[str, float]:
        """Return the commands of an episode."""
        if not self.commands:
            return {}
        if self.reset_noise_scale == 0.0:
            return WITHOUT_NOISE
        return {name: rng.uniform(*bounds) for name, bounds in COMMANDS.items()}

    def terrain_maps(self, count: int) -> int:
        """Return the number of maps, the first ones, of the level."""
        return maps_of_level(self.terrain_level, count)

    def targets(self, action: Array) -> Array:
        """Return the hip angles (..., 8) [rad] of swings and extensions."""
        return hip_angles(*commanded(action))

    def observation(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return motors, pose and velocity of the base."""
        hips = mechanism.motor_names
        kinds = {"angle": MAX_HIP_ANGLE, "velocity": MAX_HIP_RATE, "torque": EFFORT}
        motors = {f"{kind}({hip})": bound for kind, bound in kinds.items() for hip in hips}
        orientation = {f"orientation_{component}": 1.0 for component in "wxyz"}
        velocity = {f"velocity_{axis}": MAX_SPEED for axis in "xyz"}
        spin = {f"angular_velocity_{axis}": MAX_SPIN for axis in "xyz"}
        bounds = motors | orientation | velocity | spin | {"height": MAX_HEIGHT}
        if self.commands:
            bounds |= {"command_speed": MAX_SPEED, "heading_error": np.pi}
        return bounds

    def quantities(self, sim: Simulator) -> Quantities:
        """Return position and velocity of the robot, and torques and power of its motors."""
        positions, velocities = sim.joint_positions, sim.joint_velocities
        torques = sim.actuator_torques
        x, y = positions[..., 4], positions[..., 5]
        power, weight = sim.readings.power, MASS * GRAVITY * sim.parameters.weight_factor
        return {
            "x_position": positions[..., 0],
            "y_position": positions[..., 1],
            "height": height_above_ground(sim, positions[..., 0:3]),
            "x_velocity": velocities[..., 0],
            "y_velocity": velocities[..., 1],
            "upright": 1.0 - 2.0 * (x * x + y * y),
            "motor_torques": torques,
            "power": power,
            "cost_of_transport": cost_of_transport(power, weight, velocities[..., 0]),
        }

    def observe(self, quantities: Quantities) -> Array:
        """Return motors, pose and velocity of the base (..., 35)."""
        positions, velocities = quantities["joint_positions"], quantities["joint_velocities"]
        orientation = positions[..., 3:7]
        velocity = rotate_to_body(orientation, velocities[..., 0:3])
        observed = np.concatenate(
            (
                positions[..., HIP_POSITIONS],
                velocities[..., HIP_VELOCITIES],
                quantities["motor_torques"],
                orientation,
                velocity,
                velocities[..., 3:6],
                np.asarray(quantities["height"])[..., None],
            ),
            axis=-1,
        )
        if not self.commands:
            return observed
        command = stack(quantities["command_speed"], heading_error(quantities))
        return np.concatenate((observed, command), axis=-1)

    def rewards(self, quantities: Quantities, action: Array) -> Quantities:
        """Return the terms of progress, energy, drift and shake."""
        w, x, y, z = unstack(quantities["joint_positions"][..., 3:7])
        dt = self.timestep * self.frame_skip
        return {
            "forward": self._progress(quantities) * dt,
            "energy": -quantities["power"] * dt,
            "drift": -abs(quantities["y_velocity"]) * dt,
            "shake": -abs(2.0 * (x * z + w * y) + 2.0 * (y * z - w * x)),
        }

    def _progress(self, quantities: Quantities) -> Array:
        """Return the speed forwards [m/s]; with commands up to 1 for obeying them (...,)."""
        if not self.commands:
            return quantities["x_velocity"]
        speed, heading = quantities["command_speed"], quantities["command_heading"]
        x = quantities["x_velocity"] - speed * np.cos(heading)
        y = quantities["y_velocity"] - speed * np.sin(heading)
        faces = 0.5 + 0.5 * np.cos(heading_error(quantities))
        obeyed: Array = faces * np.exp(-(x * x + y * y) / COMMAND_TOLERANCE**2)
        return obeyed

    def course(self, quantities: Mapping[str, Any]) -> Array | None:
        """Return the heading of the command, opposite to it for speeds backwards (...,) [rad]."""
        if not self.commands:
            return None
        backwards = np.asarray(quantities["command_speed"]) < 0.0
        course: Array = quantities["command_heading"] + np.pi * backwards
        return course

    def terminated(self, quantities: Quantities) -> Flags:
        """Return whether the robot fell."""
        return (quantities["upright"] < MIN_UPRIGHT) | (quantities["height"] < MIN_HEIGHT)


def heading_error(quantities: Quantities) -> Array:
    """Return the angle from the base's heading to the command's, in [-pi, pi) (...,) [rad]."""
    heading = heading_of(quantities["joint_positions"][..., 3:7])
    return wrap_angle(quantities["command_heading"] - heading)

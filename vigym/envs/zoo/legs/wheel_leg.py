"""Driving of a robot on two wheels, whose legs are five-bar linkages, at a commanded height."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from vigym import assets
from vigym.control.kinematics.wheel_leg import HALF, LARGEST_RATE, MIDDLE, hip_angle
from vigym.envs.arrays import stack, unstack
from vigym.envs.options import require_positive
from vigym.envs.rewards import tolerance
from vigym.envs.task import Array, Flags, Quantities, Start, Task
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator
from vigym.urdf.convert.load import load_urdf

ZERO_HEIGHT = 0.3  # of the hips at the file's zero [m]
MEAN_HEIGHT, SWING = 0.37, 0.07  # of the hips: commanded mean, and amplitude about it [m]
SWINGS = 3.0  # of the height in a period
MAX_PITCH = 0.8  # at which an episode ends [rad]
MAX_ANGLE = 1.5  # bound of the observed angles of the hips [rad]
MAX_SPEED, MAX_RATE = 10.0, 100.0  # bounds of observations [m/s, rad/s]
COMMANDS = {"command_speed": 10.0, "command_acceleration": 10.0, "command_height": 1.0}  # bounds
SPEED_MARGIN, HEIGHT_MARGIN = 0.5, 0.05  # errors with a tenth of the reward [m/s, m]


@dataclass(frozen=True, kw_only=True)
class WheelLeg(Task):
    """Driving and balancing on two legs with wheels.

    ## Description

    A robot of 10.4 kg balances on two wheels. Each leg is a five-bar linkage of two hip motors and
    four bars, with a wheel where the lower bars meet. Both legs move alike, so the robot is planar
    and has one closed loop. The robot is to travel at a commanded speed, forwards and backwards in
    turn, its hips at a commanded height.

    ## Notes

    Hip motors track angles: torque = 400 (target - angle) - 12 rate, at most 60 N m. Wheel motors
    track a rate: torque = target - rate [N m for each rad/s], at most 10 N m. Both are implicit in
    the step, and their torques are those of both legs together. Friction on the ground is 0.9.
    Everything moves in the plane of x and z.

    `vigym.control.kinematics.wheel_leg` has the hips' angle of a height in closed form, and
    `Balance`, by name `balance`.

    `info` has the commands `command_speed` [m/s] and `command_height` [m]; what is to equal them,
    `x_velocity`, the hips' mean velocity over the control step [m/s], and `height` of the hips [m];
    `command_acceleration`, the rate of the commanded speed [m/s^2]; `x_position` of the hips [m],
    `pitch`, forwards [rad], `pitch_rate` [rad/s], and `power`, the sum of |torque * rate| over the
    motors, mean over the control step [W].

    ## Action Space

    | Num | Action | Control Min | Control Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0 | target, from -0.4 to 1.2, downwards from level | -1 | 1 | hip_front | angle (rad) |
    | 1 | target, from -0.4 to 1.2, downwards from level | -1 | 1 | hip_rear | angle (rad) |
    | 2 | target, from -30 to 30 | -1 | 1 | wheel | rate (rad/s) |

    ## Observation Space

    | Num | Observation | Min | Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0-1 | angles of the hips | -1.5 | 1.5 | hip_front, hip_rear | angle (rad) |
    | 2-3 | rates of the hips | -100 | 100 | hip_front, hip_rear | rate (rad/s) |
    | 4 | rate of the wheel | -100 | 100 | wheel | rate (rad/s) |
    | 5 | pitch, forwards | -0.8 | 0.8 | root | angle (rad) |
    | 6 | rate of the pitch | -100 | 100 | root | rate (rad/s) |
    | 7 | height of the hips | -1 | 1 | root | distance (m) |
    | 8 | velocity of the hips along x | -10 | 10 | root | rate (m/s) |
    | 9 | velocity of the hips upwards | -10 | 10 | root | rate (m/s) |
    | 10 | commanded speed | -10 | 10 | | rate (m/s) |
    | 11 | its rate of change | -10 | 10 | | rate (m/s^2) |
    | 12 | commanded height | -1 | 1 | | distance (m) |

    ## Rewards

    reward = reward_velocity + reward_height + reward_energy, all in `info`:

    - reward_velocity: `velocity_weight` times 1 at the commanded speed, 0.1 at an error of 0.5 m/s;
    - reward_height: `height_weight` times 1 at the commanded height, 0.1 at an error of 0.05 m;
    - reward_energy: minus `energy_weight` times the motors' mean power over the control step.

    ## Starting State

    At rest, the wheels on the ground under the hips, these 0.37 m high; the pitch [rad] is uniform
    within +- `reset_noise_scale`. The commands are `speed` sin(2 pi t / `period`) and
    0.37 m + 0.07 m sin(6 pi t / `period`).

    ## Episode End

    - Termination: a pitch of more than 0.8 rad, or the solver fails (`info["solver_converged"]` is
      False).
    - Truncation: after 400 control steps, 8 s.

    ## Arguments

    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `speed` | float | 1.0 | largest commanded speed (m/s) |
    | `period` | float | 8.0 | of the commanded speed (s) |
    | `velocity_weight` | float | 1.0 | weight of the commanded speed |
    | `height_weight` | float | 0.5 | weight of the commanded height |
    | `energy_weight` | float | 0.0005 | weight of the motors' power (1/W) |
    | `reset_noise_scale` | float | 0.1 | half width of the noise (rad) |
    """

    timestep: float = 0.005
    frame_skip: int = 4
    speed: float = 1.0
    period: float = 8.0
    velocity_weight: float = 1.0
    height_weight: float = 0.5
    energy_weight: float = 0.0005

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive("speed", self.speed, "m/s")
        require_positive("period", self.period, "seconds")

    def mechanism(self) -> Mechanism:
        """Return the robot of `assets/wheel_leg` on the ground."""
        return load_urdf(assets.path("wheel_leg"), ground=True)

    def initial(self, mechanism: Mechanism, rng: np.random.Generator) -> tuple[Start, Start]:
        """Return the robot on its wheels, which are under the hips."""
        pitch = rng.uniform(-self.reset_noise_scale, self.reset_noise_scale)
        hip = float(hip_angle(np.array(MEAN_HEIGHT)))
        root = (0.0, MEAN_HEIGHT - ZERO_HEIGHT, -pitch)
        # The hips turn against the body, so that the legs stand upright.
        return {"root": root, "hip_front": hip - pitch, "hip_rear": hip + pitch}, {}

    def targets(self, action: Array) -> Array:
        """Return angles of the hips and the rate of the wheel (..., 3) [rad, rad/s]."""
        front, rear, wheel = unstack(action)
        return stack(MIDDLE + HALF * front, MIDDLE + HALF * rear, LARGEST_RATE * wheel)

    def observation(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return motors, body and commands."""
        hips = ("hip_front", "hip_rear")
        angles = dict.fromkeys(hips, MAX_ANGLE)
        rates = {f"velocity({name})": MAX_RATE for name in (*hips, "wheel")}
        pitch = {"pitch": MAX_PITCH, "velocity(pitch)": MAX_RATE}
        velocities = {"x_velocity": MAX_SPEED, "z_velocity": MAX_SPEED}
        return {**angles, **rates, **pitch, "height": 1.0, **velocities, **COMMANDS}

    def travelled(self, sim: Simulator) -> Quantities:
        """Return the place along x [m], whose mean rate is rewarded."""
        return {"x_velocity": sim.joint_positions[..., 0]}

    def quantities(self, sim: Simulator) -> Quantities:
        """Return place, height, pitch, commands and power."""
        x, z, turn, *_ = unstack(sim.joint_positions)
        _, _, turning, *_ = unstack(sim.joint_velocities)
        rate = 2.0 * np.pi / self.period
        phase = rate * sim.time
        return {
            "x_position": x,
            "height": ZERO_HEIGHT + z,
            "pitch": -turn,
            "pitch_rate": -turning,
            "command_speed": self.speed * np.sin(phase),
            "command_acceleration": self.speed * rate * np.cos(phase),
            "command_height": MEAN_HEIGHT + SWING * np.sin(SWINGS * phase),
            "power": sim.readings.power,
        }

    def observe(self, quantities: Quantities) -> Array:
        """Return motors, body and commands (..., 13)."""
        _, _, _, front, _, rear, *_ = unstack(quantities["joint_positions"])
        rates = unstack(quantities["joint_velocities"])
        vx, vz, _, front_rate, _, rear_rate, _, wheel, *_ = rates
        body = (quantities[name] for name in ("pitch", "pitch_rate", "height"))
        commands = (quantities[name] for name in COMMANDS)
        return stack(front, rear, front_rate, rear_rate, wheel, *body, vx, vz, *commands)

    def rewards(self, quantities: Quantities, action: Array) -> Quantities:
        """Return the terms of speed, height and energy."""
        slip = quantities["x_velocity"] - quantities["command_speed"]
        lift = quantities["height"] - quantities["command_height"]
        return {
            "velocity": tolerance(slip, margin=SPEED_MARGIN),
            "height": tolerance(lift, margin=HEIGHT_MARGIN),
            "energy": -quantities["power"],
        }

    def terminated(self, quantities: Quantities) -> Flags:
        """Return whether the robot falls."""
        fallen: Flags = abs(quantities["pitch"]) > MAX_PITCH
        return fallen

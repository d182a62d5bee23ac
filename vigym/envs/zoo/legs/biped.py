"""Walking of a biped, whose ankles are parallel mechanisms, at a commanded speed."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from vigym import assets
from vigym.control.kinematics.biped import (
    CORRECTION,
    PERIOD,
    SIDES,
    STAND,
    crank_angles,
    leg_angles,
    stepping,
)
from vigym.envs.arrays import (
    cosine,
    heading_of,
    rotate_to_body,
    sine,
    stack,
    unstack,
    world_up_in_body,
)
from vigym.envs.options import is_number, require
from vigym.envs.rewards import tolerance
from vigym.envs.robots.joint_observation import joint_columns
from vigym.envs.task import Array, Flags, Quantities, Start, Task
from vigym.envs.zoo.legs.biped_tree import tree_biped
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator
from vigym.urdf.convert.load import load_urdf

JOINTS = ("hip_yaw", "hip_roll", "hip_pitch", "knee", "ankle_pitch", "ankle_roll")
NAMES = [f"{side}_{joint}" for side in SIDES for joint in JOINTS]
MOST_PITCH, MOST_ROLL = 0.6, 0.3  # of the ankles [rad]
SPEEDS = 0.2, 0.8  # least and largest command that is drawn [m/s]
MEAN_SPEED = 0.5  # command with a `reset_noise_scale` of 0 [m/s]
MIN_HEIGHT = 0.5  # of the pelvis, below which the robot has fallen [m]
MIN_UPRIGHT = 0.8  # cosine of the tilt of the pelvis, below which it has
MAX_ANGLE, MAX_RATE = 2.5, 50.0  # bounds of observations [rad, rad/s]
MAX_SPEED = 10.0  # the same [m/s]
WEIGHT = 16.1 * 9.81  # [N]
VELOCITY_MARGIN, TURN_MARGIN = 0.5, 1.0  # errors with a tenth of the reward [m/s, rad/s]
TILT_MARGIN = 0.3  # the same, sine of the tilt


@dataclass(frozen=True, kw_only=True)
class Biped(Task):
    """Walking at a commanded speed on parallel ankles.

    ## Description

    The lower body of a small humanoid, 16.1 kg, is to walk forwards at a commanded speed. Each leg
    has three motors at the hip, one at the knee and two on the shank. These two turn cranks, and
    rods join the cranks to the heel: pitch and roll of the ankle are driven in parallel, through
    two closed loops. Size, weight and joints are near those of the Berkeley Humanoid, the figures
    are ours.

    ## Notes

    Motors track angles: torque = kp (target - angle) - kd rate, with kp of 100 N m/rad at the yaw,
    250 at roll, pitch and knee, 40 at the cranks, kd of 5, 12 and 1.5 N m s/rad; at most 40, 60 and
    12 N m. They are implicit in the step. Friction on the ground is 0.8. Targets without an action
    are those of `vigym.control.kinematics.biped.stepping`: steps in 0.32 s each, feet level and
    lifted by 0.05 m. They alone do not balance. The policy of the package is trained for commands
    from 0.2 to 0.8 m/s. Targets of an ankle are its pitch and roll, within +-0.6 and +-0.3 rad;
    `crank_angles` there turns them into those of the cranks, in closed form.

    With `tree=True` the robot is the tree that commonly stands for such a robot. Cranks and half of
    each rod are part of the shank, half of it is part of the foot. Motors turn pitch and roll of
    the ankle, with the efforts (26.7 and 16 N m), gains and armatures that the cranks have there at
    zero. Actions and observations are the same, so that a policy plays both.

    `info` has the command `command_speed` [m/s]; of the pelvis's centre of mass `x_position`,
    `y_position` and `height` [m], `x_velocity` and `y_velocity` [m/s], and in the axes of the
    pelvis `forward_velocity` and `left_velocity`; `heading`, `pitch` forwards [rad], `pitch_rate`
    and `turning` [rad/s]; `upright`, the cosine of the tilt; `foot_slip`, the speed of the feet
    along the ground, weighted by their parts of the robot's weight [m/s]; and `power`, the sum of
    |torque * rate| over the motors, mean over the control step [W].

    ## Action Space

    Of each leg yaw, roll and pitch of the hip, knee, pitch and roll of the ankle: targets that are
    those of the steps + (0.2, 0.25, 0.5, 0.6, 0.5, 0.25) a.

    | Num | Action | Control Min | Control Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0-5 | targets of the left leg | -1 | 1 | left_hip_yaw to left_ankle_roll, the ankle's by \
left_outer_crank and left_inner_crank | angle (rad) |
    | 6-11 | targets of the right leg | -1 | 1 | right_hip_yaw to right_ankle_roll, the ankle's by \
right_outer_crank and right_inner_crank | angle (rad) |

    ## Observation Space

    Joints in the order of the actions.

    | Num | Observation | Min | Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0-11 | joint angles | -2.5 | 2.5 | legs | angle (rad) |
    | 12-23 | joint rates | -50 | 50 | legs | rate (rad/s) |
    | 24-26 | upwards, own axes of the pelvis | -1 | 1 | pelvis:floating | ratio |
    | 27-29 | velocity of the pelvis, own axes | -10 | 10 | pelvis:floating | rate (m/s) |
    | 30-32 | its angular velocity, own axes | -50 | 50 | pelvis:floating | rate (rad/s) |
    | 33 | commanded speed | -10 | 10 | | rate (m/s) |
    | 34-35 | sine and cosine of the steps' phase | -1 | 1 | | ratio |

    ## Rewards

    reward = reward_velocity + reward_turn + reward_upright + reward_energy + reward_slip, all in
    `info`:

    - reward_velocity: `velocity_weight` times 1 where the velocities forwards and to the left are
      the commanded speed and 0, 0.1 where they are 0.5 m/s off;
    - reward_turn: `turn_weight` times 1 without turning, 0.1 at 1 rad/s;
    - reward_upright: `upright_weight` times 1 at an upright pelvis, 0.1 where the sine of its tilt
      is 0.3;
    - reward_energy: minus `energy_weight` times the motors' mean power over the control step;
    - reward_slip: minus `slip_weight` times `foot_slip`. The policy of the package was trained with
      a weight of 1.

    ## Starting State

    Standing on the ground, at rest; joint angles [rad] are uniform within +- `reset_noise_scale` of
    the stand. The command is uniform from 0.2 to 0.8 m/s, unless `speed` gives it; with
    `reset_noise_scale=0` it is 0.5 m/s.

    ## Episode End

    - Termination: a height of less than 0.5 m, a tilt of more than 0.64 rad, or the solver fails
      (`info["solver_converged"]` is False).
    - Truncation: after 500 control steps, 10 s.

    ## Arguments

    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `tree` | bool | False | whether the tree stands for the robot with loops |
    | `speed` | float | None | command (m/s); None: random |
    | `velocity_weight` | float | 1.0 | weight of the commanded speed |
    | `turn_weight` | float | 0.3 | weight of a steady heading |
    | `upright_weight` | float | 0.3 | weight of an upright pelvis |
    | `energy_weight` | float | 0.0005 | weight of the motors' power (1/W) |
    | `slip_weight` | float | 0.0 | weight of sliding feet (s/m) |
    | `reset_noise_scale` | float | 0.02 | half width of the noise (rad) |
    """

    grounded: ClassVar[bool] = True

    timestep: float = 0.005
    frame_skip: int = 4
    tree: bool = False
    speed: float | None = None
    velocity_weight: float = 1.0
    turn_weight: float = 0.3
    upright_weight: float = 0.3
    energy_weight: float = 0.0005
    slip_weight: float = 0.0
    reset_noise_scale: float = 0.02

    def __post_init__(self) -> None:
        super().__post_init__()
        fits = self.speed is None or (is_number(self.speed) and abs(self.speed) <= MAX_SPEED)
        require(fits, "speed", self.speed, f"a number in [-{MAX_SPEED}, {MAX_SPEED}], or None")

    def mechanism(self) -> Mechanism:
        """Return the robot of `assets/biped` on the ground, or the tree that stands for it."""
        if self.tree:
            return tree_biped()
        return load_urdf(assets.path("biped"), base="floating", ground=True)

    @cached_property
    def _columns(self) -> tuple[list[int], list[int]]:
        """Columns of the observed joints among positions and velocities."""
        return joint_columns(self.built, NAMES)

    def initial(self, mechanism: Mechanism, rng: np.random.Generator) -> tuple[Start, Start]:
        """Return the stand with noise; cranks follow."""
        hip, knee, ankle = leg_angles(np.array(STAND), np.array(0.0))
        stand = np.array((0.0, 0.0, hip, knee, ankle, 0.0) * len(SIDES))
        scale = self.reset_noise_scale
        return dict(zip(NAMES, stand + rng.uniform(-scale, scale, stand.shape), strict=True)), {}

    def goal(self, rng: np.random.Generator) -> Mapping[str, float]:
        """Return the command of an episode."""
        if self.speed is not None:
            return {"command_speed": float(self.speed)}
        noisy = self.reset_noise_scale > 0.0
        return {"command_speed": rng.uniform(*SPEEDS) if noisy else MEAN_SPEED}

    def motor_targets(self, action: Array, time: Array, goals: Quantities) -> Array:
        """Return the targets of the motors (..., 12) [rad]."""
        legs: Array = action.reshape(*action.shape[:-1], len(SIDES), len(JOINTS)) * CORRECTION
        pitch, knee, ankle = stepping(time, goals["command_speed"])
        legs[..., 2] += pitch
        legs[..., 3] += knee
        ankle_pitch = (legs[..., 4] + ankle).clip(-MOST_PITCH, MOST_PITCH)
        ankle_roll = legs[..., 5].clip(-MOST_ROLL, MOST_ROLL)
        if self.tree:
            legs[..., 4], legs[..., 5] = ankle_pitch, ankle_roll
        else:
            legs[..., 4:] = crank_angles(ankle_pitch, ankle_roll)
        return legs.reshape(action.shape)

    def observation(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return joints, tilt and velocity of the pelvis, command and phase."""
        angles = dict.fromkeys(NAMES, MAX_ANGLE)
        rates = {f"velocity({name})": MAX_RATE for name in NAMES}
        up = {f"up_{axis}": 1.0 for axis in "xyz"}
        velocity = {f"velocity_{axis}": MAX_SPEED for axis in "xyz"}
        turning = {f"angular_velocity_{axis}": MAX_RATE for axis in "xyz"}
        clock = {"command_speed": MAX_SPEED, "sin(phase)": 1.0, "cos(phase)": 1.0}
        return {**angles, **rates, **up, **velocity, **turning, **clock}

    def quantities(self, sim: Simulator) -> Quantities:
        """Return place and velocity of the pelvis, power and sliding of the feet."""
        positions, velocities = sim.joint_positions, sim.joint_velocities
        up_x, _, up_z = unstack(world_up_in_body(positions[..., 3:7]))
        contacts = sim.contacts
        forward, left, _ = unstack(rotate_to_body(positions[..., 3:7], velocities[..., 0:3]))
        return {
            "x_position": positions[..., 0],
            "y_position": positions[..., 1],
            "height": positions[..., 2],
            "x_velocity": velocities[..., 0],
            "y_velocity": velocities[..., 1],
            "heading": heading_of(positions[..., 3:7]),
            "upright": up_z,
            "pitch": np.arctan2(-up_x, up_z),
            "pitch_rate": velocities[..., 4],
            "forward_velocity": forward,
            "left_velocity": left,
            "turning": velocities[..., 5],
            "power": sim.readings.power,
            "foot_slip": np.add.reduce(contacts.slip * contacts.force[..., 2], axis=-1) / WEIGHT,
        }

    def course(self, quantities: Mapping[str, Any]) -> Array:
        """Return the heading (...,) [rad]."""
        heading: Array = np.asarray(quantities["heading"])
        return heading

    def observe(self, quantities: Quantities) -> Array:
        """Return joints, pelvis, command and phase (..., 36)."""
        positions, velocities = quantities["joint_positions"], quantities["joint_velocities"]
        angles, rates = self._columns
        up = world_up_in_body(positions[..., 3:7])
        velocity = rotate_to_body(positions[..., 3:7], velocities[..., 0:3])
        phase = 2.0 * np.pi / PERIOD * quantities["time"]
        clock = stack(quantities["command_speed"], sine(phase), cosine(phase))
        joints = positions[..., angles], velocities[..., rates]
        return np.concatenate((*joints, up, velocity, velocities[..., 3:6], clock), axis=-1)

    def rewards(self, quantities: Quantities, action: Array) -> Quantities:
        """Return the terms of velocity, turning, uprightness, energy and sliding."""
        lag = quantities["forward_velocity"] - quantities["command_speed"]
        left, upright = quantities["left_velocity"], quantities["upright"]
        tilt = np.sqrt(np.maximum(1.0 - upright * upright, 0.0))
        return {
            "velocity": tolerance(np.sqrt(lag * lag + left * left), margin=VELOCITY_MARGIN),
            "turn": tolerance(quantities["turning"], margin=TURN_MARGIN),
            "upright": tolerance(tilt, margin=TILT_MARGIN),
            "energy": -quantities["power"],
            "slip": -quantities["foot_slip"],
        }

    def terminated(self, quantities: Quantities) -> Flags:
        """Return whether the robot fell."""
        return (quantities["upright"] < MIN_UPRIGHT) | (quantities["height"] < MIN_HEIGHT)

"""Walking, with a commanded velocity, of a quadruped whose legs are Bennett linkages."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vigym.control.kinematics.bennett import trot_angles
from vigym.control.quadruped_gaits import LEGS
from vigym.envs.task import Array, Quantities, Start
from vigym.envs.tasks.quadruped_base import MOTORS
from vigym.envs.tasks.quadruped_command import COMMANDS, QuadrupedCommand
from vigym.mechanism.mechanism import Mechanism

CORRECTION = np.tile((0.2, 0.3, 0.3), LEGS)  # of the targets by an action of 1 [rad]


@dataclass(frozen=True, kw_only=True)
class BennettQuadruped(QuadrupedCommand):
    """Walking of a quadruped with Bennett linkages.

    ## Description

    A quadruped of 12.8 kg follows a command of three numbers, as `vigym/QuadrupedCommand-v1` does:
    velocities forwards and to the left, and the rate of turning. Each leg is a Bennett linkage: a
    ring of four links and four hinges, whose axes are neither parallel nor meet in a point. The
    leg's three motors are on the trunk's side: one of the abduction, and two coaxial ones that turn
    the upper links. Trunk, places of the legs, their mass and torques are those of Unitree's A1.

    ## Notes

    By counting, a ring of four hinges has -2 degrees of freedom. It moves since its links are
    equally long, 0.2 m, and its hinges are twisted against each other by 30 and 150 degrees in
    turn. `vigym.control.kinematics.bennett` has its kinematics in closed form. A foot moves
    sideways too as its leg bends: in the stand it is 0.1 m outwards of the plane of the motors.

    Motors track targets: torque = 100 (target - angle) - 2 rate, at most 33.5 N m, implicit in the
    step. All angles are zero in the stand. Targets without an action are those of a trot by inverse
    kinematics: 2.5 steps of each foot per second, diagonal legs together. It walks with about 0.8
    of the commanded velocity.

    `info` has the commands `command_forward`, `command_left` [m/s] and `command_turn` [rad/s],
    which stay for an episode; what is to equal them: `forward_velocity`, `left_velocity` [m/s] and
    `turning` [rad/s], in the axes of the trunk; and what `vigym/Quadruped-v1` has: `x_position`,
    `y_position`, `height` [m], `x_velocity`, `y_velocity` [m/s], `heading` [rad], `upright`,
    `motor_torques` [N m], `power` [W] and `cost_of_transport`, along x as there. Observations are
    clipped to their bounds, `info` is not.

    ## Action Space

    Legs in the order front left, back left, front right, back right; of each abduction, and motors
    of the front and the rear link.

    | Num | Action | Control Min | Control Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0-11 | target angles, trot + (0.2, 0.3, 0.3) a | -1 | 1 | front_left_abduction to \
back_right_rear | angle (rad) |

    ## Observation Space

    Joints in the order of the actions.

    | Num | Observation | Min | Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0-11 | joint angles | -4.2 | 4.2 | legs | angle (rad) |
    | 12-23 | joint rates | -50 | 50 | legs | rate (rad/s) |
    | 24-26 | upwards, own axes of the trunk | -1 | 1 | trunk:floating | ratio |
    | 27-29 | velocity of the trunk, own axes | -10 | 10 | trunk:floating | rate (m/s) |
    | 30-32 | angular velocity of the trunk, own axes | -50 | 50 | trunk:floating | rate (rad/s) |
    | 33-34 | commanded velocities forwards, to the left | -2 | 2 | | rate (m/s) |
    | 35 | commanded rate of turning | -2 | 2 | | rate (rad/s) |
    | 36-37 | sine and cosine of the trot's phase | -1 | 1 | | ratio |

    ## Rewards

    reward = reward_velocity + reward_turn + reward_energy, all in `info`:

    - reward_velocity: `velocity_weight` times 1 / (1 + 9 (e / 0.5 m/s)^2), e the distance of the
      horizontal velocity from the commanded one;
    - reward_turn: `turn_weight` times 1 / (1 + 9 (d / 1 rad/s)^2), d the error of the rate of
      turning;
    - reward_energy: minus `energy_weight` times the sum of |torque * rate| over the motors, mean
      over the step [W].

    ## Starting State

    Standing on the ground, at rest; motor angles [rad] are uniform within +- `reset_noise_scale` of
    the stand, and the lowest foot touches the ground. Commands are uniform, forwards from -0.5 to 1
    m/s, to the left within +-0.3 m/s, turning within +-1 rad/s, unless `command` gives them. With
    `reset_noise_scale=0` they are 0.5 m/s forwards.

    ## Episode End

    - Termination: a fall, with the trunk's z axis more than acos(0.7) = 45.6 degrees off the
      vertical or the trunk lower than 0.16 m, or the solver fails (`info["solver_converged"]` is
      False).
    - Truncation: after 500 control steps, 10 s.

    ## Arguments

    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `command` | tuple | None | forwards, left, turning (m/s, m/s, rad/s), in +-2: numbers, \
or ranges (low, high) to draw from; None: random |
    | `terrain` | str or Terrain | None | "slope", "steps", "boxes", "rough", "mixed", a `Terrain` |
    | `terrain_level` | float | 1.0 | part of the terrain's maps, the first ones, for episodes |
    | `friction` | float | 0.8 | coefficient of all that touches the ground |
    | `velocity_weight` | float | 1.0 | weight of the commanded velocity |
    | `turn_weight` | float | 0.5 | weight of the commanded turning |
    | `energy_weight` | float | 0.0005 | weight of the motors' power (1/W) |
    """

    robot: ClassVar[str] = "bennett"

    timestep: float = 0.002
    frame_skip: int = 10

    def initial(self, mechanism: Mechanism, rng: np.random.Generator) -> tuple[Start, Start]:
        """Return the angles of the motors' joints at the stand with noise."""
        scale = self.reset_noise_scale
        angles = rng.uniform(-scale, scale, MOTORS)
        return dict(zip(mechanism.motor_names, angles, strict=True)), {}

    def targets(self, action: Array) -> Array:
        """Return the corrections (..., 12) [rad] of an action."""
        return CORRECTION * action

    def motion(self, time: Array, goals: Quantities) -> Array:
        """Return the joint angles (..., 12) [rad] of the trot."""
        return trot_angles(time, *(goals[name] for name in COMMANDS))

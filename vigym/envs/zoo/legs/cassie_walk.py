"""Walking of the biped Cassie with the speed that it is commanded."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from vigym.control.kinematics.cassie import clock, walking_angles
from vigym.envs.arrays import heading_of, stack
from vigym.envs.options import is_number, require
from vigym.envs.rewards import tolerance
from vigym.envs.robots.joint_observation import joint_columns
from vigym.envs.task import Array, Quantities
from vigym.envs.zoo.legs.cassie_base import MAX_RATE, SIDES, SPRINGS, CassieTask
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator

SPEEDS = (0.0, 1.0)  # from which commands are drawn [m/s]
WITHOUT_NOISE = 0.5  # command with a `reset_noise_scale` of 0 [m/s]
MAX_COMMAND = 2.0  # bound of the command [m/s]
MAX_BEND, MAX_HEADING = 1.0, 4.0  # bounds of observed springs and heading [rad]
MAX_DRIFT = 2.0  # bound of the observed place along y [m]
CORRECTION = np.tile((0.2, 0.2, 0.3, 0.4, 0.4), len(SIDES))  # of targets by an action of 1 [rad]
WEIGHT = 33.3 * 9.81  # [N]
# Errors with a tenth of the reward.
SPEED_MARGIN, TILT_MARGIN = 0.5, 0.4  # [m/s, rad]
LINE_MARGIN, HEADING_MARGIN = 0.5, 0.5  # of the place along y, and of the heading [m, rad]
LOAD_MARGIN = 0.3  # of a swinging foot, as a part of the weight
SLIP_MARGIN = 0.5  # of a standing foot [m/s]


@dataclass(frozen=True, kw_only=True)
class CassieWalk(CassieTask):
    """Walking with a commanded speed.

    ## Description

    Cassie, the biped of `vigym/Cassie-v0`, walks along the x axis with a speed that is drawn for
    every episode, by steps of 0.35 s. Actions correct the steps that inverse kinematics make for a
    pelvis that stays upright. Without corrections the robot falls within two seconds. The policy of
    the package walks at commands from 0 to 1 m/s, with which it was trained, and falls at others.

    ## Notes

    Motors, gains, torques and angles are those of `vigym/Cassie-v0`. Targets without an action are
    those of `vigym.control.kinematics.cassie.walking_angles`: the left foot swings while the sine
    of the clock's phase is positive, the right one while it is negative. The gait is rewarded as by
    Siekmann et al. (2021): a foot is to carry nothing while it swings, and to rest while it stands.

    `info` has `command_speed`, `x_velocity`, that of the pelvis, mean over the control step [m/s],
    `x_position`, `y_position` and `height` of its centre of mass [m], `heading`, its direction from
    the x axis; `roll` to the right and `pitch` forwards [rad], and their rates in the axes of the
    pelvis, `roll_rate` and `pitch_rate` [rad/s]; `upright`, the cosine of the tilt; of left and
    right foot `foot_load`, the upward force over the weight, `foot_height` [m] and `foot_speed`
    [m/s] of the centre of mass; and `power`, the sum of |torque * rate| over the motors, mean over
    the control step [W].

    ## Action Space

    Motors in the order hip-roll, hip-yaw, hip-pitch, knee, foot.

    | Num | Action | Control Min | Control Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0-9 | targets, steps + (0.2, 0.2, 0.3, 0.4, 0.4) a | -1 | 1 | left-hip-roll to right-foot | \
angle (rad) |

    ## Observation Space

    | Num | Observation | Min | Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0-9 | angles of the motors | -2.5 | 2.5 | as the actions | angle (rad) |
    | 10-19 | their rates | -100 | 100 | as the actions | rate (rad/s) |
    | 20 | height of the pelvis | -2 | 2 | root | distance (m) |
    | 21 | roll | -1.5 | 1.5 | root | angle (rad) |
    | 22 | pitch | -1.5 | 1.5 | root | angle (rad) |
    | 23-25 | velocity of the pelvis in its axes | -10 | 10 | root | rate (m/s) |
    | 26-28 | its angular velocity in its axes | -100 | 100 | root | rate (rad/s) |
    | 29-32 | springs: shin and heel, left and right | -1 | 1 | shin, heel-spring | angle (rad) |
    | 33-36 | their rates | -100 | 100 | shin, heel-spring | rate (rad/s) |
    | 37 | heading | -4 | 4 | root | angle (rad) |
    | 38 | place along y | -2 | 2 | root | distance (m) |
    | 39 | commanded speed | -2 | 2 | | rate (m/s) |
    | 40-41 | sine and cosine of the clock's phase | -1 | 1 | | ratio |

    ## Rewards

    reward = reward_velocity + reward_course + reward_upright + reward_gait + reward_energy +
    reward_action, all in `info`:

    - reward_velocity: `velocity_weight` times 1 at the commanded speed, 0.1 at an error of 0.5 m/s;
    - reward_course: `course_weight` times 1 on the x axis with a heading of 0, 0.1 where the place
      along y is off by 0.5 m, or the heading by 0.5 rad;
    - reward_upright: `upright_weight` times 1 without roll and pitch, 0.1 where the root of the sum
      of their squares is 0.4 rad;
    - reward_gait: `gait_weight` times the mean over both feet of 1 without load, 0.1 at 0.3 of the
      weight, while it swings, and 1 at rest, 0.1 at 0.5 m/s, while it stands;
    - reward_energy: minus `energy_weight` times the motors' mean power over the control step;
    - reward_action: minus `action_weight` times the sum of the squares of the action.

    ## Starting State

    At rest, the pelvis level, the feet on the ground under the centre of mass, the height 0.95 m
    and the springs without load; angles of the motors [rad] have uniform noise within +-
    `reset_noise_scale`. The commanded speed is uniform from 0 to 1 m/s, unless `speed` gives it.
    With `reset_noise_scale=0` it is 0.5 m/s.

    ## Episode End

    - Termination: a height of less than 0.7 m, a tilt of more than 0.64 rad, or the solver fails
      (`info["solver_converged"]` is False).
    - Truncation: after 400 control steps, 10 s.

    ## Arguments

    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `speed` | float | None | commanded speed, in +-2; None: random (m/s) |
    | `velocity_weight` | float | 1.0 | weight of the commanded speed |
    | `course_weight` | float | 0.4 | weight of place along y and heading |
    | `upright_weight` | float | 0.3 | weight of an upright pelvis |
    | `gait_weight` | float | 0.6 | weight of swinging and standing feet |
    | `energy_weight` | float | 0.0002 | weight of the motors' power (1/W) |
    | `action_weight` | float | 0.02 | weight of the action |
    | `reset_noise_scale` | float | 0.02 | half width of the noise (rad) |
    """

    timestep: float = 0.0025
    speed: float | None = None
    velocity_weight: float = 1.0
    course_weight: float = 0.4
    upright_weight: float = 0.3
    gait_weight: float = 0.6
    energy_weight: float = 0.0002
    action_weight: float = 0.02

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.speed is not None:
            fits = is_number(self.speed) and abs(self.speed) <= MAX_COMMAND
            expected = f"a number in [-{MAX_COMMAND}, {MAX_COMMAND}], or None"
            require(fits, "speed", self.speed, expected)

    def goal(self, rng: np.random.Generator) -> Mapping[str, float]:
        """Return the commanded speed of an episode."""
        if self.speed is None and self.reset_noise_scale > 0.0:
            return {"command_speed": rng.uniform(*SPEEDS)}
        return {"command_speed": WITHOUT_NOISE if self.speed is None else float(self.speed)}

    def targets(self, action: Array) -> Array:
        """Return the corrections (..., 10) [rad] of an action."""
        return CORRECTION * action

    def motion(self, time: Array, goals: Quantities) -> Array:
        """Return the angles (..., 10) [rad] of the steps."""
        return walking_angles(time, goals["command_speed"])

    @cached_property
    def _springs(self) -> list[str]:
        return [f"{side}-{spring}" for side in SIDES for spring in SPRINGS]

    @cached_property
    def _spring_columns(self) -> tuple[list[int], list[int]]:
        return joint_columns(self.built, self._springs)

    @cached_property
    def _feet(self) -> tuple[list[int], list[list[int]]]:
        """Places of the feet among bodies, and of their contacts among all."""
        mechanism, names = self.built, [f"{side}-foot" for side in SIDES]
        owners = np.array(mechanism.ground_contact_bodies)
        contacts = [np.flatnonzero(owners == name).tolist() for name in names]
        return [list(mechanism.bodies).index(name) for name in names], contacts

    def observation(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return motors, pelvis, springs, course, command and clock."""
        bends = dict.fromkeys(self._springs, MAX_BEND)
        rates = {f"velocity({name})": MAX_RATE for name in self._springs}
        course = {"heading": MAX_HEADING, "y_position": MAX_DRIFT}
        command = {"command_speed": MAX_COMMAND, "sin(phase)": 1.0, "cos(phase)": 1.0}
        return {**self.robot_bounds(mechanism), **bends, **rates, **course, **command}

    def travelled(self, sim: Simulator) -> Quantities:
        """Return the place along x [m], whose mean rate is rewarded."""
        return {"x_velocity": sim.joint_positions[..., 0]}

    def quantities(self, sim: Simulator) -> Quantities:
        """Return place, heading and feet, and those of the pelvis."""
        positions = sim.joint_positions
        bodies, contacts = self._feet
        feet, lifts = sim.body_states[..., bodies, :], sim.contacts.force[..., 2]
        velocities = feet[..., 7:10]
        return super().quantities(sim) | {
            "x_position": positions[..., 0],
            "y_position": positions[..., 1],
            "heading": heading_of(positions[..., 3:7]),
            "foot_load": np.add.reduce(lifts[..., contacts], axis=-1) / WEIGHT,
            "foot_height": feet[..., 2],
            "foot_speed": np.sqrt(np.add.reduce(velocities * velocities, axis=-1)),
        }

    def observe(self, quantities: Quantities) -> Array:
        """Return motors, pelvis, springs, course, command and clock (..., 42)."""
        positions, velocities = quantities["joint_positions"], quantities["joint_velocities"]
        bends, rates = self._spring_columns
        springs = positions[..., bends], velocities[..., rates]
        names = ("heading", "y_position", "command_speed")
        rest = stack(*(quantities[name] for name in names), *clock(quantities["time"]))
        return np.concatenate((*self.observe_robot(quantities), *springs, rest), axis=-1)

    def rewards(self, quantities: Quantities, action: Array) -> Quantities:
        """Return the terms of speed, course, uprightness, gait, energy and action."""
        roll, pitch = quantities["roll"], quantities["pitch"]
        slip = quantities["x_velocity"] - quantities["command_speed"]
        aside = quantities["y_position"] / LINE_MARGIN
        turned = quantities["heading"] / HEADING_MARGIN
        # of the left foot; between two swings the parts of both feet change over in 1/6 of a cycle
        sine, _ = clock(quantities["time"])
        left = np.clip(0.5 + sine, 0.0, 1.0)
        swings = np.stack((left, 1.0 - left), axis=-1)
        free = tolerance(quantities["foot_load"], margin=LOAD_MARGIN)
        resting = tolerance(quantities["foot_speed"], margin=SLIP_MARGIN)
        gait = swings * free + (1.0 - swings) * resting
        return {
            "velocity": tolerance(slip, margin=SPEED_MARGIN),
            "course": tolerance(np.sqrt(aside * aside + turned * turned)),
            "upright": tolerance(np.sqrt(roll * roll + pitch * pitch), margin=TILT_MARGIN),
            "gait": 0.5 * np.add.reduce(gait, axis=-1),
            "energy": -quantities["power"],
            "action": -np.add.reduce(action * action, axis=-1),
        }

"""Standing and squatting of the biped Cassie, whose legs have springs and loops."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from vigym.control.kinematics.cassie import HALF, MIDDLE
from vigym.envs.arrays import stack
from vigym.envs.options import require_positive
from vigym.envs.rewards import tolerance
from vigym.envs.task import Array, Quantities
from vigym.envs.zoo.legs.cassie_base import MAX_SPEED, MEAN_HEIGHT, SIDES, CassieTask
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator

HEIGHT_MARGIN, TILT_MARGIN = 0.05, 0.2  # errors with a tenth of the reward [m, rad]


@dataclass(frozen=True, kw_only=True)
class Cassie(CassieTask):
    """Standing and squatting of the biped Cassie.

    ## Description

    Cassie, a biped of 33.3 kg, is to stand upright and to hold the centre of mass of its pelvis at
    a commanded height, which rises and falls. Each leg has five motors, two leaf springs and two
    closed loops: the achilles rod, from the hip to the spring at the heel, keeps the tarsus nearly
    parallel to the thigh, and the plantar rod joins the foot to its crank. Masses, inertias,
    lengths, limits, springs and torques are those that Agility Robotics published.

    ## Notes

    Motors track angles: torque = kp (target - angle) - kd rate, with kp of 800, 400, 1000, 1500 and
    300 N m/rad and kd = kp * 0.05 s, for roll, yaw and pitch of the hip, knee and foot. They are
    implicit in the step. Torques are at most 112.5 N m, 195.2 N m of pitch and knee, and 45 N m of
    the foot. Angles are the published ones, that of the knee plus 45 degrees. A foot is a capsule,
    so level it stands on a line of 0.16 m along x. Friction on the ground is 1.

    `vigym.control.kinematics.cassie` has the angles of a leg in closed form, and `Stand`, by name
    `stand`.

    `info` has `height`, that of the centre of mass of the pelvis [m], `command_height`, which it is
    to equal, and its rate `command_rate` [m/s]; `roll` to the right and `pitch` forwards [rad], and
    their rates in the axes of the pelvis, `roll_rate` and `pitch_rate` [rad/s]; `upright`, the
    cosine of the tilt, and `power`, the sum of |torque * rate| over the motors, mean over the
    control step [W].

    ## Action Space

    | Num | Action | Control Min | Control Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0 | target, from -0.25 to 0.25 | -1 | 1 | left-hip-roll | angle (rad) |
    | 1 | target, from -0.25 to 0.25 | -1 | 1 | left-hip-yaw | angle (rad) |
    | 2 | target, from 0.25 to 1.05 | -1 | 1 | left-hip-pitch | angle (rad) |
    | 3 | target, from -1.45 to -0.05 | -1 | 1 | left-knee | angle (rad) |
    | 4 | target, from -2.35 to -1.15 | -1 | 1 | left-foot | angle (rad) |
    | 5 | target, from -0.25 to 0.25 | -1 | 1 | right-hip-roll | angle (rad) |
    | 6 | target, from -0.25 to 0.25 | -1 | 1 | right-hip-yaw | angle (rad) |
    | 7 | target, from 0.25 to 1.05 | -1 | 1 | right-hip-pitch | angle (rad) |
    | 8 | target, from -1.45 to -0.05 | -1 | 1 | right-knee | angle (rad) |
    | 9 | target, from -2.35 to -1.15 | -1 | 1 | right-foot | angle (rad) |

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
    | 29 | commanded height | -2 | 2 | | distance (m) |
    | 30 | its rate of change | -10 | 10 | | rate (m/s) |

    ## Rewards

    reward = reward_height + reward_upright + reward_energy, all in `info`:

    - reward_height: `height_weight` times 1 at the commanded height, 0.1 at an error of 0.05 m;
    - reward_upright: `upright_weight` times 1 without roll and pitch, 0.1 where the root of the sum
      of their squares is 0.2 rad;
    - reward_energy: minus `energy_weight` times the motors' mean power over the control step.

    ## Starting State

    At rest, the pelvis level, the feet on the ground under the centre of mass, the height 0.95 m
    and the springs without load; angles of the motors [rad] have uniform noise within +-
    `reset_noise_scale`. The command is 0.95 m + `swing` sin(2 pi t / `period`).

    ## Episode End

    - Termination: a height of less than 0.7 m, a tilt of more than 0.64 rad, or the solver fails
      (`info["solver_converged"]` is False).
    - Truncation: after 400 control steps, 8 s.

    ## Arguments

    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `swing` | float | 0.08 | amplitude of the commanded height (m) |
    | `period` | float | 4.0 | of the commanded height (s) |
    | `height_weight` | float | 1.0 | weight of the commanded height |
    | `upright_weight` | float | 0.5 | weight of an upright pelvis |
    | `energy_weight` | float | 0.0005 | weight of the motors' power (1/W) |
    | `reset_noise_scale` | float | 0.02 | half width of the noise (rad) |
    """

    swing: float = 0.08
    period: float = 4.0
    height_weight: float = 1.0
    upright_weight: float = 0.5
    energy_weight: float = 0.0005

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive("period", self.period, "seconds")

    def targets(self, action: Array) -> Array:
        """Return the angles (..., 10) [rad] of the motors."""
        return np.tile(MIDDLE, len(SIDES)) + np.tile(HALF, len(SIDES)) * action

    def observation(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return motors, pelvis and command."""
        command = {"command_height": 2.0, "command_rate": MAX_SPEED}
        return {**self.robot_bounds(mechanism), **command}

    def quantities(self, sim: Simulator) -> Quantities:
        """Return height, orientation, command and power."""
        rate = 2.0 * np.pi / self.period
        phase = rate * sim.time
        return super().quantities(sim) | {
            "command_height": MEAN_HEIGHT + self.swing * np.sin(phase),
            "command_rate": self.swing * rate * np.cos(phase),
        }

    def observe(self, quantities: Quantities) -> Array:
        """Return motors, pelvis and command (..., 31)."""
        command = stack(quantities["command_height"], quantities["command_rate"])
        return np.concatenate((*self.observe_robot(quantities), command), axis=-1)

    def rewards(self, quantities: Quantities, action: Array) -> Quantities:
        """Return the terms of height, uprightness and energy."""
        roll, pitch = quantities["roll"], quantities["pitch"]
        lift = quantities["height"] - quantities["command_height"]
        return {
            "height": tolerance(lift, margin=HEIGHT_MARGIN),
            "upright": tolerance(np.sqrt(roll * roll + pitch * pitch), margin=TILT_MARGIN),
            "energy": -quantities["power"],
        }

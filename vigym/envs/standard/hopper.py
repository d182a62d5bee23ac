"""Hopping in a plane, as in Gymnasium's Hopper-v5."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vigym.envs.standard.base import Range, within
from vigym.envs.standard.planar import ROOT_SIGNS, PlanarWalker
from vigym.envs.task import Flags, Quantities

HEIGHT = 1.25  # of the trunk of the upright robot [m]


@dataclass(frozen=True, kw_only=True)
class Hopper(PlanarWalker):
    """Hopping in a plane, as in Gymnasium.

    ## Description

    A trunk on one leg of thigh, leg and foot hops in a vertical plane. It is to travel forwards,
    along x, without a fall. Masses, sizes, limits, dampers, armatures and friction are those of
    Gymnasium's model.

    ## Notes

    What differs from Gymnasium's Hopper-v5: contacts and limits are rigid, without its
    softness, parts of the robot do not touch each other, and an episode also ends if the solver
    fails.

    `xml_file` and `default_camera_config` are not options here.

    `info` has `x_position`, `z_distance_from_origin`, the height of the trunk above that of the
    upright start [m], and `x_velocity`, the mean over the control step [m/s].

    ## Action Space

    | Num | Action | Control Min | Control Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0 | torque, scaled by the effort of 200 N m | -1 | 1 | thigh_joint | torque (N m) |
    | 1 | torque, scaled by the effort of 200 N m | -1 | 1 | leg_joint | torque (N m) |
    | 2 | torque, scaled by the effort of 200 N m | -1 | 1 | foot_joint | torque (N m) |

    ## Observation Space

    With `exclude_current_positions_from_observation=False` x of the trunk is in front of these.
    Velocities are clipped to +-10.

    | Num | Observation | Min | Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0 | height of the trunk | -inf | inf | root | distance (m) |
    | 1 | angle of the trunk, forwards | -inf | inf | root | angle (rad) |
    | 2 | angle of the thigh | -inf | inf | thigh_joint | angle (rad) |
    | 3 | angle of the knee | -inf | inf | leg_joint | angle (rad) |
    | 4 | angle of the foot | -inf | inf | foot_joint | angle (rad) |
    | 5-6 | velocity of the trunk along x and z | -inf | inf | root | rate (m/s) |
    | 7 | angular velocity of the trunk | -inf | inf | root | rate (rad/s) |
    | 8 | rate of the thigh | -inf | inf | thigh_joint | rate (rad/s) |
    | 9 | rate of the knee | -inf | inf | leg_joint | rate (rad/s) |
    | 10 | rate of the foot | -inf | inf | foot_joint | rate (rad/s) |

    ## Rewards

    reward = reward_forward + reward_ctrl + reward_survive, all in `info`:

    - reward_forward: `forward_reward_weight` times the mean velocity along x [m/s];
    - reward_ctrl: minus `ctrl_cost_weight` times the sum of the squared actions;
    - reward_survive: `healthy_reward` for every step after which the robot is up.

    ## Starting State

    Upright, 0.04 m above the ground; all positions [m, rad] and velocities are uniform within +-
    `reset_noise_scale` of it, angles within the limits of their joints.

    ## Episode End

    - Termination: height or angle of the trunk are out of their range, or another
      coordinate or velocity but x and z, if
      `terminate_when_unhealthy`, or the solver fails (`info["solver_converged"]` is False).
    - Truncation: after 1000 control steps, 8 s.

    ## Arguments

    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `forward_reward_weight` | float | 1.0 | weight of the velocity (s/m) |
    | `ctrl_cost_weight` | float | 0.001 | weight of the squared actions |
    | `healthy_reward` | float | 1.0 | weight of being up |
    | `terminate_when_unhealthy` | bool | True | whether a fall ends the episode |
    | `healthy_z_range` | tuple | (0.7, inf) | heights of the trunk that is up (m) |
    | `healthy_angle_range` | tuple | (-0.2, 0.2) | angles of the trunk that is up (rad) |
    | `healthy_state_range` | tuple | (-100.0, 100.0) | other coordinates of a robot that is up |
    | `exclude_current_positions_from_observation` | bool | True | whether x is not observed |
    """

    robot: ClassVar[str] = "hopper"
    signs: ClassVar[tuple[float, ...]] = ROOT_SIGNS + (1.0,) * 3
    zero: ClassVar[tuple[float, ...]] = (0.0, HEIGHT) + (0.0,) * 4

    timestep: float = 0.002
    frame_skip: int = 4
    reset_noise_scale: float = 0.005
    healthy_z_range: Range = (0.7, float("inf"))
    healthy_angle_range: Range = (-0.2, 0.2)
    healthy_state_range: Range = (-100.0, 100.0)

    def healthy(self, quantities: Quantities) -> Flags:
        """Return whether the robot is up (...,): all coordinates are in range."""
        state = quantities["_positions"][..., 2:], quantities["_velocities"]
        others = within(np.concatenate(state, axis=-1), self.healthy_state_range).all(axis=-1)
        found: Flags = super().healthy(quantities) & others
        return found

"""Running of an ant with four legs, as in Gymnasium's Ant-v5."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vigym.envs.standard.base import Range
from vigym.envs.standard.spatial import SpatialRunner
from vigym.envs.task import Array
from vigym.simulation.simulator import Simulator

LEGS = {"front_left_leg": 1, "front_right_leg": 2, "back_leg": 3, "right_back_leg": 4}


@dataclass(frozen=True, kw_only=True)
class Ant(SpatialRunner):
    """Running of an ant with four legs, as in Gymnasium.

    ## Description

    A ball with four legs, each with a hip and an ankle, is to run forwards, along x. Masses, sizes,
    limits, dampers, armatures and friction are those of Gymnasium's model.

    ## Notes

    What differs from Gymnasium's Ant-v5: contacts and limits are rigid, without its softness,
    and ankles start at their limits, not beyond them; contact forces are those of the last
    integrator step; an episode also ends if the solver fails. Actions and observed hinges have
    the orders of Gymnasium, which differ.

    `xml_file`, `default_camera_config` and `main_body` are not options here.

    `info` has `x_position`, `y_position` and `distance_from_origin` of the trunk [m], and
    `x_velocity`, `y_velocity`, the means over the control step [m/s].

    ## Action Space

    | Num | Action | Control Min | Control Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0-1 | torques, scaled by the effort of 150 N m | -1 | 1 | hip_4, ankle_4 | torque (N m) |
    | 2-3 | torques, scaled by the effort of 150 N m | -1 | 1 | hip_1, ankle_1 | torque (N m) |
    | 4-5 | torques, scaled by the effort of 150 N m | -1 | 1 | hip_2, ankle_2 | torque (N m) |
    | 6-7 | torques, scaled by the effort of 150 N m | -1 | 1 | hip_3, ankle_3 | torque (N m) |

    ## Observation Space

    With `exclude_current_positions_from_observation=False` x and y of the trunk are in front of
    these, with `include_cfrc_ext_in_observation=False` the last row is not there. Wrenches are
    torques about the robot's centre of mass and forces, each in world axes and clipped to
    `contact_force_range`; bodies are in the order trunk, then upper leg, hip and foot of legs 1 to
    4. All bounds are infinite; units of the last row are N m and N.

    | Num | Observation | Min | Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0 | height of the trunk | -inf | inf | floating | distance (m) |
    | 1-4 | orientation of the trunk, quaternion (w, x, y, z) | -inf | inf | floating | ratio |
    | 5-12 | angles of hips and ankles | -inf | inf | hip_1 to ankle_4 | angle (rad) |
    | 13-15 | velocity of the trunk, world axes | -inf | inf | floating | rate (m/s) |
    | 16-18 | angular velocity of the trunk, own axes | -inf | inf | floating | rate (rad/s) |
    | 19-26 | rates of hips and ankles | -inf | inf | hip_1 to ankle_4 | rate (rad/s) |
    | 27-104 | wrenches of the ground on 13 bodies | -inf | inf | none | wrench (N m, N) |

    ## Rewards

    reward = reward_forward + reward_ctrl + reward_contact + reward_survive, all in `info`:

    - reward_forward: `forward_reward_weight` times the mean velocity along x [m/s];
    - reward_ctrl: minus `ctrl_cost_weight` times the sum of the squared actions;
    - reward_contact: minus `contact_cost_weight` times the sum of the squared clipped wrenches;
    - reward_survive: `healthy_reward` for every step after which the robot is up.

    ## Starting State

    0.75 m high; positions [m, rad], components of the quaternion, which is then scaled, are uniform
    within +- `reset_noise_scale` of it, angles within the limits of their joints; velocities are
    normal with that deviation. A robot that would start in the ground is put on it.

    ## Episode End

    - Termination: the height of the trunk is out of `healthy_z_range`, if
      `terminate_when_unhealthy`, or the solver fails (`info["solver_converged"]` is False).
    - Truncation: after 1000 control steps, 50 s.

    ## Arguments

    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `forward_reward_weight` | float | 1.0 | weight of the velocity (s/m) |
    | `ctrl_cost_weight` | float | 0.5 | weight of the squared actions |
    | `contact_cost_weight` | float | 0.0005 | weight of the squared wrenches |
    | `contact_force_range` | tuple | (-1.0, 1.0) | to which wrenches are clipped (N m, N) |
    | `healthy_reward` | float | 1.0 | weight of being up |
    | `terminate_when_unhealthy` | bool | True | whether a fall ends the episode |
    | `healthy_z_range` | tuple | (0.2, 1.0) | heights of the trunk that is up (m) |
    | `exclude_current_positions_from_observation` | bool | True | whether x, y are not observed |
    | `include_cfrc_ext_in_observation` | bool | True | whether wrenches are observed |
    """

    robot: ClassVar[str] = "ant"
    height: ClassVar[float] = 0.75
    normal_rates: ClassVar[bool] = True
    hinges: ClassVar[tuple[str, ...]] = tuple(
        f"{joint}_{k}" for k in LEGS.values() for joint in ("hip", "ankle")
    )
    shapes: ClassVar[Mapping[str, tuple[str, ...]]] = {"torso": ("torso",)} | {
        name: (name,) for leg, k in LEGS.items() for name in (leg, f"aux_{k}", f"foot_{k}")
    }

    ctrl_cost_weight: float = 0.5
    contact_cost_weight: float = 5e-4
    healthy_z_range: Range = (0.2, 1.0)
    contact_force_range: Range = (-1.0, 1.0)

    def wrenches(self, sim: Simulator) -> Array:
        """Return the clipped wrenches of the ground on all bodies (..., 78)."""
        return np.clip(super().wrenches(sim), *self.contact_force_range)

"""Running of a half cheetah in a plane, as in Gymnasium's HalfCheetah-v5."""

from dataclasses import dataclass
from typing import ClassVar

from vigym.envs.standard.planar import ROOT_SIGNS, PlanarRunner


@dataclass(frozen=True, kw_only=True)
class HalfCheetah(PlanarRunner):
    """Running of a half cheetah in a plane, as in Gymnasium.

    ## Description

    A trunk with a head runs on a back and a front leg of thigh, shin and foot each, in a vertical
    plane. Springs pull all joints to their zero. It is to run forwards, along x. Masses, sizes,
    limits, springs, dampers, armatures and friction are those of Gymnasium's model.

    ## Notes

    What differs from Gymnasium's HalfCheetah-v5: contacts and limits are rigid, without its
    softness, and an episode ends if the solver fails.

    `xml_file` and `default_camera_config` are not options here.

    `info` has `x_position`, `z_distance_from_origin`, the height of the trunk above that of the
    upright start [m], and `x_velocity`, the mean over the control step [m/s].

    ## Action Space

    | Num | Action | Control Min | Control Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0 | torque, scaled by the effort of 120 N m | -1 | 1 | bthigh | torque (N m) |
    | 1 | torque, scaled by the effort of 90 N m | -1 | 1 | bshin | torque (N m) |
    | 2 | torque, scaled by the effort of 60 N m | -1 | 1 | bfoot | torque (N m) |
    | 3 | torque, scaled by the effort of 120 N m | -1 | 1 | fthigh | torque (N m) |
    | 4 | torque, scaled by the effort of 60 N m | -1 | 1 | fshin | torque (N m) |
    | 5 | torque, scaled by the effort of 30 N m | -1 | 1 | ffoot | torque (N m) |

    ## Observation Space

    With `exclude_current_positions_from_observation=False` x of the trunk is in front of these.

    | Num | Observation | Min | Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0 | height of the trunk above its start | -inf | inf | root | distance (m) |
    | 1 | angle of the trunk, nose down | -inf | inf | root | angle (rad) |
    | 2-4 | angles of the back leg | -inf | inf | bthigh, bshin, bfoot | angle (rad) |
    | 5-7 | angles of the front leg | -inf | inf | fthigh, fshin, ffoot | angle (rad) |
    | 8-9 | velocity of the trunk along x and z | -inf | inf | root | rate (m/s) |
    | 10 | angular velocity of the trunk | -inf | inf | root | rate (rad/s) |
    | 11-13 | rates of the back leg | -inf | inf | bthigh, bshin, bfoot | rate (rad/s) |
    | 14-16 | rates of the front leg | -inf | inf | fthigh, fshin, ffoot | rate (rad/s) |

    ## Rewards

    reward = reward_forward + reward_ctrl, both in `info`:

    - reward_forward: `forward_reward_weight` times the mean velocity along x [m/s];
    - reward_ctrl: minus `ctrl_cost_weight` times the sum of the squared actions.

    ## Starting State

    Upright above the ground; all positions [m, rad] are uniform within +- `reset_noise_scale` of
    it, velocities are normal with that deviation. A robot that would
    start in the ground is put on it.

    ## Episode End

    - Termination: only when the solver fails (`info["solver_converged"]` is False).
    - Truncation: after 1000 control steps, 50 s.

    ## Arguments

    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `forward_reward_weight` | float | 1.0 | weight of the velocity (s/m) |
    | `ctrl_cost_weight` | float | 0.1 | weight of the squared actions |
    | `exclude_current_positions_from_observation` | bool | True | whether x is not observed |
    """

    robot: ClassVar[str] = "half_cheetah"
    signs: ClassVar[tuple[float, ...]] = ROOT_SIGNS + (1.0,) * 6
    normal_rates: ClassVar[bool] = True
    unburied: ClassVar[bool] = True

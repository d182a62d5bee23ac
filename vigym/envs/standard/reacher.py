"""Reaching for a target in a plane with two joints, as in Gymnasium's Reacher-v5."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vigym.envs.standard.base import UNBOUNDED, StandardTask, sum_of_squares
from vigym.envs.task import Array, Quantities
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator

REACH = 0.2  # largest distance of a target from the shoulder [m]
WITHOUT_NOISE = (0.1, -0.1)  # target with a `reset_noise_scale` of 0 [m]
JOINTS = 2
RATE_NOISE = 0.05  # noise on the joints' velocities over that on their angles [1/s]


@dataclass(frozen=True, kw_only=True)
class Reacher(StandardTask):
    """Reaching for a target in a plane with two joints, as in Gymnasium.

    ## Description

    An arm of two links, 0.1 m each, moves in a horizontal plane. Its fingertip has to reach a
    target, which is at another place in each episode, and to stay there. Masses, sizes, limits,
    dampers and armatures are those of Gymnasium's model.

    ## Notes

    What differs from Gymnasium's Reacher-v5: the limits of the second joint are rigid, rewards
    are of the places at the end of a step, not one integrator step earlier, and an episode ends if
    the solver fails.

    `xml_file` and `default_camera_config` are not options here.

    `info` has the `distance` of the fingertip from the target [m].

    ## Action Space

    | Num | Action | Control Min | Control Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0 | torque, scaled by the effort of 200 N m | -1 | 1 | joint0 | torque (N m) |
    | 1 | torque, scaled by the effort of 200 N m | -1 | 1 | joint1 | torque (N m) |

    ## Observation Space

    | Num | Observation | Min | Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0-1 | cosines of the angles | -inf | inf | joint0, joint1 | ratio |
    | 2-3 | sines of the angles | -inf | inf | joint0, joint1 | ratio |
    | 4-5 | x and y of the target | -inf | inf | target_slides | distance (m) |
    | 6-7 | angular velocities | -inf | inf | joint0, joint1 | rate (rad/s) |
    | 8-9 | x and y from the target to the fingertip | -inf | inf | none | distance (m) |

    ## Rewards

    reward = reward_dist + reward_ctrl, both in `info`:

    - reward_dist: minus `reward_dist_weight` times the distance of the fingertip from the target;
    - reward_ctrl: minus `reward_control_weight` times the sum of the squared actions.

    ## Starting State

    Angles are uniform within +- `reset_noise_scale` of zero [rad], their rates within a twentieth
    of that [rad/s]. The target is uniform in the disc of 0.2 m about the shoulder, and rests;
    with a `reset_noise_scale` of 0 it is at (0.1, -0.1).

    ## Episode End

    - Termination: only when the solver fails (`info["solver_converged"]` is False).
    - Truncation: after 50 control steps, 1 s.

    ## Arguments

    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `reward_dist_weight` | float | 1.0 | weight of the distance |
    | `reward_control_weight` | float | 1.0 | weight of the squared actions |
    """

    robot: ClassVar[str] = "reacher"
    weight_names = {  # noqa: RUF012
        "dist": "reward_dist_weight",
        "ctrl": "reward_control_weight",
    }

    frame_skip: int = 2
    reward_dist_weight: float = 1.0
    reward_control_weight: float = 1.0

    def initial(self, mechanism: Mechanism, rng: np.random.Generator) -> tuple[Array, Array]:
        """Return the stretched arm with noise, and a target within its reach."""
        scale, count = self.reset_noise_scale, JOINTS + 2
        positions = rng.uniform(-scale, scale, count)
        positions[JOINTS:] = (REACH, REACH) if scale > 0.0 else WITHOUT_NOISE
        while np.hypot(*positions[JOINTS:]) >= REACH:
            positions[JOINTS:] = rng.uniform(-REACH, REACH, 2)
        rates = rng.uniform(-scale, scale, count) * RATE_NOISE
        rates[JOINTS:] = 0.0
        return positions, rates

    def observation(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return cosines, sines, target, rates, and the way from the target to the fingertip."""
        *joints, x, y = mechanism.position_names
        angles = [f"{of}({name})" for of in ("cos", "sin") for name in joints]
        rates = [f"velocity({name})" for name in joints]
        return dict.fromkeys([*angles, x, y, *rates, "x_error", "y_error"], UNBOUNDED)

    def quantities(self, sim: Simulator) -> Quantities:
        """Return the coordinates, and the way and distance from the target to the fingertip."""
        found = self.coordinates(sim)
        error = sim.body_position("fingertip")[..., :2] - found["_positions"][..., JOINTS:]
        return {**found, "_error": error, "distance": np.hypot(error[..., 0], error[..., 1])}

    def observe(self, quantities: Quantities) -> Array:
        """Return cosines, sines, target, rates and error (..., 10)."""
        positions, rates = quantities["_positions"], quantities["_velocities"][..., :JOINTS]
        angles, target = positions[..., :JOINTS], positions[..., JOINTS:]
        parts = np.cos(angles), np.sin(angles), target, rates, quantities["_error"]
        return np.concatenate(parts, axis=-1)

    def rewards(self, quantities: Quantities, action: Array) -> Quantities:
        """Return the terms of distance and control."""
        return {"dist": -quantities["distance"], "ctrl": -sum_of_squares(action)}

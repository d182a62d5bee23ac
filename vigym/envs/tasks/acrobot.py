"""Swing-up of two rods with a motor at the elbow alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vigym import assets
from vigym.envs.arrays import unstack
from vigym.envs.task import Array, Flags, Quantities, Task
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator
from vigym.urdf.convert.load import load_urdf

ROD = 1.0  # length of each rod [m]
GOAL_HEIGHT = 1.0  # height of the tip above the shoulder that ends the task [m]
MAX_RATE = 40.0  # bound of the observed rates [rad/s]


@dataclass(frozen=True, kw_only=True)
class Acrobot(Task):
    """Swing-up of two rods with a motor at the elbow alone.

    ## Description

    Two rods of 1 m hang on each other: the upper one on a free hinge, the shoulder, the lower one
    on the motor, the elbow. Friction of the motor limits the elbow to 30 rad/s. The agent swings
    until the tip of the lower rod is 1 m above the shoulder.

    ## Notes

    `info` has `shoulder_angle` from hanging and `elbow_angle` between the rods [rad], unwrapped,
    their rates `shoulder_rate` and `elbow_rate` [rad/s] and `tip_height` above the shoulder [m].
    Observations are clipped to their bounds, `info` is not.

    ## Action Space

    | Num | Action | Control Min | Control Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0 | motor, scaled by its effort | -1 | 1 | elbow | torque (N m) |

    ## Observation Space

    | Num | Observation | Min | Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0 | cosine of the upper rod's angle from hanging | -1 | 1 | shoulder | ratio |
    | 1 | cosine of the angle between the rods | -1 | 1 | elbow | ratio |
    | 2 | sine of the upper rod's angle from hanging | -1 | 1 | shoulder | ratio |
    | 3 | sine of the angle between the rods | -1 | 1 | elbow | ratio |
    | 4 | rate of the upper rod | -40 | 40 | shoulder | rate (rad/s) |
    | 5 | rate of the angle between the rods | -40 | 40 | elbow | rate (rad/s) |

    ## Rewards

    reward = reward_time + reward_depth + reward_control, all in `info`:

    - reward_time: minus `time_weight` in every step;
    - reward_depth: minus `depth_weight` times the depth of the tip, 0 straight up to 1 hanging;
    - reward_control: minus `control_weight` times the squared action.

    ## Starting State

    Hanging; angles [rad] and rates [rad/s] are uniform within +- `reset_noise_scale` of it.

    ## Episode End

    - Termination: the tip is 1 m above the shoulder, which is the goal, or the solver fails
      (`info["solver_converged"]` is False).
    - Truncation: after 500 control steps, 25 s.

    ## Arguments

    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `time_weight` | float | 0.5 | weight of the time |
    | `depth_weight` | float | 0.5 | weight of the depth |
    | `control_weight` | float | 0.01 | weight of the squared action |
    """

    aims_to_end: ClassVar[bool] = True

    time_weight: float = 0.5
    depth_weight: float = 0.5
    control_weight: float = 0.01

    def mechanism(self) -> Mechanism:
        """Return the rods of `assets/acrobot`."""
        return load_urdf(assets.path("acrobot"))

    def initial(self, mechanism: Mechanism, rng: np.random.Generator) -> tuple[Array, Array]:
        """Return the hanging rods with noise."""
        scale = self.reset_noise_scale
        return rng.uniform(-scale, scale, 2), rng.uniform(-scale, scale, 2)

    def observation(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return cosines, sines and rates."""
        angles = ("shoulder_angle", "elbow_angle")
        bounds = {f"cos({name})": 1.0 for name in angles} | {f"sin({name})": 1.0 for name in angles}
        return bounds | {"shoulder_rate": MAX_RATE, "elbow_rate": MAX_RATE}

    def quantities(self, sim: Simulator) -> Quantities:
        """Return both angles, their rates, and the tip's height."""
        shoulder, elbow = unstack(sim.joint_positions)
        shoulder_rate, elbow_rate = unstack(sim.joint_velocities)
        return {
            "shoulder_angle": shoulder,
            "elbow_angle": elbow,
            "shoulder_rate": shoulder_rate,
            "elbow_rate": elbow_rate,
            "tip_height": -ROD * (np.cos(shoulder) + np.cos(shoulder + elbow)),
        }

    def observe(self, quantities: Quantities) -> Array:
        """Return cosines, sines and rates (..., 6)."""
        angles = quantities["joint_positions"]
        return np.concatenate(
            (np.cos(angles), np.sin(angles), quantities["joint_velocities"]), axis=-1
        )

    def rewards(self, quantities: Quantities, action: Array) -> Quantities:
        """Return the terms of time, of the tip's depth, and of control."""
        height = quantities["tip_height"]
        (torque,) = unstack(action)
        return {
            "time": 0.0 * height - 1.0,
            "depth": height / (4.0 * ROD) - 0.5,
            "control": -(torque * torque),
        }

    def terminated(self, quantities: Quantities) -> Flags:
        """Return whether the tip has reached the goal height."""
        return quantities["tip_height"] > GOAL_HEIGHT

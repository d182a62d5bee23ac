"""Forward walking of a quadruped with twelve motors."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from vigym.envs.task import Array, Quantities
from vigym.envs.tasks.quadruped_base import (
    QuadrupedTask,
    trunk_bounds,
    trunk_velocity,
)
from vigym.mechanism.mechanism import Mechanism

MAX_HEIGHT = 1.0  # bound of observations [m]


@dataclass(frozen=True, kw_only=True)
class Quadruped(QuadrupedTask):
    """Forward walking of a quadruped with twelve motors.

    ## Description

    A robot with the published sizes, masses, inertias, joint limits and torques of Unitree's A1,
    12.8 kg. Each leg has three motors: abduction, hip and knee; thigh and calf are 0.2 m long. The
    balls of the feet, the knees and the trunk may touch the ground. The robot walks forwards, along
    x, with little energy.

    ## Notes

    Motors track targets: torque = 100 (target - angle) - 2 rate, at most 33.5 N m, implicit in the
    step. The stand has abductions of 0, hips of 0.8 and knees of -1.6 rad: the feet are below the
    hips and the trunk is 0.30 m above the ground. Within the range of actions all targets are
    within the joints' limits.

    `vigym.control.quadruped_gaits.SineGait`, by name `sine_gait`, walks by six parameters, which
    `train/search.py` finds.

    `info` has `x_position`, `y_position`, `height` of the trunk [m], `x_velocity`, `y_velocity`
    [m/s], `heading`, the direction of the trunk from the x axis [rad], `upright`, the cosine
    between the trunk's z axis and the vertical, `motor_torques` [N m], `power`, the sum of |torque
    * rate| over the motors, mean over the control step [W], and `cost_of_transport`, power over
    weight and speed along x (at least 0.01 m/s) at the end of the step. Observations are clipped to
    their bounds, `info` is not.

    ## Action Space

    Legs in the order front left, back left, front right, back right; of each abduction, hip, knee.

    | Num | Action | Control Min | Control Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0-11 | target angles, stand + (0.4, 0.8, 0.65) a | -1 | 1 | front_left_abduction to \
back_right_knee | angle (rad) |

    ## Observation Space

    Joints in the order of the actions.

    | Num | Observation | Min | Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0-11 | joint angles | -4.2 | 4.2 | legs | angle (rad) |
    | 12-23 | joint rates | -50 | 50 | legs | rate (rad/s) |
    | 24-27 | orientation of the trunk, quaternion (w, x, y, z) | -1 | 1 | trunk:floating | ratio |
    | 28-30 | velocity of the trunk, own axes | -10 | 10 | trunk:floating | rate (m/s) |
    | 31-33 | angular velocity of the trunk, own axes | -50 | 50 | trunk:floating | rate (rad/s) |
    | 34 | height of the trunk | -1 | 1 | trunk:floating | distance (m) |

    ## Rewards

    reward = reward_forward + reward_survival + reward_energy + reward_drift, all in `info`; dt is
    the control step:

    - reward_forward: `forward_weight` times x velocity times dt;
    - reward_survival: `survival_weight` times dt;
    - reward_energy: minus `energy_weight` times the sum of |torque * rate| over the motors, mean
      over the step, times dt;
    - reward_drift: minus `drift_weight` times |y velocity| times dt.

    ## Starting State

    Standing on the ground, at rest; joint angles [rad] are uniform within +- `reset_noise_scale` of
    the stand, and the lowest foot touches the ground.

    ## Episode End

    - Termination: a fall, with the trunk's z axis more than acos(0.7) = 45.6 degrees off the
      vertical or the trunk lower than 0.16 m, or the solver fails (`info["solver_converged"]` is
      False).
    - Truncation: after 500 control steps, 10 s.

    ## Arguments

    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `terrain` | str or Terrain | None | "slope", "steps", "boxes", "rough", "mixed", a `Terrain` |
    | `terrain_level` | float | 1.0 | part of the terrain's maps, the first ones, for episodes |
    | `friction` | float | 0.8 | coefficient of all that touches the ground |
    | `forward_weight` | float | 1.0 | weight of the progress (1/m) |
    | `survival_weight` | float | 0.5 | weight of the time without a fall (1/s) |
    | `energy_weight` | float | 0.0005 | weight of the motors' energy (1/J) |
    | `drift_weight` | float | 0.2 | weight of the sideways motion (1/m) |

    ## Version History

    - v1: integrator steps of 5 ms, before 1 ms; control steps stay 20 ms.
    - v0: first version.
    """

    reset_noise_scale: float = 0.05
    forward_weight: float = 1.0
    survival_weight: float = 0.5
    energy_weight: float = 0.0005
    drift_weight: float = 0.2

    def observation(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return joints, pose and velocity of the trunk."""
        orientation = {f"orientation_{component}": 1.0 for component in "wxyz"}
        height = {"height": MAX_HEIGHT}
        return {**self.joint_bounds(mechanism), **orientation, **trunk_bounds(), **height}

    def observe(self, quantities: Quantities) -> Array:
        """Return joints, pose and velocity of the trunk (..., 35)."""
        positions, velocities = quantities["joint_positions"], quantities["joint_velocities"]
        joints = self.observed_joints(quantities)
        orientation, height = positions[..., 3:7], np.asarray(quantities["height"])[..., None]
        return np.concatenate(
            (*joints, orientation, *trunk_velocity(positions, velocities), height), axis=-1
        )

    def rewards(self, quantities: Quantities, action: Array) -> Quantities:
        """Return the terms of progress, survival, energy and drift."""
        dt = self.timestep * self.frame_skip
        return {
            "forward": quantities["x_velocity"] * dt,
            "survival": 0.0 * quantities["height"] + dt,
            "energy": -quantities["power"] * dt,
            "drift": -abs(quantities["y_velocity"]) * dt,
        }

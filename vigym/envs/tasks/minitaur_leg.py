"""Hopping to a height with a five-bar leg on a vertical slide."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from vigym import assets
from vigym.control.minitaur_legs import FOOT, commanded, foot_distance, hip_angles
from vigym.envs.arrays import stack
from vigym.envs.task import Array, Quantities, Start, Task, require_positive
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator
from vigym.urdf.convert.load import load_urdf

STAND = 2.0  # initial extension of the leg [rad]
ZERO_HEIGHT = 0.35  # height of the hip at the slide's zero [m]
GRAVITY = 9.81  # [m/s^2]
EFFORT = 3.5  # of a motor [N m]
STIFFNESS, DAMPING = 8.0, 0.3  # of the motors [N m/rad, N m s/rad]
MAX_HEIGHT, MAX_HIP_ANGLE = 2.0, 4.0  # bounds of observations [m, rad]
MAX_SPEED, MAX_HIP_RATE = 10.0, 200.0  # bounds of observations [m/s, rad/s]
APEX_MARGIN = 0.15  # error of the apex at which the reward is zero [m]


@dataclass(frozen=True, kw_only=True)
class MinitaurLeg(Task):
    """Hopping to a height with a five-bar leg on a vertical slide.

    ## Description

    One leg of the Minitaur quadruped on the ground: two coaxial motors turn two upper bars of
    0.115 m, each carries a lower bar of 0.2 m, and the lower bars meet at the foot. The motors sit
    on a vertical slide with a quarter of the robot's body, 1.5 kg in total. The leg hops
    continually, its hip up to `apex` above the ground each time, with little energy. On the
    stretched leg the hip stands no higher than 0.315 m.

    ## Notes

    Motors track targets: torque = 8 (target - angle) - 0.3 rate, at most 3.5 N m, implicit in the
    step. The leg is commanded in swing and extension like the legs of Minitaur-v0: positive swing
    turns it forwards; the extension is the mean angle of its two motors, which point up at 0, are
    level at pi/2 and down at pi.

    `info` has `hip_height`, `foot_height` of the foot's lowest point [m], `hip_velocity` [m/s],
    `apex`, the height that the hip would reach in free flight, height + velocity^2 / (2 g) [m],
    `motor_torques` [N m], and `power`, the sum of |torque * rate| over both motors, mean over the
    control step [W]. Observations are clipped to their bounds, `info` is not.

    ## Action Space

    | Num | Action | Control Min | Control Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0 | swing, target: pi/4 a | -1 | 1 | hip_front, hip_rear | angle (rad) |
    | 1 | extension, target: pi - pi/4 (a + 1.5) | -1 | 1 | hip_front, hip_rear | angle (rad) |

    ## Observation Space

    | Num | Observation | Min | Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0 | height of the hip above the ground | -2 | 2 | slide | distance (m) |
    | 1 | velocity of the hip | -10 | 10 | slide | rate (m/s) |
    | 2-3 | angles of the motors from level, down | -4 | 4 | hip_front, hip_rear | angle (rad) |
    | 4-5 | rates of the motors | -200 | 200 | hip_front, hip_rear | rate (rad/s) |
    | 6-7 | torques of the motors | -3.5 | 3.5 | hip_front, hip_rear | torque (N m) |
    | 8 | height of the foot's lowest point | -2 | 2 | | distance (m) |

    ## Rewards

    reward = reward_height + reward_energy, both in `info`:

    - reward_height: `height_weight` times 1 where `info["apex"]` equals `apex`, falling linearly to
      0 at an error of 0.15 m; nearly constant in flight, so that hops to the right height pay;
    - reward_energy: minus `energy_weight` times the motors' mean power over the control step.

    ## Starting State

    In the air, at rest, with an extension of 2 rad; angles of the motors [rad] are uniform within
    +- `reset_noise_scale` of that. The height of the foot is uniform up to twice
    `reset_noise_scale` [m]: starts in flight let an agent find the reward.

    ## Episode End

    - Termination: only when the solver fails (`info["solver_converged"]` is False).
    - Truncation: after 400 control steps, 8 s.

    ## Arguments

    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `apex` | float | 0.45 | desired height of the hip at the top of a hop (m) |
    | `height_weight` | float | 1.0 | weight of the height |
    | `energy_weight` | float | 0.005 | weight of the motors' power (1/W) |
    | `reset_noise_scale` | float | 0.1 | half width of the noise (rad), half the drop (m) |
    """

    timestep: float = 0.002
    frame_skip: int = 10
    apex: float = 0.45
    height_weight: float = 1.0
    energy_weight: float = 0.005

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive("apex", self.apex, "metres")

    def mechanism(self) -> Mechanism:
        """Return the leg of `assets/minitaur_leg` on the ground, a motor at either hip."""
        mechanism = load_urdf(assets.path("minitaur_leg"), ground=True)
        for name in mechanism.actuator_names:
            mechanism.add_motor(name, STIFFNESS, DAMPING)
        return mechanism

    def initial(self, mechanism: Mechanism, rng: np.random.Generator) -> tuple[Start, Start]:
        """Return the leg above the ground, with noise of the hips; the lower bars follow."""
        scale = self.reset_noise_scale
        level = 0.5 * np.pi
        front, rear = STAND + rng.uniform(-scale, scale, 2)
        standing = foot_distance(0.5 * (front + rear)) * np.cos(0.5 * (rear - front)) + FOOT
        drop = rng.uniform(0.0, 2.0 * scale)
        slide = standing + drop - ZERO_HEIGHT
        return {"slide": slide, "hip_front": front - level, "hip_rear": rear - level}, {}

    def targets(self, action: Array) -> Array:
        """Return the hip angles (..., 2) [rad] of swing and extension."""
        return hip_angles(*commanded(action))

    def observation(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return slide, motors and foot."""
        hips = ("hip_front", "hip_rear")
        kinds = {"angle": MAX_HIP_ANGLE, "velocity": MAX_HIP_RATE, "torque": EFFORT}
        motors = {f"{kind}({hip})": bound for kind, bound in kinds.items() for hip in hips}
        slide = {"hip_height": MAX_HEIGHT, "hip_velocity": MAX_SPEED}
        return slide | motors | {"foot_height": MAX_HEIGHT}

    def quantities(self, sim: Simulator) -> Quantities:
        """Return heights and velocity of hip and foot, and torques and power of the motors."""
        positions, rates = sim.joint_positions, sim.joint_velocities
        torques = sim.actuator_torques
        height = positions[..., 0] + ZERO_HEIGHT
        velocity = rates[..., 0]
        return {
            "hip_height": height,
            "foot_height": sim.body_position("foot")[..., 2] - FOOT,
            "hip_velocity": velocity,
            "apex": height + velocity * velocity / (2.0 * GRAVITY),
            "motor_torques": torques,
            "power": sim.readings.power,
        }

    def observe(self, quantities: Quantities) -> Array:
        """Return slide, motors and foot (..., 9)."""
        positions, rates = quantities["joint_positions"], quantities["joint_velocities"]
        torques = quantities["motor_torques"]
        return stack(
            quantities["hip_height"],
            quantities["hip_velocity"],
            positions[..., 1],
            positions[..., 2],
            rates[..., 1],
            rates[..., 2],
            torques[..., 0],
            torques[..., 1],
            quantities["foot_height"],
        )

    def rewards(self, quantities: Quantities, action: Array) -> Quantities:
        """Return the terms of height and energy."""
        error = np.abs(quantities["apex"] - self.apex) / APEX_MARGIN
        return {"height": np.maximum(1.0 - error, 0.0), "energy": -quantities["power"]}
